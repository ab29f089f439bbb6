/* Few data on a grid: the weak form proposes, all data compare. The answer has to pass tests that a wrong law seldom
 * does; where it does not, the search from nothing is due (docs/math.md, algorithm 7).
 */
#include <string.h>

#include "search/polish.h"
#include "tasks/proposed.h"

static const kb_schedule *const schedule = &kb_schedule_of_sparse_axis.value;

static const kb_task task = KB_PROPOSED_TASK(kb_schedule_of_sparse_axis);

static bool is_sparse(const kb_pde1d_problem *l)
{
    double n = kb_pde1d_values(l);
    bool is_free = !l->columns->run && !l->columns->constraints && !kb_one_axis_is_restless(l);
    return is_free && n >= schedule->fewest_values && n < kb_schedule_of_dense_axis.value.fewest_values &&
           kb_pde1d_is_gridded(l, (size_t)schedule->least_rows);
}

static kbass_status polish(kb_pass *p, kbass_error *error)
{
    double clock = kb_run_stage(p->search.run, KBASS_STAGE_POLISH, 0.9, 1);
    kbass_status status = kb_one_axis_finish(p, error);
    p->result->settled = true;
    if (status == KBASS_OK) status = kb_polish(p, error);
    p->result->seconds[KBASS_STAGE_POLISH] = kb_clock() - clock;
    return status;
}

static kbass_status search(const kb_proposed *s, bool *found, kbass_error *error)
{
    kb_pass p = kb_proposed_pass(s, &s->whole, s->result);
    double clock = kb_run_stage(s->run, KBASS_STAGE_ARBITRATE, 0.2, 0.9);
    kbass_status status = kb_one_axis_begin(&p, error);
    if (status == KBASS_OK) status = kb_proposed_compare(s, &p, found, error);
    s->result->seconds[KBASS_STAGE_ARBITRATE] = kb_clock() - clock;
    s->result->n_starts = s->proposals.n;
    if (status == KBASS_OK && *found) status = polish(&p, error);
    *found = status == KBASS_OK && *found && kb_one_axis_is_plain(s->task->schedule, &s->whole, s->result);
    kb_proposed_end(&p);
    return status;
}

kbass_status kb_sparse_search(const kb_pde1d_problem *l, kb_run *run, kb_search_result *result, bool *found,
                              kbass_error *error)
{
    kb_proposed s;
    *found = false;
    memset(result, 0, sizeof *result);
    if (!is_sparse(l)) return KBASS_OK;
    kb_run_stage(run, KBASS_STAGE_SEARCH, 0.1, 0.2);
    kbass_status status = kb_proposed_create(&task, l, run, result, &s, error);
    if (status == KBASS_OK && s.proposals.n) status = search(&s, found, error);
    if (status == KBASS_OK && !*found) kb_search_result_clear(result);
    kb_proposed_clear(&s);
    return status;
}
