/* The algorithm as published: Long, Xing, Krishnapriyan, Kirby, Zhe, Mahoney, "Equation Discovery with Bayesian
 * Spike-and-Slab Priors and Efficient Kernels", AISTATS 2024, Algorithm 1.
 *
 *     1  learn a kernel regression model from the measurements, v by cross-validation           regress.h
 *     2  repeat
 *     3      E step: EP for q(s, w), the field as it stands; prune where q(s = 1) < alpha        estep.h
 *     4      M step: Adam on the field and the length scales, q fixed                            model.h, adam.h
 *     5  until little changes over 1000 steps, or the limit is reached
 *
 * over a mesh with Kronecker structure, any number of axes and states (field.h, axis.h). The baseline, not our method:
 * the field is taken as known in the E step, and what is pruned stays out. --paper-finish (finish.h) is ours.
 */
#ifndef KB_PUBLISHED_H
#define KB_PUBLISHED_H

#include "base/run.h"
#include "answer/answer.h"
#include "gp/field_samples.h"

typedef struct kb_published kb_published;

/* Data, settings and dictionary are borrowed. */
kbass_status kb_published_create(const kbass_data *data, const kbass_settings *settings,
                                 const kb_dictionary *dictionary, kb_published **out, kbass_error *error);
void kb_published_destroy(kb_published *published);
/* `answer` is complete but for the times of other stages. Noise is the rms of the field's residuals; a term that was
   pruned keeps the weight and probability it had then. */
kbass_status kb_published_run(kb_published *published, kb_run *run, kb_answer **answer, kbass_error *error);
const kb_field_samples *kb_published_samples(const kb_published *published);
/* Solution and band at n points with ascending times; positions NULL without space; n x n_states, row-major. */
kbass_status kb_published_solution(const kb_published *published, size_t n, const double *times,
                                   const double *positions, double *mean, double *sd, kbass_error *error);

#endif
