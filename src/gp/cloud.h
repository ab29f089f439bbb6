/* The cloud: measurements of fields over time and space, in scaled variables; the record's counterpart for PDEs.
 *
 *     s_a = (x_a - first_a) / span_a in [0, 1] for each axis a (0 is time),      q_i = (u_i - mean_i) / sd_i
 *
 * Of several runs each has a cloud, all in the same units: mean, sd and the span of time, which is the longest run's.
 */
#ifndef KB_CLOUD_H
#define KB_CLOUD_H

#include <math.h>
#include <stdbool.h>

#include "gp/noise.h"

enum { KB_CLOUD_AXES = 4 };

typedef struct {
    size_t n_points, n_axes, n_fields, n_values;
    double first[KB_CLOUD_AXES], span[KB_CLOUD_AXES];
    double
        extent[KB_CLOUD_AXES]; /* where the domain ends, scaled: 1, or less along time in a run shorter than others */
    double *mean, *sd;         /* n_fields */
    double *point;             /* n_points x n_axes, column-major, scaled; sorted by time, then by the other axes */
    double *value, *measured;  /* n_points x n_fields, column-major; value 0 where measured is 0 */
    double *relative; /* likewise: variance as a multiple of the field's noise, by error bars and replicates; NULL: 1 */
    size_t *count;    /* measured values per field */
    double spacing[KB_CLOUD_AXES]; /* median gap between distinct coordinates, scaled; scattered: the points' share */
    bool gridded;                  /* the points are a full tensor grid (values may be missing) */
    size_t n_grid[KB_CLOUD_AXES];  /* distinct coordinates per axis, also when scattered */
    double *grid[KB_CLOUD_AXES];   /* they, ascending */
    bool periodic[KB_CLOUD_AXES];  /* said to be so */
    double period[KB_CLOUD_AXES];  /* of periodic axes, scaled, at least 1; 0: none, or not known */
    size_t n_mesh[KB_CLOUD_AXES];  /* gp/mesh.h: points along each axis */
    double *mesh[KB_CLOUD_AXES];   /* they, scaled, ascending; NULL: left to the engines */
    double *known_variance;        /* n_fields: noise variance known beforehand, scaled; 0: unknown */
    kb_noise_model noise_model;
} kb_cloud;

/* All rows as one cloud. */
kbass_status kb_cloud_create(const kbass_data *data, const char *noise, kb_cloud **out, kbass_error *error);
/* A cloud for each run into `clouds` (kbass_data_runs), whose domains in space are one where they agree within their
   spacing, *is_one, and each its own otherwise. */
kbass_status kb_cloud_create_runs(const kbass_data *data, const char *noise, kb_cloud **clouds, bool *is_one,
                                  kbass_error *error);
/* h^{-1/2} of a value (by point and field, as `value`): the root of its relative precision. */
static inline double kb_cloud_root(const kb_cloud *cloud, size_t i)
{
    return cloud->relative ? 1 / sqrt(cloud->relative[i]) : 1;
}
/* Sets `periodic` from "x, y" or "none"; NULL leaves it as it is. On a grid the ends of such axes have to agree; their
   period is the record, or one spacing more. */
kbass_status kb_cloud_read_periodic(kb_cloud *cloud, const kbass_data *data, const char *periodic, kbass_error *error);
void kb_cloud_destroy(kb_cloud *cloud);

#endif
