/* The first kernel regression: z of the measurements alone, and v by cross-validation. */
#ifndef KB_PUBLISHED_REGRESS_H
#define KB_PUBLISHED_REGRESS_H

#include "published/field.h"

/* z minimising |z|^2 / 2 + |y - f|^2 / (2 v), by conjugate gradients. */
kbass_status kb_published_regress(kb_published_field *field, const double *variance, kbass_error *error);
/* By field: the v among a few whose regressions foretell the values left out best, ten parts in turn. */
kbass_status kb_published_cross_validate(kb_published_field *field, double *variance, kbass_error *error);

#endif
