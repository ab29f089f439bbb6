/* Tables as text: a header row, then numbers. Blocks of lines are cut into parts that threads read at the same time,
 * the numbers by a quick way where it goes (csv_row.c), and appended in order. */
#include "data/plan.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/directives.h"
#include "data/lines.h"
#include "data/long_form.h"
#include "data/part.h"
#include "data/text_grid.h"

enum { SMALLEST_PART = 1 << 18, PARTS_EACH = 4, MOST_PARTS = 64, FIRST_NUMBERS = 1 << 14 };
enum { MOST_BEHIND = 30 }; /* lines behind a table that are not rows: totals, sources */

typedef struct {
    kb_reading *reading;
    kb_lines lines;
    char *rest, *end; /* of the block */
    size_t line;      /* number of the line at hand */
    char *note;       /* copy of the last comment before the table, or names that directives give */
    kb_directives directives;
    char *header; /* copy of the line of names */
    kb_plan plan;
    kb_part part;
    kb_pace pace;
    size_t *state_columns;
    size_t capacity, n_left;    /* rows that fit into the data's arrays, rows left out */
    size_t n_headers, n_behind; /* lines that repeat the header; lines behind the table */
    double clock, midnights;    /* the time of day met last, and how often a day has passed since the first row */
    bool has_clock;
    size_t n_midnights;
    kb_text_grid grid;         /* that the rows may be, */
    bool stays;                /* and then stay in the file: no more of them are appended */
    size_t begins, first_line; /* the byte that the rows begin with, and the lines before them */
    kbass_data *data;
} table;

/* What one thread reads of a block. */
typedef struct {
    const char *begin, *end;
    size_t line;     /* number of the line at hand */
    double *numbers; /* n_rows x n_columns */
    size_t n_rows, capacity, n_headers;
    const char **marks; /* where rows 0, KB_MARKED_ROWS, ... begin */
    bool has_odd_lines; /* between its rows, beside blank ones and comments */
    const char *bad;    /* the line that could not be read */
    kb_row_work work;
    kbass_status status;
    kbass_error error;
} part;

/* ---------------------------------------------------------------- header */

/* 0 to 1; 0 also while nobody knows how much there is. */
static double share_read(const table *t)
{
    const kb_file *file = &t->reading->file;
    if (t->reading->sheet) return (double)t->lines.taken / (double)(t->lines.size + 1);
    return file->is_stream || !file->size ? 0 : (double)t->reading->hashed / (double)file->size;
}

static kbass_status next_block(table *t)
{
    kbass_status status = kb_lines_next(&t->lines, &t->rest, &t->end);
    return status == KBASS_OK ? kb_reading_tell(t->reading, share_read(t)) : status;
}

/* Copies the comment at `rest` and goes on to the next line. */
static kbass_status take_comment(table *t)
{
    char *end = memchr(t->rest, '\n', (size_t)(t->end - t->rest));
    size_t length = (size_t)((end ? end : t->end) - t->rest);
    if (!kb_directive_take(&t->directives, t->rest, t->rest + length)) {
        kb_free(t->note);
        t->note = KB_NEW(char, length + 1);
        if (!t->note) return kb_out_of_memory(t->reading->error, "the header");
        memcpy(t->note, t->rest, length);
    }
    t->rest += length + (end != NULL);
    t->line++;
    return KBASS_OK;
}

/* Goes past blank lines; the first character of the one that is not, or \n when the block has no more. */
static char skip_blank_lines(table *t)
{
    for (const char *c = t->rest; c < t->end; c++) {
        if (*c == '\n') {
            t->rest = (char *)c + 1;
            t->line++;
        } else if (*c != ' ' && *c != '\t' && *c != '\r') {
            return *c;
        }
    }
    t->rest = t->end;
    return '\n';
}

/* A comment, or what a program says above its numbers; others that begin with an @ are names. */
static bool is_above(table *t, char first)
{
    kb_directives ignored = {0};
    if (kb_begins_comment(first)) return true;
    if (first != '@') return false;
    const char *end = memchr(t->rest, '\n', (size_t)(t->end - t->rest));
    bool is_one = kb_directive_take(&ignored, t->rest, end ? end : t->end);
    kb_directives_clear(&ignored);
    return is_one;
}

static void take_directives(table *t)
{
    char *names = kb_directives_header(&t->directives);
    if (!names) return;
    kb_free(t->note);
    t->note = names;
}

/* Goes to the first line that is neither blank nor a comment. */
static kbass_status find_table(table *t)
{
    kbass_status status = next_block(t);
    bool has_mark = status == KBASS_OK && t->end - t->rest >= 3 && memcmp(t->rest, "\xef\xbb\xbf", 3) == 0;
    if (has_mark) t->rest += 3;
    while (status == KBASS_OK && t->rest < t->end) {
        char first = skip_blank_lines(t);
        if (first != '\n' && !is_above(t, first)) return KBASS_OK;
        if (first != '\n') status = take_comment(t);
        if (status == KBASS_OK && t->rest == t->end) status = next_block(t);
    }
    return status;
}

/* Goes to the first row. */
static void begin_rows(table *t)
{
    const kb_layout *l = &t->plan.layout;
    bool has_rows = l->body < l->n;
    const kb_line *last = &l->lines[has_rows ? l->body : l->n - 1];
    t->rest = (char *)(has_rows ? last->begin : last->end);
    t->line = has_rows ? last->number - 1 : last->number;
    if (!has_rows && t->rest < t->end) t->rest++;
}

/* Lines may be moved on before the last row is read. */
static kbass_status keep_header(table *t)
{
    const kb_line *line = &t->plan.layout.lines[t->plan.layout.header];
    size_t length = (size_t)(line->end - line->begin);
    t->header = KB_NEW(char, length + 1);
    if (t->header) memcpy(t->header, line->begin, length);
    return t->header ? KBASS_OK : kb_out_of_memory(t->reading->error, "the header");
}

static kbass_status read_header(table *t)
{
    kb_reading *r = t->reading;
    kbass_status status = find_table(t);
    if (status == KBASS_OK && t->rest == t->end)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: %s: a header row and rows of numbers are needed",
                         r->file.path, t->lines.size ? "nothing but blank lines and comments" : "the file is empty");
    if (status == KBASS_OK) take_directives(t);
    if (status == KBASS_OK) status = kb_plan_make(&t->plan, r, t->data, t->rest, t->end, t->line, t->note);
    if (status == KBASS_OK) status = keep_header(t);
    if (status == KBASS_OK) begin_rows(t);
    return status;
}

static kbass_status find_state_columns(table *t)
{
    size_t axis = 0, state = 0;
    t->state_columns = KB_NEW(size_t, t->data->n_states);
    if (!t->state_columns) return kb_out_of_memory(t->reading->error, "the columns");
    for (size_t i = 0; i < t->plan.n; i++)
        if (!kb_roles_axis(&t->plan.roles, i, &axis) && !t->plan.is_left_out[i] && !kb_plan_is_of_time(&t->plan, i))
            t->state_columns[state++] = i;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- parts */

static bool grow_part(part *p, size_t n_columns)
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

static kbass_status check_axes(const table *t, const double *row, part *p)
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
static kbass_status check_row(const table *t, double *row, part *p)
{
    kbass_status status = check_axes(t, row, p);
    if (status != KBASS_OK || !t->plan.parts.is_there) return status;
    double at = (kb_date_parts_seconds(&t->plan.parts, row) - (double)t->plan.form.origin) / t->plan.form.unit;
    row[t->plan.roles.axes[0]] = at;
    if (at == at) return KBASS_OK;
    return kb_fail(&p->error, KBASS_ERROR_DATA, "%s:%zu: there is no such date", t->plan.form.path, p->line);
}

static bool repeats_header(const table *t, const char *line, const char *end)
{
    return strlen(t->header) == (size_t)(end - line) && strncmp(line, t->header, (size_t)(end - line)) == 0;
}

/* Spreadsheets write rows of nothing but separators. */
static bool is_empty_row(const table *t, const char *line, const char *end)
{
    if (kb_is_ruler(line, end)) return true;
    while (line < end && (*line == t->plan.form.separator || strchr(" \t\r\"", *line))) line++;
    return line == end;
}

/* Neither a number nor a date where time should be: no row was meant. */
static bool is_remark(const table *t, const char *line, const char *end, kb_row_work *work)
{
    size_t n = 0, time = t->plan.roles.axes[0];
    if (kb_row_cut(&t->plan.form, line, end, work, &n, 0, NULL) != KBASS_OK) return true;
    kb_cell_type type = kb_cell_type_of(work->cells[n == t->plan.n ? time : 0], t->plan.form.missing);
    bool has_number = false; /* a row without its time may be a mistake */
    for (size_t i = 0; i < n; i++) has_number |= kb_cell_type_of(work->cells[i], NULL) == KB_CELL_NUMBER;
    return type == KB_CELL_TEXT || (type == KB_CELL_MISSING && !has_number);
}

/* The careful way; what is no row at all is left out. */
static void read_carefully(const table *t, part *p, const char *line, const char *end, double *row)
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

static void read_part(const table *t, part *p)
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

/* Parts of about the same size that end with lines; they are numbered on from the table's line. */
static size_t cut_block(table *t, part *parts, size_t n_parts)
{
    size_t size = (size_t)(t->end - t->rest), most = size / SMALLEST_PART + 1, n = 0;
    size_t share = size / (most < n_parts ? most : n_parts) + 1;
    const char *begin = t->rest;
    for (; begin < t->end; n++) {
        part *p = &parts[n];
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

/* Streams are hashed where they are read. */
static void hash_block(table *t)
{
    bool is_read_again = t->lines.taken < t->reading->hashed;
    if (!t->reading->file.is_stream && !t->reading->sheet && !is_read_again)
        kb_reading_hash(t->reading, t->lines.taken);
}

/* ---------------------------------------------------------------- a grid that stays in the file */

/* The byte of the file that a place in the block stands for. */
static size_t byte_of(const table *t, const char *place)
{
    return t->lines.taken - t->lines.length + (size_t)(place - t->lines.text);
}

/* Where grids may stay: rows say where they are and what is there, nothing else, and lie in the file as they are. */
static bool may_stay(const table *t)
{
    const kb_reading *r = t->reading;
    const kb_plan *p = &t->plan;
    bool is_asked = r->most_values && !r->within && r->every <= 1 && !r->run && !r->sheet;
    bool is_bare = r->file.is_mapped && !t->lines.is_gzip && !t->lines.encoding;
    return is_asked && is_bare && t->data->n_axes > 1 && p->run == p->n && p->variable == p->n && !p->form.units;
}

static void begin_grid(table *t)
{
    t->grid.n_axes = t->data->n_axes;
    t->grid.is_broken = !may_stay(t);
    t->begins = byte_of(t, t->rest);
    t->first_line = t->line;
}

static bool is_large(const table *t) { return t->data->n_rows * t->data->n_states > t->reading->most_values; }

/* The block is what the file has, no line end was put elsewhere. */
static bool is_unchanged(const table *t)
{
    return memcmp(t->rest, t->lines.bytes + byte_of(t, t->rest), (size_t)(t->end - t->rest)) == 0;
}

static void follow_grid(table *t, const part *p)
{
    const kb_roles *roles = &t->plan.roles;
    double at[KBASS_MAX_AXES];
    t->grid.is_broken |= p->has_odd_lines;
    for (size_t i = 0; i < p->n_rows && !t->grid.is_broken; i++) {
        const double *row = p->numbers + i * t->plan.form.n_columns;
        for (size_t k = 0; k < roles->n_axes; k++) at[k] = row[roles->axes[k]];
        if (i % KB_MARKED_ROWS == 0) kb_text_grid_mark(&t->grid, byte_of(t, p->marks[i / KB_MARKED_ROWS]));
        kb_text_grid_take(&t->grid, at);
    }
}

/* Rows were left where they are, and are no full grid: they are read again, all of them. */
static bool was_mistaken(const table *t)
{
    bool is_over = t->rest == t->end;
    return t->stays && (t->grid.is_broken || (is_over && !kb_text_grid_is_full(&t->grid)));
}

static kbass_status go_back(table *t)
{
    t->stays = false;
    t->grid.is_broken = true;
    t->lines.taken = t->begins;
    t->lines.length = t->lines.block = 0;
    t->lines.is_over = false;
    t->line = t->lines.n_lines = t->first_line;
    t->data->n_rows = t->n_headers = t->n_behind = t->n_midnights = 0;
    t->has_clock = false;
    t->midnights = 0;
    return next_block(t);
}

/* ---------------------------------------------------------------- rows */

static bool resize(double **numbers, size_t capacity, size_t width)
{
    double *grown = kb_resize(*numbers, capacity, width * sizeof *grown);
    if (grown) *numbers = grown;
    return grown != NULL;
}

static bool make_room(table *t, size_t n_rows)
{
    kbass_data *data = t->data;
    size_t width = data->n_axes - 1;
    t->capacity = n_rows;
    return resize(&data->times, n_rows, 1) && resize(&data->values, n_rows, data->n_states) &&
           (!width || resize(&data->positions, n_rows, width));
}

/* Room for n more rows, and for as many as the rest of the file may hold if it is like what was read. */
static kbass_status reserve(table *t, size_t n)
{
    const kbass_data *data = t->data;
    size_t needed = data->n_rows + n;
    if (needed <= t->capacity) return KBASS_OK;
    double share = t->lines.is_stream || !t->part.is_whole ? 0.5 : (double)t->lines.taken / (double)t->lines.size;
    size_t expected = (size_t)((double)needed / share * 1.02) + 1, most = t->reading->most_values / data->n_states + 1;
    if (!t->grid.is_broken && expected > most) expected = most > needed ? most : needed;
    return make_room(t, expected) ? KBASS_OK : kb_out_of_memory(t->reading->error, t->plan.form.path);
}

static void append_row(table *t, const double *row)
{
    kbass_data *data = t->data;
    size_t width = data->n_axes - 1, n_states = data->n_states;
    double *values = data->values + data->n_rows * n_states;
    data->times[data->n_rows] = row[t->plan.roles.axes[0]];
    for (size_t k = 0; k < width; k++) data->positions[data->n_rows * width + k] = row[t->plan.roles.axes[k + 1]];
    for (size_t k = 0; k < n_states; k++) values[k] = row[t->state_columns[k]];
    data->n_rows++;
}

/* Times of day are added to their dates; alone they go on behind midnight. The first row is at 0. */
static void settle_time(table *t, double *row)
{
    const kb_plan *plan = &t->plan;
    double *time = &row[plan->roles.axes[0]], day = KB_DAY / plan->form.unit;
    if (plan->clock < plan->n) *time += row[plan->clock];
    if (plan->clock < plan->n || !plan->form.kinds || plan->kinds[plan->roles.axes[0]] != KB_CLOCKS) return;
    double clock = *time;
    if (!t->has_clock) t->midnights = -clock;
    if (t->has_clock && plan->passes_midnight && clock < t->clock - day / 2) {
        t->midnights += day;
        t->n_midnights++;
    }
    t->has_clock = true;
    t->clock = clock;
    *time = clock + t->midnights;
}

static void settle_times(table *t, part *p)
{
    for (size_t i = 0; t->plan.form.kinds && i < p->n_rows; i++) settle_time(t, p->numbers + i * t->plan.n);
}

static bool is_taken(table *t, const double *row)
{
    double at[KBASS_MAX_AXES];
    for (size_t k = 0; k < t->plan.roles.n_axes; k++) at[k] = row[t->plan.roles.axes[k]];
    return kb_part_takes(&t->part, &t->pace, at);
}

/* What is left out is gone before there is room for the others. */
static void take_part(table *t, part *p)
{
    size_t kept = 0, width = t->plan.form.n_columns;
    for (size_t i = 0; i < p->n_rows; i++)
        if (is_taken(t, p->numbers + i * width))
            memmove(p->numbers + kept++ * width, p->numbers + i * width, width * sizeof *p->numbers);
    t->n_left += p->n_rows - kept;
    p->n_rows = kept;
}

/* From the line that could not be read to the end of the file there are only remarks: so the table ended before it. */
static bool ends_at(table *t, part *p)
{
    size_t n = 0;
    for (const char *line = p->bad; line < t->end; n++) {
        const char *newline = memchr(line, '\n', (size_t)(t->end - line)), *end = newline ? newline : t->end;
        while (line < end && strchr(" \t\r", *line)) line++;
        if (line == end) n--;
        else if (!is_remark(t, line, end, &p->work) || n == MOST_BEHIND) return false;
        line = newline ? newline + 1 : t->end;
    }
    bool has_rows = t->data->n_rows || p->n_rows > 1 || p->begin > t->rest;
    if (!t->lines.is_over || !has_rows) return false;
    t->n_behind = n;
    p->n_rows--;
    p->status = KBASS_OK;
    return true;
}

static kbass_status read_block(table *t, part *parts, size_t n_parts)
{
    kbass_status status = KBASS_OK;
    size_t n = cut_block(t, parts, n_parts), n_rows = 0;
#pragma omp parallel for schedule(dynamic) if (n > 1)
    for (size_t i = 0; i <= n; i++)
        if (i) read_part(t, &parts[i - 1]);
        else hash_block(t);
    t->grid.is_broken = t->grid.is_broken || !is_unchanged(t);
    kb_file_forget(&t->reading->file);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        if (parts[i].status != KBASS_OK && parts[i].bad && ends_at(t, &parts[i])) n = i + 1;
        status = parts[i].status;
        t->n_headers += parts[i].n_headers;
        if (status == KBASS_OK) settle_times(t, &parts[i]);
        if (status == KBASS_OK && !t->part.is_whole) take_part(t, &parts[i]);
        if (status == KBASS_OK) follow_grid(t, &parts[i]);
        n_rows += parts[i].n_rows;
        if (status != KBASS_OK && t->reading->error) *t->reading->error = parts[i].error;
    }
    t->stays = t->stays || (!t->grid.is_broken && is_large(t));
    if (t->stays) return status;
    if (status == KBASS_OK && n_rows) status = reserve(t, n_rows);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        for (size_t k = 0; k < parts[i].n_rows; k++) append_row(t, parts[i].numbers + k * t->plan.form.n_columns);
    return status;
}

static kbass_status read_rows(table *t)
{
    size_t n_parts = PARTS_EACH * (size_t)omp_get_max_threads();
    if (n_parts > MOST_PARTS) n_parts = MOST_PARTS;
    part *parts = KB_NEW(part, n_parts);
    bool is_marked = t->plan.is_marked || t->plan.form.kinds; /* the decimal mark was seen */
    kbass_status status = parts ? KBASS_OK : kb_out_of_memory(t->reading->error, "the threads");

    if (status == KBASS_OK && t->rest == t->end) status = next_block(t);
    begin_grid(t);
    while (status == KBASS_OK && t->rest < t->end) {
        if (!is_marked) is_marked = kb_row_point(&t->plan.form, t->rest, t->end, &t->plan.form.point);
        status = read_block(t, parts, n_parts);
        if (status == KBASS_OK) status = next_block(t);
        if (status == KBASS_OK && was_mistaken(t)) status = go_back(t);
    }
    if (status == KBASS_OK && !t->data->n_rows && t->n_left)
        status = kb_part_empty(t->data, t->plan.form.path, t->reading->error);
    else if (status == KBASS_OK && !t->data->n_rows)
        status = kb_fail(t->reading->error, KBASS_ERROR_DATA, "%s: a header but no rows of numbers", t->plan.form.path);
    if (status == KBASS_OK) make_room(t, t->data->n_rows); /* no more; where that fails nothing is lost */
    for (size_t i = 0; parts && i < n_parts; i++) {
        kb_free(parts[i].numbers);
        kb_free(parts[i].marks);
        kb_row_work_clear(&parts[i].work);
    }
    kb_free(parts);
    return status;
}

/* What a reader might not expect; the table was taken for this. */
static kbass_status note_oddities(table *t)
{
    kb_plan *plan = &t->plan;
    if (t->lines.is_gzip) kb_plan_say(plan, "gzip");
    if (t->lines.encoding) kb_plan_say(plan, "UTF-16");
    if (plan->form.point == ',') kb_plan_say(plan, "decimal commas");
    if (t->n_headers)
        kb_plan_say(plan, t->n_headers == 1 ? "%zu line repeats the header" : "%zu lines repeat the header",
                    t->n_headers);
    if (t->n_behind)
        kb_plan_say(plan, "%zu line%s behind the table left out", t->n_behind, t->n_behind == 1 ? "" : "s");
    if (t->n_midnights == 1) kb_plan_say(plan, "times of day pass midnight once");
    if (t->n_midnights > 1) kb_plan_say(plan, "times of day pass midnight %zu times", t->n_midnights);
    t->data->note = plan->note.length ? kb_buffer_take(&plan->note) : kb_strdup("");
    return t->data->note ? KBASS_OK : kb_out_of_memory(t->reading->error, "the data");
}

/* Each label gets the number of its place among all, in the order of the alphabet. */
static kbass_status sort_labels(table *t)
{
    const kb_plan *plan = &t->plan;
    kbass_data *data = t->data;
    size_t state = 0;
    if (plan->run == plan->n || plan->kinds[plan->run] != KB_LABELS) return KBASS_OK;
    while (t->state_columns[state] != plan->run) state++;
    return kb_data_label(data, state, plan->labels.n, plan->labels.words, t->reading->error);
}

/* A state for each of the names that rows have. */
static kbass_status widen(table *t)
{
    const kb_plan *p = &t->plan;
    if (p->variable == p->n) return KBASS_OK;
    kb_long_form form = {.run = SIZE_MAX, .n_words = p->labels.n, .words = p->labels.words, .place = p->place};
    for (size_t i = 0; i < t->data->n_states; i++) {
        size_t column = t->state_columns[i];
        *(column == p->variable ? &form.variable : column == p->run ? &form.run : &form.value) = i;
    }
    return kb_long_form_widen(&form, t->data, t->reading->error);
}

kbass_status kb_read_text(kb_reading *reading, kbass_data *data)
{
    table t = {.reading = reading, .data = data};
    kbass_status status = kb_lines_open(&t.lines, reading);
    if (status == KBASS_OK) status = read_header(&t);
    if (status == KBASS_OK) status = find_state_columns(&t);
    if (status == KBASS_OK) status = kb_part_read(reading->within, reading->every, data, &t.part, reading->error);
    if (status == KBASS_OK) status = read_rows(&t);
    if (status == KBASS_OK) status = kb_refuse_stacked(&t.plan, data);
    if (status == KBASS_OK) status = sort_labels(&t);
    if (status == KBASS_OK) status = widen(&t);
    if (status == KBASS_OK) status = note_oddities(&t);
    if (status == KBASS_OK && kb_text_grid_is_full(&t.grid) && is_large(&t))
        status = kb_tiles_of_text(&t.grid, &t.plan.form, t.state_columns, reading, data);
    kb_text_grid_clear(&t.grid);
    kb_lines_close(&t.lines);
    kb_plan_clear(&t.plan);
    kb_free(t.note);
    kb_directives_clear(&t.directives);
    kb_free(t.header);
    kb_free(t.state_columns);
    return status;
}

kbass_status kb_read_sheet(kb_reading *reading, const char *text, size_t size, kbass_data *data)
{
    reading->sheet = text;
    reading->sheet_size = size;
    kbass_status status = kb_read_text(reading, data);
    reading->sheet = NULL;
    return status;
}
