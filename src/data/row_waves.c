#include "data/row_waves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/visible.h"

enum { ROWS = 16 };                   /* rows: whose spectra are looked at, spread over the record */
enum { LINES = 64 };                  /* lines: of each of them, along an axis */
enum { FEWEST_POINTS = 24 };          /* points: of an axis with fewer there is little to gain */
enum { LEAST_WAVES = 6 };             /* waves: that are kept, whatever is seen */
enum { MOST_NUMBERS = 1 << 23 };      /* values: of a row that is looked at in one piece; memory */
enum { MOST_USED = 4096 };            /* points: of a row that are used; of more waves are seen than starts can have */
enum { PERIODS = 2 };                 /* the axis and one spacing, or the axis: its last point is its first again */
static const double most_waves = 0.7; /* of the points: with more an axis gains nothing, or does not close */
static const double shortest_from = 0.6; /* of the highest frequency: waves that show the noise */
static const double left_out = 0.05;     /* of the projected noise's variance: what waves that are left out may have */
static const double least_noise = 1e-6;  /* of a field's variance: noise below it is the error of whoever integrated */
static const double leaks = 1.2; /* times the noise by differences: what the shortest waves show if an axis is open */
static const double same_end = 0.5; /* of the change between neighbours: less, and the last point is the first again */
static const double even = 0.01;    /* of a spacing: by which those of an even axis differ */
static const double two_pi = 6.283185307179586476925; /* exact */

static size_t row_points(const kb_tiled *t) { return t->n_points / t->n[0]; }

static bool is_even(const kb_tiled *t, size_t axis)
{
    const double *x = t->at[axis];
    size_t n = t->n[axis];
    double step = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t i = 1; i < n; i++)
        if (fabs(x[i] - x[i - 1] - step) > even * step) return false;
    return true;
}

static kbass_status read_row(kb_tiled *t, size_t row, double *value, kbass_error *error)
{
    size_t first[KBASS_MAX_AXES] = {row}, n[KBASS_MAX_AXES] = {1};
    for (size_t a = 1; a < t->n_axes; a++) n[a] = t->n[a];
    return t->read(t, first, n, value, error);
}

/* ---------------------------------------------------------------- spectra along an axis */

/* Power of the waves along an axis if it has n points in a period: for each field 0 .. n/2, of which the mean square is
   the sum. White noise of variance v gives each of them 2 v / n. */
typedef struct {
    size_t n, n_waves, n_lines;
    double *waves; /* n x 2 n_waves: cosines, then sines, over n */
    double *power; /* n_waves x fields */
    double *lines, *coefficients;
} spectrum;

/* What the rows show: along each axis in either period, and by differences between neighbours. */
typedef struct {
    spectrum of[KBASS_MAX_AXES][PERIODS];
    double *row, *noise; /* values of one; variance by field */
    double neighbours[KBASS_MAX_AXES],
        ends[KBASS_MAX_AXES]; /* mean squares of changes along an axis, over the noise's */
} look;

static bool allocate(const kb_tiled *t, size_t n, spectrum *s)
{
    s->n = n;
    s->n_waves = n / 2 + 1;
    s->waves = KB_NEW(double, 2 * n * s->n_waves);
    s->power = KB_NEW(double, s->n_waves * t->n_fields);
    s->lines = KB_NEW(double, n *LINES);
    s->coefficients = KB_NEW(double, 2 * s->n_waves * LINES);
    if (!s->waves || !s->power || !s->lines || !s->coefficients) return false;
    for (size_t q = 0; q < s->n_waves; q++)
        for (size_t i = 0; i < n; i++) {
            double phase = two_pi * (double)(q * i % n) / (double)n;
            s->waves[i + q * n] = cos(phase) / (double)n;
            s->waves[i + (s->n_waves + q) * n] = sin(phase) / (double)n;
        }
    return true;
}

static void clear(spectrum *s)
{
    double *arrays[] = {s->waves, s->power, s->lines, s->coefficients};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
}

/* Lines of a field's row along an axis, spread evenly; how many. */
static size_t gather(const kb_tiled *t, size_t axis, const double *row, spectrum *s)
{
    size_t stride = 1, all = row_points(t) / t->n[axis], count = all < LINES ? all : LINES;
    for (size_t a = axis + 1; a < t->n_axes; a++) stride *= t->n[a];
    for (size_t l = 0; l < count; l++) {
        size_t which = l * all / count, from = which / stride * stride * t->n[axis] + which % stride;
        for (size_t i = 0; i < s->n; i++) s->lines[i + l * s->n] = row[from + i * stride];
    }
    return count;
}

static void add_row(const kb_tiled *t, size_t axis, const double *value, spectrum *s)
{
    for (size_t f = 0; f < t->n_fields; f++) {
        size_t count = gather(t, axis, value + f * row_points(t), s), W = s->n_waves;
        kb_gemm(KB_TRANSPOSED, KB_PLAIN, 2 * W, count, s->n, 1, s->waves, s->n, s->lines, s->n, 0, s->coefficients,
                2 * W);
        for (size_t l = 0; l < count; l++)
            for (size_t q = 0; q < W; q++) {
                double c = s->coefficients[q + l * 2 * W], d = s->coefficients[W + q + l * 2 * W];
                s->power[q + f * W] += (q && 2 * q < s->n ? 2 : 1) * (c * c + d * d);
            }
        if (f == 0) s->n_lines += count;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Noise variance by the shortest waves of a mean spectrum; work: n_waves. */
static double noise_of(const spectrum *s, const double *power, double *work)
{
    size_t count = 0;
    for (size_t q = 1; 2 * q < s->n; q++)
        if ((double)q > shortest_from * (double)s->n / 2) work[count++] = power[q];
    qsort(work, count, sizeof *work, compare);
    return count ? 0.5 * (double)s->n * work[count / 2] : 0;
}

/* Waves up to which those of one field are seen: all beyond have together less than what may be left out. */
static size_t seen_of_field(const spectrum *s, size_t n_axes, size_t used, const double *power, double *work)
{
    double v = noise_of(s, power, work), n = (double)s->n, variance = 0, tail = 0;
    for (size_t q = 1; q < s->n_waves; q++) variance += power[q];
    for (size_t q = s->n_waves; q-- > 1;) { /* tail: of the waves above q */
        double noise =
                   fmax(v * pow(fmin((2 * (double)q - 1) / (double)used, 1), (double)n_axes), least_noise * variance),
               chance = 2 * (2 * v / n) * sqrt((double)(s->n_waves - q) / (double)s->n_lines);
        tail += power[q] - 2 * v / n;
        if (tail > left_out * noise + chance) return q;
    }
    return 0;
}

/* Of all fields, where so many points of a period are used. */
static size_t seen(const kb_tiled *t, const spectrum *s, size_t used)
{
    size_t most = LEAST_WAVES;
    for (size_t f = 0; f < t->n_fields; f++) {
        size_t own = seen_of_field(s, t->n_axes - 1, used, s->power + f * s->n_waves, s->coefficients);
        if (own > most) most = own;
    }
    return most;
}

/* ---------------------------------------------------------------- periods and waves */

static void add_noise(const kb_tiled *t, double share, look *l)
{
    for (size_t f = 0; f < t->n_fields; f++) {
        kb_grid_values grid = {.n_axes = t->n_axes - 1, .value = l->row + f * row_points(t)};
        memcpy(grid.n, t->n + 1, (t->n_axes - 1) * sizeof *t->n);
        l->noise[f] += share * kb_grid_noise(&grid);
    }
}

/* Changes from point to point along an axis, and from its last to its first, in units of twice the noise. */
static void add_changes(const kb_tiled *t, size_t axis, look *l)
{
    size_t n = t->n[axis], stride = 1, lines = row_points(t) / n;
    for (size_t a = axis + 1; a < t->n_axes; a++) stride *= t->n[a];
    for (size_t f = 0; f < t->n_fields; f++)
        for (size_t i = 0; i < lines; i++) {
            const double *x = l->row + f * row_points(t) + i / stride * stride * n + i % stride;
            double unit = 1 / (fmax(2 * l->noise[f], 1e-300) * (double)lines);
            for (size_t j = 0; j + 1 < n; j++)
                l->neighbours[axis] += pow(x[(j + 1) * stride] - x[j * stride], 2) * unit / (double)(n - 1);
            l->ends[axis] += pow(x[(n - 1) * stride] - x[0], 2) * unit;
        }
}

/* false in *is_whole: a value is missing. */
static kbass_status look_at_rows(kb_tiled *t, look *l, bool *is_whole, kbass_error *error)
{
    size_t rows = t->n[0] < ROWS ? t->n[0] : ROWS;
    kbass_status status = KBASS_OK;
    for (size_t r = 0; status == KBASS_OK && *is_whole && r < rows; r++) {
        status = read_row(t, r * (t->n[0] - 1) / (rows > 1 ? rows - 1 : 1), l->row, error);
        for (size_t i = 0; status == KBASS_OK && i < row_points(t) * t->n_fields; i++)
            *is_whole = *is_whole && isfinite(l->row[i]);
        if (status != KBASS_OK || !*is_whole) break;
        if (!r) add_noise(t, 1, l);
        for (size_t a = 1; a < t->n_axes; a++) {
            add_changes(t, a, l);
            for (size_t p = 0; p < PERIODS; p++) add_row(t, a, l->row, &l->of[a][p]);
        }
    }
    for (size_t a = 1; a < t->n_axes; a++)
        for (size_t p = 0; p < PERIODS; p++)
            for (size_t i = 0; i < l->of[a][p].n_waves * t->n_fields; i++)
                l->of[a][p].power[i] /= (double)l->of[a][p].n_lines; /* from sums over lines to means */
    return status;
}

/* What jumps from the end of a period to its beginning shows in the shortest waves, too. */
static bool closes(const kb_tiled *t, const look *l, const spectrum *s)
{
    for (size_t f = 0; f < t->n_fields; f++) {
        const double *power = s->power + f * s->n_waves;
        double variance = 0;
        for (size_t q = 1; q < s->n_waves; q++) variance += power[q];
        if (noise_of(s, power, s->coefficients) > leaks * l->noise[f] + least_noise * variance) return false;
    }
    return true;
}

static void set_share(const kb_tiled *t, kb_row_waves *w)
{
    w->share = 1;
    for (size_t a = 1; a < t->n_axes; a++) w->share *= (double)(w->m[a] * w->every[a]) / (double)w->n[a];
}

/* The largest divisor of n that leaves enough points for these waves, and for an axis of a row. */
static size_t choose_every(const kb_tiled *t, size_t n, size_t m)
{
    double side = 0.75 * pow(MOST_USED, 1 / (double)(t->n_axes - 1)), /* divisors are few */
        fewest = fmax(fmax(side, FEWEST_POINTS), (double)m / most_waves);
    size_t every = 1;
    for (size_t s = 2; s < n && (double)(n / s) >= fewest; s++)
        if (n % s == 0) every = s;
    return every;
}

/* Is the last point of an axis its first again? Both sums have the noise, as often as rows and fields were added. */
static bool repeats(const kb_tiled *t, const look *l, size_t axis)
{
    double noise = (double)(t->n_fields * (t->n[0] < ROWS ? t->n[0] : ROWS));
    return l->ends[axis] - noise < same_end * (l->neighbours[axis] - noise);
}

static bool choose(const kb_tiled *t, const look *l, kb_row_waves *w)
{
    for (size_t a = 1; a < t->n_axes; a++) {
        const spectrum *s = &l->of[a][repeats(t, l, a)];
        size_t n = w->n[a] = s->n, m = 2 * seen(t, s, n) + 1;
        if ((double)m > most_waves * (double)n || !closes(t, l, s)) return false;
        w->every[a] = choose_every(t, n, m);
        w->m[a] = 2 * seen(t, s, n / w->every[a]) + 1;
    }
    set_share(t, w);
    return true;
}

static bool open_look(const kb_tiled *t, look *l)
{
    bool done = true;
    for (size_t a = 1; a < t->n_axes; a++)
        for (size_t p = 0; p < PERIODS; p++) done = allocate(t, t->n[a] - p, &l->of[a][p]) && done;
    l->row = KB_NEW(double, row_points(t) * t->n_fields);
    l->noise = KB_NEW(double, t->n_fields);
    return done && l->row && l->noise;
}

static void close_look(const kb_tiled *t, look *l)
{
    for (size_t a = 1; a < t->n_axes; a++)
        for (size_t p = 0; p < PERIODS; p++) clear(&l->of[a][p]);
    kb_free(l->row);
    kb_free(l->noise);
}

kbass_status kb_row_waves_find(kb_tiled *t, kb_row_waves *w, bool *found, kbass_error *error)
{
    look l = {0};
    bool can_be = row_points(t) * t->n_fields <= MOST_NUMBERS;
    *found = false;
    for (size_t a = 1; a < t->n_axes; a++) can_be = can_be && t->n[a] >= FEWEST_POINTS && is_even(t, a);
    if (!can_be) return KBASS_OK;
    kbass_status status = open_look(t, &l) ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    if (status == KBASS_OK) status = look_at_rows(t, &l, &can_be, error);
    if (status == KBASS_OK && can_be) *found = choose(t, &l, w);
    close_look(t, &l);
    return status;
}

void kb_row_waves_limit(const kb_tiled *t, size_t most, kb_row_waves *w)
{
    for (;;) {
        size_t widest = 1, points = 1;
        for (size_t a = 1; a < t->n_axes; a++) {
            points *= w->m[a];
            if (w->m[a] > w->m[widest]) widest = a;
        }
        if (points <= most || w->m[widest] <= 2 * LEAST_WAVES + 1) break;
        w->m[widest] -= 2;
    }
    set_share(t, w);
}

double kb_row_waves_place(const kb_tiled *t, const kb_row_waves *w, size_t axis, size_t i)
{
    const double *x = t->at[axis];
    double step = (x[t->n[axis] - 1] - x[0]) / (double)(t->n[axis] - 1);
    return x[0] + step * (double)w->n[axis] * (double)i / (double)w->m[axis];
}

/* ---------------------------------------------------------------- projection */

/* What the first waves make of the points, at m even places: n x m; points that are not used have zeros. */
static double *make_projection(const kb_row_waves *w, size_t axis)
{
    size_t n = w->n[axis], m = w->m[axis], every = w->every[axis];
    double *D = KB_NEW(double, n *m);
    for (size_t j = 0; D && j < m; j++)
        for (size_t i = 0; i < n; i += every) {
            double turn = two_pi * ((double)i / (double)n - (double)j / (double)m), sum = 1;
            for (size_t q = 1; q <= m / 2; q++) sum += 2 * cos((double)q * turn);
            D[i + j * n] = sum * (double)every / (double)n;
        }
    return D;
}

/* A field's row, axis after axis, the last one first, which runs fastest. n: points of each axis in `row`. */
static void project_row(const kb_tiled *t, const kb_row_waves *w, double *const *D, const double *row, double *work,
                        double *out)
{
    size_t left = row_points(t), right = 1;
    const double *from = row;
    for (size_t a = t->n_axes; a-- > 1;) { /* from: right x n x left, the first fastest */
        double *to = a == 1 ? out : work + (a % 2) * row_points(t);
        left /= t->n[a];
        for (size_t l = 0; l < left; l++)
            kb_gemm(KB_PLAIN, KB_PLAIN, right, w->m[a], w->n[a], 1, from + l * right * t->n[a], right, D[a], w->n[a], 0,
                    to + l * right * w->m[a], right);
        right *= w->m[a];
        from = to;
    }
}

kbass_status kb_row_waves_project(kb_tiled *t, const kb_row_waves *w, size_t first, size_t count, size_t stride,
                                  double *value, bool *done, kbass_error *error)
{
    size_t points = row_points(t), few = 1;
    double *D[KBASS_MAX_AXES] = {NULL}, *row = KB_NEW(double, points * t->n_fields), *work = KB_NEW(double, 2 * points);
    bool complete = row && work;
    for (size_t a = 1; a < t->n_axes; a++) {
        few *= w->m[a];
        complete = (D[a] = make_projection(w, a)) && complete;
    }
    kbass_status status = complete ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    *done = true;
    for (size_t r = 0; status == KBASS_OK && *done && r < count; r++) {
        status = read_row(t, first + r * stride, row, error);
        for (size_t f = 0; status == KBASS_OK && f < t->n_fields; f++)
            project_row(t, w, D, row + f * points, work, value + (f * count + r) * few);
        for (size_t i = 0; status == KBASS_OK && i < t->n_fields * few; i++)
            *done = *done && isfinite(value[(i / few * count + r) * few + i % few]);
    }
    for (size_t a = 1; a < t->n_axes; a++) kb_free(D[a]);
    kb_free(row);
    kb_free(work);
    return status;
}
