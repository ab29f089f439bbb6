/* Noise that is known beforehand. */
#ifndef KB_NOISE_H
#define KB_NOISE_H

#include "data/data.h"

/* "0.1", "5%", or "x=0.1, y=2%": a standard deviation, in the data's units or as a share of each state's. Fills the
   variances named, as shares of the states' own (sd squared). */
kbass_status kb_noise_read(const kbass_data *data, const char *noise, const double *sd, double *variance,
                           kbass_error *error);

#endif
