#include "collocation/patch.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "tensor/rows.h"

/* ---------------------------------------------------------------- the data inside */

static bool is_inside(const kb_patch *p, size_t point)
{
    for (size_t a = 0; a < p->n_axes; a++) {
        double s = p->samples->point[point + a * p->samples->n_points];
        if (!(s >= p->lo[a] - 1e-9 && s <= p->hi[a] + 1e-9)) return false;
    }
    return true;
}

static bool has_all(const kb_field_samples *samples, size_t point)
{
    for (size_t i = 0; i < samples->n_fields; i++)
        if (samples->measured[point + i * samples->n_points] == 0) return false;
    return true;
}

/* The points inside, in the patch's order: those of samples have the last axis fastest, a tensor's the first. */
static void list_points(kb_patch *p, size_t *points)
{
    const kb_field_samples *samples = p->samples;
    size_t n = 0;
    p->gridded = samples->gridded;
    for (size_t i = 0; i < samples->n_points; i++) {
        if (!is_inside(p, i)) continue;
        if (!has_all(samples, i) || samples->relative) p->gridded = false;
        points[n++] = i;
    }
    p->n_points = n;
}

/* Grid lines inside the patch along an axis. */
static size_t grid_lines(const kb_patch *p, size_t axis, const double **first)
{
    const double *grid = p->samples->grid[axis];
    size_t begin = 0, end = p->samples->n_grid[axis];
    while (begin < end && grid[begin] < p->lo[axis] - 1e-9) begin++;
    while (end > begin && grid[end - 1] > p->hi[axis] + 1e-9) end--;
    *first = grid + begin;
    return end - begin;
}

static void reorder(const kb_patch *p, const size_t *points, size_t *ordered)
{
    size_t lines[KB_SAMPLE_AXES];
    const double *unused;
    for (size_t a = 0; a < p->n_axes; a++) lines[a] = grid_lines(p, a, &unused);
    for (size_t i = 0; i < p->n_points; i++) {
        size_t stride = 1, at = 0, index[KB_SAMPLE_AXES];
        for (size_t a = p->n_axes, rest = i; a-- > 0; rest /= lines[a]) index[a] = rest % lines[a];
        for (size_t a = 0; a < p->n_axes; stride *= lines[a++]) at += stride * index[a];
        ordered[at] = points[i];
    }
}

static void measure_spread(kb_patch *p)
{
    for (size_t i = 0; i < p->n_fields; i++) {
        const double *y = p->value + i * p->n_points;
        double mean = 0, squares = 0;
        for (size_t j = 0; j < p->n_points; j++) mean += y[j], squares += y[j] * y[j];
        if (p->count[i] > 0) p->spread += squares / p->count[i] - pow(mean / p->count[i], 2);
    }
}

static double root_of(const kb_patch *p, size_t point)
{
    double root = 1;
    for (size_t a = 0; a < p->n_axes; a++)
        root *= kb_axis_root(p->axis[a], p->samples->point[point + a * p->samples->n_points]);
    return root;
}

static kbass_status copy_data(kb_patch *p, const size_t *points, kbass_error *error)
{
    const kb_field_samples *samples = p->samples;
    p->value = KB_NEW(double, p->n_points * p->n_fields);
    p->measured = KB_NEW(double, p->n_points * p->n_fields);
    p->count = KB_NEW(double, p->n_fields);
    if (!p->value || !p->measured || !p->count) return kb_out_of_memory(error, "a patch's data");
    for (size_t i = 0; i < p->n_fields; i++)
        for (size_t j = 0; j < p->n_points; j++) {
            size_t from = points[j] + i * samples->n_points, to = j + i * p->n_points;
            double root = root_of(p, points[j]);
            p->value[to] = root * samples->value[from];
            p->measured[to] = samples->measured[from] * kb_field_samples_root(samples, from);
            p->count[i] += samples->measured[from] * root * root;
            p->n_values += samples->measured[from] != 0;
        }
    measure_spread(p);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- life */

static int highest_order(const kb_dictionary *dictionary, size_t axis)
{
    int highest = axis ? 0 : dictionary->time_order;
    for (size_t v = 0; v < dictionary->n_variables; v++)
        if (dictionary->variables[v].axis < 0 && dictionary->variables[v].order[axis] > highest)
            highest = dictionary->variables[v].order[axis];
    return highest;
}

/* As many as the shortest length scales need, within the limit for all fields together. */
static size_t most_unknowns(const kb_patch *p, const kb_patch_scales *scales)
{
    double estimate = p->whole ? 1 : kb_ball_share(p->n_axes), limit = KB_PATCH_UNKNOWNS / (double)p->n_fields;
    for (size_t a = 0; a < p->n_axes; a++)
        estimate *= kb_axis_rank_estimate(p->hi[a] - p->lo[a], scales->shortest[a]) + 2;
    return (size_t)fmin(estimate, limit);
}

/* The period of an axis that the patch sees whole, or 0. */
static double whole_period(const kb_patch *p, size_t axis)
{
    return p->lo[axis] <= 0 && p->hi[axis] >= 1 ? p->samples->period[axis] : 0;
}

static kbass_status create_axes(kb_patch *p, const kb_patch_scales *scales, const size_t *points, double *coordinates,
                                kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t a = 0; status == KBASS_OK && a < p->n_axes; a++) {
        const double *lines = coordinates;
        size_t n = p->n_points;
        if (p->gridded) n = grid_lines(p, a, &lines);
        else
            for (size_t i = 0; i < n; i++) coordinates[i] = p->samples->point[points[i] + a * p->samples->n_points];
        kb_axis_plan plan = {.kind = scales->kind,
                             .lo = p->lo[a],
                             .hi = p->hi[a],
                             .period = whole_period(p, a),
                             .unit = scales->unit[a],
                             .shortest = scales->shortest[a],
                             .margin = scales->margin,
                             .highest = highest_order(p->dictionary, a),
                             .n_axes = p->n_axes,
                             .shares_lo = scales->shares && p->lo[a] > 1e-9,
                             .shares_hi = scales->shares && p->hi[a] < 1 - 1e-9};
        plan.n_given = p->samples->n_mesh[a];
        plan.given = p->samples->mesh[a];
        status = kb_axis_create(&plan, n, lines, &p->axis[a], error);
    }
    return status;
}

kbass_status kb_patch_create(const kb_field_samples *samples, const kb_dictionary *dictionary, const double *lo,
                             const double *hi, const kb_patch_scales *scales, kb_patch **out, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_patch *p = KB_NEW(kb_patch, 1);
    size_t *points = KB_NEW(size_t, samples->n_points), *ordered = KB_NEW(size_t, samples->n_points);
    double *coordinates = KB_NEW(double, samples->n_points);
    if (!p || !points || !ordered || !coordinates) status = kb_out_of_memory(error, "a patch");
    if (status == KBASS_OK) {
        *p = (kb_patch){
            .samples = samples, .dictionary = dictionary, .n_axes = samples->n_axes, .n_fields = samples->n_fields};
        memcpy(p->lo, lo, p->n_axes * sizeof *lo);
        memcpy(p->hi, hi, p->n_axes * sizeof *hi);
        p->whole = scales->whole || p->n_axes == 2;
        p->most = scales->most ? scales->most : most_unknowns(p, scales);
        list_points(p, points);
        if (p->gridded) reorder(p, points, ordered);
        status = create_axes(p, scales, points, coordinates, error);
    }
    if (status == KBASS_OK) status = copy_data(p, p->gridded ? ordered : points, error);
    if (status == KBASS_OK) status = kb_products_create(p->most, &p->kept, error);
    if (status == KBASS_OK) status = kb_products_create(p->most, &p->before, error);
    kb_free(points);
    kb_free(ordered);
    kb_free(coordinates);
    if (status == KBASS_OK) *out = p;
    else kb_patch_destroy(p);
    return status;
}

void kb_patch_destroy(kb_patch *p)
{
    if (!p) return;
    for (size_t a = 0; a < p->n_axes; a++) kb_axis_destroy(p->axis[a]);
    kb_free(p->value);
    kb_free(p->measured);
    kb_free(p->count);
    kb_products_clear(&p->kept);
    kb_products_clear(&p->before);
    kb_free(p);
}

/* ---------------------------------------------------------------- levels */

static kbass_status find_levels(kb_patch *p, kb_steps steps, const kb_axis_level **level, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t a = 0; status == KBASS_OK && a < p->n_axes; a++)
        status = kb_axis_level_at(p->axis[a], a ? steps.space : steps.time, &level[a], error);
    return status;
}

kbass_status kb_patch_set_level(kb_patch *p, kb_steps steps, kbass_error *error)
{
    kbass_status status = find_levels(p, steps, p->level, error);
    if (status != KBASS_OK) return status;
    kb_products_choose(&p->kept, p->n_axes, p->level, p->most, p->whole);
    p->n = p->kept.n;
    p->n_places = 1;
    for (size_t a = 1; a < p->n_axes; a++) p->n_places *= p->level[a]->n_inner;
    p->n_mesh = p->n_places * p->level[0]->n_inner;
    return KBASS_OK;
}

/* Doubles that hold the coefficients of any level as a tensor, when they are not one anyway. */
static size_t tensor_size(const kb_patch *p)
{
    size_t size = 1;
    if (p->whole) return 0;
    for (size_t a = 0; a < p->n_axes; a++) size *= p->axis[a]->n_mesh;
    return size;
}

/* Per axis a matrix between ranks of at most the mesh, the chain's workspace, and the field before and after. */
size_t kb_patch_transfer_work(const kb_patch *p)
{
    size_t squares = 0, largest = 1;
    for (size_t a = 0; a < p->n_axes; a++) {
        squares += p->axis[a]->n_mesh * p->axis[a]->n_mesh;
        largest *= p->axis[a]->n_mesh;
    }
    return squares + 2 * largest + 2 * tensor_size(p);
}

/* z = the tensor's kept entries */
static void take(const kb_patch *p, const double *tensor, double *z)
{
    memset(z, 0, p->n * sizeof *z);
    kb_products_gather(&p->kept, 1, tensor, z);
}

kbass_status kb_patch_transfer(kb_patch *p, kb_steps from, const double *z_from, double *z, double *work,
                               kbass_error *error)
{
    const kb_axis_level *level[KB_SAMPLE_AXES];
    kb_mode modes[KB_SAMPLE_AXES];
    size_t size = tensor_size(p);
    double *before = work, *after = work + size;
    kbass_status status = find_levels(p, from, level, error);
    if (status != KBASS_OK) return status;
    kb_products_choose(&p->before, p->n_axes, level, p->most, p->whole);
    work += 2 * size;
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t rank = p->kept.rank[a], rank_from = p->before.rank[a];
        kb_axis_transfer(p->axis[a], level[a], rank_from, p->level[a], rank, work);
        modes[a] = (kb_mode){rank, rank_from, rank, work};
        work += p->axis[a]->n_mesh * p->axis[a]->n_mesh;
    }
    for (size_t i = 0; i < p->n_fields; i++, z += p->n) {
        const double *tensor = kb_products_open(&p->before, z_from + i * p->before.n, before);
        kb_modes_product(p->n_axes, modes, tensor, p->whole ? z : after, work);
        if (!p->whole) take(p, after, z);
    }
    return KBASS_OK;
}

void kb_patch_modes(const kb_patch *p, const int *order, kb_mode *modes)
{
    for (size_t a = 0; a < p->n_axes; a++) {
        const kb_axis_level *level = p->level[a];
        modes[a] = (kb_mode){level->n_inner, p->kept.rank[a], p->axis[a]->n_mesh, level->mesh[order[a]] + level->first};
    }
}

/* ---------------------------------------------------------------- the field at the data */

void kb_patch_data_modes(const kb_patch *p, kb_mode *modes)
{
    for (size_t a = 0; a < p->n_axes; a++)
        modes[a] = (kb_mode){p->axis[a]->n_data, p->kept.rank[a], p->axis[a]->n_data, p->level[a]->data};
}

/* rows[p, (a, i)] = phi_0[p, a] phi_1[p, b] phi_2[p, c] ..., product i of space being (b, c, ..); the place of the last
   a holds the product of space until its turn comes. */
void kb_patch_rows(const kb_patch *p, double *rows)
{
    size_t n = p->n_points;
    const size_t *first = p->kept.first;
    for (size_t i = 0; i < p->kept.n_space; i++) {
        double *space = rows + (first[i + 1] - 1) * n;
        for (size_t j = 0; j < n; j++) space[j] = 1;
        for (size_t a = 1; a < p->n_axes; a++) {
            const double *feature = p->level[a]->data + kb_products_index(&p->kept, i, a) * n;
            for (size_t j = 0; j < n; j++) space[j] *= feature[j];
        }
        for (size_t q = first[i]; q < first[i + 1]; q++) {
            const double *time = p->level[0]->data + (q - first[i]) * n;
            for (size_t j = 0; j < n; j++) rows[j + q * n] = time[j] * space[j];
        }
    }
}

/* A tensor, and the chain's workspace or, scattered, n_points times the tensor of space: at most `most`, as are rows.
 */
size_t kb_patch_data_work(const kb_patch *p)
{
    size_t largest = 1, tensor = tensor_size(p);
    if (!p->gridded) return tensor + p->n_points * p->most;
    for (size_t a = 0; a < p->n_axes; a++)
        largest *= p->axis[a]->n_data > p->axis[a]->n_mesh ? p->axis[a]->n_data : p->axis[a]->n_mesh;
    return tensor + 2 * largest;
}

void kb_patch_residual(const kb_patch *p, size_t field, const double *z, double *r, double *work)
{
    const double *y = p->value + field * p->n_points, *measured = p->measured + field * p->n_points;
    const double *tensor = kb_products_open(&p->kept, z, work);
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_data_modes(p, modes);
    work += tensor_size(p);
    if (p->gridded) kb_modes_product(p->n_axes, modes, tensor, r, work);
    else kb_rows_product(p->n_axes, modes, tensor, r, work);
    for (size_t i = 0; i < p->n_points; i++) r[i] = measured[i] * (r[i] - y[i]);
}

void kb_patch_pull(const kb_patch *p, const double *r, double *z, double *work)
{
    double *tensor = p->whole ? z : work;
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_data_modes(p, modes);
    work += tensor_size(p);
    if (p->gridded) kb_modes_adjoint(p->n_axes, modes, r, tensor, work);
    else kb_rows_adjoint(p->n_axes, modes, r, tensor, work);
    if (!p->whole) take(p, tensor, z);
}
