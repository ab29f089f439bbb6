#include "data/layout.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/cell.h"

enum { LOOKED_AT = 40 }; /* lines that decide what separates */

/* What the cells of a line are, between given separators. */
typedef struct {
    size_t n, n_values, n_numbers, n_units, n_empty;
    bool is_last_empty;
} census;

typedef struct {
    kb_layout *layout;
    const char *missing;
    kb_row_work work;
} search;

bool kb_begins_comment(char c) { return c == '#' || c == '%'; }

bool kb_is_ruler(const char *begin, const char *end)
{
    size_t longest = 0, n = 0;
    for (const char *c = begin; c < end; c++) {
        if (!strchr("-_=+|: \t\r", *c)) return false;
        n = strchr("-_=", *c) && c > begin && c[-1] == *c ? n + 1 : 1;
        if (strchr("-_=", *c) && n > longest) longest = n;
    }
    return longest >= 3;
}

/* ---------------------------------------------------------------- lines */

static kbass_status collect(kb_layout *layout, const char *begin, const char *end, size_t line, kbass_error *error)
{
    layout->lines = KB_NEW(kb_line, KB_SAMPLE_LINES);
    if (!layout->lines) return kb_out_of_memory(error, "the first lines");
    while (begin < end && layout->n < KB_SAMPLE_LINES) {
        const char *newline = memchr(begin, '\n', (size_t)(end - begin)), *stop = newline ? newline : end,
                   *first = begin;
        while (first < stop && strchr(" \t\r", *first)) first++;
        line++;
        bool is_passed = layout->n && kb_is_ruler(first, stop); /* the first line is there, whatever it is */
        if (first < stop && !kb_begins_comment(*first) && !is_passed)
            layout->lines[layout->n++] = (kb_line){begin, stop, line};
        begin = newline ? newline + 1 : end;
    }
    return KBASS_OK;
}

void kb_layout_clear(kb_layout *layout)
{
    kb_free(layout->lines);
    *layout = (kb_layout){0};
}

/* Excel's first line: sep=; */
static void take_directive(kb_layout *layout)
{
    const kb_line *first = &layout->lines[0];
    const char *c = first->begin + (first->begin < first->end && *first->begin == '"');
    if (layout->n < 2 || first->end - c < 5 || strncasecmp(c, "sep=", 4) != 0) return;
    layout->has_directive = true;
    layout->separator = c[4];
    layout->header = 1;
}

static bool begins(const kb_line *line, const char *word)
{
    const char *c = line->begin + (line->begin < line->end && *line->begin == '"');
    return (size_t)(line->end - c) >= strlen(word) && strncmp(c, word, strlen(word)) == 0;
}

/* Campbell's loggers: a line about the station, names, units, kinds of averages. LabVIEW's .lvm: names behind the last
   of its headers. */
static bool take_logger(kb_layout *l)
{
    size_t end = l->n;
    if (l->n > 4 && begins(&l->lines[0], "TOA5")) {
        l->separator = ',';
        l->header = 1;
        l->units = 2;
        l->body = 4;
        return true;
    }
    for (size_t i = 0; l->n && begins(&l->lines[0], "LabVIEW Measurement") && i < l->n; i++)
        if (begins(&l->lines[i], "***End_of_Header***")) end = i;
    if (end + 2 >= l->n) return false;
    l->separator =
        memchr(l->lines[end + 1].begin, '\t', (size_t)(l->lines[end + 1].end - l->lines[end + 1].begin)) ? '\t' : ',';
    l->header = end + 1;
    l->body = end + 2;
    return true;
}

/* ---------------------------------------------------------------- cells */

/* [g/L], (s), g/L, %, -, and formats such as yyyy-mm-dd. */
static bool is_unit_cell(const char *cell)
{
    size_t n = strlen(cell);
    bool is_bracketed = n > 2 && strchr("[(", cell[0]) && strchr("])", cell[n - 1]);
    bool is_format = n && !cell[strspn(cell, "yYmMdDhHsSjJtT-/.: ")] && (strstr(cell, "mm") || strstr(cell, "MM"));
    return !n || !strcmp(cell, "-") || !strcmp(cell, "1") || is_bracketed || is_format || kb_looks_like_unit(cell, n);
}

static bool count_cells(search *s, char separator, size_t index, census *c)
{
    const kb_row_form form = {.separator = separator, .has_remarks = true};
    const kb_line *line = &s->layout->lines[index];
    *c = (census){0};
    if (kb_row_cut(&form, line->begin, line->end, &s->work, &c->n, 0, NULL) != KBASS_OK) return false;
    for (size_t i = 0; i < c->n; i++) {
        const char *cell = s->work.cells[i];
        kb_cell_type type = kb_cell_type_of(cell, s->missing);
        c->n_values += type != KB_CELL_TEXT;
        c->n_numbers += type != KB_CELL_TEXT && type != KB_CELL_MISSING;
        c->n_units += is_unit_cell(cell) && type != KB_CELL_DATE;
        c->n_empty += !*cell;
    }
    c->is_last_empty = c->n && !*s->work.cells[c->n - 1];
    return true;
}

/* Half of the cells at least are values: others may be labels, or mistakes. */
static bool is_row(const census *c, size_t n_columns)
{
    bool has_columns = c->n == n_columns || (c->n == n_columns + 1 && c->is_last_empty);
    return has_columns && c->n_numbers && 2 * c->n_values >= c->n;
}

static bool is_unit_row(const census *c, size_t n_columns)
{
    return c->n == n_columns && c->n_units == c->n && c->n_empty < c->n && c->n_numbers < c->n;
}

/* Above units stand names; a title, padded to the width of the table, stands above names that look like units: t, s, m.
 */
static bool has_names(const census *c) { return 2 * c->n_empty <= c->n; }

/* ---------------------------------------------------------------- as it mostly is */

/* More than half of the lines have another number of cells than the second: what came first was something else. */
static bool is_other(search *s, size_t first, size_t n_columns)
{
    const kb_layout *l = s->layout;
    size_t n = 0, n_other = 0;
    for (size_t i = first + 1; i < l->n && n < LOOKED_AT; i++, n++) {
        census c;
        bool is_whole = count_cells(s, l->separator, i, &c);
        n_other += !is_whole || c.n != n_columns;
    }
    return 2 * n_other > n;
}

/* The first line has the names, its separator is that of the table; a row follows, or units and a row. */
static bool try_first(search *s)
{
    kb_layout *l = s->layout;
    census header, next, third;
    size_t first = l->header;
    char *copy = KB_NEW(char, (size_t)(l->lines[first].end - l->lines[first].begin) + 1);
    if (!copy) return false;
    memcpy(copy, l->lines[first].begin, (size_t)(l->lines[first].end - l->lines[first].begin));
    if (!l->has_directive) l->separator = kb_row_separator(copy);
    kb_free(copy);
    l->body = first + 1;
    l->units = KB_NO_LINE;
    if (!count_cells(s, l->separator, first, &header) || header.n < 2 || header.n_numbers == header.n) return false;
    if (first + 1 == l->n) return true;
    if (!count_cells(s, l->separator, first + 1, &next) || is_other(s, first, next.n)) return false;
    bool is_near = next.n == header.n || next.n == header.n + 1 || (next.n + 1 == header.n && header.is_last_empty);
    if (is_near && next.n_numbers && 2 * next.n_values >= next.n && !is_unit_row(&next, header.n)) return true;
    if (first + 2 == l->n || !has_names(&header) || !is_unit_row(&next, header.n) ||
        !count_cells(s, l->separator, first + 2, &third))
        return false;
    l->units = first + 1;
    l->body = first + 2;
    return is_row(&third, header.n);
}

/* ---------------------------------------------------------------- with lines before it */

/* The number of columns that most lines have, 2 or more, and how many of them are rows. */
static size_t count_rows(search *s, char separator, census *lines, size_t n, size_t *n_columns)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++)
        if (!count_cells(s, separator, i, &lines[i])) lines[i].n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t rows = 0;
        for (size_t k = 0; k < n && lines[i].n >= 2; k++)
            rows += lines[k].n == lines[i].n && is_row(&lines[k], lines[i].n);
        if (rows <= best) continue;
        best = rows;
        *n_columns = lines[i].n;
    }
    return best;
}

/* The first of three rows in sequence, or of as many as are left. */
static size_t find_body(const census *lines, size_t n, size_t n_columns)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        while (k < n && k < i + 3 && is_row(&lines[k], n_columns)) k++;
        if (k == n || k == i + 3) return k > i ? i : n;
    }
    return n;
}

static bool try_later(search *s)
{
    static const char separators[] = {';', '\t', ',', '|', KB_RUNS_OF_BLANKS};
    kb_layout *l = s->layout;
    census lines[LOOKED_AT];
    size_t n = l->n < LOOKED_AT ? l->n : LOOKED_AT, most = 0, columns = 0, n_columns = 0;
    for (size_t i = 0; i < sizeof separators; i++) {
        if (l->has_directive && separators[i] != l->separator) continue;
        size_t rows = count_rows(s, separators[i], lines, n, &columns);
        if (rows <= most) continue;
        most = rows;
        l->separator = separators[i];
        n_columns = columns;
    }
    if (!most) return false;
    count_rows(s, l->separator, lines, n, &n_columns);
    size_t body = find_body(lines, n, n_columns);
    if (body == n || body < l->header + 1) return false;
    bool has_units = body >= 2 && is_unit_row(&lines[body - 1], n_columns) && lines[body - 2].n == n_columns &&
                     lines[body - 2].n_numbers < n_columns && has_names(&lines[body - 2]);
    size_t header = has_units ? body - 2 : body - 1;
    if (lines[header].n + 1 < n_columns || lines[header].n > n_columns + 1) return false;
    l->header = header;
    l->units = has_units ? body - 1 : KB_NO_LINE;
    l->body = body;
    return true;
}

kbass_status kb_layout_find(const char *begin, const char *end, size_t line, const char *missing, kb_layout *layout,
                            kbass_error *error)
{
    search s = {.layout = layout, .missing = missing};
    *layout = (kb_layout){.units = KB_NO_LINE};
    kbass_status status = collect(layout, begin, end, line, error);
    if (status == KBASS_OK && layout->n) {
        take_directive(layout);
        const kb_layout before = *layout;
        if (!take_logger(layout) && !try_first(&s)) {
            kb_layout plain = *layout; /* what is wrong is told by those who read it */
            *layout = before;
            if (!try_later(&s)) {
                *layout = plain;
                layout->units = KB_NO_LINE;
                layout->body = layout->header + 1;
            }
        }
    }
    kb_row_work_clear(&s.work);
    return status;
}
