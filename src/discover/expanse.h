/* A discovery problem of fields over several space axes, or of second order in time: what is fixed before the search.
 *
 * Here the kernel engine gives the answer itself: all patches of the terrain take part in every message, and the models
 * it weighed are the fits that the answer averages over (docs/math.md, section 15).
 */
#ifndef KB_EXPANSE_H
#define KB_EXPANSE_H

#include "discover/answer.h"
#include "discover/terrain.h"

typedef struct {
    const kb_dictionary *dictionary;
    size_t n_runs;
    kb_cloud **clouds; /* n_runs */
    kb_terrain *terrain;
    kb_columns *columns;
} kb_expanse;

kbass_status kb_expanse_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                               kb_expanse **out, kbass_error *error);
void kb_expanse_destroy(kb_expanse *expanse);
kb_frame kb_expanse_frame(const kb_expanse *expanse);

kbass_status kb_expanse_search(const kb_expanse *expanse, kb_run *run, kb_search_result *result, kbass_error *error);
/* The chosen model's field in a run: n times and n x (n_axes - 1) positions in the data's units, within the record;
   mean and sd (or NULL) n x n_fields, row-major. */
kbass_status kb_expanse_solution(const kb_expanse *expanse, const kb_search_result *found, size_t run, size_t n,
                                 const double *times, const double *positions, double *mean, double *sd,
                                 kbass_error *error);

#endif
