/* The posterior as JSON: models, windows, and for fields the grid that their starts are modes of. */
#include <string.h>

#include "report/json.h"

/* NULL when memory ran out, and so is what contains it: json_pack sees to that. */
static json_t *numbers(size_t n, const double *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_real(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *list(size_t n, json_t *(*item)(const void *context, size_t index), const void *context)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, item(context, i)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

typedef struct {
    const kbass_posterior *posterior;
    const kb_belief *belief;
    const kb_stretch *stretch;
    size_t first_row; /* of the stretch's covariance that is written */
} scope;

/* Row i of those of the covariance's lower triangle. */
static json_t *row(const void *context, size_t i)
{
    const scope *s = context;
    size_t at = s->first_row + i;
    return numbers(at + 1, s->stretch->covariance + at * (s->belief->n_terms + s->posterior->n_start));
}

/* Has a window the covariance of weights that the first one has? */
static bool is_same_block(const kbass_posterior *p, const kb_belief *b, size_t window)
{
    size_t k = b->n_terms, size = k + p->n_start;
    const double *first = b->windows[0].covariance, *own = b->windows[window].covariance;
    for (size_t j = 0; j < k; j++)
        if (memcmp(own + j * size, first + j * size, k * sizeof *own) != 0) return false;
    return true;
}

/* The weights' block stands in the first window alone. */
static json_t *window(const void *context, size_t i)
{
    scope s = *(const scope *)context;
    s.stretch = &s.belief->windows[i];
    s.first_row = i > 0 && is_same_block(s.posterior, s.belief, i) ? s.belief->n_terms : 0;
    return json_pack("{s:f, s:f, s:o, s:o}", "first", s.stretch->first, "last", s.stretch->last, "start",
                     numbers(s.posterior->n_start, s.stretch->start), "covariance",
                     list(s.belief->n_terms + s.posterior->n_start - s.first_row, row, &s));
}

static json_t *term(const void *context, size_t i)
{
    const scope *s = context;
    const kb_belief *b = s->belief;
    if (i >= b->n_terms - b->n_constant_terms)
        return json_pack("{s:s, s:s, s:f, s:b}", "state", s->posterior->state_names[b->equation[i]], "term", b->term[i],
                         "weight", b->weight[i], "of_constant", 1);
    return json_pack("{s:s, s:s, s:f}", "state", s->posterior->state_names[s->belief->equation[i]], "term",
                     s->belief->term[i], "weight", s->belief->weight[i]);
}

/* Row i of the factor of weights and last row. */
static json_t *factor_row(const void *context, size_t i)
{
    const scope *s = context;
    return numbers(s->belief->rank, s->belief->factor + i * s->belief->rank);
}

/* Of several axes: the last row, and the predictions on the mesh. */
static json_t *row_of(const scope *s)
{
    const kb_belief *b = s->belief;
    size_t n = s->posterior->row.n_points * s->posterior->n_states, last = s->posterior->row.n_last;
    if (!kb_posterior_has_row(s->posterior)) return json_object();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "last", numbers(last, b->last), "factor",
                     list(b->n_terms + last, factor_row, s), "predicted", numbers(n, b->predicted), "variance",
                     numbers(n, b->predicted + n), "variance_given_weights", numbers(n, b->predicted + 2 * n));
}

static json_t *model(const void *context, size_t i)
{
    scope s = *(const scope *)context;
    s.belief = &s.posterior->models[i];
    json_t *row = row_of(&s);
    json_t *whole = json_pack("{s:f, s:o, s:o, s:o}", "log_odds", s.belief->log_odds, "noise",
                              numbers(s.posterior->n_states, s.belief->noise), "terms",
                              list(s.belief->n_terms, term, &s), "windows", list(s.belief->n_windows, window, &s));
    if (!row || json_object_update(whole, row) != 0) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(row);
    return whole;
}

static json_t *counts(size_t n, const size_t *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_integer((json_int_t)values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *flags(size_t n, const bool *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_boolean(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *row_grid(const kbass_posterior *p)
{
    const kb_last_row *r = &p->row;
    size_t space = p->n_axes - 1;
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o}", "time_order", r->time_order, "nodes",
                     counts(space, r->n_nodes), "closed", flags(space, r->is_closed), "low", numbers(space, r->low),
                     "high", numbers(space, r->high), "rates", r->has_rates, "mesh", counts(p->n_axes, r->n_mesh));
}

static json_t *grid(const kbass_posterior *p)
{
    if (p->n_axes == 1) return json_null();
    if (kb_posterior_has_row(p)) return row_grid(p);
    const kb_profile *f = &p->profile;
    json_t *profile = json_pack("{s:f, s:f, s:f, s:f, s:I}", "period", f->period, "length", f->length, "cutoff",
                                f->cutoff, "amplitude", f->amplitude, "modes", (json_int_t)f->n_modes);
    return json_pack("{s:I, s:I, s:b, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "nodes", (json_int_t)p->line.n_nodes,
                     "steps", (json_int_t)p->line.steps, "periodic", p->line.periodic, "period", p->line.period,
                     "spacing", numbers(2, p->spacing), "mean", numbers(p->n_states, p->mean), "sd",
                     numbers(p->n_states, p->sd), "bound", numbers(p->n_states, p->bound), "boundary",
                     numbers(p->n_boundary, p->boundary), "profile", profile);
}

/* Which of several runs it is of: what was measured there, and its scaled coordinates. */
static json_t *run_of(const kbass_posterior *p)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "run", p->run, "first", numbers(p->n_axes, p->first), "last",
                     numbers(p->n_axes, p->last), "origin", numbers(p->n_axes, p->origin), "span",
                     numbers(p->n_axes, p->span));
}

/* What drives the states: the points of its curve. */
static json_t *input(const void *context, size_t i)
{
    const kb_input_curves *in = &((const kbass_posterior *)context)->inputs;
    const kb_curve *c = &in->curves[i];
    return json_pack("{s:s, s:b, s:f, s:o, s:o}", "name", in->names[i], "held", c->is_held, "delay", c->delay, "times",
                     numbers(c->n, c->time), "values", numbers(c->n, c->value));
}

/* Of several axes: the rows that a simulation starts from. */
static json_t *start(const kbass_posterior *p)
{
    size_t size = p->row.n_last / (p->row.has_rates ? 2 : 1);
    return json_pack("{s:o, s:o, s:o}", "times", numbers(p->start.n, p->start.times), "values",
                     numbers(p->start.n * size, p->start.values), "rates",
                     numbers(p->start.rates ? size : 0, p->start.rates));
}

json_t *kb_report_posterior(const kbass_posterior *p)
{
    scope s = {.posterior = p};
    json_t *models = list(p->n_models, model, &s);
    json_t *whole = json_pack("{s:b, s:o, s:o, s:o}", "relative_noise", p->is_relative, "grid", grid(p), "inputs",
                              list(p->inputs.n, input, p), "models", models);
    if (whole && p->start.n && json_object_set_new(whole, "start", start(p)) != 0) {
        json_decref(whole);
        return NULL;
    }
    json_t *run = whole && p->run ? run_of(p) : NULL;
    if (p->run && json_object_update(whole, run) != 0) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(run);
    return whole;
}
