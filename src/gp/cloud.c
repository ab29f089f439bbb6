#include "gp/cloud.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/grid.h"
#include "gp/noise.h"

/* ---------------------------------------------------------------- points */

static double scaled(const kb_cloud *cloud, size_t axis, double coordinate)
{
    return fmin((coordinate - cloud->first[axis]) / cloud->span[axis], 1);
}

static void scale_axes(kb_cloud *cloud, const kb_grid *grid)
{
    for (size_t axis = 0; axis < cloud->n_axes; axis++) {
        size_t n = cloud->n_grid[axis] = grid->n[axis];
        const double *at = grid->at[axis];
        cloud->first[axis] = at[0];
        cloud->span[axis] = at[n - 1] - at[0];
        cloud->spacing[axis] = grid->spacing[axis] / cloud->span[axis];
        for (size_t i = 0; i < n; i++) cloud->grid[axis][i] = scaled(cloud, axis, at[i]);
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
        else         axes++;
    }
    for (size_t axis = 0; axis < cloud->n_axes; axis++)
        if (2 * cloud->n_grid[axis] > cloud->n_points) cloud->spacing[axis] = pow(fmax(points, 1), -1 / axes);
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
static void gather_values(kb_cloud *cloud, const kbass_data *data, const size_t *place, size_t field, double *precision)
{
    double reference = kb_noise_reference(data, field), *value = cloud->value + field * cloud->n_points;
    for (size_t row = 0; row < data->n_rows; row++) {
        double u = data->values[row * data->n_states + field];
        if (isnan(u)) continue;
        double own = 1 / row_variance(data, row, field, reference), *sum = &precision[place[row]];
        value[place[row]] += (u - value[place[row]]) * own / (*sum + own);
        *sum += own;
    }
}

static void scale_field(kb_cloud *cloud, size_t field, const double *precision)
{
    double sum = 0, squares = 0;
    double *value = cloud->value + field * cloud->n_points, *measured = cloud->measured + field * cloud->n_points;
    for (size_t i = 0; i < cloud->n_points; i++) {
        measured[i] = precision[i] > 0;
        cloud->count[field] += precision[i] > 0;
        sum += value[i];
        if (cloud->relative) cloud->relative[i + field * cloud->n_points] = precision[i] > 0 ? 1 / precision[i] : 1;
    }
    double n = (double)cloud->count[field], mean = sum / n;
    for (size_t i = 0; i < cloud->n_points; i++) squares += measured[i] * (value[i] - mean) * (value[i] - mean);
    cloud->mean[field] = mean;
    cloud->sd[field] = sqrt(squares / n);
    for (size_t i = 0; i < cloud->n_points; i++) value[i] = measured[i] * (value[i] - mean) / cloud->sd[field];
    cloud->n_values += cloud->count[field];
}

static kbass_status take_values(kb_cloud *cloud, const kbass_data *data, const size_t *place, const char *noise,
                                kbass_error *error)
{
    double *precision = KB_NEW(double, cloud->n_points);
    if (!precision) return kb_out_of_memory(error, "the scaled data");
    for (size_t field = 0; field < cloud->n_fields; field++) {
        memset(precision, 0, cloud->n_points * sizeof *precision);
        gather_values(cloud, data, place, field, precision);
        scale_field(cloud, field, precision);
        double reference = kb_noise_reference(data, field);
        if (reference > 0) cloud->known_variance[field] = reference / (cloud->sd[field] * cloud->sd[field]);
    }
    kb_free(precision);
    return noise ? kb_noise_read(data, noise, cloud->sd, cloud->known_variance, error) : KBASS_OK;
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
    cloud->value = KB_NEW(double, n * fields);
    cloud->measured = KB_NEW(double, n * fields);
    bool is_weighted = data->sigma || (grid->is_grid && grid->n_taken < data->n_rows);
    if (is_weighted) cloud->relative = KB_NEW(double, n * fields);
    bool all = true;
    for (size_t axis = 0; all && axis < data->n_axes; axis++)
        all = (cloud->grid[axis] = KB_NEW(double, grid->n[axis])) != NULL;
    all = all && cloud->mean && cloud->sd && cloud->known_variance && cloud->count && cloud->point && cloud->value &&
               cloud->measured && (cloud->relative || !is_weighted);
    return all ? KBASS_OK : kb_out_of_memory(error, "the scaled data");
}

static kbass_status fill(kb_cloud *cloud, const kbass_data *data, const kb_grid *grid, const char *noise, kbass_error *error)
{
    size_t *place = KB_NEW(size_t, data->n_rows);
    if (!place) return kb_out_of_memory(error, "the scaled data");
    for (size_t row = 0; row < data->n_rows; row++) place[row] = grid->is_grid ? kb_grid_cell(grid, data, row) : row;
    scale_axes(cloud, grid);
    if (cloud->gridded) {
        place_grid(cloud);
    } else {
        space_scattered(cloud);
        place_rows(cloud, data);
    }
    kbass_status status = take_values(cloud, data, place, noise, error);
    kb_free(place);
    return status;
}

kbass_status kb_cloud_create(const kbass_data *data, const char *noise, kb_cloud **out, kbass_error *error)
{
    kb_grid grid = {0};
    kb_cloud *cloud = NULL;
    kbass_status status = kb_data_check(data, error);
    if (status == KBASS_OK) status = kb_grid_create(data, &grid, error);
    if (status == KBASS_OK) status = allocate(data, &grid, &cloud, error);
    if (status == KBASS_OK) status = fill(cloud, data, &grid, noise, error);

    if (status == KBASS_OK) *out = cloud;
    else                    kb_cloud_destroy(cloud);
    kb_grid_clear(&grid);
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
