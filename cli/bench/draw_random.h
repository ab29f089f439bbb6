/* Random numbers of the draws: the same on every machine. */
#ifndef BENCH_DRAW_RANDOM_H
#define BENCH_DRAW_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* splitmix64 */
static inline double bench_uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline size_t bench_among(uint64_t *random, size_t n) { return (size_t)(bench_uniform(random) * (double)n); }

static inline double bench_normal(uint64_t *random)
{
    return sqrt(-2 * log(1 - bench_uniform(random))) * cos(6.283185307179586 * bench_uniform(random));
}

#endif
