/* From named arrays to measurements: which arrays are axes, which are fields, in which order their dimensions run.
 *
 * Long tables are arrays of one length (columns.c); fields on a grid have a dimension for each axis, found by their
 * lengths, by names, or from what the caller said (arrange.c). arrays.c decides which of these a file is, select.c
 * picks the arrays of one group.
 */
#ifndef KB_ARRANGE_H
#define KB_ARRANGE_H

#include "data/roles.h"
#include "data/source.h"
#include "data/tiles.h"

enum { KB_NOTE_SIZE = 800, KB_VIEWS_SIZE = 320 };

/* An array, or a part of it, without dimensions of length 1. */
typedef struct {
    const char *name; /* without its group */
    kb_array *array;
    size_t n_dims, dims[KB_MOST_DIMS], strides[KB_MOST_DIMS];
    size_t shift; /* bytes to its first number */
    bool is_used;
    bool is_elsewhere; /* of another group: an axis at most */
} kb_view;

typedef struct {
    kb_reading *reading;
    kb_source source;
    size_t n_views;
    kb_view *views;
    char path[KB_LONGEST_NAME + 1]; /* what the caller named inside, cleaned */
    const char *field;              /* the one they named: the others are axes at most; or NULL */
    kb_array steps;                 /* of time, where the file has no array for it */
    kb_array even[KBASS_MAX_AXES];  /* axes of which only the steps were told, */
    char even_names[200];           /* and their names, "t,x" */
    const char *time_name;          /* and what they are called among the axes */
    kbass_data *data;
    char note[KB_NOTE_SIZE];
} kb_arrangement;

/* Fills the views: the arrays of the group the caller named, or of the only one there is. */
kbass_status kb_select_views(kb_arrangement *a);
/* The array without dimensions of length 1. */
kb_view kb_view_of(kb_array *array);
/* Decides whether a real part at this place of the source needs its imaginary part, and names both. */
kbass_status kb_complex_settle(kb_arrangement *a, size_t index);
/* The imaginary numbers are nil beside the real ones but for rounding; both are loaded. */
bool kb_complex_is_nil(const kb_view *real, const kb_view *imaginary);
/* The view is the field the caller named, or part of it, or they named none. */
bool kb_view_is_asked(const kb_arrangement *a, const kb_view *v);
/* "u (3 x 4), t (3)" of what is there, and what was left out, for messages. */
void kb_list_views(const kb_arrangement *a, char *text, size_t size);
/* NULL when there is none; names that differ only in case are the second choice. */
kb_view *kb_find_view(const kb_arrangement *a, const char *name);
/* The array with most dimensions, or the one that was asked for. */
kb_view *kb_leading_view(const kb_arrangement *a);
/* By what the caller said, or by names; steps where there is only a step. Ok, or a message. */
kbass_status kb_time_find(kb_arrangement *a, kb_view **time);
bool kb_is_space_name(const char *name);
/* Makes axes of meshes beside an axis of time, or of a mesh of time beside axes of space. */
void kb_meshes_reduce(kb_arrangement *a, kb_view *time);

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
/* Fields at points that lie anywhere, an array of positions beside them; is_done is false where it is not so. */
kbass_status kb_arrange_points(kb_arrangement *a, kb_view *time, bool *is_done);
/* Calls an array without name x, or x_re and x_im. */
void kb_views_name(kb_arrangement *a);
/* A field without name over axes whose steps are told: "t=0.1,x=0.05". */
bool kb_axes_have_steps(const char *axes);
kbass_status kb_arrange_even(kb_arrangement *a);
/* The two dimensions of an array without name: rows and columns. */
kbass_status kb_arrange_unnamed(kb_arrangement *a);

/* Fields, each a view over all axes, that stay in the file: its source and bytes are data->tiles' own from then on.
   is_done is false where axes do not ascend. */
kbass_status kb_tiles_of_arrays(kb_arrangement *a, size_t n_axes, kb_view *const *axes, size_t n_fields,
                                const kb_view *fields, bool *is_done);

/* Names the data by the roles, as the caller wishes to use, ignore and rename them; marks what is left out. */
kbass_status kb_name_as_wished(const kb_reading *reading, const kb_roles *roles, bool *is_left_out, kbass_data *data);

/* Adds to the note. */
__attribute__((format(printf, 2, 3))) void kb_arrangement_note(kb_arrangement *a, const char *format, ...);

#endif
