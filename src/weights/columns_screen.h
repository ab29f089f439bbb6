/* Fewer columns where a dictionary is wide: what a field without any equation says about each candidate.
 *
 * Engines hold matrices of columns x columns. Where the candidates of all equations are more than `most`, each equation
 * keeps its share of them: orthogonal least squares of the bare field's slope on the terms takes the best term ten
 * times, and a column counts by the largest share of what was left that it explained on the way (docs/math.md, eq. 63).
 */
#ifndef KB_COLUMNS_SCREEN_H
#define KB_COLUMNS_SCREEN_H

#include "weights/columns.h"

/* reference: n_points x n_variables in the data's units, slopes: n_points x n_states, dq/ds there, both column-major.
   Required columns stay, and so do those that --explain asks about. Prior odds are those of the whole dictionary. */
kbass_status kb_columns_screen(kb_columns *columns, const kb_dictionary *dictionary, size_t n_points,
                               const double *reference, const double *slopes, size_t most, kbass_error *error);

/* Columns move to the places that they are given; those without one (KB_NO_COLUMN) are left out. Places ascend. */
void kb_columns_keep(kb_columns *columns, const size_t *place);

#endif
