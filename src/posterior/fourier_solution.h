/* A fitted field over several space axes with its band, at any points of the record: the model integrated with its
 * tangents (docs/math.md, eqs 25 and 62). */
#ifndef KB_POSTERIOR_FOURIER_SOLUTION_H
#define KB_POSTERIOR_FOURIER_SOLUTION_H

#include "base/run.h"
#include "forward/spectral/fourier_model.h"
#include "forward/shoot.h"
#include "posterior/field_spread.h"

/* n times (ascending) and n x space axes positions in the data's units, within the record. mean, sd: n x n_fields,
   row-major; sd may be NULL, and then V, the fit's covariances (below). */
kbass_status kb_fourier_solution(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                 const kb_columns *columns, const kb_fourier_settings *settings,
                                 const kb_windows *windows, const kb_fit *fit, const double *V, size_t n,
                                 const double *times, const double *positions, kb_run *clock, double *mean, double *sd,
                                 kbass_error *error);

/* Weights' and starts' covariances, by window: P x P each, P = weights of the fit and the start's unknowns; to be freed
   by kb_free. */
kbass_status kb_fourier_covariances(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                    const kb_columns *columns, const kb_fourier_settings *settings,
                                    const kb_windows *windows, const kb_fit *fit, double **V, kbass_error *error);
/* The solution linearised about a fit of one window (field_spread.h), whose covariances are V; a covariance is only
   wanted of points at one time. */
kbass_status kb_fourier_spread(const kb_field_samples *samples, const kb_dictionary *dictionary,
                               const kb_columns *columns, const kb_fourier_settings *settings, const kb_fit *fit,
                               const double *V, size_t n, const double *times, const double *positions,
                               kb_field_spread *out, kbass_error *error);

#endif
