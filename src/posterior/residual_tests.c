#include "posterior/residual_tests.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"

enum { MOST_DRAWS = 999 };              /* draws: of residuals that the law would leave */
enum { FEWER_DRAWS = 199 };             /* draws: where they are dear */
enum { BATCH = 32 };                    /* room: draws at a time */
enum { LEAST_VALUES = 10 };             /* values: of a state that is tested */
enum { MOST_LAGS = 4 };                 /* lags: of the autocorrelation */
enum { SEED = 20 };                     /* seed: the same answer every time */
static const double many_numbers = 2e6; /* rows times parameters: above it fewer draws; seconds */
static const double most_numbers = 1e7; /* rows times parameters: above it no tests; seconds */
static const double many_rows = 5000;   /* rows: above it fewer draws; seconds */

typedef struct {
    kb_shooter *shooter;
    const kb_fit *fit;
    size_t k, n, P, n_rows, n_observations, n_draws;
    double *tangents, *residuals; /* of all windows' rows (P x rows), weighted: rows of border lines come twice */
    size_t *observation;          /* of each row */
    double *root;                 /* of each row: square root of its weight, 1 or sqrt(1/2) */
    size_t *line, *place;  /* of each observation: its row of the data, and its place among those of its group there */
    double *size;          /* of each observation: predicted value in the data's units, absolute */
    double *noise, *steps; /* a batch: rows x BATCH, P x BATCH per window */
    double *total;         /* k x BATCH, and as much workspace */
    double *values;        /* of each observation */
    double *sequence, *sizes; /* those of one group */
    size_t *lines, *places;
    size_t *count;  /* groups: observations of a line so far */
    bool *tested;   /* groups */
    double *scores; /* tests x (draws + 1): the first is that of the data */
} study;

/* ---------------------------------------------------------------- memory */

static void clear(study *s)
{
    double *arrays[] = {s->tangents, s->residuals, s->root,     s->size,  s->noise, s->steps,
                        s->total,    s->values,    s->sequence, s->sizes, s->scores};
    size_t *indices[] = {s->observation, s->line, s->place, s->lines, s->places, s->count};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) kb_free(indices[i]);
    kb_free(s->tested);
}

static kbass_status prepare(study *s, kbass_error *error)
{
    size_t rows = s->n_rows, all = s->n_observations, windows = s->shooter->likelihood.windows->n,
           groups = s->shooter->likelihood.n_groups;
    s->tangents = KB_NEW(double, rows * s->P);
    s->residuals = KB_NEW(double, rows);
    s->root = KB_NEW(double, rows);
    s->observation = KB_NEW(size_t, rows);
    s->noise = KB_NEW(double, rows *BATCH);
    s->steps = KB_NEW(double, s->P *BATCH *windows);
    s->total = KB_NEW(double, 2 * s->k * BATCH);
    s->line = KB_NEW(size_t, all);
    s->place = KB_NEW(size_t, all);
    s->size = KB_NEW(double, all);
    s->values = KB_NEW(double, all);
    s->sequence = KB_NEW(double, all);
    s->sizes = KB_NEW(double, all);
    s->lines = KB_NEW(size_t, all);
    s->places = KB_NEW(size_t, all);
    s->tested = KB_NEW(bool, groups);
    s->count = KB_NEW(size_t, groups);
    s->scores = KB_NEW(double, KB_TESTS *groups *(s->n_draws + 1));
    bool complete = s->tangents && s->residuals && s->root && s->observation && s->noise && s->steps && s->total &&
                    s->line && s->place && s->size && s->values && s->sequence && s->sizes && s->lines && s->places &&
                    s->tested && s->count && s->scores;
    return complete ? KBASS_OK : kb_out_of_memory(error, "the tests of the residuals");
}

/* ---------------------------------------------------------------- rows */

static size_t rows_of(const kb_shooter *s, size_t window)
{
    const size_t *start = s->dynamics->observation_start;
    return start[s->likelihood.windows->last[window] + 1] - start[s->likelihood.windows->first[window]];
}

static void list_rows(study *s)
{
    const kb_shooter *shooter = s->shooter;
    const kb_dynamics *d = shooter->dynamics;
    const kb_windows *windows = shooter->likelihood.windows;
    size_t row = 0;
    for (size_t w = 0; w < windows->n; w++)
        for (size_t line = windows->first[w]; line <= windows->last[w]; line++) {
            bool shared =
                (w > 0 && line == windows->last[w - 1]) || (w + 1 < windows->n && line == windows->first[w + 1]);
            for (size_t o = d->observation_start[line]; o < d->observation_start[line + 1]; o++, row++) {
                s->observation[row] = o;
                s->root[row] = shared ? sqrt(0.5) : 1;
            }
        }
    for (size_t line = 0; line <= windows->last[windows->n - 1]; line++) {
        memset(s->count, 0, d->n_groups * sizeof *s->count);
        for (size_t o = d->observation_start[line]; o < d->observation_start[line + 1]; o++) {
            s->line[o] = line;
            s->place[o] = s->count[d->group[o]]++;
        }
    }
}

/* Residuals as if each observation had unit variance; of the two of a border line, the later window's. */
static void gather(study *s, const double *rows)
{
    for (size_t row = 0; row < s->n_rows; row++) s->values[s->observation[row]] = rows[row] / s->root[row];
}

static void measure_sizes(study *s)
{
    const kb_comparison *m = &s->shooter->comparison;
    const kb_dynamics *d = s->shooter->dynamics;
    gather(s, s->residuals);
    for (size_t row = 0; row < s->n_rows; row++) {
        size_t o = s->observation[row], group = d->group[o];
        double r = s->values[o] * sqrt(s->fit->variance[group] * m->relative[o]);
        s->size[o] = fabs(kb_comparison_value(m, group, m->target[o] + r));
    }
}

static void choose_groups(study *s)
{
    const kb_dynamics *d = s->shooter->dynamics;
    const kb_comparison *m = &s->shooter->comparison;
    for (size_t g = 0; g < d->n_groups; g++) {
        double floor = kb_comparison_variance(m, g, d->noise_floor);
        s->tested[g] = s->shooter->counts[g] >= LEAST_VALUES && s->fit->variance[g] > 1.01 * floor;
    }
}

/* ---------------------------------------------------------------- statistics of one group */

/* Correlation of values so many steps apart: along a line of space or, where lines hold one value, along time. */
static double lagged(const study *s, size_t n, size_t lag, bool along_time, double squares)
{
    double sum = 0, pairs = 0;
    for (size_t i = 0; i + lag < n; i++) {
        bool is_pair = along_time ? s->places[i] == s->places[i + lag] : s->lines[i] == s->lines[i + lag];
        if (is_pair) sum += s->sequence[i] * s->sequence[i + lag], pairs++;
    }
    return pairs > 0 ? sum / (squares / (double)n) / sqrt(pairs) : 0;
}

/* sum over lags of (their correlation)^2 times the pairs, to the power 1/3; time lags of grids skip a whole line */
static double whiteness(const study *s, size_t n, double squares)
{
    size_t width = 1, lags = n / 5 < MOST_LAGS ? n / 5 : MOST_LAGS;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (s->places[i] + 1 > width) width = s->places[i] + 1;
    for (size_t lag = 1; lag <= lags; lag++) {
        double r = lagged(s, n, lag, width == 1, squares);
        sum += r * r;
    }
    double across = width > 1 && width < n ? lagged(s, n, width, true, squares) : 0;
    return cbrt(sum + across * across);
}

/* log of Jarque and Bera's n/6 (skewness^2 + excess^2 / 4) */
static double normality(const study *s, size_t n)
{
    double mean = 0, moment[5] = {0};
    for (size_t i = 0; i < n; i++) mean += s->sequence[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double deviation = s->sequence[i] - mean, square = deviation * deviation;
        moment[2] += square / (double)n;
        moment[3] += square * deviation / (double)n;
        moment[4] += square * square / (double)n;
    }
    double skewness = moment[3] / pow(moment[2], 1.5), excess = moment[4] / (moment[2] * moment[2]) - 3;
    return log((double)n / 6 * (skewness * skewness + excess * excess / 4) + 1e-12);
}

/* Correlation of squares with the predictions' size. */
static double growth(const study *s, size_t n, double squares)
{
    double mean = 0, cross = 0, a = 0, b = 0;
    for (size_t i = 0; i < n; i++) mean += s->sizes[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double x = s->sizes[i] - mean, y = s->sequence[i] * s->sequence[i] - squares / (double)n;
        cross += x * y;
        a += x * x;
        b += y * y;
    }
    return a > 0 && b > 0 ? cross / sqrt(a * b) : 0;
}

/* All statistics of the values at hand, as column `draw` of the scores. */
static void compute(study *s, size_t draw)
{
    const kb_dynamics *d = s->shooter->dynamics;
    for (size_t g = 0; g < d->n_groups; g++) {
        double *out = s->scores + KB_TESTS * (g + d->n_groups * draw), squares = 0;
        size_t n = 0;
        if (!s->tested[g]) continue;
        for (size_t o = d->observation_start[s->shooter->likelihood.windows->first[0]]; o < s->n_observations; o++) {
            if (d->group[o] != g) continue;
            s->sequence[n] = s->values[o];
            s->sizes[n] = s->size[o];
            s->lines[n] = s->line[o];
            s->places[n++] = s->place[o];
            squares += s->values[o] * s->values[o];
        }
        out[KB_TEST_WHITENESS] = whiteness(s, n, squares);
        out[KB_TEST_NORMALITY] = normality(s, n);
        out[KB_TEST_SPREAD] = growth(s, n, squares);
    }
}

/* ---------------------------------------------------------------- what a fit leaves of noise */

static void draw_noise(study *s, kb_random *random)
{
    for (size_t b = 0; b < BATCH; b++) {
        double *rows = s->noise + b * s->n_rows;
        for (size_t o = 0; o < s->n_observations; o++) s->values[o] = kb_random_normal(random);
        for (size_t row = 0; row < s->n_rows; row++) rows[row] = s->root[row] * s->values[s->observation[row]];
    }
}

/* e <- e - T'theta, theta = (T T' + prior)^{-1} T e, by the shooter's factors of the block arrow. */
static void project(study *s)
{
    const kb_shooter *shooter = s->shooter;
    size_t k = s->k, n = s->n, P = s->P, windows = shooter->likelihood.windows->n;
    memset(s->total, 0, k * BATCH * sizeof *s->total);
    for (size_t w = 0, first = 0; w < windows; first += rows_of(shooter, w++)) {
        double *g = s->steps + w * P * BATCH;
        kb_gemm(KB_PLAIN, KB_PLAIN, P, BATCH, rows_of(shooter, w), 1, s->tangents + first * P, P, s->noise + first,
                s->n_rows, 0, g, P);
        for (size_t b = 0; b < BATCH; b++) kb_axpy(k, 1, g + b * P, s->total + b * k);
        kb_lower_solve(n, BATCH, shooter->Hzz + w * n * n, n, g + k, P);
        if (k) kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, BATCH, n, -1, shooter->Hzw + w * n * k, n, g + k, P, 1, s->total, k);
    }
    if (k) kb_shooter_solve(shooter, k, BATCH, s->total, s->total + k * BATCH);
    for (size_t w = 0, first = 0; w < windows; first += rows_of(shooter, w++)) {
        double *g = s->steps + w * P * BATCH;
        for (size_t b = 0; b < BATCH; b++) memcpy(g + b * P, s->total + b * k, k * sizeof *g);
        if (k) kb_gemm(KB_PLAIN, KB_PLAIN, n, BATCH, k, -1, shooter->Hzw + w * n * k, n, s->total, k, 1, g + k, P);
        kb_lower_transposed_solve(n, BATCH, shooter->Hzz + w * n * n, n, g + k, P);
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, rows_of(shooter, w), BATCH, P, -1, s->tangents + first * P, P, g, P, 1,
                s->noise + first, s->n_rows);
    }
}

static void simulate(study *s)
{
    kb_random random;
    kb_random_seed(&random, SEED);
    for (size_t draw = 0; draw < s->n_draws; draw += BATCH) {
        draw_noise(s, &random);
        project(s);
        for (size_t b = 0; b < BATCH && draw + b < s->n_draws; b++) {
            gather(s, s->noise + b * s->n_rows);
            compute(s, 1 + draw + b);
        }
    }
}

/* ---------------------------------------------------------------- verdicts */

/* Statistics become deviations from their mean over the draws, in their standard deviations. */
static void standardise(study *s)
{
    size_t tests = KB_TESTS * s->shooter->likelihood.n_groups, n = s->n_draws;
    for (size_t t = 0; t < tests; t++) {
        double mean = 0, squares = 0;
        for (size_t draw = 1; draw <= n; draw++) mean += s->scores[t + tests * draw] / (double)n;
        for (size_t draw = 1; draw <= n; draw++) squares += pow(s->scores[t + tests * draw] - mean, 2) / (double)n;
        for (size_t draw = 0; draw <= n; draw++)
            s->scores[t + tests * draw] = squares > 0 ? (s->scores[t + tests * draw] - mean) / sqrt(squares) : 0;
    }
}

/* Spread counts in both directions, the others only above. */
static double surprise(const study *s, size_t test, size_t draw)
{
    double score = s->scores[test + KB_TESTS * s->shooter->likelihood.n_groups * draw];
    return test % KB_TESTS == KB_TEST_SPREAD ? fabs(score) : score;
}

/* The share of draws whose most surprising test surprises at least as much. */
static double corrected(const study *s, size_t test)
{
    double found = surprise(s, test, 0), as_much = 1;
    for (size_t draw = 1; draw <= s->n_draws; draw++) {
        bool reaches = false;
        for (size_t t = 0; !reaches && t < KB_TESTS * s->shooter->likelihood.n_groups; t++)
            reaches = s->tested[t / KB_TESTS] && surprise(s, t, draw) >= found;
        as_much += reaches;
    }
    return as_much / (double)(s->n_draws + 1);
}

static kbass_status judge(const study *s, kb_residual_tests *out, kbass_error *error)
{
    size_t tests = KB_TESTS * s->shooter->likelihood.n_groups;
    out->tests = KB_NEW(kb_test, tests);
    if (!out->tests) return kb_out_of_memory(error, "the tests of the residuals");
    for (size_t t = 0; t < tests; t++)
        if (s->tested[t / KB_TESTS])
            out->tests[out->n++] = (kb_test){t / KB_TESTS, (kb_test_kind)(t % KB_TESTS), s->scores[t], corrected(s, t)};
    return KBASS_OK;
}

kbass_status kb_residual_tests_run(kb_shooter *shooter, const kb_fit *fit, kb_residual_tests *out, kbass_error *error)
{
    const kb_dynamics *d = shooter->dynamics;
    study s = {.shooter = shooter,
               .fit = fit,
               .k = fit->support.n,
               .n = shooter->likelihood.n_start,
               .P = fit->support.n + shooter->likelihood.n_start};
    for (size_t w = 0; w < shooter->likelihood.windows->n; w++) s.n_rows += rows_of(shooter, w);
    double numbers = (double)s.n_rows * (double)s.P;
    *out = (kb_residual_tests){0};
    if (!(numbers <= most_numbers)) return KBASS_OK;
    s.n_observations = d->observation_start[shooter->likelihood.windows->last[shooter->likelihood.windows->n - 1] + 1];
    s.n_draws = numbers > many_numbers || (double)s.n_rows > many_rows ? FEWER_DRAWS : MOST_DRAWS;
    kbass_status status = prepare(&s, error);
    if (status == KBASS_OK && kb_shooter_linearise(shooter, fit, s.tangents, s.residuals)) {
        list_rows(&s);
        measure_sizes(&s);
        choose_groups(&s);
        compute(&s, 0); /* measure_sizes left the residuals */
        simulate(&s);
        standardise(&s);
        status = judge(&s, out, error);
    }
    clear(&s);
    return status;
}
