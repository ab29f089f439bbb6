#include "evidence/without_law_fields.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "gp/scales.h"

enum { TILE = 100 };                /* points: of a tile; its cube is the cost */
enum { MOST_TILES = 8 };            /* tiles: seen, spread over the field */
enum { LENGTHS = 6 };               /* values: of each length scale that are tried */
enum { VARIANCES = 9 };             /* values: of the noise that are tried */
static const double unending = 1e6; /* records: length scale in time of a field at rest */

/* Neighbouring measured points of one field in one run. */
typedef struct {
    const kb_field_samples *samples;
    size_t field, n;
    size_t point[TILE];
    size_t n_places[KB_SAMPLE_AXES]; /* different coordinates: few on a grid */
    double place[KB_SAMPLE_AXES][TILE];
    size_t at[KB_SAMPLE_AXES][TILE]; /* place of each point */
} patch;

typedef struct {
    kb_kernel_kind kind;
    double floor;
    size_t n_patches, n_axes, n_fields;
    patch *patches;
    const double *known;
    double *counts, *covered, *slope; /* by field; slope: of the drift that is taken off */
    double shortest[2];               /* of time and of space */
    kb_run *clock;
    bool is_cut; /* by it */
    double table[TILE * TILE], covariance[TILE * TILE], system[TILE * TILE], y[TILE];
} patchwork;

/* ---------------------------------------------------------------- patches */

typedef struct {
    double distance;
    size_t point;
} neighbour;

static bool is_nearer(const neighbour *a, const neighbour *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->point < b->point);
}

/* Among the nearest by now, nearest first; *n of them, TILE at most. */
static void keep_nearest(const neighbour *next, neighbour *nearest, size_t *n)
{
    size_t at = *n;
    if (*n == TILE && !is_nearer(next, &nearest[TILE - 1])) return;
    if (*n == TILE) at--;
    else ++*n;
    for (; at > 0 && is_nearer(next, &nearest[at - 1]); at--) nearest[at] = nearest[at - 1];
    nearest[at] = *next;
}

static void find_places(const kb_field_samples *s, patch *p)
{
    for (size_t a = 0; a < s->n_axes; a++)
        for (size_t i = 0; i < p->n; i++) {
            double x = s->point[p->point[i] + a * s->n_points];
            size_t k = 0;
            while (k < p->n_places[a] && p->place[a][k] != x) k++;
            if (k == p->n_places[a]) p->place[a][p->n_places[a]++] = x;
            p->at[a][i] = k;
        }
}

/* The measured points nearest to a centre, in units of the spacing. */
static void choose_patch(const kb_field_samples *s, size_t field, size_t centre, patch *out)
{
    neighbour nearest[TILE];
    size_t n = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        neighbour next = {0, i};
        if (!(s->measured[i + field * s->n_points] > 0)) continue;
        for (size_t a = 0; a < s->n_axes; a++) {
            double d = (s->point[i + a * s->n_points] - s->point[centre + a * s->n_points]) / s->spacing[a];
            next.distance = fmax(next.distance, fabs(d));
        }
        keep_nearest(&next, nearest, &n);
    }
    *out = (patch){.samples = s, .field = field, .n = n};
    for (size_t i = 0; i < n; i++) out->point[i] = nearest[i].point;
    find_places(s, out);
}

/* One patch where the run has few points; else several, spread over its points. */
static void choose_patches(patchwork *w, const kb_field_samples *s)
{
    for (size_t field = 0; field < s->n_fields; field++) {
        size_t n = s->count[field] <= TILE ? 1 : MOST_TILES;
        for (size_t k = 0; s->count[field] && k < n; k++) {
            /* a step that shares no factor with the rows of a grid visits all of space */
            size_t centre =
                (size_t)fmod(((double)k + 0.5) * 0.6180339887498949 * (double)s->n_points, (double)s->n_points);
            patch *p = &w->patches[w->n_patches++];
            choose_patch(s, field, centre, p);
            w->covered[field] += (double)p->n;
        }
        w->counts[field] += (double)s->count[field];
    }
    w->shortest[0] = fmin(w->shortest[0], KB_SHORTEST_SCALE * s->spacing[0]);
    for (size_t a = 1; a < s->n_axes; a++) w->shortest[1] = fmin(w->shortest[1], KB_SHORTEST_SCALE * s->spacing[a]);
}

/* ---------------------------------------------------------------- likelihood */

/* Between the places of an axis. */
static void set_table(patchwork *w, const patch *p, size_t axis, double length)
{
    size_t n = p->n_places[axis];
    double period = axis ? p->samples->period[axis] : 0;
    kb_kernel kernel = period > 0 ? (kb_kernel){KB_KERNEL_PERIODIC, length, period} : (kb_kernel){w->kind, length, 1};
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            w->table[i + j * n] = kb_kernel_derivative(&kernel, p->place[axis][i], p->place[axis][j], 0);
}

/* Product over the axes, the lower half. */
static void set_kernel(patchwork *w, const patch *p, const double *length)
{
    for (size_t a = 0; a < p->samples->n_axes; a++) {
        const size_t *at = p->at[a];
        set_table(w, p, a, length[a > 0]);
        for (size_t j = 0; j < p->n; j++)
            for (size_t i = j; i < p->n; i++) {
                double k = w->table[at[i] + at[j] * p->n_places[a]], *product = &w->covariance[i + j * p->n];
                *product = a ? *product * k : k;
            }
    }
}

static double variance_of(const patchwork *w, size_t field, double v)
{
    return w->known[field] > 0 ? w->known[field] : fmax(v, w->floor);
}

/* log N(y; 0, K + v diag(h)), log 2 pi left out, with the kernel set */
static double likelihood(patchwork *w, const patch *p, double variance)
{
    const kb_field_samples *s = p->samples;
    size_t n = p->n;
    for (size_t j = 0; j < n; j++) {
        size_t at = p->point[j] + p->field * s->n_points;
        memcpy(w->system + j + j * n, w->covariance + j + j * n, (n - j) * sizeof *w->system);
        w->system[j + j * n] += variance * (s->relative ? s->relative[at] : 1);
        w->y[j] = s->value[at] - w->slope[p->field] * s->point[p->point[j]];
    }
    if (!kb_cholesky(n, w->system, n)) return -INFINITY;
    kb_lower_solve(n, 1, w->system, n, w->y, n);
    return -0.5 * (kb_dot(n, w->y, w->y) + kb_cholesky_logdet(n, w->system, n));
}

static void add_likelihoods(patchwork *w, size_t field, const double *length, size_t n, const double *v, double *out)
{
    memset(out, 0, n * sizeof *out);
    w->is_cut = w->is_cut || !kb_run_spares(w->clock);
    for (size_t i = 0; i < w->n_patches && !w->is_cut; i++) {
        const patch *p = &w->patches[i];
        if (p->field != field) continue;
        set_kernel(w, p, length);
        for (size_t k = 0; k < n; k++)
            out[k] += w->counts[field] / w->covered[field] * likelihood(w, p, variance_of(w, field, v[k]));
    }
}

/* n - tr K (K + v diag(h))^{-1}: what the bare field leaves to the noise. */
static double freedom_of(patchwork *w, size_t field, const double *length, double variance)
{
    double sum = 0;
    for (size_t i = 0; i < w->n_patches; i++) {
        const patch *p = &w->patches[i];
        const kb_field_samples *s = p->samples;
        if (p->field != field) continue;
        set_kernel(w, p, length);
        likelihood(w, p, variance);
        if (!kb_cholesky_variances(p->n, w->system, p->n, w->y)) return NAN;
        for (size_t j = 0; j < p->n; j++) {
            double h = s->relative ? s->relative[p->point[j] + field * s->n_points] : 1;
            sum += w->counts[field] / w->covered[field] * variance * h * w->y[j];
        }
    }
    return sum;
}

/* Lengths of time and space and the noise of a field at their best; a field at rest has no end in time. */
static double maximise(patchwork *w, size_t field, bool is_at_rest, double *variance, double *freedom)
{
    double low[2] = {log(fmin(w->shortest[0], KB_LONGEST_SCALE / 4)), log(fmin(w->shortest[1], KB_LONGEST_SCALE / 4))},
           high = log(KB_LONGEST_SCALE);
    double v[VARIANCES], found[VARIANCES], best = -INFINITY, at[3] = {high, high, log(w->floor)};
    for (size_t k = 0; k < VARIANCES; k++) v[k] = w->floor * pow(KB_MOST_NOISE / w->floor, (double)k / (VARIANCES - 1));
    for (size_t i = 0; i < LENGTHS * LENGTHS; i++) {
        double trial[2] = {low[0] + (high - low[0]) * (double)(i / LENGTHS) / (LENGTHS - 1),
                           low[1] + (high - low[1]) * (double)(i % LENGTHS) / (LENGTHS - 1)};
        double length[2] = {is_at_rest ? unending : exp(trial[0]), exp(trial[1])};
        if (is_at_rest && i >= LENGTHS) break;
        add_likelihoods(w, field, length, VARIANCES, v, found);
        for (size_t k = 0; k < VARIANCES; k++)
            if (found[k] > best) best = found[k], at[0] = trial[0], at[1] = trial[1], at[2] = log(v[k]);
    }
    for (double step = 0.5; step > 0.1; step /= 2)
        for (int i = is_at_rest ? 2 : 0; i < 6; i++) {
            double to[3] = {at[0], at[1], at[2]}, trial;
            to[i / 2] += i % 2 ? step : -step;
            if (to[0] < low[0] || to[0] > high || to[1] < low[1] || to[1] > high || to[2] < log(w->floor)) continue;
            double length[2] = {is_at_rest ? unending : exp(to[0]), exp(to[1])};
            trial = exp(to[2]);
            add_likelihoods(w, field, length, 1, &trial, found);
            if (found[0] > best + 1e-3) best = found[0], memcpy(at, to, sizeof at), i = is_at_rest ? 1 : -1;
        }
    double length[2] = {is_at_rest ? unending : exp(at[0]), exp(at[1])};
    *variance = variance_of(w, field, exp(at[2]));
    *freedom = w->known[field] > 0 ? INFINITY : freedom_of(w, field, length, *variance);
    return best;
}

/* ---------------------------------------------------------------- the three models */

/* Of a field at each place about its mean there: the slope in time that all places share. */
static double drift_of(size_t n_runs, kb_field_samples *const *samples, size_t field)
{
    double tt = 0, ty = 0;
    for (size_t run = 0; run < n_runs; run++) {
        const kb_field_samples *s = samples[run];
        double n = 0, time = 0, value = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < s->n_points; i++) {
                double t = s->point[i], y = s->value[i + field * s->n_points];
                if (!(s->measured[i + field * s->n_points] > 0)) continue;
                if (pass == 0) n++, time += t, value += y;
                else tt += (t - time / n) * (t - time / n), ty += (t - time / n) * (y - value / n);
            }
    }
    return tt > 0 ? ty / tt : 0;
}

/* Of a point on a grid: its place in space. */
static size_t place_of(const kb_field_samples *s, size_t point)
{
    size_t place = 0;
    for (size_t a = 1; a < s->n_axes; a++) {
        const double *grid = s->grid[a];
        double x = s->point[point + a * s->n_points];
        size_t low = 0, high = s->n_grid[a] - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (grid[middle] < x - 0.5 * s->spacing[a]) low = middle + 1;
            else high = middle;
        }
        place = place * s->n_grid[a] + low;
    }
    return place;
}

/* Squares of a run's field about its means at each place, and their number. */
static kbass_status add_changes(const kb_field_samples *s, size_t field, double *squares, double *values,
                                kbass_error *error)
{
    size_t places = 1;
    for (size_t a = 1; a < s->n_axes; a++) places *= s->n_grid[a];
    double *sum = KB_NEW(double, 2 * places), *count = sum ? sum + places : NULL;
    if (!sum) return kb_out_of_memory(error, "the bare field");
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n_points; i++) {
            size_t at = i + field * s->n_points, place = place_of(s, i);
            if (!(s->measured[at] > 0)) continue;
            if (pass == 0) sum[place] += s->value[at], count[place]++;
            else *squares += pow(s->value[at] - sum[place] / count[place], 2), ++*values;
        }
    kb_free(sum);
    return KBASS_OK;
}

/* The share of the variance, of all fields and runs, that a field at rest leaves; 1 where places are not known. */
static kbass_status find_rest(size_t n_runs, kb_field_samples *const *samples, double *rest, kbass_error *error)
{
    double squares = 0, values = 0;
    for (size_t run = 0; run < n_runs; run++)
        for (size_t f = 0; f < samples[run]->n_fields; f++) {
            if (!samples[run]->gridded) return KBASS_OK;
            kbass_status status = add_changes(samples[run], f, &squares, &values, error);
            if (status != KBASS_OK) return status;
        }
    if (values > 0) *rest = squares / values;
    return KBASS_OK;
}

static double price(const patchwork *w, size_t field, double parameters)
{
    return 0.5 * (parameters + !(w->known[field] > 0)) * log(fmax(w->counts[field], 1));
}

/* Sums over values of one field, weighted by 1/h. */
typedef struct {
    double n, weights, values, squares, logs;
} moments;

static void add_value(const kb_field_samples *s, size_t at, moments *m)
{
    double h = s->relative ? s->relative[at] : 1, y = s->value[at];
    m->n++;
    m->weights += 1 / h;
    m->values += y / h;
    m->squares += y * y / h;
    m->logs += log(h);
}

static moments moments_of_patches(const patchwork *w, size_t field)
{
    moments m = {0};
    for (size_t i = 0; i < w->n_patches; i++) {
        const patch *p = &w->patches[i];
        for (size_t j = 0; p->field == field && j < p->n; j++)
            add_value(p->samples, p->point[j] + field * p->samples->n_points, &m);
    }
    return m;
}

static moments moments_of_all(size_t n_runs, kb_field_samples *const *samples, size_t field)
{
    moments m = {0};
    for (size_t run = 0; run < n_runs; run++) {
        const kb_field_samples *s = samples[run];
        for (size_t at = field * s->n_points; at < (field + 1) * s->n_points; at++)
            if (s->measured[at] > 0) add_value(s, at, &m);
    }
    return m;
}

/* -N/2 log v - SSE/(2 v) - 1/2 sum log h, of noise about one mean: a profile has an Occam factor of its own.
 *variance: v */
static double weigh_flat(const patchwork *w, size_t field, const moments *m, double *variance)
{
    double squares = fmax(m->squares - m->values * m->values / m->weights, 0),
           v = *variance = variance_of(w, field, squares / m->n);
    return -0.5 * w->counts[field] / m->n * (m->n * log(v) + squares / v + m->logs) - price(w, field, 1);
}

/* Of noise about one mean: on all values, and by how much that is more than on the patches of the bare field. */
typedef struct {
    double evidence, shift, variance;
} flat_model;

static flat_model weigh_flats(const patchwork *w, size_t n_runs, kb_field_samples *const *samples, size_t field)
{
    flat_model flat;
    double unused;
    moments all = moments_of_all(n_runs, samples, field), patches = moments_of_patches(w, field);
    flat.evidence = weigh_flat(w, field, &all, &unused);
    flat.shift = flat.evidence - weigh_flat(w, field, &patches, &flat.variance);
    return flat;
}

/* White noise is a field of the shortest length, which leaves hardly any noise. */
static void leave_flat(const patchwork *w, size_t field, const flat_model *flat, kb_without_law *out)
{
    out->field_variance[field] = flat->variance;
    if (!(w->known[field] > 0)) out->freedom[field] = w->counts[field] - 1;
}

/* Where the bare field is no better than noise about one mean, what patches of it say is taken by its difference from
   what they say of such noise: a matter of the values that they happen to hold. */
static void weigh(patchwork *w, size_t n_runs, kb_field_samples *const *samples, kb_without_law *out)
{
    double unused;
    out->is_still = true;
    for (size_t f = 0; f < w->n_fields; f++) {
        out->counts[f] = w->counts[f];
        out->field_variance[f] = NAN;
        if (!(w->counts[f] > 0)) continue;
        flat_model flat = weigh_flats(w, n_runs, samples, f);
        double field = maximise(w, f, false, &out->field_variance[f], &out->freedom[f]) - price(w, f, 2),
               rest = maximise(w, f, true, &unused, &unused) - price(w, f, 1);
        out->occam += -0.5 * w->counts[f] * (log(out->field_variance[f]) + 1) - field;
        w->slope[f] = drift_of(n_runs, samples, f);
        double drift = maximise(w, f, true, &unused, &unused) - price(w, f, 2);
        w->slope[f] = 0;
        bool is_flat = flat.evidence - flat.shift >= field;
        if (is_flat) leave_flat(w, f, &flat, out);
        if (!is_flat && !(rest >= field)) out->is_still = false;
        if (!is_flat) flat.shift = 0;
        rest = fmax(rest + flat.shift, flat.evidence);
        out->field += field + flat.shift;
        out->constant += rest;
        out->drift += fmax(drift + flat.shift, rest);
    }
}

kbass_status kb_without_law_of_fields(size_t n_runs, kb_field_samples *const *samples, kb_kernel_kind kind,
                                      double noise_floor, kb_run *clock, kb_without_law *out, kbass_error *error)
{
    size_t fields = samples[0]->n_fields;
    if (kb_without_law_create(fields, out, error) != KBASS_OK) return KBASS_ERROR_MEMORY;
    patchwork *w = KB_NEW(patchwork, 1);
    double *sums = KB_NEW(double, 3 * fields);
    patch *patches = KB_NEW(patch, n_runs * fields * MOST_TILES);
    bool complete = w && sums && patches;
    if (complete) {
        *w = (patchwork){.kind = kind,
                         .floor = noise_floor > 0 ? noise_floor : 1e-6,
                         .n_axes = samples[0]->n_axes,
                         .n_fields = fields,
                         .patches = patches,
                         .known = samples[0]->known_variance,
                         .counts = sums,
                         .covered = sums + fields,
                         .slope = sums + 2 * fields,
                         .shortest = {KB_LONGEST_SCALE, KB_LONGEST_SCALE},
                         .clock = clock};
        for (size_t run = 0; run < n_runs; run++) choose_patches(w, samples[run]);
        weigh(w, n_runs, samples, out);
    }
    bool is_cut = complete && w->is_cut;
    kb_free(w);
    kb_free(sums);
    kb_free(patches);
    kbass_status status =
        complete ? find_rest(n_runs, samples, &out->rest, error) : kb_out_of_memory(error, "the bare field");
    if (status == KBASS_OK && is_cut)
        status = kb_fail(error, KBASS_ERROR_TIME, "the run was stopped before its law was judged");
    if (status != KBASS_OK) kb_without_law_clear(out);
    return status;
}
