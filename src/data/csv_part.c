/* The rows of a part of a block, by the quick way where it goes (csv_row.c), else by the careful one. */
#include "data/csv_table.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { SMALLEST_PART = 1 << 18, FIRST_NUMBERS = 1 << 14 }; /* bytes; numbers that a part has room for at first */

static bool grow_part(kb_csv_part *p, size_t n_columns)
{
    size_t first = FIRST_NUMBERS / n_columns + 1, capacity = p->capacity ? 2 * p->capacity : first;
    if (p->n_rows < p->capacity) return true;
    double *grown = kb_reallocate(p->numbers, p->n_rows, capacity, n_columns * sizeof *grown);
    if (grown) p->numbers = grown;
    const char **marks = kb_resize(p->marks, capacity / KB_MARKED_ROWS + 1, sizeof *marks);
    if (marks) p->marks = marks;
    if (!grown || !marks) return false;
    p->capacity = capacity;
    return true;
}

static kbass_status check_axes(const kb_csv_table *t, const double *row, kb_csv_part *p)
{
    for (size_t i = 0; i < t->plan.roles.n_axes; i++) {
        size_t column = t->plan.roles.axes[i];
        if (row[column] == row[column]) continue;
        return kb_fail(&p->error, KBASS_ERROR_DATA, "%s:%zu: column \"%.100s\": the %s is missing", t->plan.form.path,
                       p->line, t->plan.faces[column], i ? "position" : "time");
    }
    return KBASS_OK;
}

/* Time from its parts, where it has some. */
static kbass_status check_row(const kb_csv_table *t, double *row, kb_csv_part *p)
{
    kbass_status status = check_axes(t, row, p);
    if (status != KBASS_OK || !t->plan.parts.is_there) return status;
    double at = (kb_date_parts_seconds(&t->plan.parts, row) - (double)t->plan.form.origin) / t->plan.form.unit;
    row[t->plan.roles.axes[0]] = at;
    if (at == at) return KBASS_OK;
    return kb_fail(&p->error, KBASS_ERROR_DATA, "%s:%zu: there is no such date", t->plan.form.path, p->line);
}

static bool repeats_header(const kb_csv_table *t, const char *line, const char *end)
{
    return strlen(t->header) == (size_t)(end - line) && strncmp(line, t->header, (size_t)(end - line)) == 0;
}

/* Spreadsheets write rows of nothing but separators. */
static bool is_empty_row(const kb_csv_table *t, const char *line, const char *end)
{
    if (kb_is_ruler(line, end)) return true;
    while (line < end && (*line == t->plan.form.separator || strchr(" \t\r\"", *line))) line++;
    return line == end;
}

bool kb_csv_is_remark(const kb_csv_table *t, const char *line, const char *end, kb_row_work *work)
{
    size_t n = 0, time = t->plan.roles.axes[0];
    if (kb_row_cut(&t->plan.form, line, end, work, &n, 0, NULL) != KBASS_OK) return true;
    kb_cell_type type = kb_cell_type_of(work->cells[n == t->plan.n ? time : 0], t->plan.form.missing);
    bool has_number = false; /* a row without its time may be a mistake */
    for (size_t i = 0; i < n; i++) has_number |= kb_cell_type_of(work->cells[i], NULL) == KB_CELL_NUMBER;
    return type == KB_CELL_TEXT || (type == KB_CELL_MISSING && !has_number);
}

/* The careful way; what is no row at all is left out. */
static void read_carefully(const kb_csv_table *t, kb_csv_part *p, const char *line, const char *end, double *row)
{
    p->status = kb_row_read(&t->plan.form, line, end, p->line, &p->work, row, &p->error);
    if (p->status == KBASS_OK) p->status = check_row(t, row, p);
    if (p->status == KBASS_OK) return;
    bool is_header = repeats_header(t, line, end);
    if (!is_header && !is_empty_row(t, line, end)) {
        p->bad = line;
        return;
    }
    p->status = KBASS_OK;
    p->n_headers += is_header;
    p->has_odd_lines = true;
    p->n_rows--;
}

void kb_csv_read_part(const kb_csv_table *t, kb_csv_part *p)
{
    const char *line = p->begin;
    while (line < p->end && p->status == KBASS_OK) {
        const char *newline = memchr(line, '\n', (size_t)(p->end - line)), *end = newline ? newline : p->end;
        p->line++;
        if (kb_row_is_there(line, end)) {
            if (!grow_part(p, t->plan.form.n_columns)) {
                p->status = kb_out_of_memory(&p->error, t->plan.form.path);
                return;
            }
            if (p->n_rows % KB_MARKED_ROWS == 0) p->marks[p->n_rows / KB_MARKED_ROWS] = line;
            double *row = p->numbers + p->n_rows++ * t->plan.form.n_columns;
            bool is_quick = kb_row_scan(&t->plan.form, line, end, &p->work, row);
            if (is_quick) p->status = check_row(t, row, p);
            if (!is_quick || p->status != KBASS_OK) read_carefully(t, p, line, end, row);
        }
        line = newline ? newline + 1 : p->end;
    }
}

size_t kb_csv_cut_block(kb_csv_table *t, kb_csv_part *parts, size_t n_parts)
{
    size_t size = (size_t)(t->end - t->rest), most = size / SMALLEST_PART + 1, n = 0;
    size_t share = size / (most < n_parts ? most : n_parts) + 1;
    const char *begin = t->rest;
    for (; begin < t->end; n++) {
        kb_csv_part *p = &parts[n];
        bool is_last = (size_t)(t->end - begin) <= share;
        const char *newline = is_last ? NULL : memchr(begin + share, '\n', (size_t)(t->end - begin - share));
        p->begin = begin;
        p->end = begin = newline ? newline + 1 : t->end;
        p->line = t->line;
        p->n_rows = p->n_headers = 0;
        p->has_odd_lines = false;
        p->bad = NULL;
        t->line += kb_lines_count(p->begin, p->end);
    }
    return n;
}
