/* Test functions of the weak form: phi(s) = (1 - s^2)^p on [-1, 1], zero beyond, with p - 1 derivatives that vanish at
 * the ends. Integrated against them, derivatives of data become derivatives of phi (docs/math.md, eq. 65):
 *
 *     int phi u_t = - int phi_t u
 */
#ifndef KB_PROPOSE_WEAK_BUMP_H
#define KB_PROPOSE_WEAK_BUMP_H

#include <stddef.h>

enum { KB_BUMP_MOST_POWER = 16 }; /* room: power of a bump */

/* out[i] = d^order phi / ds^order at s[i], 0 outside of [-1, 1]; power at most KB_BUMP_MOST_POWER. */
void kb_bump_derivative(size_t power, size_t order, size_t n, const double *s, double *out);

/* Trapezoid weights of ascending times of an integrand that vanishes at `low` and `high`, which enclose them. */
void kb_bump_quadrature(size_t n, const double *time, double low, double high, double *weight);

#endif
