/* Checked memory: every allocation of the library passes here, zeroed, and tests can tell it to fail. */
#ifndef KB_MEMORY_H
#define KB_MEMORY_H

#include <stddef.h>

/* `count` zeroed items of `size` bytes, 64-byte aligned; NULL when out of memory or when the product overflows.
   count = 0 gives a valid pointer. */
void *kb_allocate(size_t count, size_t size);
/* Grows or shrinks memory of `old_count` items to `count`; new items are zero. On failure the old memory stays. */
void *kb_reallocate(void *memory, size_t old_count, size_t count, size_t size);
/* Memory that the caller fills: `count` items, the old ones kept, new ones not set; `memory` may be NULL. What is large
   grows by moving pages instead of copying, and takes none before they are written. */
void *kb_resize(void *memory, size_t count, size_t size);
void kb_free(void *memory);
char *kb_strdup(const char *text);

#define KB_NEW(type, count) ((type *)kb_allocate((count), sizeof(type)))

/* Options of a caller whose header may be older or newer: `size` bytes as it has them, 0: `first`, as the first version
   with sizes had; as many as there are here. */
void kb_options_take(const void *options, size_t size, size_t first, void *own, size_t own_size);

/* How often memory was refused so far, in all threads: tells a calculation that failed from one that had no room. */
size_t kb_memory_refusals(void);

/* For tests: the n-th allocation from now fails, and all after it; a negative n switches that off. */
void kb_memory_fail_after(long n);

#endif
