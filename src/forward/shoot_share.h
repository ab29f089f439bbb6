/* The windows of one fit among ranks: each integrates its own, and then all have the predictions and normal equations
 * of all of them, so that whatever follows is the same on every rank, and sums run in the order of the windows.
 */
#ifndef KB_SHOOT_SHARE_H
#define KB_SHOOT_SHARE_H

#include "forward/shoot.h"

/* As kb_likelihood.share. */
bool kb_shooter_share(kb_shooter *shooter, const kbass_reduce *reduce, size_t n_columns);
/* Is a window this rank's? Alone all are. */
bool kb_shooter_owns(const kb_shooter *shooter, size_t window);

/* Among ranks: */

/* The predictions of every rank's windows to all; this one's are there up to window n_done. Returns up to which window
   all are there. */
size_t kb_shooter_exchange_predictions(kb_shooter *shooter, size_t n_done);
/* `make` leaves a window's J'J in shooter->normals and J'r in shooter->gradient, or cannot; all ranks have them then,
   and take those of one window after the other. False where one is missing. */
bool kb_shooter_exchange_normals(kb_shooter *shooter, bool (*make)(kb_shooter *, size_t, const void *),
                                 const void *context);
void kb_shooter_take_normals(kb_shooter *shooter, size_t window);
/* The same for P numbers in shooter->gradient. */
void kb_shooter_exchange_gradients(kb_shooter *shooter, size_t P, void (*make)(kb_shooter *, size_t, const void *),
                                   const void *context);
void kb_shooter_take_gradient(kb_shooter *shooter, size_t P, size_t window);

#endif
