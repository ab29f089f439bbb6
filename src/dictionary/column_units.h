/* Units that stand above or below the names of columns take the place of --units where that is not given. */
#ifndef KB_COLUMN_UNITS_H
#define KB_COLUMN_UNITS_H

#include "base/settings.h"
#include "data/data.h"

/* Those that can be read as units; others are only shown. */
kbass_status kb_column_units(const kbass_data *data, kbass_settings *settings, kbass_error *error);

#endif
