#include <stdalign.h>
#include <stdint.h>

#include "base/memory.h"
#include "dictionary/algebra.h"

enum { FIRST_BLOCK = 2048, LARGEST_ARENA = 1 << 28 };

struct kb_block {
    kb_block *next;
    size_t used, size;
    alignas(16) unsigned char bytes[];
};

static kb_block *block_add(kb_arena *arena, size_t bytes)
{
    size_t size = arena->total > FIRST_BLOCK ? arena->total : FIRST_BLOCK;
    if (size < bytes) size = bytes;
    if (size > LARGEST_ARENA - arena->total) {
        arena->problem = KB_TOO_LARGE;
        return NULL;
    }
    kb_block *block = kb_allocate(1, sizeof *block + size);
    if (!block) {
        arena->problem = KB_NO_MEMORY;
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->total += size;
    return block;
}

void *kb_arena_allocate(kb_arena *arena, size_t bytes)
{
    kb_block *block = arena->blocks;
    bytes = (bytes + 15) / 16 * 16;
    if (!block || bytes > block->size - block->used) block = block_add(arena, bytes);
    if (!block) return NULL;
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

void kb_arena_clear(kb_arena *arena)
{
    for (kb_block *block = arena->blocks, *next = NULL; block; block = next) {
        next = block->next;
        kb_free(block);
    }
    *arena = (kb_arena){0};
}
