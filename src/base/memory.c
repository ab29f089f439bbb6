#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget.h"
#include "kbass/kbass.h"

enum { ALIGNMENT = 64, LARGE = 32 << 20 }; /* from where malloc gives pages of their own */

static atomic_long allocations_left = -1; /* negative: no limit; only tests set it */

void kb_memory_fail_after(long n) { atomic_store(&allocations_left, n); }

static bool told_to_fail(void)
{
    if (atomic_load(&allocations_left) < 0) return false;
    return atomic_fetch_sub(&allocations_left, 1) <= 0 ? (atomic_store(&allocations_left, 0), true) : false;
}

static bool is_possible(size_t count, size_t size)
{
    return !(size && count > (SIZE_MAX - 2 * ALIGNMENT) / size) && !told_to_fail();
}

static size_t whole_bytes(size_t count, size_t size) { return (count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT; }

/* Large pages: the kernel clears and maps them many times faster. */
static void *advise(void *memory, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)memory + page - 1) / page * page;
    if (memory && bytes >= LARGE) madvise((void *)first, bytes - page, MADV_HUGEPAGE);
    return memory;
}

/* Whole pages of large blocks are given back, and come as zeros when they are touched: workspaces are as large as may
   be needed, and most of them are not. */
static void clear(char *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)memory % page) % page;
    size_t whole = bytes >= LARGE ? (bytes - before) / page * page : 0;
    if (!whole || madvise(memory + before, whole, MADV_DONTNEED) != 0) {
        memset(memory, 0, bytes);
        return;
    }
    memset(memory, 0, before);
    memset(memory + before + whole, 0, bytes - before - whole);
}

static atomic_size_t refusals;

size_t kb_memory_refusals(void) { return atomic_load(&refusals); }

static void *refuse(void)
{
    atomic_fetch_add(&refusals, 1);
    return NULL;
}

void *kb_allocate(size_t count, size_t size)
{
    if (!is_possible(count, size)) return refuse();
    size_t bytes = whole_bytes(count, size);
    if (!kb_budget_allows(bytes)) return refuse();
    void *memory = advise(aligned_alloc(ALIGNMENT, bytes), bytes);
    if (!memory) return refuse();
    kb_budget_count(malloc_usable_size(memory), 0);
    clear(memory, bytes);
    return memory;
}

void *kb_resize(void *memory, size_t count, size_t size)
{
    if (!is_possible(count, size)) return refuse();
    size_t bytes = whole_bytes(count, size), before = malloc_usable_size(memory);
    if (bytes > before && !kb_budget_allows(bytes - before)) return refuse();
    void *moved = advise(realloc(memory, bytes), bytes);
    if (moved) kb_budget_count(malloc_usable_size(moved), before);
    return moved;
}

void *kb_reallocate(void *memory, size_t old_count, size_t count, size_t size)
{
    void *grown = kb_allocate(count, size);
    if (!grown) return NULL;
    if (memory) memcpy(grown, memory, (old_count < count ? old_count : count) * size);
    kb_free(memory);
    return grown;
}

void kb_free(void *memory)
{
    kb_budget_count(0, malloc_usable_size(memory));
    free(memory);
}

void kbass_free(void *memory) { kb_free(memory); }

char *kb_strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = KB_NEW(char, length);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void kb_options_take(const void *options, size_t size, size_t first, void *own, size_t own_size)
{
    if (!size) size = first;
    memcpy(own, options, size < own_size ? size : own_size);
}
