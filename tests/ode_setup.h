/* A small setup for the tests of the engines: data made by integrating equations, the scaled record, one level of
   length scale, a first estimate of the field, the columns, and a support named by its terms. */
#ifndef KB_SCENE_H
#define KB_SCENE_H

#include <stdlib.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "forward/ode/flow.h"
#include "gp/level.h"
#include "weights/columns.h"

typedef struct {
    kbass_data *data;
    kb_dictionary *dictionary;
    kb_record *record;
    kb_level *level;
    size_t n_mesh, nodes[2];       /* {0, n_mesh} */
    double *reference;             /* n_mesh x n_variables, in the data's units */
    double *follow, *follow_slope; /* n_mesh x n_states: q and dq/ds of the same */
    kb_columns *columns;
    kb_support all, support;
} setup;

static kbass_error error;

/* `n` even samples of the equations from `initial` on [0, last]. */
static inline kbass_data *setup_sample(size_t n_equations, const char *const *equations, const double *initial,
                                       size_t n, double last)
{
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    const char *names[8];
    double *times = malloc(n * sizeof *times), *states = malloc(n * n_equations * sizeof *states);
    CHECK_OK(kbass_model_parse(n_equations, equations, NULL, &model, &error));
    for (size_t i = 0; i < n; i++) times[i] = last * (double)i / (double)(n - 1);
    CHECK_OK(kbass_model_integrate(model, 0, initial, n, times, states, &error));
    for (size_t i = 0; i < n_equations; i++) names[i] = kbass_model_state_name(model, i);
    CHECK_OK(kbass_data_create(n, n_equations, times, states, NULL, names, &data, &error));
    kbass_model_destroy(model);
    free(times);
    free(states);
    return data;
}

/* The bare field on the mesh; fills slope_squares (n_states). */
static inline void setup_regress(setup *s, double *slope_squares)
{
    const kb_record *r = s->record;
    size_t m = s->n_mesh, rank = s->level->rank;
    double *z = KB_NEW(double, rank), *work = KB_NEW(double, rank *rank);
    for (size_t i = 0; i < r->n_states; i++) {
        double *q = s->follow + i * m, *slope = s->follow_slope + i * m;
        CHECK(kb_level_regress(s->level, r, i, 1e-3, z, work));
        kb_gemv(KB_PLAIN, m, rank, 1, s->level->mesh, m, z, 0, q);
        kb_gemv(KB_PLAIN, m, rank, 1, s->level->slope, m, z, 0, slope);
        for (size_t k = 0; k < m; k++) s->reference[k + i * m] = r->mean[i] + r->sd[i] * q[k];
        slope_squares[i] = kb_dot(m, slope, slope) / (double)m;
    }
    for (size_t k = 0; k < m; k++) s->reference[k + r->n_states * m] = r->first + r->span * (double)k / (double)(m - 1);
    kb_free(z);
    kb_free(work);
}

/* Takes the data over. */
static inline void setup_open(setup *s, kbass_data *data, const kbass_settings *settings, size_t n_mesh)
{
    double slope_squares[8];
    size_t n = data->n_states;
    *s = (setup){.data = data, .n_mesh = n_mesh, .nodes = {0, n_mesh}};
    CHECK_OK(kb_dictionary_create(settings, n, (const char *const *)data->state_names, data->time_name, &s->dictionary,
                                  &error));
    CHECK_OK(kb_record_create(data, settings->noise, &s->record, &error));
    CHECK_OK(kb_level_create(s->record, KB_KERNEL_SE, 0.2, n_mesh, &s->level, &error));
    s->reference = KB_NEW(double, n_mesh *(n + 1));
    s->follow = KB_NEW(double, n_mesh *n);
    s->follow_slope = KB_NEW(double, n_mesh *n);
    setup_regress(s, slope_squares);
    CHECK_OK(kb_columns_create(s->dictionary, s->record->sd, s->record->span, n_mesh, s->reference, slope_squares,
                               &s->columns, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->all, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->support, &error));
    for (size_t i = 0; i < s->columns->n; i++) kb_support_add(&s->all, i);
}

static inline kb_follow setup_follow(const setup *s)
{
    return (kb_follow){s->n_mesh, s->nodes, s->follow, s->follow_slope};
}

static inline void setup_close(setup *s)
{
    kb_support_clear(&s->support);
    kb_support_clear(&s->all);
    kb_columns_destroy(s->columns);
    kb_level_destroy(s->level);
    kb_record_destroy(s->record);
    kb_dictionary_destroy(s->dictionary);
    kbass_data_destroy(s->data);
    kb_free(s->reference);
    kb_free(s->follow);
    kb_free(s->follow_slope);
}

static inline size_t setup_column(const setup *s, size_t equation, const char *term)
{
    const kb_columns *c = s->columns;
    for (size_t q = 0; q < c->n; q++)
        if (c->equation[q] == equation && !strcmp(kb_dictionary_name(s->dictionary, c->term[q]), term)) return q;
    fail_msg("no column %s in equation %zu", term, equation);
    return 0;
}

/* Puts the term into the setup's support with this weight in the data's units; w by column, scaled. */
static inline void setup_include(setup *s, size_t equation, const char *term, double weight, double *w)
{
    size_t column = setup_column(s, equation, term);
    kb_support_add(&s->support, column);
    w[column] = weight / s->columns->unit[column];
}

#endif
