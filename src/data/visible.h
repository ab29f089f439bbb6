/* What a look at a grid of values tells before anything is fitted: the noise, and the wavelength that is visible.
 *
 * Differences of order k of white noise have variance (2k over k) v, and a smooth field adds to it: v is the least that
 * any axis and order give. The wavelength along an axis is six times the lag at which the field's correlation falls to
 * one half, as a cosine's does (docs/math.md, eq. 78).
 */
#ifndef KB_DATA_VISIBLE_H
#define KB_DATA_VISIBLE_H

#include <stddef.h>

#include "kbass/kbass.h"

/* Values of one field, the last axis fastest; NaN: not measured. */
typedef struct {
    size_t n_axes, n[KBASS_MAX_AXES];
    const double *value;
} kb_grid_values;

/* Variance of the noise; 0 when nothing tells. */
double kb_grid_noise(const kb_grid_values *grid);
/* The visible wavelength along an axis, in samples; at most four times the axis. */
double kb_grid_wavelength(const kb_grid_values *grid, size_t axis, double noise);

#endif
