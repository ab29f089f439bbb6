/* Long records of a PDE: solved in stretches of time, each to the accuracy of kb_pde_sample from where the one
 * before it ended, and handed over as they come; chaos cannot be followed to that accuracy over the whole. Resolution
 * is looked for in the first two stretches and now and then, and kept between.
 */
#include "simulate/record.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "data/array_file.h"

enum { STRETCH = 1 << 16 /* points */, FEWEST_ROWS = 8, CHECKED = 64 /* stretches */, NOISY = 1 << 16 /* values */ };
static const kb_resolution accurate = {.wanted = 1e-7, .tolerated = 1e-6};

typedef struct {
    const kb_pde *pde;
    const size_t *counts;
    size_t n_space, n_rows; /* grid points of one time; times of a stretch */
    size_t most;            /* points in a stretch, nodes included */
    kb_pde *next;           /* from the end of the last stretch; NULL: the first */
    kb_resolution resolution;
    double *points, *values;
} record;

/* ---------------------------------------------------------------- points */

static double time_of(const record *r, size_t row) { return kb_pde_even_point(&r->pde->axes[0], row, r->counts[0]); }

static void place_rows(const record *r, size_t first, size_t n)
{
    size_t axes = r->pde->n_axes;
    for (size_t i = 0; i < n * r->n_space; i++) {
        size_t rest = i % r->n_space;
        r->points[i * axes] = time_of(r, first + i / r->n_space);
        for (size_t d = axes; d-- > 1; rest /= r->counts[d])
            r->points[i * axes + d] = kb_pde_even_point(&r->pde->axes[d], rest % r->counts[d], r->counts[d]);
    }
}

/* ---------------------------------------------------------------- from one stretch to the next */

static kb_pde_box box_from(const record *r, double time)
{
    kb_pde_box box = {.n_axes = r->pde->n_axes};
    for (size_t d = 0; d < r->pde->n_axes; d++) {
        box.name[d] = r->pde->axes[d].name;
        box.low[d] = d ? r->pde->axes[d].low : time;
        box.high[d] = r->pde->axes[d].high;
        if (d) box.boundary[d - 1] = r->pde->boundary[d - 1];
    }
    return box;
}

static kbass_status make_table(const record *r, double time, kb_pde_table **table, kbass_error *error)
{
    kb_pde_box box = box_from(r, time);
    size_t nodes[KB_MOST_SPACE];
    for (size_t d = 0; d < r->pde->n_space; d++) nodes[d] = r->resolution.n;
    kbass_status status = kb_pde_table_create(&box, nodes, r->pde->n_fields, 1, false, table, error);
    if (status == KBASS_OK) (*table)->times[0] = time;
    return status;
}

/* The solution at rows of a stretch and, behind them, at the nodes of the table, unless it is NULL. */
static kbass_status follow(record *r, kb_resolution *resolution, size_t first, size_t n, const kb_pde_table *table,
                           kbass_error *error)
{
    size_t rows = n * r->n_space, axes = r->pde->n_axes, nodes = table ? table->n : 0;
    if (rows + nodes > r->most) {
        kb_free(r->points);
        kb_free(r->values);
        r->most = rows + nodes;
        r->points = KB_NEW(double, r->most *axes);
        r->values = KB_NEW(double, r->most * r->pde->n_fields);
    }
    if (!r->points || !r->values) return kb_out_of_memory(error, "the record");
    place_rows(r, first, n);
    for (size_t i = 0; i < nodes; i++) {
        r->points[(rows + i) * axes] = table->times[0];
        kb_pde_table_node(table, i, r->points + (rows + i) * axes + 1);
    }
    return kb_pde_follow(r->next ? r->next : r->pde, resolution, rows + nodes, r->points, r->values, error);
}

/* The table's values, and the PDE that goes on from them; the table is its own from then on. */
static kbass_status carry_on(record *r, const double *values, kb_pde_table *table, kbass_error *error)
{
    size_t F = r->pde->n_fields;
    kb_pde_box box = box_from(r, table->times[0]);
    kb_pde *next = NULL;
    for (size_t i = 0; i < table->n * F; i++) table->values[i % F * table->n + i / F] = values[i];
    kbass_status status = kb_pde_create(F, (const char *const *)r->pde->equations, &box, table, &next, error);
    if (status != KBASS_OK) return status;
    kb_pde_destroy(r->next);
    r->next = next;
    return KBASS_OK;
}

/* One stretch: its rows are r->values, and r->next begins where it ends. */
static kbass_status pass_stretch(record *r, size_t stretch, size_t first, size_t n, kb_rows_taker take, void *user,
                                 kbass_error *error)
{
    bool is_checked = stretch < 2 || stretch % CHECKED == 0, is_last = first + n == r->counts[0];
    kb_resolution own = is_checked ? accurate : r->resolution;
    kb_pde_table *table = NULL;
    kbass_status status = KBASS_OK;
    if (!r->resolution.n) { /* how many nodes it takes is not known yet */
        status = follow(r, &own, first, n, NULL, error);
        r->resolution = own;
    }
    if (status == KBASS_OK && !is_last) status = make_table(r, time_of(r, first + n), &table, error);
    if (status == KBASS_OK) status = follow(r, &own, first, n, table, error);
    if (status != KBASS_OK && !is_checked) { /* finer than before */
        own = accurate;
        status = follow(r, &own, first, n, table, error);
    }
    if (own.n < r->resolution.n) own.n = r->resolution.n;
    r->resolution = own;
    if (status == KBASS_OK) status = take(user, first, n, r->values, error);
    if (status == KBASS_OK && !is_last) return carry_on(r, r->values + n * r->n_space * r->pde->n_fields, table, error);
    kb_pde_table_destroy(table);
    return status;
}

/* ---------------------------------------------------------------- life */

static kbass_status check(const record *r, kbass_error *error)
{
    const kb_pde *pde = r->pde;
    for (size_t f = 0; f < pde->n_fields; f++)
        if (pde->is_second[f])
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "equations of second order in time are written as a table, at most 1000000 points: --output "
                           "FILE.csv");
    for (size_t d = 0; d < pde->n_axes; d++)
        if (r->counts[d] < 2)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "a grid of %zu points along %s: needed 2 or more", r->counts[d],
                           pde->axes[d].name);
    if (r->n_space > STRETCH * 32)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%zu points of one time: needed at most %d", r->n_space,
                       STRETCH * 32);
    return KBASS_OK;
}

kbass_status kb_pde_record(const kb_pde *pde, const size_t *counts, kb_rows_taker take, void *user, kbass_error *error)
{
    record r = {.pde = pde, .counts = counts, .n_space = 1, .resolution = accurate};
    for (size_t d = 1; d < pde->n_axes; d++) r.n_space *= counts[d];
    kbass_status status = check(&r, error);
    if (status != KBASS_OK) return status;
    r.n_rows = STRETCH / r.n_space > FEWEST_ROWS ? STRETCH / r.n_space : FEWEST_ROWS;
    for (size_t first = 0, stretch = 0; status == KBASS_OK && first < counts[0]; first += r.n_rows, stretch++) {
        size_t n = counts[0] - first < r.n_rows ? counts[0] - first : r.n_rows;
        status = pass_stretch(&r, stretch, first, n, take, user, error);
    }
    kb_pde_destroy(r.next);
    kb_free(r.points);
    kb_free(r.values);
    return status;
}

/* ---------------------------------------------------------------- into a file */

typedef struct {
    kb_array_file file;
    const kb_pde *pde;
    size_t n_space, n_axes; /* points of a time; arrays before the fields */
    double *column;         /* of one field */
    double *sum, *squares;  /* by field */
    double n;
} writing;

static kbass_status write_rows(void *user, size_t first, size_t n, const double *values, kbass_error *error)
{
    writing *w = user;
    size_t F = w->pde->n_fields, points = n * w->n_space;
    kbass_status status = KBASS_OK;
    for (size_t f = 0; status == KBASS_OK && f < F; f++) {
        for (size_t i = 0; i < points; i++) {
            double value = w->column[i] = values[i * F + f];
            w->sum[f] += value;
            w->squares[f] += value * value;
        }
        status = kb_array_file_put(&w->file, w->n_axes + f, first * w->n_space, points, w->column, error);
    }
    w->n += (double)points;
    return status;
}

static kbass_status write_axes(const writing *w, const size_t *counts, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t d = 0; status == KBASS_OK && d < w->n_axes; d++)
        for (size_t i = 0; status == KBASS_OK && i < counts[d]; i++) {
            double at = kb_pde_even_point(&w->pde->axes[d], i, counts[d]);
            status = kb_array_file_put(&w->file, d, i, 1, &at, error);
        }
    return status;
}

/* In a second pass, when the fields' standard deviations are known. */
static kbass_status add_noise(const writing *w, size_t n, double percent, uint64_t seed, kbass_error *error)
{
    kb_random random;
    double *piece = KB_NEW(double, NOISY);
    kbass_status status = piece ? KBASS_OK : kb_out_of_memory(error, "adding noise");
    kb_random_seed(&random, seed);
    for (size_t f = 0; status == KBASS_OK && f < w->pde->n_fields; f++) {
        double mean = w->sum[f] / w->n, sd = percent / 100 * sqrt(fmax(w->squares[f] / w->n - mean * mean, 0));
        for (size_t first = 0; status == KBASS_OK && first < n; first += NOISY) {
            size_t count = n - first < NOISY ? n - first : NOISY;
            status = kb_array_file_get(&w->file, w->n_axes + f, first, count, piece, error);
            for (size_t i = 0; i < count; i++) piece[i] += sd * kb_random_normal(&random);
            if (status == KBASS_OK) status = kb_array_file_put(&w->file, w->n_axes + f, first, count, piece, error);
        }
    }
    kb_free(piece);
    return status;
}

/* Axes, then fields over all of them; an NPY has the field alone. */
static kbass_status create(writing *w, const char *path, const size_t *counts, kbass_error *error)
{
    const kb_pde *pde = w->pde;
    kb_stored_array arrays[KBASS_MAX_AXES + KB_MOST_DIMS] = {0};
    w->n_axes = kb_file_kind_of(path) == KB_NPY_FILE ? 0 : pde->n_axes;
    if (pde->n_fields > KB_MOST_DIMS)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%zu fields are too many", pde->n_fields);
    for (size_t d = 0; d < w->n_axes; d++)
        arrays[d] = (kb_stored_array){.name = pde->axes[d].name, .n_dims = 1, .dims = {counts[d]}};
    for (size_t f = 0; f < pde->n_fields; f++) {
        kb_stored_array *array = &arrays[w->n_axes + f];
        *array = (kb_stored_array){.name = pde->names[f], .n_dims = pde->n_axes};
        for (size_t d = 0; d < pde->n_axes; d++) array->dims[d] = counts[d];
    }
    return kb_array_file_create(path, w->n_axes + pde->n_fields, arrays, &w->file, error);
}

static kbass_status check_noise(double percent, kbass_error *error)
{
    if (percent >= 0 && percent <= 1000) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise of %g percent: a number from 0 to 1000 is needed", percent);
}

kbass_status kb_pde_write(const kb_pde *pde, const size_t *counts, double noise, uint64_t seed, const char *path,
                          kbass_error *error)
{
    writing w = {.pde = pde, .n_space = 1};
    size_t count[KBASS_MAX_AXES] = {0}, n = 1;
    for (size_t d = 0; d < pde->n_axes; d++) {
        count[d] = counts ? counts[d] : pde->axes[d].n_samples;
        if (!count[d] || __builtin_mul_overflow(n, count[d], &n) || n > SIZE_MAX / 64)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "a grid of %zu points along %s is too large", count[d],
                           pde->axes[d].name);
        if (d) w.n_space *= count[d];
    }
    size_t rows = STRETCH / w.n_space > FEWEST_ROWS ? STRETCH / w.n_space : FEWEST_ROWS;
    kbass_status status = check_noise(noise, error);
    if (status == KBASS_OK) status = create(&w, path, count, error);
    if (status != KBASS_OK) return status;
    w.column = KB_NEW(double, rows *w.n_space);
    w.sum = KB_NEW(double, pde->n_fields);
    w.squares = KB_NEW(double, pde->n_fields);
    if (!w.column || !w.sum || !w.squares) status = kb_out_of_memory(error, "the record");
    if (status == KBASS_OK) status = write_axes(&w, count, error);
    if (status == KBASS_OK) status = kb_pde_record(pde, count, write_rows, &w, error);
    if (status == KBASS_OK && noise > 0) status = add_noise(&w, n, noise, seed, error);
    kb_free(w.column);
    kb_free(w.sum);
    kb_free(w.squares);
    return kb_array_file_end(&w.file, status, error);
}
