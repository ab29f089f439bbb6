/* Residuals, normal equations and messages of a shooter's windows (docs/math.md, eqs 19 to 22): what a fit steps by. */
#ifndef KB_SHOOT_NORMALS_H
#define KB_SHOOT_NORMALS_H

#include "forward/shoot.h"

/* Border rows belong to two windows and count half in each. */
double kb_shooter_row_weight(const kb_shooter *shooter, size_t window, size_t row);
/* The dynamics' model; tangents NULL: none are wanted. */
void kb_shooter_set_model(kb_shooter *shooter, const kb_support *support, const double *w, const kb_support *tangents);
/* Where the predictions of each window lie, and where they end. */
void kb_shooter_place_windows(kb_shooter *shooter);
/* Sums of squared residuals per group in shooter->squares; false when a window cannot be integrated. */
bool kb_shooter_sum_squares(kb_shooter *shooter, const kb_support *support, const double *w, const double *start);
/* Integrates all windows with tangents and makes the messages about the weights, Hww and gw, each window's start
   eliminated. Half the log-determinants of the starts' blocks with their prior's; NaN when that fails. */
double kb_shooter_assemble(kb_shooter *shooter, const kb_support *support, const double *w, const double *start,
                           const kb_support *tangents, const double *variance);
/* The same where neither squares nor tangents are asked for afterwards: of fields the tangents of one window at a time
   are held. */
double kb_shooter_assemble_once(kb_shooter *shooter, const kb_support *support, const double *w, const double *start,
                                const kb_support *tangents, const double *variance);
/* The messages once more, of the same tangents, at another noise. */
double kb_shooter_weigh(kb_shooter *shooter, const double *start, const double *variance);
/* One window's J'J/v in to->normals (P x P) and J'r/v in to->gradient: with the workspace of a shooter on the same
   dynamics, which may be the shooter itself. */
void kb_shooter_window_normals(const kb_shooter *shooter, size_t window, const double *variance, kb_shooter *to);
/* The same of a window that is not integrated yet, with the model set last; false when that fails. */
bool kb_shooter_stream_normals(const kb_shooter *shooter, size_t window, const double *start, const double *variance,
                               kb_shooter *to);
/* A window's start eliminated from them: what back substitution needs, in Hzz, Hzw and gz. Half the log-determinant of
   its block with the prior's normaliser, NaN when it is not positive. */
double kb_shooter_reduce_start(kb_shooter *shooter, size_t window, const double *start, const double *normals,
                               const double *gradient);
/* After that: adds the window's message to Hww and gw. Two columns of `normals` are `stride` numbers apart. */
void kb_shooter_add_message(kb_shooter *shooter, size_t window, const double *normals, size_t stride,
                            const double *gradient);
/* A = Hww + 1/slab, its diagonal damped, factorised in shooter->system; half its log-determinant with the slabs'. */
double kb_shooter_factorise(kb_shooter *shooter, const kb_support *support, double damping);
/* The factor in shooter->system becomes the weights' covariance. */
bool kb_shooter_invert(kb_shooter *shooter, size_t k);
/* Parameters that the data determine; A^{-1} takes the place of its factor. */
double kb_shooter_effective(kb_shooter *shooter, const kb_support *support);

#endif
