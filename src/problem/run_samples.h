/* The run_samples of a discovery's runs, with the noise that the settings tell of. */
#ifndef KB_PROBLEM_RUN_SAMPLES_H
#define KB_PROBLEM_RUN_SAMPLES_H

#include "dictionary/dictionary.h"
#include "data/tiles.h"
#include "gp/field_samples.h"

/* As kb_field_samples_create_runs; the dictionary's terms are checked against the points that there are. */
kbass_status kb_run_samples_create(const kbass_data *data, const kbass_settings *settings,
                                   const kb_dictionary *dictionary, kb_field_samples **run_samples, bool *is_one,
                                   kbass_error *error);
/* Which of several space axes of a grid close on themselves, as lines along them show by their likelihood: `periodic`
   and `period` of the samples. */
kbass_status kb_field_samples_find_periodic(kb_field_samples *samples, const kb_tiled *tiles, kbass_error *error);

#endif
