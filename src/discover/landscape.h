/* A discovery problem of fields over space: what is fixed before the search and shared, read-only, by its threads.
 *
 * Terms are scaled on a sample of what the fields look like: measured values, and derivatives of the size that the
 * profile's length scale gives them; one weight's slab is 5 times the fields' own rate of change, U / (T/5).
 * Runs on one domain share period and profile, those on domains of their own have their own.
 */
#ifndef KB_LANDSCAPE_H
#define KB_LANDSCAPE_H

#include "discover/answer.h"
#include "forward/chorus.h"

typedef struct {
    const kbass_settings *settings;
    const kb_dictionary *dictionary;
    size_t n_runs;
    kb_cloud **clouds;   /* n_runs */
    kb_scene *scenes;    /* n_runs: periodicity of the space axis, steps between two data lines of median distance that
                            resolve how much they change, profile of the first lines */
    bool has_one_domain; /* along the space axis */
    kb_columns *columns;
    kb_support all;
    int threads;
} kb_landscape;

kbass_status kb_landscape_create(const kbass_data *data, const kbass_settings *settings,
                                 const kb_dictionary *dictionary, kb_landscape **out, kbass_error *error);
kb_frame kb_landscape_frame(const kb_landscape *landscape);
/* The end of the runs that share their domain with this one, the first of them. */
size_t kb_landscape_domain_end(const kb_landscape *landscape, size_t run);
void kb_landscape_destroy(kb_landscape *landscape);

#endif
