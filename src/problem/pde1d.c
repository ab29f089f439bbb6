#include "problem/pde1d.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "problem/run_samples.h"
#include "gp/bare_field.h"
#include "gp/mesh.h"
#include "collocation/collocation.h"
#include "collocation/refine_mesh.h"

enum { SAMPLE = 2000 };                    /* points: at which terms are scaled */
enum { PROFILE_LINES = 5 };                /* lines: that choose the profile's length scale */
enum { LEAST_STEPS = 2 };                  /* steps: between two lines */
static const double steps_per_change = 12; /* steps: while the field changes by its sd */
static const double most_steps = 16;       /* steps: between two lines */
static const double profile_share = 0.8; /* of a squared exponential's length scale: a Matern-5/2 profile's on grids */
static const double slope_square = 25; /* (dq/ds)^2 of a field that changes by its own size in a fifth of the record */

/* The run of the i-th of all points, which becomes its own. */
static size_t run_of_point(const kb_pde1d_problem *l, size_t *i)
{
    size_t run = 0;
    while (*i >= l->run_samples[run]->n_points) *i -= l->run_samples[run++]->n_points;
    return run;
}

/* Fields from random data points, derivatives N(0, (sd / length^order)^2), axes where the point lies. */
static void sample_variables(const kb_pde1d_problem *l, kb_random *random, double *points)
{
    double n_points = 0;
    for (size_t run = 0; run < l->n_runs; run++) n_points += (double)l->run_samples[run]->n_points;
    for (size_t k = 0; k < SAMPLE; k++) {
        size_t p = (size_t)(kb_random_uniform(random) * n_points), run = run_of_point(l, &p);
        const kb_field_samples *c = l->run_samples[run];
        for (size_t v = 0; v < l->dictionary->n_variables; v++) {
            const kb_variable *variable = &l->dictionary->variables[v];
            size_t f = variable->field;
            double value = c->sd[variable->axis < 0 ? f : 0], order = 0;
            if (variable->axis >= 0) {
                value = c->first[variable->axis] +
                        c->span[variable->axis] * c->point[p + (size_t)variable->axis * c->n_points];
            } else {
                for (size_t a = 1; a < c->n_axes; a++) {
                    value /= pow(l->setups[run].profile.length * c->span[a], variable->order[a]);
                    order += variable->order[a];
                }
                value =
                    order > 0 ? value * kb_random_normal(random) : c->mean[f] + value * c->value[p + f * c->n_points];
            }
            points[k + v * SAMPLE] = value;
        }
    }
}

/* Steps between two lines: the more, the more the field changes from one to the next, noise apart. A grid's points
   are compared with the same place on the line before; scattered ones take the least. */
size_t kb_pde1d_problem_steps(const kb_field_samples *c, double noise, size_t least)
{
    double squares = 0, n = 0;
    size_t line = c->n_grid[1];
    for (size_t p = line; c->gridded && p < c->n_points; p++)
        for (size_t f = 0; f < c->n_fields; f++) {
            size_t at = p + f * c->n_points;
            if (c->measured[at] == 0 || c->measured[at - line] == 0) continue;
            double a = kb_field_samples_root(c, at), b = kb_field_samples_root(c, at - line),
                   weight = 2 * a * a * b * b / (a * a + b * b);
            squares += weight * pow(c->value[at] - c->value[at - line], 2) - 2 * noise;
            n += weight;
        }
    double change = n > 0 ? sqrt(fmax(squares / n, 0)) : 0;
    return (size_t)fmin(fmax(ceil(steps_per_change * change), (double)least), most_steps);
}

/* Scattered points make lines of a dozen at different times, from which a length scale comes out too short by chance:
   that of the field over time and space bounds it from below. */
static kbass_status find_shortest(size_t n, kb_field_samples *const *run_samples, double *shortest, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double sum = 0;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        double own = kb_pde1d_shortest(1, run_samples + i);
        kb_bare_field *gp = NULL;
        if (!run_samples[i]->gridded) status = kb_bare_field_fit(run_samples[i], KB_KERNEL_SE, &gp, error);
        if (gp) own = fmax(own, profile_share * gp->length[1]);
        kb_bare_field_destroy(gp);
        sum += own;
    }
    *shortest = sum / (double)n;
    return status;
}

size_t kb_pde1d_problem_domain_end(const kb_pde1d_problem *l, size_t run)
{
    return l->has_one_domain ? l->n_runs : run + 1;
}

/* Period and profile of the runs on one domain. */
static kbass_status survey_domain(kb_pde1d_problem *l, size_t first, size_t end, const kbass_data *data,
                                  kbass_error *error)
{
    const kbass_settings *settings = l->settings;
    kb_pde1d_setup shared = {0};
    kbass_status status = KBASS_OK;
    double shortest = 0;
    for (size_t run = first; status == KBASS_OK && run < end; run++)
        status = kb_field_samples_read_periodic(l->run_samples[run], data, settings->periodic, error);
    int known = !settings->periodic ? 0 : l->run_samples[first]->periodic[1] ? 1 : -1;
    if (status == KBASS_OK)
        status = kb_pde1d_find_period(end - first, l->run_samples + first, known, &shared.line, error);
    if (status == KBASS_OK) status = find_shortest(end - first, l->run_samples + first, &shortest, error);
    if (status == KBASS_OK)
        status = kb_pde1d_profile(end - first, l->run_samples + first, &shared.line, PROFILE_LINES, shortest,
                                  &shared.profile, error);
    for (size_t run = first; status == KBASS_OK && run < end; run++) {
        kb_field_samples *samples = l->run_samples[run];
        l->setups[run] = shared;
        l->setups[run].samples = samples;
        l->setups[run].line.steps = kb_pde1d_problem_steps(samples, shared.profile.noise, LEAST_STEPS);
        if (samples->periodic[1]) samples->period[1] = shared.line.period;
        status = kb_mesh_lay(samples, data, settings, l->dictionary, error);
        if (status == KBASS_OK)
            status = kb_mesh_check_memory(samples, kb_patch_workspace_doubles_per_point(l->dictionary), error);
    }
    return status;
}

static kbass_status make_columns(kb_pde1d_problem *l, kbass_error *error)
{
    size_t fields = l->run_samples[0]->n_fields;
    double *points = KB_NEW(double, SAMPLE * l->dictionary->n_variables), *squares = KB_NEW(double, fields);
    kbass_status status = points && squares ? KBASS_OK : kb_out_of_memory(error, "the columns");
    if (status == KBASS_OK) {
        kb_random random;
        kb_random_seed(&random, (uint64_t)l->settings->seed);
        sample_variables(l, &random, points);
        for (size_t f = 0; f < fields; f++) squares[f] = slope_square;
        status = kb_columns_create(l->dictionary, l->run_samples[0]->sd, l->run_samples[0]->span[0], SAMPLE, points,
                                   squares, &l->columns, error);
    }
    if (status == KBASS_OK) status = kb_support_create(l->columns->n, &l->all, error);
    for (size_t i = 0; status == KBASS_OK && i < l->columns->n; i++) l->all.column[l->all.n++] = i;
    kb_free(points);
    kb_free(squares);
    return status;
}

static kbass_status make_samples(kb_pde1d_problem *l, const kbass_data *data, kbass_error *error)
{
    l->n_runs = kbass_data_runs(data);
    l->run_samples = KB_NEW(kb_field_samples *, l->n_runs);
    l->setups = KB_NEW(kb_pde1d_setup, l->n_runs);
    if (!l->run_samples || !l->setups) return kb_out_of_memory(error, "the problem");
    return kb_run_samples_create(data, l->settings, l->dictionary, l->run_samples, &l->has_one_domain, error);
}

kbass_status kb_pde1d_problem_create(const kbass_data *data, const kbass_settings *settings,
                                     const kb_dictionary *dictionary, kb_pde1d_problem **out, kbass_error *error)
{
    kb_pde1d_problem *l = KB_NEW(kb_pde1d_problem, 1);
    if (!l) return kb_out_of_memory(error, "the problem");
    l->settings = settings;
    l->dictionary = dictionary;
    l->threads = kb_threads(settings->threads);
    l->tiles = data->tiles;
    kbass_status status = make_samples(l, data, error);
    for (size_t run = 0, end; status == KBASS_OK && run < l->n_runs; run = end) {
        end = kb_pde1d_problem_domain_end(l, run);
        status = survey_domain(l, run, end, data, error);
    }
    if (status == KBASS_OK) status = make_columns(l, error);
    if (status == KBASS_OK) *out = l;
    else kb_pde1d_problem_destroy(l);
    return status;
}

void kb_pde1d_problem_destroy(kb_pde1d_problem *l)
{
    if (!l) return;
    for (size_t run = 0; l->run_samples && run < l->n_runs; run++) kb_field_samples_destroy(l->run_samples[run]);
    kb_free(l->run_samples);
    kb_free(l->setups);
    kb_columns_destroy(l->columns);
    kb_support_clear(&l->all);
    kb_free(l);
}

kb_frame kb_pde1d_problem_frame(const kb_pde1d_problem *l)
{
    const kb_field_samples *c = l->run_samples[0];
    return (kb_frame){l->dictionary, l->columns, c->mean, c->sd, c->span[0], l->n_runs, false, 0, 0};
}
