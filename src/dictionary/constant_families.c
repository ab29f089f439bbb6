/* Families of terms with unknown constants (--family): saturating, x/(K+x) and x^2/(K^2+x^2) alone and times each other
 * state; periodic, sin(w*t) and cos(w*t). Each term has a constant of its own, the two of a frequency share theirs.
 * What was measured makes their ranges.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "dictionary/build.h"
#include "dictionary/constants.h"
#include "dictionary/text.h"

enum { NAME_SIZE = 32, TERM_SIZE = 640 };

/* As shares of the largest value: below, x/(K+x) is 1 but where x is small; above, it is x within a fifth. */
static const double least_share = 0.02, largest_share = 5;
static const double most_negative = 0.1;  /* share of the largest value: more than noise about 0 */
static const double half_wavelengths = 1; /* within the record, of the slowest */
static const double of_nyquist = 0.8;     /* the fastest, between samples */

/* ---------------------------------------------------------------- terms */

static bool is_name_taken(const kb_dictionary *d, const char *name)
{
    for (size_t v = 0; v < d->n_variables; v++)
        if (!strcmp(d->variable_names[v], name)) return true;
    for (size_t i = 0; i < d->n_constants; i++)
        if (!strcmp(d->constants[i].name, name)) return true;
    return false;
}

/* "K1", or the next that is free. */
static kbass_status add_named(kb_dictionary *d, const char *letter, size_t range_of, char name[NAME_SIZE],
                              kbass_error *error)
{
    size_t number = 1;
    do snprintf(name, NAME_SIZE, "%s%zu", letter, number++);
    while (is_name_taken(d, name));
    kbass_status status = kb_dictionary_add_constant(d, name, 1, 2, error);
    if (status == KBASS_OK) d->constants[d->n_constants - 1].range_of = range_of;
    return status;
}

/* x/(K+x) or x^2/(K^2+x^2), times another state unless that is n_states. */
static kbass_status add_saturating_term(kb_dictionary *d, size_t state, size_t other, int power, kbass_error *error)
{
    char K[NAME_SIZE], text[TERM_SIZE];
    const char *x = d->state_names[state], *factor = other < d->n_states ? d->state_names[other] : "",
               *times = other < d->n_states ? "*" : "";
    kbass_status status = add_named(d, "K", state, K, error);
    if (status != KBASS_OK) return status;
    if (power == 1) snprintf(text, sizeof text, "%.200s%s%.200s/(%s+%.200s)", factor, times, x, K, x);
    else snprintf(text, sizeof text, "%.180s%s%.180s^2/(%s^2+%.180s^2)", factor, times, x, K, x);
    return kb_dictionary_take_text(d, text, NULL, error);
}

static kbass_status add_saturating(kb_dictionary *d, kbass_error *error)
{
    size_t n = d->n_states, wanted = 2 * n * n;
    kbass_status status = KBASS_OK;
    if (d->n_constants + wanted > KB_DICTIONARY_CONSTANTS)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "saturating terms of %zu states have %zu constants, needed at most %zu: name those that matter "
                       "with --terms and --unknown",
                       n, wanted, KB_DICTIONARY_CONSTANTS - d->n_constants);
    for (size_t state = 0; state < n; state++)
        for (int power = 1; power <= 2; power++)
            for (size_t other = 0; other <= n && status == KBASS_OK; other++)
                if (other != state) status = add_saturating_term(d, state, other, power, error);
    return status;
}

static kbass_status add_periodic(kb_dictionary *d, kbass_error *error)
{
    char w[NAME_SIZE], text[TERM_SIZE];
    static const char *const functions[] = {"sin", "cos"};
    kbass_status status = add_named(d, "w", d->n_states, w, error);
    for (size_t i = 0; status == KBASS_OK && i < 2; i++) {
        snprintf(text, sizeof text, "%s(%s*%.200s)", functions[i], w, d->time_name);
        status = kb_dictionary_take_text(d, text, NULL, error);
    }
    return status;
}

static kbass_status add_family(kb_dictionary *d, const char *name, kbass_error *error)
{
    static const char *const names[] = {"saturating", "periodic"};
    if (!strcmp(name, names[0])) return add_saturating(d, error);
    if (!strcmp(name, names[1])) return add_periodic(d, error);
    const char *nearest = kb_nearest(name, 2, names);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown family \"%.60s\"%s%s%s (known: saturating, periodic)", name,
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

kbass_status kb_dictionary_add_constant_families(kb_dictionary *d, const char *families, kbass_error *error)
{
    char *copy = kb_strdup(families), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the dictionary");
    for (char *name; status == KBASS_OK && (name = kb_piece_next(&rest, ','));) status = add_family(d, name, error);
    if (status != KBASS_OK) kb_error_prefix(error, "--family: ");
    kb_free(copy);
    return status;
}

/* ---------------------------------------------------------------- ranges */

/* x/(K+x), which has a pole where x passes -K; x^2/(K^2+x^2) has none. */
static bool has_pole(const kb_dictionary *d, size_t term) { return !strchr(kb_dictionary_form(d, term), '^'); }

static void leave_out(kb_dictionary *d, size_t constant)
{
    d->constants[constant].is_pattern = true;
    for (size_t j = 0; j < d->n_terms; j++)
        for (size_t e = 0; e < d->n_states; e++)
            if (kb_dictionary_names_constant(d, j, constant)) d->roles[j + e * d->n_terms] = KB_ABSENT;
}

static size_t term_of(const kb_dictionary *d, size_t constant)
{
    size_t j = 0;
    while (j < d->n_terms && !kb_dictionary_names_constant(d, j, constant)) j++;
    return j;
}

static void set_saturating(kb_dictionary *d, size_t i, const kb_measured_ranges *m)
{
    size_t state = d->constants[i].range_of;
    double low = m->lowest[state], high = m->highest[state], most = fmax(fabs(low), fabs(high));
    bool is_singular = has_pole(d, term_of(d, i)) && !(low >= -most_negative * most);
    if (is_singular || !(most > 0)) leave_out(d, i);
    else kb_constant_set_range(d, i, fmax(least_share * most, low < 0 ? -2 * low : 0), largest_share * most);
}

kbass_status kb_dictionary_set_family_ranges(kb_dictionary *d, const kb_measured_ranges *m, kbass_error *error)
{
    size_t n_left = 0, n_family = 0;
    for (size_t i = 0; i < d->n_constants; i++) {
        kb_constant *c = &d->constants[i];
        if (c->range_of == KB_NO_VARIABLE) continue;
        if (c->range_of < d->n_states) set_saturating(d, i, m);
        else kb_constant_set_range(d, i, half_wavelengths * M_PI / m->duration, of_nyquist * M_PI / m->spacing);
        n_family++;
        n_left += !c->is_pattern;
    }
    if (n_family && !n_left)
        return kb_fail(error, KBASS_ERROR_DATA, "--family: no state was measured that could saturate");
    return KBASS_OK;
}
