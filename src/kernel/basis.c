#include "kernel/basis.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/linalg.h"
#include "base/memory.h"

static const double relative_cut = 1e-10; /* of the largest eigenvalue: below it rounding */
enum { MOST_WHOLE = 600 }; /* points: above it pivots stand for all; an eigenproblem takes 0.1 s, growing by the cube */
enum { BLOCK = 4096 };     /* room: points whose features are made at once */
static const double eigen_seconds = 5e-9; /* times the cube of the order: LAPACK takes so long and hears nothing */
static const double pivot_cut = 1e-11; /* share of the largest eigenvalue that the trace may have left: below the cut */

static kbass_status no_eigenvectors(size_t n, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the kernel matrix of %zu mesh points has no eigenvectors", n);
}

static size_t count_kept(size_t n, const double *ascending)
{
    size_t kept = 0;
    while (kept < n && ascending[n - 1 - kept] > relative_cut * ascending[n - 1]) kept++;
    return kept;
}

/* ---------------------------------------------------------------- all points */

static kbass_status factorise(kb_basis *basis, double *gram, double *eigenvalues, kbass_error *error)
{
    size_t n = basis->n_nodes;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            gram[i + j * n] = kb_kernel_derivative(&basis->kernel, basis->nodes[i], basis->nodes[j], 0);
    double *work = KB_NEW(double, kb_eigen_work(n));
    if (!work) return kb_out_of_memory(error, "the kernel's basis");
    bool found = kb_eigen_symmetric_with(n, gram, n, eigenvalues, work);
    kb_free(work);
    if (!found || !(eigenvalues[n - 1] > 0)) return no_eigenvectors(n, error);
    basis->rank = count_kept(n, eigenvalues);
    basis->whiten = KB_NEW(double, n * basis->rank);
    if (!basis->whiten) return kb_out_of_memory(error, "the kernel's basis");
    for (size_t q = 0; q < basis->rank; q++) {
        const double *vector = gram + (n - 1 - q) * n;
        double scale = 1 / sqrt(eigenvalues[n - 1 - q]);
        for (size_t i = 0; i < n; i++) basis->whiten[i + q * n] = scale * vector[i];
    }
    return KBASS_OK;
}

static kbass_status create_whole(kb_basis *basis, size_t n, const double *mesh, kbass_error *error)
{
    double *gram = KB_NEW(double, n *n), *eigenvalues = KB_NEW(double, n);
    basis->nodes = KB_NEW(double, n);
    basis->n_nodes = n;
    kbass_status status = KBASS_OK;
    if (!gram || !eigenvalues || !basis->nodes) status = kb_out_of_memory(error, "the kernel's basis");
    if (status == KBASS_OK) {
        memcpy(basis->nodes, mesh, n * sizeof *mesh);
        status = factorise(basis, gram, eigenvalues, error);
    }
    kb_free(gram);
    kb_free(eigenvalues);
    return status;
}

/* ---------------------------------------------------------------- pivots
 * K = L L' up to pivot_cut, L: n x r from r pivots p; L'L = U M U'. Then V M^{1/2} = L U, and since L = K_.p L_p^{-T},
 * phi(t) = kappa(t, p) L_p^{-T} U. */

typedef struct {
    size_t n, r, capacity;
    double *L;    /* n x r, column after column */
    double *left; /* n: diagonal of K - L L' */
    size_t *pivot;
} pivoted;

static void pivoted_clear(pivoted *p)
{
    kb_free(p->L);
    kb_free(p->left);
    kb_free(p->pivot);
}

static bool make_room(pivoted *p)
{
    if (p->r < p->capacity) return true;
    size_t more = p->capacity ? 2 * p->capacity : 64;
    double *L = kb_reallocate(p->L, p->n * p->capacity, p->n * more, sizeof *L);
    if (!L) return false;
    p->L = L;
    size_t *pivot = kb_reallocate(p->pivot, p->capacity, more, sizeof *pivot);
    if (!pivot) return false;
    p->pivot = pivot;
    p->capacity = more;
    return true;
}

/* The next pivot, and the trace of what is left. */
static size_t find_largest(size_t n, const double *left, double *trace)
{
    size_t largest = 0;
    *trace = 0;
    for (size_t i = 0; i < n; i++) {
        *trace += left[i];
        if (left[i] > left[largest]) largest = i;
    }
    return largest;
}

/* L_.r = (K_.p - L L_p.') / sqrt(left_p) */
static void add_pivot(pivoted *p, const kb_kernel *kernel, const double *mesh, size_t at)
{
    size_t n = p->n;
    double *column = p->L + p->r * n, root = sqrt(p->left[at]);
    for (size_t i = 0; i < n; i++) column[i] = kb_kernel_derivative(kernel, mesh[i], mesh[at], 0);
    for (size_t q = 0; q < p->r; q++) kb_axpy(n, -p->L[at + q * n], p->L + q * n, column);
    for (size_t i = 0; i < n; i++) {
        column[i] = p->left[i] > 0 ? column[i] / root : 0;
        p->left[i] = fmax(p->left[i] - column[i] * column[i], 0);
    }
    column[at] = root;
    p->left[at] = 0;
    p->pivot[p->r++] = at;
}

static kbass_status find_pivots(pivoted *p, const kb_kernel *kernel, const double *mesh, kbass_error *error)
{
    double largest = 0, trace; /* largest: a lower bound of the largest eigenvalue, |L_.1|^2 */
    p->left = KB_NEW(double, p->n);
    if (!p->left) return kb_out_of_memory(error, "the kernel's basis");
    for (size_t i = 0; i < p->n; i++) p->left[i] = kb_kernel_derivative(kernel, mesh[i], mesh[i], 0);
    while (p->r < p->n) {
        size_t at = find_largest(p->n, p->left, &trace);
        if (!(p->left[at] > 0) || trace <= pivot_cut * largest) break;
        if (kb_budget_expired()) return kb_out_of_time(error, "the pivots of the mesh were found");
        if (!make_room(p)) return kb_out_of_memory(error, "the kernel's basis");
        add_pivot(p, kernel, mesh, at);
        if (p->r == 1) largest = kb_dot(p->n, p->L, p->L);
        if (!isfinite(largest)) return no_eigenvectors(p->n, error);
    }
    return p->r ? KBASS_OK : no_eigenvectors(p->n, error);
}

/* whiten = L_p^{-T} U, the largest eigenvalue first; L_p: the pivots' rows of L, lower triangular. */
static kbass_status whiten_pivots(kb_basis *basis, const pivoted *p, kbass_error *error)
{
    size_t n = p->n, r = p->r;
    double *U = KB_NEW(double, r *r), *values = KB_NEW(double, r), *triangle = KB_NEW(double, r *r);
    kbass_status status = U && values && triangle ? KBASS_OK : kb_out_of_memory(error, "the kernel's basis");
    if (status == KBASS_OK) {
        kb_gram(r, n, 1, p->L, n, 0, U, r);
        if (!kb_budget_affords(eigen_seconds * (double)r * (double)r * (double)r))
            status = kb_out_of_time(error, "the eigenvectors of the mesh were found");
        else if (!kb_eigen_symmetric(r, U, r, values) || !(values[r - 1] > 0)) status = no_eigenvectors(n, error);
    }
    if (status == KBASS_OK) {
        basis->rank = count_kept(r, values);
        basis->whiten = KB_NEW(double, r * basis->rank);
        if (!basis->whiten) status = kb_out_of_memory(error, "the kernel's basis");
    }
    if (status == KBASS_OK) {
        for (size_t q = 0; q < basis->rank; q++) memcpy(basis->whiten + q * r, U + (r - 1 - q) * r, r * sizeof *U);
        for (size_t j = 0; j < r; j++)
            for (size_t i = j; i < r; i++) triangle[i + j * r] = p->L[p->pivot[i] + j * n];
        kb_lower_transposed_solve(r, basis->rank, triangle, r, basis->whiten, r);
    }
    kb_free(U);
    kb_free(values);
    kb_free(triangle);
    return status;
}

static kbass_status create_pivoted(kb_basis *basis, size_t n, const double *mesh, kbass_error *error)
{
    pivoted p = {.n = n};
    kbass_status status = find_pivots(&p, &basis->kernel, mesh, error);
    if (status == KBASS_OK) {
        basis->n_nodes = p.r;
        basis->nodes = KB_NEW(double, p.r);
        if (!basis->nodes) status = kb_out_of_memory(error, "the kernel's basis");
    }
    for (size_t i = 0; status == KBASS_OK && i < p.r; i++) basis->nodes[i] = mesh[p.pivot[i]];
    if (status == KBASS_OK) status = whiten_pivots(basis, &p, error);
    pivoted_clear(&p);
    return status;
}

/* ---------------------------------------------------------------- life and use */

kbass_status kb_basis_create(const kb_kernel *kernel, size_t n_mesh, const double *mesh, kb_basis **out,
                             kbass_error *error)
{
    kb_basis *basis = KB_NEW(kb_basis, 1);
    if (!basis) return kb_out_of_memory(error, "the kernel's basis");
    basis->kernel = *kernel;
    kbass_status status =
        n_mesh > MOST_WHOLE ? create_pivoted(basis, n_mesh, mesh, error) : create_whole(basis, n_mesh, mesh, error);
    if (status == KBASS_OK) *out = basis;
    else kb_basis_destroy(basis);
    return status;
}

void kb_basis_destroy(kb_basis *basis)
{
    if (!basis) return;
    kb_free(basis->nodes);
    kb_free(basis->whiten);
    kb_free(basis);
}

size_t kb_basis_work(const kb_basis *basis, size_t n_points)
{
    return (n_points < BLOCK ? n_points : BLOCK) * basis->n_nodes;
}

void kb_basis_features(const kb_basis *basis, size_t n_points, const double *points, int order, double *features,
                       double *work)
{
    for (size_t first = 0; first < n_points && !kb_budget_expired(); first += BLOCK) {
        size_t n = n_points - first < BLOCK ? n_points - first : BLOCK;
        for (size_t j = 0; j < basis->n_nodes; j++)
            for (size_t i = 0; i < n; i++)
                work[i + j * n] = kb_kernel_derivative(&basis->kernel, points[first + i], basis->nodes[j], order);
        kb_gemm(KB_PLAIN, KB_PLAIN, n, basis->rank, basis->n_nodes, 1, work, n, basis->whiten, basis->n_nodes, 0,
                features + first, n_points);
    }
}
