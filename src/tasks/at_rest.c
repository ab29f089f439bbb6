/* Fields along one axis that tell of no change: where a field at rest with noise explains the data no worse than a bare
 * field that moves, the law without terms is fitted to the whole record, and its neighbours beside it. What is better
 * than nothing there is for the search from nothing to find (docs/math.md, section 12).
 */
#include <string.h>

#include "evidence/without_law_fields.h"
#include "search/strategy.h"
#include "tasks/one_axis.h"

static kbass_status enter(kb_pass *p, kbass_error *error) { return kb_one_axis_enter(p, 0, NULL, error); }

static kbass_status extend(kb_pass *p, size_t stage, kbass_error *error)
{
    (void)error;
    p->is_over = stage != KB_WHOLE_RECORD && stage > 0;
    p->is_last = true;
    kb_one_axis_reach(p, 1);
    return KBASS_OK;
}

static const kb_source no_sources[] = {{0}};

static const kb_task task = {.sources = no_sources,
                             .begin = kb_one_axis_begin,
                             .enter = enter,
                             .take = kb_one_axis_take,
                             .extend = extend,
                             .noise = kb_one_axis_noise,
                             .finish = kb_one_axis_finish,
                             .examine = kb_examine_residuals,
                             .end = kb_one_axis_end};

static bool may_be_empty(const kb_columns *columns)
{
    bool is_free = columns->n_fixed == 0;
    for (size_t i = 0; i < columns->n; i++) is_free = is_free && !columns->required[i];
    return is_free;
}

/* A run without the time to look is searched as any other. */
static kbass_status look_for_change(const kb_pde1d_problem *l, kb_run *run, bool *changes, kbass_error *error)
{
    kb_without_law without = {0};
    *changes = true;
    if (l->run_samples[0]->noise_model != KB_NOISE_ADDITIVE || !may_be_empty(l->columns)) return KBASS_OK;
    kbass_status status = kb_without_law_of_fields(l->n_runs, l->run_samples, (kb_kernel_kind)l->settings->kernel,
                                                   KB_LEAST_NOISE, run, &without, error);
    if (status == KBASS_OK) *changes = !without.is_still;
    kb_without_law_clear(&without);
    return status == KBASS_ERROR_TIME ? KBASS_OK : status;
}

kbass_status kb_rest_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, bool *found,
                            kbass_error *error)
{
    kb_schedule schedule = kb_schedule_of_one_axis.value;
    kb_task own = task;
    bool changes = true;
    *found = false;
    kbass_status status = look_for_change(l, run, &changes, error);
    if (status != KBASS_OK || changes) return status;
    schedule.worth_fitting = schedule.most_screened = 0; /* only what promises to be better than nothing */
    own.schedule = &schedule;
    status = kb_search_discover(&own, l, l->n_runs, run, result, error);
    *found = status == KBASS_OK && kb_has_model(result) && result->pool.fits[0]->support.n == 0;
    if (status == KBASS_OK && !*found) kb_search_result_clear(result);
    return status;
}
