#include "propose/weak/grid_run.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "propose/weak/bare_tile.h"
#include "data/visible.h"

enum { TILE_CENTRES = 16 };     /* bumps: of a tile along an axis; memory */
enum { MOST_BARE_TILES = 6 };   /* tiles: in which the bare field is asked; seconds */
enum { NOISE_POINTS = 200000 }; /* points: of the rows that show the noise; as many are looked at */
enum { FEWEST_NOISE_ROWS = 6 }; /* rows: of them; differences of order five */
enum { FEWEST_CENTRES = 3 };    /* bumps: along an axis, fewer say nothing */
enum { FEWEST_POINTS = 6 };     /* points: under a bump, fewer do not integrate */

/* ---------------------------------------------------------------- life */

static kbass_status allocate(size_t n_axes, size_t n_fields, const size_t *n, bool has_values, kb_weak_grid_run **out,
                             kbass_error *error)
{
    kb_weak_grid_run *r = *out = KB_NEW(kb_weak_grid_run, 1);
    if (!r) return kb_out_of_memory(error, "the weak form");
    bool done = true;
    r->n_axes = n_axes;
    r->n_fields = n_fields;
    r->n_points = 1;
    for (size_t a = 0; a < n_axes; a++) {
        r->n[a] = n[a];
        r->n_points *= n[a];
        done = (r->at[a] = KB_NEW(double, n[a])) && done;
    }
    r->value = has_values ? KB_NEW(double, r->n_points *n_fields) : NULL;
    r->noise = KB_NEW(double, n_fields);
    return done && (r->value || !has_values) && r->noise ? KBASS_OK : kb_out_of_memory(error, "the weak form");
}

static void measure_axes(kb_weak_grid_run *r)
{
    for (size_t a = 0; a < r->n_axes; a++) {
        r->extent[a] = r->at[a][r->n[a] - 1] - r->at[a][0];
        r->spacing[a] = r->n[a] > 1 ? r->extent[a] / (double)(r->n[a] - 1) : r->extent[a];
    }
}

static void find_noise(kb_weak_grid_run *r, const kb_field_samples *c)
{
    for (size_t f = 0; f < r->n_fields; f++) {
        kb_grid_values grid = {.n_axes = r->n_axes, .value = r->value + f * r->n_points};
        memcpy(grid.n, r->n, sizeof grid.n);
        double known = c->known_variance[f] * c->sd[f] * c->sd[f];
        r->noise[f] = known > 0 ? known : kb_grid_noise(&grid);
    }
}

kbass_status kb_weak_grid_run_create(const kb_field_samples *c, kb_weak_grid_run **out, kbass_error *error)
{
    kbass_status status = allocate(c->n_axes, c->n_fields, c->n_grid, true, out, error);
    kb_weak_grid_run *r = *out;
    if (status != KBASS_OK) {
        kb_weak_grid_run_destroy(r);
        *out = NULL;
        return status;
    }
    for (size_t a = 0; a < r->n_axes; a++)
        for (size_t i = 0; i < r->n[a]; i++) r->at[a][i] = c->first[a] + c->span[a] * c->grid[a][i];
    measure_axes(r);
    for (size_t f = 0; f < r->n_fields; f++)
        for (size_t i = f * r->n_points; i < (f + 1) * r->n_points; i++) {
            r->value[i] = c->measured[i] > 0 ? c->mean[f] + c->sd[f] * c->value[i] : NAN;
            r->has_holes = r->has_holes || !(c->measured[i] > 0);
        }
    find_noise(r, c);
    return KBASS_OK;
}

/* Noise by differences within some whole rows about the middle of the record. */
static kbass_status find_noise_of_tiles(kb_tiled *t, kb_weak_grid_run *r, kbass_error *error)
{
    size_t row = t->n_points / t->n[0], rows = NOISE_POINTS / row, first[KB_MAX_AXES] = {0};
    kb_grid_values grid = {.n_axes = t->n_axes};
    rows = rows < FEWEST_NOISE_ROWS ? FEWEST_NOISE_ROWS : rows;
    memcpy(grid.n, t->n, t->n_axes * sizeof *t->n);
    grid.n[0] = rows < t->n[0] ? rows : t->n[0];
    first[0] = (t->n[0] - grid.n[0]) / 2;
    double *value = KB_NEW(double, row *grid.n[0] * t->n_fields);
    kbass_status status = value ? t->read(t, first, grid.n, value, error) : kb_out_of_memory(error, "the weak form");
    for (size_t f = 0; status == KBASS_OK && f < t->n_fields; f++) {
        grid.value = value + f * row * grid.n[0];
        r->noise[f] = kb_grid_noise(&grid);
    }
    kb_free(value);
    return status;
}

kbass_status kb_weak_grid_run_of_tiles(kb_tiled *tiles, const double *noise, kb_weak_grid_run **out, kbass_error *error)
{
    kbass_status status = allocate(tiles->n_axes, tiles->n_fields, tiles->n, false, out, error);
    kb_weak_grid_run *r = *out;
    if (status == KBASS_OK && !noise) status = find_noise_of_tiles(tiles, r, error);
    if (status != KBASS_OK) {
        kb_weak_grid_run_destroy(r);
        *out = NULL;
        return status;
    }
    for (size_t a = 0; a < r->n_axes; a++) memcpy(r->at[a], tiles->at[a], r->n[a] * sizeof *r->at[a]);
    if (noise) memcpy(r->noise, noise, r->n_fields * sizeof *noise);
    measure_axes(r);
    r->tiles = tiles;
    return KBASS_OK;
}

void kb_weak_grid_run_destroy(kb_weak_grid_run *r)
{
    if (!r) return;
    for (size_t a = 0; a < r->n_axes; a++) kb_free(r->at[a]);
    kb_free(r->value);
    kb_free(r->noise);
    kb_free(r);
}

/* ---------------------------------------------------------------- thinning */

/* The place of a point in the thin grid; n_points when it is left over. */
static size_t place_in(const kb_weak_grid_run *from, const kb_weak_grid_run *to, const size_t *cell, size_t point)
{
    size_t place = 0, stride = 1;
    for (size_t a = from->n_axes; a-- > 0; point /= from->n[a]) {
        size_t i = point % from->n[a] / cell[a];
        if (i >= to->n[a]) return to->n_points;
        place += i * stride;
        stride *= to->n[a];
    }
    return place;
}

kbass_status kb_weak_grid_run_thin(const kb_weak_grid_run *run, const size_t *cell, kb_weak_grid_run **out,
                                   kbass_error *error)
{
    size_t n[KB_MAX_AXES] = {0};
    double share = 1;
    for (size_t a = 0; a < run->n_axes; a++) {
        n[a] = run->n[a] / cell[a];
        share /= (double)cell[a];
    }
    kbass_status status = allocate(run->n_axes, run->n_fields, n, true, out, error);
    kb_weak_grid_run *r = *out;
    if (status != KBASS_OK) {
        kb_weak_grid_run_destroy(r);
        *out = NULL;
        return status;
    }
    for (size_t a = 0; a < run->n_axes; a++)
        for (size_t i = 0; i < n[a] * cell[a]; i++) r->at[a][i / cell[a]] += run->at[a][i] / (double)cell[a];
    measure_axes(r);
    for (size_t p = 0; p < run->n_points; p++) {
        size_t place = place_in(run, r, cell, p);
        for (size_t f = 0; place < r->n_points && f < r->n_fields; f++)
            r->value[place + f * r->n_points] += share * run->value[p + f * run->n_points];
    }
    for (size_t f = 0; f < r->n_fields; f++) r->noise[f] = share * run->noise[f];
    r->has_holes = run->has_holes;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- tiles */

/* Centres half a half width apart, from one half width inside the first point on. */
size_t kb_weak_place_centres(const kb_weak_grid_run *r, size_t axis, double half, double *centres)
{
    double room = r->extent[axis] - 2 * half;
    size_t n = room >= 0 ? 1 + (size_t)floor(room / (half / 2) + 1e-9) : 0;
    double offset = n ? (room - (double)(n - 1) * half / 2) / 2 : 0;
    for (size_t i = 0; centres && i < n; i++) centres[i] = r->at[axis][0] + half + offset + (double)i * half / 2;
    return n;
}

size_t kb_weak_first_after(const kb_weak_grid_run *r, size_t axis, double x)
{
    size_t low = 0, high = r->n[axis];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->at[axis][middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool kb_weak_has_room(const kb_weak_grid_run *r, const double *half, const size_t *n_centres)
{
    for (size_t a = 0; a < r->n_axes; a++)
        if (n_centres[a] < FEWEST_CENTRES || !(2 * half[a] >= (FEWEST_POINTS - 1e-6) * r->spacing[a])) return false;
    return true;
}

typedef struct {
    const kb_weak_form *form;
    const kb_weak_grid_run *run;
    const double *half, *length, *ratio;
    kb_run *progress;
    size_t n_centres[KB_MAX_AXES];
    double *centres[KB_MAX_AXES];
    double *value, *bare; /* of one tile */
    kb_bare_axes *axes;   /* of all tiles */
} pass;

/* The values of a range of times, fields one after another. */
static void cut(const pass *p, size_t first, size_t n, double *value)
{
    size_t slice = p->run->n_points / p->run->n[0];
    for (size_t f = 0; f < p->run->n_fields; f++)
        memcpy(value + f * n * slice, p->run->value + f * p->run->n_points + first * slice, n * slice * sizeof *value);
}

/* Bumps centre .. centre + n of time, with all of space. */
static kbass_status integrate_tile(const pass *p, size_t centre, size_t n, kb_weak_message *message, kbass_error *error)
{
    const kb_weak_grid_run *r = p->run;
    const double slack = 1e-9 * r->extent[0];
    size_t first = kb_weak_first_after(r, 0, p->centres[0][centre] - p->half[0] - slack),
           end = kb_weak_first_after(r, 0, p->centres[0][centre + n - 1] + p->half[0] + slack);
    kb_weak_tile tile = {.n_axes = r->n_axes, .n_fields = r->n_fields, .value = p->value, .noise = r->noise};
    for (size_t a = 0; a < r->n_axes; a++) {
        tile.n[a] = a ? r->n[a] : end - first;
        tile.at[a] = a ? r->at[a] : r->at[0] + first;
        tile.n_centres[a] = a ? p->n_centres[a] : n;
        tile.centre[a] = a ? p->centres[a] : p->centres[0] + centre;
        tile.half[a] = p->half[a];
    }
    cut(p, first, end - first, p->value);
    kbass_status status = KBASS_OK;
    if (p->bare) {
        kb_bare_scales scales = {.ratio = p->ratio};
        memcpy(scales.length, p->length, r->n_axes * sizeof *p->length);
        status = kb_bare_tile_evaluate(p->form->dictionary, &tile, &scales, p->axes, p->bare, error);
        tile.bare = p->bare;
    }
    return status == KBASS_OK ? kb_weak_tile_integrate(p->form, &tile, message, error) : status;
}

/* Tiles along time, all of them; of the bare field's a few, spread over the record. */
static kbass_status integrate_tiles(const pass *p, kb_weak_message *message, kbass_error *error)
{
    size_t n = p->n_centres[0], tiles = (n + TILE_CENTRES - 1) / TILE_CENTRES, every = 1;
    kbass_status status = KBASS_OK;
    if (p->bare && tiles > MOST_BARE_TILES) every = (tiles + MOST_BARE_TILES - 1) / MOST_BARE_TILES;
    for (size_t i = 0; status == KBASS_OK && i < tiles; i += every) {
        if (p->progress && kb_run_gives_up(p->progress)) break;
        size_t first = i * TILE_CENTRES, count = n - first < TILE_CENTRES ? n - first : TILE_CENTRES;
        status = integrate_tile(p, first, count, message, error);
    }
    return status;
}

static size_t tile_points(const pass *p)
{
    const kb_weak_grid_run *r = p->run;
    double rows = (2 + (TILE_CENTRES - 1) / 2.0) * p->half[0] / r->spacing[0] + 3, most = 0;
    for (size_t i = 0; i < r->n[0]; i++) { /* uneven rows: as many as any stretch of that length holds */
        size_t end = kb_weak_first_after(r, 0, r->at[0][i] + rows * r->spacing[0]);
        most = fmax(most, (double)(end - i) + 1);
    }
    return (size_t)fmin((double)r->n[0], most) * (r->n_points / r->n[0]);
}

kbass_status kb_weak_grid_run_integrate(const kb_weak_form *form, const kb_weak_grid_run *run, const double *half,
                                        const double *length, const double *ratio, kb_run *progress,
                                        kb_weak_message *message, kbass_error *error)
{
    kb_bare_axes axes = {0};
    pass p = {.form = form, .run = run, .half = half, .length = length, .ratio = ratio, .progress = progress};
    bool done = true;
    p.axes = &axes;
    if (length && run->has_holes) return KBASS_OK;
    for (size_t a = 0; a < run->n_axes; a++) {
        p.n_centres[a] = kb_weak_place_centres(run, a, half[a], NULL);
        p.centres[a] = KB_NEW(double, p.n_centres[a]);
        done = done && p.centres[a];
        if (p.centres[a]) kb_weak_place_centres(run, a, half[a], p.centres[a]);
    }
    size_t points = tile_points(&p);
    p.value = KB_NEW(double, points * run->n_fields);
    if (length) p.bare = KB_NEW(double, points * form->dictionary->n_variables);
    done = done && p.value && (p.bare || !length);
    kbass_status status = done ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    if (status == KBASS_OK && kb_weak_has_room(run, half, p.n_centres)) status = integrate_tiles(&p, message, error);
    for (size_t a = 0; a < run->n_axes; a++) kb_free(p.centres[a]);
    kb_free(p.value);
    kb_free(p.bare);
    kb_bare_axes_clear(&axes);
    return status;
}
