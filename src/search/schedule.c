#include "search/schedule.h"

#include "gp/noise.h"

#define BOUND        "a bound on the work; not measured"
#define NOT_MEASURED "not measured"
#define SAME         "as for states"

/* X(name, value, reason) */
#define NEIGHBOURS(X)                                                                                                  \
    X(parents, 3, NOT_MEASURED)                                                                                        \
    X(worth_exploring, 4, NOT_MEASURED)                                                                                \
    X(worth_again, 3, NOT_MEASURED)                                                                                    \
    X(climb_moves, 30, BOUND)                                                                                          \
    X(screened, 3, NOT_MEASURED)                                                                                       \
    X(screened_size, 3, "larger subsets are too many to try")                                                          \
    X(screened_columns, 64, NOT_MEASURED)                                                                              \
    X(neighbour_iterations, 12, NOT_MEASURED)                                                                          \
    X(polish_iterations, 60, BOUND)                                                                                    \
    X(polished, 4, NOT_MEASURED)

#define STATES(X)                                                                                                      \
    NEIGHBOURS(X)                                                                                                      \
    X(screened_from, 4, "long sums stand for short ones on slow manifolds and in pulses; seen on a stiff system")      \
    X(screened_long, 32, "along a wrong solution the law came fifth to seventeenth, on that system and Roessler's")    \
    X(screened_near, 32, "few data leave many laws; tangents of one tell little of those far from it")                 \
    X(worth_fitting, 7, NOT_MEASURED)                                                                                  \
    X(most_moves, 16, NOT_MEASURED)                                                                                    \
    X(fit_iterations, 12, NOT_MEASURED)                                                                                \
    X(final_iterations, 40, NOT_MEASURED)                                                                              \
    X(stage_beam, 2, "short windows only lead to longer ones; not measured")                                           \
    X(stage_rounds, 2, "likewise")                                                                                     \
    X(final_beam, 40, NOT_MEASURED)                                                                                    \
    X(final_rounds, 30, NOT_MEASURED)                                                                                  \
    X(kept, 16, NOT_MEASURED)                                                                                          \
    X(followed, 2, NOT_MEASURED)                                                                                       \
    X(lost, 2, NOT_MEASURED)                                                                                           \
    X(grace, 0.4, NOT_MEASURED)                                                                                        \
    X(grace_iterations, 6, NOT_MEASURED)

#define WIDE_STATES(X)                                                                                                 \
    X(parents, 1, "a message about all columns costs as much as some fits")                                            \
    X(worth_exploring, 4, SAME)                                                                                        \
    X(worth_again, 3, SAME)                                                                                            \
    X(sweeps, 1, "neighbours in a chain are alike: two have to change for two")                                        \
    X(climb_moves, 60, "each equation may want some; a bound on the work")                                             \
    X(screened, 3, "of equations that are longer than most of the others; not measured")                               \
    X(screened_size, 3, SAME)                                                                                          \
    X(screened_columns, 64, SAME)                                                                                      \
    X(neighbour_iterations, 12, SAME)                                                                                  \
    X(polish_iterations, 60, BOUND)                                                                                    \
    X(polished, 2, NOT_MEASURED)                                                                                       \
    X(worth_fitting, 3, "climbs move all equations at once; single moves only weigh what is left")                     \
    X(most_moves, 6, "likewise")                                                                                       \
    X(fit_iterations, 12, SAME)                                                                                        \
    X(final_iterations, 40, SAME)                                                                                      \
    X(stage_beam, 1, "short windows only lead to longer ones; not measured")                                           \
    X(stage_rounds, 4, "until climbs end; not measured")                                                               \
    X(final_beam, 3, NOT_MEASURED)                                                                                     \
    X(final_rounds, 60, "until climbs end: chains of 30 took 20 to 40")                                                \
    X(kept, 3, NOT_MEASURED)                                                                                           \
    X(followed, 2, SAME)                                                                                               \
    X(lost, 2, SAME)                                                                                                   \
    X(grace, 0.4, SAME)                                                                                                \
    X(grace_iterations, 6, SAME)

#define LONG_STATES(X)                                                                                                 \
    NEIGHBOURS(X)                                                                                                      \
    X(worth_fitting, 2, "on long windows messages are nearly exact, and a fit costs a pass over the record")           \
    X(most_moves, 6, "likewise")                                                                                       \
    X(fit_iterations, 15, NOT_MEASURED)                                                                                \
    X(stage_beam, 2, SAME)                                                                                             \
    X(stage_rounds, 3, "rounds on the first part are cheap")                                                           \
    X(kept, 4, "each is fitted anew when the part doubles")                                                            \
    X(worth_keeping, 8, "longer models; what they lack is proposed again on longer parts: two terms' Occam factors")   \
    X(lost, 2, SAME)                                                                                                   \
    X(grace, 0.4, SAME)                                                                                                \
    X(grace_iterations, 6, SAME)                                                                                       \
    X(first_unexplained, 0, "always: of van der Pol, mu = 2.5, over 100 periods the weak form alone is wrong")         \
    X(first_swings, 8, "oscillators of 8 periods with 16 samples each are exact at 5 % noise")                         \
    X(first_windows, 4, "two swings each: fewer tell too little, more are not followed from poor weights")             \
    X(weak_widths, 4, "all are cheap")                                                                                 \
    X(weak_narrowest, 0.2, "narrower bumps are confidently wrong (prototype on fields)")                               \
    X(weak_widest, 0.8, "wider ones average the swings away")                                                          \
    X(weak_rows, 3, "fewer rows, and the trapezoid rule errs by percents")                                             \
    X(weak_close, 2, NOT_MEASURED)

#define GRIDS(X)                                                                                                       \
    NEIGHBOURS(X)                                                                                                      \
    X(worth_fitting, 7, SAME)                                                                                          \
    X(most_moves, 16, SAME)                                                                                            \
    X(most_screened, 64, NOT_MEASURED)                                                                                 \
    X(fit_iterations, 30, NOT_MEASURED)                                                                                \
    X(again_iterations, 12, NOT_MEASURED)                                                                              \
    X(final_iterations, 30, NOT_MEASURED)                                                                              \
    X(followed, 2, SAME)                                                                                               \
    X(least_noise, 1e-2, "the kernel engine smooths, and sees less noise than there is; not measured")                 \
    X(least_first_noise, 1e-4, NOT_MEASURED)                                                                           \
    X(least_floor, KB_LEAST_NOISE, "0.1 % of a field's sd")                                                            \
    X(floor_rise, 1.5, NOT_MEASURED)                                                                                   \
    X(hidden, 20, NOT_MEASURED)                                                                                        \
    X(refined, 4, NOT_MEASURED)                                                                                        \
    X(still, 0.5, NOT_MEASURED)                                                                                        \
    X(kept, 6, NOT_MEASURED)                                                                                           \
    X(kept_at_first, 24, "on the first lines wrong pairs of terms may be better; not measured")                        \
    X(kept_size, 3, NOT_MEASURED)                                                                                      \
    X(lost, 2, NOT_MEASURED)                                                                                           \
    X(grace, 1, NOT_MEASURED)                                                                                          \
    X(grace_iterations, 8, NOT_MEASURED)                                                                               \
    X(least_rows, 4, NOT_MEASURED)                                                                                     \
    X(least_values, 1.2, "fewer fit any model")                                                                        \
    X(usual_terms, 4, "laws have few, a patch on a wrong one takes many")                                              \
    X(unlikely, 0.05, NOT_MEASURED)

#define ONE_AXIS(X)                                                                                                    \
    GRIDS(X)                                                                                                           \
    X(stage_beam, 3, NOT_MEASURED)                                                                                     \
    X(stage_rounds, 4, NOT_MEASURED)                                                                                   \
    X(unexplained, 3, NOT_MEASURED)                                                                                    \
    X(heard, 3, NOT_MEASURED)                                                                                          \
    X(held_iterations, 12, NOT_MEASURED)

#define SHORT_WINDOWS(X)                                                                                               \
    GRIDS(X)                                                                                                           \
    X(stage_beam, 2, NOT_MEASURED)                                                                                     \
    X(stage_rounds, 3, NOT_MEASURED)

/* Near the answer, on many data: a neighbour's fit costs seconds and its parent's message is nearly exact. */
#define DENSE(X)                                                                                                       \
    NEIGHBOURS(X)                                                                                                      \
    X(worth_fitting, 2, "near the answer messages are exact; seen on Burgers and KdV at 50 % noise, KS at 10 %")       \
    X(most_moves, 3, "likewise")                                                                                       \
    X(fit_iterations, 12, "proposals begin near the end; not measured")                                                \
    X(again_iterations, 6, NOT_MEASURED)                                                                               \
    X(final_iterations, 12, NOT_MEASURED)                                                                              \
    X(stage_beam, 2, NOT_MEASURED)                                                                                     \
    X(stage_rounds, 2, NOT_MEASURED)                                                                                   \
    X(kept, 3, "models that are fitted to all data; not measured")                                                     \
    X(worth_keeping, 8, "likewise")                                                                                    \
    X(lost, 1.5, "above it the search begins from nothing; not measured")                                              \
    X(still, 1, "of the standard deviations that all data will give; not measured")                                    \
    X(least_floor, 1e-6, "as for one axis")                                                                            \
    X(floor_rise, 1.5, "as for one axis")                                                                              \
    X(grace, 1, "as for one axis")                                                                                     \
    X(grace_iterations, 8, "as for one axis")                                                                          \
    X(least_rows, 12, "of a window; not measured")                                                                     \
    X(fewest_values, 5000, "below it one part would be all of the data")                                               \
    X(proposals, 6, NOT_MEASURED)                                                                                      \
    X(proposals_at_a_time, 2, "those with fewer votes are neighbours of the first, or worse")                          \
    X(most_fits, 5, "boundary values of open ends take their time; not shown to help")                                 \
    X(nearer, 0.9, NOT_MEASURED)                                                                                       \
    X(part_windows, 2, NOT_MEASURED)                                                                                   \
    X(part_lines, 32, NOT_MEASURED)                                                                                    \
    X(part_points, 192, NOT_MEASURED)                                                                                  \
    X(profile_lines, 8, NOT_MEASURED)                                                                                  \
    X(window_waves, 1.0 / 3, "chaotic fields are lost in longer ones; KS 251 x 1024")                                  \
    X(closed_noise, 1.1, NOT_MEASURED)                                                                                 \
    X(farthest_period, 0.03, NOT_MEASURED)                                                                             \
    X(missed, 1.1, "three sds of a part's 2,000 squares or more; a law without its cubic term had 1.4")

/* Few data: fits are cheap, and all that the answer is compared with has to be fitted. */
#define SPARSE(X)                                                                                                      \
    NEIGHBOURS(X)                                                                                                      \
    X(worth_fitting, 7, "as for one axis: the answer is averaged over them")                                           \
    X(most_moves, 6, "not measured")                                                                                   \
    X(fit_iterations, 20, NOT_MEASURED)                                                                                \
    X(again_iterations, 12, "as for one axis")                                                                         \
    X(final_iterations, 30, "as for one axis")                                                                         \
    X(stage_beam, 3, "as for one axis")                                                                                \
    X(stage_rounds, 4, "as for one axis")                                                                              \
    X(kept, 12, "the answer is averaged over them; not measured")                                                      \
    X(lost, 1.5, "as for dense data")                                                                                  \
    X(still, 0.5, "as for one axis")                                                                                   \
    X(least_floor, KB_LEAST_NOISE, "as for one axis")                                                                  \
    X(floor_rise, 1.5, "as for one axis")                                                                              \
    X(hidden, 20, "as for one axis")                                                                                   \
    X(grace, 1, "as for one axis")                                                                                     \
    X(grace_iterations, 8, "as for one axis")                                                                          \
    X(least_rows, 8, "bumps of the weak form need half of them")                                                       \
    X(fewest_values, 150, "with fewer the weak form has too few bumps")                                                \
    X(proposals, 6, "as for dense data")                                                                               \
    X(proposals_at_a_time, 1, "most often the first is the law, or its neighbour")                                     \
    X(hopeless, 60, "as fits are given up; not measured")                                                              \
    X(most_fits, 2, NOT_MEASURED)                                                                                      \
    X(nearer, 0.9, "as for dense data")                                                                                \
    X(usual_terms, 4, "laws have few, a patch on a wrong one takes many")                                              \
    X(unlikely, 0.05, NOT_MEASURED)

/* Proposals for fields on grids. */
#define WEAK_FIELDS(X)                                                                                                 \
    X(weak_widths, 3, "each along time with each in space")                                                            \
    X(weak_narrowest, 0.25, "of a visible wavelength; narrower bumps are confidently wrong: KS 251 x 1024")            \
    X(weak_widest, 1, "wider ones average the waves away")                                                             \
    X(weak_rows, 4, "fewer samples in a half width, and sums err by percents")                                         \
    X(weak_fewest, 24, "with fewer any three terms explain everything")                                                \
    X(weak_longest, 0.25, "several bumps along every axis; not measured")                                              \
    X(weak_longest_of_few, 1.0 / 3, "three bumps just fit in")                                                         \
    X(weak_overlap, 4, "by geometry; not measured")                                                                    \
    X(weak_slab, 25, NOT_MEASURED)                                                                                     \
    X(weak_triples, 50000, BOUND)                                                                                      \
    X(weak_cells, 4, "a mean over less than that hides 1/400 of the field")

#define AXES(X)                                                                                                        \
    NEIGHBOURS(X)                                                                                                      \
    X(fit_iterations, 12, NOT_MEASURED)                                                                                \
    X(stage_beam, 3, NOT_MEASURED)                                                                                     \
    X(stage_rounds, 10, NOT_MEASURED)                                                                                  \
    X(kept, 3, NOT_MEASURED)                                                                                           \
    X(worth_keeping, 6, NOT_MEASURED)                                                                                  \
    X(lost, 1.5, "above it the kernel engine answers; not measured")                                                   \
    X(grace, 2, NOT_MEASURED)                                                                                          \
    X(least_rows, 5, NOT_MEASURED)                                                                                     \
    X(least_noise, 1e-4, NOT_MEASURED)                                                                                 \
    X(least_floor, KB_LEAST_NOISE, "0.1 % of a field's sd")                                                            \
    X(noise_factor, 2, "the kernel engine smooths, and sees less noise than there is; not measured")                   \
    X(resolved_at_first, 0.05, NOT_MEASURED)                                                                           \
    X(resolved, 0.001, "chosen on lambda-omega 20^3, 2 %, seed 1")                                                     \
    X(most_operations, 4e12, BOUND)                                                                                    \
    X(dear_operations, 2e8, "a fit of a tenth of a second; chosen on lambda-omega 10 x 16^2")                          \
    X(most_bytes, 1.2e9, BOUND)

#define CHEAP_AXES(X)                                                                                                  \
    AXES(X)                                                                                                            \
    X(worth_fitting, 7, SAME)                                                                                          \
    X(most_moves, 16, SAME)

#define DEAR_AXES(X)                                                                                                   \
    AXES(X)                                                                                                            \
    X(worth_fitting, 1.5, "near the answer messages are exact; not measured")                                          \
    X(most_moves, 3, "likewise")

#define VALUE(name, number, why)  .name = (number),
#define REASON(name, number, why) .name = (why),

const kb_schedule_table kb_schedule_of_states = {"states", {STATES(VALUE)}, {STATES(REASON)}};
const kb_schedule_table kb_schedule_of_wide_states = {"many states", {WIDE_STATES(VALUE)}, {WIDE_STATES(REASON)}};
const kb_schedule_table kb_schedule_of_long_states = {
    "states over many swings", {LONG_STATES(VALUE)}, {LONG_STATES(REASON)}};
const kb_schedule_table kb_schedule_of_one_axis = {"one axis", {ONE_AXIS(VALUE)}, {ONE_AXIS(REASON)}};
const kb_schedule_table kb_schedule_of_short_windows = {
    "one axis, short windows", {SHORT_WINDOWS(VALUE)}, {SHORT_WINDOWS(REASON)}};
const kb_schedule_table kb_schedule_of_dense_axis = {"one axis, dense", {DENSE(VALUE)}, {DENSE(REASON)}};
const kb_schedule_table kb_schedule_of_sparse_axis = {"one axis, sparse", {SPARSE(VALUE)}, {SPARSE(REASON)}};
const kb_schedule_table kb_schedule_of_weak_fields = {
    "fields on grids, weak form", {WEAK_FIELDS(VALUE)}, {WEAK_FIELDS(REASON)}};
const kb_schedule_table kb_schedule_of_axes = {"several axes", {CHEAP_AXES(VALUE)}, {CHEAP_AXES(REASON)}};
const kb_schedule_table kb_schedule_of_dear_axes = {"several axes, dear", {DEAR_AXES(VALUE)}, {DEAR_AXES(REASON)}};
