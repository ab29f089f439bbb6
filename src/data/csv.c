/* Tables as text: a header row (csv_header.c), then numbers. Blocks of lines are cut into parts that threads read at
 * the same time (csv_part.c), and appended in order. */
#include "data/csv_table.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/long_form.h"

enum { PARTS_EACH = 4, MOST_PARTS = 64 };
enum { MOST_BEHIND = 30 }; /* lines behind a table that are not rows: totals, sources */

/* ---------------------------------------------------------------- a grid that stays in the file */

/* The byte of the file that a place in the block stands for. */
static size_t byte_of(const kb_csv_table *t, const char *place)
{
    return t->lines.taken - t->lines.length + (size_t)(place - t->lines.text);
}

/* Where grids may stay: rows say where they are and what is there, nothing else, and lie in the file as they are. */
static bool may_stay(const kb_csv_table *t)
{
    const kb_reading *r = t->reading;
    const kb_plan *p = &t->plan;
    bool is_asked = r->most_values && !r->within && r->every <= 1 && !r->run && !r->sheet;
    bool is_bare = r->file.is_mapped && !t->lines.is_gzip && !t->lines.encoding;
    return is_asked && is_bare && t->data->n_axes > 1 && p->run == p->n && p->variable == p->n && !p->form.units;
}

static void begin_grid(kb_csv_table *t)
{
    t->grid.n_axes = t->data->n_axes;
    t->grid.is_broken = !may_stay(t);
    t->begins = byte_of(t, t->rest);
    t->first_line = t->line;
}

static bool is_large(const kb_csv_table *t) { return t->data->n_rows * t->data->n_states > t->reading->most_values; }

/* The block is what the file has, no line end was put elsewhere. */
static bool is_unchanged(const kb_csv_table *t)
{
    return memcmp(t->rest, t->lines.bytes + byte_of(t, t->rest), (size_t)(t->end - t->rest)) == 0;
}

static void follow_grid(kb_csv_table *t, const kb_csv_part *p)
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
static bool was_mistaken(const kb_csv_table *t)
{
    bool is_over = t->rest == t->end;
    return t->stays && (t->grid.is_broken || (is_over && !kb_text_grid_is_full(&t->grid)));
}

static kbass_status go_back(kb_csv_table *t)
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
    return kb_csv_next_block(t);
}

/* ---------------------------------------------------------------- rows */

static bool resize(double **numbers, size_t capacity, size_t width)
{
    double *grown = kb_resize(*numbers, capacity, width * sizeof *grown);
    if (grown) *numbers = grown;
    return grown != NULL;
}

static bool make_room(kb_csv_table *t, size_t n_rows)
{
    kbass_data *data = t->data;
    size_t width = data->n_axes - 1;
    t->capacity = n_rows;
    return resize(&data->times, n_rows, 1) && resize(&data->values, n_rows, data->n_states) &&
           (!width || resize(&data->positions, n_rows, width));
}

/* Room for n more rows, and for as many as the rest of the file may hold if it is like what was read. */
static kbass_status reserve(kb_csv_table *t, size_t n)
{
    const kbass_data *data = t->data;
    size_t needed = data->n_rows + n;
    if (needed <= t->capacity) return KBASS_OK;
    double share = t->lines.is_stream || !t->part.is_whole ? 0.5 : (double)t->lines.taken / (double)t->lines.size;
    size_t expected = (size_t)((double)needed / share * 1.02) + 1, most = t->reading->most_values / data->n_states + 1;
    if (!t->grid.is_broken && expected > most) expected = most > needed ? most : needed;
    return make_room(t, expected) ? KBASS_OK : kb_out_of_memory(t->reading->error, t->plan.form.path);
}

static void append_row(kb_csv_table *t, const double *row)
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
static void settle_time(kb_csv_table *t, double *row)
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

static void settle_times(kb_csv_table *t, kb_csv_part *p)
{
    for (size_t i = 0; t->plan.form.kinds && i < p->n_rows; i++) settle_time(t, p->numbers + i * t->plan.n);
}

static bool is_taken(kb_csv_table *t, const double *row)
{
    double at[KBASS_MAX_AXES];
    for (size_t k = 0; k < t->plan.roles.n_axes; k++) at[k] = row[t->plan.roles.axes[k]];
    return kb_part_takes(&t->part, &t->pace, at);
}

/* What is left out is gone before there is room for the others. */
static void take_part(kb_csv_table *t, kb_csv_part *p)
{
    size_t kept = 0, width = t->plan.form.n_columns;
    for (size_t i = 0; i < p->n_rows; i++)
        if (is_taken(t, p->numbers + i * width))
            memmove(p->numbers + kept++ * width, p->numbers + i * width, width * sizeof *p->numbers);
    t->n_left += p->n_rows - kept;
    p->n_rows = kept;
}

/* From the line that could not be read to the end of the file there are only remarks: so the table ended before it. */
static bool ends_at(kb_csv_table *t, kb_csv_part *p)
{
    size_t n = 0;
    for (const char *line = p->bad; line < t->end; n++) {
        const char *newline = memchr(line, '\n', (size_t)(t->end - line)), *end = newline ? newline : t->end;
        while (line < end && strchr(" \t\r", *line)) line++;
        if (line == end) n--;
        else if (!kb_csv_is_remark(t, line, end, &p->work) || n == MOST_BEHIND) return false;
        line = newline ? newline + 1 : t->end;
    }
    bool has_rows = t->data->n_rows || p->n_rows > 1 || p->begin > t->rest;
    if (!t->lines.is_over || !has_rows) return false;
    t->n_behind = n;
    p->n_rows--;
    p->status = KBASS_OK;
    return true;
}

/* Streams are hashed where they are read. */
static void hash_block(kb_csv_table *t)
{
    bool is_read_again = t->lines.taken < t->reading->hashed;
    if (!t->reading->file.is_stream && !t->reading->sheet && !is_read_again)
        kb_reading_hash(t->reading, t->lines.taken);
}

static kbass_status read_block(kb_csv_table *t, kb_csv_part *parts, size_t n_parts)
{
    kbass_status status = KBASS_OK;
    size_t n = kb_csv_cut_block(t, parts, n_parts), n_rows = 0;
#pragma omp parallel for schedule(dynamic) if (n > 1)
    for (size_t i = 0; i <= n; i++)
        if (i) kb_csv_read_part(t, &parts[i - 1]);
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

static kbass_status read_rows(kb_csv_table *t)
{
    size_t n_parts = PARTS_EACH * (size_t)omp_get_max_threads();
    if (n_parts > MOST_PARTS) n_parts = MOST_PARTS;
    kb_csv_part *parts = KB_NEW(kb_csv_part, n_parts);
    bool is_marked = t->plan.is_marked || t->plan.form.kinds; /* the decimal mark was seen */
    kbass_status status = parts ? KBASS_OK : kb_out_of_memory(t->reading->error, "the threads");

    if (status == KBASS_OK && t->rest == t->end) status = kb_csv_next_block(t);
    begin_grid(t);
    while (status == KBASS_OK && t->rest < t->end) {
        if (!is_marked) is_marked = kb_row_point(&t->plan.form, t->rest, t->end, &t->plan.form.point);
        status = read_block(t, parts, n_parts);
        if (status == KBASS_OK) status = kb_csv_next_block(t);
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
static kbass_status note_oddities(kb_csv_table *t)
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
static kbass_status sort_labels(kb_csv_table *t)
{
    const kb_plan *plan = &t->plan;
    kbass_data *data = t->data;
    size_t state = 0;
    if (plan->run == plan->n || plan->kinds[plan->run] != KB_LABELS) return KBASS_OK;
    while (t->state_columns[state] != plan->run) state++;
    return kb_data_label(data, state, plan->labels.n, plan->labels.words, t->reading->error);
}

/* A state for each of the names that rows have. */
static kbass_status widen(kb_csv_table *t)
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

static kbass_status find_state_columns(kb_csv_table *t)
{
    size_t axis = 0, state = 0;
    t->state_columns = KB_NEW(size_t, t->data->n_states);
    if (!t->state_columns) return kb_out_of_memory(t->reading->error, "the columns");
    for (size_t i = 0; i < t->plan.n; i++)
        if (!kb_roles_axis(&t->plan.roles, i, &axis) && !t->plan.is_left_out[i] && !kb_plan_is_of_time(&t->plan, i))
            t->state_columns[state++] = i;
    return KBASS_OK;
}

kbass_status kb_read_text(kb_reading *reading, kbass_data *data)
{
    kb_csv_table t = {.reading = reading, .data = data};
    kbass_status status = kb_lines_open(&t.lines, reading);
    if (status == KBASS_OK) status = kb_csv_read_header(&t);
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
