#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "em/states.h"
#include "propose/ode/refine.h"

typedef struct {
    const kb_ode_problem *problem;
    kb_annealer *worker;
    size_t run;
    double *features, *work; /* of one point: max_rank; n_mesh + max_rank */
} query;

/* The run's patch that has a time of the data, and the time within it, a share. */
static size_t find_patch(const query *q, double time, double *within)
{
    const kb_ode_problem *p = q->problem;
    const kb_record *record = p->record;
    size_t n = p->run_patch[q->run + 1] - p->run_patch[q->run];
    double scaled = (time - record->origin[q->run]) / record->span / record->duration[q->run] * (double)n;
    size_t patch = scaled > 0 ? (size_t)scaled : 0;
    if (patch >= n) patch = n - 1;
    *within = scaled - (double)patch;
    return p->run_patch[q->run] + patch;
}

/* phi' (Hzz^{-1} + Hzz^{-1} Hzw (G + 1/S)^{-1} Hwz Hzz^{-1}) phi, after kb_ode_fields_factorise */
static double variance_of(const query *q, kb_ode_field *f, size_t state)
{
    size_t r = f->level->rank, nz = f->nz, k = f->k;
    double *a = f->step, *c = f->step + nz;
    memset(a, 0, nz * sizeof *a);
    memcpy(a + state * r, q->features, r * sizeof *a);
    kb_lower_solve(nz, 1, f->Hzz, nz, a, nz);
    kb_gemv(KB_TRANSPOSED, nz, k, 1, f->Hzw, nz, a, 0, c);
    kb_lower_solve(k, 1, q->worker->fields[0]->G, k, c, k);
    return kb_dot(nz, a, a) + kb_dot(k, c, c);
}

static void look(const query *q, double time, double *mean, double *sd)
{
    const kb_record *record = q->problem->record;
    double within = 0;
    kb_ode_field *f = q->worker->fields[find_patch(q, time, &within)];
    size_t r = f->level->rank;
    kb_basis_features(f->level->basis, 1, &within, 0, q->features, q->work);
    for (size_t i = 0; i < record->n_states; i++) {
        bool is_input = q->problem->dictionary->is_input[i];
        double value = is_input
                           ? kb_record_input(record, q->run, i, (time - record->origin[q->run]) / record->span, NULL)
                           : kb_dot(r, q->features, f->z + i * r);
        mean[i] = record->mean[i] + record->sd[i] * value;
        if (sd) sd[i] = is_input ? 0 : record->sd[i] * sqrt(variance_of(q, f, i));
    }
}

kbass_status kb_em_states_solution(const kb_ode_problem *p, const kb_ode_state *state, size_t run, size_t n,
                                   const double *times, double *mean, double *sd, kbass_error *error)
{
    size_t states = p->record->n_states;
    query q = {p, NULL, run, KB_NEW(double, p->max_rank), KB_NEW(double, p->n_mesh + p->max_rank)};
    kbass_status status =
        q.features && q.work ? kb_annealer_create(p, &q.worker, error) : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        kb_annealer_set_level(p, q.worker, state->level);
        kb_ode_state_load(state, q.worker->n_fields, q.worker->fields);
        if (!kb_ode_fields_factorise(q.worker->n_fields, q.worker->fields, &state->support))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the solution's covariance cannot be had");
    }
    for (size_t k = 0; status == KBASS_OK && k < n; k++)
        look(&q, times[k], mean + k * states, sd ? sd + k * states : NULL);
    kb_annealer_destroy(q.worker);
    kb_free(q.features);
    kb_free(q.work);
    return status;
}
