/* Tables as text: a header row, then numbers. The file is read whole and cut into cells in place. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/data.h"
#include "data/sha256.h"

enum { RUNS_OF_BLANKS = ' ', FIRST_CAPACITY = 1 << 16, FIRST_ROWS = 256, LIST_SIZE = 160 };

typedef struct {
    const char *path;
    char *text, *rest; /* the whole file; what is not read yet */
    size_t size;
    size_t line;       /* number of the line at hand */
    char separator;
    size_t n_columns, n_axes;
    size_t axes[KBASS_MAX_AXES]; /* their columns, time first */
    char **names, **cells; /* n_columns each, pointing into `text` */
    size_t capacity;       /* rows that fit into the data's arrays */
    kbass_data *data;
    kbass_error *error;
} reader;

#define FAIL_AT_LINE(r, format, ...)                                                                                   \
    kb_fail((r)->error, KBASS_ERROR_DATA, "%s:%zu: " format, (r)->path, (r)->line, __VA_ARGS__)

/* ---------------------------------------------------------------- bytes */

static kbass_status cannot_read(const reader *r)
{
    return kb_fail(r->error, KBASS_ERROR_FILE, "%s: cannot be read: %s", r->path, strerror(errno));
}

/* One byte more than a file of known size, so that its end is met without growing. */
static size_t first_capacity(FILE *file)
{
    struct stat status;
    bool known = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    return known ? (size_t)status.st_size + 2 : FIRST_CAPACITY;
}

static kbass_status read_bytes(reader *r, FILE *file)
{
    size_t capacity = first_capacity(file), n = 1;
    r->text = KB_NEW(char, capacity);
    while (r->text && n) {
        if (r->size + 1 == capacity) {
            char *grown = kb_reallocate(r->text, r->size, 2 * capacity, 1);
            if (!grown) return kb_out_of_memory(r->error, r->path);
            r->text = grown;
            capacity *= 2;
        }
        n = fread(r->text + r->size, 1, capacity - 1 - r->size, file);
        r->size += n;
    }
    if (!r->text) return kb_out_of_memory(r->error, r->path);
    return ferror(file) ? cannot_read(r) : KBASS_OK;
}

static kbass_status open_and_read(reader *r)
{
    FILE *file = fopen(r->path, "rb");
    if (!file) return cannot_read(r);
    kbass_status status = read_bytes(r, file);
    fclose(file);
    return status;
}

static kbass_status refuse_nul_bytes(reader *r)
{
    const char *nul = memchr(r->text, '\0', r->size);
    if (!nul) return KBASS_OK;
    r->line = 1;
    for (const char *c = r->text; c < nul; c++) r->line += *c == '\n';
    return FAIL_AT_LINE(r, "a NUL byte where text is needed (UTF-8, one row a line)%s", "");
}

static kbass_status read_file(reader *r)
{
    kb_sha256 sha;
    kbass_status status = open_and_read(r);
    if (status == KBASS_OK) status = refuse_nul_bytes(r);
    if (status != KBASS_OK) return status;

    kb_sha256_begin(&sha);
    kb_sha256_add(&sha, r->text, r->size);
    kb_sha256_finish(&sha, r->data->sha256);
    bool has_mark = strncmp(r->text, "\xef\xbb\xbf", 3) == 0;
    r->rest = r->text + (has_mark ? 3 : 0);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- lines and cells */

/* The next line that is neither blank nor a comment, NULL at the end. Lines end with \n, \r\n or \r. */
static char *next_line(reader *r)
{
    while (*r->rest) {
        char *line = r->rest, *end = line + strcspn(line, "\r\n");
        r->rest = end;
        if (end[0] == '\r' && end[1] == '\n') r->rest++;
        if (*r->rest) r->rest++;
        *end = '\0';
        r->line++;
        char first = line[strspn(line, " \t")];
        if (first && first != '#') return line;
    }
    return NULL;
}

static bool separates(const reader *r, char c)
{
    return c == r->separator || (r->separator == RUNS_OF_BLANKS && c == '\t');
}

static char *skip_blanks(const reader *r, char *c)
{
    while (*c == ' ' || (*c == '\t' && r->separator != '\t')) c++;
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
static bool cut_cell(const reader *r, char **rest, char **cell)
{
    bool runs = r->separator == RUNS_OF_BLANKS;
    char *begin = skip_blanks(r, *rest), *end = NULL, *after = begin;
    if (*begin == '"') {
        after = unquote(++begin, &end);
        if (!after) return false;
    } else {
        while (*after && !separates(r, *after)) after++;
        end = after;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
    }
    char *next = skip_blanks(r, after);
    if (*next && !runs && !separates(r, *next)) return false;
    *rest = !*next ? NULL : runs ? next : next + 1;
    *end = '\0';
    *cell = begin;
    return true;
}

/* Cuts the line; keeps the first `capacity` cells and counts them all. */
static kbass_status split(reader *r, char *line, size_t capacity, size_t *n)
{
    char *cell = NULL;
    for (*n = 0; line; ++*n) {
        if (!cut_cell(r, &line, &cell))
            return FAIL_AT_LINE(r, "cell %zu: its quotes do not close, or text follows them", *n + 1);
        if (*n < capacity) r->cells[*n] = cell;
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- header */

static char find_separator(const char *header)
{
    static const char candidates[] = ",;\t";
    for (const char *candidate = candidates; *candidate; candidate++) {
        bool quoted = false;
        for (const char *c = header; *c; c++) {
            if (*c == '"') quoted = !quoted;
            if (*c == *candidate && !quoted) return *candidate;
        }
    }
    return RUNS_OF_BLANKS;
}

static kbass_status split_header(reader *r, char *header)
{
    size_t most = 1;
    for (const char *c = header; *c; c++) most += strchr(",; \t", *c) != NULL;
    r->separator = find_separator(header);
    r->cells = KB_NEW(char *, most);
    r->names = KB_NEW(char *, most);
    if (!r->cells || !r->names) return kb_out_of_memory(r->error, "the header");
    kbass_status status = split(r, header, most, &r->n_columns);
    memcpy(r->names, r->cells, r->n_columns * sizeof *r->names);
    return status;
}

static kbass_status check_header(const reader *r)
{
    size_t n_numbers = 0;
    double number;
    for (size_t i = 0; i < r->n_columns; i++) n_numbers += kb_number_parse(r->names[i], &number);
    if (n_numbers == r->n_columns)
        return FAIL_AT_LINE(r, "the first row is all numbers: a header row that names the %zu columns is needed",
                            r->n_columns);
    for (size_t i = 0; i < r->n_columns; i++) {
        if (!*r->names[i]) return FAIL_AT_LINE(r, "column %zu has no name", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->names[i], r->names[k]) == 0)
                return FAIL_AT_LINE(r, "columns %zu and %zu have the same name \"%s\"", k + 1, i + 1, r->names[i]);
    }
    if (r->n_columns == 1)
        return FAIL_AT_LINE(r, "only one column, \"%s\": time and at least one state are needed", r->names[0]);
    return KBASS_OK;
}

static bool find_column(reader *r, const char *name, int (*compare)(const char *, const char *))
{
    size_t *column = &r->axes[r->n_axes];
    for (*column = 0; *column < r->n_columns; ++*column)
        if (compare(r->names[*column], name) == 0) {
            r->n_axes++;
            return true;
        }
    return false;
}

static void list_columns(const reader *r, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < r->n_columns && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "", r->names[i]);
    if (length >= size) memcpy(list + size - 4, "...", 4);
}

static kbass_status find_time(reader *r, const char *name)
{
    char list[LIST_SIZE];
    bool found = name ? find_column(r, name, strcmp) || find_column(r, name, strcasecmp)
                      : find_column(r, "t", strcmp) || find_column(r, "time", strcmp) ||
                            find_column(r, "t", strcasecmp) || find_column(r, "time", strcasecmp);
    if (found) return KBASS_OK;
    list_columns(r, list, sizeof list);
    if (name) return FAIL_AT_LINE(r, "no column \"%s\" for time; there are: %s", name, list);
    return FAIL_AT_LINE(r, "no time column \"t\" or \"time\" (name it with --time NAME); there are: %s", list);
}

static kbass_status take_axis(reader *r, const char *name)
{
    char list[LIST_SIZE];
    if (r->n_axes == KBASS_MAX_AXES)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "axes: found more than %d, needed time and up to %d of space",
                       KBASS_MAX_AXES, KBASS_MAX_AXES - 1);
    if (!find_column(r, name, strcmp)) {
        list_columns(r, list, sizeof list);
        return FAIL_AT_LINE(r, "no column \"%s\" for an axis; there are: %s", name, list);
    }
    for (size_t i = 0; i + 1 < r->n_axes; i++)
        if (r->axes[i] == r->axes[r->n_axes - 1])
            return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "axes: \"%s\" is named twice", name);
    if (!kb_data_is_name(name))
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT,
                       "axes: \"%s\" cannot stand in equations: a name needs letters, digits or _", name);
    return KBASS_OK;
}

/* "t, x, y" */
static kbass_status find_axes(reader *r, const char *axes)
{
    kbass_status status = KBASS_OK;
    char *copy = kb_strdup(axes), *name = copy;
    if (!copy) return kb_out_of_memory(r->error, "the axes");
    while (name && status == KBASS_OK) {
        char *comma = strchr(name, ','), *end = comma ? comma : name + strlen(name);
        while (*name == ' ') name++;
        while (end > name && end[-1] == ' ') end--;
        *end = '\0';
        status = *name ? take_axis(r, name)
                       : kb_fail(r->error, KBASS_ERROR_ARGUMENT, "axes: found a name missing in \"%s\", needed \"t,x\"",
                                 axes);
        name = comma ? comma + 1 : NULL;
    }
    if (status == KBASS_OK && r->n_axes == r->n_columns)
        status = FAIL_AT_LINE(r, "all %zu columns are axes: at least one field is needed", r->n_columns);
    kb_free(copy);
    return status;
}

static bool is_axis(const reader *r, size_t column, size_t *axis)
{
    for (*axis = 0; *axis < r->n_axes; ++*axis)
        if (r->axes[*axis] == column) return true;
    return false;
}

static kbass_status take_names(reader *r)
{
    kbass_data *data = r->data;
    size_t axis = 0;
    data->n_axes = r->n_axes;
    data->n_states = r->n_columns - r->n_axes;
    data->source = kb_strdup(r->path);
    data->axis_names = KB_NEW(char *, data->n_axes);
    data->state_names = KB_NEW(char *, data->n_states);
    bool all = data->source && data->axis_names && data->state_names;
    for (size_t i = 0; all && i < r->n_axes; i++)
        all = (data->axis_names[i] = kb_strdup(r->names[r->axes[i]])) != NULL;
    if (all) data->time_name = data->axis_names[0];
    for (size_t i = 0, state = 0; all && i < r->n_columns; i++) {
        if (is_axis(r, i, &axis)) continue;
        if (!kb_data_is_name(r->names[i]))
            return FAIL_AT_LINE(r, "column \"%s\": a state's name stands in equations and needs letters, digits or _",
                                r->names[i]);
        data->state_names[state] = kb_strdup(r->names[i]);
        all = data->state_names[state++] != NULL;
    }
    return all ? KBASS_OK : kb_out_of_memory(r->error, "the column names");
}

static kbass_status read_header(reader *r, const char *time_column, const char *axes)
{
    char *header = next_line(r);
    if (!header)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %s: a header row and rows of numbers are needed", r->path,
                       r->size ? "nothing but blank lines and comments" : "the file is empty");
    kbass_status status = split_header(r, header);
    if (status == KBASS_OK) status = check_header(r);
    if (status == KBASS_OK) status = axes ? find_axes(r, axes) : find_time(r, time_column);
    if (status == KBASS_OK) status = take_names(r);
    return status;
}

/* ---------------------------------------------------------------- rows */

static bool grow_column(double **numbers, size_t n, size_t capacity, size_t width)
{
    double *grown = kb_reallocate(*numbers, n, capacity, width * sizeof *grown);
    if (grown) *numbers = grown;
    return grown != NULL;
}

static kbass_status grow(reader *r)
{
    kbass_data *data = r->data;
    size_t n = data->n_rows, capacity = r->capacity ? 2 * r->capacity : FIRST_ROWS;
    if (n < r->capacity) return KBASS_OK;
    bool all = grow_column(&data->times, n, capacity, 1) && grow_column(&data->values, n, capacity, data->n_states) &&
               (r->n_axes == 1 || grow_column(&data->positions, n, capacity, r->n_axes - 1));
    if (!all) return kb_out_of_memory(r->error, r->path);
    r->capacity = capacity;
    return KBASS_OK;
}

/* Where the number goes: an axis, or after the last of them the next state. */
static double *slot_of(const reader *r, size_t axis, size_t *state)
{
    kbass_data *data = r->data;
    size_t row = data->n_rows;
    if (axis == r->n_axes) return &data->values[row * data->n_states + (*state)++];
    return axis ? &data->positions[row * (r->n_axes - 1) + axis - 1] : &data->times[row];
}

static kbass_status read_cell(const reader *r, size_t column, double *value)
{
    const char *cell = r->cells[column], *name = r->names[column];
    *value = NAN;
    if (!*cell) return KBASS_OK;
    if (!kb_number_parse(cell, value))
        return FAIL_AT_LINE(r, "column \"%s\": \"%.60s\" is not a number (use an empty cell or NaN for missing)", name,
                            cell);
    if (isinf(*value))
        return FAIL_AT_LINE(r, "column \"%s\": \"%.60s\" is infinite (use an empty cell or NaN for missing)", name,
                            cell);
    return KBASS_OK;
}

static kbass_status read_row(reader *r, char *line)
{
    kbass_data *data = r->data;
    size_t n_cells = 0, state = 0, axis = 0;
    kbass_status status = split(r, line, r->n_columns, &n_cells);
    if (status == KBASS_OK && n_cells != r->n_columns)
        status = FAIL_AT_LINE(r, "found %zu cells, the header has %zu", n_cells, r->n_columns);
    if (status == KBASS_OK) status = grow(r);
    for (size_t i = 0; status == KBASS_OK && i < r->n_columns; i++) {
        bool on_axis = is_axis(r, i, &axis);
        double *value = slot_of(r, axis, &state);
        status = read_cell(r, i, value);
        if (status == KBASS_OK && on_axis && isnan(*value))
            status = FAIL_AT_LINE(r, "column \"%s\": the %s is missing", r->names[i], axis ? "position" : "time");
    }
    if (status == KBASS_OK) data->n_rows++;
    return status;
}

static kbass_status read_rows(reader *r)
{
    kbass_status status = KBASS_OK;
    char *line = NULL;
    while (status == KBASS_OK && (line = next_line(r))) status = read_row(r, line);
    if (status == KBASS_OK && !r->data->n_rows)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: a header but no rows of numbers", r->path);
    return status;
}

static kbass_status read_table(const char *path, const char *time_column, const char *axes, kbass_data **out,
                               kbass_error *error)
{
    reader r = {.path = path, .error = error, .data = KB_NEW(kbass_data, 1)};
    kbass_status status = r.data ? KBASS_OK : kb_out_of_memory(error, "the data");

    if (status == KBASS_OK) status = read_file(&r);
    if (status == KBASS_OK) status = read_header(&r, time_column, axes);
    if (status == KBASS_OK) status = read_rows(&r);
    if (status == KBASS_OK) status = kb_data_settle(r.data, error);

    if (status == KBASS_OK) *out = r.data;
    else                    kbass_data_destroy(r.data);
    kb_free(r.names);
    kb_free(r.cells);
    kb_free(r.text);
    return status;
}

kbass_status kbass_data_read(const char *path, const char *time_column, kbass_data **data, kbass_error *error)
{
    return read_table(path, time_column, NULL, data, error);
}

kbass_status kbass_data_read_axes(const char *path, const char *axes, kbass_data **data, kbass_error *error)
{
    return read_table(path, NULL, axes, data, error);
}
