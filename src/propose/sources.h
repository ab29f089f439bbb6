/* Where the structures come from that searches begin with: one list for each kind of data. A new source is one more
 * line in a list (sources.c).
 */
#ifndef KB_PROPOSE_SOURCES_H
#define KB_PROPOSE_SOURCES_H

#include "search/task.h"

extern const kb_source kb_sources_of_states[], kb_sources_of_one_axis[], kb_sources_of_axes[];

#endif
