#include "kernel/basis.h"

#include <math.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double relative_cut = 1e-10;

static size_t count_kept(size_t n, const double *ascending)
{
    size_t kept = 0;
    while (kept < n && ascending[n - 1 - kept] > relative_cut * ascending[n - 1]) kept++;
    return kept;
}

static kbass_status factorise(kb_basis *basis, double *gram, double *eigenvalues, kbass_error *error)
{
    size_t n = basis->n_mesh;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            gram[i + j * n] = kb_kernel_derivative(&basis->kernel, basis->mesh[i], basis->mesh[j], 0);
    if (!kb_eigen_symmetric(n, gram, n, eigenvalues) || !(eigenvalues[n - 1] > 0))
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "the kernel matrix of %zu mesh points has no eigenvectors", n);
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

kbass_status kb_basis_create(const kb_kernel *kernel, size_t n_mesh, const double *mesh, kb_basis **out,
                             kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_basis *basis = KB_NEW(kb_basis, 1);
    double *gram = KB_NEW(double, n_mesh *n_mesh), *eigenvalues = KB_NEW(double, n_mesh);
    double *copy = KB_NEW(double, n_mesh);

    if (!basis || !gram || !eigenvalues || !copy) {
        status = kb_out_of_memory(error, "the kernel's basis");
        kb_free(copy);
    } else {
        *basis = (kb_basis){.kernel = *kernel, .n_mesh = n_mesh, .mesh = copy};
        for (size_t i = 0; i < n_mesh; i++) copy[i] = mesh[i];
        status = factorise(basis, gram, eigenvalues, error);
    }
    kb_free(gram);
    kb_free(eigenvalues);
    if (status == KBASS_OK) *out = basis;
    else kb_basis_destroy(basis);
    return status;
}

void kb_basis_destroy(kb_basis *basis)
{
    if (!basis) return;
    kb_free(basis->mesh);
    kb_free(basis->whiten);
    kb_free(basis);
}

void kb_basis_features(const kb_basis *basis, size_t n_points, const double *points, int order, double *features,
                       double *work)
{
    for (size_t j = 0; j < basis->n_mesh; j++)
        for (size_t i = 0; i < n_points; i++)
            work[i + j * n_points] = kb_kernel_derivative(&basis->kernel, points[i], basis->mesh[j], order);
    kb_gemm(KB_PLAIN, KB_PLAIN, n_points, basis->rank, basis->n_mesh, 1, work, n_points, basis->whiten, basis->n_mesh,
            0, features, n_points);
}
