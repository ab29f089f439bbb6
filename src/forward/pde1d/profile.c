#include "forward/pde1d/profile.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

enum { LENGTHS = 14 };                   /* values: of the length scale that are tried */
enum { RATIOS = 13 };                    /* values: of noise to signal that are tried */
static const double spectrum_cut = 1e-6; /* of the first mode's variance: less, and a mode is left out */

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
    kb_profile p = {.period = period,
                    .length = 0.25 / (double)n,
                    .cutoff = 0.45 * (double)n * period,
                    .amplitude = 1,
                    .noise = 0.05};
    count_modes(&p, most_modes);
    return p;
}

/* Waves at a coordinate, 1 and cosine and sine of each frequency. */
static void fill_waves(double period, size_t n_modes, double coordinate, double *waves)
{
    waves[0] = 1;
    for (size_t j = 1; j <= n_modes / 2; j++) {
        waves[2 * j - 1] = cos(2 * M_PI * (double)j * coordinate / period);
        waves[2 * j] = sin(2 * M_PI * (double)j * coordinate / period);
    }
}

/* Standard deviation of each wave's coefficient. */
static void fill_scales(const kb_profile *p, double *scales)
{
    double total = 1;
    size_t frequencies = p->n_modes / 2;
    for (size_t j = 1; j <= frequencies; j++) total += 2 * spectrum(p, j);
    scales[0] = p->amplitude / sqrt(total);
    for (size_t j = 1; j <= frequencies; j++)
        scales[2 * j - 1] = scales[2 * j] = p->amplitude * sqrt(2 * spectrum(p, j) / total);
}

void kb_profile_modes(const kb_profile *p, double coordinate, double *modes)
{
    fill_scales(p, modes);
    for (size_t j = 1; j <= p->n_modes / 2; j++) {
        modes[2 * j - 1] *= cos(2 * M_PI * (double)j * coordinate / p->period);
        modes[2 * j] *= sin(2 * M_PI * (double)j * coordinate / p->period);
    }
}

/* Workspace of a fit, for lines of at most `most` values. */
typedef struct {
    double *B, *gram, *eigenvalues, *y, *projected, *turned;
    double *waves;             /* most_modes at each coordinate of the line `waved`: the same for all lengths */
    const kb_data_line *waved; /* NULL: none yet */
    size_t most_modes;
    double *scales;
    double *logs; /* RATIOS at each eigenvalue: log(1 + l / ratio) */
    double quadratic[RATIOS], logdet[RATIOS];
} workspace;

static double noise_ratio(int j) { return pow(10, -6 + 0.5 * j); }

static bool is_alike(const kb_data_line *a, const kb_data_line *b)
{
    size_t size = a->n * sizeof *a->coordinate;
    if (a->n != b->n || memcmp(a->coordinate, b->coordinate, size)) return false;
    return a->root == b->root || (a->root && b->root && !memcmp(a->root, b->root, size));
}

static void wave_line(const kb_profile *p, const kb_data_line *line, workspace *b)
{
    const kb_data_line *last = b->waved;
    if (last && last->n == line->n && !memcmp(last->coordinate, line->coordinate, line->n * sizeof *line->coordinate))
        return;
    for (size_t i = 0; i < line->n; i++)
        fill_waves(p->period, b->most_modes, line->coordinate[i], b->waves + i * b->most_modes);
    b->waved = line;
}

/* B (modes x values), times the values' roots, and the eigensystem of B'B or B B', whichever is smaller. */
static bool decompose(const kb_profile *p, const kb_data_line *line, workspace *b)
{
    size_t n = line->n, k = p->n_modes;
    wave_line(p, line, b);
    fill_scales(p, b->scales);
    for (size_t i = 0; i < n; i++) {
        double *modes = b->B + i * k;
        const double *waves = b->waves + i * b->most_modes;
        for (size_t j = 0; j < k; j++) modes[j] = b->scales[j] * waves[j];
        for (size_t j = 0; line->root && j < k; j++) modes[j] *= line->root[i];
    }
    if (n <= k) kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, 1, b->B, k, b->B, k, 0, b->gram, n);
    else kb_gemm(KB_PLAIN, KB_TRANSPOSED, k, k, n, 1, b->B, k, b->B, k, 0, b->gram, k);
    if (!kb_eigen_symmetric(n <= k ? n : k, b->gram, n <= k ? n : k, b->eigenvalues)) return false;
    for (size_t i = 0; i < (n <= k ? n : k); i++)
        for (int j = 0; j < RATIOS; j++)
            b->logs[i * RATIOS + (size_t)j] = log1p(fmax(b->eigenvalues[i], 0) / noise_ratio(j));
    return true;
}

/* Adds y'C^{-1}y and log|C| of the line decomposed, C = B'B + ratio I, for every ratio; with eigenvalues l_i of B'B,
   C^{-1} = (I - sum_i v_i v_i' l_i / (l_i + ratio)) / ratio and l_i (v_i'y)^2 = (v_i'B y)^2 with vectors of B B'. */
static void measure_line(const kb_profile *p, const kb_data_line *line, workspace *b)
{
    size_t n = line->n, k = p->n_modes, rank = n <= k ? n : k;
    for (size_t i = 0; i < n; i++) b->y[i] = (line->root ? line->root[i] : 1) * line->value[i];
    if (n > k) kb_gemv(KB_PLAIN, k, n, 1, b->B, k, b->y, 0, b->projected);
    kb_gemv(KB_TRANSPOSED, rank, rank, 1, b->gram, rank, n > k ? b->projected : b->y, 0, b->turned);
    for (int j = 0; j < RATIOS; j++) {
        double ratio = noise_ratio(j), rest = kb_dot(n, b->y, b->y);
        for (size_t i = 0; i < rank; i++) {
            double l = fmax(b->eigenvalues[i], 0), power = b->turned[i] * b->turned[i] * (n > k ? 1 : l);
            rest -= power / (l + ratio);
            b->logdet[j] += b->logs[i * RATIOS + (size_t)j];
        }
        b->quadratic[j] += rest / ratio;
        b->logdet[j] += (double)n * log(ratio);
    }
}

/* The best noise ratio for one length scale; the amplitude follows from it. */
static bool fit_length(kb_profile *trial, size_t n_lines, const kb_data_line *lines, double total, workspace *b)
{
    trial->loss = INFINITY;
    for (int j = 0; j < RATIOS; j++) b->quadratic[j] = b->logdet[j] = 0;
    for (size_t i = 0; i < n_lines; i++) { /* a grid's lines have one decomposition */
        bool is_known = i > 0 && is_alike(&lines[i], &lines[i - 1]);
        if (!is_known && !decompose(trial, &lines[i], b)) return false;
        measure_line(trial, &lines[i], b);
    }
    for (int j = 0; j < RATIOS; j++) {
        double variance = b->quadratic[j] / total, loss = 0.5 * total * log(variance) + 0.5 * b->logdet[j];
        if (!(loss < trial->loss)) continue;
        trial->loss = loss;
        trial->amplitude = sqrt(variance);
        trial->noise = noise_ratio(j) * variance;
    }
    return isfinite(trial->loss);
}

static const double fewer = 0.8;       /* of the modes: the next count that is tried; not measured */
static const double as_likely = 1;     /* nats: behind all modes, within which fewer are; no odds to speak of */
static const double wide_margin = 1.5; /* times the modes that lines show; waves of smooth fields fall exponentially */

/* Fewer modes where the lines are as likely with them: those beyond are noise, and each is an unknown of every start.
   As many again by half stay, whose waves have fallen below what many more lines could show. */
static void leave_modes_out(kb_profile *p, size_t n_lines, const kb_data_line *lines, double total, workspace *b)
{
    kb_profile least = *p;
    for (double most = fewer * (double)p->n_modes; most >= 3; most *= fewer) {
        kb_profile trial = *p;
        trial.amplitude = 1;
        count_modes(&trial, (size_t)most);
        if (!fit_length(&trial, n_lines, lines, total, b) || trial.loss > p->loss + as_likely) break;
        least = trial;
    }
    count_modes(p, (size_t)fmin(wide_margin * (double)least.n_modes, (double)p->n_modes));
}

/* is_sparing: as few modes as the lines allow */
static bool fit_profile(kb_profile *p, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes,
                        bool is_sparing)
{
    size_t most = 0, total = 0;
    for (size_t i = 0; i < n_lines; i++) {
        if (lines[i].n > most) most = lines[i].n;
        total += lines[i].n;
    }
    size_t rank = most < most_modes ? most : most_modes;
    workspace b = {.B = KB_NEW(double, most *most_modes),
                   .gram = KB_NEW(double, rank *rank),
                   .eigenvalues = KB_NEW(double, rank),
                   .y = KB_NEW(double, most),
                   .projected = KB_NEW(double, most_modes),
                   .turned = KB_NEW(double, rank),
                   .waves = KB_NEW(double, most *most_modes),
                   .most_modes = most_modes,
                   .scales = KB_NEW(double, most_modes),
                   .logs = KB_NEW(double, RATIOS *rank)};
    bool complete = b.B && b.gram && b.eigenvalues && b.y && b.projected && b.turned && b.waves && b.scales && b.logs;
    double longest = 0.5;
    kb_profile found = {.loss = INFINITY};
    shortest = fmin(fmax(shortest, 0.01), 0.4);
    for (int i = 0; complete && total && i < LENGTHS; i++) {
        kb_profile trial = {.period = p->period, .amplitude = 1};
        trial.length = shortest * pow(longest / shortest, (double)i / (LENGTHS - 1));
        count_modes(&trial, most_modes);
        if (fit_length(&trial, n_lines, lines, (double)total, &b) && trial.loss < found.loss) found = trial;
    }
    if (is_sparing && isfinite(found.loss)) leave_modes_out(&found, n_lines, lines, (double)total, &b);
    kb_free(b.B);
    kb_free(b.gram);
    kb_free(b.eigenvalues);
    kb_free(b.y);
    kb_free(b.projected);
    kb_free(b.turned);
    kb_free(b.waves);
    kb_free(b.scales);
    kb_free(b.logs);
    if (isfinite(found.loss)) *p = found;
    return isfinite(found.loss);
}

bool kb_profile_fit(kb_profile *p, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes)
{
    return fit_profile(p, n_lines, lines, shortest, most_modes, false);
}

bool kb_profile_fit_few(kb_profile *p, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes)
{
    return fit_profile(p, n_lines, lines, shortest, most_modes, true);
}
