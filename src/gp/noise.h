/* What is known of the noise beforehand: its kind, and how large it is. */
#ifndef KB_NOISE_H
#define KB_NOISE_H

#include <stdbool.h>

#include "base/settings.h"
#include "data/data.h"

#define KB_LEAST_NOISE 1e-6 /* of a state's or field's variance: below it "noise" is the error of model and solver */

typedef enum { KB_NOISE_ADDITIVE, KB_NOISE_MULTIPLICATIVE, KB_NOISE_LOG } kb_noise_model; /* settings->noise_model */

/* "0.1", "5%", or "x=0.1, y=2%": a standard deviation, in the data's units or as a share of each state's. Fills the
   variances named, as shares of the states' own (sd squared). */
kbass_status kb_noise_read(const kbass_data *data, const char *noise, const double *sd, double *variance,
                           kbass_error *error);
/* The settings' noise model. Where noise is a share of the value, "0.1" and "10%" mean the same, and the known
   variances become those of values of ordinary size, the root of mean^2 + sd^2; logarithms need positive values of the
   states that have an equation. */
kbass_status kb_noise_read_model(const kbass_data *data, const kbass_settings *settings, const bool *has_equation,
                                 const double *mean, const double *sd, kb_noise_model *model, double *variance,
                                 kbass_error *error);

/* Error bars of a state: the variance that stands for them all, 1 / mean(1 / sigma^2) over the measured values, in the
   data's units; 0 when it has none. Their relative variances are h = sigma^2 / that one. */
double kb_noise_reference(const kbass_data *data, size_t state);

static const double kb_least_share = 0.05; /* of the rms: no value's relative noise counts as if it were smaller */

#endif
