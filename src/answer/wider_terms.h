/* The terms that are tried outside the dictionary: powers, functions, quotients, products, derivatives, time, waves. */
#ifndef KB_ANSWER_WIDER_TERMS_H
#define KB_ANSWER_WIDER_TERMS_H

#include "weights/fit.h"
#include "weights/frame.h"

/* The terms of a model first. span, highest: of each axis, its length in the data's units and the highest order of
   derivative to try. */
kbass_status kb_wider_dictionary(const kb_frame *frame, const kb_fit *fit, const double *span, const int *highest,
                                 kb_dictionary **out, kbass_error *error);

#endif
