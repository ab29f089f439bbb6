#include "problem/run_samples.h"

#include "base/memory.h"
#include "base/status.h"
#include "forward/pde1d/profile.h"
#include "gp/scales.h"

enum { LINES = 12 };          /* lines: that tell whether an axis closes */
enum { MODES = 61 };          /* modes: of the profile that tells it */
static const double sure = 3; /* nats per field by which a closed axis has to be likelier */

kbass_status kb_run_samples_create(const kbass_data *data, const kbass_settings *settings,
                                   const kb_dictionary *dictionary, kb_field_samples **run_samples, bool *is_one,
                                   kbass_error *error)
{
    size_t most[KB_SAMPLE_AXES] = {0};
    kbass_status status = kb_field_samples_create_runs(data, settings->noise, run_samples, is_one, error);
    for (size_t run = 0; status == KBASS_OK && run < kbass_data_runs(data); run++) {
        kb_field_samples *c = run_samples[run];
        status = kb_noise_read_model(data, settings, dictionary->has_equation, c->mean, c->sd, &c->noise_model,
                                     c->known_variance, error);
        for (size_t a = 0; a < c->n_axes; a++)
            if (c->n_grid[a] > most[a]) most[a] = c->n_grid[a];
    }
    return status == KBASS_OK ? kb_dictionary_check_points(dictionary, most, error) : status;
}

/* ---------------------------------------------------------------- axes that close */

/* Values of a field along an axis of a grid: the line through a point of its first place. */
static kb_data_line line_through(const kb_field_samples *c, size_t field, size_t axis, size_t point, size_t stride,
                                 double *values, double *roots)
{
    size_t n = c->n_grid[axis];
    for (size_t i = 0; i < n; i++) {
        size_t at = point + i * stride + field * c->n_points;
        values[i] = c->value[at];
        roots[i] = c->measured[at] == 0 ? 0 : kb_field_samples_root(c, at);
    }
    return (kb_data_line){n, c->grid[axis], values, roots};
}

/* Lines spread over the record: `each` of every field; values and roots: their room. */
static size_t gather_lines(const kb_field_samples *c, size_t axis, size_t each, kb_data_line *lines, double *values,
                           double *roots)
{
    size_t n = c->n_grid[axis], stride = 1, found = 0, all = c->n_points / n;
    for (size_t a = axis + 1; a < c->n_axes; a++) stride *= c->n_grid[a];
    for (size_t f = 0; f < c->n_fields; f++)
        for (size_t i = 0; i < each; i++, found++) {
            size_t which = i * all / each, point = which / stride * stride * n + which % stride;
            lines[found] = line_through(c, f, axis, point, stride, values + found * n, roots + found * n);
        }
    return found;
}

/* Minus the log likelihood of the lines on modes of some period. */
static double loss(const kb_field_samples *c, size_t axis, size_t n, const kb_data_line *lines, double period)
{
    kb_profile profile = {.period = period};
    return kb_profile_fit(&profile, n, lines, KB_SHORTEST_SCALE * c->spacing[axis], MODES) ? profile.loss : INFINITY;
}

/* Periods that an axis may have: its ends meet, or do so one spacing on; of a part also as the whole axis does. */
static size_t list_periods(const kb_field_samples *c, const kb_tiled *tiles, size_t axis, double *periods)
{
    periods[0] = 1;
    periods[1] = 1 + c->spacing[axis];
    if (!tiles) return 2;
    const double *x = tiles->at[axis];
    size_t n = tiles->n[axis];
    double whole = (x[n - 1] - x[0]) / c->span[axis];
    periods[2] = whole;
    periods[3] = whole * (double)n / (double)(n - 1);
    return whole < 1 + 1.5 * c->spacing[axis] ? 4 : 2; /* not a stretch of it */
}

static void find_period(kb_field_samples *c, const kb_tiled *tiles, size_t axis, size_t n, const kb_data_line *lines)
{
    double periods[4], least = INFINITY, best = 1;
    size_t n_periods = list_periods(c, tiles, axis, periods);
    for (size_t i = 0; i < n_periods; i++) {
        double found = loss(c, axis, n, lines, periods[i]);
        if (found < least) least = found, best = periods[i];
    }
    c->periodic[axis] = least < loss(c, axis, n, lines, KB_OPEN_PERIOD) - sure * (double)c->n_fields;
    if (c->periodic[axis]) c->period[axis] = best;
}

kbass_status kb_field_samples_find_periodic(kb_field_samples *c, const kb_tiled *tiles, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t axis = 1; status == KBASS_OK && c->gridded && axis < c->n_axes; axis++) {
        size_t all = c->n_points / c->n_grid[axis], each = all < LINES ? all : LINES, room = each * c->n_fields;
        kb_data_line *lines = KB_NEW(kb_data_line, room);
        double *values = KB_NEW(double, room * c->n_grid[axis]), *roots = KB_NEW(double, room * c->n_grid[axis]);
        if (lines && values && roots) {
            size_t n = gather_lines(c, axis, each, lines, values, roots);
            find_period(c, tiles, axis, n, lines);
        } else {
            status = kb_out_of_memory(error, "the axes");
        }
        kb_free(lines);
        kb_free(values);
        kb_free(roots);
    }
    return status;
}
