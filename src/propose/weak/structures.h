/* Structures that the weak form proposes for states over time: per equation the best supports at each half width, the
 * variance of the residuals found along with them; joined over the equations, one proposal for each width and more
 * where an equation has a close second. The evidence of one width says nothing about another's: all are handed on.
 */
#ifndef KB_PROPOSE_WEAK_STRUCTURES_H
#define KB_PROPOSE_WEAK_STRUCTURES_H

#include "propose/weak/states.h"

typedef struct {
    kb_support support; /* of all columns */
    double *w;          /* by column, scaled */
    double half_width;
    double behind; /* nats, of the best of its half width */
} kb_weak_proposal;

typedef struct {
    size_t n, capacity;
    kb_weak_proposal *proposals;
} kb_weak_proposals;

/* The tuned numbers of it. */
typedef struct {
    size_t n_widths;
    double narrowest, widest; /* half widths, in visible periods */
    double rows;              /* least half width, in samples' distances */
    double close;             /* nats within which an equation's second structure is proposed, too */
} kb_weak_schedule;

/* From the present products of `weak`, whatever they were made of. */
kbass_status kb_weak_propose_present(kb_weak_states *weak, double half_width, double close, kb_weak_proposals *out,
                                     kbass_error *error);
/* period: visible, in scaled time. */
kbass_status kb_weak_propose(kb_weak_states *weak, const kb_weak_schedule *schedule, double period,
                             kb_weak_proposals *out, kbass_error *error);
void kb_weak_proposals_clear(kb_weak_proposals *proposals);

#endif
