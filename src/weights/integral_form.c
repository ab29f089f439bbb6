#include "weights/integral_form.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

enum { FEWEST_ROWS = 4 }; /* rows: of a window */

/* One run on its way through all terms. */
typedef struct {
    kb_integral_form *form;
    const kb_dictionary *dictionary;
    const kb_field_points *field;
    size_t run, first, n; /* its rows */
    size_t node, n_nodes; /* its points of the field */
    double *values, *sum; /* n_nodes: a term, its integral */
    double *work;
} run_sums;

void kb_integral_form_destroy(kb_integral_form *f)
{
    if (!f) return;
    kb_free(f->sums);
    kb_free(f->states);
    kb_free(f->X);
    kb_free(f->H);
    kb_free(f);
}

/* Where a row lies among the nodes: its cell, and the share of the cell before it. */
static size_t cell_of(const run_sums *s, size_t row, double *share)
{
    const kb_record *r = s->form->record;
    double last = (double)(s->n_nodes - 1), at = r->time[s->first + row] / r->duration[s->run] * last;
    at = fmin(fmax(at, 0), last - 1e-9);
    *share = at - floor(at);
    return (size_t)at;
}

/* int P / scale from the run's first node to each row, by the trapezoid rule. */
static void sum_term(run_sums *s, size_t term, double scale)
{
    kb_integral_form *form = s->form;
    double h = form->record->duration[s->run] / (double)(s->n_nodes - 1), *f = s->values, share;
    kb_dictionary_values(s->dictionary, 1, &term, s->n_nodes, s->field->points + s->node, s->field->n, f, s->work);
    s->sum[0] = 0;
    for (size_t k = 1; k < s->n_nodes; k++) s->sum[k] = s->sum[k - 1] + 0.5 * h * (f[k - 1] + f[k]);
    for (size_t row = 0; row < s->n; row++) {
        size_t k = cell_of(s, row, &share);
        double part = h * share * (f[k] + 0.5 * share * (f[k + 1] - f[k]));
        form->sums[s->first + row + term * form->n_rows] = (s->sum[k] + part) / scale;
    }
}

static void take_state(run_sums *s, size_t state)
{
    const kb_record *r = s->form->record;
    const double *q = s->field->values + s->node + state * s->field->n;
    double share;
    for (size_t row = 0; row < s->n; row++) {
        size_t at = s->first + row + state * r->n_rows, k = cell_of(s, row, &share);
        s->form->states[at] = r->measured[at] > 0 ? r->value[at] : (1 - share) * q[k] + share * q[k + 1];
    }
}

static kbass_status sum_run(kb_integral_form *form, const kb_dictionary *dictionary, const kb_field_points *field,
                            const double *scale, size_t run, kbass_error *error)
{
    size_t first = form->record->run_start[run], node = field->start[run];
    run_sums s = {form,  dictionary,
                  field, run,
                  first, form->record->run_start[run + 1] - first,
                  node,  field->start[run + 1] - node,
                  NULL,  NULL,
                  NULL};
    s.values = KB_NEW(double, s.n_nodes);
    s.sum = KB_NEW(double, s.n_nodes);
    s.work = KB_NEW(double, kb_dictionary_work(dictionary, s.n_nodes));
    bool complete = s.values && s.sum && s.work;
    for (size_t term = 0; complete && term < form->n_terms; term++)
        if (scale[term] > 0) sum_term(&s, term, scale[term]);
    for (size_t i = 0; complete && i < form->n_states; i++) take_state(&s, i);
    kb_free(s.values);
    kb_free(s.sum);
    kb_free(s.work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the integral form");
}

/* Scales of the terms that play a role; 0: none. */
static void list_scales(const kb_columns *c, double *scale)
{
    for (size_t i = 0; i < c->n_fixed; i++) scale[c->fixed_term[i]] = 1;
    for (size_t i = 0; i < c->n; i++) scale[c->term[i]] = c->scale[i];
}

static void take_fixed(kb_integral_form *f, const kb_columns *c, const double *scale)
{
    for (size_t i = 0; i < c->n_fixed; i++) {
        size_t term = c->fixed_term[i];
        kb_axpy(f->n_rows, -c->fixed_weight[i] * scale[term], f->sums + term * f->n_rows,
                f->states + c->fixed_equation[i] * f->n_rows);
    }
}

kbass_status kb_integral_form_create(const kb_record *record, const kb_dictionary *dictionary,
                                     const kb_columns *columns, const kb_field_points *field, kb_integral_form **out,
                                     kbass_error *error)
{
    size_t rows = record->n_rows, terms = dictionary->n_terms, states = record->n_states;
    kb_integral_form *f = KB_NEW(kb_integral_form, 1);
    double *scale = KB_NEW(double, terms);
    if (f) {
        *f = (kb_integral_form){.record = record, .n_rows = rows, .n_terms = terms, .n_states = states};
        f->sums = KB_NEW(double, rows *terms);
        f->states = KB_NEW(double, rows *states);
        f->X = KB_NEW(double, rows *terms);
        f->H = KB_NEW(double, rows *states);
    }
    bool complete = f && scale && f->sums && f->states && f->X && f->H;
    kbass_status status = complete ? KBASS_OK : kb_out_of_memory(error, "the integral form");
    if (complete) list_scales(columns, scale);
    for (size_t run = 0; status == KBASS_OK && run < record->n_runs; run++)
        status = sum_run(f, dictionary, field, scale, run, error);
    if (status == KBASS_OK) {
        take_fixed(f, columns, scale);
        *out = f;
    } else kb_integral_form_destroy(f);
    kb_free(scale);
    return status;
}

/* Parts of a column less their means. */
static void centre(size_t n, size_t n_windows, const double *from, double *to)
{
    for (size_t window = 0; window < n_windows; window++) {
        size_t first = window * n / n_windows, end = (window + 1) * n / n_windows;
        double mean = 0;
        for (size_t i = first; i < end; i++) mean += from[i] / (double)(end - first);
        for (size_t i = first; i < end; i++) to[i] = from[i] - mean;
    }
}

void kb_integral_form_divide(kb_integral_form *f, size_t n_windows)
{
    f->n_counted = 0;
    for (size_t run = 0; run < f->record->n_runs; run++) {
        size_t first = f->record->run_start[run], n = f->record->run_start[run + 1] - first, most = n / FEWEST_ROWS;
        size_t windows = most < 1 ? 1 : n_windows < most ? n_windows : most;
        for (size_t j = 0; j < f->n_terms; j++)
            centre(n, windows, f->sums + first + j * f->n_rows, f->X + first + j * f->n_rows);
        for (size_t i = 0; i < f->n_states; i++)
            centre(n, windows, f->states + first + i * f->n_rows, f->H + first + i * f->n_rows);
        f->n_counted += (double)(n - windows);
    }
}
