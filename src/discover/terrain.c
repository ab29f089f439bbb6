#include "discover/terrain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "solve/mosaic.h"

static const double unknowns_wanted = 2200;
static const double time_to_spare = 0.65, space_to_spare = 0.75; /* below the shares, for the mesh */
enum { LEAST_LINES = 4, LEAST_MESH = 12, MOST_PER_AXIS = 64, SEARCHED = 4 };

int kb_ladder_step(double share) { return (int)lrint(log(share) / log(KB_LADDER_RATIO)); }

/* ---------------------------------------------------------------- patches */

static double estimated_rank(const kb_terrain *t, const kb_tract *tract, size_t axis)
{
    double share = axis ? t->scope.space : t->scope.time;
    return kb_axis_rank_estimate(tract->cloud->extent[axis] / (double)tract->cuts[axis],
                                 share * tract->gp->length[axis]);
}

static bool can_be_cut(const kb_tract *tract, size_t axis)
{
    const kb_cloud *cloud = tract->cloud;
    size_t cuts = tract->cuts[axis] + 1;
    bool has_mesh = !cloud->mesh[axis] || cloud->n_mesh[axis] >= LEAST_MESH * cuts;
    return cuts <= MOST_PER_AXIS && cloud->n_grid[axis] > LEAST_LINES * cuts && has_mesh;
}

/* What speaks for cutting an axis: its rank; half of it in space, since patches should stay long there; half of that
   where the first cut takes a period apart, since only a patch that sees it whole can join its ends. */
static double weight_of_cut(const kb_terrain *t, const kb_tract *tract, size_t axis)
{
    bool joins_ends = t->scope.whole && tract->cloud->period[axis] > 0 && tract->cuts[axis] == 1;
    return estimated_rank(t, tract, axis) * (axis ? 0.5 : 1) * (joins_ends ? 0.5 : 1);
}

static size_t axis_to_cut(const kb_terrain *t, const kb_tract *tract)
{
    size_t axes = t->cloud->n_axes, best = axes;
    for (size_t a = 0; a < axes; a++) {
        if (!can_be_cut(tract, a)) continue;
        if (best == axes || weight_of_cut(t, tract, a) > weight_of_cut(t, tract, best)) best = a;
    }
    return best;
}

static size_t patches_of(const kb_tract *tract)
{
    size_t n = 1;
    for (size_t a = 0; a < tract->cloud->n_axes; a++) n *= tract->cuts[a];
    return n;
}

static void choose_cuts(kb_terrain *t, kb_tract *tract)
{
    size_t axes = t->cloud->n_axes, axis;
    for (size_t a = 0; a < axes; a++) tract->cuts[a] = 1;
    for (;;) {
        double unknowns = (double)t->cloud->n_fields * (axes > 2 ? kb_ball_share(axes) : 1);
        for (size_t a = 0; a < axes; a++) unknowns *= estimated_rank(t, tract, a);
        if (unknowns <= unknowns_wanted || (axis = axis_to_cut(t, tract)) == axes) break;
        tract->cuts[axis]++;
    }
    t->n_patches += patches_of(tract);
}

/* The i-th border of an axis: inside on a line of the grid, so that both sides have its samples. */
static double border(const kb_tract *tract, size_t axis, size_t i)
{
    const kb_cloud *cloud = tract->cloud;
    double share = (double)i / (double)tract->cuts[axis];
    if (!cloud->gridded || i == 0 || i == tract->cuts[axis]) return share * cloud->extent[axis];
    return cloud->grid[axis][(size_t)lrint(share * (double)(cloud->n_grid[axis] - 1))];
}

static int by_falling_spread(const void *a, const void *b)
{
    double x = (*(kb_patch *const *)a)->spread, y = (*(kb_patch *const *)b)->spread;
    return (x < y) - (x > y);
}

static kbass_status add_patches(kb_terrain *t, const kb_tract *tract, kb_kernel_kind kind, kb_patch **patches,
                                kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t axes = t->cloud->n_axes;
    kb_patch_scales scales = {.kind = kind, .margin = KB_AXIS_MARGIN, .shares = t->scope.whole};
    double shortest_time = t->scope.time * time_to_spare, shortest_space = t->scope.space * space_to_spare;
    t->finest = (kb_steps){kb_ladder_step(shortest_time), kb_ladder_step(shortest_space)};
    for (size_t a = 0; a < axes; a++) {
        scales.unit[a] = tract->gp->length[a];
        scales.shortest[a] = tract->gp->length[a] * (a ? shortest_space : shortest_time);
    }
    for (size_t i = 0; status == KBASS_OK && i < patches_of(tract); i++) {
        double lo[KB_CLOUD_AXES], hi[KB_CLOUD_AXES];
        for (size_t a = 0, rest = i; a < axes; rest /= tract->cuts[a++]) {
            lo[a] = border(tract, a, rest % tract->cuts[a]);
            hi[a] = border(tract, a, rest % tract->cuts[a] + 1);
        }
        status = kb_patch_create(tract->cloud, t->dictionary, lo, hi, &scales, &patches[i], error);
    }
    return status;
}

static kbass_status create_patches(kb_terrain *t, kb_kernel_kind kind, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t n = 0, searched = t->n_tracts > SEARCHED ? t->n_tracts : SEARCHED;
    for (size_t i = 0; i < t->n_tracts; i++) choose_cuts(t, &t->tracts[i]);
    t->n_searched = t->scope.whole || t->n_patches < searched ? t->n_patches : searched;
    t->patches = KB_NEW(kb_patch *, t->n_patches);
    if (!t->patches) return kb_out_of_memory(error, "the patches");
    for (size_t i = 0; status == KBASS_OK && i < t->n_tracts; n += patches_of(&t->tracts[i++]))
        status = add_patches(t, &t->tracts[i], kind, t->patches + n, error);
    if (status == KBASS_OK) qsort(t->patches, t->n_patches, sizeof *t->patches, by_falling_spread);
    return status;
}

/* ---------------------------------------------------------------- the bare field */

/* The bare field on all patches' points, one patch after the other. */
static kbass_status make_reference(kb_terrain *t, kbass_error *error)
{
    size_t fields = t->cloud->n_fields, variables = t->dictionary->n_variables, at = 0;
    kb_columns none = {0};
    kb_bench *bench = NULL;
    kb_hyper hyper = {.variance = t->variance, .amplitude = t->amplitude};
    kbass_status status = KBASS_OK;
    size_t most = 0;
    for (size_t i = 0; status == KBASS_OK && i < t->n_patches; i++) {
        status = kb_patch_set_level(t->patches[i], (kb_steps){0, 0}, error);
        t->n_reference += t->patches[i]->n_mesh;
        if (t->patches[i]->most > most) most = t->patches[i]->most;
    }
    if (status == KBASS_OK) status = kb_bench_create(t->n_patches, t->patches, t->dictionary, &none, &bench, error);
    double *z = KB_NEW(double, most *fields);
    t->reference = KB_NEW(double, t->n_reference *variables);
    t->slope_squares = KB_NEW(double, fields);
    if (!z || !t->reference || !t->slope_squares) status = kb_out_of_memory(error, "the field");
    for (size_t i = 0; status == KBASS_OK && i < t->n_patches; i++) {
        const kb_patch *p = t->patches[i];
        if (!kb_normal_regress(bench, p, &hyper, z)) {
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the field could not be fitted to the data");
            break;
        }
        kb_collocation_evaluate(bench, p, z);
        for (size_t v = 0; v < variables; v++)
            memcpy(t->reference + at + v * t->n_reference, bench->points + v * p->n_mesh, p->n_mesh * sizeof *z);
        for (size_t f = 0; f < fields; f++) {
            const double *slope = bench->slopes + f * p->n_mesh;
            t->slope_squares[f] += kb_dot(p->n_mesh, slope, slope) / (double)t->n_reference;
        }
        at += p->n_mesh;
    }
    kb_free(z);
    kb_bench_destroy(bench);
    return status;
}

/* The bare field of each tract, and what they have in common. */
static kbass_status fit_tracts(kb_terrain *t, size_t n, kb_cloud *const *clouds, kb_kernel_kind kind,
                               kbass_error *error)
{
    size_t fields = clouds[0]->n_fields;
    kbass_status status = KBASS_OK;
    t->n_tracts = n;
    t->tracts = KB_NEW(kb_tract, n);
    t->amplitude = KB_NEW(double, fields);
    t->variance = KB_NEW(double, fields);
    if (!t->tracts || !t->amplitude || !t->variance) return kb_out_of_memory(error, "the terrain");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        kb_field_gp **gp = &t->tracts[i].gp;
        t->tracts[i].cloud = clouds[i];
        status = kb_field_gp_fit(clouds[i], kind, gp, error);
        for (size_t f = 0; status == KBASS_OK && f < fields; f++) {
            t->amplitude[f] += (*gp)->amplitude[f] / (double)n;
            t->variance[f] += (*gp)->variance[f] / (double)n;
        }
    }
    return status;
}

kbass_status kb_terrain_create(size_t n, kb_cloud *const *clouds, const kb_dictionary *dictionary,
                               const kbass_settings *settings, kb_scope scope, int threads, kb_terrain **out,
                               kbass_error *error)
{
    kb_kernel_kind kind = (kb_kernel_kind)settings->kernel;
    kb_terrain *t = KB_NEW(kb_terrain, 1);
    if (!t) return kb_out_of_memory(error, "the terrain");
    t->cloud = clouds[0];
    t->dictionary = dictionary;
    t->scope = scope;
    t->threads = threads;
    kbass_status status = fit_tracts(t, n, clouds, kind, error);
    if (status == KBASS_OK) status = create_patches(t, kind, error);
    if (status == KBASS_OK) status = make_reference(t, error);
    if (status == KBASS_OK) *out = t;
    else kb_terrain_destroy(t);
    return status;
}

void kb_terrain_destroy(kb_terrain *t)
{
    if (!t) return;
    for (size_t i = 0; t->patches && i < t->n_patches; i++) kb_patch_destroy(t->patches[i]);
    for (size_t i = 0; t->tracts && i < t->n_tracts; i++) kb_field_gp_destroy(t->tracts[i].gp);
    kb_free(t->patches);
    kb_free(t->tracts);
    kb_free(t->amplitude);
    kb_free(t->variance);
    kb_free(t->reference);
    kb_free(t->slope_squares);
    kb_free(t);
}
