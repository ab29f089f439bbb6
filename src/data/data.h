/* Measurements: points on the axes (time first), values of the states there, NaN where not measured.
 *
 * Every reader fills a kbass_data, checks it as it goes, and ends with kb_data_settle.
 */
#ifndef KB_DATA_H
#define KB_DATA_H

#include <stdbool.h>

#include "kbass/kbass.h"

/* What reading can be told, each as text (kbass_read_options). */
enum { KB_ASKED = 10 };
extern const char *const kb_asked_names[KB_ASKED];

/* What a column is called beside its name in equations; both may be NULL. */
typedef struct {
    char *face; /* as it was written, "Biomass [g/L]", where that differs from the name */
    char *unit; /* "g/L" */
} kb_caption;

struct kb_tiled;

struct kbass_data {
    size_t n_rows, n_states;
    size_t n_hidden;       /* of the states, the last: velocities of which nothing was measured (--lhs x_tt) */
    size_t n_axes;         /* 1: time only */
    char **axis_names;     /* n_axes, time first */
    const char *time_name; /* axis_names[0] */
    char **state_names;
    kb_caption axis_captions[KBASS_MAX_AXES];
    kb_caption *state_captions; /* n_states; NULL: none */
    char *time_origin;          /* the date of time 0, "2021-03-04 05:06"; NULL: times were numbers */
    double *times;              /* n_rows, ascending */
    double *positions; /* n_rows x (n_axes - 1), row-major; ascending where times are equal; NULL without space */
    double *values;    /* n_rows x n_states, row-major */
    double *sigma;     /* n_rows x n_states: standard deviations of the values, NaN where not given; NULL: none are */
    size_t n_runs;     /* 0: one, without a name */
    char **run_names;  /* n_runs */
    size_t *run_start; /* n_runs + 1: the first row of each; times ascend within a run */
    size_t n_labels;   /* until runs are split: the words that a column's numbers 0, 1, ... stand for */
    char **labels;
    char *run_column, *sigma_columns; /* what runs and error bars were made of; NULL: nothing */
    char *part;                       /* of the file that was read, "t=0:10, every 5"; NULL: all of it */
    char *asked[KB_ASKED];            /* what the reader was told; NULL: nothing */
    char sha256[65];
    char *source;           /* path it was read from, or "" */
    struct kb_tiled *tiles; /* a grid of which the rows are a part (data/tiles.h); NULL: the rows are all */
    double noise_share;     /* variance of the rows' noise over that of the grid's values, where they are projections
                               of its rows onto waves (data/row_waves.h), white again; 0: they are its values */
    char *note; /* how a file was understood where that is not plain: "u (256 x 101) over (x, t)"; NULL or "" */
};

/* What discovery needs: at least 4 measured values per state, no constant state, all finite, and of every state more
   than one coordinate along each axis. */
kbass_status kb_data_check(const kbass_data *data, kbass_error *error);
/* Neither axes nor states so large or so small that their products leave a double's range. */
kbass_status kb_data_check_scale(const kbass_data *data, kbass_error *error);

/* A state's name stands in equations: a letter or _, then letters, digits, _. */
bool kb_data_is_name(const char *name);
/* The row's coordinate along an axis. */
static inline double kb_data_coordinate(const kbass_data *data, size_t row, size_t axis)
{
    return axis ? data->positions[row * (data->n_axes - 1) + axis - 1] : data->times[row];
}
/* Both rows are at one time and position. */
static inline bool kb_data_same_place(const kbass_data *data, size_t a, size_t b)
{
    size_t axis = 0;
    while (axis < data->n_axes && kb_data_coordinate(data, a, axis) == kb_data_coordinate(data, b, axis)) axis++;
    return axis == data->n_axes;
}
/* Drops rows without a measured state and sorts the others by time, then positions; equal ones stay in their order.
   Rows of fields at one place become one unless they contradict each other. */
kbass_status kb_data_settle(kbass_data *data, kbass_error *error);

/* The table as CSV, line by line with the newline: header first, numbers shortest, an empty cell for NaN. */
typedef void (*kb_line_taker)(void *user, const char *line, size_t length);
kbass_status kb_data_lines(const kbass_data *data, kb_line_taker take, void *user, kbass_error *error);
/* Makes `sha256` that of the lines above. */
kbass_status kb_data_hash(kbass_data *data, kbass_error *error);

/* Takes a state's name and caption out; its values are the caller's. */
void kb_data_forget_state(kbass_data *data, size_t state);

/* A column's values are numbers of these words, in any order: they become numbers of their order in the alphabet, and
   `labels` has the words. */
kbass_status kb_data_label(kbass_data *data, size_t state, size_t n, char *const *words, kbass_error *error);
/* A state by its name, or as it was written; n_states when there is none. */
size_t kb_data_find_state(const kbass_data *data, const char *name);

/* The runs' borders: the first row of a run, the number of rows at the end. */
static inline size_t kb_data_run_start(const kbass_data *data, size_t run)
{
    return data->n_runs ? data->run_start[run] : run ? data->n_rows : 0;
}

/* Rows of one run as a table, up to `end`; and all of a run; all borrowed, not to be destroyed. */
kbass_data kb_data_rows(const kbass_data *data, size_t first, size_t end);
kbass_data kb_data_run(const kbass_data *data, size_t run);

/* States over time: an empty column x_t, unless there is one, for each "x_tt" in a list of left-hand sides. */
kbass_status kb_data_add_velocities(kbass_data *data, const char *lhs, kbass_error *error);

/* The unit that was written above a column, "g/L", or NULL. */
const char *kb_data_unit(const kbass_data *data, const char *name);
/* A copy with everything, source and hash included. */
kbass_status kb_data_copy(const kbass_data *data, kbass_data **out, kbass_error *error);

#endif
