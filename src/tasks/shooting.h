/* What tasks have in common whose likelihood is shooting (forward/shoot.h). */
#ifndef KB_TASKS_SHOOTING_H
#define KB_TASKS_SHOOTING_H

#include "forward/shoot.h"
#include "problem/ode.h"
#include "search/task.h"

/* The shooter of a worker, and the first one's dynamics. */
kb_shooter *kb_pass_shooter(const kb_pass *pass, int worker);
kb_dynamics *kb_pass_dynamics(const kb_pass *pass);
/* Of states: a likelihood on so many windows at most. */
kbass_status kb_make_trajectories(const kb_ode_problem *problem, size_t max_windows, kb_likelihood **out,
                                  kbass_error *error);
/* The tests of the chosen model's residuals: kb_task.examine. */
kbass_status kb_examine_residuals(kb_pass *pass, kbass_error *error);

#endif
