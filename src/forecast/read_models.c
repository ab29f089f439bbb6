/* The models of a result file: their terms, weights, windows and covariances, and that the equations say the same.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "forecast/reader.h"
#include "forecast/spread.h"

enum { MOST_MODELS = 64, MOST_WINDOWS = 100000 };

/* ---------------------------------------------------------------- terms */

/* The term is one that these states and axes can make, by its own canonical name. */
static kbass_status check_term(const kb_reader *r, const char *where, const char *term)
{
    char field[KB_FIELD_SIZE];
    kbass_settings settings;
    kb_dictionary *dictionary = NULL;
    kbass_error problem = {.message = ""};
    const kbass_posterior *p = r->posterior;
    snprintf(field, sizeof field, "%.130s.term", where);
    if (!term || !*term) return kb_read_wrong(r, field, "is missing or not text");
    kb_settings_default(&settings);
    settings.terms = term;
    const char **names = KB_NEW(const char *, p->n_states + p->inputs.n);
    if (!names) return kb_out_of_memory(r->error, r->path);
    for (size_t i = 0; i < p->n_states + p->inputs.n; i++)
        names[i] = i < p->n_states ? p->state_names[i] : p->inputs.names[i - p->n_states];
    kbass_status status = kb_dictionary_create_fields(&settings, p->n_states + p->inputs.n, names, p->n_axes,
                                                      (const char *const *)p->axis_names, &dictionary, &problem);
    kb_free(names);
    if (status == KBASS_ERROR_MEMORY) return kb_out_of_memory(r->error, r->path);
    bool is_good = status == KBASS_OK && dictionary->n_terms == 1 && !strcmp(kb_dictionary_name(dictionary, 0), term);
    kb_dictionary_destroy(dictionary);
    return is_good ? KBASS_OK : kb_read_wrong(r, field, "is \"%.80s\", which is no term of these states", term);
}

static kbass_status read_term(const kb_reader *r, json_t *item, const char *where, kb_belief *b, size_t i)
{
    char field[KB_FIELD_SIZE];
    const char *state = json_string_value(json_object_get(item, "state"));
    const char *term = json_string_value(json_object_get(item, "term"));
    const kbass_posterior *p = r->posterior;
    snprintf(field, sizeof field, "%.100s.terms[%zu]", where, i);
    kbass_status status = check_term(r, field, term);
    if (status == KBASS_OK) status = kb_read_number_at(r, item, field, "weight", &b->weight[i]);
    if (status != KBASS_OK) return status;
    b->equation[i] = kb_read_find_name(p->n_states, p->state_names, state);
    if (b->equation[i] == p->n_states) return kb_read_wrong(r, field, "is of a state that data.states does not name");
    for (size_t k = 0; k < i; k++)
        if (b->equation[k] == b->equation[i] && !strcmp(b->term[k], term))
            return kb_read_wrong(r, field, "is there twice");
    if (json_is_true(json_object_get(item, "of_constant"))) b->n_constant_terms++;
    else if (b->n_constant_terms) return kb_read_wrong(r, field, "stands behind those of constants");
    b->term[i] = kb_strdup(term);
    return b->term[i] ? KBASS_OK : kb_out_of_memory(r->error, r->path);
}

/* ---------------------------------------------------------------- windows */

/* Rows of weights and start or, where `first` is not NULL, of the start's alone, the weights' block being that of
 * `first`. */
static kbass_status read_covariance(const kb_reader *r, json_t *rows, const char *field, size_t n_terms, size_t size,
                                    const double *first, double *V)
{
    char row[KB_FIELD_SIZE];
    kbass_status status = KBASS_OK;
    size_t known = first && json_array_size(rows) == size - n_terms ? n_terms : 0;
    if (!json_is_array(rows) || json_array_size(rows) != size - known)
        return kb_read_wrong(r, field, "is missing or has not %zu rows, one for each weight and number of the start",
                             size);
    for (size_t i = 0; i < known; i++) memcpy(V + i * size, first + i * size, (i + 1) * sizeof *V);
    for (size_t i = known; status == KBASS_OK && i < size; i++) {
        snprintf(row, sizeof row, "%.130s[%zu]", field, i - known);
        status = kb_read_numbers(r, json_array_get(rows, i - known), row, i + 1, -INFINITY, V + i * size);
    }
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++) V[i + j * size] = V[j + i * size];
    if (status == KBASS_OK && !kb_is_covariance(size, V))
        status = kb_read_wrong(r, field, "is not positive semidefinite");
    return status;
}

static kbass_status read_window(const kb_reader *r, json_t *item, const char *where, kb_belief *b, size_t i)
{
    char field[KB_FIELD_SIZE], covariance[KB_FIELD_SIZE];
    const kbass_posterior *p = r->posterior;
    kb_stretch *w = &b->windows[i];
    snprintf(field, sizeof field, "%.100s.windows[%zu]", where, i);
    snprintf(covariance, sizeof covariance, "%.100s.windows[%zu].covariance", where, i);
    double slack = 1e-9 * (p->last[0] - p->first[0]), begin = i ? b->windows[i - 1].last : p->first[0];
    kbass_status status = kb_read_number_at(r, item, field, "first", &w->first);
    if (status == KBASS_OK) status = kb_read_number_at(r, item, field, "last", &w->last);
    if (status == KBASS_OK && !(fabs(w->first - begin) <= slack && w->last > w->first))
        status = kb_read_wrong(r, field, "runs from %g to %g, needed to begin at %g", w->first, w->last, begin);
    if (status == KBASS_OK && i + 1 == b->n_windows && !(fabs(w->last - p->last[0]) <= slack))
        status = kb_read_wrong(r, field, "ends at %g, the data at %g", w->last, p->last[0]);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, item, field, "start", p->n_start, -INFINITY, w->start);
    if (status == KBASS_OK)
        status = read_covariance(r, json_object_get(item, "covariance"), covariance, b->n_terms,
                                 b->n_terms + p->n_start, i ? b->windows[0].covariance : NULL, w->covariance);
    return status;
}

/* ---------------------------------------------------------------- models */

static kbass_status read_model(const kb_reader *r, json_t *item, size_t index)
{
    char where[64], field[KB_FIELD_SIZE];
    kbass_posterior *p = r->posterior;
    kb_belief *b = &p->models[index];
    json_t *terms = json_object_get(item, "terms"), *windows = json_object_get(item, "windows");
    snprintf(where, sizeof where, "%.40s.models[%zu]", r->where, index);
    snprintf(field, sizeof field, "%s.terms", where);
    if (!json_is_array(terms)) return kb_read_wrong(r, field, "is missing or not a list");
    snprintf(field, sizeof field, "%s.windows", where);
    if (!json_array_size(windows) || json_array_size(windows) > MOST_WINDOWS)
        return kb_read_wrong(r, field, "is missing or empty");
    kbass_status status = kb_belief_allocate(p, json_array_size(terms), json_array_size(windows), b, r->error);
    if (status != KBASS_OK) return status;
    p->n_models++;
    status = kb_read_number_at(r, item, where, "log_odds", &b->log_odds);
    snprintf(field, sizeof field, "%s.log_odds", where);
    if (status == KBASS_OK && (index ? !(b->log_odds <= 0) : b->log_odds != 0))
        status = kb_read_wrong(r, field, "is %g, needed %s", b->log_odds,
                               index ? "at most 0" : "0: the first model is the chosen one");
    if (status == KBASS_OK) status = kb_read_numbers_at(r, item, where, "noise", p->n_states, 0, b->noise);
    for (size_t i = 0; status == KBASS_OK && i < b->n_terms; i++)
        status = read_term(r, json_array_get(terms, i), where, b, i);
    for (size_t i = 0; status == KBASS_OK && i < b->n_windows; i++)
        status = read_window(r, json_array_get(windows, i), where, b, i);
    return status == KBASS_OK && kb_posterior_has_row(p) ? kb_read_row(r, item, where, b) : status;
}

kbass_status kb_read_models(const kb_reader *r)
{
    json_t *models = json_object_get(r->part, "models"), *relative = json_object_get(r->part, "relative_noise");
    size_t n = json_array_size(models);
    kbass_status status = KBASS_OK;
    char field[KB_FIELD_SIZE];
    snprintf(field, sizeof field, "%s.models", r->where);
    if (!n || n > MOST_MODELS) return kb_read_wrong(r, field, "has %zu items, needed 1 to %d", n, MOST_MODELS);
    snprintf(field, sizeof field, "%s.relative_noise", r->where);
    if (!json_is_boolean(relative)) return kb_read_wrong(r, field, "is missing or not true or false");
    r->posterior->is_relative = json_is_true(relative);
    r->posterior->models = KB_NEW(kb_belief, n);
    if (!r->posterior->models) return kb_out_of_memory(r->error, r->path);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) status = read_model(r, json_array_get(models, i), i);
    return status;
}

/* ---------------------------------------------------------------- the equations say the same */

static kbass_status compare_term(const kb_reader *r, json_t *item, size_t state, const char *field, size_t *n_found)
{
    const kb_belief *b = &r->posterior->models[0];
    const char *term = json_string_value(json_object_get(item, "term"));
    double weight = json_number_value(json_object_get(item, "weight"));
    if (!json_is_true(json_object_get(item, "selected"))) return KBASS_OK;
    for (size_t i = 0; term && i < b->n_terms; i++) {
        if (b->equation[i] != state || strcmp(b->term[i], term)) continue;
        ++*n_found;
        if (fabs(weight - b->weight[i]) <= 1e-9 * fabs(b->weight[i])) return KBASS_OK;
        return kb_read_wrong(r, field, "has the weight %g, %s.models[0] has %g", weight, r->where, b->weight[i]);
    }
    return kb_read_wrong(r, field, "is selected, but %s.models[0] does not have it", r->where);
}

kbass_status kb_read_compare_equations(const kb_reader *r)
{
    const kbass_posterior *p = r->posterior;
    json_t *equations = json_object_get(r->root, "equations");
    size_t n_found = 0;
    kbass_status status = KBASS_OK;
    if (json_array_size(equations) != p->n_states)
        return kb_read_wrong(r, "equations", "has %zu items, needed one for each of %zu states",
                             json_array_size(equations), p->n_states);
    for (size_t e = 0; status == KBASS_OK && e < p->n_states; e++) {
        json_t *terms = json_object_get(json_array_get(equations, e), "terms");
        for (size_t i = 0; status == KBASS_OK && i < json_array_size(terms); i++) {
            char field[KB_FIELD_SIZE];
            snprintf(field, sizeof field, "equations[%zu].terms[%zu]", e, i);
            status = compare_term(r, json_array_get(terms, i), e, field, &n_found);
        }
    }
    if (status == KBASS_OK && n_found != p->models[0].n_terms - p->models[0].n_constant_terms)
        status = kb_read_wrong(r, "equations", "selects %zu terms, %s.models[0] has %zu", n_found, r->where,
                               p->models[0].n_terms);
    return status;
}
