#include "posterior/solution_points.h"

#include "base/memory.h"

kbass_status kb_solution_points_create(const kb_field_samples *data, double from, size_t n, const double *times,
                                       const double *positions, kb_field_samples *out, kbass_error *error)
{
    size_t F = data->n_fields, space = data->n_axes - 1;
    *out = *data;
    out->relative = NULL;
    out->noise_share = 1; /* not limited to the waves of projected rows */
    out->n_points = n;
    out->n_values = n * F;
    out->point = KB_NEW(double, n *(space + 1));
    out->value = KB_NEW(double, n *F);
    out->measured = KB_NEW(double, n *F);
    out->grid[0] = KB_NEW(double, n + 1);
    if (!out->point || !out->value || !out->measured || !out->grid[0]) return kb_out_of_memory(error, "the solution");
    out->n_grid[0] = 1;
    out->grid[0][0] = from;
    for (size_t i = 0; i < n; i++) {
        double s = fmin(fmax((times[i] - data->first[0]) / data->span[0], from), data->extent[0]);
        out->point[i] = s;
        for (size_t a = 1; a <= space; a++)
            out->point[i + a * n] = (positions[i * space + a - 1] - data->first[a]) / data->span[a];
        if (s > out->grid[0][out->n_grid[0] - 1]) out->grid[0][out->n_grid[0]++] = s;
    }
    for (size_t i = 0; i < n * F; i++) out->measured[i] = 1;
    return KBASS_OK;
}

void kb_solution_points_clear(kb_field_samples *samples)
{
    kb_free(samples->point);
    kb_free(samples->value);
    kb_free(samples->measured);
    kb_free(samples->grid[0]);
}

size_t kb_points_within(const kb_field_samples *data, size_t row, size_t n, const double *times)
{
    size_t inside = 0;
    while (inside < n && (times[inside] - data->first[0]) / data->span[0] <= data->grid[0][row]) inside++;
    return inside;
}
