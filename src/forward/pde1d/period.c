/* Profiles of lines: their prior from the first data lines, and whether an axis closes on itself. */
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "forward/pde1d/method_of_lines.h"
#include "gp/scales.h"

enum { PERIOD_LINES = 12 };             /* lines: that choose the period */
enum { PERIODS = 12 };                  /* values: of the period that are tried, over a spacing and a half */
static const double unusual_period = 3; /* nats: what a parameter costs that the data may choose within a spacing */

/* Data lines gathered for the profile's prior. */
typedef struct {
    size_t n, n_values;
    kb_data_line *lines;
    double *coordinate, *value, *root;
} bundle;

static void bundle_clear(bundle *b)
{
    kb_free(b->lines);
    kb_free(b->coordinate);
    kb_free(b->value);
    kb_free(b->root);
}

static void end_line(bundle *b, size_t begin)
{
    b->lines[b->n++] = (kb_data_line){b->n_values - begin, b->coordinate + begin, b->value + begin, b->root + begin};
}

/* The first data lines of every field, `each` at most; scattered points are gathered into lines of a dozen. */
static void add_first_lines(const kb_field_samples *c, size_t each, bundle *b)
{
    size_t wanted = c->gridded ? 1 : 12;
    for (size_t f = 0; f < c->n_fields; f++) {
        size_t begin = b->n_values, own = 0;
        for (size_t p = 0; p < c->n_points && own < each; p++) {
            bool new_row = p > 0 && c->point[p] > c->point[p - 1];
            if (new_row && b->n_values - begin >= wanted) {
                end_line(b, begin);
                begin = b->n_values;
                own++;
            }
            if (own == each || c->measured[p + f * c->n_points] == 0) continue;
            b->coordinate[b->n_values] = c->point[p + c->n_points];
            b->value[b->n_values] = c->value[p + f * c->n_points];
            b->root[b->n_values++] = kb_field_samples_root(c, p + f * c->n_points);
        }
        if (own < each && b->n_values > begin) end_line(b, begin);
    }
}

static double mean_spacing(size_t n, kb_field_samples *const *run_samples)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += run_samples[i]->spacing[1];
    return sum / (double)n;
}

double kb_pde1d_shortest(size_t n, kb_field_samples *const *run_samples)
{
    return KB_SHORTEST_SCALE * mean_spacing(n, run_samples);
}

static kbass_status no_length_scale(size_t refusals, const char *message, kbass_error *error)
{
    if (kb_memory_refusals() != refusals) return kb_out_of_memory(error, "the profile's length scale");
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "%s", message);
}

kbass_status kb_pde1d_profile(size_t n, kb_field_samples *const *run_samples, const kb_pde1d_settings *settings,
                              size_t most_lines, double shortest, kb_profile *profile, kbass_error *error)
{
    size_t values = 1;
    for (size_t i = 0; i < n; i++) values += run_samples[i]->n_values;
    size_t refusals = kb_memory_refusals();
    bundle b = {.lines = KB_NEW(kb_data_line, (most_lines + 1) * run_samples[0]->n_fields * n),
                .coordinate = KB_NEW(double, values),
                .value = KB_NEW(double, values),
                .root = KB_NEW(double, values)};
    bool done = b.lines && b.coordinate && b.value && b.root;
    *profile = (kb_profile){.period = settings->periodic ? settings->period : KB_OPEN_PERIOD};
    if (done) {
        for (size_t i = 0; i < n; i++) add_first_lines(run_samples[i], most_lines, &b);
        done = kb_profile_fit(profile, b.n, b.lines, shortest, KB_PDE1D_MODES);
    }
    bundle_clear(&b);
    return done ? KBASS_OK : no_length_scale(refusals, "no length scale fits the first lines of the data", error);
}

/* One line of a grid. */
static void add_line(const kb_field_samples *c, size_t field, size_t row, bundle *b)
{
    size_t begin = b->n_values;
    for (size_t p = row * c->n_grid[1]; p < (row + 1) * c->n_grid[1]; p++) {
        if (c->measured[p + field * c->n_points] == 0) continue;
        b->coordinate[b->n_values] = c->point[p + c->n_points];
        b->value[b->n_values] = c->value[p + field * c->n_points];
        b->root[b->n_values++] = kb_field_samples_root(c, p + field * c->n_points);
    }
    if (b->n_values > begin) end_line(b, begin);
}

kbass_status kb_pde1d_profile_throughout(const kb_field_samples *c, const kb_pde1d_settings *settings, size_t n_lines,
                                         double shortest, kb_profile *profile, kbass_error *error)
{
    size_t values = n_lines * c->n_fields * c->n_grid[1], last = c->n_grid[0] - 1, refusals = kb_memory_refusals();
    bundle b = {.lines = KB_NEW(kb_data_line, n_lines * c->n_fields),
                .coordinate = KB_NEW(double, values),
                .value = KB_NEW(double, values),
                .root = KB_NEW(double, values)};
    bool done = b.lines && b.coordinate && b.value && b.root;
    *profile = (kb_profile){.period = settings->periodic ? settings->period : KB_OPEN_PERIOD};
    for (size_t f = 0; done && f < c->n_fields; f++)
        for (size_t i = 0; i < n_lines; i++) add_line(c, f, n_lines > 1 ? i * last / (n_lines - 1) : 0, &b);
    done = done && b.n && kb_profile_fit_few(profile, b.n, b.lines, shortest, KB_PDE1D_MOST_MODES);
    bundle_clear(&b);
    return done ? KBASS_OK : no_length_scale(refusals, "no length scale fits the lines of the data", error);
}

double kb_pde1d_period_loss(size_t n, kb_field_samples *const *run_samples, double period)
{
    double beyond = (period - 1) / mean_spacing(n, run_samples);
    bool is_usual = fabs(beyond) < 1e-9 || fabs(beyond - 1) < 1e-9, gridded = true;
    for (size_t i = 0; i < n; i++) gridded = gridded && run_samples[i]->gridded;
    return gridded && !is_usual ? unusual_period : 0;
}

kbass_status kb_pde1d_find_period(size_t n, kb_field_samples *const *run_samples, int known,
                                  kb_pde1d_settings *settings, kbass_error *error)
{
    kb_profile profile;
    kb_pde1d_settings trial = *settings;
    double best = INFINITY, shortest = kb_pde1d_shortest(n, run_samples);
    trial.periodic = false;
    settings->periodic = false;
    kbass_status status = kb_pde1d_profile(n, run_samples, &trial, PERIOD_LINES, shortest, &profile, error);
    if (status == KBASS_OK && known <= 0) best = profile.loss;
    for (int i = 0; status == KBASS_OK && known >= 0 && i <= PERIODS; i++) {
        trial.periodic = true;
        trial.period = 1 + 1.5 * mean_spacing(n, run_samples) * i / PERIODS;
        status = kb_pde1d_profile(n, run_samples, &trial, PERIOD_LINES, shortest, &profile, error);
        if (status != KBASS_OK || !(profile.loss < best)) continue;
        best = profile.loss;
        *settings = trial;
    }
    return status;
}
