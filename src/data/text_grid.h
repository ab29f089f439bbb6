/* A grid that unfolds row by row of a text, one axis within the other, and so can stay there: where its coordinates
 * are, and at which byte every so many rows begin, is all that is held. */
#ifndef KB_TEXT_GRID_H
#define KB_TEXT_GRID_H

#include "data/csv.h"
#include "data/read.h"

enum { KB_MARKED_ROWS = 256 }; /* rows from one mark to the next: lines that are looked at in vain before a box */

typedef struct {
    size_t row, at; /* the row's number, and the byte of the file that it begins with */
} kb_mark;

typedef struct {
    size_t n_axes, n_rows;
    size_t order[KBASS_MAX_AXES], n_known; /* axes that have moved, the fastest first; the last of them still grows */
    size_t n[KBASS_MAX_AXES], room[KBASS_MAX_AXES], now[KBASS_MAX_AXES];
    double *at[KBASS_MAX_AXES];
    kb_mark *marks;
    size_t n_marks, marks_room;
    bool is_broken; /* rows in another order, a hole, no memory: it is none */
} kb_text_grid;

/* The next row of the file, by its coordinates. */
void kb_text_grid_take(kb_text_grid *grid, const double *at);
/* The row that is taken next begins there. */
void kb_text_grid_mark(kb_text_grid *grid, size_t at);
/* No row is missing at its end. */
bool kb_text_grid_is_full(const kb_text_grid *grid);
void kb_text_grid_clear(kb_text_grid *grid);

/* Its tiles, in data->tiles, whose fields are these columns of the rows. The file is theirs from now on, the marks too.
 */
kbass_status kb_tiles_of_text(kb_text_grid *grid, const kb_row_form *form, const size_t *columns, kb_reading *reading,
                              kbass_data *data);

#endif
