/* Fields at points, linearised about a fit: value = mean + by_weights e + what stays uncertain when the weights are
 * known, where the weights are w + weights e and e ~ N(0, I) (docs/math.md, eq. 73).
 *
 * Values are listed by point and field, fields fastest; with rates the first derivatives in time follow in the same
 * order.
 */
#ifndef KB_POSTERIOR_FIELD_SPREAD_H
#define KB_POSTERIOR_FIELD_SPREAD_H

#include <stdbool.h>

#include "base/status.h"

typedef struct {
    size_t n, k; /* values; weights */
    bool has_rates;
    double *mean;       /* n */
    double *by_weights; /* n x k, the last fastest */
    double *weights;    /* k x k, likewise: of the scaled weights */
    double *variance;   /* n: given the weights */
    double *covariance; /* n x n: the same as a whole; NULL: not wanted */
} kb_field_spread;

kbass_status kb_field_spread_create(size_t n, size_t k, bool has_rates, bool has_covariance, kb_field_spread *out,
                                    kbass_error *error);
void kb_field_spread_clear(kb_field_spread *spread);
/* C (n x n) = F F' as far as `most` columns and a small share of the trace allow: by pivoted Cholesky, which changes C.
   F is n x most, column-major; returns its rank. */
size_t kb_low_rank(size_t n, double *C, size_t most, double *F);

#endif
