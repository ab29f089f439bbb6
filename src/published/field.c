#include "published/field.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "tensor/rows.h"

static kb_published_axis *axis_of(const kb_published_field *f, size_t which, size_t a)
{
    return f->axis[which + a * f->n_fields];
}

size_t kb_published_field_size(const kb_published_field *f, size_t which)
{
    return f->first[which + 1] - f->first[which];
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Products of the numbers of nodes before an axis and behind it. */
static void sides(const kb_published_field *f, size_t which, size_t axis, size_t *left, size_t *right)
{
    *left = *right = 1;
    for (size_t a = 0; a < f->n_axes; a++)
        if (a != axis) *(a < axis ? left : right) *= axis_of(f, which, a)->rank;
}

/* ---------------------------------------------------------------- life */

void kb_published_field_destroy(kb_published_field *f)
{
    if (!f) return;
    for (size_t i = 0; f->axis && i < f->n_fields * f->n_axes; i++) kb_published_axis_destroy(f->axis[i]);
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) {
        kb_free(f->coordinate[a]);
        kb_free(f->row[a]);
    }
    double *arrays[] = {f->offset, f->unit, f->value, f->log_length, f->z,       f->u,
                        f->pull,   f->work, f->spare, f->product,    f->partial, f->force};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(f->axis);
    kb_free(f->place);
    kb_free(f->first);
    kb_free(f->first_node);
    kb_free(f);
}

static size_t count_rows(const kb_field_samples *c, size_t axis) { return c->gridded ? c->n_grid[axis] : c->n_points; }

static bool take_coordinates(kb_published_field *f)
{
    const kb_field_samples *c = f->samples;
    for (size_t a = 0; a < f->n_axes; a++) {
        size_t n = count_rows(c, a);
        f->coordinate[a] = KB_NEW(double, c->n_mesh[a]);
        f->row[a] = KB_NEW(double, n);
        if (!f->coordinate[a] || !f->row[a]) return false;
        for (size_t i = 0; i < c->n_mesh[a]; i++) f->coordinate[a][i] = f->reach[a] * c->mesh[a][i];
        for (size_t i = 0; i < n; i++)
            f->row[a][i] = f->reach[a] * (c->gridded ? c->grid[a][i] : c->point[i + a * c->n_points]);
    }
    return true;
}

/* Points of a grid lie with the last axis fastest; tensors with the first. */
static size_t place_of(const kb_field_samples *c, size_t point)
{
    size_t place = 0;
    if (!c->gridded) return point;
    for (size_t a = c->n_axes; a-- > 0; point /= c->n_grid[a]) {
        size_t stride = 1;
        for (size_t b = 0; b < a; b++) stride *= c->n_grid[b];
        place += point % c->n_grid[a] * stride;
    }
    return place;
}

static void take_values(kb_published_field *f)
{
    const kb_field_samples *c = f->samples;
    for (size_t p = 0; p < c->n_points; p++) f->place[p] = place_of(c, p);
    for (size_t i = 0; i < f->n_fields; i++)
        for (size_t p = i * c->n_points; p < (i + 1) * c->n_points; p++)
            f->value[p] = c->measured[p] > 0 ? (c->mean[i] + c->sd[i] * c->value[p] - f->offset[i]) / f->unit[i] : 0;
}

static bool allocate(kb_published_field *f)
{
    size_t n = f->n_fields;
    f->offset = KB_NEW(double, n);
    f->unit = KB_NEW(double, n);
    f->value = KB_NEW(double, n * f->samples->n_points);
    f->axis = KB_NEW(kb_published_axis *, n * f->n_axes);
    f->log_length = KB_NEW(double, n * f->n_axes);
    f->first = KB_NEW(size_t, n + 1);
    f->first_node = KB_NEW(size_t, n + 1);
    f->place = KB_NEW(size_t, f->samples->n_points);
    return f->offset && f->unit && f->value && f->axis && f->log_length && f->first && f->first_node && f->place;
}

/* Doubles of work for one field: tensors between coefficients, nodes, mesh and measurements. */
static size_t count_work(const kb_published_field *f, size_t which)
{
    kb_mode rows[KB_SAMPLE_AXES];
    size_t whole = 1;
    for (size_t a = 0; a < f->n_axes; a++) {
        const kb_published_axis *axis = axis_of(f, which, a);
        rows[a] = kb_published_axis_rows(axis);
        whole *= larger(larger(axis->n_mesh, axis->n), larger(axis->rank, f->samples->gridded ? axis->n_rows : 1));
    }
    size_t of_rows = f->samples->gridded ? kb_modes_work(f->n_axes, rows) : kb_rows_work(f->n_axes, rows);
    return larger(2 * whole, of_rows);
}

/* The leading axes' mesh, the last one's nodes. */
static size_t count_partial(const kb_published_field *f, size_t which)
{
    size_t n = axis_of(f, which, f->n_axes - 1)->rank;
    for (size_t a = 0; a + 1 < f->n_axes; a++) n *= axis_of(f, which, a)->n_mesh;
    return n;
}

static size_t count_cross(const kb_published_field *f, size_t which)
{
    size_t most = 1;
    for (size_t a = 0; a < f->n_axes; a++) most = larger(most, axis_of(f, which, a)->rank * axis_of(f, which, a)->n);
    return most;
}

/* Workspace for nodes and coefficients as they are; z is kept. */
static bool make_room(kb_published_field *f)
{
    size_t nodes = f->first_node[f->n_fields], total = larger(f->first[f->n_fields], nodes);
    size_t work = 1, partial = 1, tensor = larger(larger(f->n_mesh, f->samples->n_points), total);
    for (size_t i = 0; i < f->n_fields; i++) {
        work = larger(work, count_work(f, i));
        partial = larger(partial, count_partial(f, i));
        tensor = larger(tensor, count_cross(f, i));
    }
    double **arrays[] = {&f->u, &f->pull, &f->product, &f->partial, &f->force, &f->work, &f->spare};
    size_t sizes[] = {nodes, nodes, total, partial, partial, work, tensor};
    bool complete = true;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        kb_free(*arrays[k]);
        complete = (*arrays[k] = KB_NEW(double, sizes[k])) != NULL && complete;
    }
    f->partial_of = f->force_of = f->n_fields;
    return complete;
}

/* ---------------------------------------------------------------- nodes */

static void count_coefficients(kb_published_field *f)
{
    f->first[0] = f->first_node[0] = 0;
    for (size_t i = 0; i < f->n_fields; i++) {
        size_t n = 1, nodes = 1;
        for (size_t a = 0; a < f->n_axes; a++) {
            n *= axis_of(f, i, a)->n;
            nodes *= axis_of(f, i, a)->rank;
        }
        f->first[i + 1] = f->first[i] + n;
        f->first_node[i + 1] = f->first_node[i] + nodes;
    }
}

/* Moves one field's tensor along an axis: *z of `shape` x T. */
static bool move_tensor(const kb_published_field *f, size_t axis, const double *T, size_t n, size_t *shape, double **z)
{
    size_t left = 1, right = 1;
    kb_mode mode = {n, shape[axis], n, T};
    for (size_t a = 0; a < f->n_axes; a++)
        if (a != axis) *(a < axis ? &left : &right) *= shape[a];
    double *moved = KB_NEW(double, left *n *right);
    if (moved) kb_mode_product(&mode, left, right, *z, moved);
    kb_free(*z);
    *z = moved;
    shape[axis] = n;
    return moved != NULL;
}

/* New nodes for the axes of a field that need them; *z, its tensor, goes along. */
static kbass_status place_field(kb_published_field *f, size_t which, double **z, bool *placed, bool *changed,
                                kbass_error *error)
{
    size_t shape[KB_SAMPLE_AXES];
    kbass_status status = KBASS_OK;
    for (size_t a = 0; a < f->n_axes; a++) shape[a] = axis_of(f, which, a)->n;
    for (size_t a = 0; status == KBASS_OK && a < f->n_axes; a++) {
        kb_published_axis *axis = axis_of(f, which, a);
        double length = exp(f->log_length[which + a * f->n_fields]), *T = NULL;
        if (!kb_published_axis_is_far(axis, length)) continue;
        status = kb_published_axis_place(axis, length, &T, error);
        *placed = true;
        *changed = *changed || T;
        if (status == KBASS_OK && T && !move_tensor(f, a, T, axis->n, shape, z))
            status = kb_out_of_memory(error, "the field");
        kb_free(T);
    }
    return status;
}

static double *copy_of(size_t n, const double *x)
{
    double *copy = KB_NEW(double, n);
    if (copy && x) memcpy(copy, x, n * sizeof *copy);
    return copy;
}

static kbass_status gather(kb_published_field *f, double **parts, kbass_error *error)
{
    count_coefficients(f);
    double *z = KB_NEW(double, f->first[f->n_fields]);
    if (!z) return kb_out_of_memory(error, "the field");
    for (size_t i = 0; i < f->n_fields && f->z; i++)
        memcpy(z + f->first[i], parts[i], kb_published_field_size(f, i) * sizeof *z);
    kb_free(f->z);
    f->z = z;
    return make_room(f) ? KBASS_OK : kb_out_of_memory(error, "the field");
}

kbass_status kb_published_field_place(kb_published_field *f, bool *changed, kbass_error *error)
{
    double **parts = KB_NEW(double *, f->n_fields);
    kbass_status status = parts ? KBASS_OK : kb_out_of_memory(error, "the field");
    bool any = false;
    for (size_t i = 0; status == KBASS_OK && i < f->n_fields; i++) {
        changed[i] = false;
        parts[i] = copy_of(kb_published_field_size(f, i), f->z ? f->z + f->first[i] : NULL);
        status =
            parts[i] ? place_field(f, i, &parts[i], &any, &changed[i], error) : kb_out_of_memory(error, "the field");
    }
    if (status == KBASS_OK && any) status = gather(f, parts, error);
    for (size_t i = 0; parts && i < f->n_fields; i++) kb_free(parts[i]);
    kb_free(parts);
    return status;
}

kbass_status kb_published_field_compress(kb_published_field *f, bool *changed, kbass_error *error)
{
    for (size_t i = 0; i < f->n_fields * f->n_axes; i++) kb_published_axis_compress(f->axis[i]);
    return kb_published_field_place(f, changed, error);
}

static kbass_status create_axes(kb_published_field *f, const kb_kernel *kernels, double jitter, bool is_whole,
                                kbass_error *error)
{
    kbass_status status = KBASS_OK;
    const kb_field_samples *c = f->samples;
    for (size_t a = 0; a < f->n_axes; a++)
        for (size_t i = 0; status == KBASS_OK && i < f->n_fields; i++)
            status = kb_published_axis_create(&kernels[a], jitter, is_whole, c->n_mesh[a], f->coordinate[a],
                                              count_rows(c, a), f->row[a], &f->axis[i + a * f->n_fields], error);
    return status;
}

kbass_status kb_published_field_create(const kb_field_samples *samples, bool in_data_units, const kb_kernel *kernels,
                                       double jitter, bool is_whole, const double *lengths, kb_published_field **out,
                                       kbass_error *error)
{
    kb_published_field *f = KB_NEW(kb_published_field, 1);
    bool *changed = KB_NEW(bool, samples->n_fields);
    if (f)
        *f = (kb_published_field){
            .samples = samples, .n_axes = samples->n_axes, .n_fields = samples->n_fields, .n_mesh = 1};
    kbass_status status = f && changed && allocate(f) ? KBASS_OK : kb_out_of_memory(error, "the field");
    for (size_t a = 0; status == KBASS_OK && a < f->n_axes; a++) {
        f->reach[a] = in_data_units ? samples->span[a] : 1;
        f->n_mesh *= samples->n_mesh[a];
    }
    for (size_t i = 0; status == KBASS_OK && i < f->n_fields; i++) {
        f->offset[i] = in_data_units ? 0 : samples->mean[i];
        f->unit[i] = in_data_units ? 1 : samples->sd[i];
    }
    if (status == KBASS_OK && !take_coordinates(f)) status = kb_out_of_memory(error, "the field");
    if (status == KBASS_OK) status = create_axes(f, kernels, jitter, is_whole, error);
    if (status == KBASS_OK) {
        take_values(f);
        for (size_t i = 0; i < f->n_fields * f->n_axes; i++) f->log_length[i] = log(lengths[i]);
        status = kb_published_field_place(f, changed, error);
    }
    kb_free(changed);
    if (status == KBASS_OK) *out = f;
    else kb_published_field_destroy(f);
    return status;
}

/* ---------------------------------------------------------------- coefficients and nodes */

static void prior_modes(const kb_published_field *f, size_t which, kb_mode *modes)
{
    for (size_t a = 0; a < f->n_axes; a++) modes[a] = kb_published_axis_prior(axis_of(f, which, a));
}

bool kb_published_field_set(kb_published_field *f, const unsigned *orders)
{
    kb_mode modes[KB_SAMPLE_AXES];
    for (size_t i = 0; i < f->n_fields; i++) {
        for (size_t a = 0; a < f->n_axes; a++)
            if (!kb_published_axis_set(axis_of(f, i, a), exp(f->log_length[i + a * f->n_fields]), orders[a]))
                return false;
        prior_modes(f, i, modes);
        kb_modes_product(f->n_axes, modes, f->z + f->first[i], f->u + f->first_node[i], f->work);
    }
    memset(f->pull, 0, f->first_node[f->n_fields] * sizeof *f->pull);
    f->partial_of = f->force_of = f->n_fields;
    return true;
}

/* ---------------------------------------------------------------- mesh */

/* Do two derivatives have the same orders along all axes but the last? */
static bool are_alike(const kb_published_field *f, const int *order, const int *other)
{
    for (size_t a = 0; a + 1 < f->n_axes; a++)
        if (order[a] != other[a]) return false;
    return true;
}

static size_t leading_modes(const kb_published_field *f, size_t which, const int *order, kb_mode *modes)
{
    size_t left = 1;
    for (size_t a = 0; a + 1 < f->n_axes; a++) {
        modes[a] = kb_published_axis_mesh(axis_of(f, which, a), order[a]);
        left *= modes[a].rows;
    }
    return left;
}

/* Derivatives that differ along the last axis alone share what is done along the others. */
static const double *find_partial(kb_published_field *f, size_t which, const int *order)
{
    kb_mode modes[KB_SAMPLE_AXES];
    const double *u = f->u + f->first_node[which];
    size_t last = f->n_axes - 1;
    if (f->partial_of != which || !are_alike(f, order, f->partial_order)) {
        leading_modes(f, which, order, modes);
        kb_modes_leading_product(last, modes, axis_of(f, which, last)->rank, u, f->partial, f->work);
        f->partial_of = which;
        memcpy(f->partial_order, order, f->n_axes * sizeof *order);
    }
    return f->partial;
}

void kb_published_field_derivative(kb_published_field *f, size_t which, const int *order, double *out)
{
    kb_mode modes[KB_SAMPLE_AXES];
    size_t last = f->n_axes - 1, left = leading_modes(f, which, order, modes);
    modes[last] = kb_published_axis_mesh(axis_of(f, which, last), order[last]);
    kb_mode_product(&modes[last], left, 1, find_partial(f, which, order), out);
}

/* What was gathered along the last axis goes along the others. */
static void hand_on_force(kb_published_field *f)
{
    kb_mode modes[KB_SAMPLE_AXES];
    size_t which = f->force_of, last = f->n_axes - 1;
    if (which == f->n_fields) return;
    leading_modes(f, which, f->force_order, modes);
    kb_modes_leading_adjoint(last, modes, axis_of(f, which, last)->rank, f->force, f->product, f->work);
    kb_axpy(f->first_node[which + 1] - f->first_node[which], 1, f->product, f->pull + f->first_node[which]);
    f->force_of = f->n_fields;
}

void kb_published_field_pull(kb_published_field *f, size_t which, const int *order, const double *r)
{
    kb_mode modes[KB_SAMPLE_AXES];
    size_t last = f->n_axes - 1, left = leading_modes(f, which, order, modes);
    kb_mode M = kb_published_axis_mesh(axis_of(f, which, last), order[last]);
    bool goes_on = f->force_of == which && are_alike(f, order, f->force_order);
    if (!goes_on) hand_on_force(f);
    if (left == 1) kb_gemv(KB_TRANSPOSED, M.rows, M.columns, 1, M.entries, M.ld, r, goes_on, f->force);
    else kb_gemm(KB_PLAIN, KB_PLAIN, left, M.columns, M.rows, 1, r, left, M.entries, M.ld, goes_on, f->force, left);
    f->force_of = which;
    memcpy(f->force_order, order, f->n_axes * sizeof *order);
}

/* ---------------------------------------------------------------- measurements */

static void row_modes(const kb_published_field *f, size_t which, kb_mode *modes)
{
    for (size_t a = 0; a < f->n_axes; a++) modes[a] = kb_published_axis_rows(axis_of(f, which, a));
}

void kb_published_field_residual(kb_published_field *f, size_t which, double *r)
{
    const kb_field_samples *c = f->samples;
    const double *u = f->u + f->first_node[which];
    size_t n = c->n_points;
    kb_mode modes[KB_SAMPLE_AXES];
    row_modes(f, which, modes);
    if (c->gridded) kb_modes_product(f->n_axes, modes, u, f->spare, f->work);
    else kb_rows_product(f->n_axes, modes, u, f->spare, f->work);
    for (size_t p = 0; p < n; p++)
        r[p] = c->measured[p + which * n] > 0 ? f->value[p + which * n] - f->spare[f->place[p]] : 0;
}

void kb_published_field_pull_rows(kb_published_field *f, size_t which, const double *r)
{
    size_t n = f->samples->n_points, nodes = f->first_node[which + 1] - f->first_node[which];
    kb_mode modes[KB_SAMPLE_AXES];
    row_modes(f, which, modes);
    for (size_t p = 0; p < n; p++) f->spare[f->place[p]] = r[p];
    if (f->samples->gridded) kb_modes_adjoint(f->n_axes, modes, f->spare, f->product, f->work);
    else kb_rows_adjoint(f->n_axes, modes, f->spare, f->product, f->work);
    kb_axpy(nodes, 1, f->product, f->pull + f->first_node[which]);
}

/* ---------------------------------------------------------------- the gradient */

/* z along all axes but one, in a half of `work`: the nodes of the others, the coefficients of that one. */
static const double *along_others(kb_published_field *f, size_t which, size_t but)
{
    size_t shape[KB_SAMPLE_AXES], half = 1;
    const double *from = f->z + f->first[which];
    for (size_t a = 0; a < f->n_axes; a++) {
        const kb_published_axis *axis = axis_of(f, which, a);
        shape[a] = axis->n;
        half *= larger(axis->n, axis->rank);
    }
    double *to = f->work, *next = f->work + half;
    for (size_t a = 0; a < f->n_axes; a++) {
        size_t left = 1, right = 1;
        kb_mode A = kb_published_axis_prior(axis_of(f, which, a));
        if (a == but) continue;
        for (size_t b = 0; b < f->n_axes; b++)
            if (b != a) *(b < a ? &left : &right) *= shape[b];
        kb_mode_product(&A, left, right, from, to);
        shape[a] = A.rows;
        from = to;
        to = next;
        next = (double *)from;
    }
    return from;
}

/* M = sum over the other axes of pull[i, .] y[j, .]: rank x n */
static void cross(const kb_published_field *f, size_t which, size_t axis, const double *pull, const double *y,
                  double *M)
{
    size_t r = axis_of(f, which, axis)->rank, n = axis_of(f, which, axis)->n, left, right;
    sides(f, which, axis, &left, &right);
    if (left == 1) {
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, r, n, right, 1, pull, r, y, n, 0, M, r);
        return;
    }
    for (size_t k = 0; k < right; k++)
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, n, left, 1, pull + k * left * r, left, y + k * left * n, left, k > 0, M, r);
}

/* u = z x A along each axis, so slopes += <pull, z x .. dA ..> */
void kb_published_field_gradient(kb_published_field *f, size_t which, double *gradient, double *slopes)
{
    kb_mode modes[KB_SAMPLE_AXES];
    const double *pull = f->pull + f->first_node[which];
    hand_on_force(f);
    for (size_t a = 0; slopes && a < f->n_axes; a++) {
        const kb_published_axis *axis = axis_of(f, which, a);
        if (!axis->learns) continue;
        cross(f, which, a, pull, along_others(f, which, a), f->spare);
        slopes[a] += kb_dot(axis->rank * axis->n, f->spare, axis->A_slope);
    }
    prior_modes(f, which, modes);
    kb_modes_adjoint(f->n_axes, modes, pull, f->product, f->work);
    kb_axpy(kb_published_field_size(f, which), 1, f->product, gradient);
}
