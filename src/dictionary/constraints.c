/* What is known of weights: --constraint "x_t: x*y + y_t: x*y = 0; y_t: y < 0".
 *
 * Both sides are sums of weights, "equation: term", with factors, or numbers. Without terms, "x_t + y_t = 0", the
 * equality holds for every term. A constraint that says nothing new, or cannot hold beside those before it, is refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/constraints.h"
#include "dictionary/text.h"

typedef struct {
    kb_dictionary *dictionary;
    size_t capacity;
    kb_constraint read; /* the one that is being read: everything on its left side */
    bool has_parts[2];  /* its sides name weights */
    const char *text;   /* for messages */
    kbass_error *error;
} reading;

/* ---------------------------------------------------------------- one side */

static kbass_status add_part(reading *r, size_t state, size_t term, double factor)
{
    kb_constraint *c = &r->read;
    for (size_t i = 0; i < c->n; i++)
        if (c->parts[i].state == state && c->parts[i].term == term) {
            c->parts[i].factor += factor;
            return KBASS_OK;
        }
    if (c->n == KB_MOST_TIED)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": found more than %d weights in one constraint",
                       r->text, KB_MOST_TIED);
    c->parts[c->n++] = (kb_constraint_part){state, term, factor};
    return KBASS_OK;
}

static bool is_name(char c) { return kb_is_letter(c) || kb_is_digit(c) || c == '_'; }

/* Where the number that ends before `end` begins; `end` when there is none. */
static const char *number_before(const char *begin, const char *end)
{
    const char *at = end;
    while (at > begin && (kb_is_digit(at[-1]) || at[-1] == '.' || at[-1] == 'e' || at[-1] == 'E' ||
                          ((at[-1] == '-' || at[-1] == '+') && at - 1 > begin && (at[-2] == 'e' || at[-2] == 'E'))))
        at--;
    return at;
}

static const char *skip_blanks_back(const char *begin, const char *at)
{
    while (at > begin && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return at;
}

/* "+ 2*x_t", which ends before `end`: where it begins, its factor, and the name. */
static kbass_status read_head(const reading *r, const char *begin, const char *end, const char **from, double *factor,
                              char *name, size_t size)
{
    const char *last = skip_blanks_back(begin, end), *at = last;
    char number[64];
    while (at > begin && is_name(at[-1])) at--;
    snprintf(name, size, "%.*s", (int)(last - at), at);
    *factor = 1;
    at = skip_blanks_back(begin, at);
    if (at > begin && at[-1] == '*') at = skip_blanks_back(begin, at - 1);
    const char *first = number_before(begin, at);
    if (first < at) {
        snprintf(number, sizeof number, "%.*s", (int)(at - first), first);
        if (!kb_number_parse(number, factor) || !isfinite(*factor))
            return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": the factor \"%s\" is not a number", r->text,
                           number);
        at = skip_blanks_back(begin, first);
    }
    bool is_signed = at > begin && (at[-1] == '+' || at[-1] == '-');
    if (is_signed && at[-1] == '-') *factor = -*factor;
    *from = is_signed ? at - 1 : at;
    return KBASS_OK;
}

/* The weight of a term, all but ": term" having been read into name and factor. */
static kbass_status read_weight(reading *r, const char *name, const char *text, size_t length, double factor)
{
    kb_dictionary *d = r->dictionary;
    size_t state = 0, term = 0;
    char *copy = KB_NEW(char, length + 1);
    if (!copy) return kb_out_of_memory(r->error, "the constraints");
    memcpy(copy, text, length);
    kbass_status status = kb_dictionary_find_open(d, name, &state, r->error);
    if (status == KBASS_OK) status = kb_dictionary_find_term(d, kb_trim(copy), "constrain", &term, r->error);
    if (status == KBASS_OK && d->roles[term + state * d->n_terms] == KB_ABSENT)
        status = kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" is no candidate in %.60s: nothing to constrain",
                         kb_trim(copy), name);
    kb_free(copy);
    return status == KBASS_OK ? add_part(r, state, term, factor) : status;
}

/* "2*x_t: x*y - y_t: x", from its colons backwards. */
static kbass_status read_weights(reading *r, const char *side, double sign)
{
    const char *end = side + strlen(side);
    for (const char *colon = end; colon > side;) {
        char name[100];
        double factor = 1;
        const char *from = NULL;
        for (colon--; colon > side && *colon != ':';) colon--;
        if (*colon != ':') break;
        kbass_status status = read_head(r, side, colon, &from, &factor, name, sizeof name);
        if (status == KBASS_OK) status = read_weight(r, name, colon + 1, (size_t)(end - colon - 1), sign * factor);
        if (status != KBASS_OK) return status;
        end = skip_blanks_back(side, from);
        if (end > side && *from != '+' && *from != '-') {
            return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": needed + or - before \"%.60s\"", r->text, name);
        }
        colon = end;
    }
    return end == side
               ? KBASS_OK
               : kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": found \"%.*s\", needed a weight like \"x_t: x\"",
                         r->text, (int)(end - side < 60 ? end - side : 60), side);
}

static kbass_status read_side(reading *r, char *side, int place)
{
    double number = 0;
    side = kb_trim(side);
    r->has_parts[place] = strchr(side, ':') != NULL;
    if (r->has_parts[place]) return read_weights(r, side, place ? -1 : 1);
    if (!kb_number_parse(side, &number) || !isfinite(number))
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT,
                       "\"%.100s\": found \"%.60s\", needed a number or a weight "
                       "like \"x_t: x\"",
                       r->text, side);
    r->read.right += place ? number : -number;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- what was read */

/* A bound of one weight: its factor becomes 1. */
static void divide(kb_constraint *c)
{
    double factor = c->parts[0].factor;
    if (factor < 0 && c->relation != '=') c->relation = c->relation == '<' ? '>' : '<';
    c->parts[0].factor = 1;
    c->right /= factor;
}

static kbass_status check_read(reading *r)
{
    kb_constraint *c = &r->read;
    for (size_t i = 0; i < c->n; i++)
        if (c->parts[i].factor == 0)
            return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": the weight of \"%.60s\" cancels", r->text,
                           kb_dictionary_name(r->dictionary, c->parts[i].term));
    if (!c->n) return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" names no weight like \"x_t: x\"", r->text);
    if (c->relation != '=' && c->n > 1)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": bounds are for single weights, found %zu", r->text,
                       c->n);
    if (c->n == 1) divide(c);
    if (c->n == 1 && c->relation == '=' && c->right == 0)
        return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\" leaves the term out: --forbid does that", r->text);
    return KBASS_OK;
}

/* Terms whose weight cannot be 0 are in. */
static void require_parts(kb_dictionary *d, const kb_constraint *c)
{
    bool allows_zero = c->relation == '=' ? c->right == 0 : c->relation == '<' ? c->right >= 0 : c->right <= 0;
    for (size_t i = 0; !allows_zero && i < c->n; i++)
        d->roles[c->parts[i].term + c->parts[i].state * d->n_terms] = KB_REQUIRED;
}

static kbass_status keep(reading *r)
{
    kb_dictionary *d = r->dictionary;
    kbass_status status = check_read(r);
    if (status == KBASS_OK) status = kb_constraints_check(d, &r->read, r->text, r->error);
    if (status != KBASS_OK) return status;
    if (d->n_constraints == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        kb_constraint *list = kb_reallocate(d->constraints, d->n_constraints, capacity, sizeof *list);
        if (!list) return kb_out_of_memory(r->error, "the constraints");
        d->constraints = list;
        r->capacity = capacity;
    }
    kb_constraint *kept = &d->constraints[d->n_constraints];
    *kept = r->read;
    kept->parts = KB_NEW(kb_constraint_part, kept->n);
    if (!kept->parts) return kb_out_of_memory(r->error, "the constraints");
    memcpy(kept->parts, r->read.parts, kept->n * sizeof *kept->parts);
    d->n_constraints++;
    require_parts(d, kept);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- for every term */

/* "x_t + y_t": factors of the equations, n_states of them; a copy of the text is written to. */
static kbass_status read_equations(const reading *r, char *side, double sign, double *factors)
{
    for (char *end = side + strlen(side); end > side;) {
        char name[100];
        const char *from = NULL;
        size_t state = 0;
        double factor = 1;
        kbass_status status = read_head(r, side, end, &from, &factor, name, sizeof name);
        if (status == KBASS_OK) status = kb_dictionary_find_open(r->dictionary, name, &state, r->error);
        if (status != KBASS_OK) return status;
        factors[state] += sign * factor;
        end = side + (skip_blanks_back(side, from) - side);
    }
    return KBASS_OK;
}

/* A term that only one of the equations has cannot be balanced, and is left out. */
static kbass_status keep_for_every_term(reading *r, const double *factors)
{
    kb_dictionary *d = r->dictionary;
    kbass_status status = KBASS_OK;
    for (size_t term = 0; status == KBASS_OK && term < d->n_terms; term++) {
        r->read.n = 0;
        for (size_t state = 0; status == KBASS_OK && state < d->n_states; state++)
            if (factors[state] != 0 && d->roles[term + state * d->n_terms] != KB_ABSENT)
                status = add_part(r, state, term, factors[state]);
        if (status == KBASS_OK && r->read.n == 1) d->roles[term + r->read.parts[0].state * d->n_terms] = KB_ABSENT;
        else if (status == KBASS_OK && r->read.n) status = keep(r);
    }
    return status;
}

static kbass_status read_for_every_term(reading *r, char *left, char *right)
{
    double *factors = KB_NEW(double, r->dictionary->n_states), number = NAN;
    size_t n = 0;
    kbass_status status = factors ? KBASS_OK : kb_out_of_memory(r->error, "the constraints");
    if (status == KBASS_OK) status = read_equations(r, kb_trim(left), 1, factors);
    if (status == KBASS_OK && kb_number_parse(kb_trim(right), &number) && number != 0)
        status = kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": sums over every term are equal to 0, found %g",
                         r->text, number);
    else if (status == KBASS_OK && number != 0) status = read_equations(r, kb_trim(right), -1, factors);
    for (size_t state = 0; factors && state < r->dictionary->n_states; state++) n += factors[state] != 0;
    if (status == KBASS_OK && n < 2)
        status = kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": needed two equations at least", r->text);
    if (status == KBASS_OK) status = keep_for_every_term(r, factors);
    kb_free(factors);
    return status;
}

/* ---------------------------------------------------------------- the option */

/* "=", "<", ">", and "==", "<=", ">=" which mean the same. */
static kbass_status split(const reading *r, char *group, char **right, char *relation)
{
    char *at = group + strcspn(group, "<>=");
    if (!*at) return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "\"%.100s\": found none of = < >", r->text);
    *relation = *at;
    *at++ = '\0';
    if (*at == '=') at++;
    *right = at;
    return at[strcspn(at, "<>=")] ? kb_fail(r->error, KBASS_ERROR_ARGUMENT,
                                            "\"%.100s\": found two relations, needed one of = < >", r->text)
                                  : KBASS_OK;
}

static kbass_status read_constraint(reading *r, char *group)
{
    char *right = NULL;
    bool has_terms = strchr(group, ':') != NULL;
    r->read = (kb_constraint){.parts = r->read.parts};
    kbass_status status = split(r, group, &right, &r->read.relation);
    if (status == KBASS_OK && !has_terms && r->read.relation == '=') return read_for_every_term(r, group, right);
    if (status == KBASS_OK) status = read_side(r, group, 0);
    if (status == KBASS_OK) status = read_side(r, right, 1);
    return status == KBASS_OK ? keep(r) : status;
}

kbass_status kb_dictionary_read_constraints(kb_dictionary *d, const char *text, kbass_error *error)
{
    if (!text || !*text) return KBASS_OK;
    reading r = {.dictionary = d, .error = error};
    char *copy = kb_strdup(text), *rest = copy;
    r.read.parts = KB_NEW(kb_constraint_part, KB_MOST_TIED);
    kbass_status status = copy && r.read.parts ? KBASS_OK : kb_out_of_memory(error, "the constraints");
    for (char *group; status == KBASS_OK && (group = kb_piece_next(&rest, ';'));) {
        char *whole = *group ? kb_strdup(group) : NULL;
        if (!*group) continue;
        r.text = whole ? whole : "";
        status = whole ? read_constraint(&r, group) : kb_out_of_memory(error, "the constraints");
        kb_free(whole);
    }
    if (status != KBASS_OK) kb_error_prefix(error, "--constraint: ");
    kb_free(copy);
    kb_free(r.read.parts);
    return status;
}
