/* Runs of fields as one dynamics: a line for each, with its own points, profile and ends; the weights are common,
 * but for columns that hold in one run alone.
 *
 * A window belongs to the run of its first row. Starts have as many unknowns as the longest needs; those that a run
 * does not use stay at 0, where their prior leaves them, and say nothing.
 */
#ifndef KB_CHORUS_H
#define KB_CHORUS_H

#include "forward/line.h"

/* One run: where it was measured, and what its line is made of. */
typedef struct {
    const kb_cloud *cloud;
    kb_line_settings line;
    kb_profile profile;
} kb_scene;

typedef struct {
    kb_dynamics dynamics; /* first */
    size_t n;
    kb_line **lines;
    size_t *run_start; /* n + 1: rows */
} kb_chorus;

kbass_status kb_chorus_create(size_t n, const kb_scene *scenes, const kb_dictionary *dictionary,
                              const kb_columns *columns, size_t max_tangents, kb_chorus **out, kbass_error *error);
/* As kb_line_guess, for the run of the row. */
bool kb_chorus_guess(const kb_chorus *chorus, size_t row, double *start);

#endif
