/* What a look at a grid of values tells before anything is fitted: the noise, and the wavelength that is visible.
 *
 * Differences of order k of white noise have variance (2k over k) v, and a smooth field adds to it: v is the least that
 * any axis and order give. The wavelength along an axis is six times the lag at which the field's correlation falls to
 * one half, as a cosine's does (docs/math.md, eq. 78).
 */
#ifndef KB_PROPOSE_WEAK_SCALES_H
#define KB_PROPOSE_WEAK_SCALES_H

#include <stddef.h>

#include "dictionary/dictionary.h"

/* Values of one field, the last axis fastest; NaN: not measured. */
typedef struct {
    size_t n_axes, n[KB_MAX_AXES];
    const double *value;
} kb_weak_grid;

/* Variance of the noise; 0 when nothing tells. */
double kb_weak_noise(const kb_weak_grid *grid);
/* The visible wavelength along an axis, in samples; at most four times the axis. */
double kb_weak_wavelength(const kb_weak_grid *grid, size_t axis, double noise);

#endif
