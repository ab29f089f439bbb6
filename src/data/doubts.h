/* Signs that a table was taken for something else than it is. */
#ifndef KB_DOUBTS_H
#define KB_DOUBTS_H

#include "data/data.h"

/* Refuses what no law could be found in: a field on a grid whose places are a state, experiments side by side with a
   time each. The message has the command that reads them right. */
kbass_status kb_doubts_refuse(const kbass_data *data, kbass_error *error);

#endif
