/* A fitted field over several space axes with its band, at any points of the record: the model integrated with its
 * tangents (docs/math.md, eqs 25 and 62). */
#ifndef KB_POSTERIOR_FOURIER_SOLUTION_H
#define KB_POSTERIOR_FOURIER_SOLUTION_H

#include "forward/spectral/fourier_model.h"
#include "forward/shoot.h"

/* n times (ascending) and n x space axes positions in the data's units, within the record. mean, sd: n x n_fields,
   row-major; sd may be NULL. */
kbass_status kb_fourier_solution(const kb_field_samples *samples, const kb_dictionary *dictionary,
                                 const kb_columns *columns, const kb_fourier_settings *settings,
                                 const kb_windows *windows, const kb_fit *fit, size_t n, const double *times,
                                 const double *positions, double *mean, double *sd, kbass_error *error);

#endif
