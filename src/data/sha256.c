#include "data/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++) w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >> 3);
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* The working variables a..h of the standard are v[-t], v[1-t], ..., v[7-t], indices modulo 8: instead of moving all of
   them on, round t overwrites the two that change. */
static void take_round(uint32_t v[8], unsigned t, uint32_t sum)
{
    uint32_t a = v[-t & 7], b = v[(1 - t) & 7], c = v[(2 - t) & 7];
    uint32_t e = v[(4 - t) & 7], f = v[(5 - t) & 7], g = v[(6 - t) & 7];
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t1 = v[(7 - t) & 7] + s1 + ((e & f) ^ (~e & g)) + sum;
    v[(3 - t) & 7] += t1;
    v[(7 - t) & 7] = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t hash[8], const unsigned char *block)
{
    uint32_t w[64], v[8];
    schedule(block, w);
    memcpy(v, hash, sizeof v);
    for (unsigned t = 0; t < 64; t += 8)
        for (unsigned i = 0; i < 8; i++) take_round(v, i, K[t + i] + w[t + i]);
    for (int i = 0; i < 8; i++) hash[i] += v[i];
}

static void compress_blocks(kb_sha256 *sha, const unsigned char *blocks, size_t n)
{
    if (sha->is_wired) kb_sha256_wired(sha->hash, blocks, n, K);
    else
        for (size_t i = 0; i < n; i++) compress(sha->hash, blocks + i * BLOCK);
}

void kb_sha256_begin(kb_sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(sha, 0, sizeof *sha);
    memcpy(sha->hash, start, sizeof start);
    sha->is_wired = kb_sha256_is_wired();
}

void kb_sha256_add(kb_sha256 *sha, const void *bytes, size_t n)
{
    const unsigned char *next = bytes;
    while (n) {
        size_t begun = sha->length % BLOCK, take = BLOCK - begun < n ? BLOCK - begun : n;
        bool is_whole = !begun && n >= BLOCK;
        if (is_whole) take = n / BLOCK * BLOCK;
        else memcpy(sha->block + begun, next, take);
        if (is_whole) compress_blocks(sha, next, take / BLOCK);
        else if (begun + take == BLOCK) compress_blocks(sha, sha->block, 1);
        sha->length += take;
        next += take;
        n -= take;
    }
}

void kb_sha256_finish(kb_sha256 *sha, char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((sha->length * 8) >> (56 - 8 * i));

    kb_sha256_add(sha, "\x80", 1);
    while (sha->length % BLOCK != LENGTH_AT) kb_sha256_add(sha, "", 1);
    kb_sha256_add(sha, length, sizeof length);

    for (int i = 0; i < 64; i++) hex[i] = digits[(sha->hash[i / 8] >> (28 - 4 * (i % 8))) & 15];
    hex[64] = '\0';
}
