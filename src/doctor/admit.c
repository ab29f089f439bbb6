/* A state's bare field, and the values that it cannot believe. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/grid.h"
#include "doctor/doctor.h"

enum { LARGEST_AXIS = 120, MOST_TARGETS = 3000 };   /* longer axes are seen in blocks; so many values are looked at */
static const double doubtful = 4, unbelievable = 5; /* robust standard deviations */
static const double least_residual = 0.02;          /* of the state's sd: smaller ones do no harm */

/* ---------------------------------------------------------------- one state alone */

static kbass_status single_out(const kbass_data *data, size_t state, size_t *rows, kbass_data **out, kbass_error *error)
{
    size_t n = 0, space = data->n_axes - 1;
    double *times = KB_NEW(double, data->n_rows), *values = KB_NEW(double, data->n_rows);
    double *positions = KB_NEW(double, data->n_rows *space);
    const char *name = data->state_names[state];
    kbass_status status = times && values && positions ? KBASS_OK : kb_out_of_memory(error, "the examination");
    for (size_t row = 0; status == KBASS_OK && row < data->n_rows; row++) {
        double u = data->values[row * data->n_states + state];
        if (isnan(u)) continue;
        rows[n] = row;
        times[n] = data->times[row];
        values[n] = u;
        if (space) memcpy(positions + n * space, data->positions + row * space, space * sizeof *positions);
        n++;
    }
    if (status == KBASS_OK)
        status = kbass_data_create_axes(n, data->n_axes, 1, times, space ? positions : NULL, values,
                                        (const char *const *)data->axis_names, &name, out, error);
    kb_free(times);
    kb_free(values);
    kb_free(positions);
    return status;
}

/* row[point] of the data; rows[k]: that of the k-th measurement of the state */
static kbass_status join_rows(kb_patient *patient, const kbass_data *alone, const size_t *rows, kbass_error *error)
{
    kb_grid grid = {0};
    kbass_status status = kb_grid_create(alone, &grid, error);
    patient->row = KB_NEW(size_t, patient->cloud->n_points);
    patient->is_outlier = KB_NEW(bool, patient->cloud->n_points);
    if (status == KBASS_OK && (!patient->row || !patient->is_outlier))
        status = kb_out_of_memory(error, "the examination");
    for (size_t k = 0; status == KBASS_OK && k < alone->n_rows; k++)
        patient->row[patient->cloud->gridded ? kb_grid_cell(&grid, alone, k) : k] = rows[k];
    kb_grid_clear(&grid);
    return status;
}

static kbass_status fit(kb_patient *patient, kbass_error *error)
{
    kb_bare_field_destroy(patient->gp);
    kb_local_destroy(patient->local);
    patient->gp = NULL;
    patient->local = NULL;
    kbass_status status = kb_bare_field_fit(patient->cloud, KB_KERNEL_SE, &patient->gp, error);
    if (status == KBASS_OK)
        status = kb_local_create(patient->cloud, patient->gp, patient->is_outlier, &patient->local, error);
    return status;
}

/* ---------------------------------------------------------------- outliers */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How far a value is from what the cells around it say, in its standard deviations. */
static double residual(const kb_patient *patient, size_t p, double *plain)
{
    static const int value[KB_SAMPLE_AXES] = {0};
    kb_local *local = patient->local;
    double at[KB_SAMPLE_AXES];
    for (size_t a = 0; a < local->n_axes; a++) at[a] = patient->cloud->point[p + a * patient->cloud->n_points];
    if (!kb_local_go(local, at, local->cell[p])) return 0;
    *plain = patient->cloud->value[p] - kb_local_mean(local, value);
    return *plain / sqrt(kb_local_variance(local, value) + local->variance);
}

/* z (of every stride-th measured point, 0 of others) over their robust spread. */
static size_t judge(const kb_patient *patient, size_t stride, double *z, double *work)
{
    size_t n = 0, n_doubtful = 0;
    for (size_t p = 0; p < patient->cloud->n_points; p++) {
        double plain = 0;
        z[p] = 0;
        if (patient->cloud->measured[p] == 0 || p % stride) continue;
        double found = residual(patient, p, &plain);
        work[n++] = fabs(found);
        if (fabs(plain) > least_residual) z[p] = found;
    }
    qsort(work, n, sizeof *work, ascending);
    double spread = fmax(n ? 1.4826 * work[n / 2] : 1, 0.2);
    for (size_t p = 0; p < patient->cloud->n_points; p++) {
        z[p] /= spread;
        n_doubtful += fabs(z[p]) > doubtful;
    }
    return n_doubtful;
}

/* An outlier stands alone: around a sharp turn of the field neighbours are off, too. */
static bool stands_alone(const kb_patient *patient, const double *z, const bool *is_doubtful, size_t p)
{
    const kb_field_samples *cloud = patient->cloud;
    double nearest[2] = {INFINITY, INFINITY}, size[2] = {0, 0};
    for (size_t q = 0; q < cloud->n_points; q++) {
        double d = 0;
        if (q == p || is_doubtful[q] || z[q] == 0) continue;
        for (size_t a = 0; a < cloud->n_axes; a++) {
            double step =
                (cloud->point[p + a * cloud->n_points] - cloud->point[q + a * cloud->n_points]) / cloud->spacing[a];
            d += step * step;
        }
        size_t k = nearest[0] > nearest[1] ? 0 : 1;
        if (d < nearest[k]) nearest[k] = d, size[k] = fabs(z[q]);
    }
    return fmax(size[0], size[1]) < 0.5 * fabs(z[p]);
}

/* Where samples are too sparse to follow the field, none of them can be doubted. */
static bool is_followed(const kb_patient *patient)
{
    bool is_dense = true;
    for (size_t a = 0; a < patient->cloud->n_axes; a++)
        is_dense = is_dense && patient->gp->length[a] >= patient->cloud->spacing[a];
    return is_dense;
}

/* The first and the last value of a record have neighbours on one side only: a start may be far off and sound. */
static bool is_between(const kb_patient *patient, size_t p)
{
    const kb_field_samples *cloud = patient->cloud;
    bool before = false, after = false;
    for (size_t q = 0; q < cloud->n_points; q++) {
        if (cloud->measured[q] == 0) continue;
        before = before || cloud->point[q] < cloud->point[p];
        after = after || cloud->point[q] > cloud->point[p];
    }
    return cloud->n_axes > 1 || (before && after);
}

/* First what is doubtful, then, with all that left out, what still cannot be believed. */
static kbass_status find_outliers(kb_patient *patient, size_t *n_found, kbass_error *error)
{
    size_t n = patient->cloud->n_points, stride = 1 + n / MOST_TARGETS;
    double *z = KB_NEW(double, n), *work = KB_NEW(double, n);
    bool *is_doubtful = KB_NEW(bool, n);
    kbass_status status = z && work && is_doubtful ? KBASS_OK : kb_out_of_memory(error, "the examination");
    *n_found = 0;
    if (status == KBASS_OK && is_followed(patient) && judge(patient, stride, z, work)) {
        kb_patient trial = *patient;
        for (size_t p = 0; p < n; p++) is_doubtful[p] = fabs(z[p]) > doubtful;
        status = kb_local_create(patient->cloud, patient->gp, is_doubtful, &trial.local, error);
        if (status == KBASS_OK) {
            judge(&trial, stride, z, work);
            kb_local_destroy(trial.local);
        }
        for (size_t p = 0; status == KBASS_OK && p < n; p++) {
            patient->is_outlier[p] = is_doubtful[p] && fabs(z[p]) > unbelievable && is_between(patient, p) &&
                                     stands_alone(patient, z, is_doubtful, p);
            *n_found += patient->is_outlier[p];
        }
    }
    kb_free(z);
    kb_free(work);
    kb_free(is_doubtful);
    return status;
}

static void report_outliers(kb_doctor *doctor, size_t state, size_t n)
{
    kb_patient *patient = &doctor->patients[state];
    const char *name = doctor->data->state_names[state];
    size_t *rows = kb_doctor_own(doctor, n, sizeof *rows), found = 0;
    double share = (double)n / (double)patient->cloud->count[0];
    kbass_finding finding = {.severity = KBASS_WARNING,
                             .check = "outliers",
                             .subject = name,
                             .number = (double)n,
                             .measure = "values",
                             .n_rows = n,
                             .rows = rows};
    for (size_t p = 0; rows && p < patient->cloud->n_points; p++)
        if (patient->is_outlier[p]) rows[found++] = patient->row[p];
    size_t first = rows && n ? rows[0] : 0;
    kb_doctor_say(
        doctor, finding,
        share > 0.05 ? "so many are a second population: look at how they were measured"
                     : "look at them, and empty the cells that are mistakes",
        "%zu value%s of %s %s more than %g robust standard deviations off the values around (first at %s = %.6g: %.6g)",
        n, n == 1 ? "" : "s", name, n == 1 ? "is" : "are", unbelievable, doctor->data->time_name,
        doctor->data->times[first], doctor->data->values[first * doctor->data->n_states + state]);
}

/* What is not believed is no measurement any more. */
static void leave_out(kb_patient *patient)
{
    for (size_t p = 0; p < patient->cloud->n_points; p++)
        if (patient->is_outlier[p]) {
            patient->cloud->measured[p] = 0;
            patient->cloud->value[p] = 0;
            patient->cloud->count[0]--;
        }
}

static kbass_status look(kb_doctor *doctor, size_t state, kbass_error *error)
{
    kb_patient *patient = &doctor->patients[state];
    size_t n_outliers = 0;
    kbass_status status = fit(patient, error);
    if (status == KBASS_OK) status = find_outliers(patient, &n_outliers, error);
    if (status != KBASS_OK || !n_outliers) return status;
    report_outliers(doctor, state, n_outliers);
    leave_out(patient);
    return fit(patient, error);
}

kbass_status kb_doctor_admit(kb_doctor *doctor, size_t state, double known_variance, kbass_error *error)
{
    kb_patient *patient = &doctor->patients[state];
    kbass_data *alone = NULL;
    size_t *rows = KB_NEW(size_t, doctor->data->n_rows);
    kbass_error problem;
    kbass_status status =
        rows ? single_out(doctor->data, state, rows, &alone, error) : kb_out_of_memory(error, "the examination");
    kbass_finding finding = {.severity = KBASS_HOPELESS,
                             .check = "too few",
                             .subject = doctor->data->state_names[state],
                             .number = alone ? (double)alone->n_rows : 0,
                             .measure = "values"};
    if (status == KBASS_OK && kb_field_samples_create(alone, NULL, &patient->cloud, &problem) != KBASS_OK) {
        kb_doctor_say(doctor, finding, "see what was understood with kbass data", "%s", problem.message);
    } else if (status == KBASS_OK) {
        status = join_rows(patient, alone, rows, error);
        patient->cloud->known_variance[0] = known_variance;
        for (size_t a = 0; a < patient->cloud->n_axes; a++)
            if (patient->cloud->n_grid[a] > LARGEST_AXIS) patient->cloud->gridded = false;
        if (status == KBASS_OK) status = look(doctor, state, error);
    }
    kbass_data_destroy(alone);
    kb_free(rows);
    return status;
}
