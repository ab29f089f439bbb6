/* A discovery problem of fields over space: what is fixed before the search and shared, read-only, by its threads.
 *
 * Terms are scaled on a sample of what the fields look like: measured values, and derivatives of the size that the
 * profile's length scale gives them; one weight's slab is 5 times the fields' own rate of change, U / (T/5).
 */
#ifndef KB_LANDSCAPE_H
#define KB_LANDSCAPE_H

#include "discover/answer.h"
#include "forward/line.h"

typedef struct {
    const kbass_settings *settings;
    const kb_dictionary *dictionary;
    kb_cloud *cloud;
    kb_columns *columns;
    kb_support all;
    kb_line_settings line; /* periodicity of the space axis */
    kb_profile profile;    /* of the first lines */
    double steps;          /* between two data lines of median distance that resolve how much they change */
    int threads;
} kb_landscape;

kbass_status kb_landscape_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                                 kb_landscape **out, kbass_error *error);
kb_frame kb_landscape_frame(const kb_landscape *landscape);
void kb_landscape_destroy(kb_landscape *landscape);

#endif
