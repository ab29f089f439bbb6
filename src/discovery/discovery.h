/* A discovery: its data, the problem made of them, and what was found. */
#ifndef KB_DISCOVERY_DISCOVERY_H
#define KB_DISCOVERY_DISCOVERY_H

#include "answer/answer.h"
#include "answer/constants.h"
#include "answer/trace.h"
#include "base/budget.h"
#include "base/checkpoint.h"
#include "base/settings.h"
#include "data/data.h"
#include "posterior/posterior.h"
#include "problem/ode.h"
#include "problem/pde1d.h"
#include "problem/pde_nd.h"
#include "published/published.h"
#include "search/result.h"

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
    double seconds_to_create;
    bool has_told_seconds; /* those of the JSON's solution are counted */
    kb_budget budget;
    kb_checkpoint *checkpoint; /* or NULL */
    kbass_reduce reduce;       /* n_ranks 0: alone */
};

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

#endif
