/* What terms with unknown constants become at the ends of the ranges: s*x/(K+s) is s*x far above s, x far below. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/constants.h"
#include "dictionary/dimensions.h"

enum { POINTS = 12, MOST_VARIABLES = 3, MOST_DEGREE = 4, DIGITS_APART = 1000000 };
static const double proportional = 1e-9; /* of a squared cosine */

/* ---------------------------------------------------------------- proportional to a monomial */

typedef struct {
    size_t n_variables, n, variable[MOST_VARIABLES]; /* those in the term */
    double *points;                                  /* POINTS x n_variables, between 0.5 and 2 */
} sample;

/* Spread by the golden ratio, each variable from another place on. */
static void fill(const sample *s)
{
    for (size_t v = 0; v < s->n_variables; v++)
        for (size_t p = 0; p < POINTS; p++) {
            double at = 0.618033988749895 * (double)(p + 1) + 0.377 * (double)(v * (p + 1));
            s->points[p + v * POINTS] = 0.5 + 1.5 * (at - floor(at));
        }
}

static bool evaluate(const sample *s, const kb_expression *e, double *values)
{
    double *work = KB_NEW(double, kb_expression_work(e, POINTS) + 1);
    bool is_finite = work != NULL;
    if (work) kb_expression_values(e, POINTS, s->points, POINTS, values, work);
    for (size_t p = 0; is_finite && p < POINTS; p++) is_finite = isfinite(values[p]);
    kb_free(work);
    return is_finite;
}

static bool is_monomial(const sample *s, const int *power, const double *values)
{
    double vv = 0, mm = 0, vm = 0;
    for (size_t p = 0; p < POINTS; p++) {
        double m = 1;
        for (size_t i = 0; i < s->n; i++) m *= pow(s->points[p + s->variable[i] * POINTS], power[i]);
        vv += values[p] * values[p];
        mm += m * m;
        vm += values[p] * m;
    }
    return vv > 0 && vm * vm >= (1 - proportional) * vv * mm;
}

/* The powers of the monomial that the values are proportional to; false when there is none. */
static bool find_monomial(const sample *s, const double *values, int *power)
{
    for (int degree = 0; degree <= (s->n ? MOST_DEGREE : 0); degree++) {
        if (s->n) kb_powers_first(power, s->n, degree, degree);
        do
            if (is_monomial(s, power, values)) return true;
        while (s->n && kb_powers_next(power, s->n, degree));
    }
    return false;
}

/* ---------------------------------------------------------------- the limit */

/* "^K" or "^(...K": an exponent has no such limit. */
static bool is_exponent(const char *form, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strchr(form, '^'); at; at = strchr(at + 1, '^')) {
        const char *end = at[1] == '(' ? strchr(at, ')') : at + 1 + length;
        const char *found = strstr(at, name);
        if (found && end && found < end) return true;
    }
    return false;
}

static kbass_status name_of(const kb_dictionary *d, const sample *s, const int *power, char **name, kbass_error *error)
{
    kb_expression *monomial = NULL;
    int *powers = KB_NEW(int, d->n_variables);
    if (!powers) return kb_out_of_memory(error, "a term");
    for (size_t i = 0; i < s->n; i++) powers[s->variable[i]] = power[i];
    kbass_status status = kb_expression_monomial(powers, kb_dictionary_variables(d), &monomial, error);
    if (status == KBASS_OK && !(*name = kb_strdup(kb_expression_name(monomial))))
        status = kb_out_of_memory(error, "a term");
    kb_expression_destroy(monomial);
    kb_free(powers);
    return status;
}

kbass_status kb_dictionary_limit(const kb_dictionary *d, size_t term, size_t constant, bool is_high, char **name,
                                 kbass_error *error)
{
    const kb_constant *c = &d->constants[constant];
    sample s = {.n_variables = d->n_variables};
    double values[POINTS];
    int power[MOST_VARIABLES] = {0};
    *name = NULL;
    if (!kb_dictionary_form(d, term) || !(c->low > 0) || is_exponent(kb_dictionary_form(d, term), c->name))
        return KBASS_OK;
    for (size_t v = 0; v < d->n_variables; v++) {
        if (!kb_dictionary_depends(d, term, v)) continue;
        if (s.n == MOST_VARIABLES) return KBASS_OK;
        s.variable[s.n++] = v;
    }
    kb_expression *far = NULL;
    s.points = KB_NEW(double, POINTS * d->n_variables);
    kbass_status status = s.points ? KBASS_OK : kb_out_of_memory(error, "a term");
    double value = is_high ? fmax(c->high, 1) * DIGITS_APART : fmin(c->low, 1) / DIGITS_APART;
    if (status == KBASS_OK) status = kb_dictionary_term_at(d, term, constant, value, &far, error);
    if (status == KBASS_OK) {
        fill(&s);
        if (evaluate(&s, far, values) && find_monomial(&s, values, power)) status = name_of(d, &s, power, name, error);
    }
    kb_expression_destroy(far);
    kb_free(s.points);
    return status;
}

bool kb_dictionary_is_form(const kb_dictionary *d, size_t term)
{
    sample s = {.n_variables = d->n_variables, .points = KB_NEW(double, POINTS * d->n_variables)};
    double whole[POINTS], bare[POINTS];
    kb_expression *form = NULL;
    bool is_same = s.points && kb_dictionary_form_parse(d, term, &form, NULL) == KBASS_OK;
    if (is_same) fill(&s);
    is_same = is_same && evaluate(&s, form, whole) && evaluate(&s, d->terms[term], bare);
    for (size_t p = 0; is_same && p < POINTS; p++) is_same = fabs(whole[p] - bare[p]) <= 1e-6 * fabs(bare[p]);
    kb_expression_destroy(form);
    kb_free(s.points);
    return is_same;
}

/* ---------------------------------------------------------------- one more candidate */

/* A table of n_terms x n_states with a row more for the last term. */
static void *widen(void *table, size_t item, size_t n_terms, size_t n_states)
{
    char *wide = kb_allocate((n_terms + 1) * n_states, item), *old = table;
    for (size_t state = 0; wide && state < n_states; state++)
        memcpy(wide + state * (n_terms + 1) * item, old + state * n_terms * item, n_terms * item);
    if (wide) kb_free(table);
    return wide;
}

static kbass_status widen_tables(kb_dictionary *d, size_t n_terms, kbass_error *error)
{
    void **tables[] = {(void **)&d->roles, (void **)&d->fixed_weights, (void **)&d->explained, (void **)&d->varied};
    const size_t items[] = {sizeof *d->roles, sizeof *d->fixed_weights, sizeof *d->explained, sizeof *d->varied};
    for (size_t i = 0; i < 4; i++) {
        void *wide = widen(*tables[i], items[i], n_terms, d->n_states);
        if (!wide) return kb_out_of_memory(error, "the dictionary");
        *tables[i] = wide;
    }
    return KBASS_OK;
}

kbass_status kb_dictionary_add_limit(kb_dictionary *d, size_t term, size_t constant, bool is_high, bool *is_new,
                                     kbass_error *error)
{
    char *name = NULL;
    size_t before = d->n_terms, place = 0;
    *is_new = false;
    if (d->n_constraints || d->n_limits == KB_MOST_LIMITS) return KBASS_OK;
    kbass_status status = kb_dictionary_limit(d, term, constant, is_high, &name, error);
    if (status == KBASS_OK && name) status = kb_dictionary_take_text(d, name, &place, error);
    kb_free(name);
    if (status != KBASS_OK || d->n_terms == before) return status;
    status = widen_tables(d, before, error);
    if (status != KBASS_OK) {
        kb_expression_destroy(d->terms[--d->n_terms]);
        return status;
    }
    for (size_t state = 0; state < d->n_states; state++) {
        kb_role like = d->roles[term + state * d->n_terms];
        bool is_open = like == KB_CANDIDATE || like == KB_REQUIRED;
        d->roles[place + state * d->n_terms] =
            is_open && kb_dictionary_fits(d, place, state) ? KB_CANDIDATE : KB_ABSENT;
    }
    d->limits[d->n_limits++] = (kb_limit){place, term, constant, is_high};
    *is_new = true;
    kb_dictionary_clear_tables(d);
    return kb_dictionary_tabulate(d, error);
}
