/* Unknown constants of a structure by the evidence of its forward fits: L(theta) = log p(data | structure, theta), each
 * value a fit that begins at its neighbour's. Ranges are shares between 0 and 1, uniform beforehand, logarithmic where
 * positive. One constant is integrated by quadrature over its range, several by Laplace's method about the best
 * (docs/math.md, eqs 87, 88).
 */
#ifndef KB_CONSTANTS_PROFILE_H
#define KB_CONSTANTS_PROFILE_H

#include "base/run.h"
#include "dictionary/constants.h"
#include "forward/shoot.h"
#include "weights/constants_spread.h"

enum { KB_MOST_CONSTANTS = 64 }; /* room: unknown constants */

typedef struct {
    bool is_used;            /* a selected term names it */
    double value, low, high; /* 95 % interval */
    double sd;               /* of the value */
    bool at_low, at_high;    /* the end of its range is as good as its best */
    double other, odds;      /* another place that is, with other weights, and the odds of that; NaN: none */
} kb_constant_estimate;

/* A shooter of the dictionary as it is at the moment, for `n_columns` columns, its windows set. */
typedef kbass_status (*kb_shooter_maker)(const void *context, size_t n_columns, kb_shooter **out, kbass_error *error);

typedef struct {
    kb_dictionary *dictionary;
    const kb_columns *columns;
    size_t n_start; /* unknowns of a window's start */
    kb_shooter_maker make;
    const void *context;
    kb_run *run;
} kb_profile_setting;

/* Finds the best constants for the fit's structure from the dictionary's present ones, first steps being shares `step`;
   leaves the dictionary there, the fit refitted there, its weights' covariance widened by what the constants add.
   estimates: n_constants; correlation, unless NULL: n_constants x support; spread, unless NULL: theirs and what weights
   and starts owe to them, to be cleared by the caller; *log_mass: log of the integral of exp(L - L best) over the
   ranges, what not knowing them costs. */
kbass_status kb_constants_profile(const kb_profile_setting *setting, const double *step, kb_fit *fit,
                                  kb_constant_estimate *estimates, double *correlation, kb_constants_spread *spread,
                                  double *log_mass, kbass_error *error);
/* Only the way to the best constants, in fit and dictionary; log_evidence -INFINITY where nothing fits. */
kbass_status kb_constants_climb(const kb_profile_setting *setting, const double *step, kb_fit *fit, kbass_error *error);

#endif
