#include "problem/pde_nd.h"

#include <math.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "collocation/collocation.h"
#include "collocation/refine_mesh.h"
#include "gp/mesh.h"
#include "problem/run_samples.h"

/* With many data the bare field's scales are near. */
static const kb_scope near_scope = {0.6, 0.8, true, false}, far_scope = {0.44, 0.65, false, false};

/* Where nobody said which axes are periodic, and fields may be followed if all of them are (tasks/axes.c). */
static bool may_look(const kb_pde_nd_problem *e, const kbass_settings *settings)
{
    bool is_told = settings->periodic && *settings->periodic;
    return !is_told && e->n_runs == 1 && e->dictionary->time_order == 1 && e->dictionary->n_axes > 2;
}

/* Of all runs, in the data's units. */
static double rms_of(const kb_pde_nd_problem *e, size_t field)
{
    double squares = 0, n = 0;
    for (size_t run = 0; run < e->n_runs; run++) {
        const kb_field_samples *c = e->run_samples[run];
        for (size_t i = field * c->n_points; i < (field + 1) * c->n_points; i++) {
            double u = c->mean[field] + c->sd[field] * c->value[i];
            squares += c->measured[i] > 0 ? u * u : 0;
            n += c->measured[i] > 0;
        }
    }
    return sqrt(squares / n);
}

/* Noise in proportion to the value, to the kernel engine: variances by the measured values, those of the rms being 1.
 */
static kbass_status weigh(kb_pde_nd_problem *e, kbass_error *error)
{
    size_t fields = e->dictionary->n_states;
    e->noise_unit = KB_NEW(double, fields);
    if (!e->noise_unit) return kb_out_of_memory(error, "the noise");
    for (size_t run = 0; run < e->n_runs; run++) {
        kb_field_samples *c = e->run_samples[run];
        c->relative = KB_NEW(double, c->n_points *fields);
        if (!c->relative) return kb_out_of_memory(error, "the noise");
    }
    for (size_t f = 0; f < fields; f++) {
        double rms = rms_of(e, f);
        e->noise_unit[f] = e->run_samples[0]->sd[f] / rms;
        for (size_t run = 0; run < e->n_runs; run++) {
            kb_field_samples *c = e->run_samples[run];
            for (size_t i = f * c->n_points; i < (f + 1) * c->n_points; i++) {
                double share = fmax(fabs(c->mean[f] + c->sd[f] * c->value[i]) / rms, kb_least_share);
                c->relative[i] = c->measured[i] > 0 ? share * share : 1;
            }
        }
    }
    return KBASS_OK;
}

/* Rows that were projected onto waves are one spacing short of their period. */
static void close_axes(kb_field_samples *c)
{
    for (size_t a = 1; a < c->n_axes; a++) {
        c->periodic[a] = true;
        c->period[a] = 1 + 1 / (double)(c->n_grid[a] - 1);
    }
}

/* A samples for each run, with what the settings say of it. */
static kbass_status make_samples(kb_pde_nd_problem *e, const kbass_data *data, const kbass_settings *settings,
                                 kbass_error *error)
{
    bool is_one;
    e->n_runs = kbass_data_runs(data);
    e->run_samples = KB_NEW(kb_field_samples *, e->n_runs);
    if (!e->run_samples) return kb_out_of_memory(error, "the problem");
    if (data->noise_share > 0 && settings->noise_model != KB_NOISE_ADDITIVE)
        return kb_fail(
            error, KBASS_ERROR_ARGUMENT,
            "--noise-model %s weighs each measurement, and these rows are a dense grid's projected onto waves: "
            "read all of it (--part 0)",
            settings->noise_model == KB_NOISE_LOG ? "log" : "multiplicative");
    kbass_status status = kb_run_samples_create(data, settings, e->dictionary, e->run_samples, &is_one, error);
    if (status == KBASS_OK && settings->noise_model != KB_NOISE_ADDITIVE) status = weigh(e, error);
    for (size_t run = 0; status == KBASS_OK && run < e->n_runs; run++) {
        status = kb_field_samples_read_periodic(e->run_samples[run], data, settings->periodic, error);
        if (status == KBASS_OK && may_look(e, settings)) {
            if (e->run_samples[run]->noise_share < 1) close_axes(e->run_samples[run]);
            else status = kb_field_samples_find_periodic(e->run_samples[run], e->tiles, error);
        }
        if (status == KBASS_OK) status = kb_mesh_lay(e->run_samples[run], data, settings, e->dictionary, error);
        if (status == KBASS_OK)
            status =
                kb_mesh_check_memory(e->run_samples[run], kb_patch_workspace_doubles_per_point(e->dictionary), error);
    }
    return status;
}

kbass_status kb_pde_nd_problem_create(const kbass_data *data, const kbass_settings *settings,
                                      const kb_dictionary *dictionary, kb_pde_nd_problem **out, kbass_error *error)
{
    int threads = kb_threads(settings->threads);
    kb_pde_nd_problem *e = KB_NEW(kb_pde_nd_problem, 1);
    if (!e) return kb_out_of_memory(error, "the problem");
    e->dictionary = dictionary;
    e->threads = threads;
    e->tiles = data->tiles;
    e->has_few_data = settings->method == KB_METHOD_EM && data->n_axes <= 2 && dictionary->time_order == 1;
    kb_scope scope = e->has_few_data ? far_scope : near_scope;
    kbass_status status = make_samples(e, data, settings, error);
    if (status == KBASS_OK)
        status = kb_patched_domain_create(e->n_runs, e->run_samples, dictionary, settings, scope, threads, &e->domain,
                                          error);
    if (status == KBASS_OK) {
        kb_patched_domain *t = e->domain;
        status = kb_columns_create(dictionary, t->samples->sd, t->samples->span[0], t->n_reference, t->reference,
                                   t->slope_squares, &e->columns, error);
    }
    if (status == KBASS_OK) *out = e;
    else kb_pde_nd_problem_destroy(e);
    return status;
}

void kb_pde_nd_problem_destroy(kb_pde_nd_problem *e)
{
    if (!e) return;
    kb_columns_destroy(e->columns);
    kb_patched_domain_destroy(e->domain);
    for (size_t run = 0; e->run_samples && run < e->n_runs; run++) kb_field_samples_destroy(e->run_samples[run]);
    kb_free(e->run_samples);
    kb_free(e->noise_unit);
    kb_free(e);
}

kb_frame kb_pde_nd_problem_frame(const kb_pde_nd_problem *e)
{
    const kb_field_samples *c = e->run_samples[0];
    return (kb_frame){e->dictionary, e->columns, c->mean, c->sd, c->span[0], e->n_runs, false, 0, 0};
}
