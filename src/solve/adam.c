#include "solve/adam.h"

#include <math.h>

#include "base/memory.h"

static const double decay_mean = 0.9, decay_square = 0.999, floor_of_root = 1e-8;

kbass_status kb_adam_create(size_t n, double rate, kb_adam **out, kbass_error *error)
{
    kb_adam *adam = KB_NEW(kb_adam, 1);
    if (adam) *adam = (kb_adam){n, 0, rate, KB_NEW(double, n), KB_NEW(double, n)};
    if (!adam || !adam->mean || !adam->square) {
        kb_adam_destroy(adam);
        return kb_out_of_memory(error, "Adam");
    }
    *out = adam;
    return KBASS_OK;
}

void kb_adam_destroy(kb_adam *adam)
{
    if (!adam) return;
    kb_free(adam->mean);
    kb_free(adam->square);
    kb_free(adam);
}

void kb_adam_step(kb_adam *adam, const double *gradient, double *x)
{
    double steps = (double)++adam->steps;
    double mean_bias = 1 - pow(decay_mean, steps), square_bias = 1 - pow(decay_square, steps);
    for (size_t i = 0; i < adam->n; i++) {
        adam->mean[i] += (1 - decay_mean) * (gradient[i] - adam->mean[i]);
        adam->square[i] += (1 - decay_square) * (gradient[i] * gradient[i] - adam->square[i]);
        x[i] -= adam->rate * (adam->mean[i] / mean_bias) / (sqrt(adam->square[i] / square_bias) + floor_of_root);
    }
}
