/* SHA-256 by the processor's own instructions, where it has them; everywhere else sha256.c does the work. */
#include "data/sha256.h"

#if defined(__x86_64__)

#include <immintrin.h>

bool kb_sha256_is_wired(void)
{
    unsigned a = 7, b = 0, c = 0, d = 0;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (b >> 29 & 1) && __builtin_cpu_supports("sse4.1");
}

/* w[i] of the four words after next, from the last sixteen. */
__attribute__((target("sha,sse4.1"))) static __m128i extended(const __m128i w[4], int i)
{
    __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
    next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
    return _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
}

__attribute__((target("sha,sse4.1"))) static void one_block(__m128i *abef, __m128i *cdgh, const unsigned char *block,
                                                            const uint32_t k[64])
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i first = *abef, second = *cdgh, w[4];
    for (int i = 0; i < 16; i++) {
        if (i < 4) w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), swap);
        else w[i & 3] = extended(w, i);
        __m128i sum = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(k + 4 * i)));
        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    *abef = _mm_add_epi32(*abef, first);
    *cdgh = _mm_add_epi32(*cdgh, second);
}

/* The instructions want the words in the order f e b a, h g d c. */
__attribute__((target("sha,sse4.1"))) void kb_sha256_wired(uint32_t hash[8], const unsigned char *blocks, size_t n,
                                                           const uint32_t k[64])
{
    __m128i dcba = _mm_loadu_si128((const __m128i *)hash), hgfe = _mm_loadu_si128((const __m128i *)(hash + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (size_t i = 0; i < n; i++) one_block(&abef, &cdgh, blocks + 64 * i, k);
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)hash, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(hash + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool kb_sha256_is_wired(void) { return false; }

void kb_sha256_wired(uint32_t hash[8], const unsigned char *blocks, size_t n, const uint32_t k[64])
{
    (void)hash, (void)blocks, (void)n, (void)k;
}

#endif
