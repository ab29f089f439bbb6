/* States over many swings: searched on a growing part of the record (search/growth.h), from the weak form's structures
 * and, where these leave more of the first part unexplained than the schedule allows, the kernel's on some patches.
 */
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/ode.h"
#include "propose/sources.h"
#include "search/growth.h"
#include "search/trace.h"
#include "tasks/shooting.h"
#include "tasks/tasks.h"

typedef struct {
    kb_growth growth;
    bool has_asked; /* the kernel engine */
} progress;

static kb_first_part first_part(const kb_ode_problem *p)
{
    const kb_schedule *schedule = &kb_schedule_of_long_states.value;
    const kb_record *r = p->record;
    size_t rows = 0, run = 0;
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->duration[i] > r->duration[run]) run = i;
    for (size_t row = r->run_start[run]; row < r->run_start[run + 1]; row++)
        rows += r->time[row] <= schedule->first_swings * p->period;
    return (kb_first_part){(size_t)schedule->first_windows, rows};
}

static size_t most_windows(const kb_ode_problem *p)
{
    kb_first_part first = first_part(p);
    kb_likelihood rows = {.n_runs = p->record->n_runs, .run_start = p->record->run_start, .n_rows = p->record->n_rows};
    return kb_growth_most_windows(&rows, &first);
}

static kbass_status make(const void *problem, kb_likelihood **out, kbass_error *error)
{
    return kb_make_trajectories(problem, most_windows(problem), out, error);
}

static kbass_status begin(kb_pass *pass, kbass_error *error)
{
    const kb_ode_problem *p = pass->problem;
    progress *state = pass->state = KB_NEW(progress, 1);
    if (!state) return kb_out_of_memory(error, "the search");
    pass->search.columns = p->columns;
    pass->search.all = &p->all;
    kb_pool_init(pass->search.pool, p->columns->n, p->record->n_states, most_windows(p));
    kb_growth_init(&pass->search, &state->growth);
    return kb_workers_create(p->threads, make, p, p->columns, &pass->search.workers, error);
}

static void end(kb_pass *pass)
{
    progress *state = pass->state;
    if (state) kb_growth_clear(&state->growth);
    kb_free(state);
}

/* All that was found so far and what is new, on the first part. */
static kbass_status take(kb_pass *pass, kb_pool *found, kbass_error *error)
{
    kb_first_part first = first_part(pass->problem);
    kbass_status status = kb_pool_merge(pass->search.pool, found, error);
    kb_trace_pool(&pass->search, "proposed");
    return status == KBASS_OK ? kb_growth_begin(&pass->search, &first, &((progress *)pass->state)->growth, error)
                              : status;
}

static double noise(const kb_pass *pass) { return ((const kb_ode_problem *)pass->problem)->noise_variance; }

/* Several windows of few swings, or residuals above the bare field's noise. */
static bool is_unexplained(const kb_pass *pass)
{
    const progress *state = pass->state;
    double most = pass->task->schedule->first_unexplained * noise(pass);
    return state->growth.n > 1 || !(kb_growth_noise(&pass->search) <= most);
}

static kbass_status ask_again(kb_pass *pass, kbass_error *error)
{
    size_t n = 0;
    ((progress *)pass->state)->has_asked = true;
    pass->search.run->stage = kbass_stage_name(KBASS_STAGE_SEARCH);
    kbass_status status = kb_pass_ask(pass, KB_WHERE_UNEXPLAINED, &n, error);
    pass->search.run->stage = kbass_stage_name(KBASS_STAGE_ARBITRATE);
    return status;
}

static kbass_status extend(kb_pass *pass, size_t stage, kbass_error *error)
{
    progress *state = pass->state;
    kb_growth *growth = &state->growth;
    kb_search *search = &pass->search;
    if (stage == KB_WHOLE_RECORD) return kb_growth_whole(search, growth, error);
    if (stage == 0) return KBASS_OK; /* proposals are on the first part */
    pass->is_fitted = true;
    if (!growth->is_merged && growth->n > 1) return kb_growth_merge(search, growth, error);
    if (!state->has_asked && is_unexplained(pass)) {
        pass->is_fitted = false;
        return ask_again(pass, error);
    }
    state->has_asked = true; /* only about the first part */
    pass->is_over = kb_growth_sees_all(search, growth);
    return pass->is_over ? KBASS_OK : kb_growth_double(search, growth, error);
}

const kb_task kb_task_of_long_states = {.schedule = &kb_schedule_of_long_states.value,
                                        .examine = kb_examine_residuals,
                                        .sources = kb_sources_of_states,
                                        .first_sources = KB_AT_FIRST,
                                        .begin = begin,
                                        .take = take,
                                        .extend = extend,
                                        .noise = noise,
                                        .end = end};

const kb_task *kb_task_of_ode(const kb_ode_problem *p)
{
    if (p->is_long) return &kb_task_of_long_states;
    return p->is_wide ? &kb_task_of_wide_states : &kb_task_of_states;
}
