/* Does the law hold where it has not looked? A part of the data is left out, the law is found without it, and scored
 * there (score.c): the last part of the time, or runs, once (--holdout); or each of K parts in turn (--cross-validate).
 */
#ifndef KB_VALIDATE_H
#define KB_VALIDATE_H

#include "answer/answer.h"
#include "base/run.h"
#include "base/settings.h"

bool kb_validation_is_asked(const kbass_settings *settings);
/* Can these data be divided so? */
kbass_status kb_validation_check(const kbass_data *data, const kbass_settings *settings, kbass_error *error);
/* Adds the folds to an answer that was found with all of the data. They share what is left of the run's time; a wish to
   stop ends them. */
kbass_status kb_validate(const kbass_data *data, const kbass_settings *settings, kb_run *run, kb_answer *answer,
                         kbass_error *error);

#endif
