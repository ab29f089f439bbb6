/* The bare field on a tile: Kronecker regression with a squared exponential kernel along each axis, and its exact
 * derivatives, for terms that are no pure derivative (docs/math.md, eq. 76).
 *
 *     K_a = V_a diag(e_a) V_a',   A = (V'y) / (prod e + ratio),   D^k u = (x)_a K_a^(k_a) V_a  A
 */
#ifndef KB_PROPOSE_WEAK_BARE_TILE_H
#define KB_PROPOSE_WEAK_BARE_TILE_H

#include "propose/weak/tile.h"

/* Length scale of each axis and the noise's share of the kernel's variance, by field. */
typedef struct {
    double length[KB_MAX_AXES];
    const double *ratio; /* n_fields */
} kb_bare_scales;

/* What is known of the axes: of time for one tile, of space as long as tiles have the same points there. */
typedef struct {
    double *vectors[KB_MAX_AXES], *values[KB_MAX_AXES];
    double *features[KB_MAX_AXES][KB_HIGHEST_ORDER + 1]; /* K^(k) V */
} kb_bare_axes;

void kb_bare_axes_clear(kb_bare_axes *axes);
/* bare: points x variables of the dictionary, column-major. The tile has no holes. */
kbass_status kb_bare_tile_evaluate(const kb_dictionary *dictionary, const kb_weak_tile *tile,
                                   const kb_bare_scales *scales, kb_bare_axes *axes, double *bare, kbass_error *error);

#endif
