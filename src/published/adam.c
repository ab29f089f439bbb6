#include "published/adam.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double decay_mean = 0.9, decay_square = 0.999, floor_of_root = 1e-8;

kbass_status kb_adam_create(size_t n, kb_adam **out, kbass_error *error)
{
    kb_adam *adam = KB_NEW(kb_adam, 1);
    if (adam) *adam = (kb_adam){n, 0, KB_NEW(double, n), KB_NEW(double, n)};
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

void kb_adam_reset(kb_adam *adam)
{
    adam->steps = 0;
    memset(adam->mean, 0, adam->n * sizeof *adam->mean);
    memset(adam->square, 0, adam->n * sizeof *adam->square);
}

static void average(size_t n_old, const double *old, size_t n, double *square)
{
    double sum = 0;
    for (size_t i = 0; i < n_old; i++) sum += old[i];
    for (size_t i = 0; i < n; i++) square[i] = sum / (double)n_old;
}

kbass_status kb_adam_follow(kb_adam *adam, size_t n_groups, const size_t *first, const size_t *next,
                            const bool *changed, kbass_error *error)
{
    double *mean = KB_NEW(double, next[n_groups]), *square = KB_NEW(double, next[n_groups]);
    if (!mean || !square) {
        kb_free(mean);
        kb_free(square);
        return kb_out_of_memory(error, "Adam");
    }
    for (size_t g = 0; g < n_groups; g++) {
        size_t n_old = first[g + 1] - first[g], n = next[g + 1] - next[g];
        if (changed[g]) {
            average(n_old, adam->square + first[g], n, square + next[g]);
        } else {
            memcpy(mean + next[g], adam->mean + first[g], n * sizeof *mean);
            memcpy(square + next[g], adam->square + first[g], n * sizeof *square);
        }
    }
    kb_free(adam->mean);
    kb_free(adam->square);
    adam->mean = mean;
    adam->square = square;
    adam->n = next[n_groups];
    return KBASS_OK;
}

void kb_adam_step(kb_adam *adam, double rate, const double *gradient, double *x)
{
    double steps = (double)++adam->steps;
    double mean_bias = 1 - pow(decay_mean, steps), square_bias = 1 - pow(decay_square, steps);
    for (size_t i = 0; i < adam->n; i++) {
        adam->mean[i] += (1 - decay_mean) * (gradient[i] - adam->mean[i]);
        adam->square[i] += (1 - decay_square) * (gradient[i] * gradient[i] - adam->square[i]);
        x[i] -= rate * (adam->mean[i] / mean_bias) / (sqrt(adam->square[i] / square_bias) + floor_of_root);
    }
}
