#include "posterior/field_solution.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* A cloud of the points asked for, in the scales of the data's; its first row is the record's beginning, unobserved. */
static kbass_status pretend(const kb_cloud *data, size_t n, const double *times, const double *positions, kb_cloud *out,
                            kbass_error *error)
{
    size_t F = data->n_fields;
    *out = *data;
    out->n_points = n;
    out->n_values = n * F;
    out->point = KB_NEW(double, n * 2);
    out->value = KB_NEW(double, n * F);
    out->measured = KB_NEW(double, n * F);
    out->grid[0] = KB_NEW(double, n + 1);
    if (!out->point || !out->value || !out->measured || !out->grid[0]) return kb_out_of_memory(error, "the solution");
    out->n_grid[0] = 1;
    for (size_t i = 0; i < n; i++) {
        double s = fmin(fmax((times[i] - data->first[0]) / data->span[0], 0), 1);
        out->point[i] = s;
        out->point[i + n] = (positions[i] - data->first[1]) / data->span[1];
        if (s > out->grid[0][out->n_grid[0] - 1]) out->grid[0][out->n_grid[0]++] = s;
    }
    for (size_t i = 0; i < n * F; i++) out->measured[i] = 1;
    return KBASS_OK;
}

/* What a line takes from the measured values: how far fields may go, and the size of the boundary's modes. */
static void take_scales(const kb_line *from, kb_line *to)
{
    memcpy(to->bound, from->bound, from->n_fields * sizeof *to->bound);
    memcpy(to->boundary_scale, from->boundary_scale, from->n_boundary * sizeof *to->boundary_scale);
}

static void forget(kb_cloud *cloud)
{
    kb_free(cloud->point);
    kb_free(cloud->value);
    kb_free(cloud->measured);
    kb_free(cloud->grid[0]);
}

static kbass_status predict(kb_line *line, const kb_fit *fit, const double *V, double *predicted, double *tangents,
                            double *row, double *mean, double *sd, kbass_error *error)
{
    kb_dynamics *d = &line->dynamics;
    const kb_cloud *c = line->cloud;
    size_t P = fit->support.n + d->n_start, n = d->observation_start[d->n_rows];
    d->set_model(d, &fit->support, fit->w, &fit->support);
    if (!d->predict(d, 0, d->n_rows - 1, fit->start, predicted, tangents))
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    for (size_t o = 0; o < n; o++) {
        const double *tangent = tangents + o * P;
        kb_gemv(KB_PLAIN, P, P, 1, V, P, tangent, 0, row);
        mean[o] = c->mean[d->group[o]] + c->sd[d->group[o]] * predicted[o];
        sd[o] = c->sd[d->group[o]] * sqrt(fmax(kb_dot(P, row, tangent), 0));
    }
    return KBASS_OK;
}

kbass_status kb_field_solution(const kb_cloud *cloud, const kb_dictionary *dictionary, const kb_columns *columns,
                               const kb_line_settings *line, const kb_profile *profile, const kb_windows *windows,
                               const kb_fit *fit, size_t n, const double *times, const double *positions, double *mean,
                               double *sd, kbass_error *error)
{
    kb_line *fitted = NULL, *asked = NULL;
    kb_shooter *shooter = NULL;
    kb_cloud points = {0};
    size_t k = fit->support.n, P = 0;
    double *V = NULL, *predicted = NULL, *tangents = NULL, *row = NULL;
    kbass_status status = pretend(cloud, n, times, positions, &points, error);
    if (status == KBASS_OK) status = kb_line_create(cloud, dictionary, columns, line, profile, k, &fitted, error);
    if (status == KBASS_OK) status = kb_shooter_create_on(&fitted->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK) status = kb_line_create(&points, dictionary, columns, line, profile, k, &asked, error);
    if (status == KBASS_OK) {
        take_scales(fitted, asked);
        P = k + shooter->n;
        V = KB_NEW(double, windows->n * P * P);
        predicted = KB_NEW(double, n * cloud->n_fields);
        tangents = KB_NEW(double, n * cloud->n_fields * P);
        row = KB_NEW(double, P);
        shooter->windows = windows;
        if (!V || !predicted || !tangents || !row) status = kb_out_of_memory(error, "the solution");
        else if (!kb_shooter_covariances(shooter, fit, V))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated again");
    }
    if (status == KBASS_OK) status = predict(asked, fit, V, predicted, tangents, row, mean, sd, error);
    kb_free(V);
    kb_free(predicted);
    kb_free(tangents);
    kb_free(row);
    kb_shooter_destroy(shooter);
    if (asked) asked->dynamics.destroy(&asked->dynamics);
    forget(&points);
    return status;
}
