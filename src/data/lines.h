/* Text in blocks of whole lines, inflated where it is gzip; every line end becomes \n. */
#ifndef KB_LINES_H
#define KB_LINES_H

#include "data/inflate.h"
#include "data/read.h"
#include "data/utf16.h"

typedef struct {
    kb_reading *reading;
    kb_inflater inflater;
    const unsigned char *bytes; /* the file's, or those of a sheet in it */
    size_t size;
    bool is_stream; /* the file has more to give than the bytes */
    bool is_gzip, is_over;
    bool is_known; /* which encoding it is */
    kb_encoding encoding;
    unsigned char *raw;   /* bytes that are not UTF-8 yet, */
    size_t n_raw, n_room; /* how many of them wait, how many fit */
    size_t taken;         /* bytes so far */
    char *text;           /* the block, then what is left of it: the beginning of a line */
    size_t capacity, length, block;
    size_t n_lines; /* in the blocks before this one */
} kb_lines;

kbass_status kb_lines_open(kb_lines *lines, kb_reading *reading);
/* The next block, which may be written to: whole lines with their \n, but for the file's last. Empty at the end. */
kbass_status kb_lines_next(kb_lines *lines, char **begin, char **end);
void kb_lines_close(kb_lines *lines);

/* The number of \n. */
size_t kb_lines_count(const char *begin, const char *end);

#endif
