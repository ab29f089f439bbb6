/* The published method's E step: EP with the field taken as known, and pruning. What is pruned stays out, with the
 * weight and the probability it had then. */
#ifndef KB_PUBLISHED_ESTEP_H
#define KB_PUBLISHED_ESTEP_H

#include "ep/ep.h"
#include "published/model.h"
#include "published/options.h"

typedef struct {
    kb_published_model *model;
    const kb_published_options *options;
    kb_ep **ep;                                /* by equation: sites are carried from one E step to the next */
    double *slope_square;                      /* by field, of the regressed one; 1 in the data's units */
    double *weight, *sd, *probability;         /* by column, the data's units */
    double *slab, *log_odds, *G, *b, *inverse; /* of one equation */
    bool *keep;
    bool has_run;
} kb_published_posterior;

kbass_status kb_published_posterior_create(kb_published_model *model, const kb_published_options *options,
                                           kb_published_posterior **out, kbass_error *error);
void kb_published_posterior_destroy(kb_published_posterior *posterior);
/* Variances of an equation's residual at a step, in the field's units. */
double kb_published_e_variance(const kb_published_posterior *posterior, long step, size_t field);
/* The step from which on they no longer change by themselves. */
long kb_published_last_stage(void);
double kb_published_m_variance(const kb_published_posterior *posterior, long step, size_t field);
/* *pruned: how many terms went out. False in numerical trouble. */
bool kb_published_e_step(kb_published_posterior *posterior, long step, size_t *pruned);

#endif
