/* From named arrays to measurements: which arrays are axes, which are fields, in which order their dimensions run.
 *
 * Long tables are arrays of one length (columns.c); fields on a grid have a dimension for each axis, found by their
 * lengths, by names, or from what the caller said (arrange.c). select.c picks the arrays of one group.
 */
#ifndef KB_ARRANGE_H
#define KB_ARRANGE_H

#include "data/source.h"

enum { KB_NOTE_SIZE = 480, KB_VIEWS_SIZE = 320 };

/* An array, or a part of it, without dimensions of length 1. */
typedef struct {
    const char *name; /* without its group */
    kb_array *array;
    size_t n_dims, dims[KB_MOST_DIMS], strides[KB_MOST_DIMS];
    size_t shift; /* bytes to its first number */
    bool is_used;
} kb_view;

typedef struct {
    kb_reading *reading;
    kb_source source;
    size_t n_views;
    kb_view *views;
    const char *field; /* the one the caller named: the others are axes at most; or NULL */
    kbass_data *data;
    char note[KB_NOTE_SIZE];
} kb_arrangement;

/* Fills the views: the arrays of the group the caller named, or of the only one there is. */
kbass_status kb_select_views(kb_arrangement *a);
/* "u (3 x 4), t (3)" of what is there, and what was left out, for messages. */
void kb_list_views(const kb_arrangement *a, char *text, size_t size);
/* NULL when there is none; names that differ only in case are the second choice. */
kb_view *kb_find_view(const kb_arrangement *a, const char *name);
/* By its name, or t or time; NULL with a message. */
kb_view *kb_find_time(const kb_arrangement *a, const char *name);

/* n numbers, last dimension fastest, from the first-th; the array must be loaded. */
void kb_view_read(const kb_view *v, size_t first, size_t n, double *to);

/* A column of the table to be: its numbers, row by row, and which axis or state they are. */
typedef struct {
    kb_view view;
    bool is_axis;
    size_t place;
} kb_column;

typedef struct {
    kb_arrangement *arrangement;
    size_t n_rows, n_columns;
    kb_column *columns;
    bool is_bad; /* a number is infinite, or missing on an axis; where that is */
    size_t bad_column, bad_row;
} kb_filling;

/* Makes the data's rows, whose names are there, of loaded arrays; where is_bad the message is left to the caller. */
kbass_status kb_fill(kb_filling *filling);

kbass_status kb_arrange_grid(kb_arrangement *a, kb_view *time);
/* Arrays of the same shape as time, a column each. */
kbass_status kb_arrange_columns(kb_arrangement *a, const kb_view *time);
/* The two dimensions of an array without name: rows and columns. */
kbass_status kb_arrange_unnamed(kb_arrangement *a);

/* Adds to the note. */
__attribute__((format(printf, 2, 3))) void kb_arrangement_note(kb_arrangement *a, const char *format, ...);

#endif
