#include "collocation/domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "collocation/patch_solver.h"

static const double unknowns_wanted = 2200;   /* unknowns: of a patch; its factorisation costs their cube */
static const double unknowns_if_quick = 1200; /* as many cost a fifth; too few on KS 40 x 40 at 20 % noise */
static const double time_to_spare = 0.65;     /* of the shortest length scale in time: what the mesh still carries */
static const double space_to_spare = 0.75;    /* of the shortest length scale in space: what the mesh still carries */
enum { LEAST_LINES = 4 };                     /* lines: of a patch along an axis */
enum { LEAST_MESH = 12 };                     /* points: of a patch's mesh along an axis */
enum { MOST_PER_AXIS = 64 };                  /* patches: along an axis */
enum { SEARCHED = 4 };                        /* patches: that propose; a run each where there are more */

int kb_ladder_step(double share) { return (int)lrint(log(share) / log(KB_LADDER_RATIO)); }

/* ---------------------------------------------------------------- patches */

static double estimated_rank(const kb_patched_domain *t, const kb_run_domain *run_domain, size_t axis)
{
    double share = axis ? t->scope.space : t->scope.time;
    return kb_axis_rank_estimate(run_domain->samples->extent[axis] / (double)run_domain->cuts[axis],
                                 share * run_domain->gp->length[axis]);
}

static bool can_be_cut(const kb_run_domain *run_domain, size_t axis)
{
    const kb_field_samples *samples = run_domain->samples;
    size_t cuts = run_domain->cuts[axis] + 1;
    bool has_mesh = !samples->mesh[axis] || samples->n_mesh[axis] >= LEAST_MESH * cuts;
    return cuts <= MOST_PER_AXIS && samples->n_grid[axis] > LEAST_LINES * cuts && has_mesh;
}

/* What speaks for cutting an axis: its rank; half of it in space, since patches should stay long there; half of that
   where the first cut takes a period apart, since only a patch that sees it whole can join its ends. */
static double weight_of_cut(const kb_patched_domain *t, const kb_run_domain *run_domain, size_t axis)
{
    bool joins_ends = t->scope.whole && run_domain->samples->period[axis] > 0 && run_domain->cuts[axis] == 1;
    return estimated_rank(t, run_domain, axis) * (axis ? 0.5 : 1) * (joins_ends ? 0.5 : 1);
}

static size_t axis_to_cut(const kb_patched_domain *t, const kb_run_domain *run_domain)
{
    size_t axes = t->samples->n_axes, best = axes;
    for (size_t a = 0; a < axes; a++) {
        if (!can_be_cut(run_domain, a)) continue;
        if (best == axes || weight_of_cut(t, run_domain, a) > weight_of_cut(t, run_domain, best)) best = a;
    }
    return best;
}

static size_t patches_of(const kb_run_domain *run_domain)
{
    size_t n = 1;
    for (size_t a = 0; a < run_domain->samples->n_axes; a++) n *= run_domain->cuts[a];
    return n;
}

static void choose_cuts(kb_patched_domain *t, kb_run_domain *run_domain)
{
    size_t axes = t->samples->n_axes, axis;
    double wanted = t->scope.is_quick ? unknowns_if_quick : unknowns_wanted;
    for (size_t a = 0; a < axes; a++) run_domain->cuts[a] = 1;
    for (;;) {
        double unknowns = (double)t->samples->n_fields * (axes > 2 ? kb_ball_share(axes) : 1);
        for (size_t a = 0; a < axes; a++) unknowns *= estimated_rank(t, run_domain, a);
        if (unknowns <= wanted || (axis = axis_to_cut(t, run_domain)) == axes) break;
        run_domain->cuts[axis]++;
    }
    t->n_patches += patches_of(run_domain);
}

/* The i-th border of an axis: inside on a line of the grid, so that both sides have its samples. */
static double border(const kb_run_domain *run_domain, size_t axis, size_t i)
{
    const kb_field_samples *samples = run_domain->samples;
    double share = (double)i / (double)run_domain->cuts[axis];
    if (!samples->gridded || i == 0 || i == run_domain->cuts[axis]) return share * samples->extent[axis];
    return samples->grid[axis][(size_t)lrint(share * (double)(samples->n_grid[axis] - 1))];
}

static int by_falling_spread(const void *a, const void *b)
{
    double x = (*(kb_patch *const *)a)->spread, y = (*(kb_patch *const *)b)->spread;
    return (x < y) - (x > y);
}

static kbass_status add_patches(kb_patched_domain *t, const kb_run_domain *run_domain, kb_kernel_kind kind,
                                kb_patch **patches, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t axes = t->samples->n_axes;
    kb_patch_scales scales = {.kind = kind, .margin = KB_AXIS_MARGIN, .shares = t->scope.whole};
    double shortest_time = t->scope.time * time_to_spare, shortest_space = t->scope.space * space_to_spare;
    t->finest = (kb_steps){kb_ladder_step(shortest_time), kb_ladder_step(shortest_space)};
    for (size_t a = 0; a < axes; a++) {
        scales.unit[a] = run_domain->gp->length[a];
        scales.shortest[a] = run_domain->gp->length[a] * (a ? shortest_space : shortest_time);
    }
    for (size_t i = 0; status == KBASS_OK && i < patches_of(run_domain); i++) {
        double lo[KB_SAMPLE_AXES], hi[KB_SAMPLE_AXES];
        for (size_t a = 0, rest = i; a < axes; rest /= run_domain->cuts[a++]) {
            lo[a] = border(run_domain, a, rest % run_domain->cuts[a]);
            hi[a] = border(run_domain, a, rest % run_domain->cuts[a] + 1);
        }
        status = kb_patch_create(run_domain->samples, t->dictionary, lo, hi, &scales, &patches[i], error);
        if (status == KBASS_OK) patches[i]->run = (size_t)(run_domain - t->run_domains);
    }
    return status;
}

static kbass_status create_patches(kb_patched_domain *t, kb_kernel_kind kind, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n = 0, searched = t->n_runs > SEARCHED ? t->n_runs : SEARCHED;
    for (size_t i = 0; i < t->n_runs; i++) choose_cuts(t, &t->run_domains[i]);
    t->n_searched = t->scope.whole || t->n_patches < searched ? t->n_patches : searched;
    t->patches = KB_NEW(kb_patch *, t->n_patches);
    if (!t->patches) return kb_out_of_memory(error, "the patches");
    for (size_t i = 0; status == KBASS_OK && i < t->n_runs; n += patches_of(&t->run_domains[i++]))
        status = add_patches(t, &t->run_domains[i], kind, t->patches + n, error);
    if (status == KBASS_OK) qsort(t->patches, t->n_patches, sizeof *t->patches, by_falling_spread);
    return status;
}

/* ---------------------------------------------------------------- the bare field */

/* The bare field on all patches' points, one patch after the other. */
static kbass_status make_reference(kb_patched_domain *t, kbass_error *error)
{
    size_t fields = t->samples->n_fields, variables = t->dictionary->n_variables, at = 0;
    kb_columns none = {0};
    kb_patch_workspace *workspace = NULL;
    kb_hyper hyper = {.variance = t->variance, .amplitude = t->amplitude};
    kbass_status status = KBASS_OK;
    size_t most = 0;
    for (size_t i = 0; status == KBASS_OK && i < t->n_patches; i++) {
        status = kb_patch_set_level(t->patches[i], (kb_steps){0, 0}, error);
        t->n_reference += t->patches[i]->n_mesh;
        if (t->patches[i]->most > most) most = t->patches[i]->most;
    }
    if (status == KBASS_OK)
        status = kb_patch_workspace_create(t->n_patches, t->patches, t->dictionary, &none, &workspace, error);
    double *z = KB_NEW(double, most *fields);
    t->reference = KB_NEW(double, t->n_reference *variables);
    t->slope_squares = KB_NEW(double, fields);
    if (!z || !t->reference || !t->slope_squares) status = kb_out_of_memory(error, "the field");
    for (size_t i = 0; status == KBASS_OK && i < t->n_patches; i++) {
        const kb_patch *p = t->patches[i];
        if (!kb_normal_regress(workspace, p, &hyper, z)) {
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to the data");
            break;
        }
        kb_collocation_evaluate(workspace, p, z);
        for (size_t v = 0; v < variables; v++)
            memcpy(t->reference + at + v * t->n_reference, workspace->points + v * p->n_mesh, p->n_mesh * sizeof *z);
        for (size_t f = 0; f < fields; f++) {
            const double *slope = workspace->slopes + f * p->n_mesh;
            t->slope_squares[f] += kb_dot(p->n_mesh, slope, slope) / (double)t->n_reference;
        }
        at += p->n_mesh;
    }
    kb_free(z);
    kb_patch_workspace_destroy(workspace);
    return status;
}

/* The bare field of each run, and what they have in common. */
static kbass_status fit_runs(kb_patched_domain *t, size_t n, kb_field_samples *const *run_samples, kb_kernel_kind kind,
                             kbass_error *error)
{
    size_t fields = run_samples[0]->n_fields;
    kbass_status status = KBASS_OK;
    t->n_runs = n;
    t->run_domains = KB_NEW(kb_run_domain, n);
    t->amplitude = KB_NEW(double, fields);
    t->variance = KB_NEW(double, fields);
    if (!t->run_domains || !t->amplitude || !t->variance) return kb_out_of_memory(error, "the domain");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kb_bare_field **gp = &t->run_domains[i].gp;
        t->run_domains[i].samples = run_samples[i];
        status = kb_bare_field_fit(run_samples[i], kind, gp, error);
        for (size_t f = 0; status == KBASS_OK && f < fields; f++) {
            t->amplitude[f] += (*gp)->amplitude[f] / (double)n;
            t->variance[f] += (*gp)->variance[f] / (double)n;
        }
    }
    return status;
}

kbass_status kb_patched_domain_create(size_t n, kb_field_samples *const *run_samples, const kb_dictionary *dictionary,
                                      const kbass_settings *settings, kb_scope scope, int threads,
                                      kb_patched_domain **out, kbass_error *error)
{
    kb_kernel_kind kind = (kb_kernel_kind)settings->kernel;
    kb_patched_domain *t = KB_NEW(kb_patched_domain, 1);
    if (!t) return kb_out_of_memory(error, "the domain");
    t->samples = run_samples[0];
    t->dictionary = dictionary;
    t->scope = scope;
    t->threads = threads;
    kbass_status status = fit_runs(t, n, run_samples, kind, error);
    if (status == KBASS_OK) status = create_patches(t, kind, error);
    if (status == KBASS_OK) status = make_reference(t, error);
    if (status == KBASS_OK) *out = t;
    else kb_patched_domain_destroy(t);
    return status;
}

void kb_patched_domain_destroy(kb_patched_domain *t)
{
    if (!t) return;
    for (size_t i = 0; t->patches && i < t->n_patches; i++) kb_patch_destroy(t->patches[i]);
    for (size_t i = 0; t->run_domains && i < t->n_runs; i++) kb_bare_field_destroy(t->run_domains[i].gp);
    kb_free(t->patches);
    kb_free(t->run_domains);
    kb_free(t->amplitude);
    kb_free(t->variance);
    kb_free(t->reference);
    kb_free(t->slope_squares);
    kb_free(t);
}
