/* Integrals of all terms along a solution, by Gauss's rule between the rows: exact for what integrators call smooth,
   layers shorter than the rows' distance included. */
#include <string.h>

#include "base/memory.h"
#include "forward/ode/trajectory.h"

enum { NODES = 5 };
static const double node[NODES] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
static const double weight[NODES] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                     0.118463442528095};

/* Rows first to last and the nodes after each but the last: NODES + 1 times a row. */
static size_t list_times(const kb_record *r, size_t first, size_t last, double *times)
{
    size_t n = 0;
    for (size_t row = first; row < last; row++) {
        double length = r->time[row + 1] - r->time[row];
        times[n++] = r->time[row];
        for (int i = 0; i < NODES; i++) times[n++] = r->time[row] + node[i] * length;
    }
    times[n++] = r->time[last];
    return n;
}

/* Variables of the dictionary (n_times x n_variables, column-major) at the solution's scaled states (row-major). */
static void list_points(const kb_flow *f, size_t n_times, const double *times, const double *states,
                        const bool *is_bare, double *points)
{
    const kb_record *r = f->record;
    for (size_t k = 0; k < n_times; k++) {
        for (size_t i = 0; i < f->n; i++) {
            bool follows = is_bare && is_bare[i] && f->follow.n;
            double q = follows ? kb_flow_followed(f, i, times[k]) : states[k * f->n + i];
            points[k + i * n_times] = r->mean[i] + r->sd[i] * q;
        }
        points[k + f->n * n_times] = r->origin[f->run] + r->span * times[k];
    }
}

static void sum_up(const kb_record *r, size_t first, size_t last, const double *values, double *sums)
{
    sums[0] = 0;
    for (size_t row = first; row < last; row++) {
        const double *inner = values + (row - first) * (NODES + 1) + 1;
        double sum = 0;
        for (int i = 0; i < NODES; i++) sum += weight[i] * inner[i];
        sums[row - first + 1] = sums[row - first] + (r->time[row + 1] - r->time[row]) * sum;
    }
}

bool kb_trajectory_integrals(kb_dynamics *self, size_t first, size_t last, const double *start, const bool *is_bare,
                             double *sums)
{
    kb_flow *f = ((kb_trajectory *)self)->flow;
    const kb_dictionary *d = f->dictionary;
    size_t n_rows = last - first + 1, n = (n_rows - 1) * (NODES + 1) + 1;
    double *times = KB_NEW(double, n), *states = KB_NEW(double, n * f->n), *values = KB_NEW(double, n);
    double *points = KB_NEW(double, n * d->n_variables), *work = KB_NEW(double, kb_dictionary_work(d, n));
    bool done = times && states && values && points && work;
    f->run = kb_record_run(f->record, first);
    if (done) list_times(f->record, first, last, times);
    done = done && kb_flow_integrate(f, n, times, start, states, NULL);
    if (done) list_points(f, n, times, states, is_bare, points);
    for (size_t term = 0; done && term < d->n_terms; term++) {
        kb_dictionary_values(d, 1, &term, n, points, n, values, work);
        sum_up(f->record, first, last, values, sums + term * n_rows);
    }
    kb_free(times);
    kb_free(states);
    kb_free(values);
    kb_free(points);
    kb_free(work);
    return done;
}
