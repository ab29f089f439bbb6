/* Which products of the axes' features a patch keeps.
 *
 * A product of features has the product of their eigenvalues as its variance: over several axes most of the tensor's
 * corners count for nothing. Kept are the products above a share of the largest, and each axis' first few features by
 * themselves. Along time they are prefixes: eigenvalues fall.
 */
#ifndef KB_COLLOCATION_PRODUCTS_H
#define KB_COLLOCATION_PRODUCTS_H

#include <stdbool.h>

#include "gp/axes.h"
#include "gp/field_samples.h"

enum { KB_LEAST_RANK = 3 }; /* features: of an axis that are always kept */

typedef struct {
    size_t rank[KB_SAMPLE_AXES];
    size_t n_tensor, n;     /* products of all features, and those kept */
    size_t n_space, *place; /* kept products of space: their index among all of them, axis 1 fastest */
    size_t *first; /* n_space + 1: product i of space has the first `first[i + 1] - first[i]` features of time */
} kb_products;

/* Room for `most` products. */
kbass_status kb_products_create(size_t most, kb_products *out, kbass_error *error);
void kb_products_clear(kb_products *products);
/* At the smallest cut that leaves at most `most` products; `whole`: a full tensor. */
void kb_products_choose(kb_products *products, size_t n_axes, const kb_axis_level *const *level, size_t most,
                        bool whole);

/* z (n) as a tensor of the ranks: z itself when all are kept, else `tensor`, filled. */
const double *kb_products_open(const kb_products *products, const double *z, double *tensor);
/* z += factor * the tensor's kept entries */
void kb_products_gather(const kb_products *products, double factor, const double *tensor, double *z);
/* Index of product i of space along an axis. */
size_t kb_products_index(const kb_products *products, size_t i, size_t axis);

#endif
