#include "gp/condense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

enum { NODES = 4 };                      /* coefficients: a cubic stands for the rows of a cell */
enum { FEWEST_ROWS = 4000 };             /* rows: of records that are condensed */
enum { SMALL = 6 };                      /* rows: of the cells that show the noise */
enum { LEAST = 16 };                     /* rows: of a cell that is worth its cubic */
static const double bends = 8;           /* chi^2 per coefficient at which two halves say more than the whole */
static const double least_noise = 1e-12; /* variance, scaled: rounding of clean samples */

/* Least-squares cubic of the samples of one state in rows [first, end), in orthogonal polynomials of their own times:
   p_{k+1} = (t - alpha_k) p_k - beta_k p_{k-1}, t in [-1, 1] over the stretch. */
typedef struct {
    size_t n;
    double middle, half; /* of the stretch */
    double alpha[NODES], beta[NODES], norm[NODES], coefficient[NODES];
    double residual; /* sum of squares */
} cubic;

typedef struct {
    double time, value, root; /* root of the relative precision */
    size_t state;
} entry;

typedef struct {
    const kb_record *record;
    double *work;  /* 4 x n_rows: times, residuals and two polynomials */
    double *noise; /* n_states */
    entry *entries;
    size_t n, run;
} condenser;

/* ---------------------------------------------------------------- one stretch */

static size_t gather(const condenser *c, size_t state, size_t first, size_t end, cubic *f, double *t, double *y)
{
    const kb_record *r = c->record;
    size_t n = 0;
    f->middle = 0.5 * (r->time[first] + r->time[end - 1]);
    f->half = fmax(0.5 * (r->time[end - 1] - r->time[first]), 1e-300);
    for (size_t row = first; row < end; row++) {
        if (!(r->measured[row + state * r->n_rows] > 0)) continue;
        t[n] = (r->time[row] - f->middle) / f->half;
        y[n++] = r->value[row + state * r->n_rows];
    }
    return n;
}

/* y becomes the residual on the way: sums of squares without cancellation. */
static void fit(const condenser *c, size_t state, size_t first, size_t end, cubic *f)
{
    size_t rows = c->record->n_rows;
    double *t = c->work, *y = t + rows, *p = y + rows, *before = p + rows;
    *f = (cubic){0};
    f->n = gather(c, state, first, end, f, t, y);
    for (size_t i = 0; i < f->n; i++) p[i] = 1, before[i] = 0;
    for (size_t k = 0; k < NODES && k < f->n; k++) {
        double norm = 0, moment = 0, product = 0;
        for (size_t i = 0; i < f->n; i++) {
            norm += p[i] * p[i];
            moment += t[i] * p[i] * p[i];
            product += p[i] * y[i];
        }
        f->norm[k] = norm;
        f->alpha[k] = moment / norm;
        f->beta[k] = k ? norm / f->norm[k - 1] : 0;
        f->coefficient[k] = product / norm;
        for (size_t i = 0; i < f->n; i++) {
            double next = (t[i] - f->alpha[k]) * p[i] - f->beta[k] * before[i];
            y[i] -= f->coefficient[k] * p[i];
            before[i] = p[i];
            p[i] = next;
        }
    }
    for (size_t i = 0; i < f->n; i++) f->residual += y[i] * y[i];
}

static double cubic_at(const cubic *f, double t)
{
    double p = 1, before = 0, sum = 0;
    for (int k = 0; k < NODES; k++) {
        double next = (t - f->alpha[k]) * p - f->beta[k] * before;
        sum += f->coefficient[k] * p;
        before = p;
        p = next;
    }
    return sum;
}

/* Golub and Welsch: nodes are the eigenvalues of the Jacobi matrix, weights the squares of its vectors' first entries
   times the number of samples. */
static bool find_nodes(const cubic *f, double *node, double *weight)
{
    double J[NODES * NODES] = {0};
    for (int k = 0; k < NODES; k++) {
        J[k + k * NODES] = f->alpha[k];
        if (k) J[k + (k - 1) * NODES] = J[k - 1 + k * NODES] = sqrt(f->beta[k]);
    }
    if (!kb_eigen_symmetric(NODES, J, NODES, node)) return false;
    for (int j = 0; j < NODES; j++) weight[j] = J[j * NODES] * J[j * NODES] * f->norm[0];
    return true;
}

/* ---------------------------------------------------------------- a record in stretches */

static void add(condenser *c, double time, size_t state, double value, double root)
{
    c->entries[c->n++] = (entry){time, value, root, state};
}

/* The cubic at its nodes, or the samples as they are where they are few, or were not found to be a cubic twice as long.
 */
static bool emit_state(condenser *c, size_t state, size_t first, size_t end, bool is_straight)
{
    const kb_record *r = c->record;
    cubic f;
    double node[NODES], weight[NODES];
    fit(c, state, first, end, &f);
    if (is_straight && f.n >= LEAST) {
        if (!find_nodes(&f, node, weight)) return false;
        for (int j = 0; j < NODES; j++)
            add(c, f.middle + f.half * node[j], state, cubic_at(&f, node[j]), sqrt(weight[j]));
        return true;
    }
    for (size_t row = first; row < end; row++)
        if (r->measured[row + state * r->n_rows] > 0) add(c, r->time[row], state, r->value[row + state * r->n_rows], 1);
    return true;
}

/* Do two cubics say more about a state than one does? */
static bool is_bent(const condenser *c, size_t state, size_t first, size_t end)
{
    size_t middle = first + (end - first) / 2;
    cubic whole, left, right;
    fit(c, state, first, end, &whole);
    if (whole.n < 2 * LEAST) return false;
    double v = c->noise[state], freedom = (double)(whole.n - NODES);
    if (whole.residual > v * (freedom + 5 * sqrt(2 * freedom))) return true;
    fit(c, state, first, middle, &left);
    fit(c, state, middle, end, &right);
    return whole.residual - left.residual - right.residual > bends * NODES * v;
}

static bool condense_rows(condenser *c, size_t first, size_t end, bool is_straight);

static bool halve(condenser *c, size_t first, size_t end, bool is_straight)
{
    size_t middle = first + (end - first) / 2;
    return condense_rows(c, first, middle, is_straight) && condense_rows(c, middle, end, is_straight);
}

/* A stretch that is no cubic in two halves; one that is, in two halves all the same: what noise hides in it is then a
   sixteenth as large. */
static bool condense_rows(condenser *c, size_t first, size_t end, bool is_straight)
{
    bool bent = false, done = true;
    for (size_t i = 0; i < c->record->n_states && !is_straight && !bent; i++) bent = is_bent(c, i, first, end);
    if (bent) return halve(c, first, end, false);
    if (!is_straight && end - first >= 2 * LEAST) return halve(c, first, end, true);
    for (size_t i = 0; done && i < c->record->n_states; i++) done = emit_state(c, i, first, end, is_straight);
    return done;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over stretches of six samples, whose cubics leave two degrees of freedom: chi^2_2 / 2 has the median
   log 2. Jumps are in few of them. */
static void measure_noise(condenser *c, double *found)
{
    const kb_record *r = c->record;
    for (size_t i = 0; i < r->n_states; i++) {
        size_t n = 0;
        for (size_t run = 0; run < r->n_runs; run++)
            for (size_t row = r->run_start[run]; row + SMALL <= r->run_start[run + 1]; row += SMALL) {
                cubic f;
                fit(c, i, row, row + SMALL, &f);
                if (f.n == SMALL) found[n++] = f.residual / (SMALL - NODES);
            }
        qsort(found, n, sizeof *found, ascending);
        c->noise[i] = fmax(n ? found[n / 2] / log(2) : 0, least_noise);
    }
}

/* ---------------------------------------------------------------- the new record */

static int in_time(const void *a, const void *b)
{
    double x = ((const entry *)a)->time, y = ((const entry *)b)->time;
    return (x > y) - (x < y);
}

static size_t count_rows(size_t n, const entry *entries)
{
    size_t rows = n > 0;
    for (size_t i = 1; i < n; i++) rows += entries[i].time > entries[i - 1].time;
    return rows;
}

/* The entries of one run, sorted, as rows from `row` on. */
static size_t fill_run(kb_record *to, size_t row, size_t n, const entry *entries)
{
    for (size_t i = 0; i < n; i++) {
        if (i && entries[i].time > entries[i - 1].time) row++;
        to->time[row] = entries[i].time;
        if (!(entries[i].root > 0)) continue;
        size_t at = row + entries[i].state * to->n_rows;
        to->value[at] = entries[i].value;
        to->measured[at] = entries[i].root;
        to->count[entries[i].state]++;
        to->n_values++;
    }
    return row + 1;
}

static void copy_scales(const kb_record *from, kb_record *to)
{
    to->first = from->first;
    to->span = from->span;
    to->stretch = from->stretch;
    to->noise_model = from->noise_model;
    to->has_error_bars = true;
    memcpy(to->origin, from->origin, from->n_runs * sizeof *to->origin);
    memcpy(to->duration, from->duration, from->n_runs * sizeof *to->duration);
    memcpy(to->mean, from->mean, from->n_states * sizeof *to->mean);
    memcpy(to->sd, from->sd, from->n_states * sizeof *to->sd);
    memcpy(to->known_variance, from->known_variance, from->n_states * sizeof *to->known_variance);
}

static kbass_status make_record(const condenser *c, const size_t *start, kb_record **out, kbass_error *error)
{
    const kb_record *r = c->record;
    size_t rows = 0, row = 0;
    for (size_t run = 0; run < r->n_runs; run++) {
        qsort(c->entries + start[run], start[run + 1] - start[run], sizeof *c->entries, in_time);
        rows += count_rows(start[run + 1] - start[run], c->entries + start[run]);
    }
    if (2 * rows > r->n_rows) return KBASS_OK; /* not worth it */
    kb_record *to = NULL;
    kbass_status status = kb_record_allocate(rows, r->n_states, r->n_runs, &to, error);
    if (status != KBASS_OK) return status;
    copy_scales(r, to);
    for (size_t run = 0; run < r->n_runs; run++) {
        to->run_start[run] = row;
        row = fill_run(to, row, start[run + 1] - start[run], c->entries + start[run]);
    }
    to->run_start[r->n_runs] = row;
    status = kb_record_measure_spacing(to, error);
    if (status == KBASS_OK) *out = to;
    else kb_record_destroy(to);
    return status;
}

static bool condense_run(condenser *c, size_t run)
{
    const kb_record *r = c->record;
    size_t first = r->run_start[run], end = r->run_start[run + 1];
    add(c, r->time[first], 0, 0, 0);
    bool done = condense_rows(c, first, end, false);
    add(c, r->time[end - 1], 0, 0, 0);
    return done;
}

kbass_status kb_record_condense(const kb_record *record, kb_record **out, kbass_error *error)
{
    *out = NULL;
    if (record->n_rows < FEWEST_ROWS || record->has_error_bars || record->noise_model != KB_NOISE_ADDITIVE)
        return KBASS_OK;
    condenser c = {.record = record};
    size_t *start = KB_NEW(size_t, record->n_runs + 1);
    c.work = KB_NEW(double, 4 * record->n_rows);
    c.noise = KB_NEW(double, record->n_states);
    c.entries = KB_NEW(entry, record->n_rows * record->n_states + 2 * record->n_runs);
    kbass_status status =
        start && c.work && c.noise && c.entries ? KBASS_OK : kb_out_of_memory(error, "the condensed record");
    if (status == KBASS_OK) measure_noise(&c, (double *)c.entries);
    for (size_t run = 0; status == KBASS_OK && run < record->n_runs; run++) {
        if (!condense_run(&c, run))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the samples could not be condensed");
        start[run + 1] = c.n;
    }
    if (status == KBASS_OK) status = make_record(&c, start, out, error);
    kb_free(start);
    kb_free(c.work);
    kb_free(c.noise);
    kb_free(c.entries);
    return status;
}
