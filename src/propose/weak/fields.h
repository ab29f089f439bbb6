/* Proposals for fields on grids by the weak form (tile.h), in a pass or two over the values.
 *
 * Bumps too narrow see only noise and are confidently wrong, and evidence cannot compare widths: half widths from a
 * quarter to one visible wavelength are tried along time and space, each with pure derivatives alone and with all
 * terms, and what they propose is taken together. The forward fit judges.
 */
#ifndef KB_PROPOSE_WEAK_FIELDS_H
#define KB_PROPOSE_WEAK_FIELDS_H

#include "base/run.h"
#include "data/tiles.h"
#include "gp/field_samples.h"
#include "weights/columns.h"

typedef struct {
    kb_support support;
    double *w;    /* by column, scaled */
    double votes; /* of the widths, each 1 for its best, less for what comes after */
} kb_field_proposal;

typedef struct {
    size_t n;
    kb_field_proposal *proposals;      /* most votes first */
    bool *is_pure;                     /* by column: a derivative of a product of powers, which needs no bare field */
    double *noise;                     /* n_fields: variance, scaled */
    double wavelength[KB_SAMPLE_AXES]; /* the visible one along each axis, scaled as the axes; capped at 4 */
    size_t n_messages;
} kb_field_proposals;

/* By whom: these threads, and the ranks of the run. And a grid of which the samples are a part: pure terms are
   integrated over all of it. */
typedef struct {
    kb_tiled *tiles; /* NULL: the samples are all */
    kb_run *run;     /* one that is stopped ends with the widths by then; NULL: never */
    int threads;
} kb_weak_whole;

/* `whole`: NULL where the samples are all and nothing stops. At most `most` proposals. n = 0 is an outcome: no grid, or
 * too few samples in a wavelength. */
kbass_status kb_weak_fields_propose(size_t n_runs, kb_field_samples *const *run_samples, const kb_weak_whole *whole,
                                    const kb_dictionary *dictionary, const kb_columns *columns, size_t most,
                                    kb_field_proposals *out, kbass_error *error);
void kb_field_proposals_clear(kb_field_proposals *proposals);

#endif
