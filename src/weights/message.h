/* A Gaussian message about ALL candidate weights, the field marginalised: precision G and shift b.
 *
 * Both engines end in such a message, and messages about the same weights add; how one was computed is nobody's
 * business here. From it the evidence of any structure is a small Cholesky factorisation (docs/math.md, eq. 16):
 *
 *     log E(S) = b_S' (G_SS + D_S)^{-1} b_S / 2 - log|I + G_SS / D_S| / 2 + sum_S prior log-odds,   D = 1/slab
 */
#ifndef KB_WEIGHTS_MESSAGE_H
#define KB_WEIGHTS_MESSAGE_H

#include "weights/columns.h"

typedef struct {
    size_t n;
    double *G; /* n x n, both triangles */
    double *b;
} kb_message;

kbass_status kb_message_create(size_t n, kb_message **out, kbass_error *error);
void kb_message_destroy(kb_message *message);
void kb_message_zero(kb_message *message);

/* One change of structure: add a column, drop one, or both; KB_NO_COLUMN where not. */
typedef struct {
    size_t add, drop;
    size_t also; /* added besides, where a constraint asks for one more; else KB_NO_COLUMN */
    double gain;
    double mean, variance; /* of the added column's weight after the move */
} kb_move;

#define KB_NO_COLUMN ((size_t)-1)

/* Evidence and, unless NULL, the weights' means (support->n). -INFINITY when it cannot be factorised. work: 2 n_S^2 +
 * n_S */
double kb_message_evidence(const kb_message *message, const kb_columns *columns, const kb_support *support,
                           double *mean, double *work);

/* A = G_SS + 1/slab (k x k), x = b_S (k) of a support of k columns. */
void kb_message_restrict(const kb_message *message, const kb_columns *columns, const kb_support *support, double *A,
                         double *x);

/* Adds and drops are always among the moves. The last term of an equation stays unless KB_TO_NOTHING: a field that is
   not yet pulled towards the equation lets go of it too soon. */
typedef enum { KB_SINGLE_MOVES = 0, KB_SWAPS = 1, KB_TO_NOTHING = 2 } kb_move_kinds;

/* The best moves from a support, best first; at most `most`. Required terms stay (docs/math.md, eq. 17). kinds: a sum
   of kb_move_kinds. work: kb_message_work(n). */
size_t kb_message_moves(const kb_message *message, const kb_columns *columns, const kb_support *support, unsigned kinds,
                        size_t most, kb_move *moves, double *work);
size_t kb_message_work(size_t n);
/* shifts (k x n_added): what a weight of 1 of each added column takes from the k weights of a support without it, M
   G_Sc with M their covariance. False when that cannot be factorised. work: kb_message_work(n). */
bool kb_message_shifts(const kb_message *message, const kb_columns *columns, const kb_support *support, size_t n_added,
                       const size_t *added, double *shifts, double *work);
/* The same evidence and moves where columns have constraints: called by those above. They allocate. */
double kb_message_constrained_evidence(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                       double *mean);
size_t kb_message_constrained_moves(const kb_message *message, const kb_columns *columns, const kb_support *support,
                                    unsigned kinds, size_t most, kb_move *moves);
/* Keeps the `most` best moves, best first. */
void kb_moves_insert(kb_move move, size_t most, kb_move *moves, size_t *n);
/* What constraints tie to these columns goes along. */
void kb_move_apply(const kb_move *move, const kb_columns *columns, kb_support *support);
/* The best supports with at most `largest` columns (4 at most) of one equation and a support's columns of the others,
   all of them tried, best first: `most` in all and the best of each size besides. Required terms stay. supports: most +
   largest with room for all columns, made by the caller. Returns how many. work: kb_message_work(n). */
size_t kb_message_screen(const kb_message *message, const kb_columns *columns, const kb_support *support,
                         size_t equation, size_t largest, size_t most, kb_support *supports, double *work);
/* Applies best moves until none gains; false when nothing changed. */
bool kb_message_climb(const kb_message *message, const kb_columns *columns, kb_support *support, size_t max_moves,
                      double *work);

#endif
