#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/csv.h"

#define FAIL_AT_LINE(form, line, error, format, ...)                                                                   \
    kb_fail(error, KBASS_ERROR_DATA, "%s:%zu: " format, (form)->path, line, __VA_ARGS__)

/* ---------------------------------------------------------------- what separates */

char kb_row_separator(const char *header)
{
    static const char candidates[] = ";,\t";
    for (const char *candidate = candidates; *candidate; candidate++) {
        bool is_quoted = false;
        for (const char *c = header; *c; c++) {
            if (*c == '"') is_quoted = !is_quoted;
            if (*c == *candidate && !is_quoted) return *candidate;
        }
    }
    return KB_RUNS_OF_BLANKS;
}

bool kb_row_point(const kb_row_form *form, const char *begin, const char *end, char *point)
{
    bool is_comment = false, is_begun = false;
    for (const char *c = begin; form->separator != ',' && c < end; c++) {
        if (*c == '\n') is_begun = is_comment = false;
        else if (!is_begun && *c != ' ' && *c != '\t') {
            is_begun = true;
            is_comment = *c == '#' || *c == '%';
        }
        if (!is_comment && (*c == ',' || *c == '.')) {
            *point = *c;
            return true;
        }
    }
    return false;
}

static bool separates(const kb_row_form *form, char c)
{
    return c == form->separator || (form->separator == KB_RUNS_OF_BLANKS && c == '\t');
}

/* ---------------------------------------------------------------- the quick way */

static const char *skip(const kb_row_form *form, const char *c, const char *end)
{
    while (c < end && (*c == ' ' || *c == '\r' || (*c == '\t' && form->separator != '\t'))) c++;
    return c;
}

bool kb_row_scan(const kb_row_form *form, const char *line, const char *end, double *row)
{
    bool has_runs = form->separator == KB_RUNS_OF_BLANKS;
    const char *c = skip(form, line, end);
    for (size_t i = 0; i < form->n_columns; i++) {
        bool is_empty = c == end || *c == form->separator, is_last = i + 1 == form->n_columns;
        if (is_empty && has_runs) return false;
        if (is_empty) row[i] = NAN;
        else if (!(c = kb_number_scan(c, end, form->point, &row[i]))) return false;
        const char *after = c;
        c = skip(form, c, end);
        if (is_last) return c == end;
        if (has_runs ? c == after : c == end || *c != form->separator) return false;
        if (!has_runs) c = skip(form, c + 1, end);
    }
    return false;
}

/* ---------------------------------------------------------------- the careful way */

static char *skip_blanks(const kb_row_form *form, char *c)
{
    while (*c == ' ' || (*c == '\t' && form->separator != '\t')) c++;
    return c;
}

/* Shortens quoted text in place, "" to one quote; returns what follows the closing quote, NULL when there is none. */
static char *unquote(char *text, char **end)
{
    char *to = text;
    for (char *c = text; *c; c++) {
        if (*c == '"' && *++c != '"') {
            *end = to;
            return c;
        }
        *to++ = *c;
    }
    return NULL;
}

/* Cuts one cell off the front of *rest, without the blanks around it; *rest is NULL after the last. */
static bool cut_cell(const kb_row_form *form, char **rest, char **cell)
{
    bool has_runs = form->separator == KB_RUNS_OF_BLANKS;
    char *begin = skip_blanks(form, *rest), *end = NULL, *after = begin;
    if (*begin == '"') {
        after = unquote(++begin, &end);
        if (!after) return false;
    } else {
        while (*after && !separates(form, *after)) after++;
        end = after;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
    }
    char *next = skip_blanks(form, after);
    if (*next && !has_runs && !separates(form, *next)) return false;
    *rest = !*next ? NULL : has_runs ? next : next + 1;
    *end = '\0';
    *cell = begin;
    return true;
}

kbass_status kb_row_split(const kb_row_form *form, char *line, size_t capacity, char **cells, size_t *n,
                          size_t line_number, kbass_error *error)
{
    char *cell = NULL;
    for (*n = 0; line; ++*n) {
        if (!cut_cell(form, &line, &cell))
            return FAIL_AT_LINE(form, line_number, error, "cell %zu: its quotes do not close, or text follows them",
                                *n + 1);
        if (*n < capacity) cells[*n] = cell;
    }
    return KBASS_OK;
}

static kbass_status copy_line(const kb_row_form *form, const char *line, const char *end, kb_row_work *work,
                              kbass_error *error)
{
    size_t length = (size_t)(end - line);
    if (length && line[length - 1] == '\r') length--;
    if (!work->cells) work->cells = KB_NEW(char *, form->n_columns);
    if (work->size <= length) {
        kb_free(work->text);
        work->text = KB_NEW(char, 2 * length + 1);
        work->size = work->text ? 2 * length + 1 : 0;
    }
    if (!work->text || !work->cells) return kb_out_of_memory(error, "a line of the table");
    memcpy(work->text, line, length);
    work->text[length] = '\0';
    return KBASS_OK;
}

void kb_row_work_clear(kb_row_work *work)
{
    kb_free(work->text);
    kb_free(work->cells);
    *work = (kb_row_work){0};
}

/* With a decimal comma a point has no place in a number. */
static bool parse_cell(const kb_row_form *form, char *cell, double *value)
{
    char *comma = form->point == ',' ? strchr(cell, ',') : NULL;
    if (form->point == ',' && strchr(cell, '.')) return false;
    if (comma) *comma = '.';
    bool is_number = kb_number_parse(cell, value);
    if (comma) *comma = ',';
    return is_number;
}

bool kb_row_is_number(const kb_row_form *form, char *cell)
{
    kb_row_form points = {.point = '.'}, commas = {.point = ','};
    double number;
    return parse_cell(&points, cell, &number) || (form->separator != ',' && parse_cell(&commas, cell, &number));
}

static kbass_status read_cell(const kb_row_form *form, char *cell, const char *name, size_t line, double *value,
                              kbass_error *error)
{
    *value = NAN;
    if (!*cell) return KBASS_OK;
    if (!parse_cell(form, cell, value))
        return FAIL_AT_LINE(form, line, error,
                            "column \"%.100s\": \"%.60s\" is not a number (use an empty cell or NaN for missing)", name,
                            cell);
    if (isinf(*value))
        return FAIL_AT_LINE(form, line, error,
                            "column \"%.100s\": \"%.60s\" is infinite (use an empty cell or NaN for missing)", name,
                            cell);
    return KBASS_OK;
}

kbass_status kb_row_read(const kb_row_form *form, const char *line, const char *end, size_t line_number,
                         kb_row_work *work, double *row, kbass_error *error)
{
    size_t n_cells = 0;
    kbass_status status = copy_line(form, line, end, work, error);
    if (status == KBASS_OK)
        status = kb_row_split(form, work->text, form->n_columns, work->cells, &n_cells, line_number, error);
    if (status == KBASS_OK && n_cells != form->n_columns)
        status =
            FAIL_AT_LINE(form, line_number, error, "found %zu cells, the header has %zu", n_cells, form->n_columns);
    for (size_t i = 0; status == KBASS_OK && i < form->n_columns; i++)
        status = read_cell(form, work->cells[i], form->names[i], line_number, &row[i], error);
    return status;
}
