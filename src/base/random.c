#include "base/random.h"

#include <math.h>

uint64_t kb_splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

void kb_random_seed(kb_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) random->state[i] = kb_splitmix(&seed);
}

static uint64_t next(kb_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double kb_random_uniform(kb_random *random) { return ((double)(next(random) >> 11) + 0.5) * 0x1p-53; }

/* Box-Muller; the second of the pair is dropped so that the stream has no hidden state. */
double kb_random_normal(kb_random *random)
{
    double u = kb_random_uniform(random), v = kb_random_uniform(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}
