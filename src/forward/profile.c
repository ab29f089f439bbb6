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
    return pow(1 + k * k * p->length * p->length, -3);
}

static void count_modes(kb_profile *p, size_t most)
{
    size_t frequencies = 0;
    while (2 * (frequencies + 1) + 1 <= most && spectrum(p, frequencies + 1) > spectrum_cut) frequencies++;
    p->n_modes = 1 + 2 * frequencies;
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

/* y'C^{-1}y and log|C| of one line under C = B B' + ratio I, amplitude 1 */
static bool measure_line(const kb_profile *p, const kb_data_line *line, double ratio, double *B, double *C, double *y,
                         double *quadratic, double *logdet)
{
    size_t n = line->n, k = p->n_modes;
    for (size_t i = 0; i < n; i++) {
        kb_profile_modes(p, line->coordinate[i], B + i * k);
        y[i] = line->value[i];
    }
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, 1, B, k, B, k, 0, C, n);
    for (size_t i = 0; i < n; i++) C[i + i * n] += ratio;
    if (!kb_cholesky(n, C, n)) return false;
    kb_lower_solve(n, 1, C, n, y, n);
    *quadratic += kb_dot(n, y, y);
    *logdet += kb_cholesky_logdet(n, C, n);
    return true;
}

bool kb_profile_fit(kb_profile *p, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes)
{
    size_t most = 0, total = 0;
    for (size_t i = 0; i < n_lines; i++) {
        if (lines[i].n > most) most = lines[i].n;
        total += lines[i].n;
    }
    double *B = KB_NEW(double, most * most_modes), *C = KB_NEW(double, most * most), *y = KB_NEW(double, most);
    double best = INFINITY, longest = 0.5;
    kb_profile found = *p;
    shortest = fmin(fmax(shortest, 0.01), 0.4);
    for (int i = 0; B && C && y && i < LENGTHS; i++) {
        kb_profile trial = {.period = p->period, .amplitude = 1};
        trial.length = shortest * pow(longest / shortest, (double)i / (LENGTHS - 1));
        count_modes(&trial, most_modes);
        for (int j = 0; j < RATIOS; j++) {
            double ratio = pow(10, -6 + 0.5 * j), quadratic = 0, logdet = 0;
            bool good = total > 0;
            for (size_t line = 0; good && line < n_lines; line++)
                good = measure_line(&trial, &lines[line], ratio, B, C, y, &quadratic, &logdet);
            double variance = quadratic / (double)total, loss = 0.5 * (double)total * log(variance) + 0.5 * logdet;
            if (!good || !(loss < best)) continue;
            best = loss;
            found = trial;
            found.amplitude = sqrt(variance);
            found.noise = ratio * variance;
            found.loss = loss;
        }
    }
    kb_free(B);
    kb_free(C);
    kb_free(y);
    *p = found;
    return isfinite(best);
}
