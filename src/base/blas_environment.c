/* What the library's own copy of OpenBLAS sees of the environment (cmake/Blas.cmake): it has one thread, since ours run
   above it, whatever the user says to others; and the kernels that an Intel processor can run. OpenBLAS knows
   processors by their model numbers, and takes those younger than itself for one of 2004, whose products take two to
   five times as long and round otherwise. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *kb_blas_getenv(const char *name);

static char *intel_kernels(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    static char wide[] = "SkylakeX", narrow[] = "Haswell";
    __builtin_cpu_init();
    if (!__builtin_cpu_is("intel")) return NULL;
    bool has_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (has_wide) return wide;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return narrow;
#endif
    return NULL;
}

char *kb_blas_getenv(const char *name)
{
    static char one[] = "1";
    char *said = getenv(name);
    if (!strcmp(name, "OPENBLAS_NUM_THREADS")) return one;
    if (!strcmp(name, "OPENBLAS_CORETYPE") && !(said && *said)) return intel_kernels();
    return said;
}
