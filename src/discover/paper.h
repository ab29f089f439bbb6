/* The algorithm as published: Long, Xing, Krishnapriyan, Kirby, Zhe, Mahoney, "Equation Discovery with Bayesian
 * Spike-and-Slab Priors and Efficient Kernels", AISTATS 2024.
 *
 *     regress the field on the measurements
 *     repeat
 *         E step   G = Phi'Phi/tau, b = Phi'u_t/tau with the field as it stands; EP; prune probabilities below 1/2
 *         M step   Adam on the field, the weights at their posterior mean
 *     until neither the probabilities nor the objective move
 *
 * All hyperparameters are settings (paper_*), in the scaled variables of docs/math.md. The baseline, not our method: the
 * field is taken as known in the E step, and what is pruned stays out.
 */
#ifndef KB_PAPER_H
#define KB_PAPER_H

#include "discover/answer.h"

typedef struct kb_paper kb_paper;

/* `answer` is complete but for the times of other stages. Noise is the rms of the field's residuals; a term that was
   pruned keeps the weight and probability it had then. */
kbass_status kb_paper_run(const kb_problem *problem, kb_run *run, kb_paper **out, kb_answer **answer,
                          kbass_error *error);
/* The field and its Laplace band, the weights taken as known; times as for kb_solution_evaluate. */
kbass_status kb_paper_solution(const kb_paper *paper, size_t n_times, const double *times, double *mean, double *sd,
                               kbass_error *error);
void kb_paper_destroy(kb_paper *paper);

#endif
