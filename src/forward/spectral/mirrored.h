/* Waves at even nodes of a period, by their symmetry: cosines are the same at x and -x, sines the opposite, so that
 * sums at half of the nodes give those at all of them, with half of the operations.
 *
 * Waves are 1, cos, sin, cos 2, ... (2 n_waves + 1 of them), nodes 0 ... n - 1 of n, an even number above that. Tensors
 * are left x waves x right and left x nodes x right, the first index fastest.
 */
#ifndef KB_FORWARD_SPECTRAL_MIRRORED_H
#define KB_FORWARD_SPECTRAL_MIRRORED_H

#include <stddef.h>

typedef struct {
    size_t n_waves, n;
    int order;           /* of the derivative */
    const double *basis; /* n x waves: it at the nodes */
} kb_mirrored;

/* work: left (n + 2) */
void kb_mirrored_to_nodes(const kb_mirrored *M, size_t left, size_t right, const double *waves, double *nodes,
                          double *work);
/* The inverse for what n_waves can hold; order 0. */
void kb_mirrored_to_waves(const kb_mirrored *M, size_t left, size_t right, const double *nodes, double *waves,
                          double *work);

#endif
