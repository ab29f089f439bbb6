/* The field of a model that the kernel engine weighed, with its band. */
#ifndef KB_POSTERIOR_KERNEL_SOLUTION_H
#define KB_POSTERIOR_KERNEL_SOLUTION_H

#include "collocation/domain.h"
#include "collocation/kernel_fit.h"
#include "posterior/field_spread.h"

/* The field of a model at any points of a run's domain (n_points x n_axes, column-major, the data's units): mean and
   posterior sd (n_points x n_fields, the data's units), and the residual of the equations in the units of their
   left-hand sides; sd and residual may be NULL. */
kbass_status kb_kernel_solution(const kb_patched_domain *domain, const kb_columns *columns,
                                const kb_kernel_fit *proposal, size_t run, size_t n_points, const double *points,
                                double *mean, double *sd, double *residual, kbass_error *error);
/* The same linearised about the model (field_spread.h), in the data's units but for the weights. */
kbass_status kb_kernel_spread(const kb_patched_domain *domain, const kb_columns *columns, const kb_kernel_fit *proposal,
                              size_t run, size_t n_points, const double *points, kb_field_spread *out,
                              kbass_error *error);

#endif
