#include "base/memory.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kbass/kbass.h"

enum { ALIGNMENT = 64 };

static atomic_long allocations_left = -1; /* negative: no limit; only tests set it */

void kb_memory_fail_after(long n) { atomic_store(&allocations_left, n); }

static bool told_to_fail(void)
{
    if (atomic_load(&allocations_left) < 0) return false;
    return atomic_fetch_sub(&allocations_left, 1) <= 0 ? (atomic_store(&allocations_left, 0), true) : false;
}

void *kb_allocate(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - 2 * ALIGNMENT) / size) return NULL;
    if (told_to_fail()) return NULL;
    size_t bytes = (count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

void *kb_reallocate(void *memory, size_t old_count, size_t count, size_t size)
{
    void *grown = kb_allocate(count, size);
    if (!grown) return NULL;
    if (memory) memcpy(grown, memory, (old_count < count ? old_count : count) * size);
    kb_free(memory);
    return grown;
}

double kb_memory_there(void)
{
    struct rlimit limit;
    double pages = (double)sysconf(_SC_PHYS_PAGES), there = pages > 0 ? pages * (double)sysconf(_SC_PAGESIZE) : HUGE_VAL;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur < there)
        there = (double)limit.rlim_cur;
    return there;
}

void kb_free(void *memory) { free(memory); }

void kbass_free(void *memory) { kb_free(memory); }

char *kb_strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = KB_NEW(char, length);
    if (copy) memcpy(copy, text, length);
    return copy;
}
