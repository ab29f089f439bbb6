#include "constants/scan.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "constants/stepwise.h"

enum { FINER = 8 };                /* points: between two of the curve, for the integral */
enum { FIRST_POINTS = 11 };        /* points: of a constant's range at first */
enum { MOST_POINTS = 1500 };       /* points: of a range at most */
enum { MOST_PRODUCT = 3000 };      /* points: of all constants together that are all tried */
enum { SWEEPS = 3 };               /* sweeps: over the constants where that would be more */
static const double alike = 0.9;   /* squared correlation of neighbours on the grid */
static const double apart = 0.08;  /* share of a range by which further starts differ */
static const double hopeless = 20; /* of scores, which are twice log likelihoods: starts that are worse are left out */
static const double most_singular = 0.3; /* share of the constants at which a term may have a pole on the data */
static const double pole_size = 30;      /* of a term, in medians of its modulus, on both sides of a change of sign */

typedef struct {
    const kb_ode_problem *problem;
    kb_dictionary *dictionary;
    size_t n_rows, n_fine, n_equations, *equation;
    size_t *fine_start; /* n_runs + 1 */
    double *points;     /* n_fine x n_variables: the bare field, finer */
    double *target;     /* n_rows x n_states, each run less its mean */
    double *integral;   /* n_rows x n_terms, likewise, of length 1 */
    double *values, *running, *work;
    double *G, *along; /* n_terms x n_terms: products of integrals; n_terms: with a target */
    bool *may;         /* n_terms: candidates of an equation */
    size_t singular, worst, n_scored,
        n_singular; /* a term that is singular at the present constants; how often one was */
    size_t n_grid[64];
    double *grid[64]; /* shares of each constant's range */
} scan;

/* ---------------------------------------------------------------- the bare field, finer */

/* Inputs that act late by the present delays. */
static void fill_delayed(scan *s)
{
    const kb_record *r = s->problem->record;
    for (size_t i = 0; i < r->n_states; i++) {
        if (s->dictionary->delay_constant[i] == KB_NO_CONSTANT) continue;
        for (size_t run = 0; run < r->n_runs; run++) {
            size_t first = s->fine_start[run], n = s->fine_start[run + 1] - first;
            kb_curve curve = *kb_inputs_curve(r->inputs, run, i);
            curve.delay = s->dictionary->input_delay[i];
            for (size_t k = 0; k < n; k++) {
                double time = r->origin[run] + r->span * r->duration[run] * (double)k / (double)(n - 1);
                s->points[first + k + i * s->n_fine] = kb_curve_at(&curve, time, NULL);
            }
        }
    }
}

static void fill_points(scan *s)
{
    const kb_ode_problem *p = s->problem;
    size_t variables = p->dictionary->n_variables;
    for (size_t run = 0; run < p->record->n_runs; run++) {
        size_t first = p->reference_start[run], n = s->fine_start[run + 1] - s->fine_start[run];
        for (size_t k = 0; k < n; k++)
            for (size_t v = 0; v < variables; v++) {
                const double *coarse = p->reference + first + v * p->n_reference;
                size_t i = k / FINER;
                double x = (double)(k % FINER) / FINER, next = k % FINER ? coarse[i + 1] : coarse[i];
                s->points[s->fine_start[run] + k + v * s->n_fine] = coarse[i] + x * (next - coarse[i]);
            }
    }
}

/* Of a curve along the fine points of a row's run: its value at the row. */
static double at_row(const scan *s, const double *curve, size_t row)
{
    const kb_record *r = s->problem->record;
    size_t run = kb_record_run(r, row), n = s->fine_start[run + 1] - s->fine_start[run] - 1;
    double at = r->time[row] / r->duration[run] * (double)n;
    size_t i = at < (double)(n - 1) ? (size_t)at : n - 1;
    const double *c = curve + s->fine_start[run] + i;
    return c[0] + (at - (double)i) * (c[1] - c[0]);
}

/* Each run less its mean. */
static void centre(const scan *s, double *column)
{
    const kb_record *r = s->problem->record;
    for (size_t run = 0; run < r->n_runs; run++) {
        double sum = 0, n = (double)(r->run_start[run + 1] - r->run_start[run]);
        for (size_t row = r->run_start[run]; row < r->run_start[run + 1]; row++) sum += column[row];
        for (size_t row = r->run_start[run]; row < r->run_start[run + 1]; row++) column[row] -= sum / n;
    }
}

static void fill_targets(scan *s)
{
    const kb_record *r = s->problem->record;
    for (size_t i = 0; i < r->n_states; i++) {
        double *target = s->target + i * s->n_rows;
        for (size_t row = 0; row < s->n_rows; row++) {
            bool is_measured = r->measured[row + i * s->n_rows] > 0;
            target[row] = is_measured ? r->value[row + i * s->n_rows]
                                      : (at_row(s, s->points + i * s->n_fine, row) - r->mean[i]) / r->sd[i];
        }
        centre(s, target);
    }
}

/* Values that change sign by way of infinity: on both sides larger than most of them are by far. */
static bool has_pole(const scan *s)
{
    double largest = 0;
    size_t n_small = 0, n_zero = 0;
    for (size_t k = 1; k < s->n_fine; k++) {
        double a = s->values[k - 1], b = s->values[k];
        if (a * b < 0) largest = fmax(largest, fmin(fabs(a), fabs(b)));
    }
    if (!(largest > 0)) return false;
    for (size_t k = 0; k < s->n_fine; k++) {
        n_small += pole_size * fabs(s->values[k]) < largest;
        n_zero += s->values[k] == 0;
    }
    return 2 * n_small > s->n_fine && 2 * n_zero <= s->n_fine;
}

/* The integral of a term at the rows; false where it is not finite. */
static bool integrate(scan *s, size_t term, double *out, bool *is_singular)
{
    kb_dictionary_values(s->dictionary, 1, &term, s->n_fine, s->points, s->n_fine, s->values, s->work);
    for (size_t k = 0; k < s->n_fine; k++)
        if (!isfinite(s->values[k])) return !(*is_singular = true);
    if (has_pole(s)) return !(*is_singular = true);
    for (size_t run = 0; run < s->problem->record->n_runs; run++) {
        size_t first = s->fine_start[run], end = s->fine_start[run + 1];
        s->running[first] = 0;
        for (size_t k = first + 1; k < end; k++)
            s->running[k] = s->running[k - 1] + 0.5 * (s->values[k - 1] + s->values[k]);
    }
    for (size_t row = 0; row < s->n_rows; row++) out[row] = at_row(s, s->running, row);
    centre(s, out);
    double length = sqrt(kb_dot(s->n_rows, out, out));
    for (size_t row = 0; row < s->n_rows; row++) out[row] = length > 0 ? out[row] / length : 0;
    return true;
}

/* ---------------------------------------------------------------- regression at given constants */

static bool is_candidate(const scan *s, size_t term, size_t state)
{
    kb_role role = s->dictionary->roles[term + state * s->dictionary->n_terms];
    return role == KB_CANDIDATE || role == KB_REQUIRED;
}

/* Least squares of one equation by a few of the integrals. */
static double regress(scan *s, size_t state)
{
    const kb_record *r = s->problem->record;
    size_t n = s->n_rows, terms = s->dictionary->n_terms;
    const double *y = s->target + state * n;
    double noise = r->known_variance[state] > 0 ? r->known_variance[state] : s->problem->best_variance;
    for (size_t j = 0; j < terms; j++) {
        s->may[j] = is_candidate(s, j, state);
        s->along[j] = kb_dot(n, s->integral + j * n, y);
    }
    const kb_stepwise problem = {
        .n_rows = n, .n = terms, .G = s->G, .c = s->along, .yy = kb_dot(n, y, y), .floor = 0.3 * noise, .may = s->may};
    return kb_stepwise_score(&problem);
}

static kbass_status set_shares(scan *s, const double *shares, kbass_error *error)
{
    double values[64];
    for (size_t i = 0; i < s->dictionary->n_constants; i++)
        values[i] = kb_constant_at(&s->dictionary->constants[i], shares[i]);
    kbass_status status = kb_dictionary_set_constants(s->dictionary, values, error);
    if (status == KBASS_OK) fill_delayed(s);
    return status;
}

static kbass_status refuse_singular(const scan *s, size_t term, kbass_error *error)
{
    const kb_dictionary *d = s->dictionary;
    for (size_t i = 0; i < d->n_constants; i++)
        if (kb_dictionary_names_constant(d, term, i))
            return kb_fail(
                error, KBASS_ERROR_ARGUMENT,
                "--unknown: the term \"%.100s\" is singular on these data within the range of %s, at %s = %.4g: "
                "narrow the range",
                kb_dictionary_form(d, term) ? kb_dictionary_form(d, term) : kb_dictionary_name(d, term),
                d->constants[i].name, d->constants[i].name, d->constants[i].value);
    return kb_fail(error, KBASS_ERROR_DATA, "the term \"%.100s\" is singular on these data",
                   kb_dictionary_name(d, term));
}

/* Integrals of the terms: all, or those with constants. */
static void integrate_terms(scan *s, bool is_first)
{
    s->singular = s->dictionary->n_terms;
    for (size_t j = 0; j < s->dictionary->n_terms; j++) {
        bool is_singular = false;
        bool has_constant = kb_dictionary_has_constant(s->dictionary, j);
        if (!is_first && !has_constant) continue;
        if (!integrate(s, j, s->integral + j * s->n_rows, &is_singular) && has_constant) s->singular = j;
        if (is_singular) memset(s->integral + j * s->n_rows, 0, s->n_rows * sizeof *s->integral);
    }
}

static kbass_status score_at(scan *s, const double *shares, double *score, kbass_error *error)
{
    kbass_status status = set_shares(s, shares, error);
    *score = 0;
    if (status != KBASS_OK) return status;
    integrate_terms(s, false);
    s->n_scored++;
    if (s->singular < s->dictionary->n_terms) {
        s->n_singular++;
        s->worst = s->singular;
        *score = INFINITY;
        return s->n_singular > 20 && (double)s->n_singular > most_singular * (double)s->n_scored
                   ? refuse_singular(s, s->worst, error)
                   : KBASS_OK;
    }
    kb_gram(s->dictionary->n_terms, s->n_rows, 1, s->integral, s->n_rows, 0, s->G, s->dictionary->n_terms);
    kb_symmetrise(s->dictionary->n_terms, s->G, s->dictionary->n_terms);
    for (size_t e = 0; e < s->n_equations; e++) *score += regress(s, s->equation[e]);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- grids */

/* Integrals of a constant's terms at a share of its range, n_rows x n_terms; zeros where they are singular. */
static kbass_status integrate_at(scan *s, size_t constant, double *shares, double share, double *out,
                                 kbass_error *error)
{
    shares[constant] = share;
    kbass_status status = set_shares(s, shares, error);
    for (size_t j = 0; status == KBASS_OK && j < s->dictionary->n_terms; j++) {
        bool is_singular = false;
        if (!kb_dictionary_names_constant(s->dictionary, j, constant)) continue;
        if (!integrate(s, j, out + j * s->n_rows, &is_singular))
            memset(out + j * s->n_rows, 0, s->n_rows * sizeof *out);
    }
    return status;
}

/* Least squared correlation of the integrals of a constant's terms at two places. */
static double likeness(const scan *s, size_t constant, const double *one, const double *other)
{
    size_t n = s->n_rows;
    double least = 1;
    for (size_t j = 0; j < s->dictionary->n_terms; j++) {
        const double *a = one + j * n, *b = other + j * n;
        if (!kb_dictionary_names_constant(s->dictionary, j, constant)) continue;
        double along = kb_dot(n, a, b);
        if (kb_dot(n, a, a) > 0 && kb_dot(n, b, b) > 0) least = fmin(least, along * along);
    }
    return least;
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* Halves the steps of a grid until neighbours are alike; left and right: n_rows x n_terms. */
static kbass_status halve_steps(scan *s, size_t constant, double *shares, double *grid, size_t *n, double *left,
                                double *right, kbass_error *error)
{
    kbass_status status = integrate_at(s, constant, shares, grid[0], left, error);
    for (size_t i = 0; status == KBASS_OK && i + 1 < *n && *n < MOST_POINTS;) {
        status = integrate_at(s, constant, shares, grid[i + 1], right, error);
        if (likeness(s, constant, left, right) >= alike || grid[i + 1] - grid[i] < 2e-4) {
            swap(&left, &right);
            i++;
            continue;
        }
        memmove(grid + i + 2, grid + i + 1, (*n - i - 1) * sizeof *grid);
        grid[i + 1] = 0.5 * (grid[i] + grid[i + 2]);
        ++*n;
    }
    return status;
}

static kbass_status refine_grid(scan *s, size_t constant, double *shares, kbass_error *error)
{
    size_t n = FIRST_POINTS, size = s->n_rows * s->dictionary->n_terms;
    double *grid = s->grid[constant] = KB_NEW(double, MOST_POINTS), middle = shares[constant];
    double *left = KB_NEW(double, size), *right = KB_NEW(double, size);
    kbass_status status = grid && left && right ? KBASS_OK : kb_out_of_memory(error, "the scan of the constants");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) grid[i] = 1e-6 + (1 - 2e-6) * (double)i / (double)(n - 1);
    if (status == KBASS_OK) status = halve_steps(s, constant, shares, grid, &n, left, right, error);
    shares[constant] = middle;
    s->n_grid[constant] = n;
    kb_free(left);
    kb_free(right);
    return status;
}

/* ---------------------------------------------------------------- the best starts */

typedef struct {
    size_t n_wanted, n; /* best first */
    double *shares, *scores;
} starts;

static bool is_far(const scan *s, const double *a, const double *b)
{
    bool far = false;
    for (size_t i = 0; i < s->dictionary->n_constants; i++) {
        double spacing = 2.5 / (double)(s->n_grid[i] ? s->n_grid[i] : 1);
        far = far || fabs(a[i] - b[i]) > fmin(apart, spacing);
    }
    return far;
}

/* Keeps a start unless a better one is near; drops worse ones that are. */
static void keep(const scan *s, starts *k, const double *shares, double score)
{
    size_t c = s->dictionary->n_constants, at = 0, kept = 0;
    for (size_t i = 0; i < k->n; i++)
        if (k->scores[i] <= score && !is_far(s, k->shares + i * c, shares)) return;
    for (size_t i = 0; i < k->n; i++) {
        if (k->scores[i] > score && !is_far(s, k->shares + i * c, shares)) continue;
        memmove(k->shares + kept * c, k->shares + i * c, c * sizeof *k->shares);
        k->scores[kept++] = k->scores[i];
    }
    k->n = kept;
    while (at < k->n && k->scores[at] <= score) at++;
    if (at == k->n_wanted) return;
    size_t last = k->n < k->n_wanted ? k->n : k->n_wanted - 1;
    memmove(k->shares + (at + 1) * c, k->shares + at * c, (last - at) * c * sizeof *k->shares);
    memmove(k->scores + at + 1, k->scores + at, (last - at) * sizeof *k->scores);
    memcpy(k->shares + at * c, shares, c * sizeof *shares);
    k->scores[at] = score;
    k->n = last + 1;
}

/* Every combination of the grids. */
static kbass_status scan_product(scan *s, starts *k, double *shares, kbass_error *error)
{
    size_t n = s->dictionary->n_constants, place[64] = {0}, digit = 0;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && digit < n) {
        double score = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (s->n_grid[i]) shares[i] = s->grid[i][place[i]];
        status = score_at(s, shares, &score, error);
        if (status == KBASS_OK && isfinite(score)) keep(s, k, shares, score);
        for (digit = 0; digit < n; digit++) {
            if (++place[digit] < s->n_grid[digit]) break;
            place[digit] = 0;
        }
    }
    return status;
}

/* One constant after the other, the others at their best. */
static kbass_status scan_in_turn(scan *s, starts *k, double *shares, kbass_error *error)
{
    size_t n = s->dictionary->n_constants;
    kbass_status status = KBASS_OK;
    for (size_t turn = 0; status == KBASS_OK && turn < SWEEPS * n; turn++) {
        size_t i = turn % n;
        for (size_t g = 0; status == KBASS_OK && g < s->n_grid[i]; g++) {
            double score = INFINITY;
            shares[i] = s->grid[i][g];
            status = score_at(s, shares, &score, error);
            if (status == KBASS_OK && isfinite(score)) keep(s, k, shares, score);
        }
        if (k->n) memcpy(shares, k->shares, n * sizeof *shares);
    }
    return status;
}

static kbass_status scan_all(scan *s, starts *k, kbass_error *error)
{
    double shares[64], product = 1;
    kbass_status status = KBASS_OK;
    integrate_terms(s, true);
    for (size_t i = 0; i < s->dictionary->n_constants; i++)
        shares[i] = kb_constant_share(&s->dictionary->constants[i], s->dictionary->constants[i].value);
    for (size_t i = 0; status == KBASS_OK && i < s->dictionary->n_constants; i++) {
        if (s->dictionary->constants[i].is_pattern) continue;
        status = refine_grid(s, i, shares, error);
        product *= (double)s->n_grid[i];
    }
    if (status != KBASS_OK) return status;
    status = product <= MOST_PRODUCT ? scan_product(s, k, shares, error) : scan_in_turn(s, k, shares, error);
    bool is_singular = (double)s->n_singular > most_singular * (double)s->n_scored;
    return status == KBASS_OK && is_singular ? refuse_singular(s, s->worst, error) : status;
}

static double spacing_at(const scan *s, size_t constant, double share)
{
    const double *grid = s->grid[constant];
    for (size_t g = 1; grid && g < s->n_grid[constant]; g++)
        if (share <= grid[g]) return grid[g] - grid[g - 1];
    return 1.0 / FIRST_POINTS;
}

static bool allocate(scan *s)
{
    const kb_ode_problem *p = s->problem;
    size_t runs = p->record->n_runs, states = p->record->n_states, terms = s->dictionary->n_terms;
    s->n_rows = p->record->n_rows;
    s->fine_start = KB_NEW(size_t, runs + 1);
    s->equation = KB_NEW(size_t, states);
    if (!s->fine_start || !s->equation) return false;
    for (size_t run = 0; run < runs; run++)
        s->fine_start[run + 1] =
            s->fine_start[run] + FINER * (p->reference_start[run + 1] - p->reference_start[run] - 1) + 1;
    s->n_fine = s->fine_start[runs];
    for (size_t i = 0; i < states; i++)
        if (s->dictionary->has_equation[i] && !s->dictionary->is_known[i]) s->equation[s->n_equations++] = i;
    s->points = KB_NEW(double, s->n_fine * s->dictionary->n_variables);
    s->target = KB_NEW(double, s->n_rows *states);
    s->integral = KB_NEW(double, s->n_rows *terms);
    s->values = KB_NEW(double, s->n_fine);
    s->running = KB_NEW(double, s->n_fine);
    s->G = KB_NEW(double, terms *terms);
    s->along = KB_NEW(double, terms);
    s->may = KB_NEW(bool, terms);
    s->work = KB_NEW(double, kb_dictionary_work(s->dictionary, s->n_fine) + 4096);
    return s->points && s->target && s->integral && s->values && s->running && s->G && s->along && s->may && s->work;
}

static void clear(scan *s)
{
    void *arrays[] = {s->fine_start, s->equation, s->points, s->target, s->integral, s->values,
                      s->running,    s->G,        s->along,  s->may,    s->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    for (size_t i = 0; i < s->dictionary->n_constants; i++) kb_free(s->grid[i]);
}

kbass_status kb_constants_scan(const kb_ode_problem *p, kb_dictionary *d, size_t n_wanted, double *values,
                               double *steps, size_t *n_found, kbass_error *error)
{
    scan s = {.problem = p, .dictionary = d};
    size_t n = d->n_constants;
    starts k = {
        .n_wanted = n_wanted, .shares = KB_NEW(double, (n_wanted + 1) * n), .scores = KB_NEW(double, n_wanted + 1)};
    kbass_status status = k.shares && k.scores && allocate(&s) ? KBASS_OK : kb_out_of_memory(error, "the scan");
    if (status == KBASS_OK) {
        fill_points(&s);
        fill_targets(&s);
        status = scan_all(&s, &k, error);
    }
    while (k.n > 1 && k.scores[k.n - 1] > k.scores[0] + hopeless) k.n--;
    for (size_t i = 0; status == KBASS_OK && i < k.n * n; i++) {
        values[i] = kb_constant_at(&d->constants[i % n], k.shares[i]);
        steps[i] = spacing_at(&s, i % n, k.shares[i]);
    }
    *n_found = status == KBASS_OK ? k.n : 0;
    if (status == KBASS_OK && k.n) status = set_shares(&s, k.shares, error);
    clear(&s);
    kb_free(k.shares);
    kb_free(k.scores);
    return status;
}
