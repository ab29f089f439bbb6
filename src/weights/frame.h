/* What scaled numbers mean in the data's units: all that an answer needs to know of the problem it answers. */
#ifndef KB_WEIGHTS_FRAME_H
#define KB_WEIGHTS_FRAME_H

#include "weights/columns.h"

typedef struct {
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    const double *mean, *sd; /* per state */
    double span;             /* of time */
    size_t n_runs;
    bool starts_with_states;      /* the starts of a fit are initial states, not profiles */
    size_t n_rows, n_rows_before; /* of a record that was condensed, and before; 0: it was not */
} kb_frame;

#endif
