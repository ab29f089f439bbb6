/* Tiles of a grid that stays in a text: a box is read by the ranges of bytes that its rows have. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/cell.h"
#include "data/text_grid.h"
#include "data/tiles.h"

enum { HELD_TEXT = 4 << 20 }; /* bytes of the file that stay in memory behind the row at hand */

typedef struct {
    kb_file file;
    char *path, *missing;
    kb_row_form form; /* of rows of which only the fields' cells are looked at */
    unsigned char *kinds;
    bool *is_left_out;
    char **names;
    size_t *columns;                /* of the fields */
    size_t order[KBASS_MAX_AXES];   /* the fastest axis first */
    size_t strides[KBASS_MAX_AXES]; /* rows from one point to the next along an axis */
    kb_mark *marks;
    size_t n_marks;
} tiles_text;

/* Where in the file a box is read. */
typedef struct {
    const tiles_text *text;
    kb_mark next; /* the row that comes next */
    size_t held;  /* bytes since the last time that they were let go */
    kb_row_work work;
    double *cells;
} cursor;

/* ---------------------------------------------------------------- rows */

static kbass_status has_changed(const tiles_text *s, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_FILE, "%s: has changed since it was first read", s->path);
}

/* The next line that is a row; false at the end of the file. */
static bool next_row(cursor *c, const char **begin, const char **end)
{
    const char *bytes = (const char *)c->text->file.bytes, *limit = bytes + c->text->file.size;
    for (const char *line = bytes + c->next.at; line < limit;) {
        const char *newline = memchr(line, '\n', (size_t)(limit - line));
        *begin = line;
        *end = newline ? newline : limit;
        line = newline ? newline + 1 : limit;
        if (!kb_row_is_there(*begin, *end)) continue;
        c->held += (size_t)(line - bytes) - c->next.at;
        c->next = (kb_mark){c->next.row + 1, (size_t)(line - bytes)};
        return true;
    }
    return false;
}

/* A text is many times as long as its numbers in memory. */
static void let_go(cursor *c)
{
    if (c->held < HELD_TEXT) return;
    kb_file_forget(&c->text->file);
    c->held = 0;
}

/* From the last mark before the row, unless the cursor is nearer. */
static bool seek(cursor *c, size_t row)
{
    const tiles_text *s = c->text;
    const char *begin, *end;
    size_t low = 0, high = s->n_marks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->marks[middle].row <= row) low = middle;
        else high = middle;
    }
    if (c->next.row > row || c->next.row < s->marks[low].row) c->next = s->marks[low];
    while (c->next.row < row)
        if (!next_row(c, &begin, &end)) return false;
    return true;
}

/* n rows from one on: fields `points` apart, rows `stride`. */
static kbass_status read_rows(cursor *c, size_t row, size_t n, size_t n_fields, size_t points, size_t stride,
                              double *value, kbass_error *error)
{
    const tiles_text *s = c->text;
    const char *begin, *end;
    let_go(c);
    if (!seek(c, row)) return has_changed(s, error);
    for (size_t i = 0; i < n; i++) {
        if (!next_row(c, &begin, &end)) return has_changed(s, error);
        if (!kb_row_scan(&s->form, begin, end, &c->work, c->cells) &&
            kb_row_read(&s->form, begin, end, row + i, &c->work, c->cells, NULL) != KBASS_OK)
            return has_changed(s, error);
        for (size_t f = 0; f < n_fields; f++) value[f * points + i * stride] = c->cells[s->columns[f]];
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- boxes */

/* Of the k-th line along the fastest axis, lines in the file's order: its first row, and its place in the box. */
static size_t place_line(const kb_tiled *t, const tiles_text *s, const size_t *first, const size_t *n,
                         const size_t *step, size_t line, size_t *to)
{
    size_t row = first[s->order[0]];
    *to = 0;
    for (size_t k = 1; k < t->n_axes; k++) {
        size_t axis = s->order[k], index = line % n[axis];
        line /= n[axis];
        row += (first[axis] + index) * s->strides[axis];
        *to += index * step[axis];
    }
    return row;
}

static kbass_status read_box(kb_tiled *t, const size_t *first, const size_t *n, double *value, kbass_error *error)
{
    const tiles_text *s = t->state;
    cursor c = {.text = s, .next = s->marks[0], .cells = KB_NEW(double, s->form.n_columns)};
    kbass_status status = c.cells ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    size_t points = 1, step[KBASS_MAX_AXES], fastest = s->order[0], to;
    for (size_t a = t->n_axes; a-- > 0; points *= n[a]) step[a] = points;
    for (size_t line = 0; status == KBASS_OK && line < points / n[fastest]; line++) {
        size_t row = place_line(t, s, first, n, step, line, &to);
        status = read_rows(&c, row, n[fastest], t->n_fields, points, step[fastest], value + to, error);
    }
    kb_file_forget(&s->file);
    kb_row_work_clear(&c.work);
    kb_free(c.cells);
    return status;
}

/* ---------------------------------------------------------------- life */

static void close_text(kb_tiled *t)
{
    tiles_text *s = t->state;
    if (!s) return;
    kb_file_close(&s->file);
    kb_free(s->path);
    kb_free(s->missing);
    kb_free(s->kinds);
    kb_free(s->is_left_out);
    kb_free(s->names);
    kb_free(s->columns);
    kb_free(s->marks);
    kb_free(s);
}

static bool copy_form(tiles_text *s, const kb_row_form *form, const size_t *columns, size_t n_fields)
{
    static char unnamed[] = "";
    size_t n = form->n_columns;
    s->kinds = KB_NEW(unsigned char, n);
    s->is_left_out = KB_NEW(bool, n);
    s->names = KB_NEW(char *, n);
    s->columns = KB_NEW(size_t, n_fields);
    if (form->missing) s->missing = kb_strdup(form->missing);
    if (!s->kinds || !s->is_left_out || !s->names || !s->columns || (form->missing && !s->missing)) return false;
    memset(s->kinds, KB_NUMBERS, n);
    memset(s->is_left_out, true, n * sizeof *s->is_left_out);
    memcpy(s->columns, columns, n_fields * sizeof *columns);
    for (size_t f = 0; f < n_fields; f++) s->is_left_out[columns[f]] = false;
    for (size_t i = 0; i < n; i++) s->names[i] = unnamed;
    s->form = (kb_row_form){.path = s->path,
                            .separator = form->separator,
                            .point = form->point,
                            .grouping = form->grouping,
                            .n_columns = n,
                            .names = s->names,
                            .kinds = s->kinds,
                            .is_left_out = s->is_left_out,
                            .is_open = form->is_open,
                            .missing = s->missing,
                            .has_remarks = form->has_remarks};
    return true;
}

static void take_grid(kb_text_grid *grid, kb_tiled *t, tiles_text *s)
{
    size_t stride = 1;
    for (size_t k = 0; k < t->n_axes; k++) {
        size_t axis = s->order[k] = grid->order[k];
        memcpy(t->at[axis], grid->at[axis], t->n[axis] * sizeof(double));
        s->strides[axis] = stride;
        stride *= t->n[axis];
    }
    t->slowest = grid->order[t->n_axes - 1];
    s->marks = grid->marks;
    s->n_marks = grid->n_marks;
    grid->marks = NULL;
}

kbass_status kb_tiles_of_text(kb_text_grid *grid, const kb_row_form *form, const size_t *columns, kb_reading *reading,
                              kbass_data *data)
{
    kb_tiled *t = NULL;
    kbass_status status = kb_tiles_create(grid->n_axes, grid->n, data->n_states, &t, reading->error);
    if (status != KBASS_OK) return status;
    tiles_text *s = t->state = KB_NEW(tiles_text, 1);
    t->close = close_text;
    if (s) s->path = kb_strdup(reading->file.path);
    if (!s || !s->path || !copy_form(s, form, columns, data->n_states)) {
        kb_tiles_release(t);
        return kb_out_of_memory(reading->error, "the grid");
    }
    take_grid(grid, t, s);
    s->file = reading->file;
    s->file.path = s->path;
    t->read = read_box;
    t->is_for_all = true;
    data->tiles = t;
    return KBASS_OK;
}
