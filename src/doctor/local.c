#include "doctor/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

/* By the number of axes: cells per length scale, and how many cells make a neighbourhood. */
static const double fineness[KB_SAMPLE_AXES + 1] = {0, 6, 4, 3, 3};
static const size_t neighbours[KB_SAMPLE_AXES + 1] = {0, 60, 100, 120, 120};

/* ---------------------------------------------------------------- cells */

typedef struct {
    long long key[KB_SAMPLE_AXES];
    size_t point;
} address;

static int by_key(const void *left, const void *right)
{
    const address *a = left, *b = right;
    for (size_t k = 0; k < KB_SAMPLE_AXES; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
    return 0;
}

/* The measured points, sorted by cell. */
static size_t find_cells(const kb_local *local, const kb_field_samples *cloud, const bool *skip, address *addresses)
{
    size_t n = 0;
    for (size_t p = 0; p < cloud->n_points; p++) {
        if (cloud->measured[p] == 0 || (skip && skip[p])) continue;
        addresses[n] = (address){.point = p};
        for (size_t a = 0; a < cloud->n_axes; a++) {
            double coordinate = cloud->point[p + a * cloud->n_points];
            addresses[n].key[a] = (long long)floor(coordinate / local->length[a] * fineness[cloud->n_axes]);
        }
        n++;
    }
    qsort(addresses, n, sizeof *addresses, by_key);
    return n;
}

static void average_cells(kb_local *local, const kb_field_samples *cloud, size_t n, const address *addresses)
{
    size_t axes = cloud->n_axes, c = 0;
    for (size_t i = 0; i < n; i++) {
        size_t p = addresses[i].point;
        if (i && by_key(&addresses[i - 1], &addresses[i])) c++;
        local->cell[p] = c;
        local->weight[c] += 1;
        local->value[c] += (cloud->value[p] - local->value[c]) / local->weight[c];
        for (size_t a = 0; a < axes; a++)
            local->point[c * axes + a] +=
                (cloud->point[p + a * cloud->n_points] - local->point[c * axes + a]) / local->weight[c];
    }
    local->n_cells = n ? c + 1 : 0;
    for (size_t p = 0; p < cloud->n_points; p++)
        if (local->cell[p] == SIZE_MAX) local->cell[p] = local->n_cells;
}

static bool allocate(kb_local *local, size_t n)
{
    size_t m = local->most = neighbours[local->n_axes];
    local->point = KB_NEW(double, n * local->n_axes);
    local->value = KB_NEW(double, n);
    local->weight = KB_NEW(double, n);
    local->cell = KB_NEW(size_t, n);
    local->near = KB_NEW(size_t, m);
    local->distance = KB_NEW(double, m);
    local->factor = KB_NEW(double, m *m);
    local->solved = KB_NEW(double, m);
    local->cross = KB_NEW(double, m);
    return local->point && local->value && local->weight && local->cell && local->near && local->distance &&
           local->factor && local->solved && local->cross;
}

kbass_status kb_local_create(const kb_field_samples *cloud, const kb_bare_field *gp, const bool *skip, kb_local **out,
                             kbass_error *error)
{
    kb_local *local = KB_NEW(kb_local, 1);
    address *addresses = KB_NEW(address, cloud->n_points);
    bool complete = local && addresses;
    if (complete) {
        local->n_axes = cloud->n_axes;
        memcpy(local->length, gp->length, sizeof local->length);
        local->amplitude = gp->amplitude[0];
        local->variance = fmax(gp->variance[0], 1e-10 * gp->amplitude[0]);
        complete = allocate(local, cloud->n_points);
    }
    if (complete) {
        memset(local->cell, 0xff, cloud->n_points * sizeof *local->cell);
        average_cells(local, cloud, find_cells(local, cloud, skip, addresses), addresses);
        *out = local;
    } else {
        kb_local_destroy(local);
    }
    kb_free(addresses);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the local regression");
}

void kb_local_destroy(kb_local *local)
{
    if (!local) return;
    double *arrays[] = {local->point,  local->value,  local->weight, local->distance,
                        local->factor, local->solved, local->cross};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(local->cell);
    kb_free(local->near);
    kb_free(local);
}

/* ---------------------------------------------------------------- the neighbourhood */

/* sum_a (x_a - y_a)^2 / length_a^2 */
static double squared_distance(const kb_local *local, const double *x, const double *y)
{
    double sum = 0;
    for (size_t a = 0; a < local->n_axes; a++) {
        double d = (x[a] - y[a]) / local->length[a];
        sum += d * d;
    }
    return sum;
}

static void choose_near(kb_local *local, size_t without)
{
    size_t n = 0;
    for (size_t c = 0; c < local->n_cells; c++) {
        if (c == without) continue;
        double d = squared_distance(local, local->at, local->point + c * local->n_axes);
        if (n == local->most && !(d < local->distance[n - 1])) continue;
        size_t place = n < local->most ? n++ : n - 1;
        for (; place > 0 && local->distance[place - 1] > d; place--) {
            local->distance[place] = local->distance[place - 1];
            local->near[place] = local->near[place - 1];
        }
        local->distance[place] = d;
        local->near[place] = c;
    }
    local->n_near = n;
}

/* (a K + v/weight) alpha = value */
bool kb_local_go(kb_local *local, const double *point, size_t without)
{
    memcpy(local->at, point, local->n_axes * sizeof *point);
    choose_near(local, without);
    size_t n = local->n_near;
    for (size_t j = 0; j < n; j++) {
        const double *y = local->point + local->near[j] * local->n_axes;
        for (size_t i = j; i < n; i++) {
            double d = squared_distance(local, local->point + local->near[i] * local->n_axes, y);
            local->factor[i + j * n] = local->amplitude * exp(-0.5 * d);
        }
        local->factor[j + j * n] += local->variance / local->weight[local->near[j]];
        local->solved[j] = local->value[local->near[j]];
    }
    if (!n || !kb_cholesky(n, local->factor, n)) return false;
    kb_cholesky_solve(n, 1, local->factor, n, local->solved, n);
    return true;
}

/* Covariances of the derivative with the cells. */
static void fill_cross(kb_local *local, const int *order)
{
    for (size_t i = 0; i < local->n_near; i++) {
        const double *y = local->point + local->near[i] * local->n_axes;
        local->cross[i] = local->amplitude;
        for (size_t a = 0; a < local->n_axes; a++) {
            kb_kernel kernel = {KB_KERNEL_SE, local->length[a], 1};
            local->cross[i] *= kb_kernel_derivative(&kernel, local->at[a], y[a], order[a]);
        }
    }
}

double kb_local_mean(kb_local *local, const int *order)
{
    fill_cross(local, order);
    return kb_dot(local->n_near, local->cross, local->solved);
}

double kb_local_variance(kb_local *local, const int *order)
{
    fill_cross(local, order);
    kb_lower_solve(local->n_near, 1, local->factor, local->n_near, local->cross, local->n_near);
    return fmax(kb_local_prior(local, order) - kb_dot(local->n_near, local->cross, local->cross), 0);
}

/* a prod_a (2k_a - 1)!! / length_a^{2 k_a} */
double kb_local_prior(const kb_local *local, const int *order)
{
    double variance = local->amplitude;
    for (size_t a = 0; a < local->n_axes; a++)
        for (int k = 1; k <= order[a]; k++) variance *= (2 * k - 1) / (local->length[a] * local->length[a]);
    return variance;
}
