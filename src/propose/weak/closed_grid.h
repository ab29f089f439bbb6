/* Fields on a grid whose space axes close, as sums of waves: row by row their values and derivatives, freed from most
 * of the noise. A wave's share is that of its mean square over the rows which is not noise, and the noise is what the
 * shortest waves show; where samples are too sparse for a field, what they alias counts as noise, too.
 */
#ifndef KB_PROPOSE_WEAK_CLOSED_GRID_H
#define KB_PROPOSE_WEAK_CLOSED_GRID_H

#include "dictionary/dictionary.h"
#include "gp/field_samples.h"

typedef struct {
    const kb_field_samples *samples;
    const kb_dictionary *dictionary;
    size_t n_axes;            /* of space */
    size_t n[KB_SAMPLE_AXES]; /* points along each space axis, without the one that closes it */
    size_t m[KB_SAMPLE_AXES]; /* waves: 1, cos, sin, cos 2, ... */
    size_t n_points, n_modes; /* of a row */
    double *coefficients;     /* n_modes x n_rows x n_fields, scaled */
    double *value;            /* n_points x n_rows x n_fields: measurements, scaled */
    double *basis[KB_SAMPLE_AXES][KB_HIGHEST_ORDER + 1]; /* n x m: derivatives of the waves, in the data's units */
    double *inverse[KB_SAMPLE_AXES];                     /* m x n: their coefficients, by least squares */
    double *spread[KB_SAMPLE_AXES];                      /* m: variance of each, for noise of variance 1 */
    double *work;
} kb_closed_grid;

/* *out is NULL where axes do not close, have gaps, or values are missing. Borrows samples and dictionary. */
kbass_status kb_closed_grid_create(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                   kb_closed_grid **out, kbass_error *error);
void kb_closed_grid_destroy(kb_closed_grid *grid);
/* All variables of the dictionary at a row's points, in the data's units: n_points x n_variables, column-major. */
void kb_closed_grid_look(const kb_closed_grid *grid, size_t row, double *variables);

#endif
