/* The printed report, on stdout. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>

#include "kbass/kbass.h"

/* What was understood of the data, and the dictionary. */
void cli_text_problem(const kbass_data *data, const kbass_discovery *discovery);
/* all_terms: the table has every candidate, not only those selected or near it. */
void cli_text_result(const kbass_data *data, const kbass_result *result, bool all_terms);

#endif
