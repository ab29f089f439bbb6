/* Patches together: fields of their own, one set of weights. Messages and evidences are sums over patches.
 *
 * A kb_kernel_state is a point of the search: structure, weights, fields, length scales, variances.
 * `kb_patch_solver_iterate` moves it by joint Gauss-Newton steps and leaves the message about the candidates' weights;
 * the evidence of the data, normalised by the determinant without data, is comparable across structures, length scales
 * and tau (docs/math.md, eq. 15).
 */
#ifndef KB_COLLOCATION_PATCH_SOLVER_H
#define KB_COLLOCATION_PATCH_SOLVER_H

#include "base/run.h"
#include "weights/message.h"
#include "collocation/normal_equations.h"

/* The ladder of tau, and its end. */
#define KB_TAU_FACTOR 4    /* ratio: of neighbours on the ladder */
#define KB_LEAST_TAU  2e-3 /* variance of the scaled equation: below it the cut basis is what is seen */

typedef struct {
    kb_steps steps;
    double tau;
    double freedom;   /* of Student's t; 0: Gaussian */
    double *variance; /* n_fields */
    double *z;        /* all patches' coefficients at `steps` */
    double *w;        /* by column */
    kb_support support;
    double log_evidence;
    bool is_settled; /* its hyperparameters are its own, */
    bool is_tuned;   /* and no step away from them helps: the search for them came to its end */
    bool is_at_rest; /* the last solve ended where another step would hardly move it */
} kb_kernel_state;

typedef struct {
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    kb_columns present; /* the same columns with slabs for the present field */
    kb_support all;
    size_t n_patches;
    kb_patch **patches;  /* borrowed */
    size_t *offset, n_z; /* of each patch's coefficients in kb_kernel_state.z */
    size_t n_values, n_fields;
    int threads;
    kb_run *run;                     /* asked before every step whether to go on; NULL: none */
    kb_run *clock;                   /* asked before every patch whether there is time left; NULL: none */
    kb_patch_workspace **workspaces; /* one per thread */
    kb_patch_message **messages;     /* one per patch */
    double *slope_squares, *slab;
    const double *amplitude, *greatest_variance, *known_variance; /* per field; of the bare field, of the data */
    double *effective, *squares; /* per field: effective parameters, squared residuals */
    /* the sum of the patches' messages about the columns last asked for: k x k and k, b at w = 0 */
    kb_support asked;
    double *G, *b;
    double *A, *dw, *trial_w, *trial_z, *step, *sums;
    size_t *place; /* of the support's columns among those asked for */
} kb_patch_solver;

kbass_status kb_patch_solver_create(size_t n_patches, kb_patch **patches, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const double *amplitude, const double *greatest_variance,
                                    int threads, kb_patch_solver **out, kbass_error *error);
void kb_patch_solver_destroy(kb_patch_solver *solver);

kbass_status kb_kernel_state_create(const kb_patch_solver *solver, kb_kernel_state **out, kbass_error *error);
void kb_kernel_state_destroy(kb_kernel_state *state);
void kb_kernel_state_copy(const kb_patch_solver *solver, const kb_kernel_state *from, kb_kernel_state *to);

/* Fields by regression alone at the state's steps and variances. False in numerical trouble, as below. */
bool kb_patch_solver_regress(kb_patch_solver *solver, kb_kernel_state *state);
/* Carries the fields to other length scales. */
bool kb_patch_solver_move(kb_patch_solver *solver, kb_kernel_state *state, kb_steps steps);

typedef struct {
    int iterations;
    bool learn_noise, evidence;
    const kb_support *candidates; /* of the final message, the state's support among them; NULL: the support */
} kb_solve_options;

bool kb_patch_solver_iterate(kb_patch_solver *solver, kb_kernel_state *state, const kb_solve_options *options);
/* The message at the state as it is, no step taken. */
bool kb_patch_solver_message(kb_patch_solver *solver, kb_kernel_state *state, const kb_support *candidates);

/* Covariance of the support's weights there, k x k. */
bool kb_patch_solver_covariance(kb_patch_solver *solver, kb_kernel_state *state, double *covariance);

/* How far the patches disagree about the support's weights, after a solve: chi-squared of their gradients, less its
   mean, in its standard deviations. */
double kb_patch_solver_discord(kb_patch_solver *solver, const kb_kernel_state *state);
/* Squared distance of other weights from those of a state just solved, in units of its posterior covariance. */
double kb_patch_solver_distance(const kb_patch_solver *solver, const kb_kernel_state *state, const double *w);
/* Root mean square residual of the data, scaled. */
double kb_patch_solver_misfit(kb_patch_solver *solver, const kb_kernel_state *state);
/* Least noise variance, scaled: below it the truncated basis would be fitted, not the data. */
double kb_patch_solver_variance_floor(const kb_patch_solver *solver, size_t field);

#endif
