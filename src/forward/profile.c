#include "forward/profile.h"

#include <math.h>

#include "base/linalg.h"
#include "base/memory.h"

enum { LENGTHS = 14, RATIOS = 13 };
static const double spectrum_cut = 1e-6;

/* Matern-5/2 spectrum of a mode, up to a factor */
static double spectrum(const kb_profile *p, size_t j)
{
    double k = 2 * M_PI * (double)j / p->period;
    if (p->cutoff > 0) return 1 / (1 + pow((double)j / p->cutoff, 8));
    return pow(1 + k * k * p->length * p->length, -3);
}

static void count_modes(kb_profile *p, size_t most)
{
    size_t frequencies = 0;
    while (2 * (frequencies + 1) + 1 <= most && spectrum(p, frequencies + 1) > spectrum_cut) frequencies++;
    p->n_modes = 1 + 2 * frequencies;
}

kb_profile kb_profile_flat(double period, size_t n, size_t most_modes)
{
    kb_profile p = {.period = period, .length = 0.25 / (double)n, .cutoff = 0.45 * (double)n * period, .amplitude = 1,
                    .noise = 0.05};
    count_modes(&p, most_modes);
    return p;
}

void kb_profile_modes(const kb_profile *p, double coordinate, double *modes)
{
    double total = 1;
    size_t frequencies = p->n_modes / 2;
    for (size_t j = 1; j <= frequencies; j++) total += 2 * spectrum(p, j);
    modes[0] = p->amplitude / sqrt(total);
    for (size_t j = 1; j <= frequencies; j++) {
        double scale = p->amplitude * sqrt(2 * spectrum(p, j) / total);
        modes[2 * j - 1] = scale * cos(2 * M_PI * (double)j * coordinate / p->period);
        modes[2 * j] = scale * sin(2 * M_PI * (double)j * coordinate / p->period);
    }
}

/* Workspace of a fit, for lines of at most `most` values. */
typedef struct {
    double *B, *C, *eigenvalues, *y, *weighted;
    double quadratic[RATIOS], logdet[RATIOS];
} bench;

static double noise_ratio(int j) { return pow(10, -6 + 0.5 * j); }

/* Adds y'C^{-1}y and log|C| of one line under C = B B' + ratio I, rows and values times their roots, for every ratio at the price of one eigensystem. */
static bool measure_line(const kb_profile *p, const kb_data_line *line, bench *b)
{
    size_t n = line->n, k = p->n_modes;
    for (size_t i = 0; i < n; i++) {
        double root = line->root ? line->root[i] : 1, *row = b->B + i * k;
        kb_profile_modes(p, line->coordinate[i], row);
        for (size_t j = 0; j < k; j++) row[j] *= root;
        b->weighted[i] = root * line->value[i];
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, 1, b->B, k, b->B, k, 0, b->C, n);
    if (!kb_eigen_symmetric(n, b->C, n, b->eigenvalues)) return false;
    kb_gemv(KB_TRANSPOSED, n, n, 1, b->C, n, b->weighted, 0, b->y);
    for (int j = 0; j < RATIOS; j++)
        for (size_t i = 0; i < n; i++) {
            double variance = fmax(b->eigenvalues[i], 0) + noise_ratio(j);
            b->quadratic[j] += b->y[i] * b->y[i] / variance;
            b->logdet[j] += log(variance);
        }
    return true;
}

/* The best noise ratio for one length scale; the amplitude follows from it. */
static bool fit_length(kb_profile *trial, size_t n_lines, const kb_data_line *lines, double total, bench *b)
{
    trial->loss = INFINITY;
    for (int j = 0; j < RATIOS; j++) b->quadratic[j] = b->logdet[j] = 0;
    for (size_t line = 0; line < n_lines; line++)
        if (!measure_line(trial, &lines[line], b)) return false;
    for (int j = 0; j < RATIOS; j++) {
        double variance = b->quadratic[j] / total, loss = 0.5 * total * log(variance) + 0.5 * b->logdet[j];
        if (!(loss < trial->loss)) continue;
        trial->loss = loss;
        trial->amplitude = sqrt(variance);
        trial->noise = noise_ratio(j) * variance;
    }
    return isfinite(trial->loss);
}

bool kb_profile_fit(kb_profile *p, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes)
{
    size_t most = 0, total = 0;
    for (size_t i = 0; i < n_lines; i++) {
        if (lines[i].n > most) most = lines[i].n;
        total += lines[i].n;
    }
    bench b = {KB_NEW(double, most * most_modes), KB_NEW(double, most * most), KB_NEW(double, most), KB_NEW(double, most),
               KB_NEW(double, most), {0}, {0}};
    double longest = 0.5;
    kb_profile found = {.loss = INFINITY};
    shortest = fmin(fmax(shortest, 0.01), 0.4);
    for (int i = 0; b.B && b.C && b.eigenvalues && b.y && b.weighted && total && i < LENGTHS; i++) {
        kb_profile trial = {.period = p->period, .amplitude = 1};
        trial.length = shortest * pow(longest / shortest, (double)i / (LENGTHS - 1));
        count_modes(&trial, most_modes);
        if (fit_length(&trial, n_lines, lines, (double)total, &b) && trial.loss < found.loss) found = trial;
    }
    kb_free(b.B);
    kb_free(b.C);
    kb_free(b.eigenvalues);
    kb_free(b.y);
    kb_free(b.weighted);
    if (isfinite(found.loss)) *p = found;
    return isfinite(found.loss);
}
