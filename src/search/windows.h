/* Merging windows pairwise. Where the joined windows lose the data at once, as on chaotic records, the border between
 * them slides: the first grows into the second, row by row, until nothing is left of it, so that at each step the fit
 * has to reach only a little beyond what it already follows. Windows that grow are the same for models that run away.
 */
#ifndef KB_SEARCH_WINDOWS_H
#define KB_SEARCH_WINDOWS_H

#include "weights/likelihood.h"

/* Fits a model that was lost where it begins: on the first rows of each window, then on twice as many, or fewer where
   that is too far, to all of them. For the first it needs less of start and weights, and they tell it more of both.
   False: it is lost all the same. */
bool kb_fit_grow(kb_likelihood *likelihood, int iterations, double rival, kb_fit *fit);
/* Moves a valid fit from `from` to the half as many windows of `to`. */
kbass_status kb_fit_merge(kb_likelihood *likelihood, const kb_windows *from, const kb_windows *to, kb_fit *fit,
                          kbass_error *error);

#endif
