/* Fields along one axis whose structures are proposed by the weak form: what many data on a grid (dense.c) and few
 * (sparse.c) share. Proposals are fitted until one follows the data, then their neighbours, then on finer grids.
 */
#ifndef KB_TASKS_PROPOSED_H
#define KB_TASKS_PROPOSED_H

#include "propose/weak/fields.h"
#include "tasks/one_axis.h"

typedef struct {
    const kb_task *task;
    kb_pde1d_problem whole; /* the problem; its setups are this search's own */
    kb_run *run;
    kb_field_proposals proposals;
    size_t *windows; /* by run */
    double noise;    /* mean over the fields */
    kb_search_result *result;
} kb_proposed;

/* The task of either: only its schedule differs. */
#define KB_PROPOSED_TASK(table)                                                                                        \
    {                                                                                                                  \
        .schedule = &(table).value, .examine = kb_examine_residuals, .begin = kb_one_axis_begin,                       \
        .raise_floor = kb_one_axis_raise_floor, .lower_floor = kb_one_axis_lower_floor, .noise = kb_one_axis_noise,    \
        .refine = kb_one_axis_refine, .step_back = kb_one_axis_step_back, .end = kb_one_axis_end                       \
    }

/* Setups, windows, proposals and their noise. No proposals are an outcome. */
kbass_status kb_proposed_create(const kb_task *task, const kb_pde1d_problem *problem, kb_run *run,
                                kb_search_result *result, kb_proposed *out, kbass_error *error);
void kb_proposed_clear(kb_proposed *search);

kb_pass kb_proposed_pass(const kb_proposed *search, const kb_pde1d_problem *problem, kb_search_result *result);
void kb_proposed_end(kb_pass *pass);
/* A model with its weights, by column, and noise variances, by field. */
kbass_status kb_proposed_enter(kb_pass *pass, const kb_support *support, const double *w, const double *variance,
                               kbass_error *error);
/* Does the best model follow the data to their noise? */
bool kb_proposed_follows(const kb_proposed *search, const kb_pass *pass);
/* Fits the pool, and again as long as the best model does not follow yet but comes nearer. */
kbass_status kb_proposed_fit(const kb_proposed *search, kb_pass *pass, kbass_error *error);
/* Structures compared on the pass's data; *found: one of them follows them. */
kbass_status kb_proposed_compare(const kb_proposed *search, kb_pass *pass, bool *found, kbass_error *error);
/* The same, and it stays on the coarsest grid; */
kbass_status kb_proposed_compare_coarsely(const kb_proposed *search, kb_pass *pass, bool *found, kbass_error *error);
/* to the grid on which the best model's weights no longer depend on it. */
kbass_status kb_proposed_refine(const kb_proposed *search, kb_pass *pass, kbass_error *error);
bool kb_pde1d_is_gridded(const kb_pde1d_problem *problem, size_t least_rows);

#endif
