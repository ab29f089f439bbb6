#include "posterior/posterior.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"

static void free_texts(size_t n, char **texts)
{
    for (size_t i = 0; texts && i < n; i++) kb_free(texts[i]);
    kb_free(texts);
}

void kb_belief_clear(kb_belief *b)
{
    for (size_t i = 0; b->windows && i < b->n_windows; i++) {
        kb_free(b->windows[i].start);
        kb_free(b->windows[i].covariance);
    }
    free_texts(b->n_terms, b->term);
    kb_free(b->equation);
    kb_free(b->weight);
    kb_free(b->noise);
    kb_free(b->windows);
    kb_free(b->last);
    kb_free(b->factor);
    kb_free(b->predicted);
    *b = (kb_belief){0};
}

kbass_status kb_belief_allocate(const kbass_posterior *p, size_t n_terms, size_t n_windows, kb_belief *b,
                                kbass_error *error)
{
    size_t size = n_terms + p->n_start;
    *b = (kb_belief){.n_terms = n_terms, .n_windows = n_windows, .last = NULL};
    b->equation = KB_NEW(size_t, n_terms);
    b->term = KB_NEW(char *, n_terms);
    b->weight = KB_NEW(double, n_terms);
    b->noise = KB_NEW(double, p->n_states);
    b->windows = KB_NEW(kb_stretch, n_windows);
    bool complete = b->equation && b->term && b->weight && b->noise && b->windows;
    for (size_t i = 0; complete && i < n_windows; i++) {
        b->windows[i].start = KB_NEW(double, p->n_start);
        b->windows[i].covariance = KB_NEW(double, size *size);
        complete = b->windows[i].start && b->windows[i].covariance;
    }
    if (complete) return KBASS_OK;
    kb_belief_clear(b);
    return kb_out_of_memory(error, "the posterior");
}

kbass_status kb_belief_name_terms(const kb_frame *f, const kb_fit *fit, kb_belief *b, kbass_error *error)
{
    const kb_columns *c = f->columns;
    bool complete = true;
    for (size_t i = 0; i < b->n_terms; i++) {
        bool is_fixed = i < c->n_fixed;
        size_t column = is_fixed ? 0 : fit->support.column[i - c->n_fixed];
        b->equation[i] = is_fixed ? c->fixed_equation[i] : c->equation[column];
        b->term[i] = kb_strdup(kb_dictionary_name(f->dictionary, is_fixed ? c->fixed_term[i] : c->term[column]));
        double unit = is_fixed ? f->sd[b->equation[i]] / pow(f->span, f->dictionary->time_order) : c->unit[column];
        b->weight[i] = unit * (is_fixed ? c->fixed_weight[i] : fit->w[column]);
        complete = b->term[i] && complete;
    }
    return complete ? KBASS_OK : kb_out_of_memory(error, "the posterior");
}

kbass_status kb_belief_allocate_row(const kbass_posterior *p, size_t rank, kb_belief *b, kbass_error *error)
{
    b->rank = rank;
    b->last = KB_NEW(double, p->row.n_last);
    b->factor = KB_NEW(double, (b->n_terms + p->row.n_last) * rank + 1);
    b->predicted = KB_NEW(double, 3 * p->row.n_points * p->n_states);
    return b->last && b->factor && b->predicted ? KBASS_OK : kb_out_of_memory(error, "the posterior");
}

void kbass_posterior_destroy(kbass_posterior *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->n_models; i++) kb_belief_clear(&p->models[i]);
    free_texts(p->n_states, p->state_names);
    free_texts(p->n_axes, p->axis_names);
    kb_free(p->run);
    kb_free(p->units);
    kb_free(p->models);
    kb_free(p->mean);
    kb_free(p->sd);
    kb_free(p->bound);
    kb_free(p->boundary);
    kb_input_curves_clear(&p->inputs);
    kb_free(p->start.times);
    kb_free(p->start.values);
    kb_free(p->start.rates);
    kb_free(p);
}

static bool copy_names(const kbass_data *data, kbass_posterior *p)
{
    bool complete = true;
    for (size_t i = 0; i < p->n_states; i++)
        complete = (p->state_names[i] = kb_strdup(data->state_names[i])) && complete;
    for (size_t a = 0; a < p->n_axes; a++) complete = (p->axis_names[a] = kb_strdup(data->axis_names[a])) && complete;
    return complete;
}

static void copy_spans(const kbass_data *data, kbass_posterior *p)
{
    for (size_t a = 0; a < p->n_axes; a++) {
        p->first[a] = INFINITY;
        p->last[a] = -INFINITY;
        for (size_t row = 0; row < data->n_rows; row++) {
            p->first[a] = fmin(p->first[a], kb_data_coordinate(data, row, a));
            p->last[a] = fmax(p->last[a], kb_data_coordinate(data, row, a));
        }
        p->origin[a] = p->first[a];
        p->span[a] = p->last[a] - p->first[a];
    }
}

kbass_status kb_posterior_create(const kbass_data *data, size_t run, size_t n_start, size_t most_models,
                                 kbass_posterior **out, kbass_error *error)
{
    bool is_named = kbass_data_runs(data) > 1;
    kbass_data own = kb_data_run(data, run);
    kbass_posterior *p = KB_NEW(kbass_posterior, 1);
    if (!p) return kb_out_of_memory(error, "the posterior");
    p->n_states = data->n_states;
    p->n_axes = data->n_axes;
    p->n_start = n_start;
    snprintf(p->sha256, sizeof p->sha256, "%s", data->sha256);
    p->state_names = KB_NEW(char *, p->n_states);
    p->axis_names = KB_NEW(char *, p->n_axes);
    p->models = KB_NEW(kb_belief, most_models);
    p->mean = KB_NEW(double, p->n_states);
    p->sd = KB_NEW(double, p->n_states);
    p->bound = KB_NEW(double, p->n_states);
    bool complete = p->state_names && p->axis_names && p->models && p->mean && p->sd && p->bound && copy_names(data, p);
    if (is_named) complete = (p->run = kb_strdup(data->run_names[run])) && complete;
    if (!complete) {
        kbass_posterior_destroy(p);
        return kb_out_of_memory(error, "the posterior");
    }
    copy_spans(&own, p);
    *out = p;
    return KBASS_OK;
}
