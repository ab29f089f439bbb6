/* Compressed bytes in memory, inflated piece by piece with zlib. */
#ifndef KB_INFLATE_H
#define KB_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

typedef enum { KB_RAW = -15, KB_ZLIB = 15, KB_GZIP = 15 + 16 } kb_wrapping;

/* Deflate makes nothing smaller than this share of itself: what claims more lies. */
enum { KB_BEST_RATIO = 1032 };

/* More than measurements ever shrink, and more than is harmless: n_in bytes that inflate to n_out. */
bool kb_is_bomb(uint64_t n_out, uint64_t n_in);

typedef struct {
    z_stream stream;
    kb_wrapping wrapping;
    const unsigned char *bytes; /* the compressed ones, and how many of them zlib has been given */
    size_t size, given;
    uint64_t n_out;
    bool is_open, is_over;
    const char *trouble; /* "breaks off", ... after a failure */
} kb_inflater;

/* Both return false on failure and say why in `trouble`; close in any case. */
bool kb_inflater_open(kb_inflater *z, const unsigned char *bytes, size_t size, kb_wrapping wrapping);
/* The next n bytes, fewer only at the end. */
bool kb_inflater_read(kb_inflater *z, void *to, size_t n, size_t *got);
void kb_inflater_close(kb_inflater *z);

#endif
