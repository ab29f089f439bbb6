/* What PySINDy 1.7.5 finds on the paper's cells: finite differences and sequentially thresholded least squares,
 * threshold and smoothing chosen with the truth in sight (bench/pysindy.py). */
#ifndef BENCH_PYSINDY_FIGURES_H
#define BENCH_PYSINDY_FIGURES_H

#include <stddef.h>

typedef struct {
    const char *cell;
    double rmse; /* median over the draws that gave an answer; NaN: none did */
    size_t n_exact, n_seeds;
} bench_figures;

/* NULL: not run. */
const bench_figures *bench_pysindy_figures(const char *cell);

#endif
