/* The schedule of a search: every tuned number of the forward search in one place, with its meaning and unit here and
 * its value and reason in the table of each kind of data (schedule.c). docs/constants.md is made of both.
 */
#ifndef KB_SEARCH_SCHEDULE_H
#define KB_SEARCH_SCHEDULE_H

#include <stddef.h>

/* X(name, unit, meaning) */
#define KB_SCHEDULE_FIELDS(X)                                                                                          \
    X(parents, "models", "whose neighbours are proposed in one round")                                                 \
    X(worth_exploring, "nats", "behind the best, within which a model's neighbours are proposed")                      \
    X(worth_fitting, "nats", "behind its parent, by its parent's message, within which a neighbour is fitted")         \
    X(worth_again, "nats", "by which a parent promises more than a fit has: a poor minimum, fitted again")             \
    X(most_moves, "moves", "single additions, removals and swaps that a parent proposes")                              \
    X(sweeps, "0 or 1", "all equations of a message are searched by pairs of columns, too")                            \
    X(climb_moves, "moves", "of the climb on the quadratic that ends in one more proposal")                            \
    X(screened, "supports", "best of all small right-hand sides that an equation proposes")                            \
    X(screened_size, "terms", "of the largest of them")                                                                \
    X(screened_columns, "columns", "of an equation up to which they are that large; one term less above")              \
    X(screened_from, "terms", "of an equation of the best model from which every stage screens, not only the last")    \
    X(screened_long, "supports", "likewise, of equations of so many terms")                                            \
    X(screened_near, "supports", "of an equation that are fitted where they are nearly as good along a solution")      \
    X(most_screened, "columns", "of all equations up to which every parent screens")                                   \
    X(neighbour_iterations, "iterations", "of a neighbour's fit")                                                      \
    X(fit_iterations, "iterations", "of each model when a stage begins")                                               \
    X(again_iterations, "iterations", "of each model when the noise floor rose, and of a trial of the period")         \
    X(final_iterations, "iterations", "of each model when the last stage begins")                                      \
    X(polish_iterations, "iterations", "of the best models at the very end")                                           \
    X(polished, "models", "that are fitted to convergence at the very end")                                            \
    X(stage_beam, "models", "best, among which a stage explores")                                                      \
    X(stage_rounds, "rounds", "of exploring in a stage")                                                               \
    X(final_beam, "models", "best, among which the last stage explores")                                               \
    X(final_rounds, "rounds", "of exploring in the last stage")                                                        \
    X(kept, "models", "that go from one stage to the next")                                                            \
    X(kept_at_first, "models", "that go on from the first stage of a second search")                                   \
    X(kept_size, "terms", "up to which the two best models of each size go on, too")                                   \
    X(worth_keeping, "nats", "behind the best, within which models go on")                                             \
    X(followed, "times the squared misfit", "of more windows, up to which fewer windows still follow the data")        \
    X(lost, "times the noise variance", "misfit at which a longer stretch lost the data")                              \
    X(unexplained, "times the noise variance", "misfit above which the kernel engine is asked for proposals")          \
    X(grace, "seconds", "that a stopped run still has for its first answer")                                           \
    X(grace_iterations, "iterations", "of a fit in that time")                                                         \
    X(least_rows, "rows", "of the shortest stretch")                                                                   \
    X(least_values, "times the unknowns of a start", "that the shortest stretch measures")                             \
    X(least_noise, "noise variance", "that a proposal begins with at least")                                           \
    X(least_first_noise, "noise variance", "that a model without weights begins with at least")                        \
    X(least_floor, "noise variance", "below which no error of a grid matters")                                         \
    X(floor_rise, "times the floor", "that the error of a grid has to be to raise it")                                 \
    X(hidden, "times the floor", "squared misfit above which the floor hides nothing")                                 \
    X(noise_factor, "times the noise variance", "of the kernel engine, that its proposals begin with")                 \
    X(resolved_at_first, "times the noise variance", "error of steps and waves while models are still wrong")          \
    X(resolved, "times the noise variance", "error of steps and waves in the end")                                     \
    X(most_operations, "operations", "of one integration with all tangents")                                           \
    X(dear_operations, "operations", "of one with the start's tangents: from there on fits are few")                   \
    X(most_bytes, "bytes", "of all threads' tangents")                                                                 \
    X(refined, "models", "that a finer grid is tried with")                                                            \
    X(still, "standard deviations", "of weights: a finer grid that moves them less is the last")                       \
    X(heard, "models", "of each run alone that begin the search of all runs; 0: runs are searched together")           \
    X(held_iterations, "iterations", "of their starts, the weights held, before all move")                             \
    X(first_swings, "visible periods", "of each run, on which the search of a long record begins")                     \
    X(first_unexplained, "times the noise variance", "misfit there above which the kernel is asked; 0: always")        \
    X(first_windows, "windows", "of each run there; a power of two")                                                   \
    X(weak_widths, "half widths", "of the bumps of the weak form")                                                     \
    X(weak_narrowest, "visible periods", "of the narrowest of them")                                                   \
    X(weak_widest, "visible periods", "of the widest of them")                                                         \
    X(weak_rows, "samples' distances", "of the narrowest at least")                                                    \
    X(weak_close, "nats", "behind, within which an equation's second structure is proposed, too")                      \
    X(weak_fewest, "bumps", "below which a width proposes nothing")                                                    \
    X(weak_longest, "of the axis", "that a half width may be")                                                         \
    X(weak_longest_of_few, "of a short axis", "likewise, where samples are too few for that")                          \
    X(weak_overlap, "bumps", "that tell the same, half a half width apart along two axes")                             \
    X(weak_slab, "times what would explain everything", "variance of a weight")                                        \
    X(weak_triples, "supports", "of three terms up to which all are tried; above it only pairs")                       \
    X(weak_cells, "cells of a thinned grid", "in the bare field's length scale")                                       \
    X(fewest_values, "values", "from which on the weak form's proposals are fitted before anything else")              \
    X(proposals, "structures", "with most votes of the weak form's widths")                                            \
    X(proposals_at_a_time, "structures", "fitted before it is asked whether one follows the data")                     \
    X(most_fits, "fits", "of models that do not follow yet but come nearer")                                           \
    X(nearer, "times the squared misfit", "of the fit before, below which another fit is worth it")                    \
    X(part_windows, "windows", "of each run on which structures are compared")                                         \
    X(part_lines, "lines", "of such a window; it is thinned to them")                                                  \
    X(part_points, "points", "of such a line; it is thinned to them")                                                  \
    X(profile_lines, "lines", "throughout the record from which the profile of a window's start is made")              \
    X(window_waves, "visible wavelengths in time", "of a window")                                                      \
    X(closed_noise, "times the noise of open lines", "up to which an axis that closes leaves noise")                   \
    X(farthest_period, "of the axis", "beyond its end, within which it may close")                                     \
    X(missed, "times the noise variance", "squared misfit from which a model that follows the data misses a term")     \
    X(hopeless, "nats", "behind the best: such models are not fitted with it any more; 0: all are")                    \
    X(usual_terms, "terms", "of an equation: an answer with more is searched for once more from nothing")              \
    X(unlikely, "p-value", "of residuals that are alike, below which likewise")

/* Integers are exact as double. 0: of no use for these data. */
typedef struct {
#define KB_SCHEDULE_VALUE(name, unit, meaning) double name;
    KB_SCHEDULE_FIELDS(KB_SCHEDULE_VALUE)
#undef KB_SCHEDULE_VALUE
} kb_schedule;

typedef struct {
    const char *kind; /* of data */
    kb_schedule value;
    struct {
#define KB_SCHEDULE_REASON(name, unit, meaning) const char *name;
        KB_SCHEDULE_FIELDS(KB_SCHEDULE_REASON)
#undef KB_SCHEDULE_REASON
    } reason;
} kb_schedule_table;

extern const kb_schedule_table kb_schedule_of_states, kb_schedule_of_one_axis, kb_schedule_of_axes;
/* Along one axis, of fields that change beyond recognition from one line to the next. */
extern const kb_schedule_table kb_schedule_of_short_windows;
/* Many states, whose equations were searched one by one before. */
extern const kb_schedule_table kb_schedule_of_wide_states;
/* States over many swings, searched on a growing part of the record. */
extern const kb_schedule_table kb_schedule_of_long_states;
/* Over one axis, many data on a grid, from the weak form's proposals. */
extern const kb_schedule_table kb_schedule_of_dense_axis;
/* The same with few data: all of them compare, and what is found has to pass more tests. */
extern const kb_schedule_table kb_schedule_of_sparse_axis;
/* The weak form of fields on grids. */
extern const kb_schedule_table kb_schedule_of_weak_fields;
/* Over several axes, where one integration with its tangents costs seconds. */
extern const kb_schedule_table kb_schedule_of_dear_axes;

#endif
