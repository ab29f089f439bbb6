/* Random numbers: xoshiro256++ seeded by splitmix64; the same stream on every machine. */
#ifndef KB_RANDOM_H
#define KB_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t state[4];
} kb_random;

/* The next of the sequence that x stands for: all bits of x scattered. */
uint64_t kb_splitmix(uint64_t *x);
void kb_random_seed(kb_random *random, uint64_t seed);
double kb_random_uniform(kb_random *random); /* in (0, 1) */
double kb_random_normal(kb_random *random);  /* mean 0, variance 1 */

#endif
