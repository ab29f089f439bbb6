#include "gp/cloud.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/grid.h"
#include "gp/noise.h"

/* ---------------------------------------------------------------- domains */

/* The coordinates, unscaled as yet. */
static void take_axes(kb_cloud *cloud, const kb_grid *grid)
{
    for (size_t axis = 0; axis < cloud->n_axes; axis++) {
        size_t n = cloud->n_grid[axis] = grid->n[axis];
        memcpy(cloud->grid[axis], grid->at[axis], n * sizeof *cloud->grid[axis]);
        cloud->first[axis] = cloud->grid[axis][0];
        cloud->span[axis] = cloud->grid[axis][n - 1] - cloud->first[axis];
        cloud->spacing[axis] = grid->spacing[axis];
    }
}

/* Axes along which nearly every point has a coordinate of its own share the points among them: the distances of
   neighbours along one such axis say nothing about how densely it is sampled. */
static void space_scattered(kb_cloud *cloud)
{
    double points = (double)cloud->n_points, axes = 0;
    for (size_t axis = 0; axis < cloud->n_axes; axis++) {
        bool repeats = 2 * cloud->n_grid[axis] <= cloud->n_points;
        if (repeats) points /= (double)cloud->n_grid[axis];
        else axes++;
    }
    for (size_t axis = 0; axis < cloud->n_axes; axis++)
        if (2 * cloud->n_grid[axis] > cloud->n_points)
            cloud->spacing[axis] = cloud->span[axis] * pow(fmax(points, 1), -1 / axes);
}

/* The domain of all runs along an axis; true when each reaches its ends, a spacing and a half apart from them at most.
 */
static bool unite(size_t n, kb_cloud *const *clouds, size_t axis, double *first, double *last)
{
    static const double slack = 1.5;
    bool agree = true;
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        *first = fmin(*first, clouds[i]->first[axis]);
        *last = fmax(*last, clouds[i]->first[axis] + clouds[i]->span[axis]);
    }
    for (size_t i = 0; i < n; i++) {
        double near = slack * clouds[i]->spacing[axis], end = clouds[i]->first[axis] + clouds[i]->span[axis];
        agree = agree && clouds[i]->first[axis] - *first <= near && *last - end <= near;
    }
    return agree;
}

/* One unit of time for all runs; one domain in space if they agree. */
static bool share_domains(size_t n, kb_cloud *const *clouds)
{
    size_t axes = clouds[0]->n_axes;
    double longest = 0, first[KB_CLOUD_AXES], last[KB_CLOUD_AXES];
    bool is_one = true;
    for (size_t i = 0; i < n; i++) longest = fmax(longest, clouds[i]->span[0]);
    for (size_t axis = 1; axis < axes; axis++) is_one = unite(n, clouds, axis, &first[axis], &last[axis]) && is_one;
    for (size_t i = 0; i < n; i++) {
        clouds[i]->extent[0] = clouds[i]->span[0] / longest;
        clouds[i]->span[0] = longest;
        for (size_t axis = 1; axis < axes; axis++) {
            clouds[i]->extent[axis] = 1;
            if (!is_one) continue;
            clouds[i]->first[axis] = first[axis];
            clouds[i]->span[axis] = last[axis] - first[axis];
        }
    }
    return is_one;
}

/* ---------------------------------------------------------------- points */

static double scaled(const kb_cloud *cloud, size_t axis, double coordinate)
{
    return fmin((coordinate - cloud->first[axis]) / cloud->span[axis], 1);
}

static void scale_axes(kb_cloud *cloud)
{
    for (size_t axis = 0; axis < cloud->n_axes; axis++) {
        cloud->spacing[axis] /= cloud->span[axis];
        for (size_t i = 0; i < cloud->n_grid[axis]; i++)
            cloud->grid[axis][i] = scaled(cloud, axis, cloud->grid[axis][i]);
    }
}

/* Cells in order, the last axis running fastest. */
static void place_grid(kb_cloud *cloud)
{
    for (size_t cell = 0; cell < cloud->n_points; cell++)
        for (size_t axis = cloud->n_axes, rest = cell; axis-- > 0; rest /= cloud->n_grid[axis])
            cloud->point[cell + axis * cloud->n_points] = cloud->grid[axis][rest % cloud->n_grid[axis]];
}

static void place_rows(kb_cloud *cloud, const kbass_data *data)
{
    for (size_t row = 0; row < cloud->n_points; row++)
        for (size_t axis = 0; axis < cloud->n_axes; axis++)
            cloud->point[row + axis * cloud->n_points] = scaled(cloud, axis, kb_data_coordinate(data, row, axis));
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
static void gather_values(kb_cloud *cloud, const kbass_data *data, const size_t *place, size_t field, double reference,
                          double *precision)
{
    double *value = cloud->value + field * cloud->n_points, *measured = cloud->measured + field * cloud->n_points;
    for (size_t row = 0; row < data->n_rows; row++) {
        double u = data->values[row * data->n_states + field];
        if (isnan(u)) continue;
        double own = 1 / row_variance(data, row, field, reference), *sum = &precision[place[row]];
        value[place[row]] += (u - value[place[row]]) * own / (*sum + own);
        *sum += own;
    }
    for (size_t i = 0; i < cloud->n_points; i++) {
        measured[i] = precision[i] > 0;
        cloud->count[field] += precision[i] > 0;
        if (cloud->relative) cloud->relative[i + field * cloud->n_points] = precision[i] > 0 ? 1 / precision[i] : 1;
    }
    cloud->n_values += cloud->count[field];
}

/* `all` are the data that the run is of. */
static kbass_status take_values(kb_cloud *cloud, const kbass_data *all, const kbass_data *run, const size_t *place,
                                kbass_error *error)
{
    double *precision = KB_NEW(double, cloud->n_points);
    if (!precision) return kb_out_of_memory(error, "the scaled data");
    for (size_t field = 0; field < cloud->n_fields; field++) {
        memset(precision, 0, cloud->n_points * sizeof *precision);
        gather_values(cloud, run, place, field, kb_noise_reference(all, field), precision);
    }
    kb_free(precision);
    return KBASS_OK;
}

/* One mean and one sd for all runs. */
static void scale_field(size_t n_clouds, kb_cloud *const *clouds, size_t field, double reference)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t c = 0; c < n_clouds; c++) {
        n += (double)clouds[c]->count[field];
        for (size_t i = 0; i < clouds[c]->n_points; i++) sum += clouds[c]->value[i + field * clouds[c]->n_points];
    }
    double mean = sum / n;
    for (size_t c = 0; c < n_clouds; c++)
        for (size_t i = field * clouds[c]->n_points; i < (field + 1) * clouds[c]->n_points; i++)
            squares += clouds[c]->measured[i] * (clouds[c]->value[i] - mean) * (clouds[c]->value[i] - mean);
    double sd = sqrt(squares / n);
    for (size_t c = 0; c < n_clouds; c++) {
        double *value = clouds[c]->value, *measured = clouds[c]->measured;
        clouds[c]->mean[field] = mean;
        clouds[c]->sd[field] = sd;
        if (reference > 0) clouds[c]->known_variance[field] = reference / (sd * sd);
        for (size_t i = field * clouds[c]->n_points; i < (field + 1) * clouds[c]->n_points; i++)
            value[i] = measured[i] * (value[i] - mean) / sd;
    }
}

/* ---------------------------------------------------------------- life */

static kbass_status allocate(const kbass_data *data, const kb_grid *grid, kb_cloud **out, kbass_error *error)
{
    kb_cloud *cloud = *out = KB_NEW(kb_cloud, 1);
    if (!cloud) return kb_out_of_memory(error, "the scaled data");
    size_t n = cloud->n_points = grid->is_grid ? grid->n_cells : data->n_rows, fields = data->n_states;
    cloud->gridded = grid->is_grid;
    cloud->n_axes = data->n_axes;
    cloud->n_fields = fields;
    cloud->mean = KB_NEW(double, fields);
    cloud->sd = KB_NEW(double, fields);
    cloud->known_variance = KB_NEW(double, fields);
    cloud->count = KB_NEW(size_t, fields);
    cloud->point = KB_NEW(double, n * data->n_axes);
    cloud->value = KB_NEW(double, n *fields);
    cloud->measured = KB_NEW(double, n *fields);
    bool is_weighted = data->sigma || (grid->is_grid && grid->n_taken < data->n_rows);
    if (is_weighted) cloud->relative = KB_NEW(double, n *fields);
    bool all = true;
    for (size_t axis = 0; all && axis < data->n_axes; axis++)
        all = (cloud->grid[axis] = KB_NEW(double, grid->n[axis])) != NULL;
    all = all && cloud->mean && cloud->sd && cloud->known_variance && cloud->count && cloud->point && cloud->value &&
          cloud->measured && (cloud->relative || !is_weighted);
    return all ? KBASS_OK : kb_out_of_memory(error, "the scaled data");
}

/* One run as it stands: points and values not scaled yet. */
static kbass_status take_run(const kbass_data *all, const kbass_data *run, kb_cloud **out, kbass_error *error)
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

kbass_status kb_cloud_create_runs(const kbass_data *data, const char *noise, kb_cloud **clouds, bool *is_one,
                                  kbass_error *error)
{
    size_t n = kbass_data_runs(data);
    kbass_status status = kb_data_check(data, error);
    for (size_t i = 0; i < n; i++) clouds[i] = NULL;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kbass_data run = kb_data_run(data, i);
        status = take_run(data, &run, &clouds[i], error);
    }
    if (status == KBASS_OK) {
        *is_one = share_domains(n, clouds);
        for (size_t f = 0; f < data->n_states; f++) scale_field(n, clouds, f, kb_noise_reference(data, f));
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kbass_data run = kb_data_run(data, i);
        scale_axes(clouds[i]);
        if (clouds[i]->gridded) place_grid(clouds[i]);
        else place_rows(clouds[i], &run);
        if (noise) status = kb_noise_read(data, noise, clouds[i]->sd, clouds[i]->known_variance, error);
    }
    for (size_t i = 0; status != KBASS_OK && i < n; i++) {
        kb_cloud_destroy(clouds[i]);
        clouds[i] = NULL;
    }
    return status;
}

kbass_status kb_cloud_create(const kbass_data *data, const char *noise, kb_cloud **out, kbass_error *error)
{
    kbass_data whole = *data;
    kb_cloud *cloud = NULL;
    bool is_one;
    whole.n_runs = 0;
    kbass_status status = kb_cloud_create_runs(&whole, noise, &cloud, &is_one, error);
    if (status == KBASS_OK) *out = cloud;
    return status;
}

void kb_cloud_destroy(kb_cloud *cloud)
{
    if (!cloud) return;
    for (size_t axis = 0; axis < KB_CLOUD_AXES; axis++) {
        kb_free(cloud->grid[axis]);
        kb_free(cloud->mesh[axis]);
    }
    kb_free(cloud->mean);
    kb_free(cloud->sd);
    kb_free(cloud->known_variance);
    kb_free(cloud->count);
    kb_free(cloud->point);
    kb_free(cloud->value);
    kb_free(cloud->measured);
    kb_free(cloud->relative);
    kb_free(cloud);
}
