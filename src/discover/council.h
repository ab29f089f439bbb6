/* The search for fields that change beyond recognition from one line to the next, as chaotic ones do: the kernel engine
 * proposes, and short windows, each with a start of its own, decide (docs/math.md, section 12).
 */
#ifndef KB_COUNCIL_H
#define KB_COUNCIL_H

#include "discover/expedition.h"

kbass_status kb_council_search(const kb_landscape *landscape, kb_run *run, kb_search_result *result, kbass_error *error);

#endif
