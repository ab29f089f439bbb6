/* What the library's own copy of OpenBLAS sees of the environment (cmake/Blas.cmake): it has one thread, since ours run
   above it, whatever the user says to others. */
#include <stdlib.h>
#include <string.h>

char *kb_blas_getenv(const char *name);

char *kb_blas_getenv(const char *name)
{
    static char one[] = "1";
    return strcmp(name, "OPENBLAS_NUM_THREADS") ? getenv(name) : one;
}
