/* The likelihood of models: all that a search fits and asks. Shooting through the integrated equation is one
 * (forward/shoot.h), the kernel engine with its field integrated out the other (collocation/kernel_likelihood.h); a
 * search knows neither. One thread's workspace: the interface is the first member of either.
 */
#ifndef KB_WEIGHTS_LIKELIHOOD_H
#define KB_WEIGHTS_LIKELIHOOD_H

#include "base/checkpoint.h"
#include "base/run.h"
#include "weights/fit.h"
#include "weights/message.h"

typedef struct kb_likelihood kb_likelihood;

struct kb_likelihood {
    const kb_columns *columns;
    size_t n_start, n_groups; /* unknowns of a window's start; noises: one a state or field */
    size_t n_rows, n_runs;
    const size_t *run_start;   /* n_runs + 1 rows; NULL: one run */
    bool starts_are_states;    /* of the system; else many modes of a profile, which may go astray */
    const kb_windows *windows; /* on which models are fitted */
    kb_likelihood **team;      /* n_team: all threads' of a search by their number; a thread that waits takes up */
    size_t n_team;             /* what another has to do. 0: none */
    /* What the next fits are told: */
    bool holds_weights;        /* only starts and noise are fitted */
    kb_run *run;               /* that a fit may be given up for, or NULL */
    bool keeps_fit;            /* a fit that is given up ends where it stands */
    double aim;                /* squared misfit of a model that follows the data: a fit that will not come near it ends
                                  where it stands; 0: none */
    double deadline;           /* of kb_clock: a fit ends where it stands; 0: none */
    kb_checkpoint *checkpoint; /* that knows of fits and keeps them, or NULL */
    kb_work_key state_key;     /* of the fit under way, which may keep its state; 0: it may not */
    double state_kept;         /* of kb_clock: when it last did */

    /* Fits fit->support from fit->w, fit->start and fit->variance over the windows. `rival` is the log likelihood of
       the best model so far: a fit that is hopelessly behind it after a few iterations stops. */
    void (*fit)(kb_likelihood *self, kb_fit *fit, int max_iterations, double rival);
    /* What such a fit depends on. */
    kb_work_key (*key)(kb_likelihood *self, const kb_fit *fit, int max_iterations, double rival);
    /* The message about the columns of `all` at a valid fit. */
    bool (*message)(kb_likelihood *self, const kb_fit *fit, const kb_support *all, kb_message *message);
    /* After that: the windows' starts (n_start each) follow a change dw of the weights of `all`, as it supposes. */
    void (*follow)(kb_likelihood *self, const double *dw, double *start);
    /* A message of another kind: the fitted solution as it is (`mixes`: or, of states that it follows poorly, the field
       without a law), and each equation a regression for itself. False, or NULL: there is none. */
    bool (*integrals)(kb_likelihood *self, const kb_fit *fit, bool mixes, kb_message *message);
    /* Joint covariance of the weights and each window's start, (k + n_start)^2 per window, at a valid fit. */
    bool (*covariances)(kb_likelihood *self, const kb_fit *fit, double *covariances);
    /* The start at a row of a window that continues the fitted solution. */
    bool (*solution)(kb_likelihood *self, const kb_fit *fit, size_t window, size_t row, double *start);
    /* A start at a row, by regression of the measurements nearby; NULL: there is none. */
    kbass_status (*guess)(kb_likelihood *self, size_t row, double *start, kbass_error *error);
    /* Seconds of one message about so many columns on the windows; 0: not known yet. */
    double (*cost)(const kb_likelihood *self, size_t n_columns);
    /* From now on all ranks make the same calls of fit and message, about so many columns at most, and share their
       windows; NULL: no longer. False where that does not pay, for all of them. NULL: never */
    bool (*share)(kb_likelihood *self, const kbass_reduce *reduce, size_t n_columns);
    /* Smallest noise variance, scaled: below it lies the discretisation's own error. */
    double (*floor)(const kb_likelihood *self);
    /* Of a fit: the geometric mean of the noise variances that it shows, over what is measured. */
    double (*noise)(const kb_likelihood *self, const kb_fit *fit);
    /* What a noise variance of 1 is, and the degrees of freedom behind its estimate, by group; is it relative? */
    bool (*describe_noise)(kb_likelihood *self, const kb_fit *fit, double *unit, double *freedom);
    void (*destroy)(kb_likelihood *self);
};

/* A fit that the checkpoint knows, or one to keep there. What was given up for the clock is not kept. */
void kb_likelihood_fit(kb_likelihood *likelihood, kb_fit *fit, int max_iterations, double rival);
/* The state of a fit under way: the fit and numbers of its own. Kept when it is time; taken where one was kept. */
void kb_likelihood_keep_state(kb_likelihood *likelihood, const kb_fit *fit, size_t n, const double *numbers);
bool kb_likelihood_take_state(const kb_likelihood *likelihood, kb_fit *fit, size_t n, double *numbers);
bool kb_likelihood_recall(const kb_likelihood *likelihood, kb_work_key key, kb_fit *fit);
void kb_likelihood_keep(const kb_likelihood *likelihood, kb_work_key key, const kb_fit *fit);

#endif
