/* After every discovery of the test programs an independent look at its answer: they are linked with
 * --wrap=kbass_discovery_run, so that no test has to ask.
 *
 * Probabilities are probabilities and add up; intervals have ends in order. Of states that one window follows, the
 * equations as they are told, integrated by CVODES from the state that is told, pass where the solution does; and the
 * standard deviations of clear weights are those of the curvature, whose Jacobian is made by differences of such
 * integrations.
 */
#include <stdlib.h>

#include "base/linalg.h"
#include "check.h"
#include "discovery/discovery.h"

enum { MOST_STATES = 6, MOST_ROWS = 400, MOST_PARAMETERS = 14, TEXT = 4000 };

typedef struct {
    const kbass_discovery *d;
    const kbass_result *r;
    size_t n, k, rows;            /* states, weights, rows of the first run */
    const double *times, *values; /* of that run */
    double parameters[MOST_PARAMETERS + MOST_STATES];
} answer;

/* ---------------------------------------------------------------- numbers */

static void check_probabilities(const kbass_result *r)
{
    double sum = isnan(r->probability) ? 0 : r->probability;
    for (size_t i = 0; i < r->n_runners_up; i++) sum += r->runners_up[i].probability;
    if (!(sum >= 0 && sum <= 1 + 1e-9)) fail_msg("verifier: models have the probability %g in all", sum);
    for (size_t e = 0; e < r->n_equations; e++)
        for (size_t i = 0; i < r->equations[e].n_terms; i++) {
            const kbass_term *t = &r->equations[e].terms[i];
            if (isfinite(t->probability) && !(t->probability >= 0 && t->probability <= 1 + 1e-9))
                fail_msg("verifier: %s has the probability %g", t->term, t->probability);
            if (t->selected && !isfinite(t->weight)) fail_msg("verifier: the weight of %s is %g", t->term, t->weight);
            if (t->selected && isfinite(t->low) && !(t->low <= t->high))
                fail_msg("verifier: the interval of %s is %g to %g", t->term, t->low, t->high);
        }
}

/* ---------------------------------------------------------------- the equations, integrated */

/* The solution at the rows from weights and start; false where it cannot be had. */
static bool integrate(const answer *a, const double *parameters, double *states)
{
    char text[MOST_STATES][TEXT];
    const char *lines[MOST_STATES];
    kbass_model *model = NULL;
    size_t at = 0;
    for (size_t e = 0; e < a->n; e++) {
        const kbass_equation *equation = &a->r->equations[e];
        int used = snprintf(text[e], TEXT, "%s = 0", equation->lhs);
        for (size_t i = 0; i < equation->n_terms && used < TEXT - 100; i++)
            if (equation->terms[i].selected)
                used += snprintf(text[e] + used, (size_t)(TEXT - used), " + (%.17g)*(%s)", parameters[at++],
                                 equation->terms[i].term);
        if (used >= TEXT - 100) return false;
        lines[e] = text[e];
    }
    if (kbass_model_parse(a->n, lines, NULL, &model, NULL) != KBASS_OK)
        return false; /* inputs: no states of the model */
    bool is_done =
        kbass_model_integrate(model, a->times[0], parameters + a->k, a->rows, a->times, states, NULL) == KBASS_OK;
    kbass_model_destroy(model);
    return is_done;
}

static double spread_of(const answer *a, size_t state)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < a->rows; i++) {
        double v = a->values[i * a->n + state];
        if (isnan(v)) continue;
        sum += v, squares += v * v, n++;
    }
    return n > 1 ? sqrt(fmax(squares / n - sum / n * sum / n, 0)) : NAN;
}

/* Two integrators at 1e-8 or so; what a record amplifies is at most some 1e4. */
static void check_solution(const answer *a, const double *states, const double *solution)
{
    for (size_t j = 0; j < a->n; j++) {
        double scale = spread_of(a, j);
        for (size_t i = 0; scale > 0 && i < a->rows; i++) {
            double difference = states[i * a->n + j] - solution[i * a->n + j];
            if (!(fabs(difference) < 1e-3 * scale))
                fail_msg("verifier: %s at row %zu is %.10g, its equations give %.10g", a->r->equations[j].lhs, i,
                         solution[i * a->n + j], states[i * a->n + j]);
        }
    }
}

/* ---------------------------------------------------------------- the curvature, by differences */

/* H += (dq/dp)' (dq/dp) / v over the measured values; P x P */
static bool add_curvature(const answer *a, double *H)
{
    size_t P = a->k + a->n, values = a->rows * a->n;
    double *J = calloc(values * P, sizeof *J), *up = calloc(values, sizeof *up), *down = calloc(values, sizeof *down);
    bool is_done = J && up && down;
    for (size_t p = 0; is_done && p < P; p++) {
        double moved[MOST_PARAMETERS + MOST_STATES], h = 1e-4 * fmax(fabs(a->parameters[p]), 1e-2);
        memcpy(moved, a->parameters, sizeof moved);
        moved[p] = a->parameters[p] + h;
        is_done = integrate(a, moved, up);
        moved[p] = a->parameters[p] - h;
        is_done = is_done && integrate(a, moved, down);
        for (size_t i = 0; is_done && i < values; i++) {
            double sd = a->r->noise[i % a->n];
            J[i + p * values] = isnan(a->values[i]) || !(sd > 0) ? 0 : (up[i] - down[i]) / (2 * h * sd);
        }
    }
    if (is_done) kb_gram(P, values, 1, J, values, 0, H, P);
    free(J), free(up), free(down);
    return is_done;
}

/* A clear weight's own standard deviation: what the data say, since the priors are wide. */
static void check_deviations(const answer *a)
{
    size_t P = a->k + a->n, at = 0;
    double H[(MOST_PARAMETERS + MOST_STATES) * (MOST_PARAMETERS + MOST_STATES)];
    if (!add_curvature(a, H) || !kb_cholesky(P, H, P) || !kb_cholesky_inverse(P, H, P)) return;
    for (size_t e = 0; e < a->n; e++)
        for (size_t i = 0; i < a->r->equations[e].n_terms; i++) {
            const kbass_term *t = &a->r->equations[e].terms[i];
            if (!t->selected) continue;
            double sd = sqrt(H[at + at * P]);
            at++;
            if (!(t->own_sd > 0) || !(fabs(t->weight) > 10 * sd)) continue;
            if (!(t->own_sd < 1.1 * sd && t->own_sd > sd / 1.1)) /* priors and differences: 1 % was seen */
                fail_msg("verifier: the weight of %s in %s has the sd %.6g, differences give %.6g", t->term,
                         a->r->equations[e].lhs, t->own_sd, sd);
        }
}

/* ---------------------------------------------------------------- which answers */

static bool is_followed(const kbass_discovery *d, const kbass_result *r)
{
    static const char engine[] = "the integrated equation";
    return d->ode && r->engine && !strncmp(r->engine, engine, strlen(engine)) && r->n_windows == 1 &&
           r->n_equations == r->n_states && r->n_states <= MOST_STATES && r->initial;
}

static bool take(const kbass_discovery *d, const kbass_result *r, answer *a)
{
    const kbass_data *data = d->data;
    size_t end = data->run_start ? data->run_start[1] : data->n_rows;
    *a = (answer){.d = d, .r = r, .n = r->n_states, .rows = end, .times = data->times, .values = data->values};
    if (end > MOST_ROWS || data->n_states != r->n_states) return false;
    for (size_t e = 0; e < r->n_equations; e++) {
        if (r->equations[e].known) return false;
        if (strncmp(r->equations[e].lhs, data->state_names[e], strlen(data->state_names[e]))) return false;
        for (size_t i = 0; i < r->equations[e].n_terms; i++)
            if (r->equations[e].terms[i].selected && a->k < MOST_PARAMETERS)
                a->parameters[a->k++] = r->equations[e].terms[i].weight;
    }
    if (a->k == MOST_PARAMETERS) return false;
    for (size_t j = 0; j < a->n; j++) {
        if (!isfinite(r->initial[j])) return false;
        a->parameters[a->k + j] = r->initial[j];
    }
    return true;
}

static bool is_plain(const kbass_discovery *d)
{
    const kbass_settings *s = &d->settings;
    return d->data->n_runs <= 1 && !d->data->sigma && s->noise_model == KB_NOISE_ADDITIVE &&
           !d->dictionary->n_constants && !(s->constraint && *s->constraint);
}

static void verify(const kbass_discovery *d)
{
    const kbass_result *r = kbass_discovery_result(d);
    answer a;
    if (!r) return;
    check_probabilities(r);
    if (!is_followed(d, r) || !take(d, r, &a)) return;
    double *states = calloc(a.rows * a.n, sizeof *states), *solution = calloc(a.rows * a.n, sizeof *solution);
    if (states && solution && integrate(&a, a.parameters, states) &&
        kbass_discovery_solution(d, 0, a.rows, a.times, NULL, solution, NULL, NULL) == KBASS_OK) {
        check_solution(&a, states, solution);
        if (is_plain(d)) check_deviations(&a);
    }
    free(states);
    free(solution);
}

kbass_status __real_kbass_discovery_run(kbass_discovery *, kbass_progress_callback, void *, kbass_error *);
kbass_status __wrap_kbass_discovery_run(kbass_discovery *, kbass_progress_callback, void *, kbass_error *);

kbass_status __wrap_kbass_discovery_run(kbass_discovery *d, kbass_progress_callback progress, void *user,
                                        kbass_error *error)
{
    kbass_status status = __real_kbass_discovery_run(d, progress, user, error);
    if (status == KBASS_OK) verify(d);
    return status;
}
