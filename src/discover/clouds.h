/* The clouds of a discovery's runs, with the noise that the settings tell of. */
#ifndef KB_CLOUDS_H
#define KB_CLOUDS_H

#include "dictionary/dictionary.h"
#include "gp/cloud.h"

/* As kb_cloud_create_runs; the dictionary's terms are checked against the points that there are. */
kbass_status kb_clouds_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                              kb_cloud **clouds, bool *is_one, kbass_error *error);
/* Which of several space axes of a grid close on themselves, as lines along them show by their likelihood: `periodic`
   and `period` of the cloud. */
kbass_status kb_cloud_find_periodic(kb_cloud *cloud, kbass_error *error);

#endif
