#include "gp/field_samples.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/grid.h"
#include "gp/noise.h"

/* ---------------------------------------------------------------- domains */

/* The coordinates, unscaled as yet. */
static void take_axes(kb_field_samples *samples, const kb_grid *grid)
{
    for (size_t axis = 0; axis < samples->n_axes; axis++) {
        size_t n = samples->n_grid[axis] = grid->n[axis];
        memcpy(samples->grid[axis], grid->at[axis], n * sizeof *samples->grid[axis]);
        samples->first[axis] = samples->grid[axis][0];
        samples->span[axis] = samples->grid[axis][n - 1] - samples->first[axis];
        samples->spacing[axis] = grid->spacing[axis];
    }
}

/* Axes along which nearly every point has a coordinate of its own share the points among them: the distances of
   neighbours along one such axis say nothing about how densely it is sampled. */
static void space_scattered(kb_field_samples *samples)
{
    double points = (double)samples->n_points, axes = 0;
    for (size_t axis = 0; axis < samples->n_axes; axis++) {
        bool repeats = 2 * samples->n_grid[axis] <= samples->n_points;
        if (repeats) points /= (double)samples->n_grid[axis];
        else axes++;
    }
    for (size_t axis = 0; axis < samples->n_axes; axis++)
        if (2 * samples->n_grid[axis] > samples->n_points)
            samples->spacing[axis] = samples->span[axis] * pow(fmax(points, 1), -1 / axes);
}

/* The domain of all runs along an axis; true when each reaches its ends, a spacing and a half apart from them at most.
 */
static bool unite(size_t n, kb_field_samples *const *run_samples, size_t axis, double *first, double *last)
{
    static const double slack = 1.5;
    bool agree = true;
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        *first = fmin(*first, run_samples[i]->first[axis]);
        *last = fmax(*last, run_samples[i]->first[axis] + run_samples[i]->span[axis]);
    }
    for (size_t i = 0; i < n; i++) {
        double near = slack * run_samples[i]->spacing[axis],
               end = run_samples[i]->first[axis] + run_samples[i]->span[axis];
        agree = agree && run_samples[i]->first[axis] - *first <= near && *last - end <= near;
    }
    return agree;
}

/* One unit of time for all runs; one domain in space if they agree. */
static bool share_domains(size_t n, kb_field_samples *const *run_samples)
{
    size_t axes = run_samples[0]->n_axes;
    double longest = 0, first[KB_SAMPLE_AXES], last[KB_SAMPLE_AXES];
    bool is_one = true;
    for (size_t i = 0; i < n; i++) longest = fmax(longest, run_samples[i]->span[0]);
    for (size_t axis = 1; axis < axes; axis++)
        is_one = unite(n, run_samples, axis, &first[axis], &last[axis]) && is_one;
    for (size_t i = 0; i < n; i++) {
        run_samples[i]->extent[0] = run_samples[i]->span[0] / longest;
        run_samples[i]->span[0] = longest;
        for (size_t axis = 1; axis < axes; axis++) {
            run_samples[i]->extent[axis] = 1;
            if (!is_one) continue;
            run_samples[i]->first[axis] = first[axis];
            run_samples[i]->span[axis] = last[axis] - first[axis];
        }
    }
    return is_one;
}

/* ---------------------------------------------------------------- points */

static double scaled(const kb_field_samples *samples, size_t axis, double coordinate)
{
    return fmin((coordinate - samples->first[axis]) / samples->span[axis], 1);
}

static void scale_axes(kb_field_samples *samples)
{
    for (size_t axis = 0; axis < samples->n_axes; axis++) {
        samples->spacing[axis] /= samples->span[axis];
        for (size_t i = 0; i < samples->n_grid[axis]; i++)
            samples->grid[axis][i] = scaled(samples, axis, samples->grid[axis][i]);
    }
}

/* Cells in order, the last axis running fastest. */
static void place_grid(kb_field_samples *samples)
{
    for (size_t cell = 0; cell < samples->n_points; cell++)
        for (size_t axis = samples->n_axes, rest = cell; axis-- > 0; rest /= samples->n_grid[axis])
            samples->point[cell + axis * samples->n_points] = samples->grid[axis][rest % samples->n_grid[axis]];
}

static void place_rows(kb_field_samples *samples, const kbass_data *data)
{
    for (size_t row = 0; row < samples->n_points; row++)
        for (size_t axis = 0; axis < samples->n_axes; axis++)
            samples->point[row + axis * samples->n_points] = scaled(samples, axis, kb_data_coordinate(data, row, axis));
}

/* ---------------------------------------------------------------- values */

/* The variance of a row's value as a multiple of the field's known one; 1 without error bars. */
static double row_variance(const kbass_data *data, size_t row, size_t field, double reference)
{
    double sigma = reference > 0 ? data->sigma[row * data->n_states + field] : 1;
    return reference > 0 ? sigma * sigma / reference : 1;
}

/* Replicates, values of one field at one place, become their mean with the precision of them all. `precision` is 0 at
   first; place[row]: the row's point. */
static void gather_values(kb_field_samples *samples, const kbass_data *data, const size_t *place, size_t field,
                          double reference, double *precision)
{
    double *value = samples->value + field * samples->n_points,
           *measured = samples->measured + field * samples->n_points;
    for (size_t row = 0; row < data->n_rows; row++) {
        double u = data->values[row * data->n_states + field];
        if (isnan(u)) continue;
        double own = 1 / row_variance(data, row, field, reference), *sum = &precision[place[row]];
        value[place[row]] += (u - value[place[row]]) * own / (*sum + own);
        *sum += own;
    }
    for (size_t i = 0; i < samples->n_points; i++) {
        measured[i] = precision[i] > 0;
        samples->count[field] += precision[i] > 0;
        if (samples->relative)
            samples->relative[i + field * samples->n_points] = precision[i] > 0 ? 1 / precision[i] : 1;
    }
    samples->n_values += samples->count[field];
}

/* `all` are the data that the run is of. */
static kbass_status take_values(kb_field_samples *samples, const kbass_data *all, const kbass_data *run,
                                const size_t *place, kbass_error *error)
{
    double *precision = KB_NEW(double, samples->n_points);
    if (!precision) return kb_out_of_memory(error, "the scaled data");
    for (size_t field = 0; field < samples->n_fields; field++) {
        memset(precision, 0, samples->n_points * sizeof *precision);
        gather_values(samples, run, place, field, kb_noise_reference(all, field), precision);
    }
    kb_free(precision);
    return KBASS_OK;
}

/* One mean and one sd for all runs. */
static void scale_field(size_t n_sets, kb_field_samples *const *run_samples, size_t field, double reference)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t c = 0; c < n_sets; c++) {
        n += (double)run_samples[c]->count[field];
        for (size_t i = 0; i < run_samples[c]->n_points; i++)
            sum += run_samples[c]->value[i + field * run_samples[c]->n_points];
    }
    double mean = sum / n;
    for (size_t c = 0; c < n_sets; c++)
        for (size_t i = field * run_samples[c]->n_points; i < (field + 1) * run_samples[c]->n_points; i++)
            squares +=
                run_samples[c]->measured[i] * (run_samples[c]->value[i] - mean) * (run_samples[c]->value[i] - mean);
    double sd = sqrt(squares / n);
    for (size_t c = 0; c < n_sets; c++) {
        double *value = run_samples[c]->value, *measured = run_samples[c]->measured;
        run_samples[c]->mean[field] = mean;
        run_samples[c]->sd[field] = sd;
        if (reference > 0) run_samples[c]->known_variance[field] = reference / (sd * sd);
        for (size_t i = field * run_samples[c]->n_points; i < (field + 1) * run_samples[c]->n_points; i++)
            value[i] = measured[i] * (value[i] - mean) / sd;
    }
}

/* ---------------------------------------------------------------- life */

static kbass_status allocate(const kbass_data *data, const kb_grid *grid, kb_field_samples **out, kbass_error *error)
{
    kb_field_samples *samples = *out = KB_NEW(kb_field_samples, 1);
    if (!samples) return kb_out_of_memory(error, "the scaled data");
    size_t n = samples->n_points = grid->is_grid ? grid->n_cells : data->n_rows, fields = data->n_states;
    samples->gridded = grid->is_grid;
    samples->n_axes = data->n_axes;
    samples->n_fields = fields;
    samples->noise_share = data->noise_share > 0 ? data->noise_share : 1;
    samples->mean = KB_NEW(double, fields);
    samples->sd = KB_NEW(double, fields);
    samples->known_variance = KB_NEW(double, fields);
    samples->count = KB_NEW(size_t, fields);
    samples->point = KB_NEW(double, n * data->n_axes);
    samples->value = KB_NEW(double, n *fields);
    samples->measured = KB_NEW(double, n *fields);
    bool is_weighted = data->sigma || (grid->is_grid && grid->n_taken < data->n_rows);
    if (is_weighted) samples->relative = KB_NEW(double, n *fields);
    bool all = true;
    for (size_t axis = 0; all && axis < data->n_axes; axis++)
        all = (samples->grid[axis] = KB_NEW(double, grid->n[axis])) != NULL;
    all = all && samples->mean && samples->sd && samples->known_variance && samples->count && samples->point &&
          samples->value && samples->measured && (samples->relative || !is_weighted);
    return all ? KBASS_OK : kb_out_of_memory(error, "the scaled data");
}

/* One run as it stands: points and values not scaled yet. */
static kbass_status take_run(const kbass_data *all, const kbass_data *run, kb_field_samples **out, kbass_error *error)
{
    kb_grid grid = {0};
    size_t *place = KB_NEW(size_t, run->n_rows);
    kbass_status status = place ? kb_grid_create(run, &grid, error) : kb_out_of_memory(error, "the scaled data");
    if (status == KBASS_OK) status = allocate(run, &grid, out, error);
    if (status == KBASS_OK) {
        for (size_t row = 0; row < run->n_rows; row++) place[row] = grid.is_grid ? kb_grid_cell(&grid, run, row) : row;
        status = take_values(*out, all, run, place, error);
        take_axes(*out, &grid);
        if (!grid.is_grid) space_scattered(*out);
    }
    kb_grid_clear(&grid);
    kb_free(place);
    return status;
}

kbass_status kb_field_samples_create_runs(const kbass_data *data, const char *noise, kb_field_samples **run_samples,
                                          bool *is_one, kbass_error *error)
{
    size_t n = kbass_data_runs(data);
    kbass_status status = kb_data_check(data, error);
    for (size_t i = 0; i < n; i++) run_samples[i] = NULL;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kbass_data run = kb_data_run(data, i);
        status = take_run(data, &run, &run_samples[i], error);
    }
    if (status == KBASS_OK) {
        *is_one = share_domains(n, run_samples);
        for (size_t f = 0; f < data->n_states; f++) scale_field(n, run_samples, f, kb_noise_reference(data, f));
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kbass_data run = kb_data_run(data, i);
        scale_axes(run_samples[i]);
        if (run_samples[i]->gridded) place_grid(run_samples[i]);
        else place_rows(run_samples[i], &run);
        if (noise) status = kb_noise_read(data, noise, run_samples[i]->sd, run_samples[i]->known_variance, error);
        for (size_t f = 0; noise && f < data->n_states; f++)
            run_samples[i]->known_variance[f] *= run_samples[i]->noise_share;
    }
    for (size_t i = 0; status != KBASS_OK && i < n; i++) {
        kb_field_samples_destroy(run_samples[i]);
        run_samples[i] = NULL;
    }
    return status;
}

kbass_status kb_field_samples_create(const kbass_data *data, const char *noise, kb_field_samples **out,
                                     kbass_error *error)
{
    kbass_data whole = *data;
    kb_field_samples *samples = NULL;
    bool is_one;
    whole.n_runs = 0;
    kbass_status status = kb_field_samples_create_runs(&whole, noise, &samples, &is_one, error);
    if (status == KBASS_OK) *out = samples;
    return status;
}

void kb_field_samples_destroy(kb_field_samples *samples)
{
    if (!samples) return;
    for (size_t axis = 0; axis < KB_SAMPLE_AXES; axis++) {
        kb_free(samples->grid[axis]);
        kb_free(samples->mesh[axis]);
    }
    kb_free(samples->mean);
    kb_free(samples->sd);
    kb_free(samples->known_variance);
    kb_free(samples->count);
    kb_free(samples->point);
    kb_free(samples->value);
    kb_free(samples->measured);
    kb_free(samples->relative);
    kb_free(samples);
}
