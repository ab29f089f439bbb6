/* Results of fields that no expression starts: from the rows at nodes that posteriors of several axes keep, or, along
 * one open axis, from the solution over the record. At open ends the fields are what they were there.
 */
#include "simulate/result_rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "gp/curve.h"
#include "simulate/result_file.h"

enum { OPEN_NODES = 48, MOST_NODES = 4096 };

typedef struct {
    const char *path;
    json_t *root, *part; /* part: the posterior, of several runs the first one's */
    size_t n_fields;
    kb_pde_box box;
    kbass_error *error;
} rows;

static kbass_status wrong(const rows *r, const char *field) /* what is missing there */
{
    return kb_result_file_wrong(r->path, field, "what a field starts from", r->error);
}

/* A list of n finite numbers. */
static bool read_list(json_t *list, size_t n, double *out)
{
    if (json_array_size(list) != n) return false;
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_array_get(list, i);
        out[i] = json_number_value(item);
        if (!json_is_number(item) || !isfinite(out[i])) return false;
    }
    return true;
}

static kbass_status name_axes(rows *r)
{
    json_t *axes = json_object_get(json_object_get(r->root, "data"), "axes");
    r->box.n_axes = json_array_size(axes);
    if (r->box.n_axes < 2 || r->box.n_axes > KBASS_MAX_AXES) return wrong(r, "data.axes");
    for (size_t a = 0; a < r->box.n_axes; a++) {
        r->box.name[a] = json_string_value(json_array_get(axes, a));
        if (!r->box.name[a]) return wrong(r, "data.axes");
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- rows of a posterior */

static kbass_status read_box(rows *r, size_t counts[KB_MOST_SPACE])
{
    json_t *grid = json_object_get(r->part, "grid"), *nodes = json_object_get(grid, "nodes");
    json_t *closed = json_object_get(grid, "closed");
    size_t space = r->box.n_axes - 1, all = 1;
    if (!read_list(json_object_get(grid, "low"), space, r->box.low + 1) ||
        !read_list(json_object_get(grid, "high"), space, r->box.high + 1) || json_array_size(nodes) != space ||
        json_array_size(closed) != space)
        return wrong(r, "posterior.grid");
    for (size_t d = 0; d < space; d++) {
        json_int_t n = json_integer_value(json_array_get(nodes, d));
        if (n < 2 || n > MOST_NODES || !(r->box.low[d + 1] < r->box.high[d + 1])) return wrong(r, "posterior.grid");
        counts[d] = (size_t)n;
        all *= counts[d];
        r->box.boundary[d] = json_is_true(json_array_get(closed, d)) ? KB_PERIODIC : KB_DIRICHLET;
    }
    return all <= 100 * MOST_NODES ? KBASS_OK : wrong(r, "posterior.grid");
}

/* Fields fastest in the file, nodes in the table. */
static bool fill_rows(const rows *r, json_t *start, kb_pde_table *t)
{
    size_t F = r->n_fields, n = t->n, size = n * F;
    double *values = KB_NEW(double, t->n_slices *size);
    bool is_good = values && read_list(json_object_get(start, "times"), t->n_slices, t->times) &&
                   read_list(json_object_get(start, "values"), t->n_slices * size, values);
    for (size_t i = 0; is_good && i < t->n_slices * size; i++)
        t->values[i / size * size + i % F * n + i % size / F] = values[i];
    if (is_good && t->rates) is_good = read_list(json_object_get(start, "rates"), size, values);
    for (size_t i = 0; is_good && t->rates && i < size; i++) t->rates[i % F * n + i / F] = values[i];
    for (size_t s = 1; is_good && s < t->n_slices; s++) is_good = t->times[s] > t->times[s - 1];
    kb_free(values);
    return is_good;
}

static kbass_status rows_of_posterior(rows *r, kb_pde_table **out)
{
    json_t *start = json_object_get(r->part, "start"), *times = json_object_get(start, "times");
    json_t *last = json_object_get(r->part, "last");
    size_t counts[KB_MOST_SPACE], slices = json_array_size(times);
    kbass_status status = read_box(r, counts);
    if (status == KBASS_OK && !slices) status = wrong(r, "posterior.start.times");
    r->box.low[0] = json_number_value(json_array_get(times, 0));
    r->box.high[0] = json_number_value(last ? json_array_get(last, 0)
                                            : json_object_get(json_object_get(r->root, "data"), "last_time"));
    if (status == KBASS_OK && !(r->box.low[0] < r->box.high[0])) status = wrong(r, "data.last_time");
    if (status == KBASS_OK)
        status = kb_pde_table_create(&r->box, counts, r->n_fields, slices,
                                     json_array_size(json_object_get(start, "rates")) > 0, out, r->error);
    if (status == KBASS_OK && !fill_rows(r, start, *out)) status = wrong(r, "posterior.start");
    return status;
}

/* ---------------------------------------------------------------- the solution along one open axis */

/* One field's lines, each a curve through its points, at the nodes. */
static kbass_status fill_field(const kb_pde_table *t, size_t field, size_t n, const double *places,
                               const double *values, kbass_error *error)
{
    for (size_t s = 0; s < t->n_slices; s++) {
        kb_curve curve;
        if (!kb_curve_create(n, places, values + s * n, false, &curve)) return kb_out_of_memory(error, "the start");
        for (size_t i = 0; i < t->n; i++)
            t->values[(s * t->n_fields + field) * t->n + i] = kb_curve_at(&curve, t->axes[0].at[i], NULL);
        kb_curve_clear(&curve);
    }
    return KBASS_OK;
}

static kbass_status rows_of_solution(rows *r, kb_pde_table **out)
{
    json_t *solution = json_object_get(r->root, "solution"), *axes = json_object_get(solution, "axes");
    json_t *times = json_object_get(axes, r->box.name[0]), *places = json_object_get(axes, r->box.name[1]);
    json_t *means = json_object_get(solution, "mean"), *runs = json_object_get(solution, "run"), *field;
    size_t n_runs = 1, counts[] = {OPEN_NODES}, f = 0;
    const char *name;
    if (json_array_size(runs)) n_runs = 1 + (size_t)json_integer_value(json_array_get(runs, json_array_size(runs) - 1));
    size_t n_t = json_array_size(times) / n_runs, n_x = json_array_size(places) / n_runs;
    if (n_t < 2 || n_x < 4 || json_object_size(means) < r->n_fields) return wrong(r, "solution");
    double *x = KB_NEW(double, n_x *n_runs), *t = KB_NEW(double, n_t *n_runs);
    double *u = KB_NEW(double, n_t *n_x *n_runs);
    kbass_status status = x && t && u ? KBASS_OK : kb_out_of_memory(r->error, "the start");
    if (status == KBASS_OK && (!read_list(times, n_t * n_runs, t) || !read_list(places, n_x * n_runs, x)))
        status = wrong(r, "solution.axes");
    if (status == KBASS_OK) {
        r->box.low[0] = t[0], r->box.high[0] = t[n_t - 1];
        r->box.low[1] = x[0], r->box.high[1] = x[n_x - 1];
        r->box.boundary[0] = KB_DIRICHLET;
        status = kb_pde_table_create(&r->box, counts, r->n_fields, n_t, false, out, r->error);
    }
    if (status == KBASS_OK) memcpy((*out)->times, t, n_t * sizeof *t);
    json_object_foreach(means, name, field)
    {
        if (status != KBASS_OK || f == r->n_fields) break;
        status = read_list(field, n_t * n_x * n_runs, u) ? fill_field(*out, f++, n_x, x, u, r->error)
                                                         : wrong(r, "solution.mean");
    }
    kb_free(x);
    kb_free(t);
    kb_free(u);
    return status;
}

/* ---------------------------------------------------------------- the door */

kbass_status kb_result_rows(const char *path, json_t *root, size_t n_equations, const char *const *equations,
                            kb_pde **pde, kbass_error *error)
{
    json_t *first = json_array_get(json_object_get(root, "run_posteriors"), 0);
    rows r = {.path = path,
              .root = root,
              .part = first ? first : json_object_get(root, "posterior"),
              .n_fields = n_equations,
              .error = error};
    kb_pde_table *table = NULL;
    kbass_status status = name_axes(&r);
    if (status == KBASS_OK && json_array_size(json_object_get(json_object_get(root, "data"), "states")) != n_equations)
        status = kb_fail(error, KBASS_ERROR_DATA, "%s: every field needs an equation to be followed", path);
    bool has_start = json_is_object(json_object_get(r.part, "start"));
    if (status == KBASS_OK && !has_start && r.box.n_axes > 2) status = wrong(&r, "posterior.start");
    if (status == KBASS_OK) status = has_start ? rows_of_posterior(&r, &table) : rows_of_solution(&r, &table);
    if (status == KBASS_OK) return kb_pde_create(n_equations, equations, &r.box, table, pde, error);
    kb_pde_table_destroy(table);
    return status;
}
