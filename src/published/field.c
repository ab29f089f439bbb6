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

/* Products of the ranks before an axis and behind it. */
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
    double *arrays[] = {f->offset, f->unit, f->value, f->log_length, f->z,
                        f->c,      f->pull, f->work,  f->spare,      f->product};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(f->axis);
    kb_free(f->place);
    kb_free(f->first);
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
    f->place = KB_NEW(size_t, f->samples->n_points);
    return f->offset && f->unit && f->value && f->axis && f->log_length && f->first && f->place;
}

/* Workspace for the ranks as they are; z is kept. */
static bool make_room(kb_published_field *f)
{
    size_t total = f->first[f->n_fields], work = 1, tensor = larger(f->n_mesh, f->samples->n_points);
    for (size_t i = 0; i < f->n_fields; i++) {
        kb_mode mesh[KB_SAMPLE_AXES], rows[KB_SAMPLE_AXES];
        size_t whole = 1;
        for (size_t a = 0; a < f->n_axes; a++) {
            mesh[a] = kb_published_axis_mesh(axis_of(f, i, a), 0);
            rows[a] = kb_published_axis_rows(axis_of(f, i, a));
            tensor = larger(tensor, mesh[a].columns * mesh[a].columns);
            whole *= larger(mesh[a].rows, larger(mesh[a].columns, f->samples->gridded ? rows[a].rows : 1));
        }
        work = larger(work, larger(kb_modes_work(f->n_axes, mesh), 2 * whole));
        work = larger(work, f->samples->gridded ? kb_modes_work(f->n_axes, rows) : kb_rows_work(f->n_axes, rows));
    }
    kb_free(f->c);
    kb_free(f->pull);
    kb_free(f->work);
    kb_free(f->spare);
    kb_free(f->product);
    f->product = KB_NEW(double, total);
    f->c = KB_NEW(double, total);
    f->pull = KB_NEW(double, total);
    f->work = KB_NEW(double, work);
    f->spare = KB_NEW(double, larger(tensor, total));
    return f->c && f->pull && f->work && f->spare && f->product;
}

/* ---------------------------------------------------------------- pivots */

static void count_coefficients(kb_published_field *f)
{
    f->first[0] = 0;
    for (size_t i = 0; i < f->n_fields; i++) {
        size_t n = 1;
        for (size_t a = 0; a < f->n_axes; a++) n *= axis_of(f, i, a)->rank;
        f->first[i + 1] = f->first[i] + n;
    }
}

/* Moves one field's tensor along an axis: *z of `ranks` x T. */
static bool move_tensor(const kb_published_field *f, size_t axis, const double *T, size_t rank, size_t *ranks,
                        double **z)
{
    size_t left = 1, right = 1;
    kb_mode mode = {rank, ranks[axis], rank, T};
    for (size_t a = 0; a < f->n_axes; a++)
        if (a != axis) *(a < axis ? &left : &right) *= ranks[a];
    double *moved = KB_NEW(double, left *rank *right);
    if (moved) kb_mode_product(&mode, left, right, *z, moved);
    kb_free(*z);
    *z = moved;
    ranks[axis] = rank;
    return moved != NULL;
}

/* New pivots for the axes of a field that need them; *z, its tensor, goes along. */
static kbass_status pivot_field(kb_published_field *f, size_t which, double **z, bool *changed, kbass_error *error)
{
    size_t ranks[KB_SAMPLE_AXES];
    kbass_status status = KBASS_OK;
    for (size_t a = 0; a < f->n_axes; a++) ranks[a] = axis_of(f, which, a)->rank;
    for (size_t a = 0; status == KBASS_OK && a < f->n_axes; a++) {
        kb_published_axis *axis = axis_of(f, which, a);
        double length = exp(f->log_length[which + a * f->n_fields]), *T = NULL;
        if (!kb_published_axis_is_far(axis, length)) continue;
        *changed = true;
        status = kb_published_axis_pivot(axis, length, &T, error);
        if (status == KBASS_OK && T && !move_tensor(f, a, T, axis->rank, ranks, z))
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

kbass_status kb_published_field_pivot(kb_published_field *f, bool *changed, kbass_error *error)
{
    double **parts = KB_NEW(double *, f->n_fields);
    kbass_status status = parts ? KBASS_OK : kb_out_of_memory(error, "the field");
    bool any = false;
    for (size_t i = 0; status == KBASS_OK && i < f->n_fields; i++) {
        changed[i] = false;
        parts[i] = copy_of(kb_published_field_size(f, i), f->z ? f->z + f->first[i] : NULL);
        status = parts[i] ? pivot_field(f, i, &parts[i], &changed[i], error) : kb_out_of_memory(error, "the field");
        any = any || changed[i];
    }
    if (status == KBASS_OK && any) status = gather(f, parts, error);
    for (size_t i = 0; parts && i < f->n_fields; i++) kb_free(parts[i]);
    kb_free(parts);
    return status;
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
        status = kb_published_field_pivot(f, changed, error);
    }
    kb_free(changed);
    if (status == KBASS_OK) *out = f;
    else kb_published_field_destroy(f);
    return status;
}

/* ---------------------------------------------------------------- z and c */

/* Along one axis of a tensor left x r x right: each left-by-r slice by L^{-1} (transposed: L^{-T}). */
static void solve_axis(const kb_published_axis *axis, bool transposed, size_t left, size_t right, double *x,
                       double *work)
{
    size_t r = axis->rank, slice = left * r;
    for (size_t k = 0; k < right; k++, x += slice) {
        double *columns = left == 1 ? x : work;
        size_t n = left == 1 ? right : left;
        if (left > 1)
            for (size_t j = 0; j < r; j++)
                for (size_t i = 0; i < left; i++) work[j + i * r] = x[i + j * left];
        if (transposed) kb_lower_transposed_solve(r, n, axis->L, r, columns, r);
        else kb_lower_solve(r, n, axis->L, r, columns, r);
        if (left == 1) return; /* all of them at once */
        for (size_t j = 0; j < r; j++)
            for (size_t i = 0; i < left; i++) x[i + j * left] = work[j + i * r];
    }
}

static void solve_axes(kb_published_field *f, size_t which, bool transposed, double *x)
{
    size_t left, right;
    for (size_t a = 0; a < f->n_axes; a++) {
        sides(f, which, a, &left, &right);
        solve_axis(axis_of(f, which, a), transposed, left, right, x, f->work);
    }
}

bool kb_published_field_set(kb_published_field *f, const unsigned *orders)
{
    for (size_t i = 0; i < f->n_fields; i++)
        for (size_t a = 0; a < f->n_axes; a++) {
            kb_published_axis *axis = axis_of(f, i, a);
            double length = exp(f->log_length[i + a * f->n_fields]);
            bool is_set = length == axis->kernel.length && !(orders[a] & ~axis->orders);
            if (!is_set && !kb_published_axis_set(axis, length, orders[a])) return false;
        }
    memcpy(f->c, f->z, f->first[f->n_fields] * sizeof *f->c);
    for (size_t i = 0; i < f->n_fields; i++) solve_axes(f, i, true, f->c + f->first[i]);
    memset(f->pull, 0, f->first[f->n_fields] * sizeof *f->pull);
    return true;
}

/* ---------------------------------------------------------------- mesh */

void kb_published_field_derivative(kb_published_field *f, size_t which, const int *order, double *out)
{
    kb_mode modes[KB_SAMPLE_AXES];
    for (size_t a = 0; a < f->n_axes; a++) modes[a] = kb_published_axis_mesh(axis_of(f, which, a), order[a]);
    kb_modes_product(f->n_axes, modes, f->c + f->first[which], out, f->work);
}

/* r contracted along all axes but one; the result lies in one half of `work`, the other is free. */
static double *contract(kb_published_field *f, const kb_mode *modes, size_t but, const double *r, double **other)
{
    size_t n = 1, half = 1;
    size_t shape[KB_SAMPLE_AXES];
    for (size_t a = 0; a < f->n_axes; a++) {
        n *= shape[a] = modes[a].rows;
        half *= larger(modes[a].rows, modes[a].columns);
    }
    double *to = f->work, *next = f->work + half;
    const double *from = r;
    for (size_t a = f->n_axes; a-- > 0;) {
        size_t left = 1, right = 1;
        if (a == but) continue;
        for (size_t b = 0; b < f->n_axes; b++)
            if (b != a) *(b < a ? &left : &right) *= shape[b];
        kb_mode_adjoint(&modes[a], left, right, from, to);
        shape[a] = modes[a].columns;
        from = to;
        to = next;
        next = (double *)from;
    }
    if (from == r) memcpy(to, r, n * sizeof *to), from = to, to = next;
    *other = to;
    return (double *)from;
}

/* slope += <t, c x_axis dK>, t as `contract` leaves it */
static double slope_along(kb_published_field *f, size_t which, size_t axis, const kb_mode *dK, const double *t,
                          double *product)
{
    size_t left, right;
    sides(f, which, axis, &left, &right);
    kb_mode_product(dK, left, right, f->c + f->first[which], product);
    return kb_dot(left * dK->rows * right, t, product);
}

/* pull += t x_axis K', t likewise */
static void finish_pull(kb_published_field *f, size_t which, size_t axis, const kb_mode *K, const double *t,
                        double *product)
{
    size_t left, right;
    sides(f, which, axis, &left, &right);
    kb_mode_adjoint(K, left, right, t, product);
    kb_axpy(kb_published_field_size(f, which), 1, product, f->pull + f->first[which]);
}

void kb_published_field_pull(kb_published_field *f, size_t which, const int *order, const double *r, double *slopes)
{
    kb_mode modes[KB_SAMPLE_AXES];
    for (size_t a = 0; a < f->n_axes; a++) modes[a] = kb_published_axis_mesh(axis_of(f, which, a), order[a]);
    for (size_t a = 0; a < f->n_axes; a++) {
        double *other = NULL;
        bool is_last = a + 1 == f->n_axes, learns = slopes && axis_of(f, which, a)->learns;
        if (!is_last && !learns) continue;
        double *t = contract(f, modes, a, r, &other);
        kb_mode dK = kb_published_axis_mesh_slope(axis_of(f, which, a), order[a]);
        if (learns) slopes[a] += slope_along(f, which, a, &dK, t, other);
        if (is_last) finish_pull(f, which, a, &modes[a], t, other);
    }
}

/* ---------------------------------------------------------------- measurements */

static void row_modes(const kb_published_field *f, size_t which, kb_mode *modes)
{
    for (size_t a = 0; a < f->n_axes; a++) modes[a] = kb_published_axis_rows(axis_of(f, which, a));
}

static void at_rows(kb_published_field *f, size_t which, const kb_mode *modes, double *out)
{
    const double *c = f->c + f->first[which];
    if (f->samples->gridded) kb_modes_product(f->n_axes, modes, c, out, f->work);
    else kb_rows_product(f->n_axes, modes, c, out, f->work);
}

void kb_published_field_residual(kb_published_field *f, size_t which, double *r)
{
    const kb_field_samples *c = f->samples;
    size_t n = c->n_points;
    kb_mode modes[KB_SAMPLE_AXES];
    row_modes(f, which, modes);
    at_rows(f, which, modes, f->spare);
    for (size_t p = 0; p < n; p++)
        r[p] = c->measured[p + which * n] > 0 ? f->value[p + which * n] - f->spare[f->place[p]] : 0;
}

void kb_published_field_pull_rows(kb_published_field *f, size_t which, const double *r, double *slopes)
{
    size_t n = f->samples->n_points, size = kb_published_field_size(f, which);
    kb_mode modes[KB_SAMPLE_AXES];
    double *sorted = f->spare;
    row_modes(f, which, modes);
    for (size_t a = 0; slopes && a < f->n_axes; a++) {
        kb_mode plain = modes[a];
        if (!axis_of(f, which, a)->learns) continue;
        modes[a] = kb_published_axis_rows_slope(axis_of(f, which, a));
        at_rows(f, which, modes, sorted);
        for (size_t p = 0; p < n; p++) slopes[a] += r[p] * sorted[f->place[p]];
        modes[a] = plain;
    }
    for (size_t p = 0; p < n; p++) sorted[f->place[p]] = r[p];
    if (f->samples->gridded) kb_modes_adjoint(f->n_axes, modes, sorted, f->product, f->work);
    else kb_rows_adjoint(f->n_axes, modes, sorted, f->product, f->work);
    kb_axpy(size, 1, f->product, f->pull + f->first[which]);
}

/* ---------------------------------------------------------------- the gradient by z */

/* M = sum over the other axes of (L^{-1} pull)[i, .] c[j, .] */
static void cross(const kb_published_field *f, size_t which, size_t axis, const double *pull, double *M)
{
    size_t r = axis_of(f, which, axis)->rank, left, right;
    const double *c = f->c + f->first[which];
    sides(f, which, axis, &left, &right);
    memset(M, 0, r * r * sizeof *M);
    if (left == 1) {
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, r, r, right, 1, pull, r, c, r, 0, M, r);
        return;
    }
    for (size_t k = 0; k < right; k++)
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, r, left, 1, pull + k * left * r, left, c + k * left * r, left, 1, M, r);
}

/* dc = -c x L^{-T} dL' along each axis, so slopes -= <L^{-1} M, dL'> with M of the pull by c. */
void kb_published_field_gradient(kb_published_field *f, size_t which, double *gradient, double *slopes)
{
    size_t n = kb_published_field_size(f, which);
    double *pull = f->pull + f->first[which];
    for (size_t a = 0; slopes && a < f->n_axes; a++) {
        kb_published_axis *axis = axis_of(f, which, a);
        if (!axis->learns) continue;
        cross(f, which, a, pull, f->spare);
        kb_lower_solve(axis->rank, axis->rank, axis->L, axis->rank, f->spare, axis->rank);
        slopes[a] -= kb_published_axis_factor_slope(axis, f->spare);
    }
    memcpy(f->spare, pull, n * sizeof *pull);
    solve_axes(f, which, false, f->spare);
    kb_axpy(n, 1, f->spare, gradient);
}
