/* The domain of a PDE search: the bare field, its length scales and noise, and the patches; made before any equation.
 * Several runs have a domain each: patches of their own, at length scales of their own.
 *
 * The rank a domain needs grows with its size, so it is cut into rectangles that share their border samples until the
 * unknowns of one fit; as few as that allows, and long in space.
 */
#ifndef KB_COLLOCATION_DOMAIN_H
#define KB_COLLOCATION_DOMAIN_H

#include "gp/bare_field.h"
#include "collocation/patch.h"

/* What a search means to do: how far it shrinks the length scales, as shares of the bare field's; whether all patches
   take part, so that a sample on a border counts half in each; whether they are small, since only structures are asked
   for. */
typedef struct {
    double time, space;
    bool whole, is_quick;
} kb_scope;

typedef struct {
    const kb_field_samples *samples;
    kb_bare_field *gp;           /* length[axis], scaled */
    size_t cuts[KB_SAMPLE_AXES]; /* patches along each axis */
} kb_run_domain;

typedef struct {
    size_t n_runs;
    kb_run_domain *run_domains;
    const kb_field_samples *samples; /* of the first */
    const kb_dictionary *dictionary;
    double *amplitude, *variance; /* per field: of the bare field's kernel and noise, scaled; the mean over runs */
    kb_scope scope;
    kb_steps finest;              /* of the ladder: what the meshes resolve */
    size_t n_patches, n_searched; /* of which the search sees the first */
    kb_patch **patches;           /* by falling spread of their data: the first say most */
    size_t n_reference;
    double *reference;     /* n_reference x n_variables: the bare field in the data's units, column-major */
    double *slope_squares; /* per field: mean square of the left-hand side in scaled time */
    int threads;
} kb_patched_domain;

/* Clouds, one for each run, and dictionary are borrowed. */
kbass_status kb_patched_domain_create(size_t n, kb_field_samples *const *run_samples, const kb_dictionary *dictionary,
                                      const kbass_settings *settings, kb_scope scope, int threads,
                                      kb_patched_domain **out, kbass_error *error);
void kb_patched_domain_destroy(kb_patched_domain *domain);

/* The ladder's step nearest to a share of the bare field's length scale. */
int kb_ladder_step(double share);

#endif
