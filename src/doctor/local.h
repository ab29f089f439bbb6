/* Local regression: the field near a point, its derivatives and their variances, from the measurements around it.
 *
 * One field's measurements are averaged in cells that are small against the length scales, so that the nearest few
 * cells reach far enough; there the Gaussian process with the kernel a exp(-d^2/2) is solved densely (docs/math.md, eq.
 * 55).
 */
#ifndef KB_LOCAL_H
#define KB_LOCAL_H

#include "gp/field_samples.h"
#include "gp/bare_field.h"

typedef struct {
    size_t n_axes, n_cells;
    double length[KB_SAMPLE_AXES], amplitude, variance; /* scaled, as the cloud's */
    double *point;              /* n_cells x n_axes, row-major: mean position of the cell's measurements */
    double *value;              /* n_cells: their mean */
    double *weight;             /* n_cells: how many they are */
    size_t *cell;               /* of each of the cloud's points; n_cells for points without a measurement */
    size_t most, n_near, *near; /* the cells around the point at hand */
    double *distance, *factor, *solved, *cross; /* work */
    double at[KB_SAMPLE_AXES];
} kb_local;

/* The first field of the cloud. `skip`, unless NULL, marks points that are left out. */
kbass_status kb_local_create(const kb_field_samples *cloud, const kb_bare_field *gp, const bool *skip, kb_local **out,
                             kbass_error *error);
void kb_local_destroy(kb_local *local);
/* Goes to a point, leaving one cell aside (n_cells: none); false where the numbers fail. */
bool kb_local_go(kb_local *local, const double *point, size_t without);
/* There: the mean of the derivative of these orders along the axes, and its variance; 0 of all is the value. */
double kb_local_mean(kb_local *local, const int *order);
double kb_local_variance(kb_local *local, const int *order);
/* Its variance where nothing is measured. */
double kb_local_prior(const kb_local *local, const int *order);

#endif
