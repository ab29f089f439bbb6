/* The visible period of a record: how long its states take from one swing about their mean to the next. */
#ifndef KB_GP_SWINGS_H
#define KB_GP_SWINGS_H

#include "gp/record.h"

/* Time, scaled, from one crossing of the mean upwards to the next, of the state that crosses it fastest: the mean over
   the middle half of them. Crossings count from half a standard deviation below to half a one above, so that noise
   makes none. *spread, unless NULL: the width of that half as a share of the period; small for oscillators, large for
   chaos. The longest run's time, and 0, when no state crosses it three times. */
kbass_status kb_record_period(const kb_record *record, double *period, double *spread, kbass_error *error);

#endif
