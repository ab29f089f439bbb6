/* A score as part of a JSON document (docs/schema.md). */
#ifndef KB_SCORE_JSON_H
#define KB_SCORE_JSON_H

#include <jansson.h>

#include "posterior/posterior.h"

/* NULL when memory ran out. */
json_t *kb_score_object(const kbass_score *score, const kbass_posterior *posterior);

#endif
