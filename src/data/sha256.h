/* SHA-256 (FIPS 180-4), to say which data a result came from. */
#ifndef KB_SHA256_H
#define KB_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t hash[8];
    uint64_t length;         /* bytes so far */
    unsigned char block[64]; /* the begun block: length % 64 bytes */
    bool is_wired;           /* done by the processor's instructions */
} kb_sha256;

void kb_sha256_begin(kb_sha256 *sha);
void kb_sha256_add(kb_sha256 *sha, const void *bytes, size_t n);
void kb_sha256_finish(kb_sha256 *sha, char hex[65]);

/* sha256_x86.c: n blocks of 64 bytes, k the constants of the standard; only where is_wired says so. */
bool kb_sha256_is_wired(void);
void kb_sha256_wired(uint32_t hash[8], const unsigned char *blocks, size_t n, const uint32_t k[64]);

#endif
