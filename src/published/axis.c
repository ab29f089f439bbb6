#include "published/axis.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double nodes_hold = 0.05; /* log of the length scale */
static const double cut = 1e-9, evenness = 1e-9;

/* ---------------------------------------------------------------- the kernel */

/* SE: f_{k+1} = -(d f_k + k f_{k-1}) / l^2 */
void kb_published_derivatives(const kb_kernel *kernel, double d, int n, double *f)
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

static void forget_nodes(kb_published_axis *axis)
{
    double **arrays[] = {&axis->node_factor, &axis->row_feature, &axis->A, &axis->A_slope, &axis->table, &axis->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        kb_free(*arrays[i]);
        *arrays[i] = NULL;
    }
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++) {
        kb_free(axis->feature[k]);
        axis->feature[k] = NULL;
    }
    kb_free(axis->node);
    axis->node = NULL;
    axis->orders = 0;
    axis->rank = axis->n = 0;
}

void kb_published_axis_destroy(kb_published_axis *axis)
{
    if (!axis) return;
    forget_nodes(axis);
    kb_free(axis);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static bool allocate(kb_published_axis *axis)
{
    size_t m = axis->n_mesh, r = axis->rank, n = axis->n = axis->is_whole ? m : r;
    bool complete = true;
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++)
        complete = (axis->feature[k] = KB_NEW(double, m *r)) != NULL && complete;
    axis->node_factor = KB_NEW(double, r *r);
    axis->row_feature = KB_NEW(double, axis->n_rows *r);
    axis->A = KB_NEW(double, r *n);
    axis->A_slope = KB_NEW(double, r *n);
    axis->table = KB_NEW(double, 2 * m);
    axis->work = KB_NEW(double, larger(kb_published_prior_work(r, n), r * larger(m, axis->n_rows)));
    return complete && axis->node_factor && axis->row_feature && axis->A && axis->A_slope && axis->table && axis->work;
}

/* ---------------------------------------------------------------- features */

/* features (rank x n_points) = K_0(P, P)^{-1} D^order K_0(x, P)' */
static void interpolate(const kb_published_axis *axis, int order, size_t n_points, const double *x, double *features)
{
    double f[KB_PUBLISHED_ORDERS];
    kb_kernel kernel = axis->kernel;
    kernel.length = axis->node_length;
    for (size_t i = 0; i < n_points; i++)
        for (size_t j = 0; j < axis->rank; j++) {
            kb_published_derivatives(&kernel, x[i] - axis->mesh[axis->node[j]], order + 1, f);
            features[j + i * axis->rank] = f[order];
        }
    kb_cholesky_solve(axis->rank, n_points, axis->node_factor, axis->rank, features, axis->rank);
}

void kb_published_axis_features(const kb_published_axis *axis, size_t n_points, const double *x, double *features)
{
    interpolate(axis, 0, n_points, x, features);
}

/* out = features', which lie in `work` */
static void take_features(kb_published_axis *axis, int order, size_t n_points, const double *x, double *out)
{
    interpolate(axis, order, n_points, x, axis->work);
    for (size_t i = 0; i < n_points; i++)
        for (size_t j = 0; j < axis->rank; j++) out[i + j * n_points] = axis->work[j + i * axis->rank];
}

/* The features of `orders` that are not there yet. */
static void fill_features(kb_published_axis *axis, unsigned orders)
{
    if (!axis->orders) take_features(axis, 0, axis->n_rows, axis->rows, axis->row_feature);
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++)
        if ((orders & ~axis->orders) >> k & 1) take_features(axis, k, axis->n_mesh, axis->mesh, axis->feature[k]);
    axis->orders |= orders;
}

static bool fill(kb_published_axis *axis, unsigned orders)
{
    fill_features(axis, orders);
    return kb_published_axis_fill_prior(axis);
}

bool kb_published_axis_set(kb_published_axis *axis, double length, unsigned orders)
{
    fill_features(axis, orders | 1);
    if (length == axis->kernel.length) return true;
    axis->kernel.length = length;
    return kb_published_axis_fill_prior(axis);
}

kb_mode kb_published_axis_mesh(const kb_published_axis *axis, int order)
{
    return (kb_mode){axis->n_mesh, axis->rank, axis->n_mesh, axis->feature[order]};
}

kb_mode kb_published_axis_rows(const kb_published_axis *axis)
{
    return (kb_mode){axis->n_rows, axis->rank, axis->n_rows, axis->row_feature};
}

kb_mode kb_published_axis_prior(const kb_published_axis *axis)
{
    return (kb_mode){axis->rank, axis->n, axis->rank, axis->A};
}

/* ---------------------------------------------------------------- nodes */

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
    for (size_t i = 0; i < p->n; i++)
        kb_published_derivatives(&axis->kernel, axis->mesh[i] - axis->mesh[at], 1, &column[i]);
    for (size_t q = 0; q < rank; q++) kb_axpy(p->n, -p->column[at + q * p->n], p->column + q * p->n, column);
    for (size_t i = 0; i < p->n; i++) {
        column[i] /= root;
        p->left[i] -= column[i] * column[i];
    }
    p->left[at] = 0;
    p->pivot[rank] = at;
}

static bool choose(const kb_published_axis *axis, size_t **node, size_t *rank)
{
    pivoting p = {.n = axis->n_mesh, .left = KB_NEW(double, axis->n_mesh)};
    bool complete = p.left != NULL;
    for (size_t i = 0; complete && i < p.n; i++) p.left[i] = 1;
    for (*rank = 0; complete && *rank < p.n; ++*rank) {
        size_t at = largest(p.n, p.left);
        if (!(p.left[at] > cut)) break;
        complete = make_room(&p, *rank);
        if (complete) eliminate(axis, &p, *rank, at);
    }
    kb_free(p.column);
    kb_free(p.left);
    if (complete) *node = p.pivot;
    else kb_free(p.pivot);
    return complete;
}

void kb_published_axis_compress(kb_published_axis *axis)
{
    if (axis->is_whole) axis->node_length = 0; /* far from any */
    axis->is_whole = false;
}

bool kb_published_axis_is_far(const kb_published_axis *axis, double length)
{
    return !axis->rank || !(fabs(log(length / axis->node_length)) <= nodes_hold);
}

/* K(P, P) + jitter: its Cholesky factor */
static bool factorise(const kb_published_axis *axis, double jitter, double *L)
{
    size_t r = axis->rank;
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < r; i++)
            kb_published_derivatives(&axis->kernel, axis->mesh[axis->node[i]] - axis->mesh[axis->node[j]], 1,
                                     &L[i + j * r]);
        L[j + j * r] += jitter;
    }
    return kb_cholesky(r, L, r);
}

/* T = A^{-1} Phi_0_old(P) A_old, A^{-1} = L' K(P, P)^{-1}: the old field's values at the nodes, as coefficients. `old`
   has no jitter in K(P, P), so that nothing is smoothed; the choice of nodes keeps it regular. */
static bool transfer(const kb_published_axis *axis, const kb_published_axis *old, double *T, double *U, double *L)
{
    size_t r = axis->rank;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < old->rank; j++) L[j + i * old->rank] = old->feature[0][axis->node[i] + j * old->n_mesh];
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, old->n, old->rank, 1, L, old->rank, old->A, old->rank, 0, U, r);
    if (!factorise(axis, 0, L)) return false;
    kb_cholesky_solve(r, old->n, L, r, U, r);
    if (!factorise(axis, axis->jitter * (double)axis->n / (double)axis->n_mesh, L)) return false;
    for (size_t j = 1; j < r; j++) memset(L + j * r, 0, j * sizeof *L);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, r, old->n, r, 1, L, r, U, r, 0, T, r);
    return true;
}

static kbass_status singular(kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_DATA, "the kernel matrix of an axis is singular");
}

static kbass_status move_coefficients(const kb_published_axis *axis, const kb_published_axis *old, double **T,
                                      kbass_error *error)
{
    double *U = KB_NEW(double, axis->rank * old->n), *L = KB_NEW(double, axis->rank *larger(axis->rank, old->rank));
    *T = KB_NEW(double, axis->n * old->n);
    bool complete = U && L && *T, is_good = complete && transfer(axis, old, *T, U, L);
    kb_free(U);
    kb_free(L);
    if (is_good) return KBASS_OK;
    kb_free(*T);
    *T = NULL;
    return complete ? singular(error) : kb_out_of_memory(error, "the nodes of an axis");
}

/* The axis as it is, without what belongs to its nodes; `taken` has that. */
static void part(kb_published_axis *axis, kb_published_axis *taken)
{
    *taken = *axis;
    axis->node = NULL;
    axis->node_factor = axis->row_feature = axis->A = axis->A_slope = axis->table = axis->work = NULL;
    for (int k = 0; k < KB_PUBLISHED_ORDERS; k++) axis->feature[k] = NULL;
    axis->orders = 0;
    axis->rank = axis->n = 0;
}

kbass_status kb_published_axis_place(kb_published_axis *axis, double length, double **T, kbass_error *error)
{
    kb_published_axis old;
    size_t *node = NULL, rank = 0;
    unsigned orders = axis->orders | 1;
    *T = NULL;
    if (axis->rank && !kb_published_axis_set(axis, length, orders)) return singular(error);
    axis->kernel.length = length;
    if (!choose(axis, &node, &rank)) return kb_out_of_memory(error, "the nodes of an axis");
    part(axis, &old);
    axis->node = node;
    axis->rank = rank;
    axis->node_length = length;
    kbass_status status = allocate(axis) ? KBASS_OK : kb_out_of_memory(error, "the nodes of an axis");
    if (status == KBASS_OK && !(factorise(axis, 0, axis->node_factor) && fill(axis, orders))) status = singular(error);
    if (status == KBASS_OK && old.rank && !axis->is_whole) status = move_coefficients(axis, &old, T, error);
    forget_nodes(&old);
    return status;
}
