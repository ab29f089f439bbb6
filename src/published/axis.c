#include "published/axis.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double pivots_hold = 0.05; /* log of the length scale */
static const double coarsest_cut = 1e-6, evenness = 1e-9;

/* ---------------------------------------------------------------- the kernel */

/* d^k/dx^k of the kernel at distance d, k = 0 .. n - 1. SE: f_{k+1} = -(d f_k + k f_{k-1}) / l^2 */
static void derivatives(const kb_kernel *kernel, double d, int n, double *f)
{
    double l2 = kernel->length * kernel->length;
    if (kernel->kind != KB_KERNEL_SE) {
        for (int k = 0; k < n; k++) f[k] = kb_kernel_derivative(kernel, d, 0, k);
        return;
    }
    f[0] = exp(-d * d / (2 * l2));
    if (n > 1) f[1] = -d * f[0] / l2;
    for (int k = 1; k + 1 < n; k++) f[k + 1] = -(d * f[k] + k * f[k - 1]) / l2;
}

/* d/dlog(l) of d^k kappa(d/l) = -(d d^{k+1} + k d^k) kappa */
static double slope_of(double d, int k, const double *f) { return -(d * f[k + 1] + k * f[k]); }

static int count_orders(unsigned orders)
{
    int n = 1;
    while (orders >> n) n++;
    return n;
}

static double find_step(size_t n, const double *mesh)
{
    double step = (mesh[n - 1] - mesh[0]) / (double)(n - 1);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(mesh[i] - mesh[0] - step * (double)i) <= evenness * (mesh[n - 1] - mesh[0]))) return 0;
    return step;
}

/* ---------------------------------------------------------------- life */

kbass_status kb_published_axis_create(const kb_kernel *kernel, double jitter, bool is_whole, size_t n_mesh,
                                      const double *mesh, size_t n_rows, const double *rows, kb_published_axis **out,
                                      kbass_error *error)
{
    kb_published_axis *axis = KB_NEW(kb_published_axis, 1);
    if (!axis) return kb_out_of_memory(error, "an axis");
    *axis = (kb_published_axis){.kernel = *kernel,
                                .learns = kernel->kind == KB_KERNEL_SE,
                                .jitter = jitter,
                                .is_whole = is_whole,
                                .n_mesh = n_mesh,
                                .n_rows = n_rows,
                                .mesh = mesh,
                                .rows = rows,
                                .step = find_step(n_mesh, mesh)};
    *out = axis;
    return KBASS_OK;
}

static void forget_pivots(kb_published_axis *axis)
{
    double *arrays[] = {axis->L, axis->B_slope, axis->row_feature, axis->row_slope, axis->table, axis->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++) {
        kb_free(axis->feature[k]);
        kb_free(axis->slope[k]);
        axis->feature[k] = axis->slope[k] = NULL;
    }
    kb_free(axis->pivot);
    axis->L = axis->B_slope = axis->row_feature = axis->row_slope = axis->table = axis->work = NULL;
    axis->pivot = NULL;
    axis->rank = 0;
}

void kb_published_axis_destroy(kb_published_axis *axis)
{
    if (!axis) return;
    forget_pivots(axis);
    kb_free(axis);
}

static bool allocate(kb_published_axis *axis)
{
    size_t n = axis->n_mesh, r = axis->rank;
    bool complete = true;
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++) {
        complete = (axis->feature[k] = KB_NEW(double, n *r)) != NULL && complete;
        complete = (axis->slope[k] = KB_NEW(double, n *r)) != NULL && complete;
    }
    axis->L = KB_NEW(double, r *r);
    axis->B_slope = KB_NEW(double, r *r);
    axis->row_feature = KB_NEW(double, axis->n_rows *r);
    axis->row_slope = KB_NEW(double, axis->n_rows *r);
    axis->table = KB_NEW(double, 2 * n * (KB_PUBLISHED_ORDERS + 1));
    axis->work = KB_NEW(double, 2 * r * r);
    return complete && axis->L && axis->B_slope && axis->row_feature && axis->row_slope && axis->table && axis->work;
}

/* ---------------------------------------------------------------- pivots */

typedef struct {
    size_t n, room;
    double *column, *left; /* n x room: the factor so far; n: what is left of the diagonal */
    size_t *pivot;
} pivoting;

static size_t largest(size_t n, const double *x)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

static bool make_room(pivoting *p, size_t rank)
{
    if (rank < p->room) return true;
    size_t room = p->room ? 2 * p->room : 32;
    double *column = kb_reallocate(p->column, p->n * p->room, p->n * room, sizeof *column);
    if (column) p->column = column;
    size_t *pivot = kb_reallocate(p->pivot, p->room, room, sizeof *pivot);
    if (pivot) p->pivot = pivot;
    if (column && pivot) p->room = room;
    return column && pivot;
}

/* One more pivot p: column = (K(:, p) - G G(p, :)') / sqrt(left_p) */
static void eliminate(const kb_published_axis *axis, pivoting *p, size_t rank, size_t at)
{
    double *column = p->column + rank * p->n, root = sqrt(p->left[at]);
    for (size_t i = 0; i < p->n; i++) derivatives(&axis->kernel, axis->mesh[i] - axis->mesh[at], 1, &column[i]);
    for (size_t q = 0; q < rank; q++) kb_axpy(p->n, -p->column[at + q * p->n], p->column + q * p->n, column);
    for (size_t i = 0; i < p->n; i++) {
        column[i] /= root;
        p->left[i] -= column[i] * column[i];
    }
    p->left[at] = 0;
    p->pivot[rank] = at;
}

static bool take_all(const kb_published_axis *axis, size_t **pivot, size_t *rank)
{
    *pivot = KB_NEW(size_t, axis->n_mesh);
    *rank = axis->n_mesh;
    for (size_t i = 0; *pivot && i < axis->n_mesh; i++) (*pivot)[i] = i;
    return *pivot != NULL;
}

static bool choose(const kb_published_axis *axis, size_t **pivot, size_t *rank)
{
    if (axis->is_whole) return take_all(axis, pivot, rank);
    pivoting p = {.n = axis->n_mesh, .left = KB_NEW(double, axis->n_mesh)};
    bool complete = p.left != NULL;
    double cut = fmin(axis->jitter, coarsest_cut);
    for (size_t i = 0; complete && i < p.n; i++) p.left[i] = 1;
    for (*rank = 0; complete && *rank < p.n; ++*rank) {
        size_t at = largest(p.n, p.left);
        if (!(p.left[at] > cut)) break;
        complete = make_room(&p, *rank);
        if (complete) eliminate(axis, &p, *rank, at);
    }
    kb_free(p.column);
    kb_free(p.left);
    if (complete) *pivot = p.pivot;
    else kb_free(p.pivot);
    return complete;
}

void kb_published_axis_compress(kb_published_axis *axis)
{
    axis->is_whole = false;
    axis->pivot_length = 0; /* far from any */
}

bool kb_published_axis_is_far(const kb_published_axis *axis, double length)
{
    if (axis->is_whole && axis->rank) return false;
    return !axis->rank || !(fabs(log(length / axis->pivot_length)) <= pivots_hold);
}

/* K(P, Q) of points of the mesh: n_p x n_q */
static void between(const kb_published_axis *axis, size_t n_p, const size_t *p, size_t n_q, const size_t *q,
                    double *out)
{
    for (size_t j = 0; j < n_q; j++)
        for (size_t i = 0; i < n_p; i++)
            derivatives(&axis->kernel, axis->mesh[p[i]] - axis->mesh[q[j]], 1, &out[i + j * n_p]);
}

/* T = L' K(P, P)^{-1} K(P, P_old) L_old^{-T}: the old field interpolated at the new pivots. K(P, P) has no jitter here,
   so that nothing is smoothed; pivoting keeps it regular. */
static double *transfer(const kb_published_axis *axis, size_t n_old, const size_t *old, const double *L_old)
{
    size_t r = axis->rank;
    double *across = KB_NEW(double, n_old *r), *B = KB_NEW(double, r *r), *C = KB_NEW(double, n_old *r);
    double *T = KB_NEW(double, n_old *r);
    bool is_good = across && B && C && T;
    if (is_good) {
        between(axis, n_old, old, r, axis->pivot, across);
        kb_lower_solve(n_old, r, L_old, n_old, across, n_old);
        between(axis, r, axis->pivot, r, axis->pivot, B);
        for (size_t j = 0; j < n_old; j++)
            for (size_t i = 0; i < r; i++) C[i + j * r] = across[j + i * n_old];
        is_good = kb_cholesky(r, B, r);
    }
    if (is_good) {
        kb_cholesky_solve(r, n_old, B, r, C, r);
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, n_old, r, 1, axis->L, r, C, r, 0, T, r);
    }
    kb_free(across);
    kb_free(B);
    kb_free(C);
    if (is_good) return T;
    kb_free(T);
    return NULL;
}

static kbass_status singular(kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_DATA, "the kernel matrix of an axis is singular");
}

kbass_status kb_published_axis_pivot(kb_published_axis *axis, double length, double **T, kbass_error *error)
{
    size_t n_old = axis->rank, *old = axis->pivot, *pivot = NULL, rank = 0;
    double *L_old = axis->L, *moved = NULL;
    bool is_set = false;
    axis->kernel.length = length;
    if (n_old && !kb_published_axis_set(axis, length, axis->orders)) return singular(error);
    if (!choose(axis, &pivot, &rank)) return kb_out_of_memory(error, "the pivots of an axis");
    axis->pivot = NULL;
    axis->L = NULL;
    forget_pivots(axis);
    axis->pivot = pivot;
    axis->rank = rank;
    axis->pivot_length = length;
    bool complete = allocate(axis);
    if (complete) is_set = kb_published_axis_set(axis, length, axis->orders ? axis->orders : 1);
    if (is_set && n_old && T) complete = (moved = transfer(axis, n_old, old, L_old)) != NULL;
    kb_free(old);
    kb_free(L_old);
    if (!complete) return kb_out_of_memory(error, "the pivots of an axis");
    if (T) *T = moved;
    return is_set ? KBASS_OK : singular(error);
}

/* ---------------------------------------------------------------- features */

/* table[k + (n + 1) * i]: derivatives at i - (n_mesh - 1) steps */
static void fill_table(kb_published_axis *axis, int n)
{
    long last = (long)axis->n_mesh - 1;
    for (long i = -last; i <= last; i++)
        derivatives(&axis->kernel, (double)i * axis->step, n + 1, axis->table + (i + last) * (n + 1));
}

static void take_even(kb_published_axis *axis, int n, size_t j)
{
    size_t m = axis->n_mesh, last = m - 1;
    for (int k = 0; k < n; k++) {
        double *feature = axis->feature[k] + j * m, *slope = axis->slope[k] + j * m;
        const double *f = axis->table + (last - axis->pivot[j]) * (size_t)(n + 1);
        if (!(axis->orders >> k & 1)) continue;
        for (size_t i = 0; i < m; i++, f += n + 1) {
            double d = ((double)i - (double)axis->pivot[j]) * axis->step;
            feature[i] = f[k];
            slope[i] = slope_of(d, k, f);
        }
    }
}

static void take_uneven(kb_published_axis *axis, int n, size_t j)
{
    double f[KB_PUBLISHED_ORDERS + 1];
    size_t m = axis->n_mesh;
    for (size_t i = 0; i < m; i++) {
        double d = axis->mesh[i] - axis->mesh[axis->pivot[j]];
        derivatives(&axis->kernel, d, n + axis->learns, f);
        for (int k = 0; k < n; k++) {
            axis->feature[k][i + j * m] = f[k];
            if (axis->learns) axis->slope[k][i + j * m] = slope_of(d, k, f);
        }
    }
}

static void take_rows(kb_published_axis *axis, size_t j)
{
    double f[2] = {0, 0};
    for (size_t i = 0; i < axis->n_rows; i++) {
        double d = axis->rows[i] - axis->mesh[axis->pivot[j]];
        derivatives(&axis->kernel, d, 1 + axis->learns, f);
        axis->row_feature[i + j * axis->n_rows] = f[0];
        axis->row_slope[i + j * axis->n_rows] = slope_of(d, 0, f);
    }
}

bool kb_published_axis_set(kb_published_axis *axis, double length, unsigned orders)
{
    size_t r = axis->rank, m = axis->n_mesh;
    int n = count_orders(orders |= 1);
    bool is_even = axis->learns && axis->step > 0;
    axis->kernel.length = length;
    axis->orders = orders;
    if (is_even) fill_table(axis, n);
    for (size_t j = 0; j < r; j++) {
        if (is_even) take_even(axis, n, j);
        else take_uneven(axis, n, j);
        take_rows(axis, j);
        for (size_t i = 0; i < r; i++) {
            axis->L[i + j * r] = axis->feature[0][axis->pivot[i] + j * m];
            axis->B_slope[i + j * r] = axis->slope[0][axis->pivot[i] + j * m];
        }
        axis->L[j + j * r] += axis->jitter * (double)r / (double)m;
    }
    if (!kb_cholesky(r, axis->L, r)) return false;
    for (size_t j = 1; j < r; j++) memset(axis->L + j * r, 0, j * sizeof *axis->L);
    return true;
}

void kb_published_axis_features(const kb_published_axis *axis, size_t n, const double *x, double *features)
{
    for (size_t j = 0; j < axis->rank; j++)
        for (size_t i = 0; i < n; i++)
            derivatives(&axis->kernel, x[i] - axis->mesh[axis->pivot[j]], 1, &features[i + j * n]);
}

kb_mode kb_published_axis_mesh(const kb_published_axis *axis, int order)
{
    return (kb_mode){axis->n_mesh, axis->rank, axis->n_mesh, axis->feature[order]};
}

kb_mode kb_published_axis_mesh_slope(const kb_published_axis *axis, int order)
{
    return (kb_mode){axis->n_mesh, axis->rank, axis->n_mesh, axis->slope[order]};
}

kb_mode kb_published_axis_rows(const kb_published_axis *axis)
{
    return (kb_mode){axis->n_rows, axis->rank, axis->n_rows, axis->row_feature};
}

kb_mode kb_published_axis_rows_slope(const kb_published_axis *axis)
{
    return (kb_mode){axis->n_rows, axis->rank, axis->n_rows, axis->row_slope};
}

/* S = L^{-1} dB L^{-T} */
static void whiten_slope(const kb_published_axis *axis, double *S)
{
    size_t r = axis->rank;
    memcpy(S, axis->B_slope, r * r * sizeof *S);
    kb_lower_solve(r, r, axis->L, r, S, r);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < j; i++) {
            double swap = S[i + j * r];
            S[i + j * r] = S[j + i * r];
            S[j + i * r] = swap;
        }
    kb_lower_solve(r, r, axis->L, r, S, r);
}

/* dL = L half(S), half: the lower triangle with its diagonal halved; <M, dL'> = sum over i >= j of (M L)[j, i]
   half(S)[i, j] */
double kb_published_axis_factor_slope(kb_published_axis *axis, const double *M)
{
    size_t r = axis->rank;
    double *S = axis->work, *product = S + r * r, sum = 0;
    whiten_slope(axis, S);
    kb_gemm(KB_PLAIN, KB_PLAIN, r, r, r, 1, M, r, axis->L, r, 0, product, r);
    for (size_t j = 0; j < r; j++) {
        sum += 0.5 * product[j + j * r] * S[j + j * r];
        for (size_t i = j + 1; i < r; i++) sum += product[j + i * r] * S[i + j * r];
    }
    return sum;
}
