/* The part of a large grid that becomes a table: how dense, how wide, and where (docs/math.md, section 40). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/row_waves.h"
#include "data/tiles.h"
#include "data/visible.h"

enum {
    LOOK = 250000,   /* points of a look at the visible wavelengths */
    MOST_LOOKS = 12, /* each four times as coarse */
    COARSER = 4,
    FEWEST_ROWS = 48,    /* of the part */
    PLACES = 16,         /* where it may begin */
    FEWEST_ALONG = 32,   /* points along a space axis of which only a stretch is taken */
    FEWER_OVER_AXES = 4, /* times: a fit over several space axes costs more for each value */
    FEWEST_OVER_AXES = 16,
    PROJECTED = 10 /* rows of a part whose rows are projected onto their waves */
};
static const double projected_span = 0.5; /* visible wavelengths in time: of such rows, whose noise is small */
static const double densities[] = {32, 24, 16, 12,
                                   8}; /* points in a visible wavelength, the first that can be afforded */
static const double rows_per_wave = 32, few_rows_per_wave = 10; /* the latter over several space axes */
enum { DENSITIES = sizeof densities / sizeof *densities };

/* Every stride-th point along each axis; of projected rows the places along space are their own. */
typedef struct {
    size_t first[KBASS_MAX_AXES], count[KBASS_MAX_AXES], stride[KBASS_MAX_AXES];
    bool is_projected;
    kb_row_waves waves;
} box;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Over several space axes twice a part is more than can be fitted as a whole. */
size_t kb_tiles_most(const kbass_data *data, size_t most, size_t few)
{
    return data->n_axes > 2 ? least(most, 2 * few / FEWER_OVER_AXES) : most;
}

static size_t points_of(const kb_tiled *t, const box *b)
{
    size_t n = 1;
    for (size_t a = 0; a < t->n_axes; a++) n *= b->count[a];
    return n;
}

/* ---------------------------------------------------------------- wavelengths */

/* A box of at most LOOK points about the middle, as even a share of each axis as there is. */
static void place_look(const kb_tiled *t, box *b)
{
    double side = pow(LOOK, 1 / (double)t->n_axes);
    for (size_t a = 0; a < t->n_axes; a++) b->count[a] = least((t->n[a] - 1) / b->stride[a] + 1, (size_t)side);
    for (size_t a = 0; a < t->n_axes; a++) { /* what short axes leave */
        size_t room = LOOK / (points_of(t, b) / b->count[a]);
        b->count[a] = least((t->n[a] - 1) / b->stride[a] + 1, room);
    }
    for (size_t a = 0; a < t->n_axes; a++) b->first[a] = (t->n[a] - 1 - (b->count[a] - 1) * b->stride[a]) / 2;
}

/* The shortest of all fields along each axis, in points of the grid; *sees_all: no axis needs a coarser look. */
static void measure(const kb_tiled *t, const box *b, const double *value, double *wave, bool *sees_all)
{
    size_t points = points_of(t, b);
    for (size_t a = 0; a < t->n_axes; a++) wave[a] = INFINITY;
    for (size_t f = 0; f < t->n_fields; f++) {
        kb_grid_values grid = {.n_axes = t->n_axes, .value = value + f * points};
        memcpy(grid.n, b->count, sizeof grid.n);
        double noise = kb_grid_noise(&grid);
        for (size_t a = 0; a < t->n_axes; a++)
            wave[a] = fmin(wave[a], kb_grid_wavelength(&grid, a, noise) * (double)b->stride[a]);
    }
    *sees_all = true;
    for (size_t a = 0; a < t->n_axes; a++)
        *sees_all = *sees_all && (wave[a] < 0.5 * (double)(b->count[a] * b->stride[a]) ||
                                  b->count[a] * b->stride[a] + b->stride[a] > t->n[a]);
}

static kbass_status find_waves(kb_tiled *t, double *wave, kbass_error *error)
{
    box b = {0};
    bool sees_all = false;
    double *value = KB_NEW(double, LOOK * t->n_fields);
    kbass_status status = value ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    for (size_t a = 0; a < t->n_axes; a++) b.stride[a] = 1;
    for (int look = 0; status == KBASS_OK && !sees_all && look < MOST_LOOKS; look++) {
        place_look(t, &b);
        status = kb_tiles_thin(t, b.first, b.count, b.stride, value, error);
        if (status != KBASS_OK) break;
        measure(t, &b, value, wave, &sees_all);
        for (size_t a = 0; !sees_all && a < t->n_axes; a++)
            if (wave[a] >= 0.5 * (double)(b.count[a] * b.stride[a]) && b.count[a] * b.stride[a] < t->n[a])
                b.stride[a] *= COARSER;
    }
    kb_free(value);
    return status;
}

/* ---------------------------------------------------------------- size */

static size_t stride_for(double wave, double density) { return (size_t)fmax(1, floor(wave / density)); }

/* Over several axes: the largest stride that the closing of an axis survives, whose last point is the one before the
   first (a divisor of n) or the same (of n - 1); where all of them are much smaller, the stride itself. */
static size_t closing_stride(size_t n, size_t wanted)
{
    for (size_t s = wanted; 2 * s > wanted; s--)
        if (n % s == 0 || (n - 1) % s == 0) return s;
    return wanted;
}

/* All of space, where a density can be afforded with enough rows; else stretches of its axes. */
static void choose_size(const kb_tiled *t, const double *wave, size_t most, box *b)
{
    size_t space = SIZE_MAX, fewest = least(t->n_axes > 2 ? FEWEST_OVER_AXES : FEWEST_ROWS, t->n[0]);
    for (size_t i = 0; i < DENSITIES && space > most / fewest; i++) {
        space = 1;
        for (size_t a = 1; a < t->n_axes; a++) {
            size_t widest = (t->n[a] - 1) / (t->n_axes > 2 ? FEWEST_OVER_AXES : 2 * FEWEST_ALONG) + 1;
            b->stride[a] = least(stride_for(wave[a], densities[i]), widest);
            if (t->n_axes > 2) b->stride[a] = closing_stride(t->n[a], b->stride[a]);
            b->count[a] = (t->n[a] - 1) / b->stride[a] + 1;
            space *= b->count[a];
        }
    }
    for (size_t a = 1; space > most / fewest && a < t->n_axes; a++) {
        double side = pow((double)most, 1 / (double)t->n_axes);
        size_t along = least(b->count[a], (size_t)fmax(FEWEST_ALONG, side));
        space = space / b->count[a] * along;
        b->count[a] = along;
    }
    size_t rows = most / space > fewest ? most / space : fewest; /* that can be afforded: no coarser than they need */
    b->stride[0] =
        least(stride_for(wave[0], t->n_axes > 2 ? few_rows_per_wave : rows_per_wave), (t->n[0] - 1) / rows + 1);
    b->count[0] = least((t->n[0] - 1) / b->stride[0] + 1, rows);
}

/* A few rows of half a wavelength in time, each as few values as its waves need. */
static void choose_rows(const kb_tiled *t, const double *wave, size_t most, box *b)
{
    size_t span = (size_t)fmax(projected_span * wave[0], PROJECTED - 1);
    kb_row_waves_limit(t, most / PROJECTED, &b->waves);
    for (size_t a = 1; a < t->n_axes; a++) {
        b->stride[a] = (t->n[a] - 1) / b->waves.m[a] + 1; /* where changes in time are looked at */
        b->count[a] = (t->n[a] - 1) / b->stride[a] + 1;
    }
    span = least(span, t->n[0] - 1);
    b->stride[0] = span / PROJECTED + 1;
    b->count[0] = span / b->stride[0] + 1;
}

/* ---------------------------------------------------------------- place */

static double change_of(const kb_tiled *t, size_t points, const double *value)
{
    double sum = 0, n = 0;
    size_t slice = points / 2;
    for (size_t f = 0; f < t->n_fields; f++)
        for (size_t i = 0; i < slice; i++) {
            double change = value[f * points + slice + i] - value[f * points + i];
            if (isnan(change)) continue;
            sum += change * change;
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* Mean square of the change over a quarter of the stretch, three times in a row. */
static kbass_status measure_change(kb_tiled *t, box *pair, size_t first, double *value, double *change,
                                   kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *change = 0;
    for (size_t i = 0; status == KBASS_OK && i < 3; i++) {
        pair->first[0] = first + i * pair->stride[0];
        status = kb_tiles_thin(t, pair->first, pair->count, pair->stride, value, error);
        if (status == KBASS_OK) *change += change_of(t, points_of(t, pair), value);
    }
    return status;
}

/* Of several places in time the one where most changes; where they lie apart the second, since the first may be that of
   a jump. */
static kbass_status choose_place(kb_tiled *t, box *b, kbass_error *error)
{
    size_t reach = (b->count[0] - 1) * b->stride[0], room = t->n[0] - 1 - reach, lag = reach / 4, best = 0, second = 0;
    box pair = *b;
    double most = -1, next = -1;
    for (size_t a = 0; a < t->n_axes; a++) b->first[a] = (t->n[a] - 1 - (b->count[a] - 1) * b->stride[a]) / 2;
    if (!room || !lag) return KBASS_OK;
    memcpy(pair.first, b->first, sizeof pair.first);
    pair.count[0] = 2;
    pair.stride[0] = lag;
    double *value = KB_NEW(double, points_of(t, &pair) * t->n_fields);
    kbass_status status = value ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    for (size_t place = 0; status == KBASS_OK && place < PLACES; place++) {
        size_t first = place * room / (PLACES - 1);
        double change = 0;
        status = measure_change(t, &pair, first, value, &change, error);
        if (change > most) {
            second = best;
            next = most;
            best = first;
            most = change;
        } else if (change > next) {
            second = first;
            next = change;
        }
    }
    b->first[0] = room / (PLACES - 1) > reach ? second : best;
    kb_free(value);
    return status;
}

/* ---------------------------------------------------------------- rows */

static kbass_status fill_rows(kbass_data *data, const box *b, const double *value, kbass_error *error)
{
    const kb_tiled *t = data->tiles;
    size_t n = data->n_rows = points_of(t, b), width = t->n_axes - 1;
    kb_free(data->times);
    kb_free(data->positions);
    kb_free(data->values);
    data->times = KB_NEW(double, n);
    data->positions = KB_NEW(double, n *width);
    data->values = KB_NEW(double, n * t->n_fields);
    if (!data->times || !data->positions || !data->values) return kb_out_of_memory(error, "a part of the grid");
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        for (size_t a = t->n_axes; a-- > 0; rest /= b->count[a]) {
            double at = a && b->is_projected ? kb_row_waves_place(t, &b->waves, a, rest % b->count[a])
                                             : t->at[a][b->first[a] + rest % b->count[a] * b->stride[a]];
            if (a) data->positions[i * width + a - 1] = at;
            else data->times[i] = at;
        }
        for (size_t f = 0; f < t->n_fields; f++) data->values[i * t->n_fields + f] = value[f * n + i];
    }
    return KBASS_OK;
}

/* "10000384 points on a 9766 x 1024 grid stay in the file: all of them propose laws, this part decides: every 2nd ..."
 */
static kbass_status tell(kbass_data *data, const box *b, kbass_error *error)
{
    const kb_tiled *t = data->tiles;
    size_t size = 600 + (data->note ? strlen(data->note) : 0), used = 0;
    char *text = KB_NEW(char, size), *part = KB_NEW(char, 400);
    if (!text || !part) {
        kb_free(text);
        kb_free(part);
        return kb_out_of_memory(error, "the data");
    }
    used += (size_t)snprintf(text, size, "%s%s", data->note ? data->note : "", data->note && *data->note ? "; " : "");
    used += (size_t)snprintf(text + used, size - used, "part used of %zu points on a ", t->n_points);
    for (size_t a = 0; a < t->n_axes; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", a ? " x " : "", t->n[a]);
    snprintf(text + used, size - used, " grid: all of them propose laws, this part decides%s",
             b->is_projected ? ", by the waves that its rows show" : "");
    used = 0;
    for (size_t a = 0; a < t->n_axes && used < 400; a++) {
        if (a && b->is_projected) {
            used +=
                (size_t)snprintf(part + used, 400 - used, ", %zu waves along %s", b->count[a] / 2, data->axis_names[a]);
            continue;
        }
        double low = t->at[a][b->first[a]], high = t->at[a][b->first[a] + (b->count[a] - 1) * b->stride[a]];
        used += (size_t)snprintf(part + used, 400 - used, "%s%s=%.10g:%.10g", a ? ", " : "", data->axis_names[a], low,
                                 high);
        if (b->stride[a] > 1 && used < 400)
            used += (size_t)snprintf(part + used, 400 - used, " every %zu", b->stride[a]);
    }
    kb_free(data->note);
    kb_free(data->part);
    data->note = text;
    data->part = part;
    return KBASS_OK;
}

/* The values of the box; rows that are projected in vain, where some are missing, are thinned. */
static kbass_status read_box(kb_tiled *t, box *b, double *value, kbass_error *error)
{
    return b->is_projected ? kb_row_waves_project(t, &b->waves, b->first[0], b->count[0], b->stride[0], value,
                                                  &b->is_projected, error)
                           : kb_tiles_thin(t, b->first, b->count, b->stride, value, error);
}

/* Of how many values, from where on; of axes that close, the waves. */
static kbass_status choose(kb_tiled *t, const double *wave, size_t most, box *b, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (b->is_projected) choose_rows(t, wave, most, b);
    else choose_size(t, wave, most, b);
    status = choose_place(t, b, error);
    for (size_t a = 1; status == KBASS_OK && b->is_projected && a < t->n_axes; a++) b->count[a] = b->waves.m[a];
    return status;
}

static kbass_status take(kbass_data *data, const double *wave, size_t most, box *b, kbass_error *error)
{
    kb_tiled *t = data->tiles;
    bool was_projected = b->is_projected;
    kbass_status status = choose(t, wave, most, b, error);
    double *value = status == KBASS_OK ? KB_NEW(double, points_of(t, b) * t->n_fields) : NULL;
    if (status == KBASS_OK) status = value ? read_box(t, b, value, error) : kb_out_of_memory(error, "a part");
    if (status == KBASS_OK && b->is_projected == was_projected) {
        data->noise_share = b->is_projected ? b->waves.share : 0;
        status = fill_rows(data, b, value, error);
        if (status == KBASS_OK) status = tell(data, b, error);
    }
    kb_free(value);
    return status;
}

kbass_status kb_tiles_take_part(kbass_data *data, size_t most, kbass_error *error)
{
    kb_tiled *t = data->tiles;
    double wave[KBASS_MAX_AXES] = {0};
    box b = {0};
    kbass_status status = find_waves(t, wave, error);
    if (status == KBASS_OK && t->n_axes > 2) status = kb_row_waves_find(t, &b.waves, &b.is_projected, error);
    if (status != KBASS_OK) return status;
    if (t->n_axes > 2) most /= FEWER_OVER_AXES;
    bool was_projected = b.is_projected;
    status = take(data, wave, most / t->n_fields, &b, error);
    if (status == KBASS_OK && was_projected && !b.is_projected) /* a value of its rows is missing */
        status = take(data, wave, most / t->n_fields, &b, error);
    return status;
}
