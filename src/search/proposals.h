/* Which neighbours of a fitted model are worth a fit, by the quadratic that its message is: single moves, small
 * right-hand sides screened, the end of a climb, and what like states have.
 */
#ifndef KB_SEARCH_PROPOSALS_H
#define KB_SEARCH_PROPOSALS_H

#include "search/neighbours.h"

/* A neighbour proposed by a parent; its weights and starts are the quadratic's means, and so is the evidence it
 * promises. */
typedef struct {
    kb_support support;
    double *w, *start, promised;
    const kb_fit *parent;
    bool was_known; /* the pool had this structure before */
} kb_proposal;

/* How many proposals one parent can make at most. */
size_t kb_proposals_room(const kb_columns *columns);
/* Appends the neighbours of one model to out, which has room; *n counts them, also after an error. */
kbass_status kb_propose_neighbours(kb_search *search, kb_search_worker *worker, const kb_fit *parent, kb_proposal *out,
                                   size_t *n, kbass_error *error);
void kb_proposal_clear(kb_proposal *proposal);

#endif
