#include "posterior/field_spread.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double left_out = 1e-4; /* share of the trace that a low rank may leave: 1 % of a standard deviation */

kbass_status kb_field_spread_create(size_t n, size_t k, bool has_rates, bool has_covariance, kb_field_spread *out,
                                    kbass_error *error)
{
    *out = (kb_field_spread){.n = n,
                             .k = k,
                             .has_rates = has_rates,
                             .mean = KB_NEW(double, n),
                             .by_weights = KB_NEW(double, n *k + 1),
                             .weights = KB_NEW(double, k *k + 1),
                             .variance = KB_NEW(double, n),
                             .covariance = has_covariance ? KB_NEW(double, n *n) : NULL};
    if (out->mean && out->by_weights && out->weights && out->variance && (out->covariance || !has_covariance))
        return KBASS_OK;
    kb_field_spread_clear(out);
    return kb_out_of_memory(error, "the posterior of the fields");
}

void kb_field_spread_clear(kb_field_spread *s)
{
    double *arrays[] = {s->mean, s->by_weights, s->weights, s->variance, s->covariance};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    *s = (kb_field_spread){0};
}

static size_t largest_pivot(size_t n, const double *C, double *trace)
{
    size_t at = 0;
    *trace = 0;
    for (size_t i = 0; i < n; i++) {
        *trace += fmax(C[i + i * n], 0);
        if (C[i + i * n] > C[at + at * n]) at = i;
    }
    return at;
}

size_t kb_low_rank(size_t n, double *C, size_t most, double *F)
{
    double whole = 0, left = 0;
    largest_pivot(n, C, &whole);
    for (size_t rank = 0; rank < most && rank < n; rank++) {
        size_t at = largest_pivot(n, C, &left);
        double *column = F + rank * n, pivot = C[at + at * n];
        if (!(left > left_out * whole) || !(pivot > 0)) return rank;
        for (size_t i = 0; i < n; i++) column[i] = C[i + at * n] / sqrt(pivot);
        for (size_t j = 0; j < n; j++) kb_axpy(n, -column[j], column, C + j * n);
    }
    return most < n ? most : n;
}
