/* Periodic PDEs: Fourier coefficients v of every state, v' = L v + N(v, t), L diagonal. fourier_start.c makes the first
 * ones, fourier.c follows them.
 */
#ifndef KB_FOURIER_H
#define KB_FOURIER_H

#include "simulate/fft.h"
#include "simulate/nodes.h"
#include "simulate/pde.h"

enum { KB_SERIES_KEPT = 8, KB_SERIES_STAGES = 4 };

typedef struct {
    const kb_pde *pde;
    size_t n, total, size; /* nodes along an axis, in all, times states */
    double start, step;
    kb_fft fft;
    kb_nodes axes[KB_MOST_SPACE];
    size_t *partner;                            /* total: where the conjugate coefficient stands */
    kb_complex **symbols;                       /* by derivative: of those that N uses */
    kb_complex *e, *half, *q, *f1, *f2, *f3;    /* size each */
    kb_complex *v, *a, *rate[KB_SERIES_STAGES]; /* size each */
    kb_complex *kept[KB_SERIES_KEPT];           /* the last states, in a ring by step */
    kb_complex *scratch;
    double *table, *sum, *value, *work;
    double largest; /* initial coefficient */
    bool is_rough;  /* the highest initial coefficients count */
    size_t
        n_known; /* along one axis: weights of the nodes at the first places of a row, which come again in the next */
    double *known, *place;
    double *lines, line_place; /* fields contracted along the first axis of space at this place, of the present time */
} kb_series;

/* The index along axis d of node or coefficient i of a table with n along each axis. */
static inline size_t kb_index_along(size_t i, size_t n, size_t d)
{
    for (; d; d--) i /= n;
    return i % n;
}

/* Fills the state's part of v, and is_rough. */
kbass_status kb_series_start(kb_series *series, size_t state, kbass_error *error);

#endif
