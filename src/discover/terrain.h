/* The terrain of a PDE search: the bare field, its length scales and noise, and the patches; made before any equation.
 * Several runs are a tract each: patches of their own, at length scales of their own.
 *
 * The rank a domain needs grows with its size, so it is cut into rectangles that share their border samples until the
 * unknowns of one fit; as few as that allows, and long in space.
 */
#ifndef KB_TERRAIN_H
#define KB_TERRAIN_H

#include "gp/field_gp.h"
#include "solve/patch.h"

/* What a search means to do: how far it shrinks the length scales, as shares of the bare field's, and whether all
   patches take part; then a sample on a border counts half in each. */
typedef struct {
    double time, space;
    bool whole;
} kb_scope;

typedef struct {
    const kb_cloud *cloud;
    kb_field_gp *gp;            /* length[axis], scaled */
    size_t cuts[KB_CLOUD_AXES]; /* patches along each axis */
} kb_tract;

typedef struct {
    size_t n_tracts;
    kb_tract *tracts;
    const kb_cloud *cloud; /* of the first */
    const kb_dictionary *dictionary;
    double *amplitude, *variance; /* per field: of the bare field's kernel and noise, scaled; the mean over tracts */
    kb_scope scope;
    kb_steps finest;              /* of the ladder: what the meshes resolve */
    size_t n_patches, n_searched; /* of which the search sees the first */
    kb_patch **patches;           /* by falling spread of their data: the first say most */
    size_t n_reference;
    double *reference;     /* n_reference x n_variables: the bare field in the data's units, column-major */
    double *slope_squares; /* per field: mean square of the left-hand side in scaled time */
    int threads;
} kb_terrain;

/* Clouds, one for each run, and dictionary are borrowed. */
kbass_status kb_terrain_create(size_t n, kb_cloud *const *clouds, const kb_dictionary *dictionary,
                               const kbass_settings *settings, kb_scope scope, int threads, kb_terrain **out,
                               kbass_error *error);
void kb_terrain_destroy(kb_terrain *terrain);

/* The ladder's step nearest to a share of the bare field's length scale. */
int kb_ladder_step(double share);

#endif
