/* The role of each term in each equation: --equation-for, --fix, --require, --forbid; and what --explain asks about.
 *
 * --fix and --require may bring terms that no family has, and the table of roles needs the final number of terms: the
 * options are read into a list of marks first, and the marks set in the table at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/suggest.h"
#include "dictionary/build.h"
#include "dictionary/constants.h"
#include "dictionary/dimensions.h"
#include "dictionary/text.h"

typedef struct {
    size_t state, term;
    kb_role role; /* KB_ABSENT: forbidden */
    double weight;
} mark;

typedef struct {
    kb_dictionary *dictionary;
    size_t n_candidates; /* the terms before --fix and --require */
    size_t n_marks, capacity;
    mark *marks;
    kbass_error *error;
} assignment;

typedef kbass_status (*group_reader)(assignment *a, char *group);

static const size_t EVERY_EQUATION = SIZE_MAX;

static kbass_status add_mark(assignment *a, size_t state, size_t term, kb_role role, double weight)
{
    if (a->n_marks == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 16;
        mark *marks = kb_reallocate(a->marks, a->n_marks, capacity, sizeof *marks);
        if (!marks) return kb_out_of_memory(a->error, "the dictionary");
        a->marks = marks;
        a->capacity = capacity;
    }
    a->marks[a->n_marks++] = (mark){state, term, role, weight};
    return KBASS_OK;
}

/* ---------------------------------------------------------------- names of equations */

static kbass_status find_state(const assignment *a, const char *name, size_t length, size_t *state)
{
    const kb_dictionary *d = a->dictionary;
    char word[64], advice[200];
    for (*state = 0; *state < d->n_states; ++*state)
        if (strlen(d->state_names[*state]) == length && !memcmp(d->state_names[*state], name, length)) return KBASS_OK;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    kb_name_advice(word, d->n_states, (const char *const *)d->state_names, advice, sizeof advice);
    return kb_text_fail(a->error, name, 0, "unknown state \"%s\"%s", word, advice);
}

/* "x_t" */
static kbass_status find_equation(const assignment *a, const char *name, size_t *state)
{
    const kb_dictionary *d = a->dictionary;
    const char *suffix = kb_dictionary_suffix(d);
    size_t length = strlen(name), tail = strlen(suffix);
    for (*state = 0; *state < d->n_states; ++*state) {
        size_t own = strlen(d->state_names[*state]);
        if (!strncmp(name, d->state_names[*state], own) && !strcmp(name + own, kb_dictionary_tail(d, *state)))
            return KBASS_OK;
    }
    if (length <= tail || strcmp(name + length - tail, suffix))
        return kb_text_fail(a->error, name, 0, "found \"%.60s\", needed an equation's name like \"%s%s\"", name,
                            a->dictionary->state_names[0], suffix);
    return find_state(a, name, length - tail, state);
}

/* An equation that still is to be found. */
static bool is_open(const kb_dictionary *d, size_t state) { return d->has_equation[state] && !d->is_known[state]; }

static kbass_status check_open(const assignment *a, size_t state)
{
    const kb_dictionary *d = a->dictionary;
    if (is_open(d, state)) return KBASS_OK;
    return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "the equation %.100s%s is %s", d->state_names[state],
                   kb_dictionary_tail(d, state),
                   d->velocity[state] < d->n_states ? "what --lhs calls its velocity"
                   : d->is_known[state]             ? "already given by --fix"
                   : d->is_input[state]             ? "that of an --input"
                                                    : "left out by --equation-for");
}

/* ---------------------------------------------------------------- the options, one group at a time */

/* Groups are separated by semicolons; empty ones are skipped. */
static kbass_status read_option(assignment *a, const char *name, const char *text, group_reader read)
{
    if (!text || !*text) return KBASS_OK;
    char *copy = kb_strdup(text), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(a->error, "the dictionary");
    for (char *group; status == KBASS_OK && (group = kb_piece_next(&rest, ';'));)
        if (*group) status = read(a, group);
    if (status != KBASS_OK) kb_error_prefix(a->error, "%s: ", name);
    kb_free(copy);
    return status;
}

static kbass_status read_states(assignment *a, char *group)
{
    for (char *name; (name = kb_piece_next(&group, ','));) {
        size_t state = 0;
        kbass_status status = find_state(a, name, strlen(name), &state);
        if (status != KBASS_OK) return status;
        if (a->dictionary->is_input[state])
            return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" is a known --input and has no equation", name);
        a->dictionary->has_equation[state] = true;
    }
    return KBASS_OK;
}

static kbass_status read_inputs(assignment *a, char *group)
{
    for (char *name; (name = kb_piece_next(&group, ','));) {
        size_t state = 0;
        kbass_status status = find_state(a, name, strlen(name), &state);
        if (status != KBASS_OK) return status;
        a->dictionary->is_input[state] = true;
    }
    return KBASS_OK;
}

static kbass_status choose_inputs(assignment *a, const char *names)
{
    const kb_dictionary *d = a->dictionary;
    size_t n = 0;
    kbass_status status = read_option(a, "--input", names, read_inputs);
    for (size_t state = 0; state < d->n_states; state++) n += d->is_input[state];
    if (status == KBASS_OK && n && d->n_axes > 1)
        return kb_fail(a->error, KBASS_ERROR_ARGUMENT,
                       "--input: inputs are for states over time; found fields over space, "
                       "where a term may have the axes in it instead (--terms \"sin(t)\")");
    if (status == KBASS_OK && n == d->n_states)
        return kb_fail(a->error, KBASS_ERROR_ARGUMENT,
                       "--input: found every column named, needed a state to find an equation for");
    return status;
}

static kbass_status check_hold(const assignment *a, const kbass_settings *settings)
{
    if (!settings->input_hold || kb_is_given(settings->input)) return KBASS_OK;
    return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "--input-hold: found no --input that could be held");
}

/* All equations are wanted unless some are named. */
static kbass_status choose_equations(assignment *a, const char *names)
{
    kb_dictionary *d = a->dictionary;
    size_t n_wanted = 0;
    for (size_t state = 0; state < d->n_states; state++)
        d->has_equation[state] = (!names || !*names) && !d->is_input[state];
    kbass_status status = read_option(a, "--equation-for", names, read_states);
    for (size_t state = 0; state < d->n_states; state++) n_wanted += d->has_equation[state];
    if (status == KBASS_OK && !n_wanted)
        status = kb_fail(a->error, KBASS_ERROR_ARGUMENT, "--equation-for: found no state in \"%.100s\"", names);
    return status;
}

/* Hands the terms of the sum to the dictionary. */
static kbass_status mark_fixed(assignment *a, size_t state, kb_sum *sum)
{
    for (size_t i = 0; i < sum->n; i++) {
        size_t term = 0;
        kb_expression *taken = sum->terms[i];
        sum->terms[i] = NULL;
        kbass_status status = kb_dictionary_take(a->dictionary, taken, &term, a->error);
        if (status == KBASS_OK) status = add_mark(a, state, term, KB_FIXED, sum->coefficients[i]);
        if (status != KBASS_OK) return status;
    }
    return KBASS_OK;
}

/* x_t = x_t for each velocity. */
static kbass_status fix_velocities(assignment *a)
{
    kb_dictionary *d = a->dictionary;
    kbass_status status = KBASS_OK;
    for (size_t state = 0; state < d->n_states && status == KBASS_OK; state++) {
        size_t term = 0;
        if (d->velocity[state] == d->n_states) continue;
        status = kb_dictionary_take_text(d, d->state_names[d->velocity[state]], &term, a->error);
        if (status == KBASS_OK) status = add_mark(a, state, term, KB_FIXED, 1);
        d->is_known[state] = true;
    }
    return status;
}

static kbass_status read_fixed(assignment *a, char *group)
{
    size_t state = 0;
    kb_sum sum = {0};
    kb_variables variables = kb_dictionary_variables(a->dictionary);
    char *right = strchr(group, '=');
    if (!right)
        return kb_text_fail(a->error, group, strlen(group), "found no \"=\" in \"%.60s\", needed \"%s%s = ...\"", group,
                            a->dictionary->state_names[0], kb_dictionary_suffix(a->dictionary));
    *right++ = '\0';
    kbass_status status = find_equation(a, kb_trim(group), &state);
    if (status == KBASS_OK) status = check_open(a, state);
    if (status == KBASS_OK) status = kb_sum_parse(kb_trim(right), variables, &sum, a->error);
    if (status == KBASS_OK) status = mark_fixed(a, state, &sum);
    if (status == KBASS_OK) a->dictionary->is_known[state] = true;
    kb_sum_clear(&sum);
    return status;
}

/* Splits "x_t: a, b" into the equation and the list; without a colon it is for every equation. */
static kbass_status read_scope(const assignment *a, char **list, size_t *state)
{
    char *group = *list, *colon = strchr(group, ':');
    *state = EVERY_EQUATION;
    if (!colon) return KBASS_OK;
    *colon = '\0';
    *list = colon + 1;
    kbass_status status = find_equation(a, kb_trim(group), state);
    return status == KBASS_OK ? check_open(a, *state) : status;
}

static kbass_status mark_scope(assignment *a, size_t scope, size_t term, kb_role role)
{
    kbass_status status = KBASS_OK;
    for (size_t state = 0; status == KBASS_OK && state < a->dictionary->n_states; state++)
        if ((scope == EVERY_EQUATION || scope == state) && is_open(a->dictionary, state))
            status = add_mark(a, state, term, role, 0);
    return status;
}

static kbass_status read_required(assignment *a, char *group)
{
    size_t scope = 0, term = 0;
    kbass_status status = read_scope(a, &group, &scope);
    for (char *text; status == KBASS_OK && (text = kb_piece_next(&group, ','));) {
        status = kb_dictionary_take_text(a->dictionary, text, &term, a->error);
        if (status == KBASS_OK) status = mark_scope(a, scope, term, KB_REQUIRED);
    }
    return status;
}

static kbass_status unknown_term(const assignment *a, const char *name, const char *purpose)
{
    const kb_dictionary *d = a->dictionary;
    const char **names = KB_NEW(const char *, d->n_terms), *nearest = NULL;
    if (!names) return kb_out_of_memory(a->error, "the dictionary");
    for (size_t i = 0; i < d->n_terms; i++) names[i] = kb_dictionary_name(d, i);
    nearest = kb_nearest(name, d->n_terms, names);
    kb_free(names);
    return kb_fail(a->error, KBASS_ERROR_ARGUMENT,
                   "\"%.100s\" is not in the dictionary, so there is nothing to %s%s%.100s%s", name, purpose,
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static kbass_status find_term(const assignment *a, const char *text, const char *purpose, size_t *place)
{
    kb_dictionary *d = a->dictionary;
    kb_expression *term = NULL;
    char *form = NULL;
    kbass_status status = kb_dictionary_parse_term(d, text, &term, &form, a->error);
    if (status != KBASS_OK) return status;
    *place = form ? kb_dictionary_find_form(d, form) : kb_dictionary_find(d, kb_expression_name(term));
    if (*place >= d->n_terms) status = unknown_term(a, form ? form : kb_expression_name(term), purpose);
    kb_expression_destroy(term);
    kb_free(form);
    return status;
}

static kbass_status read_forbidden(assignment *a, char *group)
{
    size_t scope = 0, term = 0;
    kbass_status status = read_scope(a, &group, &scope);
    for (char *text; status == KBASS_OK && (text = kb_piece_next(&group, ','));) {
        status = find_term(a, text, "forbid", &term);
        if (status == KBASS_OK) status = mark_scope(a, scope, term, KB_ABSENT);
    }
    return status;
}

/* The table of roles is made: only candidates can be dropped and added. */
static kbass_status explain_term(assignment *a, size_t scope, size_t term, const char *text)
{
    kb_dictionary *d = a->dictionary;
    bool is_required = false, is_candidate = false;
    for (size_t state = 0; state < d->n_states; state++) {
        size_t place = term + state * d->n_terms;
        if (scope != EVERY_EQUATION && scope != state) continue;
        is_required = is_required || d->roles[place] == KB_REQUIRED;
        is_candidate = is_candidate || d->roles[place] == KB_CANDIDATE;
        if (d->roles[place] == KB_CANDIDATE) d->explained[place] = true;
    }
    if (is_candidate) return KBASS_OK;
    return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" is %s: nothing to compare", text,
                   is_required ? "in by --require" : "no candidate there");
}

static kbass_status read_explained(assignment *a, char *group)
{
    size_t scope = 0, term = 0;
    kbass_status status = read_scope(a, &group, &scope);
    for (char *text; status == KBASS_OK && (text = kb_piece_next(&group, ','));) {
        status = find_term(a, text, "explain", &term);
        if (status == KBASS_OK) status = explain_term(a, scope, term, text);
    }
    return status;
}

/* Weights that may differ between runs: of candidates and of required terms. */
static kbass_status read_varied(assignment *a, char *group)
{
    kb_dictionary *d = a->dictionary;
    size_t scope = 0, term = 0;
    kbass_status status = read_scope(a, &group, &scope);
    for (char *text; status == KBASS_OK && (text = kb_piece_next(&group, ','));) {
        status = find_term(a, text, "vary", &term);
        for (size_t state = 0; status == KBASS_OK && state < d->n_states; state++) {
            kb_role role = d->roles[term + state * d->n_terms];
            bool is_free = role == KB_CANDIDATE || role == KB_REQUIRED;
            if (scope == EVERY_EQUATION || scope == state) d->varied[term + state * d->n_terms] = is_free;
        }
    }
    return status;
}

kbass_status kb_dictionary_find_open(kb_dictionary *d, const char *name, size_t *state, kbass_error *error)
{
    const assignment a = {.dictionary = d, .error = error};
    kbass_status status = find_equation(&a, name, state);
    return status == KBASS_OK ? check_open(&a, *state) : status;
}

kbass_status kb_dictionary_find_term(kb_dictionary *d, const char *text, const char *purpose, size_t *term,
                                     kbass_error *error)
{
    const assignment a = {.dictionary = d, .error = error};
    return find_term(&a, text, purpose, term);
}

/* ---------------------------------------------------------------- the table */

static kbass_status set_mark(assignment *a, const mark *m)
{
    kb_dictionary *d = a->dictionary;
    size_t place = m->term + m->state * d->n_terms;
    if (m->role == KB_ABSENT && d->roles[place] == KB_REQUIRED)
        return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" is both required and forbidden in %.100s%s",
                       kb_dictionary_name(d, m->term), d->state_names[m->state], kb_dictionary_tail(d, m->state));
    d->roles[place] = m->role;
    d->fixed_weights[place] = m->weight;
    return KBASS_OK;
}

static kbass_status check_candidates(const assignment *a, size_t state)
{
    const kb_dictionary *d = a->dictionary;
    for (size_t j = 0; j < d->n_terms; j++)
        if (d->roles[j + state * d->n_terms] != KB_ABSENT) return KBASS_OK;
    return kb_fail(a->error, KBASS_ERROR_ARGUMENT, "the equation %.100s%s has no candidate terms left%s",
                   d->state_names[state], kb_dictionary_tail(d, state),
                   d->units ? " (with --dimensional: see --constants)" : "");
}

static kbass_status fill_table(assignment *a)
{
    kb_dictionary *d = a->dictionary;
    kbass_status status = KBASS_OK;
    d->roles = KB_NEW(kb_role, d->n_terms * d->n_states);
    d->fixed_weights = KB_NEW(double, d->n_terms * d->n_states);
    d->explained = KB_NEW(bool, d->n_terms * d->n_states);
    d->varied = KB_NEW(bool, d->n_terms * d->n_states);
    if (!d->roles || !d->fixed_weights || !d->explained || !d->varied)
        return kb_out_of_memory(a->error, "the dictionary");
    for (size_t state = 0; state < d->n_states; state++)
        for (size_t j = 0; is_open(d, state) && j < a->n_candidates; j++)
            d->roles[j + state * d->n_terms] = kb_dictionary_fits(d, j, state) ? KB_CANDIDATE : KB_ABSENT;
    for (size_t i = 0; status == KBASS_OK && i < a->n_marks; i++) status = set_mark(a, &a->marks[i]);
    for (size_t state = 0; status == KBASS_OK && state < d->n_states; state++)
        if (is_open(d, state)) status = check_candidates(a, state);
    return status;
}

kbass_status kb_dictionary_assign(kb_dictionary *d, const kbass_settings *settings, kbass_error *error)
{
    assignment a = {.dictionary = d, .n_candidates = d->n_terms, .error = error};
    d->has_equation = KB_NEW(bool, d->n_states);
    d->is_known = KB_NEW(bool, d->n_states);
    d->is_input = KB_NEW(bool, d->n_states);
    d->input_delay = KB_NEW(double, d->n_states);
    d->delay_constant = KB_NEW(size_t, d->n_states);
    if (!d->has_equation || !d->is_known || !d->is_input || !d->input_delay || !d->delay_constant)
        return kb_out_of_memory(error, "the dictionary");
    for (size_t state = 0; state < d->n_states; state++) d->delay_constant[state] = KB_NO_CONSTANT;

    kbass_status status = choose_inputs(&a, settings->input);
    if (status == KBASS_OK) status = check_hold(&a, settings);
    if (status == KBASS_OK) status = kb_dictionary_read_delays(d, settings->input_delay, error);
    if (status == KBASS_OK) status = choose_equations(&a, settings->equation_for);
    if (status == KBASS_OK) status = fix_velocities(&a);
    if (status == KBASS_OK) status = read_option(&a, "--fix", settings->fix, read_fixed);
    if (status == KBASS_OK) status = read_option(&a, "--require", settings->require, read_required);
    if (status == KBASS_OK) status = read_option(&a, "--forbid", settings->forbid, read_forbidden);
    if (status == KBASS_OK) status = fill_table(&a);
    if (status == KBASS_OK) status = kb_dictionary_read_constraints(d, settings->constraint, error);
    if (status == KBASS_OK) status = read_option(&a, "--explain", settings->explain, read_explained);
    if (status == KBASS_OK) status = read_option(&a, "--vary", settings->vary, read_varied);
    kb_free(a.marks);
    return status;
}
