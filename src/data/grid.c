#include "data/grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double same = 1e-9; /* of the span: what writing numbers as text and adding up steps leaves */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* ---------------------------------------------------------------- distinct coordinates */

/* Of those that came by so far: the sorted ones, then those that wait to be sorted in. */
typedef struct {
    double *at;
    size_t n, n_sorted, capacity;
    size_t last; /* where the last one was found */
} distinct;

static void sort_in(distinct *d)
{
    size_t n = 0;
    if (d->n > d->n_sorted) qsort(d->at, d->n, sizeof *d->at, ascending);
    for (size_t i = 0; i < d->n; i++)
        if (!n || d->at[i] > d->at[n - 1]) d->at[n++] = d->at[i];
    d->n = d->n_sorted = n;
}

/* The last of n that is not above. */
static size_t index_below(size_t n, const double *at, double coordinate)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (at[middle] <= coordinate) low = middle;
        else high = middle;
    }
    return low;
}

/* On a grid the next one follows the last, or begins anew. */
static bool is_known(distinct *d, double coordinate)
{
    size_t next = d->last + 1 < d->n_sorted ? d->last + 1 : 0;
    if (!d->n_sorted || d->at[d->last] == coordinate) return d->n_sorted > 0;
    d->last = d->at[next] == coordinate ? next : index_below(d->n_sorted, d->at, coordinate);
    return d->at[d->last] == coordinate;
}

static bool add(distinct *d, double coordinate)
{
    enum { FIRST = 1024 };
    if (is_known(d, coordinate)) return true;
    if (d->n - d->n_sorted > d->n_sorted + FIRST) sort_in(d);
    if (d->n == d->capacity) {
        size_t capacity = 2 * d->capacity + FIRST;
        double *grown = kb_resize(d->at, capacity, sizeof *grown);
        if (!grown) return false;
        d->at = grown;
        d->capacity = capacity;
    }
    d->n_sorted += d->n == d->n_sorted && (!d->n || coordinate > d->at[d->n - 1]);
    d->at[d->n++] = coordinate;
    return true;
}

/* Only the first of those that are too close to each other. */
static void thin(distinct *d)
{
    size_t n = 0;
    sort_in(d);
    double close = same * (d->at[d->n - 1] - d->at[0]);
    for (size_t i = 0; i < d->n; i++)
        if (!n || d->at[i] - d->at[n - 1] > close) d->at[n++] = d->at[i];
    d->n = n;
}

static bool are_distinct(size_t n, const double *at)
{
    double close = same * fmax(at[n - 1] - at[0], 0);
    size_t i = 1;
    while (i < n && at[i] - at[i - 1] > close) i++;
    return i >= n;
}

static bool list_coordinates(const kbass_data *data, size_t axis, kb_grid *grid)
{
    distinct d = {0};
    bool is_done = true;
    if (!axis && are_distinct(data->n_rows, data->times)) {
        grid->at[0] = data->times;
        grid->n[0] = data->n_rows;
        return true;
    }
    for (size_t row = 0; is_done && row < data->n_rows; row++) is_done = add(&d, kb_data_coordinate(data, row, axis));
    if (is_done) thin(&d);
    grid->at[axis] = grid->owned[axis] = d.at;
    grid->n[axis] = d.n;
    return is_done;
}

/* ---------------------------------------------------------------- distances */

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* The k-th smallest of n distances between neighbours, digit by digit: they are positive, and sorted as their bits. */
static double select_distance(size_t n, const double *at, size_t k)
{
    enum { WIDTH = 11, DIGITS = 1 << WIDTH };
    uint64_t found = 0;
    double distance;
    for (int shift = 5 * WIDTH; shift >= 0; shift -= WIDTH) {
        size_t count[DIGITS] = {0}, digit = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = bits_of(at[i + 1] - at[i]);
            if ((bits ^ found) >> shift >> WIDTH == 0) count[bits >> shift & (DIGITS - 1)]++;
        }
        while (k >= count[digit]) k -= count[digit++];
        found |= (uint64_t)digit << shift;
    }
    memcpy(&distance, &found, sizeof distance);
    return distance;
}

static void measure_spacing(size_t axis, kb_grid *grid)
{
    size_t n = grid->n[axis] - 1;
    const double *at = grid->at[axis];
    grid->nearest[axis] = n ? INFINITY : 0;
    for (size_t i = 0; i < n; i++) {
        grid->nearest[axis] = fmin(grid->nearest[axis], at[i + 1] - at[i]);
        grid->farthest[axis] = fmax(grid->farthest[axis], at[i + 1] - at[i]);
    }
    if (!n) return;
    grid->spacing[axis] = select_distance(n, at, n / 2);
    if (n % 2 == 0) grid->spacing[axis] = 0.5 * (select_distance(n, at, n / 2 - 1) + grid->spacing[axis]);
}

/* ---------------------------------------------------------------- the grid */

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
        if (!list_coordinates(data, axis, grid)) status = kb_out_of_memory(error, "the grid");
        if (status == KBASS_OK) measure_spacing(axis, grid);
        if (status == KBASS_OK) grid->n_cells = multiply(grid->n_cells, grid->n[axis]);
    }
    if (status == KBASS_OK) status = look_for_grid(data, grid, error);
    if (status != KBASS_OK) kb_grid_clear(grid);
    return status;
}

void kb_grid_clear(kb_grid *grid)
{
    for (size_t axis = 0; axis < KBASS_MAX_AXES; axis++) kb_free(grid->owned[axis]);
    *grid = (kb_grid){0};
}

/* The last coordinate that is not above: coordinates that count as one stand at the lowest of them. Even ones are found
   at the first guess. */
static size_t index_of(const kb_grid *grid, size_t axis, double coordinate)
{
    size_t n = grid->n[axis];
    const double *at = grid->at[axis];
    double share = (coordinate - at[0]) / (at[n - 1] - at[0]);
    size_t guess = share > 0 && share < 1 ? (size_t)(share * (double)(n - 1) + 0.5) : 0;
    bool is_right = at[guess] <= coordinate && guess + 1 < n && coordinate < at[guess + 1];
    return is_right ? guess : index_below(n, at, coordinate);
}

size_t kb_grid_cell(const kb_grid *grid, const kbass_data *data, size_t row)
{
    size_t cell = 0;
    for (size_t axis = 0; axis < grid->n_axes; axis++)
        cell = cell * grid->n[axis] + index_of(grid, axis, kb_data_coordinate(data, row, axis));
    return cell;
}
