/* Shooting: a model's weights and initial states fitted to the data through the integrated equation.
 *
 * The record is cut into windows that share their border rows (each counted half in both), every window with its own
 * initial state, all with the same weights and noise; one window is single shooting. The normal equations are a
 * block arrow: eliminating each window's initial state leaves its message about the weights, and messages add
 * (docs/math.md, eqs 19 to 22). Noise is estimated per state, drawn towards a common share of the states' variances.
 */
#ifndef KB_SHOOT_H
#define KB_SHOOT_H

#include "base/checkpoint.h"
#include "base/run.h"
#include "weights/fit.h"
#include "forward/comparison.h"
#include "forward/ode/trajectory.h"
#include "weights/message.h"

/* One thread's workspace. */
typedef struct {
    kb_dynamics *dynamics; /* owned */
    kb_flow *flow;         /* that of ODE dynamics, NULL otherwise */
    const kb_columns *columns;
    const kb_windows *windows;
    size_t n, n_groups, max_columns, max_windows; /* n: unknowns of a start */
    double *predicted, *tangents; /* windows one after another, a shared border row in both; at offset[window] */
    size_t *offset;
    double *normals, *weighted; /* one window's J'J and J */
    double *Hww, *gw, *Hzw, *Hzz, *gz, *system, *dw, *dz, *trial_w, *trial_start, *squares, *counts, *before;
    double *gradient, *inverse, *spread;
    /* Where columns have constraints: the basis of free weights (k x n_free), workspace, and weights that are held. */
    double *basis, *constrained_work, *placed_w;
    size_t n_free;
    bool *held, was_cut; /* the last step ended at a bound */
    kb_comparison comparison;
    double log_relative;                    /* sum of log h over what squares were summed over */
    size_t n_tangents;                      /* of the model set last */
    double *kept_tangents, *kept_residuals; /* where kb_shooter_linearise wants them, or NULL */
    size_t n_kept;
    bool holds_weights; /* only starts and noise are fitted */
    kb_run *run;        /* that a fit may be given up for, or NULL */
    bool keeps_fit;     /* a fit that is given up ends where it stands */
    double pace;        /* of the last integration with tangents: seconds for a row and a parameter; 0: none yet */
    double deadline;    /* of kb_clock: a fit ends where it stands; 0: none */
    kb_checkpoint *checkpoint; /* that knows of fits and keeps them, or NULL */
    kb_work_key identity;      /* of the dynamics, once it was asked for (fit_once.c) */
} kb_shooter;

/* Shooting of trajectories through a record. */
kbass_status kb_shooter_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                               size_t max_windows, size_t max_columns, kb_shooter **out, kbass_error *error);
/* The same for any dynamics, which the shooter takes over, also when it fails. */
kbass_status kb_shooter_create_on(kb_dynamics *dynamics, const kb_columns *columns, size_t max_windows,
                                  size_t max_columns, kb_shooter **out, kbass_error *error);
void kb_shooter_destroy(kb_shooter *shooter);

/* Fits fit->support from fit->w, fit->start and fit->variance over the shooter's windows. `rival` is the log
   likelihood of the best model so far: a fit that is hopelessly behind it after a few iterations stops. */
void kb_shooter_fit(kb_shooter *shooter, kb_fit *fit, int max_iterations, double rival);
/* The same without asking the checkpoint. */
void kb_shooter_fit_now(kb_shooter *shooter, kb_fit *fit, int max_iterations, double rival);
/* What a fit from here depends on; a fit that the checkpoint knows under a key; and one to keep there (fit_once.c). */
kb_work_key kb_shooter_fit_key(kb_shooter *shooter, const kb_fit *fit, int max_iterations, double rival);
bool kb_shooter_recall(const kb_shooter *shooter, kb_work_key key, kb_fit *fit);
void kb_shooter_keep(const kb_shooter *shooter, kb_work_key key, const kb_fit *fit);
/* The start (n) at a row of a window that continues the fitted solution. */
bool kb_shooter_state(kb_shooter *shooter, const kb_fit *fit, size_t window, size_t row, double *state);
/* Joint covariance of the weights and each window's start, (k + n)^2 per window, at a valid fit. */
bool kb_shooter_covariances(kb_shooter *shooter, const kb_fit *fit, double *covariances);
/* Residuals of all windows' observations at a valid fit and, P = k + n for each, their tangents, both over the noise's
   sd and times the root of their weight; leaves the factors of the normal equations in Hzz, Hzw and system. */
bool kb_shooter_linearise(kb_shooter *shooter, const kb_fit *fit, double *tangents, double *residuals);
/* After that: x <- A^{-1} x for k x n_right numbers, A the weights' normal equations; `work` as many. */
void kb_shooter_solve(const kb_shooter *shooter, size_t k, size_t n_right, double *x, double *work);
/* Degrees of freedom behind the noise estimate of a group; INFINITY when the noise is known. */
double kb_shooter_freedom(kb_shooter *shooter, const kb_fit *fit, size_t group);
/* The message about the columns of `all` at a valid fit. */
bool kb_shooter_message(kb_shooter *shooter, const kb_fit *fit, const kb_support *all, kb_message *message);
/* After that: the windows' starts (n each) follow a change dw of the weights of `all`, as the message supposes. */
void kb_shooter_follow(kb_shooter *shooter, const double *dw, double *start);

#endif
