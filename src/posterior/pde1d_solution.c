#include "posterior/pde1d_solution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "posterior/solution_points.h"

/* What a line takes from the measured values: how far fields may go, and the size of the boundary's modes. */
static void take_scales(const kb_pde1d *from, kb_pde1d *to)
{
    memcpy(to->bound, from->bound, from->n_fields * sizeof *to->bound);
    memcpy(to->boundary_scale, from->boundary_scale, from->n_boundary * sizeof *to->boundary_scale);
}

/* Predictions from `start` in the data's units and, unless V is NULL, their standard deviations under its first rows
   and columns; it has `width` of them. */
static kbass_status predict(kb_pde1d *line, const kb_fit *fit, const double *start, const double *V, size_t width,
                            double *mean, double *sd, kbass_error *error)
{
    kb_dynamics *d = &line->dynamics;
    const kb_field_samples *c = line->samples;
    size_t P = fit->support.n + d->n_start, n = d->observation_start[d->n_rows];
    double *tangents = V ? KB_NEW(double, n *P) : NULL, *row = KB_NEW(double, P);
    kbass_status status = row && (!V || tangents) ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        d->set_model(d, &fit->support, fit->w, V ? &fit->support : NULL);
        if (!d->predict(d, 0, d->n_rows - 1, start, mean, tangents))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated over these times");
    }
    for (size_t o = 0; status == KBASS_OK && o < n; o++) {
        mean[o] = c->mean[d->group[o]] + c->sd[d->group[o]] * mean[o];
        if (!V) continue;
        kb_gemv(KB_PLAIN, P, P, 1, V, width, tangents + o * P, 0, row);
        sd[o] = c->sd[d->group[o]] * sqrt(fmax(kb_dot(P, row, tangents + o * P), 0));
    }
    kb_free(tangents);
    kb_free(row);
    return status;
}

/* A window that begins at scaled time `from`: the points of it. */
static kbass_status evaluate_window(const kb_pde1d *fitted, const kb_profile *profile, const kb_fit *fit, double from,
                                    const double *start, const double *V, size_t width, size_t n, const double *times,
                                    const double *positions, double *mean, double *sd, kbass_error *error)
{
    kb_pde1d *asked = NULL;
    kb_field_samples points = {0};
    kbass_status status = kb_solution_points_create(fitted->samples, from, n, times, positions, &points, error);
    if (status == KBASS_OK)
        status = kb_pde1d_create(&points, fitted->dictionary, fitted->columns, &fitted->settings, profile,
                                 fit->support.n, &asked, error);
    if (status == KBASS_OK) {
        take_scales(fitted, asked);
        status = predict(asked, fit, start, V, width, mean, sd, error);
    }
    if (asked) asked->dynamics.destroy(&asked->dynamics);
    kb_solution_points_clear(&points);
    return status;
}

/* The run's windows, one after the other; the last one takes what is left. V: of all windows, P x P each, or NULL. */
static kbass_status evaluate_run(const kb_pde1d_runs *all_runs, const kb_pde1d_setup *setup, size_t run,
                                 const kb_windows *windows, const kb_fit *fit, const double *V, size_t n,
                                 const double *times, const double *positions, double *mean, double *sd,
                                 kbass_error *error)
{
    const kb_field_samples *samples = setup->samples;
    size_t n_start = all_runs->dynamics.n_start, P = fit->support.n + n_start, row = all_runs->run_start[run];
    size_t first = kb_windows_from(windows, row), end = kb_windows_from(windows, all_runs->run_start[run + 1]);
    kbass_status status = KBASS_OK;
    for (size_t window = first, done = 0; status == KBASS_OK && window < end; window++) {
        size_t here = window + 1 == end
                          ? n - done
                          : kb_points_within(samples, windows->last[window] - row, n - done, times + done);
        size_t at = done * samples->n_fields;
        if (here)
            status = evaluate_window(all_runs->lines[run], &setup->profile, fit,
                                     samples->grid[0][windows->first[window] - row], fit->start + window * n_start,
                                     V ? V + window * P * P : NULL, P, here, times + done, positions + done, mean + at,
                                     sd ? sd + at : NULL, error);
        done += here;
    }
    return status;
}

kbass_status kb_pde1d_solution(size_t n_runs, const kb_pde1d_setup *setups, size_t run, const kb_dictionary *dictionary,
                               const kb_columns *columns, const kb_windows *windows, const kb_fit *fit, size_t n,
                               const double *times, const double *positions, double *mean, double *sd,
                               kbass_error *error)
{
    kb_pde1d_runs *all_runs = NULL;
    kb_shooter *shooter = NULL;
    size_t k = fit->support.n;
    double *V = NULL;
    kbass_status status = kb_pde1d_runs_create(n_runs, setups, dictionary, columns, k, &all_runs, error);
    if (status == KBASS_OK) status = kb_shooter_create_on(&all_runs->dynamics, columns, windows->n, k, &shooter, error);
    if (status == KBASS_OK && sd) {
        size_t P = k + shooter->likelihood.n_start;
        V = KB_NEW(double, windows->n *P *P);
        shooter->likelihood.windows = windows;
        if (!V) status = kb_out_of_memory(error, "the solution");
        else if (!kb_shooter_covariances(shooter, fit, V))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the fitted model cannot be integrated again");
    }
    if (status == KBASS_OK)
        status = evaluate_run(all_runs, &setups[run], run, windows, fit, V, n, times, positions, mean, sd, error);
    kb_free(V);
    kb_shooter_destroy(shooter);
    return status;
}

/* ---------------------------------------------------------------- the profile in words */

/* " + 0.5*cos(1.2*(x-(3)))" */
static size_t print_wave(const char *function, double weight, double wave, const char *axis_name, double origin,
                         char *text, size_t size)
{
    char a[KB_NUMBER_SIZE], k[KB_NUMBER_SIZE], x[KB_NUMBER_SIZE];
    kb_number_print(fabs(weight), a);
    kb_number_print(wave, k);
    kb_number_print(origin, x);
    return (size_t)snprintf(text, size, " %c %s*%s(%s*(%s-(%s)))", weight < 0 ? '-' : '+', a, function, k, axis_name,
                            x);
}

size_t kb_pde1d_profile_text(const kb_pde1d_setup *setup, const double *start, size_t field, const char *axis_name,
                             char *text, size_t size)
{
    static const double negligible = 1e-10; /* of the field's sd */
    const kb_field_samples *samples = setup->samples;
    const kb_profile *profile = &setup->profile;
    double scale[KB_PDE1D_MOST_MODES], sd = samples->sd[field];
    const double *z = start + field * profile->n_modes;
    char number[KB_NUMBER_SIZE];
    kb_profile_modes(profile, 0, scale); /* the cosines are 1 there */
    kb_number_print(samples->mean[field] + sd * scale[0] * z[0], number);
    size_t used = (size_t)snprintf(text, size, "%s", number);
    for (size_t i = 1; i < profile->n_modes; i++) {
        size_t j = (i + 1) / 2, left = used < size ? size - used : 0;
        double weight = scale[2 * j - 1] * z[i], wave = 2 * M_PI * (double)j / (profile->period * samples->span[1]);
        if (fabs(weight) > negligible)
            used += print_wave(i % 2 ? "cos" : "sin", sd * weight, wave, axis_name, samples->first[1],
                               left ? text + used : NULL, left);
    }
    return used;
}
