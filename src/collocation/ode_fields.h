/* The patches of a record together: fields of their own, one set of weights and of noise variances, which all of them
 * hold. What one does with their Gauss-Newton systems: joint refinement, noise, evidence. Messages and evidences are
 * sums over patches.
 */
#ifndef KB_COLLOCATION_ODE_FIELDS_H
#define KB_COLLOCATION_ODE_FIELDS_H

#include "collocation/ode_field.h"

/* Levenberg-Marquardt jointly over z and the support's weights, slab included; false when nothing finite is left. */
bool kb_ode_fields_solve(size_t n, kb_ode_field *const *fields, const kb_support *support, int max_iterations,
                         double tolerance);
/* Noise variances from residuals and posterior spread at the present (z, w). */
bool kb_ode_fields_learn_noise(size_t n, kb_ode_field *const *fields, const kb_support *support);
/* log p(data | structure, length, tau, v), the equation being part of the prior (docs/math.md, eq. 15). */
double kb_ode_fields_evidence(size_t n, kb_ode_field *const *fields, const kb_support *support);
/* The message about all columns at the present (z, w). */
bool kb_ode_fields_message(size_t n, kb_ode_field *const *fields, const kb_support *all, kb_message *message);
/* Integrates z out at the present (z, w): the first field's G is the Cholesky factor of the weights' precision, slab
   included; each field's Hzz and Hzw are as kb_ode_field_marginalise leaves them. */
bool kb_ode_fields_factorise(size_t n, kb_ode_field *const *fields, const kb_support *support);

/* A copy of what the search moves: by patch the coefficients, weights, noise, tau, and the level. */
typedef struct {
    kb_support support;
    size_t level;  /* of the problem's ladder */
    double *z;     /* patches x states x rank */
    double *w, *v; /* by column, by state */
    double *tau;   /* by state */
    double log_evidence;
} kb_ode_state;

kbass_status kb_ode_state_create(size_t n, kb_ode_field *const *fields, kb_ode_state **out, kbass_error *error);
void kb_ode_state_destroy(kb_ode_state *state);
/* From the fields, and back: but for support, level and evidence, which are the caller's; the fields stand at a level
   of the state's length scale. */
void kb_ode_state_save(kb_ode_state *state, size_t n, kb_ode_field *const *fields);
void kb_ode_state_load(const kb_ode_state *state, size_t n, kb_ode_field *const *fields);

#endif
