/* The windows of one fit among the threads of a search that wait: what a thread has to integrate is handed out in
 * pieces, windows or, of few windows, some of their tangents, and a thread without a fit of its own takes them up with
 * its own workspace. What comes of it does not depend on who does it, nor on how many there are.
 */
#ifndef KB_SHOOT_TEAM_H
#define KB_SHOOT_TEAM_H

#include "forward/shoot.h"

/* Is there a thread that could take something up, and is it worth while? */
bool kb_shooter_has_team(const kb_shooter *shooter, bool with_tangents);
/* Predictions of the windows, and tangents; up to which window all are there. */
size_t kb_shooter_predict_together(kb_shooter *shooter, const double *start, bool with_tangents);
/* As kb_shooter_weigh, or (is_streamed) of windows that are not integrated yet; Hww and gw are 0 to begin with. False
   where it is not worth while, or there is no room. */
bool kb_shooter_weigh_together(kb_shooter *shooter, const double *start, const double *variance, bool is_streamed,
                               double *half_logdet);

/* C = A A' for A n x k, both triangles, by panels of columns. */
void kb_team_outer(size_t n, size_t k, const double *a, double *c);
/* H (k x k) += N - Z'Z for Z m x k; two columns of N are `stride` numbers apart. */
void kb_team_eliminate(size_t k, size_t m, const double *N, size_t stride, const double *Z, double *H);

#endif
