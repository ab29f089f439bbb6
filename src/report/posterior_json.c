/* The posterior as JSON: models, windows, and for fields the grid that their starts are modes of. */
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
} scope;

/* Row i of the covariance's lower triangle. */
static json_t *row(const void *context, size_t i)
{
    const scope *s = context;
    return numbers(i + 1, s->stretch->covariance + i * (s->belief->n_terms + s->posterior->n_start));
}

static json_t *window(const void *context, size_t i)
{
    scope s = *(const scope *)context;
    s.stretch = &s.belief->windows[i];
    return json_pack("{s:f, s:f, s:o, s:o}", "first", s.stretch->first, "last", s.stretch->last, "start",
                     numbers(s.posterior->n_start, s.stretch->start), "covariance",
                     list(s.belief->n_terms + s.posterior->n_start, row, &s));
}

static json_t *term(const void *context, size_t i)
{
    const scope *s = context;
    return json_pack("{s:s, s:s, s:f}", "state", s->posterior->state_names[s->belief->equation[i]], "term",
                     s->belief->term[i], "weight", s->belief->weight[i]);
}

static json_t *model(const void *context, size_t i)
{
    scope s = *(const scope *)context;
    s.belief = &s.posterior->models[i];
    return json_pack("{s:f, s:o, s:o, s:o}", "log_odds", s.belief->log_odds, "noise",
                     numbers(s.posterior->n_states, s.belief->noise), "terms", list(s.belief->n_terms, term, &s),
                     "windows", list(s.belief->n_windows, window, &s));
}

static json_t *grid(const kbass_posterior *p)
{
    if (p->n_axes == 1) return json_null();
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

json_t *kb_report_posterior(const kbass_posterior *p)
{
    scope s = {.posterior = p};
    json_t *models = list(p->n_models, model, &s);
    json_t *whole = json_pack("{s:b, s:o, s:o}", "relative_noise", p->is_relative, "grid", grid(p), "models", models);
    json_t *run = whole && p->run ? run_of(p) : NULL;
    if (p->run && json_object_update(whole, run) != 0) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(run);
    return whole;
}
