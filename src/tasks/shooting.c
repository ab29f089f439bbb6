#include "tasks/shooting.h"

kb_shooter *kb_pass_shooter(const kb_pass *p, int worker)
{
    return kb_shooter_of(p->search.workers.list[worker]->likelihood);
}

kb_dynamics *kb_pass_dynamics(const kb_pass *p) { return kb_pass_shooter(p, 0)->dynamics; }

kbass_status kb_make_trajectories(const kb_ode_problem *p, size_t max_windows, kb_likelihood **out, kbass_error *error)
{
    kb_shooter *shooter = NULL;
    kbass_status status =
        kb_shooter_create(p->record, p->dictionary, p->columns, max_windows, p->columns->n, &shooter, error);
    if (status != KBASS_OK) return status;
    shooter->flow->follow = kb_ode_problem_follow(p);
    *out = &shooter->likelihood;
    return KBASS_OK;
}

kbass_status kb_examine_residuals(kb_pass *p, kbass_error *error)
{
    kb_shooter *shooter = kb_pass_shooter(p, 0);
    shooter->likelihood.windows = p->search.windows;
    return kb_residual_tests_run(shooter, p->result->pool.fits[0], &p->result->residual_tests, error);
}
