/* The visible period of a record: how long its states take from one swing about their mean to the next. */
#ifndef KB_GP_SWINGS_H
#define KB_GP_SWINGS_H

#include "gp/record.h"

/* Median time, scaled, of two crossings of the mean by the state that crosses it fastest; crossings count from half a
   standard deviation below to half a one above, so that noise makes none. The longest run's time when no state crosses
   it three times. */
kbass_status kb_record_period(const kb_record *record, double *period, kbass_error *error);

#endif
