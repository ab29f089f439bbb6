/* The candidate terms: families of monomials, and terms given as text. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/build.h"
#include "dictionary/constants.h"
#include "dictionary/text.h"

enum { DEFAULT_DEGREE = 3, DEFAULT_DEGREE_MANY = 2, MANY_STATES = 7, LONGEST_LINE = 8192 };

/* ---------------------------------------------------------------- monomials */

/* powers[first ..] = the lexicographically highest way to share out `rest`, each at most `bound` */
static void share_out(int *powers, size_t first, size_t n, int rest, int bound)
{
    for (size_t i = first; i < n; i++) {
        powers[i] = rest < bound ? rest : bound;
        rest -= powers[i];
    }
}

void kb_powers_first(int *powers, size_t n, int sum, int bound) { share_out(powers, 0, n, sum, bound); }

bool kb_powers_next(int *powers, size_t n, int bound)
{
    int tail = powers[n - 1];
    for (size_t i = n - 1; i-- > 0;) {
        if (powers[i] > 0 && (double)tail + 1 <= (double)bound * (double)(n - 1 - i)) {
            powers[i]--;
            share_out(powers, i + 1, n, tail + 1, bound);
            return true;
        }
        tail += powers[i];
    }
    return false;
}

static kbass_status add_monomial(kb_dictionary *d, const int *powers, kbass_error *error)
{
    kb_expression *term = NULL;
    kbass_status status = kb_expression_monomial(powers, kb_dictionary_variables(d), &term, error);
    return status == KBASS_OK ? kb_dictionary_append(d, term, error) : status;
}

/* x, y, x^2, x*y, y^2, ... */
kbass_status kb_dictionary_add_monomials(kb_dictionary *d, int lowest, int highest, int bound, size_t factor,
                                         kbass_error *error)
{
    int *powers = KB_NEW(int, d->n_variables);
    kbass_status status = powers ? KBASS_OK : kb_out_of_memory(error, "the dictionary");
    if (powers && factor >= d->n_states) powers[factor] = 1;
    for (int degree = lowest; status == KBASS_OK && degree <= highest; degree++) {
        kb_powers_first(powers, d->n_states, degree, bound);
        do status = add_monomial(d, powers, error);
        while (status == KBASS_OK && kb_powers_next(powers, d->n_states, bound));
    }
    kb_free(powers);
    return status;
}

static kbass_status add_constant(kb_dictionary *d, kbass_error *error)
{
    return kb_dictionary_take_text(d, "1", NULL, error);
}

/* `count` includes the constant. */
static kbass_status check_count(double count, const char *option, int degree, size_t n_states, kbass_error *error)
{
    if (count <= KB_DICTIONARY_LIMIT) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "%s %d with %zu states makes %.6g terms, needed at most %d: lower it, or list --terms", option,
                   degree, n_states, count, KB_DICTIONARY_LIMIT);
}

static kbass_status add_total_degree(kb_dictionary *d, int degree, kbass_error *error)
{
    double count = 1; /* (n + degree) over degree, the constant included */
    for (int k = 1; k <= degree; k++) count *= ((double)d->n_states + k) / k;
    kbass_status status = check_count(round(count), "--degree", degree, d->n_states, error);
    return status == KBASS_OK ? kb_dictionary_add_monomials(d, 1, degree, degree, 0, error) : status;
}

static kbass_status add_box(kb_dictionary *d, int degree, kbass_error *error)
{
    double count = pow(degree + 1, (double)d->n_states);
    kbass_status status = check_count(count, "--box-degree", degree, d->n_states, error);
    return status == KBASS_OK ? kb_dictionary_add_monomials(d, 1, degree * (int)d->n_states, degree, 0, error) : status;
}

/* ---------------------------------------------------------------- terms as text */

/* Cuts the list up. */
static kbass_status add_list(kb_dictionary *d, char *list, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (char *term; status == KBASS_OK && (term = kb_piece_next(&list, ','));)
        status = kb_dictionary_take_text(d, term, NULL, error);
    return status;
}

static kbass_status add_terms(kb_dictionary *d, const char *terms, kbass_error *error)
{
    char *list = kb_strdup(terms);
    kbass_status status = list ? add_list(d, list, error) : kb_out_of_memory(error, "the dictionary");
    if (status != KBASS_OK) kb_error_prefix(error, "--terms: ");
    kb_free(list);
    return status;
}

static kbass_status add_line(kb_dictionary *d, char *line, kbass_error *error)
{
    line[strcspn(line, "#")] = '\0';
    line = kb_trim(line);
    return *line ? add_list(d, line, error) : KBASS_OK;
}

static kbass_status add_lines(kb_dictionary *d, FILE *file, const char *path, kbass_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    char buffer[LONGEST_LINE + 2];
    size_t number = 0;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && fgets(buffer, sizeof buffer, file)) {
        bool is_marked = !number++ && !strncmp(buffer, byte_order_mark, 3);
        char *line = buffer + (is_marked ? 3 : 0);
        if (!strchr(line, '\n') && !feof(file))
            status = kb_fail(error, KBASS_ERROR_FILE, "found a line over %d characters or not text", LONGEST_LINE);
        else status = add_line(d, line, error);
    }
    if (status != KBASS_OK) kb_error_prefix(error, "%.200s:%zu: ", path, number);
    else if (ferror(file)) status = kb_fail(error, KBASS_ERROR_FILE, "%.200s: cannot be read", path);
    return status;
}

static kbass_status add_file(kb_dictionary *d, const char *path, kbass_error *error)
{
    FILE *file = fopen(path, "r");
    if (!file) return kb_fail(error, KBASS_ERROR_FILE, "%.200s: cannot be opened: %s", path, strerror(errno));
    kbass_status status = add_lines(d, file, path, error);
    fclose(file);
    return status;
}

/* ---------------------------------------------------------------- what was asked for */

static kbass_status fill_default(kb_dictionary *d, kbass_error *error)
{
    int degree = d->n_states < MANY_STATES ? DEFAULT_DEGREE : DEFAULT_DEGREE_MANY;
    kbass_status status = add_constant(d, error);
    return status == KBASS_OK ? add_total_degree(d, degree, error) : status;
}

static kbass_status add_families(kb_dictionary *d, const kbass_settings *settings, kbass_error *error)
{
    if (d->n_axes > 1) return kb_dictionary_add_fields(d, settings, error);
    if (settings->degree) return add_total_degree(d, settings->degree, error);
    return add_box(d, settings->box_degree, error);
}

kbass_status kb_dictionary_fill(kb_dictionary *d, const kbass_settings *settings, kbass_error *error)
{
    bool has_list = kb_is_given(settings->terms), has_file = kb_is_given(settings->terms_file);
    bool has_family = settings->degree || settings->box_degree || settings->derivatives || settings->products;
    bool has_none = !has_family && !has_list && !has_file;
    kbass_status status = KBASS_OK;
    if (settings->degree && settings->box_degree)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found both --degree %d and --box-degree %d, needed one of them",
                       settings->degree, settings->box_degree);
    if (has_none && d->n_axes == 1) status = fill_default(d, error);
    else if (settings->constant) status = add_constant(d, error);
    if (status == KBASS_OK && (has_family || (has_none && d->n_axes > 1))) status = add_families(d, settings, error);
    if (status == KBASS_OK && has_list) status = add_terms(d, settings->terms, error);
    if (status == KBASS_OK && has_file) status = add_file(d, settings->terms_file, error);
    if (status == KBASS_OK && !d->n_terms)
        status = kb_fail(error, KBASS_ERROR_FILE, "%.200s: found no terms, needed one a line", settings->terms_file);
    if (status == KBASS_OK && kb_is_given(settings->family))
        status = kb_dictionary_add_constant_families(d, settings->family, error);
    return status;
}
