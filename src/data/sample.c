#include "data/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* Calls `take` with the cells of each sampled row. */
typedef void (*row_taker)(void *user, const kb_row_form *form, size_t n, char **cells);

static kbass_status each_row(const kb_layout *l, const kb_row_form *form, row_taker take, void *user,
                             kbass_error *error)
{
    kb_row_work work = {0};
    kbass_status status = KBASS_OK;
    for (size_t i = l->body; status != KBASS_ERROR_MEMORY && i < l->n; i++) {
        size_t n = 0;
        status = kb_row_cut(form, l->lines[i].begin, l->lines[i].end, &work, &n, l->lines[i].number, error);
        if (status == KBASS_OK) take(user, form, n, work.cells);
    }
    kb_row_work_clear(&work);
    return status == KBASS_ERROR_MEMORY ? status : KBASS_OK; /* bad rows are told by those who read them */
}

/* ---------------------------------------------------------------- lengths */

static void take_length(void *user, const kb_row_form *form, size_t n, char **cells)
{
    kb_row_lengths *l = user;
    double value;
    (void)form;
    if (!l->n_rows || n < l->fewest) l->fewest = n;
    if (n > l->most) l->most = n;
    l->are_last_empty = (l->are_last_empty || !l->n_rows) && n && !*cells[n - 1];
    bool is_next = n && (!kb_cell_number(cells[0], '.', 0, &value) || value == (double)l->n_rows ||
                         value == (double)l->n_rows + 1);
    l->is_first_counting = (l->is_first_counting || !l->n_rows) && is_next;
    l->n_rows++;
}

kbass_status kb_sample_lengths(const kb_layout *layout, const kb_row_form *form, kb_row_lengths *lengths,
                               kbass_error *error)
{
    *lengths = (kb_row_lengths){0};
    return each_row(layout, form, take_length, lengths, error);
}

/* ---------------------------------------------------------------- columns */

static void vote(kb_sample *s, const char *cell)
{
    char point, grouping;
    kb_cell_marks(cell, &point, &grouping);
    if (point == ',' && !s->points) s->is_comma_first = true;
    s->points += point == '.';
    s->commas += point == ',';
    s->unclear_commas += !point && strchr(cell, ',');
    s->point_groups += grouping == '.';
    s->comma_groups += grouping == ',';
}

static bool is_six_digit_date(const char *cell, size_t length)
{
    kb_moment moment;
    if (length != 6 || strspn(cell, "0123456789") != length) return false;
    for (int order = 0; order <= KB_YEAR_FIRST; order++)
        if (kb_moment_parse(cell, cell + length, (kb_date_order)order, &moment)) return true;
    return false;
}

static void take_number(kb_sample *s, kb_column_sample *c, const char *cell)
{
    kb_moment moment;
    double value = NAN;
    if (!kb_cell_number(cell, '.', ',', &value)) kb_cell_number(cell, ',', '.', &value);
    if (!s->n_rows) c->first = value;
    c->is_counting = value == floor(value) && (!s->n_rows || (c->is_counting && value == c->last + 1));
    c->n_whole += value == floor(value);
    c->last = value;
    size_t length = strlen(cell);
    double date = length == 14 ? value / 1e6 : length == 12 ? value / 1e4 : value;
    bool is_compact = length == strspn(cell, "0123456789") && date > 1.8e7 && date < 2.2e7;
    c->n_compact += is_compact && kb_moment_parse(cell, cell + length, KB_YEAR_FIRST, &moment);
    c->n_six_digits += is_six_digit_date(cell, length);
    vote(s, cell);
}

/* "5 %": counted where it has the unit of those before. */
static void take_text(kb_sample *s, kb_column_sample *c, const char *cell)
{
    const char *bare, *after;
    char number[64];
    size_t length = 0;
    bool is_bare = kb_cell_bare(cell, &bare, &length, &after) && length < sizeof number && kb_cell_is_unit(after);
    if (is_bare && !c->n_bare && strlen(after) < sizeof c->unit) snprintf(c->unit, sizeof c->unit, "%s", after);
    if (!*c->example) snprintf(c->example, sizeof c->example, "%s", cell);
    if (!is_bare || strcmp(after, c->unit) != 0) return;
    c->n_bare++;
    snprintf(number, sizeof number, "%.*s", (int)length, bare);
    vote(s, number);
}

static void take_cells(void *user, const kb_row_form *form, size_t n, char **cells)
{
    kb_sample *s = user;
    if (form->is_open && n == form->n_columns + 1) n--;
    if (n != form->n_columns) return;
    for (size_t i = 0; i < n; i++) {
        kb_column_sample *c = &s->columns[i];
        kb_cell_type type = kb_cell_type_of(cells[i], form->missing);
        c->n_cells[type]++;
        if (type == KB_CELL_NUMBER) take_number(s, c, cells[i]);
        else c->is_counting = false;
        if (type == KB_CELL_TEXT) take_text(s, c, cells[i]);
    }
    s->n_rows++;
}

kbass_status kb_sample_take(const kb_layout *layout, const kb_row_form *form, kb_sample *sample, kbass_error *error)
{
    *sample = (kb_sample){.columns = KB_NEW(kb_column_sample, form->n_columns)};
    if (!sample->columns) return kb_out_of_memory(error, "the columns");
    return each_row(layout, form, take_cells, sample, error);
}

void kb_sample_clear(kb_sample *sample)
{
    kb_free(sample->columns);
    *sample = (kb_sample){0};
}

size_t kb_sample_values(const kb_column_sample *c)
{
    size_t n = 0;
    for (int type = 0; type <= KB_CELL_TEXT; type++) n += type == KB_CELL_MISSING ? 0 : c->n_cells[type];
    return n;
}

/* ---------------------------------------------------------------- a column that goes back */

typedef struct {
    size_t column;
    double last;
    bool goes_back;
} back_search;

static void take_back(void *user, const kb_row_form *form, size_t n, char **cells)
{
    back_search *s = user;
    double value = NAN;
    if (n != form->n_columns || !kb_cell_number(cells[s->column], form->point, form->grouping, &value)) return;
    s->goes_back = s->goes_back || value < s->last;
    s->last = value;
}

bool kb_sample_goes_back(const kb_layout *layout, const kb_row_form *form, size_t column)
{
    back_search search = {.column = column, .last = NAN};
    each_row(layout, form, take_back, &search, NULL);
    return search.goes_back;
}

/* ---------------------------------------------------------------- runs below each other */

typedef struct {
    size_t time, label, n_back, n_elsewhere; /* n_elsewhere: time goes back within a label */
    size_t n_rows, n_beside, n_repeated;     /* rows at the time of the one before, with another label, with the same */
    double last;
    char word[64];
} restart_search;

static void take_restart(void *user, const kb_row_form *form, size_t n, char **cells)
{
    restart_search *s = user;
    kb_moment moment;
    double at = NAN;
    if (s->time >= n || s->label >= n) return;
    const char *cell = cells[s->time], *word = cells[s->label];
    if (!kb_cell_number(cell, form->point, form->grouping, &at) &&
        kb_moment_parse(cell, cell + strlen(cell), form->order, &moment))
        at = (double)moment.seconds + moment.fraction;
    bool is_new = strncmp(word, s->word, sizeof s->word - 1) != 0;
    s->n_back += at < s->last && is_new;
    s->n_elsewhere += at < s->last && !is_new;
    s->n_beside += at == s->last && is_new;
    s->n_repeated += at == s->last && !is_new;
    s->n_rows++;
    s->last = at;
    snprintf(s->word, sizeof s->word, "%s", word);
}

kbass_status kb_sample_restarts(const kb_layout *layout, const kb_row_form *form, size_t time, size_t label,
                                bool *restarts, kbass_error *error)
{
    restart_search s = {.time = time, .label = label, .last = NAN};
    kbass_status status = each_row(layout, form, take_restart, &s, error);
    bool is_beside = 3 * s.n_beside >= s.n_rows && s.n_rows > 3 && !s.n_repeated;
    *restarts = (s.n_back && !s.n_elsewhere) || is_beside;
    return status;
}

/* ---------------------------------------------------------------- dates */

typedef struct {
    kb_dates *dates;
    size_t column;
    double last[KB_YEAR_FIRST + 1];
    double *steps[KB_YEAR_FIRST + 1];
    size_t n_steps[KB_YEAR_FIRST + 1];
} date_search;

static void take_date(date_search *s, int order, const kb_moment *m)
{
    kb_dates *d = s->dates;
    double at = (double)m->seconds + m->fraction;
    if (!d->n_good[order]++) {
        d->first[order] = m->seconds;
    } else {
        double step = at - s->last[order];
        d->is_rising[order] &= step >= 0;
        d->is_falling[order] &= step <= 0;
        if (step != 0) s->steps[order][s->n_steps[order]++] = fabs(step);
    }
    s->last[order] = at;
    d->is_ordered |= m->is_ordered;
    d->has_clock |= m->has_clock;
    d->has_zone |= m->has_zone;
    d->has_long |= !m->has_date && m->seconds >= KB_DAY;
}

static void take_moment(void *user, const kb_row_form *form, size_t n, char **cells)
{
    date_search *s = user;
    kb_moment moment;
    if (s->column >= n || kb_cell_is_missing(cells[s->column], form->missing)) return;
    const char *cell = cells[s->column], *end = cell + strlen(cell);
    for (int order = 0; order <= KB_YEAR_FIRST; order++)
        if (kb_moment_parse(cell, end, order, &moment)) take_date(s, order, &moment);
    if (!s->dates->n++) snprintf(s->dates->example, sizeof s->dates->example, "%s", cell);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

kbass_status kb_sample_dates(const kb_layout *layout, const kb_row_form *form, size_t column, kb_dates *dates,
                             kbass_error *error)
{
    date_search s = {.dates = dates, .column = column};
    kbass_status status = KBASS_OK;
    *dates = (kb_dates){0};
    for (int i = 0; i <= KB_YEAR_FIRST; i++) {
        dates->is_rising[i] = dates->is_falling[i] = true;
        s.steps[i] = KB_NEW(double, layout->n + 1);
        if (!s.steps[i]) status = kb_out_of_memory(error, "the dates");
    }
    if (status == KBASS_OK) status = each_row(layout, form, take_moment, &s, error);
    for (int i = 0; status == KBASS_OK && i <= KB_YEAR_FIRST; i++) {
        if (!s.n_steps[i]) continue;
        qsort(s.steps[i], s.n_steps[i], sizeof *s.steps[i], ascending);
        dates->step[i] = s.steps[i][s.n_steps[i] / 2];
    }
    for (int i = 0; i <= KB_YEAR_FIRST; i++) kb_free(s.steps[i]);
    return status;
}
