#include "dictionary/constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/text.h"

enum { DIGITS = 8 }; /* of a value within a term */
static const double middle = 0.5;

/* ---------------------------------------------------------------- ranges */

static bool is_logarithmic(const kb_constant *c) { return c->low > 0; }

double kb_constant_at(const kb_constant *c, double share)
{
    if (is_logarithmic(c)) return c->low * pow(c->high / c->low, share);
    return c->low + (c->high - c->low) * share;
}

double kb_constant_share(const kb_constant *c, double value)
{
    if (is_logarithmic(c)) return log(value / c->low) / log(c->high / c->low);
    return (value - c->low) / (c->high - c->low);
}

static size_t find_constant(const kb_dictionary *d, const char *name, size_t length)
{
    for (size_t i = 0; i < d->n_constants; i++)
        if (strlen(d->constants[i].name) == length && !strncmp(d->constants[i].name, name, length)) return i;
    return d->n_constants;
}

/* No two begin with one value, lest their terms be one. */
static double first_value(const kb_constant *c, size_t i)
{
    return kb_constant_at(c, middle + 0.0137 * (double)((i + 1) % 16));
}

void kb_constant_set_range(kb_dictionary *d, size_t i, double low, double high)
{
    d->constants[i].low = low;
    d->constants[i].high = high;
    d->constants[i].value = first_value(&d->constants[i], i);
}

kbass_status kb_dictionary_add_constant(kb_dictionary *d, const char *name, double low, double high, kbass_error *error)
{
    if (d->n_constants == KB_DICTIONARY_CONSTANTS)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found more than %d constants", KB_DICTIONARY_CONSTANTS);
    if (!d->constants) d->constants = KB_NEW(kb_constant, KB_DICTIONARY_CONSTANTS);
    char *copy = kb_strdup(name);
    if (!d->constants || !copy) {
        kb_free(copy);
        return kb_out_of_memory(error, "the constants");
    }
    d->constants[d->n_constants] = (kb_constant){.name = copy, .range_of = KB_NO_VARIABLE};
    kb_constant_set_range(d, d->n_constants++, low, high);
    return KBASS_OK;
}

static kbass_status check_name(const kb_dictionary *d, const char *name, kbass_error *error)
{
    if (!kb_is_identifier(name) || kb_is_reserved(name))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--unknown: \"%.60s\" is no name for a constant", name);
    for (size_t v = 0; v < d->n_variables; v++)
        if (!strcmp(name, d->variable_names[v]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "--unknown: \"%.60s\" is the name of a state, derivative or axis", name);
    if (find_constant(d, name, strlen(name)) < d->n_constants)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--unknown: found the constant \"%.60s\" twice", name);
    return KBASS_OK;
}

/* "K=0.1:20" */
static kbass_status read_constant(kb_dictionary *d, char *piece, kbass_error *error)
{
    char *range = strchr(piece, '='), *colon = range ? strchr(range, ':') : NULL, *star = strstr(piece, "[*]");
    double low = NAN, high = NAN;
    if (!range || !colon)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--unknown: found \"%.60s\", needed a name and a range: K=0.1:20",
                       piece);
    *range++ = *colon++ = '\0';
    if (star && star < range) *star = '\0';
    char *name = kb_trim(piece);
    kbass_status status = check_name(d, name, error);
    if (status != KBASS_OK) return status;
    if (!kb_number_parse(kb_trim(range), &low) || !kb_number_parse(kb_trim(colon), &high) || !isfinite(low) ||
        !isfinite(high))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--unknown: the range of %.60s is not two numbers", name);
    if (!(low < high))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--unknown: the range of %.60s is %s: %g to %g", name,
                       low > high ? "reversed" : "empty", low, high);
    return kb_dictionary_add_constant(d, name, low, high, error);
}

kbass_status kb_dictionary_read_constants(kb_dictionary *d, const char *unknown, kbass_error *error)
{
    if (!kb_is_given(unknown)) return KBASS_OK;
    char *copy = kb_strdup(unknown), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the constants");
    for (char *piece; status == KBASS_OK && (piece = kb_piece_next(&rest, ','));)
        status = read_constant(d, piece, error);
    kb_free(copy);
    return status;
}

static bool is_word(char c) { return kb_is_letter(c) || kb_is_digit(c); }

/* The next word of a text that is a constant's name; its place and length. n_constants when there is none. */
static size_t next_constant(const kb_dictionary *d, const char *text, size_t *at, size_t *length)
{
    while (text[*at]) {
        for (*length = 0; is_word(text[*at + *length]);) ++*length;
        size_t found = *length && kb_is_letter(text[*at]) ? find_constant(d, text + *at, *length) : d->n_constants;
        if (found < d->n_constants) return found;
        *at += *length ? *length : 1;
    }
    return d->n_constants;
}

static bool is_delayed_by(const kb_dictionary *d, size_t term, size_t constant)
{
    for (size_t state = 0; d->delay_constant && state < d->n_states; state++)
        if (d->delay_constant[state] == constant && kb_dictionary_depends(d, term, state)) return true;
    return false;
}

bool kb_dictionary_has_constant(const kb_dictionary *d, size_t term)
{
    bool has = false;
    for (size_t i = 0; !has && i < d->n_constants; i++) has = kb_dictionary_names_constant(d, term, i);
    return has;
}

bool kb_dictionary_names_constant(const kb_dictionary *d, size_t term, size_t constant)
{
    if (is_delayed_by(d, term, constant)) return true;
    if (!d->forms || !d->forms[term]) return false;
    for (size_t at = 0, length = 0; d->forms[term][at]; at += length)
        if (next_constant(d, d->forms[term], &at, &length) == constant) return true;
    return false;
}

/* ---------------------------------------------------------------- delays of inputs */

/* "0:2" of an input makes a constant with its name. */
static kbass_status add_delay(kb_dictionary *d, size_t state, char *range, kbass_error *error)
{
    char *colon = strchr(range, ':'), name[100];
    double low = NAN, high = NAN;
    *colon++ = '\0';
    snprintf(name, sizeof name, "delay_%.80s", d->state_names[state]);
    bool are_numbers = kb_number_parse(kb_trim(range), &low) && kb_number_parse(kb_trim(colon), &high);
    if (!are_numbers || !(low >= 0 && low < high) || !isfinite(high))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "--input-delay: the range of %.60s is \"%.30s:%.30s\", needed two ascending numbers from 0 on",
                       d->state_names[state], range, colon);
    kbass_status status = check_name(d, name, error);
    if (status == KBASS_OK) status = kb_dictionary_add_constant(d, name, low, high, error);
    if (status == KBASS_OK) d->delay_constant[state] = d->n_constants - 1;
    return status;
}

/* "f=0.5", "f=tau" or "f=0:2" */
static kbass_status read_delay(kb_dictionary *d, char *piece, kbass_error *error)
{
    char *value = strchr(piece, '=');
    size_t state = 0;
    if (!value)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "--input-delay: found \"%.60s\", needed an input and its delay: f=0.5, or a range: f=0:2",
                       piece);
    *value++ = '\0';
    const char *name = kb_trim(piece);
    value = kb_trim(value);
    while (state < d->n_states && strcmp(d->state_names[state], name)) state++;
    if (state == d->n_states || !d->is_input[state])
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--input-delay: \"%.60s\" is no --input", name);
    if (strchr(value, ':')) return add_delay(d, state, value, error);
    size_t constant = find_constant(d, value, strlen(value));
    if (constant < d->n_constants && !(d->constants[constant].low >= 0))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--input-delay: %.60s may be negative, needed a range from 0 on",
                       value);
    if (constant < d->n_constants) {
        d->delay_constant[state] = constant;
        return KBASS_OK;
    }
    if (kb_number_parse(value, &d->input_delay[state]) && d->input_delay[state] >= 0 && isfinite(d->input_delay[state]))
        return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "--input-delay: found \"%.60s\" for %.60s, needed a number from 0 on, a range or a constant of "
                   "--unknown",
                   value, name);
}

static void set_delays(kb_dictionary *d)
{
    for (size_t state = 0; state < d->n_states; state++)
        if (d->delay_constant[state] != KB_NO_CONSTANT)
            d->input_delay[state] = d->constants[d->delay_constant[state]].value;
}

kbass_status kb_dictionary_read_delays(kb_dictionary *d, const char *delays, kbass_error *error)
{
    if (!kb_is_given(delays)) return KBASS_OK;
    char *copy = kb_strdup(delays), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the delays");
    for (char *piece; status == KBASS_OK && (piece = kb_piece_next(&rest, ','));) status = read_delay(d, piece, error);
    if (status == KBASS_OK) set_delays(d);
    kb_free(copy);
    return status;
}

kbass_status kb_dictionary_check_constants(const kb_dictionary *d, kbass_error *error)
{
    for (size_t i = 0; i < d->n_constants; i++) {
        bool is_named = d->constants[i].is_pattern;
        for (size_t term = 0; !is_named && term < d->n_terms; term++)
            is_named = kb_dictionary_names_constant(d, term, i);
        if (!is_named)
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "--unknown: no term names the constant %.60s: add one to --terms", d->constants[i].name);
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- terms */

/* "K[*]" becomes "K1", the next one that is free, with the range of K. */
static kbass_status give_own(kb_dictionary *d, const char *text, kb_buffer *out, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t at = 0, from = 0, length = 0; status == KBASS_OK && text[from]; from = at) {
        char name[100];
        size_t constant = next_constant(d, text, &at, &length), number = 1;
        kb_buffer_print(out, "%.*s", (int)(at + (constant < d->n_constants ? length : 0) - from), text + from);
        if (constant == d->n_constants) break;
        at += length;
        if (strncmp(text + at, "[*]", 3)) continue;
        at += 3;
        do snprintf(name, sizeof name, "%.80s%zu", d->constants[constant].name, number++);
        while (find_constant(d, name, strlen(name)) < d->n_constants);
        d->constants[constant].is_pattern = true;
        status = kb_dictionary_add_constant(d, name, d->constants[constant].low, d->constants[constant].high, error);
        kb_buffer_print(out, "%zu", number - 1);
    }
    return status;
}

/* The text with values for the names of constants. */
static void put_values(const kb_dictionary *d, const char *form, kb_buffer *out)
{
    for (size_t at = 0, from = 0, length = 0; form[from]; from = at) {
        char number[KB_NUMBER_SIZE];
        size_t constant = next_constant(d, form, &at, &length);
        kb_buffer_print(out, "%.*s", (int)(at - from), form + from);
        if (constant == d->n_constants) break;
        kb_number_round(d->constants[constant].value, DIGITS, number);
        kb_buffer_print(out, "(%s)", number);
        at += length;
    }
}

kbass_status kb_dictionary_form_parse(const kb_dictionary *d, size_t term, kb_expression **out, kbass_error *error)
{
    kb_buffer text = {0};
    put_values(d, d->forms[term], &text);
    kbass_status status = text.is_lost ? kb_out_of_memory(error, "the constants")
                                       : kb_expression_parse(text.text, kb_dictionary_variables(d), out, error);
    kb_buffer_clear(&text);
    return status;
}

static kbass_status instance_of(const kb_dictionary *d, const char *form, kb_expression **term, kbass_error *error)
{
    kb_buffer text = {0};
    put_values(d, form, &text);
    kbass_status status = text.is_lost ? kb_out_of_memory(error, "the constants")
                                       : kb_expression_term(text.text, kb_dictionary_variables(d), term, error);
    kb_buffer_clear(&text);
    return status;
}

/* The form as an expression in variables and constants: its canonical name, or NULL in *form where no constant is in.
 */
static kbass_status read_form(const kb_dictionary *d, const char *text, kb_expression **term, char **form,
                              kbass_error *error)
{
    size_t n = d->n_variables;
    const char **names = KB_NEW(const char *, n + d->n_constants);
    if (!names) return kb_out_of_memory(error, "the constants");
    for (size_t v = 0; v < n; v++) names[v] = d->variable_names[v];
    for (size_t i = 0; i < d->n_constants; i++) names[n + i] = d->constants[i].name;
    kbass_status status = kb_expression_term(text, (kb_variables){n + d->n_constants, names}, term, error);
    bool has_constant = false;
    for (size_t i = 0; status == KBASS_OK && i < d->n_constants; i++)
        has_constant = has_constant || kb_expression_depends(*term, n + i);
    if (has_constant && !(*form = kb_strdup(kb_expression_name(*term)))) status = kb_out_of_memory(error, "a term");
    kb_free(names);
    return status;
}

kbass_status kb_dictionary_parse_term(kb_dictionary *d, const char *text, kb_expression **term, char **form,
                                      kbass_error *error)
{
    kb_buffer own = {0};
    *form = NULL;
    if (!d->n_constants) return kb_expression_term(text, kb_dictionary_variables(d), term, error);
    kbass_status status = give_own(d, text, &own, error);
    if (status == KBASS_OK && own.is_lost) status = kb_out_of_memory(error, "a term");
    if (status == KBASS_OK) status = read_form(d, own.text ? own.text : "", term, form, error);
    kb_buffer_clear(&own);
    if (status != KBASS_OK) return status;
    kb_expression_destroy(*term);
    *term = NULL;
    if (*form) return instance_of(d, *form, term, error);
    return kb_expression_term(text, kb_dictionary_variables(d), term, error);
}

kbass_status kb_dictionary_set_constants(kb_dictionary *d, const double *values, kbass_error *error)
{
    for (size_t i = 0; i < d->n_constants; i++) d->constants[i].value = values[i];
    set_delays(d);
    for (size_t j = 0; j < d->n_terms; j++) {
        kb_expression *term = NULL;
        if (!d->forms || !d->forms[j]) continue;
        kbass_status status = instance_of(d, d->forms[j], &term, error);
        if (status != KBASS_OK) return status;
        kb_expression_destroy(d->terms[j]);
        d->terms[j] = term;
    }
    kb_dictionary_clear_tables(d);
    return kb_dictionary_tabulate(d, error);
}

kbass_status kb_dictionary_term_at(const kb_dictionary *d, size_t term, size_t constant, double value,
                                   kb_expression **out, kbass_error *error)
{
    kb_constant *c = &d->constants[constant];
    double kept = c->value;
    c->value = value;
    kbass_status status = instance_of(d, d->forms[term], out, error);
    c->value = kept;
    return status;
}

kbass_status kb_dictionary_name_at(const kb_dictionary *d, size_t term, size_t constant, double share, char **name,
                                   kbass_error *error)
{
    kb_expression *moved = NULL;
    kbass_status status =
        kb_dictionary_term_at(d, term, constant, kb_constant_at(&d->constants[constant], share), &moved, error);
    if (status == KBASS_OK && !(*name = kb_strdup(kb_expression_name(moved))))
        status = kb_out_of_memory(error, "a term");
    kb_expression_destroy(moved);
    return status;
}

/* ---------------------------------------------------------------- powers of what may pass 0 */

/* "x^" before a constant or a sum with one. */
static bool is_power_at(const kb_dictionary *d, const char *form, size_t at, size_t length, const bool *may_pass_zero)
{
    size_t state = 0, after = at + length, more = 0;
    while (state < d->n_states &&
           !(strlen(d->state_names[state]) == length && !strncmp(d->state_names[state], form + at, length)))
        state++;
    if (state == d->n_states || !may_pass_zero[state] || form[after] != '^') return false;
    after += 1 + (form[after + 1] == '(');
    for (more = 0; is_word(form[after + more]);) more++;
    return find_constant(d, form + after, more) < d->n_constants;
}

static bool guard(const kb_dictionary *d, const char *form, const bool *may_pass_zero, kb_buffer *out)
{
    bool is_changed = false;
    for (size_t at = 0, length = 0; form[at]; at += length) {
        for (length = 0; is_word(form[at + length]);) length++;
        bool is_guarded = length && is_power_at(d, form, at, length, may_pass_zero);
        if (!length) length = 1;
        kb_buffer_print(out, is_guarded ? "max(0,%.*s)" : "%.*s", (int)length, form + at);
        is_changed = is_changed || is_guarded;
    }
    return is_changed;
}

kbass_status kb_dictionary_guard_powers(kb_dictionary *d, const bool *may_pass_zero, size_t *n, kbass_error *error)
{
    *n = 0;
    for (size_t j = 0; d->forms && j < d->n_terms; j++) {
        kb_buffer text = {0};
        if (!d->forms[j] || !guard(d, d->forms[j], may_pass_zero, &text)) {
            kb_buffer_clear(&text);
            continue;
        }
        kb_expression *term = NULL;
        char *form = NULL;
        kbass_status status =
            text.is_lost ? kb_out_of_memory(error, "a term") : read_form(d, text.text, &term, &form, error);
        kb_buffer_clear(&text);
        kb_expression_destroy(term);
        if (status != KBASS_OK) return status;
        kb_free(d->forms[j]);
        d->forms[j] = form;
        ++*n;
    }
    return KBASS_OK;
}
