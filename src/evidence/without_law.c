#include "evidence/without_law.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/monotone.h"
#include "gp/scales.h"

enum { TILE = 100 };      /* rows: of a tile; its cube is the cost */
enum { MOST_TILES = 12 }; /* tiles: seen, spread over the record */
enum { LENGTHS = 14 };    /* values: of the length scale that are tried */
enum { VARIANCES = 14 };  /* values: of the noise that are tried */
enum { SWEEPS = 3 };      /* sweeps: over the states */

/* Measurements of one group in one run, in the order of their times; or a tile of them. */
typedef struct {
    size_t group, begin, n;
} part;

typedef struct {
    const kb_dynamics *dynamics;
    kb_comparison comparison;
    kb_kernel_kind kind;
    size_t n_parts, n_tiles;
    part *parts, *tiles;
    size_t *observation; /* by part: which observation */
    double *time;        /* likewise: when */
    double *counts, *covered;
    int threads;
    struct tile_room *room; /* of each thread */
    double *likelihoods;    /* tiles x VARIANCES */
    double *work;           /* 5 times the measurements */
    double shortest;
} curves;

/* What a thread needs for a tile. */
typedef struct tile_room {
    double covariance[TILE * TILE], system[TILE * TILE], y[TILE];
} tile_room;

/* ---------------------------------------------------------------- the measurements by group and run */

static size_t run_end(const kb_dynamics *d, size_t run) { return d->run_start ? d->run_start[run + 1] : d->n_rows; }

static size_t gather_part(curves *c, size_t group, size_t run, const double *time, size_t begin)
{
    const kb_dynamics *d = c->dynamics;
    size_t n = 0;
    for (size_t row = d->run_start ? d->run_start[run] : 0; row < run_end(d, run); row++)
        for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++)
            if (d->group[o] == group) {
                c->observation[begin + n] = o;
                c->time[begin + n++] = time[row];
            }
    return n;
}

static void gather(curves *c, const double *time)
{
    const kb_dynamics *d = c->dynamics;
    size_t begin = 0, runs = d->run_start ? d->n_runs : 1;
    for (size_t group = 0; group < d->n_groups; group++)
        for (size_t run = 0; run < runs; run++) {
            size_t n = gather_part(c, group, run, time, begin);
            if (n) c->parts[c->n_parts++] = (part){group, begin, n};
            begin += n;
            c->counts[group] += (double)n;
        }
}

/* Every part whole where it is short; of long ones tiles, evenly chosen, that stand for all. */
static void tile(curves *c)
{
    for (size_t i = 0; i < c->n_parts; i++) {
        const part *p = &c->parts[i];
        size_t n = (p->n + TILE - 1) / TILE, shown = n < MOST_TILES ? n : MOST_TILES;
        for (size_t k = 0; k < shown; k++) {
            size_t at = k * n / shown, first = at * p->n / n, last = (at + 1) * p->n / n;
            c->tiles[c->n_tiles++] = (part){p->group, p->begin + first, last - first};
            c->covered[p->group] += (double)(last - first);
        }
    }
}

static double median_gap(curves *c)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->n_parts; i++) {
        const part *p = &c->parts[i];
        double span = c->time[p->begin + p->n - 1] - c->time[p->begin];
        if (p->n > 1 && span > 0) least = fmin(least, span / (double)(p->n - 1));
    }
    return isfinite(least) ? least : 1;
}

/* ---------------------------------------------------------------- the bare field */

/* Are the times of a tile even? Then its kernel has one value for each distance. */
static bool is_even(const double *time, size_t n)
{
    static const double same = 1e-9; /* of a gap */
    double gap = n > 1 ? (time[n - 1] - time[0]) / (double)(n - 1) : 0;
    for (size_t i = 1; i < n; i++)
        if (!(fabs(time[i] - time[0] - (double)i * gap) <= same * gap)) return false;
    return true;
}

static void set_kernel(const curves *c, const part *p, double length, tile_room *room)
{
    kb_kernel kernel = {c->kind, length, 1};
    const double *time = c->time + p->begin;
    double *K = room->covariance;
    bool even = is_even(time, p->n);
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = j; i < p->n; i++)
            K[i + j * p->n] = even && j ? K[i - j] : kb_kernel_derivative(&kernel, time[i], time[j], 0);
}

static double variance_of(const curves *c, size_t group, double v)
{
    double known = c->dynamics->known_variance[group];
    return kb_comparison_variance(&c->comparison, group, known > 0 ? known : fmax(v, c->dynamics->noise_floor));
}

/* log N(y; 0, K + v diag(h)), log 2 pi left out, with the kernel set */
static double tile_likelihood(const curves *c, const part *p, double variance, tile_room *room)
{
    size_t n = p->n;
    for (size_t j = 0; j < n; j++) {
        size_t o = c->observation[p->begin + j];
        memcpy(room->system + j + j * n, room->covariance + j + j * n, (n - j) * sizeof *room->system);
        room->system[j + j * n] += variance * c->comparison.relative[o];
        room->y[j] = c->comparison.target[o];
    }
    if (!kb_cholesky(n, room->system, n)) return -INFINITY;
    kb_lower_solve(n, 1, room->system, n, room->y, n);
    return -0.5 * (kb_dot(n, room->y, room->y) + kb_cholesky_logdet(n, room->system, n));
}

/* Of one tile at one length and several noise variances, each as many times as it stands for measurements. */
static void weigh_tile(curves *c, size_t tile, double length, size_t n, const double *variances)
{
    const part *p = &c->tiles[tile];
    tile_room *room = &c->room[omp_get_thread_num()];
    set_kernel(c, p, length, room);
    for (size_t k = 0; k < n; k++)
        c->likelihoods[tile * VARIANCES + k] = c->counts[p->group] / c->covered[p->group] *
                                               tile_likelihood(c, p, variance_of(c, p->group, variances[k]), room);
}

/* Of a group, or of all (group = n_groups), whose tiles threads share; summed in their order. */
static void add_likelihoods(curves *c, size_t group, double length, size_t n, const double *variances, double *out)
{
    bool is_one = group < c->dynamics->n_groups;
    memset(out, 0, n * sizeof *out);
    if (!is_one) {
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
        for (size_t i = 0; i < c->n_tiles; i++) weigh_tile(c, i, length, n, variances);
    }
    for (size_t i = 0; i < c->n_tiles; i++) {
        if (is_one && c->tiles[i].group != group) continue;
        if (is_one) weigh_tile(c, i, length, n, variances);
        for (size_t k = 0; k < n; k++) out[k] += c->likelihoods[i * VARIANCES + k];
    }
}

/* Length and noise at their best: a grid, then compass search in their logarithms. */
static double maximise(curves *c, size_t group, double *variance, double *length_found)
{
    double floor = c->dynamics->noise_floor, variances[VARIANCES], found[VARIANCES], best = -INFINITY;
    double low = log(fmin(c->shortest, KB_LONGEST_SCALE / 4)), high = log(KB_LONGEST_SCALE), at[2] = {high, log(floor)};
    for (size_t k = 0; k < VARIANCES; k++)
        variances[k] = floor * pow(KB_MOST_NOISE / floor, (double)k / (VARIANCES - 1));
    for (size_t i = 0; i < LENGTHS; i++) {
        double length = low + (high - low) * (double)i / (LENGTHS - 1);
        add_likelihoods(c, group, exp(length), VARIANCES, variances, found);
        for (size_t k = 0; k < VARIANCES; k++)
            if (found[k] > best) best = found[k], at[0] = length, at[1] = log(variances[k]);
    }
    for (double step = 0.4; step > 0.04; step /= 2)
        for (int i = 0; i < 4; i++) {
            double to[2] = {at[0], at[1]}, trial;
            to[i / 2] += i % 2 ? step : -step;
            if (to[0] < low || to[0] > high || to[1] < log(floor)) continue;
            trial = exp(to[1]);
            add_likelihoods(c, group, exp(to[0]), 1, &trial, found);
            if (found[0] > best) best = found[0], memcpy(at, to, sizeof at), i = -1;
        }
    *variance = exp(at[1]);
    *length_found = exp(at[0]);
    return best;
}

/* n - tr K (K + v diag(h))^{-1} of a group: what the bare field leaves to the noise. */
static double freedom_of(curves *c, size_t group, double length, double v)
{
    double sum = 0;
    tile_room *room = &c->room[omp_get_thread_num()];
    for (size_t i = 0; i < c->n_tiles; i++) {
        const part *p = &c->tiles[i];
        double variance = variance_of(c, group, v);
        if (p->group != group) continue;
        set_kernel(c, p, length, room);
        tile_likelihood(c, p, variance, room);
        if (!kb_cholesky_variances(p->n, room->system, p->n, room->y)) return NAN;
        for (size_t j = 0; j < p->n; j++)
            sum += c->counts[group] / c->covered[group] * variance *
                   c->comparison.relative[c->observation[p->begin + j]] * room->y[j];
    }
    return sum;
}

/* Half a log N for each number that was maximised over. */
static double price(const curves *c, size_t group, double n)
{
    return c->dynamics->known_variance[group] > 0 ? 0.5 * log(n) : log(n);
}

/* ---------------------------------------------------------------- constant and drift */

/* Weighted means of a part: of time, value, and their products about them. */
static void moments(const curves *c, const part *p, double *mean_time, double *mean, double *tt, double *ty)
{
    double weights = 0, times = 0, values = 0;
    *tt = *ty = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = p->begin; i < p->begin + p->n; i++) {
            size_t o = c->observation[i];
            double weight = 1 / c->comparison.relative[o], t = c->time[i], y = c->comparison.target[o];
            if (pass == 0) weights += weight, times += weight * t, values += weight * y;
            else {
                *tt += weight * (t - times / weights) * (t - times / weights);
                *ty += weight * (t - times / weights) * (y - values / weights);
            }
        }
    *mean_time = times / weights;
    *mean = values / weights;
}

/* sum r^2 / h and sum log h of a part about its line; h follows the line where noise is multiplicative. */
static double part_squares(curves *c, const part *p, double slope, double *logs)
{
    double squares = 0, mean_time, mean, tt, ty;
    moments(c, p, &mean_time, &mean, &tt, &ty);
    for (size_t i = p->begin; i < p->begin + p->n; i++) {
        size_t o = c->observation[i];
        double line = mean + slope * (c->time[i] - mean_time), r = c->comparison.target[o] - line;
        kb_comparison_weigh(&c->comparison, o, 1, &line);
        squares += r * r / c->comparison.relative[o];
        *logs += log(c->comparison.relative[o]);
    }
    return squares;
}

static double slope_of(const curves *c, size_t group)
{
    double above = 0, below = 0, mean_time, mean, tt, ty;
    for (size_t i = 0; i < c->n_parts; i++)
        if (c->parts[i].group == group) {
            moments(c, &c->parts[i], &mean_time, &mean, &tt, &ty);
            above += ty;
            below += tt;
        }
    return below > 0 ? above / below : 0;
}

static double count_parts(const curves *c, size_t group)
{
    double n = 0;
    for (size_t i = 0; i < c->n_parts; i++) n += c->parts[i].group == group;
    return n;
}

/* -N/2 log v - SSE/(2 v) - 1/2 sum log h - 1/2 log N for the mean of each run, the slope and the noise */
static double weigh_line(curves *c, size_t group, bool drifts)
{
    double n = c->counts[group], squares = 0, logs = 0, parameters = drifts + count_parts(c, group);
    bool is_known = c->dynamics->known_variance[group] > 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double slope = drifts ? slope_of(c, group) : 0;
        squares = logs = 0;
        for (size_t i = 0; i < c->n_parts; i++)
            if (c->parts[i].group == group) squares += part_squares(c, &c->parts[i], slope, &logs);
    }
    double v = variance_of(c, group, squares / n);
    if (c->dynamics->noise_model == KB_NOISE_LOG && !is_known)
        v = fmax(squares / n, kb_comparison_variance(&c->comparison, group, c->dynamics->noise_floor));
    return -0.5 * (n * log(v) + squares / v + logs + (parameters + !is_known) * log(n));
}

static double squares_of(curves *c, size_t group)
{
    double squares = 0, logs = 0;
    for (size_t i = 0; i < c->n_parts; i++)
        if (c->parts[i].group == group) squares += part_squares(c, &c->parts[i], 0, &logs);
    return squares;
}

/* Is the group no better told by its own smooth curve than by a constant? White noise is a curve of the shortest
   length, which leaves hardly any. */
static bool is_constant(curves *c, size_t group, double field)
{
    return c->dynamics->noise_model == KB_NOISE_ADDITIVE && weigh_line(c, group, false) >= field;
}

static void weigh_own(curves *c, size_t group, double *evidence, kb_without_law *out)
{
    double length;
    out->field_variance[group] = out->freedom[group] = NAN;
    if (!(c->counts[group] > 0)) return;
    *evidence = maximise(c, group, &out->field_variance[group], &length) - price(c, group, c->counts[group]);
    out->freedom[group] = freedom_of(c, group, length, out->field_variance[group]);
}

/* One length and noise for all groups, or each group its own: the better of the two. */
static void weigh_field(curves *c, kb_without_law *out)
{
    size_t n = c->dynamics->n_groups, measured = 0, first = n;
    double own = 0, values = 0, common, length, *evidence = c->work;
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (size_t g = 0; g < n; g++) weigh_own(c, g, &evidence[g], out);
    for (size_t g = 0; g < n; g++) {
        if (!(c->counts[g] > 0)) continue;
        own += evidence[g];
        values += c->counts[g];
        if (first == n) first = g;
        measured++;
    }
    out->field = own;
    if (measured > 1) {
        double together = maximise(c, n, &common, &length) - price(c, first, values / (double)measured);
        if (together > own) {
            out->field = together;
            for (size_t g = 0; g < n; g++)
                if (c->counts[g] > 0)
                    out->field_variance[g] = common, out->freedom[g] = freedom_of(c, g, length, common);
        }
    }
    for (size_t g = 0; g < n; g++) {
        if (!(c->counts[g] > 0)) continue;
        if (is_constant(c, g, evidence[g])) {
            out->field_variance[g] = squares_of(c, g) / c->counts[g];
            out->freedom[g] = c->counts[g] - 1;
        }
        out->field_variance[g] = variance_of(c, g, out->field_variance[g]);
        if (c->dynamics->known_variance[g] > 0) out->freedom[g] = INFINITY;
    }
}

/* The field has its mean and scale from the record, for all groups, and pays for one length and noise; white noise is
   a field of no length. So at the field's price: what the constant pays beyond that, given back. */
static double weigh_noise(const curves *c, double constant)
{
    double values = 0, measured = 0, paid = 0, price_of_field = 0;
    for (size_t g = 0; g < c->dynamics->n_groups; g++) {
        if (!(c->counts[g] > 0)) continue;
        paid += 0.5 * log(c->counts[g]) * (c->dynamics->known_variance[g] > 0 ? 1 : 2);
        values += c->counts[g];
        price_of_field = price(c, g, values / ++measured);
    }
    return constant + paid - price_of_field;
}

/* The better direction in each run; nothing is paid for the curve, so that no monotone one has more. h as it was
   weighed last. work: 5 times the measurements. */
static double weigh_monotone(const curves *c, size_t group, double *work)
{
    double n = c->counts[group], squares = 0, logs = 0;
    for (size_t i = 0; i < c->n_parts; i++) {
        const part *p = &c->parts[i];
        double *y = work, *weight = work + p->n;
        if (p->group != group) continue;
        for (size_t j = 0; j < p->n; j++) {
            size_t o = c->observation[p->begin + j];
            y[j] = c->comparison.target[o];
            weight[j] = 1 / c->comparison.relative[o];
            logs += log(c->comparison.relative[o]);
        }
        squares += fmin(kb_monotone_squares(p->n, y, weight, 1, work + 2 * p->n),
                        kb_monotone_squares(p->n, y, weight, -1, work + 2 * p->n));
    }
    double v = variance_of(c, group, squares / n);
    return -0.5 * (n * log(v) + squares / v + logs);
}

/* A straight line is no drift in logarithms. */
static void weigh_lines(curves *c, kb_without_law *out)
{
    out->constant = out->drift = 0;
    for (size_t g = 0; g < c->dynamics->n_groups; g++) {
        if (!(c->counts[g] > 0)) continue;
        double constant = weigh_line(c, g, false), drift = weigh_line(c, g, true);
        out->constants[g] = constant;
        out->constant += constant;
        out->drift += fmax(drift, constant);
    }
    if (c->dynamics->noise_model == KB_NOISE_LOG) out->drift = -INFINITY;
}

/* ---------------------------------------------------------------- life */

static void curves_clear(curves *c)
{
    kb_comparison_clear(&c->comparison);
    void *arrays[] = {c->parts,   c->tiles, c->observation, c->time, c->counts,
                      c->covered, c->room,  c->likelihoods, c->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
}

static kbass_status curves_create(curves *c, const kb_dynamics *d, kbass_error *error)
{
    size_t n = d->observation_start[d->n_rows], runs = d->run_start ? d->n_runs : 1, parts = d->n_groups * runs;
    c->dynamics = d;
    c->parts = KB_NEW(part, parts);
    c->tiles = KB_NEW(part, parts * MOST_TILES);
    c->observation = KB_NEW(size_t, n);
    c->time = KB_NEW(double, n);
    c->counts = KB_NEW(double, d->n_groups);
    c->covered = KB_NEW(double, d->n_groups);
    c->room = KB_NEW(tile_room, (size_t)c->threads);
    c->likelihoods = KB_NEW(double, parts *MOST_TILES *VARIANCES);
    c->work = KB_NEW(double, 5 * n);
    bool complete = c->parts && c->tiles && c->observation && c->time && c->counts && c->covered && c->room &&
                    c->likelihoods && c->work;
    return complete ? kb_comparison_create(d, &c->comparison, error) : kb_out_of_memory(error, "the bare field");
}

kbass_status kb_without_law_create(size_t n_groups, kb_without_law *out, kbass_error *error)
{
    *out = (kb_without_law){.n_groups = n_groups,
                            .noise = -INFINITY,
                            .monotone = INFINITY,
                            .rest = 1,
                            .field_variance = KB_NEW(double, n_groups),
                            .counts = KB_NEW(double, n_groups),
                            .constants = KB_NEW(double, n_groups),
                            .freedom = KB_NEW(double, n_groups)};
    if (out->field_variance && out->counts && out->constants && out->freedom) return KBASS_OK;
    kb_without_law_clear(out);
    return kb_out_of_memory(error, "the bare field");
}

void kb_without_law_clear(kb_without_law *w)
{
    kb_free(w->field_variance);
    kb_free(w->counts);
    kb_free(w->constants);
    kb_free(w->freedom);
    *w = (kb_without_law){0};
}

kbass_status kb_without_law_of_states(const kb_dynamics *d, const double *time, kb_kernel_kind kind, int threads,
                                      kb_without_law *out, kbass_error *error)
{
    curves c = {.kind = kind, .threads = threads > 0 ? threads : 1};
    kbass_status status = kb_without_law_create(d->n_groups, out, error);
    if (status == KBASS_OK) status = curves_create(&c, d, error);
    if (status == KBASS_OK) {
        gather(&c, time);
        tile(&c);
        c.shortest = KB_SHORTEST_SCALE * median_gap(&c);
        weigh_lines(&c, out);
        kb_comparison_weigh(&c.comparison, 0, d->observation_start[d->n_rows], d->observed);
        weigh_field(&c, out);
        out->noise = weigh_noise(&c, out->constant);
        out->monotone = 0;
        for (size_t g = 0; g < d->n_groups; g++)
            if (c.counts[g] > 0) out->monotone += weigh_monotone(&c, g, c.work);
        memcpy(out->counts, c.counts, d->n_groups * sizeof *out->counts);
    } else {
        kb_without_law_clear(out);
    }
    curves_clear(&c);
    return status;
}
