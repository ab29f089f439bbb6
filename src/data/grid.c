#include "data/grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

static const double same = 1e-9; /* of the span: what writing numbers as text and adding up steps leaves */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static bool is_ascending(size_t n, const double *at)
{
    size_t i = 1;
    while (i < n && at[i - 1] <= at[i]) i++;
    return i >= n;
}

/* The k-th smallest of the values, which change their places (Wirth's selection). */
static double select_smallest(size_t n, double *values, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, at = (ptrdiff_t)k;
    while (low < high) {
        double pivot = values[at];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (j < at) low = i;
        if (at < i) high = j;
    }
    return values[k];
}

static bool list_coordinates(const kbass_data *data, size_t axis, kb_grid *grid)
{
    size_t n = 0;
    double *at = grid->at[axis] = KB_NEW(double, data->n_rows);
    if (!at) return false;
    for (size_t row = 0; row < data->n_rows; row++) at[row] = kb_data_coordinate(data, row, axis);
    if (!is_ascending(data->n_rows, at)) qsort(at, data->n_rows, sizeof *at, ascending);
    double close = same * (at[data->n_rows - 1] - at[0]);
    for (size_t i = 0; i < data->n_rows; i++)
        if (!n || at[i] - at[n - 1] > close) at[n++] = at[i];
    grid->n[axis] = n;
    return true;
}

static bool measure_spacing(size_t axis, kb_grid *grid)
{
    size_t n = grid->n[axis] - 1;
    double *gaps = KB_NEW(double, n);
    if (!gaps) return false;
    grid->nearest[axis] = n ? INFINITY : 0;
    for (size_t i = 0; i < n; i++) {
        gaps[i] = grid->at[axis][i + 1] - grid->at[axis][i];
        grid->nearest[axis] = fmin(grid->nearest[axis], gaps[i]);
        grid->farthest[axis] = fmax(grid->farthest[axis], gaps[i]);
    }
    if (n) grid->spacing[axis] = 0.5 * (select_smallest(n, gaps, (n - 1) / 2) + select_smallest(n, gaps, n / 2));
    kb_free(gaps);
    return true;
}

static size_t multiply(size_t a, size_t b) { return a > SIZE_MAX / b ? SIZE_MAX : a * b; }

static kbass_status look_for_grid(const kbass_data *data, kb_grid *grid, kbass_error *error)
{
    if (data->n_axes == 1) {
        grid->n_taken = grid->n[0];
        grid->is_grid = grid->n_taken == data->n_rows;
        return KBASS_OK;
    }
    if (grid->n_cells / 2 > data->n_rows) return KBASS_OK;
    bool *taken = KB_NEW(bool, grid->n_cells);
    if (!taken) return kb_out_of_memory(error, "the grid");
    for (size_t row = 0; row < data->n_rows; row++) {
        size_t cell = kb_grid_cell(grid, data, row);
        grid->n_taken += !taken[cell];
        taken[cell] = true;
    }
    grid->is_grid = grid->n_cells / 2 <= grid->n_taken;
    kb_free(taken);
    return KBASS_OK;
}

kbass_status kb_grid_create(const kbass_data *data, kb_grid *grid, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *grid = (kb_grid){.n_axes = data->n_axes, .n_cells = 1};
    for (size_t axis = 0; status == KBASS_OK && axis < data->n_axes; axis++) {
        bool is_done = list_coordinates(data, axis, grid) && measure_spacing(axis, grid);
        if (is_done) grid->n_cells = multiply(grid->n_cells, grid->n[axis]);
        else         status = kb_out_of_memory(error, "the grid");
    }
    if (status == KBASS_OK) status = look_for_grid(data, grid, error);
    if (status != KBASS_OK) kb_grid_clear(grid);
    return status;
}

void kb_grid_clear(kb_grid *grid)
{
    for (size_t axis = 0; axis < KBASS_MAX_AXES; axis++) kb_free(grid->at[axis]);
    *grid = (kb_grid){0};
}

/* The last coordinate that is not above: coordinates that count as one stand at the lowest of them. */
static size_t index_of(const kb_grid *grid, size_t axis, double coordinate)
{
    size_t low = 0, high = grid->n[axis];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (grid->at[axis][middle] <= coordinate) low = middle;
        else high = middle;
    }
    return low;
}

size_t kb_grid_cell(const kb_grid *grid, const kbass_data *data, size_t row)
{
    size_t cell = 0;
    for (size_t axis = 0; axis < grid->n_axes; axis++)
        cell = cell * grid->n[axis] + index_of(grid, axis, kb_data_coordinate(data, row, axis));
    return cell;
}
