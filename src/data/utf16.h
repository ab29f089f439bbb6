/* Text in UTF-16, as Windows programs write it, becomes UTF-8 piece by piece. */
#ifndef KB_UTF16_H
#define KB_UTF16_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { KB_UTF8, KB_UTF16_LITTLE, KB_UTF16_BIG } kb_encoding;

/* By the mark in front, or by the zero bytes of plain letters. */
kb_encoding kb_encoding_of(const unsigned char *bytes, size_t n);
/* Takes whole characters of n bytes and writes them to `to`, which has room for 3 n / 2 + 1 bytes; the rest, at most 3
   bytes, is for the next call, and at the end a broken character. Marks of byte order are left out. */
size_t kb_utf16_read(kb_encoding encoding, const unsigned char *bytes, size_t n, bool is_end, char *to, size_t *taken);

#endif
