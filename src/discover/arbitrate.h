/* Arbitration: every candidate structure fitted to the data through the integrated equation, its neighbours proposed
 * from the fit's own message about all columns, and all compared by evidence (docs/math.md, eqs 19 to 23).
 *
 * The fits begin on short windows, where any model can be integrated, and the windows merge pairwise until one spans
 * the record or, on a chaotic record, until the best model can no longer follow the data.
 */
#ifndef KB_ARBITRATE_H
#define KB_ARBITRATE_H

#include "search/neighbours.h"

/* From the pool's entries, which start on pool->max_windows windows, to the pool sorted on the final search->windows;
 *settled tells whether the search ran dry. */
kbass_status kb_arbitrate(kb_search *search, bool *settled, kbass_error *error);

#endif
