/* Samples of a solution as tables: on a grid, or scattered. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "simulate/pde.h"

static kbass_status make_data(const kb_pde *pde, size_t n, const double *points, kbass_data **data, kbass_error *error)
{
    const char *axis_names[KBASS_MAX_AXES];
    double *values = KB_NEW(double, n * pde->n_fields), *times = KB_NEW(double, n);
    double *positions = KB_NEW(double, n * pde->n_space);
    kbass_status status = values && times && positions ? KBASS_OK : kb_out_of_memory(error, "the samples");
    for (size_t d = 0; d < pde->n_axes; d++) axis_names[d] = pde->axes[d].name;
    if (status == KBASS_OK) status = kb_pde_sample(pde, n, points, values, error);
    if (status == KBASS_OK) {
        for (size_t i = 0; i < n; i++) {
            times[i] = points[i * pde->n_axes];
            memcpy(positions + i * pde->n_space, points + i * pde->n_axes + 1, pde->n_space * sizeof *positions);
        }
        status = kbass_data_create_axes(n, pde->n_axes, pde->n_fields, times, positions, values, axis_names,
                                        (const char *const *)pde->names, data, error);
    }
    kb_free(positions);
    kb_free(times);
    kb_free(values);
    return status;
}

double kb_pde_even_point(const kbass_axis *axis, size_t k, size_t n)
{
    if (k + 1 == n && n > 1) return axis->last;
    return n > 1 ? axis->first + (axis->last - axis->first) * (double)k / (double)(n - 1) : axis->first;
}

kbass_status kb_pde_grid(const kb_pde *pde, const size_t *counts, kbass_data **data, kbass_error *error)
{
    size_t n = 1, count[KBASS_MAX_AXES] = {0};
    for (size_t d = 0; d < pde->n_axes; d++) {
        count[d] = counts ? counts[d] : pde->axes[d].n_samples;
        if (count[d] < 1 || count[d] > 1000000 / n)
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "a grid of %zu points along %s: needed 1 or more, and at most "
                           "1000000 in all",
                           count[d], pde->axes[d].name);
        n *= count[d];
    }
    double *points = KB_NEW(double, n * pde->n_axes);
    if (!points) return kb_out_of_memory(error, "the grid");
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        for (size_t d = pde->n_axes; d-- > 0; rest /= count[d])
            points[i * pde->n_axes + d] = kb_pde_even_point(&pde->axes[d], rest % count[d], count[d]);
    }
    kbass_status status = make_data(pde, n, points, data, error);
    kb_free(points);
    return status;
}

kbass_status kb_pde_scattered(const kb_pde *pde, size_t n_points, uint64_t seed, kbass_data **data, kbass_error *error)
{
    kb_random random;
    double *points = KB_NEW(double, n_points * pde->n_axes);
    if (!points) return kb_out_of_memory(error, "the points");
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < n_points * pde->n_axes; i++) {
        const kbass_axis *axis = &pde->axes[i % pde->n_axes];
        points[i] = axis->first + (axis->last - axis->first) * kb_random_uniform(&random);
    }
    kbass_status status = make_data(pde, n_points, points, data, error);
    kb_free(points);
    return status;
}
