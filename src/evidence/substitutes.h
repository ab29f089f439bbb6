/* Which terms of a law could be others? On the solution that was fitted, a term's part of the right-hand side may be a
 * combination of one or two other candidates, within the noise: the data cannot tell such laws apart, however sure
 * the weights are (docs/math.md, section 10).
 */
#ifndef KB_EVIDENCE_SUBSTITUTES_H
#define KB_EVIDENCE_SUBSTITUTES_H

#include "evidence/pool.h"
#include "weights/message.h"

enum { KB_MOST_SUBSTITUTED = 3 }; /* terms: that together stand for one */

typedef struct {
    size_t column;                        /* of the law */
    size_t n, other[KB_MOST_SUBSTITUTED]; /* columns that can stand for it, */
    double weight[KB_MOST_SUBSTITUTED];   /* and their weights, scaled */
    double loss;                          /* of log likelihood, the other weights of the law adapted */
    double share;                         /* of what leaving the term out would lose */
} kb_substitute;

/* At most one for each column of the support: the best single column or, where there is none, the best pair. w: weights
   by column, scaled; substitutes: room for support->n; *n: how many. */
kbass_status kb_substitutes_find(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                 const double *w, kb_substitute *substitutes, size_t *n, kbass_error *error);

/* The same of models that were fitted: one that is as likely (not as probable: it may have two terms more) and has
   others in place of a column of the law. Where the solution is noisy, only a fit of its own finds it. pool: sorted,
   best first. */
bool kb_substitute_in_pool(const kb_pool *pool, const kb_columns *columns, size_t column, kb_substitute *out);

#endif
