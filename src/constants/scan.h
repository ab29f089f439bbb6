/* Where to begin with unknown constants: a scan of their ranges by regression on the bare field.
 *
 * In integrated form, q_i(t_n) = q_i(0) + sum_j w_j int_0^t_n P_j(u; theta) ds, each value of the constants theta is a
 * linear regression of the measurements on the integrals of the terms, of which a few are taken greedily. The grid of a
 * constant is made finer until neighbouring integrals are alike, as frequencies need (docs/math.md, eq. 86).
 */
#ifndef KB_CONSTANTS_SCAN_H
#define KB_CONSTANTS_SCAN_H

#include "dictionary/constants.h"
#include "problem/ode.h"

/* The best values, then the next best that are far from them: n_wanted x n_constants into `values`, *n_found of them,
   and the spacing of the grid there as a share of each range into `steps` (likewise). The dictionary is the problem's
   own; it is left at the first. A term that is singular within the ranges is refused. */
kbass_status kb_constants_scan(const kb_ode_problem *problem, kb_dictionary *dictionary, size_t n_wanted,
                               double *values, double *steps, size_t *n_found, kbass_error *error);

#endif
