#include "posterior/ode_solution.h"

#include <math.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/status.h"

/* Trajectory of one window at `n` scaled times (the first being the window's start), with its band, in data's units. */
static bool evaluate_window(kb_shooter *s, const double *V, size_t size, const double *start, size_t n,
                            const double *times, double *states, double *tangents, double *mean, double *sd)
{
    const kb_record *record = s->flow->record;
    double *row = s->gradient; /* size */
    if (!kb_flow_integrate(s->flow, n, times, start, states, tangents)) return false;
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < s->likelihood.n_start; i++) {
            const double *tangent = tangents + (k * s->likelihood.n_start + i) * size;
            kb_gemv(KB_PLAIN, size, size, 1, V, size, tangent, 0, row);
            double variance = kb_dot(size, row, tangent);
            mean[(k - 1) * s->likelihood.n_start + i] =
                record->mean[i] + record->sd[i] * states[k * s->likelihood.n_start + i];
            sd[(k - 1) * s->likelihood.n_start + i] = record->sd[i] * sqrt(fmax(variance, 0));
        }
    return true;
}

static bool evaluate_all(kb_shooter *s, const kb_fit *fit, const double *covariances, size_t run, size_t n_times,
                         const double *times, double *scaled, double *states, double *tangents, double *mean,
                         double *sd)
{
    const kb_record *record = s->flow->record;
    size_t size = fit->support.n + s->likelihood.n_start, done = 0;
    size_t each = s->likelihood.windows->n / record->n_runs, first = run * each;
    kb_flow_model(s->flow, &fit->support, fit->w, &fit->support);
    s->flow->run = run;
    for (size_t window = first; window < first + each; window++) {
        bool last = window + 1 == first + each;
        double end = record->time[s->likelihood.windows->last[window]];
        size_t n = 1;
        scaled[0] = record->time[s->likelihood.windows->first[window]];
        for (; done + n - 1 < n_times; n++) {
            scaled[n] = (times[done + n - 1] - record->origin[run]) / record->span;
            if (!last && scaled[n] > end) break;
        }
        if (n > 1 && !evaluate_window(s, covariances + window * size * size, size,
                                      fit->start + window * s->likelihood.n_start, n, scaled, states, tangents,
                                      mean + done * s->likelihood.n_start, sd + done * s->likelihood.n_start))
            return false;
        done += n - 1;
    }
    return done == n_times;
}

bool kb_states_covariances(kb_shooter *s, const kb_fit *fit, double *covariances)
{
    size_t k = fit->support.n, n = s->likelihood.n_start, size = k + n;
    const kb_columns *c = s->likelihood.columns;
    if (!kb_shooter_covariances(s, fit, covariances)) return false;
    for (size_t i = 0; i < size; i++) {
        double freedom = kb_shooter_freedom(s, fit, i < k ? c->equation[fit->support.column[i]] : i - k);
        double factor = kb_student_width(freedom);
        for (size_t window = 0; window < s->likelihood.windows->n; window++) {
            double *V = covariances + window * size * size;
            for (size_t j = 0; j < size; j++) V[i + j * size] *= factor, V[j + i * size] *= factor;
        }
    }
    return true;
}

kbass_status kb_ode_solution(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                             const kb_windows *windows, const kb_fit *fit, const kb_follow *follow, size_t run,
                             size_t n_times, const double *times, double *mean, double *sd, kbass_error *error)
{
    kb_shooter *s = NULL;
    size_t k = fit->support.n, n = record->n_states, size = k + n;
    double *covariances = KB_NEW(double, windows->n *size *size), *scaled = KB_NEW(double, n_times + 1);
    double *states = KB_NEW(double, (n_times + 1) * n), *tangents = KB_NEW(double, (n_times + 1) * n * size);
    kbass_status status = kb_shooter_create(record, dictionary, columns, windows->n, k, &s, error);
    if (status == KBASS_OK && (!covariances || !scaled || !states || !tangents))
        status = kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        s->likelihood.windows = windows;
        s->flow->follow = *follow;
        if (!kb_states_covariances(s, fit, covariances) ||
            !evaluate_all(s, fit, covariances, run, n_times, times, scaled, states, tangents, mean, sd))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    }
    kb_free(covariances);
    kb_free(scaled);
    kb_free(states);
    kb_free(tangents);
    kb_shooter_destroy(s);
    return status;
}
