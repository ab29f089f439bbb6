#include "forecast/baseline.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "forecast/spread.h"

enum { TIMES = 101, FIELD_TIMES = 41, PLACES = 17, MOST_KNOWN = 400 };
static const double longest = 3; /* of the record: length scales of what hardly changes in it */

/* The Gaussian process of one state: known values, and their covariance solved. */
typedef struct {
    size_t n, *row;          /* the known measurements, the latest MOST_KNOWN */
    double mean, variance;   /* of the state over the old record */
    double length[2];        /* along time and space */
    double *factor, *solved; /* n^2 Cholesky factor; n: K^-1 (y - mean) */
} process;

struct kb_baseline {
    size_t n_states, n_axes, n_known;
    const kb_measurements *measurements;
    size_t n_times, n_places; /* the old solution: n_times x n_places x n_states, even */
    double duration, width;
    double *old;
    process *processes; /* n_states */
    double *cross;      /* MOST_KNOWN: work */
};

/* ---------------------------------------------------------------- the old record */

static kbass_status solve_old(const kbass_posterior *p, kb_baseline *b, kbass_error *error)
{
    size_t n = b->n_times * b->n_places;
    double *times = KB_NEW(double, n), *places = KB_NEW(double, n);
    b->old = KB_NEW(double, n * b->n_states);
    kbass_status status = times && places && b->old ? KBASS_OK : kb_out_of_memory(error, "the old record");
    b->duration = p->last[0] - p->first[0];
    b->width = p->n_axes > 1 ? p->last[1] - p->first[1] : 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        size_t time = i / b->n_places, place = i % b->n_places;
        times[i] = p->first[0] + b->duration * (double)time / (double)(b->n_times - 1);
        places[i] = b->n_places > 1 ? p->first[1] + b->width * (double)place / (double)(b->n_places - 1) : 0;
    }
    if (status == KBASS_OK)
        status = kb_spread(p, &p->models[0], n, times, p->n_axes > 1 ? places : NULL, b->old, NULL, error);
    kb_free(times);
    kb_free(places);
    return status;
}

static double old_at(const kb_baseline *b, size_t time, size_t place, size_t state)
{
    return b->old[(time * b->n_places + place) * b->n_states + state];
}

/* Mean over the record of (u(t + h) - u(t))^2, h in steps of the old times. */
static double change(const kb_baseline *b, size_t state, size_t h)
{
    double sum = 0;
    for (size_t i = 0; i + h < b->n_times; i++)
        for (size_t j = 0; j < b->n_places; j++) {
            double d = old_at(b, i + h, j, state) - old_at(b, i, j, state);
            sum += d * d;
        }
    return sum / (double)((b->n_times - h) * b->n_places);
}

/* Mean square of the slope along an axis. */
static double steepness(const kb_baseline *b, size_t state, size_t axis)
{
    double sum = 0, step = axis ? b->width / (double)(b->n_places - 1) : b->duration / (double)(b->n_times - 1);
    size_t n = 0;
    if (!axis) return change(b, state, 1) / (step * step);
    for (size_t i = 0; i < b->n_times; i++)
        for (size_t j = 0; j + 1 < b->n_places; j++, n++) {
            double d = (old_at(b, i, j + 1, state) - old_at(b, i, j, state)) / step;
            sum += d * d;
        }
    return sum / (double)n;
}

/* Mean, variance, and the length scales at which a squared exponential kernel has such slopes: var / l^2 = E u_t^2 */
static void measure(const kb_baseline *b, size_t state, process *g)
{
    size_t n = b->n_times * b->n_places;
    for (size_t i = 0; i < n; i++) g->mean += b->old[i * b->n_states + state] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = b->old[i * b->n_states + state] - g->mean;
        g->variance += d * d / (double)n;
    }
    for (size_t a = 0; a < b->n_axes; a++)
        g->length[a] = fmin(sqrt(g->variance / steepness(b, state, a)), longest * (a ? b->width : b->duration));
}

/* ---------------------------------------------------------------- the bare field */

static double kernel(const process *g, const kb_measurements *m, size_t row, double time, const double *place)
{
    double d = (m->times[row] - time) / g->length[0], sum = d * d;
    if (place) d = (m->positions[row] - *place) / g->length[1], sum += d * d;
    return g->variance * exp(-sum / 2);
}

static kbass_status condition(const kbass_posterior *p, const kb_baseline *b, size_t state, process *g,
                              kbass_error *error)
{
    const kb_measurements *m = b->measurements;
    g->row = KB_NEW(size_t, MOST_KNOWN);
    if (!g->row) return kb_out_of_memory(error, "the bare field");
    for (size_t row = b->n_known; row-- > 0 && g->n < MOST_KNOWN;)
        if (isfinite(m->values[row * b->n_states + state])) g->row[g->n++] = row;
    g->factor = KB_NEW(double, g->n * g->n);
    g->solved = KB_NEW(double, g->n);
    if (!g->factor || !g->solved) return kb_out_of_memory(error, "the bare field");
    for (size_t j = 0; j < g->n; j++) {
        size_t row = g->row[j];
        double y = m->values[row * b->n_states + state], sd = kb_belief_noise(p, &p->models[0], state, y);
        for (size_t i = 0; i < g->n; i++)
            g->factor[i + j * g->n] = kernel(g, m, g->row[i], m->times[row], m->positions ? &m->positions[row] : NULL);
        g->factor[j * (g->n + 1)] += sd * sd + 1e-9 * g->variance;
        g->solved[j] = y - g->mean;
    }
    if (g->n && !kb_cholesky(g->n, g->factor, g->n))
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "the bare field of %s cannot be solved", p->state_names[state]);
    kb_cholesky_solve(g->n, 1, g->factor, g->n, g->solved, g->n);
    return KBASS_OK;
}

void kb_baseline_bare_field(const kb_baseline *b, size_t state, double time, const double *place, double *mean,
                            double *variance)
{
    const process *g = &b->processes[state];
    for (size_t i = 0; i < g->n; i++) b->cross[i] = kernel(g, b->measurements, g->row[i], time, place);
    *mean = g->mean + kb_dot(g->n, b->cross, g->solved);
    kb_lower_solve(g->n, 1, g->factor, g->n, b->cross, g->n);
    *variance = fmax(g->variance - kb_dot(g->n, b->cross, b->cross), 0);
}

/* ---------------------------------------------------------------- no change */

/* The known measurement that is nearest in place among the latest ones; n_known when there is none. */
static size_t latest(const kb_baseline *b, size_t state, const double *place)
{
    const kb_measurements *m = b->measurements;
    size_t best = b->n_known;
    double nearest = INFINITY;
    for (size_t row = b->n_known; row-- > 0;) {
        if (!isfinite(m->values[row * b->n_states + state])) continue;
        if (best < b->n_known && m->times[row] < m->times[best]) break;
        double distance = place ? fabs(m->positions[row] - *place) : 0;
        if (distance < nearest) nearest = distance, best = row;
    }
    return best;
}

void kb_baseline_no_change(const kb_baseline *b, size_t state, double time, const double *place, double *mean,
                           double *variance)
{
    size_t row = latest(b, state, place), most = b->n_times - 1 - b->n_times / 4;
    *mean = b->processes[state].mean;
    *variance = b->processes[state].variance;
    if (row == b->n_known) return;
    double h = (time - b->measurements->times[row]) / b->duration * (double)(b->n_times - 1);
    size_t below = h < (double)most ? (size_t)h : most;
    double share = below < most ? h - (double)below : 0;
    *mean = b->measurements->values[row * b->n_states + state];
    *variance = (1 - share) * change(b, state, below) + (share > 0 ? share * change(b, state, below + 1) : 0);
}

/* ---------------------------------------------------------------- both */

void kb_baseline_destroy(kb_baseline *b)
{
    if (!b) return;
    for (size_t i = 0; b->processes && i < b->n_states; i++) {
        kb_free(b->processes[i].row);
        kb_free(b->processes[i].factor);
        kb_free(b->processes[i].solved);
    }
    kb_free(b->processes);
    kb_free(b->cross);
    kb_free(b->old);
    kb_free(b);
}

kbass_status kb_baseline_create(const kbass_posterior *p, const kb_measurements *m, size_t n_known, kb_baseline **out,
                                kbass_error *error)
{
    kb_baseline *b = KB_NEW(kb_baseline, 1);
    if (!b) return kb_out_of_memory(error, "the baselines");
    *b = (kb_baseline){.n_states = p->n_states,
                       .n_axes = p->n_axes,
                       .n_known = n_known,
                       .measurements = m,
                       .n_times = p->n_axes > 1 ? FIELD_TIMES : TIMES,
                       .n_places = p->n_axes > 1 ? PLACES : 1,
                       .processes = KB_NEW(process, p->n_states),
                       .cross = KB_NEW(double, MOST_KNOWN)};
    kbass_status status = b->processes && b->cross ? solve_old(p, b, error) : kb_out_of_memory(error, "the baselines");
    for (size_t i = 0; status == KBASS_OK && i < p->n_states; i++) {
        measure(b, i, &b->processes[i]);
        status = condition(p, b, i, &b->processes[i], error);
    }
    if (status == KBASS_OK) *out = b;
    else kb_baseline_destroy(b);
    return status;
}
