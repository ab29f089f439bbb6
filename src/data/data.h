/* Measurements: points on the axes (time first), values of the states there, NaN where not measured.
 *
 * Every reader fills a kbass_data, checks it as it goes, and ends with kb_data_settle.
 */
#ifndef KB_DATA_H
#define KB_DATA_H

#include <stdbool.h>

#include "kbass/kbass.h"

struct kbass_data {
    size_t n_rows, n_states;
    char *time_name;
    char **state_names;
    double *times;  /* n_rows, ascending */
    double *values; /* n_rows x n_states, row-major */
    char sha256[65];
    char *source;   /* path it was read from, or "" */
};

/* What discovery needs: at least 4 measured values per state, more than one time, no constant state, all finite. */
kbass_status kb_data_check(const kbass_data *data, kbass_error *error);

/* A state's name stands in equations: a letter or _, then letters, digits, _. */
bool kb_data_is_name(const char *name);
/* Drops rows without a measured state and sorts the others by time; equal times stay in their order. */
kbass_status kb_data_settle(kbass_data *data, kbass_error *error);

/* The table as CSV, line by line with the newline: header first, numbers shortest, an empty cell for NaN. */
typedef void (*kb_line_taker)(void *user, const char *line, size_t length);
kbass_status kb_data_lines(const kbass_data *data, kb_line_taker take, void *user, kbass_error *error);
/* Makes `sha256` that of the lines above. */
kbass_status kb_data_hash(kbass_data *data, kbass_error *error);

/* A copy with everything, source and hash included. */
kbass_status kb_data_copy(const kbass_data *data, kbass_data **out, kbass_error *error);

#endif
