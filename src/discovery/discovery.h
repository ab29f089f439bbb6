/* A discovery: its data, the problem made of them, and what was found. */
#ifndef KB_DISCOVERY_DISCOVERY_H
#define KB_DISCOVERY_DISCOVERY_H

#include "answer/answer.h"
#include "answer/constants.h"
#include "answer/trace.h"
#include "base/budget.h"
#include "base/checkpoint.h"
#include "base/run.h"
#include "base/settings.h"
#include "data/data.h"
#include "discovery/point_set.h"
#include "posterior/law.h"
#include "posterior/posterior.h"
#include "problem/ode.h"
#include "problem/pde1d.h"
#include "problem/pde_nd.h"
#include "published/published.h"
#include "report/sketch.h"
#include "search/result.h"
#include "search/standing.h"

/* What a run leaves besides its answer, made once (solve.c). */
typedef struct {
    int parts;                    /* KBASS_KEEP_... that were made, or tried */
    bool is_cut;                  /* the run was stopped before the solution was solved */
    kbass_posterior **posteriors; /* by run; NULL where there is none */
    kb_sketch *sketch;            /* NULL: no solution */
    kb_point_set *shown, *rows;   /* by run: where the solution has a band, and where its mean is enough */
} kb_solved;

struct kbass_discovery {
    kbass_data *data;
    kbass_settings settings;
    kb_dictionary *dictionary;
    kb_ode_problem *ode;       /* of ODE systems */
    kb_pde1d_problem *pde1d;   /* of fields over one space axis */
    kb_pde_nd_problem *pde_nd; /* of fields over more, or of second order in time */
    kb_search_result found;    /* of our method */
    kb_published *paper;       /* of the published one */
    kb_answer *answer;
    kb_constant_estimate constants[KB_MOST_CONSTANTS];
    double *constant_correlation; /* n_constants x support */
    kb_constants_spread constants_spread;
    size_t n_guarded; /* terms with max(0,x)^n for x^n */
    const kb_trace *trace;
    int keeps; /* KBASS_KEEP_...: what the next run makes besides its answer */
    kb_solved solved;
    double seconds_to_create, began; /* of kb_clock: the last run */
    kb_budget budget;
    kb_checkpoint *checkpoint; /* or NULL */
    kbass_reduce reduce;       /* n_ranks 0: alone */
    kb_standing *standing;     /* KBASS_KEEP_BEST: of the last run, or the one that is going on; else NULL */
};

/* "degree=2; noise=5%": what was set, but for what an answer does not depend on; NULL: no memory. */
char *kb_discovery_settings_text(const kbass_discovery *d);
/* Do all ranks work on the same data by the same version and settings? */
kbass_status kb_discovery_agree(const kbass_discovery *d, kbass_error *error);
/* Work that an interrupted call of the same kind has done. */
kbass_status kb_discovery_open_checkpoint(kbass_discovery *d, kbass_error *error);
/* The problem of the data and settings. */
kbass_status kb_discovery_build(kbass_discovery *d, const kbass_data *data, const kbass_settings *given,
                                kbass_error *error);
/* Before another run: what the last one found. */
void kb_discovery_forget(kbass_discovery *d);
/* What its scaled numbers mean. */
kb_frame kb_discovery_frame(const kbass_discovery *d);
/* By the method that is set, with all constants known. */
kbass_status kb_discovery_search(kbass_discovery *d, kb_run *run, kbass_error *error);
/* And with the unknown ones searched for. */
kbass_status kb_discovery_search_constants(kbass_discovery *d, kb_run *run, kbass_error *error);
/* Of a run; that of the one after the last is the number of windows. */
size_t kb_discovery_first_window(const kbass_discovery *d, size_t run);

/* ---------------------------------------------------------------- the solution */

kbass_status kb_discovery_check_run(const kbass_discovery *d, size_t run, kbass_error *error);
/* NULL: states. */
const kb_field_samples *kb_discovery_samples(const kbass_discovery *d, size_t run);
/* The axis as a share of what was measured: a period may reach farther. */
double kb_discovery_reach(const kbass_discovery *d, size_t run, size_t axis);

typedef struct {
    const kbass_discovery *discovery;
    size_t run;
} kb_discovery_run_of;

/* Of the chosen model in a run (context: kb_discovery_run_of), without the band that its rivals would be asked for. */
kbass_status kb_discovery_solution_at(const void *context, size_t n, const double *times, const double *positions,
                                      double *values, kbass_error *error);

/* What is kept at all of these points, if it is. */
bool kb_discovery_find(const kbass_discovery *d, size_t run, size_t n, const double *times, const double *positions,
                       double *mean, double *sd);
/* As kbass_discovery_solution, solved now; the clock (or NULL) may end it: KBASS_ERROR_TIME. */
kbass_status kb_discovery_solve_at(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                   const double *positions, double *mean, double *sd, kb_run *clock,
                                   kbass_error *error);
/* As kbass_discovery_points, by a solution at other points (context: kb_discovery_run_of). */
kbass_status kb_discovery_points(const kbass_discovery *d, size_t run, kb_solution_at *solution, const void *context,
                                 size_t *counts, double *times, double *positions, kbass_error *error);

/* ---------------------------------------------------------------- what a run leaves */

/* One for each run; they stay NULL where there is none. */
kbass_status kb_discovery_posteriors(const kbass_discovery *d, kbass_posterior **out, kbass_error *error);
/* Makes the parts, and adds the time they take to the answer's seconds. Where the clock (or NULL) ends it, or the
   solution cannot be had, the answer stays without one. */
kbass_status kb_discovery_solve(kbass_discovery *d, int parts, kb_run *clock, kbass_error *error);
void kb_discovery_forget_solved(kbass_discovery *d);

#endif
