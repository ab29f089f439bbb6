/* The report that is printed: what was understood of the data, the equations, their terms, the noise, the rivals. */
#ifndef KB_TEXT_REPORT_H
#define KB_TEXT_REPORT_H

#include "kbass/kbass.h"

/* `parts` are those of kbass_discovery_text; the result, if asked for, is there. *text belongs to the caller. */
kbass_status kb_report_text(const kbass_data *data, const kbass_discovery *discovery, int parts, char **text,
                            kbass_error *error);

#endif
