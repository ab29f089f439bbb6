/* A score as JSON (docs/schema.md). */
#include "forecast/score_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* {"x": .., "y": .., "all": ..} */
static json_t *by_state(const kbass_posterior *p, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < p->n_states; i++) json_object_set_new(object, p->state_names[i], number(values[i]));
    json_object_set_new(object, "all", number(values[p->n_states]));
    return object;
}

static json_t *predictor(const kbass_posterior *p, const kbass_predictor *own)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(own->name));
    json_object_set_new(object, "r2", by_state(p, own->r2));
    json_object_set_new(object, "log_score", by_state(p, own->log_score));
    json_object_set_new(object, "within_50", by_state(p, own->within_50));
    json_object_set_new(object, "within_90", by_state(p, own->within_90));
    json_object_set_new(object, "leaves", number(own->leaves));
    json_object_set_new(object, "n_lost", json_integer((json_int_t)own->n_lost));
    return object;
}

json_t *kb_score_object(const kbass_score *s, const kbass_posterior *p)
{
    json_t *object = json_object(), *predictors = json_array();
    json_object_set_new(object, "n_used", json_integer((json_int_t)s->n_used));
    json_object_set_new(object, "n_values", json_integer((json_int_t)s->n_values));
    json_object_set_new(object, "first_time", number(s->first));
    json_object_set_new(object, "last_time", number(s->last));
    for (size_t i = 0; i < s->n_predictors; i++) json_array_append_new(predictors, predictor(p, &s->predictors[i]));
    json_object_set_new(object, "predictors", predictors);
    return object;
}

kbass_status kbass_score_json(const kbass_score *s, const kbass_posterior *p, char **json, kbass_error *error)
{
    json_t *object = kb_score_object(s, p);
    json_object_set_new(object, "format", json_string("kbass-score"));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(object);
    *json = text ? kb_strdup(text) : NULL;
    free(text);
    return *json ? KBASS_OK : kb_out_of_memory(error, "the score");
}
