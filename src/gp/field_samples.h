/* The samples: measurements of fields over time and space, in scaled variables; the record's counterpart for PDEs.
 *
 *     s_a = (x_a - first_a) / span_a in [0, 1] for each axis a (0 is time),      q_i = (u_i - mean_i) / sd_i
 *
 * Of several runs each has samples of its own, all in the same units: mean, sd and the span of time, which is the
 * longest run's.
 */
#ifndef KB_GP_FIELD_SAMPLES_H
#define KB_GP_FIELD_SAMPLES_H

#include <math.h>
#include <stdbool.h>

#include "gp/noise.h"

enum { KB_SAMPLE_AXES = 4 }; /* room: time and three axes of space */

typedef struct {
    size_t n_points, n_axes, n_fields, n_values;
    double first[KB_SAMPLE_AXES], span[KB_SAMPLE_AXES];
    double
        extent[KB_SAMPLE_AXES]; /* where the domain ends, scaled: 1, or less along time in a run shorter than others */
    double *mean, *sd;          /* n_fields */
    double *point;              /* n_points x n_axes, column-major, scaled; sorted by time, then by the other axes */
    double *value, *measured;   /* n_points x n_fields, column-major; value 0 where measured is 0 */
    double *relative; /* likewise: variance as a multiple of the field's noise, by error bars and replicates; NULL: 1 */
    size_t *count;    /* measured values per field */
    double spacing[KB_SAMPLE_AXES]; /* median gap between distinct coordinates, scaled; scattered: the points' share */
    bool gridded;                   /* the points are a full tensor grid (values may be missing) */
    size_t n_grid[KB_SAMPLE_AXES];  /* distinct coordinates per axis, also when scattered */
    double *grid[KB_SAMPLE_AXES];   /* they, ascending */
    bool periodic[KB_SAMPLE_AXES];  /* said to be so */
    double period[KB_SAMPLE_AXES];  /* of periodic axes, scaled, at least 1; 0: none, or not known */
    size_t n_mesh[KB_SAMPLE_AXES];  /* gp/mesh.h: points along each axis */
    double *mesh[KB_SAMPLE_AXES];   /* they, scaled, ascending; NULL: left to the engines */
    double *known_variance;         /* n_fields: noise variance known beforehand, scaled; 0: unknown */
    kb_noise_model noise_model;
    double noise_share; /* variance of a value's noise over that of a measurement: 1, or less where rows of a grid were
                           projected onto their waves (data/row_waves.h), to which they are then limited */
} kb_field_samples;

/* All rows as one samples. */
kbass_status kb_field_samples_create(const kbass_data *data, const char *noise, kb_field_samples **out,
                                     kbass_error *error);
/* A samples for each run into `run_samples` (kbass_data_runs), whose domains in space are one where they agree within
   their spacing, *is_one, and each its own otherwise. */
kbass_status kb_field_samples_create_runs(const kbass_data *data, const char *noise, kb_field_samples **run_samples,
                                          bool *is_one, kbass_error *error);
/* h^{-1/2} of a value (by point and field, as `value`): the root of its relative precision. */
static inline double kb_field_samples_root(const kb_field_samples *samples, size_t i)
{
    return samples->relative ? 1 / sqrt(samples->relative[i]) : 1;
}
/* Sets `periodic` from "x, y" or "none"; NULL leaves it as it is. On a grid the ends of such axes have to agree; their
   period is the record, or one spacing more. */
kbass_status kb_field_samples_read_periodic(kb_field_samples *samples, const kbass_data *data, const char *periodic,
                                            kbass_error *error);
void kb_field_samples_destroy(kb_field_samples *samples);

#endif
