#include "forward/spectral/mirrored.h"

#include "base/linalg.h"

void kb_mirrored_to_nodes(const kb_mirrored *M, size_t left, size_t right, const double *waves, double *nodes,
                          double *work)
{
    size_t J = M->n_waves, n = M->n, half = n / 2 + 1;
    double *cosines = work, *sines = work + left * half;
    const double *even = M->order % 2 ? sines : cosines, *odd = M->order % 2 ? cosines : sines;
    double constant = M->order ? 0 : 1;
    for (size_t c = 0; c < right; c++, waves += left * (2 * J + 1), nodes += left * n) {
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, left, half, J, 1, waves + left, 2 * left, M->basis + n, 2 * n, 0, cosines,
                left);
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, left, half, J, 1, waves + 2 * left, 2 * left, M->basis + 2 * n, 2 * n, 0,
                sines, left);
        for (size_t i = 0; i < half; i++) {
            size_t at = i * left, mirror = (n - i) % n * left;
            for (size_t l = 0; l < left; l++) {
                double middle = constant * waves[l] + even[at + l];
                nodes[mirror + l] = middle - odd[at + l];
                nodes[at + l] = middle + odd[at + l];
            }
        }
    }
}

void kb_mirrored_to_waves(const kb_mirrored *M, size_t left, size_t right, const double *nodes, double *waves,
                          double *work)
{
    size_t J = M->n_waves, n = M->n, half = n / 2 + 1;
    double *even = work, *odd = work + left * half, share = 1 / (double)n;
    for (size_t c = 0; c < right; c++, waves += left * (2 * J + 1), nodes += left * n) {
        for (size_t l = 0; l < left; l++) waves[l] = 0;
        for (size_t i = 0; i < half; i++) {
            size_t at = i * left, mirror = (n - i) % n * left;
            double weight = mirror == at ? 0.5 : 1; /* a node that is its own image counts once */
            for (size_t l = 0; l < left; l++) {
                even[at + l] = weight * (nodes[at + l] + nodes[mirror + l]);
                odd[at + l] = nodes[at + l] - nodes[mirror + l];
                waves[l] += share * even[at + l];
            }
        }
        kb_gemm(KB_PLAIN, KB_PLAIN, left, J, half, 2 * share, even, left, M->basis + n, 2 * n, 0, waves + left,
                2 * left);
        kb_gemm(KB_PLAIN, KB_PLAIN, left, J, half, 2 * share, odd, left, M->basis + 2 * n, 2 * n, 0, waves + 2 * left,
                2 * left);
    }
}
