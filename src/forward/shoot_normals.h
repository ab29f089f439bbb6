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
/* The messages once more, of the same tangents, at another noise. */
double kb_shooter_weigh(kb_shooter *shooter, const double *start, const double *variance);
/* A = Hww + 1/slab, its diagonal damped, factorised in shooter->system; half its log-determinant with the slabs'. */
double kb_shooter_factorise(kb_shooter *shooter, const kb_support *support, double damping);
/* The factor in shooter->system becomes the weights' covariance. */
bool kb_shooter_invert(kb_shooter *shooter, size_t k);
/* Parameters that the data determine; A^{-1} takes the place of its factor. */
double kb_shooter_effective(kb_shooter *shooter, const kb_support *support);

#endif
