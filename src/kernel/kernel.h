/* Kernels of one axis and their derivatives of any order.
 *
 * kappa(d) of the distance d = t - t' in units of the length scale; d^q/dt^q kappa by Taylor arithmetic: every kernel
 * is a composition of exp, powers and sines, whose Taylor coefficients obey short recurrences (docs/math.md, eq. 3).
 * Matern kernels have 2 nu - 1 derivatives; asking for more is refused by kb_kernel_highest_derivative.
 */
#ifndef KB_KERNEL_H
#define KB_KERNEL_H

#include <stddef.h>

typedef enum { KB_KERNEL_SE, KB_KERNEL_MATERN52, KB_KERNEL_MATERN72, KB_KERNEL_RQ, KB_KERNEL_PERIODIC } kb_kernel_kind;

typedef struct {
    kb_kernel_kind kind;
    double length;
    double period; /* of the periodic kernel, in the axis' units */
} kb_kernel;

enum { KB_KERNEL_MAX_ORDER = 8 }; /* room: order of derivatives */

/* Highest order that stays continuous when both arguments may carry it. */
int kb_kernel_highest_derivative(kb_kernel_kind kind);
/* d^order/dt^order kappa(t - t') */
double kb_kernel_derivative(const kb_kernel *kernel, double t, double other, int order);

#endif
