#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/cell.h"
#include "data/csv.h"
#include "data/layout.h"

#define FAIL_AT_LINE(form, line, error, format, ...)                                                                   \
    kb_fail(error, KBASS_ERROR_DATA, "%s:%zu: " format, (form)->path, line, __VA_ARGS__)

bool kb_row_is_there(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t' || *line == '\r')) line++;
    return line < end && !kb_begins_comment(*line);
}

/* ---------------------------------------------------------------- what separates */

char kb_row_separator(const char *header)
{
    static const char candidates[] = ";,\t|";
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

/* Nothing more in the row, but the separator that rows may end with. */
static bool is_end(const kb_row_form *form, const char *c, const char *end)
{
    c = skip(form, c, end);
    if (form->is_open && c < end && *c == form->separator) c = skip(form, c + 1, end);
    return c == end;
}

static bool scan_numbers(const kb_row_form *form, const char *line, const char *end, double *row)
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
        if (is_last) return is_end(form, c, end);
        if (has_runs ? c == after : c == end || *c != form->separator) return false;
        if (!has_runs) c = skip(form, c + 1, end);
    }
    return false;
}

static double time_of(const kb_row_form *form, const kb_moment *moment)
{
    int64_t from = moment->has_date ? form->origin : form->clock_origin;
    return ((double)(moment->seconds - from) + moment->fraction) / form->unit;
}

/* A cell of any kind but quoted, from c to its end. */
static bool scan_cell(const kb_row_form *form, size_t column, const char *c, const char *end, kb_row_work *work,
                      double *value)
{
    kb_moment moment;
    *value = NAN;
    if (c == end || (form->is_left_out && form->is_left_out[column])) return true;
    switch (form->kinds[column]) {
    case KB_LABELS: return kb_labels_find(form->labels, c, (size_t)(end - c), &work->last_label, value);
    case KB_NUMBERS: return kb_number_scan(c, end, form->point, value) == end;
    default:
        if (!kb_moment_parse(c, end, form->order, &moment)) return false;
        *value = time_of(form, &moment);
        return moment.has_date == (form->kinds[column] == KB_DATES);
    }
}

bool kb_row_scan(const kb_row_form *form, const char *line, const char *end, kb_row_work *work, double *row)
{
    if (form->missing) return false;
    if (!form->kinds) return scan_numbers(form, line, end, row);
    bool has_runs = form->separator == KB_RUNS_OF_BLANKS;
    const char *c = skip(form, line, end);
    while (end > c && end[-1] == '\r') end--;
    for (size_t i = 0; i < form->n_columns; i++) {
        const char *stop = c;
        bool is_last = i + 1 == form->n_columns;
        if (c < end && *c == '"') return false;
        while (stop < end && *stop != form->separator && !(has_runs && *stop == '\t')) stop++;
        const char *last = stop;
        while (last > c && (last[-1] == ' ' || last[-1] == '\t')) last--;
        if ((has_runs && last == c) || !scan_cell(form, i, c, last, work, &row[i])) return false;
        if (is_last) return is_end(form, stop, end);
        if (stop == end) return false;
        c = skip(form, stop + !has_runs, end);
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

static const char wide_blank[] = "\xc2\xa0"; /* that does not break, as web pages and spreadsheets have it */

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
        while (end - begin >= 2 && memcmp(begin, wide_blank, 2) == 0) begin += 2;
        while (end - begin >= 2 && memcmp(end - 2, wide_blank, 2) == 0) end -= 2;
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

/* "1, 2 # calibrated": what is before the remark. */
static size_t remark_begin(const char *line, size_t length)
{
    bool is_quoted = false;
    for (size_t i = 0; i + 1 < length; i++) {
        is_quoted ^= line[i] == '"';
        bool is_apart = i && (line[i - 1] == ' ' || line[i - 1] == '\t') && line[i + 1] == ' ';
        if (line[i] == '#' && is_apart && !is_quoted) return i;
    }
    return length;
}

static kbass_status copy_line(const kb_row_form *form, const char *line, const char *end, kb_row_work *work,
                              kbass_error *error)
{
    size_t length = (size_t)(end - line);
    if (length && line[length - 1] == '\r') length--;
    if (form->has_remarks && memchr(line, '#', length)) length = remark_begin(line, length);
    while (form->has_remarks && length && line[length - 1] == ' ') length--;
    if (work->size <= length) {
        kb_free(work->text);
        work->text = KB_NEW(char, 2 * length + 1);
        work->size = work->text ? 2 * length + 1 : 0;
    }
    if (!work->text) return kb_out_of_memory(error, "a line of the table");
    memcpy(work->text, line, length);
    work->text[length] = '\0';
    return KBASS_OK;
}

/* Room for as many cells as the line may have. */
static kbass_status make_room(const kb_row_form *form, kb_row_work *work, kbass_error *error)
{
    size_t most = 2;
    for (const char *c = work->text; *c; c++) most += separates(form, *c) || *c == '"';
    if (most <= work->n_cells) return KBASS_OK;
    char **grown = kb_reallocate(work->cells, work->n_cells, most, sizeof *grown);
    if (!grown) return kb_out_of_memory(error, "a line of the table");
    work->cells = grown;
    work->n_cells = most;
    return KBASS_OK;
}

kbass_status kb_row_cut(const kb_row_form *form, const char *line, const char *end, kb_row_work *work, size_t *n,
                        size_t line_number, kbass_error *error)
{
    kbass_status status = copy_line(form, line, end, work, error);
    *n = 0;
    if (status == KBASS_OK) status = make_room(form, work, error);
    if (status == KBASS_OK) status = kb_row_split(form, work->text, work->n_cells, work->cells, n, line_number, error);
    return status;
}

void kb_row_work_clear(kb_row_work *work)
{
    kb_free(work->text);
    kb_free(work->cells);
    *work = (kb_row_work){0};
}

static kbass_status refuse_cell(const kb_row_form *form, size_t column, const char *cell, size_t line, const char *what,
                                kbass_error *error)
{
    return FAIL_AT_LINE(form, line, error, "column \"%.100s\": \"%.60s\" %s", form->names[column], cell, what);
}

/* A number with its column's unit behind it, or the sign of a currency in front. */
static bool read_bare(const kb_row_form *form, size_t column, const char *cell, double *value)
{
    const char *bare, *after;
    char number[64];
    size_t length = 0;
    if (!form->units || !form->units[column] || !kb_cell_bare(cell, &bare, &length, &after)) return false;
    if (length >= sizeof number || strcmp(after, form->units[column]) != 0) return false;
    memcpy(number, bare, length);
    number[length] = '\0';
    return kb_cell_number(number, form->point, form->grouping, value);
}

/* <0.01, > 2000 */
static bool is_bound(const char *cell)
{
    static const char *const signs[] = {"<", ">", "\xe2\x89\xa4", "\xe2\x89\xa5"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(cell, signs[i], strlen(signs[i])) == 0) return strpbrk(cell, "0123456789") != NULL;
    return false;
}

static kbass_status read_number(const kb_row_form *form, size_t column, const char *cell, size_t line, double *value,
                                kbass_error *error)
{
    if (!kb_cell_number(cell, form->point, form->grouping, value) && !read_bare(form, column, cell, value)) {
        *value = NAN;
        if (kb_cell_is_missing(cell, form->missing)) return KBASS_OK;
        if (is_bound(cell))
            return refuse_cell(form, column, cell, line,
                               "is a bound, not a value: put a value there, or leave such cells out: "
                               "--missing \"<*, >*\"",
                               error);
        return refuse_cell(form, column, cell, line,
                           "is not a number (leave the cell empty where nothing was measured, or say --missing)",
                           error);
    }
    if (form->missing && kb_cell_is_missing(cell, form->missing)) *value = NAN;
    if (isinf(*value))
        return refuse_cell(form, column, cell, line, "is infinite (use an empty cell or NaN for missing)", error);
    return KBASS_OK;
}

static kbass_status read_cell(const kb_row_form *form, size_t column, const char *cell, size_t line, kb_row_work *work,
                              double *value, kbass_error *error)
{
    kb_moment moment;
    int kind = form->kinds ? form->kinds[column] : KB_NUMBERS;
    *value = NAN;
    if (!*cell || (form->is_left_out && form->is_left_out[column])) return KBASS_OK;
    if (kind == KB_NUMBERS) return read_number(form, column, cell, line, value, error);
    if (kind == KB_LABELS) {
        if (kb_labels_find(form->labels, cell, strlen(cell), &work->last_label, value)) return KBASS_OK;
        return refuse_cell(form, column, cell, line, "is one name of runs too many", error);
    }
    bool is_moment = kb_moment_parse(cell, cell + strlen(cell), form->order, &moment);
    if (is_moment && moment.has_date == (kind == KB_DATES)) *value = time_of(form, &moment);
    else if (!kb_cell_is_missing(cell, form->missing))
        return refuse_cell(form, column, cell, line,
                           kind == KB_DATES ? "is not a date (its order can be said: --dates dmy, mdy or ymd)"
                                            : "is not a time of day such as 05:06:07",
                           error);
    return KBASS_OK;
}

/* Words where all columns have numbers or dates, and one of them is the name of a column. */
static bool is_header(const kb_row_form *form, size_t n, char **cells)
{
    bool is_named = false;
    for (size_t i = 0; i < n; i++) {
        bool is_word = (cells[i][0] | ' ') >= 'a' && (cells[i][0] | ' ') <= 'z';
        if (!is_word || kb_cell_is_missing(cells[i], form->missing)) return false;
        if (form->kinds && form->kinds[i] != KB_NUMBERS) return false;
        is_named = is_named || strcmp(cells[i], form->names[i]) == 0;
    }
    return is_named;
}

kbass_status kb_row_read(const kb_row_form *form, const char *line, const char *end, size_t line_number,
                         kb_row_work *work, double *row, kbass_error *error)
{
    size_t n_cells = 0;
    kbass_status status = kb_row_cut(form, line, end, work, &n_cells, line_number, error);
    if (form->is_open && n_cells == form->n_columns + 1 && !*work->cells[n_cells - 1]) n_cells--;
    if (status == KBASS_OK && n_cells != form->n_columns)
        status =
            FAIL_AT_LINE(form, line_number, error, "found %zu cells, the header has %zu", n_cells, form->n_columns);
    if (status == KBASS_OK && n_cells > 1 && is_header(form, n_cells, work->cells))
        return FAIL_AT_LINE(
            form, line_number, error,
            "\"%.60s\", \"%.60s\" are names: another table begins here; put each into a file of its own",
            work->cells[0], work->cells[1]);
    for (size_t i = 0; status == KBASS_OK && i < form->n_columns; i++)
        status = read_cell(form, i, work->cells[i], line_number, work, &row[i], error);
    return status;
}
