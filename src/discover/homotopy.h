/* The kernel engine's search for PDEs (docs/math.md): proposals for the forward engine, or answers by themselves.
 *
 *     screening    all small structures on the quadratic about the bare field, the most frequent solved
 *     homotopy     tau falls and the length scales shrink over nine stages, all candidates in play until the sixth
 *     ascent       hyperparameters and structure by the normalised evidence, residuals of the equation as Student's t
 */
#ifndef KB_HOMOTOPY_H
#define KB_HOMOTOPY_H

#include "base/run.h"
#include "discover/terrain.h"
#include "solve/mosaic.h"

typedef struct {
    kb_support support;
    double *w;           /* by column, scaled */
    double log_evidence; /* comparable among the opinions of one search */
    double *variance;    /* per field: of the noise, scaled */
    kb_steps steps;      /* where the evidence was found: length scales, tau, freedom of Student's t */
    double tau, freedom;
} kb_opinion;

extern const kb_scope kb_homotopy_scope; /* for its terrain */

void kb_opinion_clear(kb_opinion *opinion);

/* At most `most` opinions, best evidence first, with distinct supports; clear each. *n = 0 is an outcome. A run that is
   stopped leaves the opinions formed so far. */
kbass_status kb_homotopy(const kb_terrain *terrain, const kb_columns *columns, kb_run *run, size_t most,
                         kb_opinion *opinions, size_t *n, kbass_error *error);

/* The field of an opinion at any points of a run's domain (n_points x n_axes, column-major, the data's units): mean and
   posterior sd (n_points x n_fields, the data's units), and the residual of the equations in the units of their
   left-hand sides; sd and residual may be NULL. */
kbass_status kb_opinion_field(const kb_terrain *terrain, const kb_columns *columns, const kb_opinion *opinion,
                              size_t run, size_t n_points, const double *points, double *mean, double *sd,
                              double *residual, kbass_error *error);

#endif
