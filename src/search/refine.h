/* Finer resolutions: the best model goes ahead alone, and its rivals follow to where it is still (docs/math.md, section
 * 12). Neighbours at the last resolution are the polish's.
 */
#ifndef KB_SEARCH_REFINE_H
#define KB_SEARCH_REFINE_H

#include "search/task.h"

/* Until the best model's weights move by less than `still` standard deviations and the resolution's error stops
   mattering. What is there then are all models at one resolution. */
kbass_status kb_refine_resolution(kb_pass *pass, double still, kbass_error *error);

#endif
