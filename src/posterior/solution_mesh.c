#include "posterior/solution_mesh.h"

#include "base/memory.h"
#include "base/status.h"
#include "gp/monitor.h"

/* The coordinate of an even point, the last axis running fastest. */
static double even_coordinate(const kb_field_samples *c, const size_t *counts, size_t point, size_t axis)
{
    for (size_t a = c->n_axes; --a > axis;) point /= counts[a];
    double share = (double)(point % counts[axis]) / (double)(counts[axis] - 1);
    return c->first[axis] + c->span[axis] * c->extent[axis] * share;
}

/* The solution on even points, scaled: n x n_fields. */
static kbass_status sample(const kb_field_samples *c, kb_solution_at *solution, const void *context,
                           const size_t *counts, size_t n, double *values, kbass_error *error)
{
    size_t space = c->n_axes - 1, fields = c->n_fields;
    double *times = KB_NEW(double, n), *positions = KB_NEW(double, n *space);
    kbass_status status = times && positions ? KBASS_OK : kb_out_of_memory(error, "the mesh");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        times[i] = even_coordinate(c, counts, i, 0);
        for (size_t a = 0; a < space; a++) positions[i * space + a] = even_coordinate(c, counts, i, a + 1);
    }
    if (status == KBASS_OK) status = solution(context, n, times, positions, values, error);
    for (size_t i = 0; status == KBASS_OK && i < n * fields; i++)
        values[i] = (values[i] - c->mean[i % fields]) / c->sd[i % fields];
    kb_free(times);
    kb_free(positions);
    return status;
}

/* The axis' n points have the fields and `after` below them, `before` above: the fastest is the monitor's left. */
static void spread(const kb_field_samples *c, const double *values, size_t axis, size_t before, size_t n, size_t after,
                   double *M, double *coordinates)
{
    kb_even_axis even = {n, c->extent[axis], false};
    kb_monitor_measure(&even, after, before, values, M);
    kb_monitor_limit(&even, n, M);
    kb_monitor_spread(&even, M, n, coordinates);
    for (size_t i = 0; i < n; i++) coordinates[i] = c->first[axis] + c->span[axis] * coordinates[i];
}

kbass_status kb_solution_mesh(const kb_field_samples *c, kb_solution_at *solution, const void *context,
                              const size_t *counts, double *const *coordinates, kbass_error *error)
{
    size_t n = 1, before = 1, most = 0;
    for (size_t a = 0; a < c->n_axes; a++) {
        n *= counts[a];
        if (counts[a] > most) most = counts[a];
    }
    double *values = KB_NEW(double, n * c->n_fields), *M = KB_NEW(double, most);
    kbass_status status = values && M ? KBASS_OK : kb_out_of_memory(error, "the mesh");
    if (status == KBASS_OK) status = sample(c, solution, context, counts, n, values, error);
    for (size_t a = 0; status == KBASS_OK && a < c->n_axes; before *= counts[a++])
        spread(c, values, a, before, counts[a], n / before / counts[a] * c->n_fields, M, coordinates[a]);
    kb_free(values);
    kb_free(M);
    return status;
}
