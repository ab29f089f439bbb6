#include "answer/jumps.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

static bool jumps(const kb_dictionary *d, const kbass_term *term)
{
    size_t place = kb_dictionary_find(d, term->term), n_space = d->n_variables - d->n_axes;
    return term->selected && place < d->n_terms && kb_expression_jumps(d->terms[place], n_space);
}

static size_t count_jumps(const kbass_result *result, const kb_dictionary *d)
{
    size_t n = 0;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; i < result->equations[e].n_terms; i++) n += jumps(d, &result->equations[e].terms[i]);
    return n;
}

static char *warning_of(kb_answer *answer, const kbass_equation *equation, const char *term)
{
    static const char format[] = "%s of %s jumps where the solution passes a place: tangents do not see the jump, so "
                                 "its weight may be off and the intervals too narrow; tanh(x/d) of a small d is smooth";
    size_t size = sizeof format + strlen(term) + strlen(equation->lhs);
    char *text = kb_answer_own(answer, size, 1);
    if (text) snprintf(text, size, format, term, equation->lhs);
    return text;
}

kbass_status kb_answer_jumps(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    kbass_result *result = &answer->result;
    size_t n = count_jumps(result, d), used = result->n_warnings;
    if (!n) return KBASS_OK;
    const char **warnings = kb_answer_own(answer, used + n, sizeof *warnings);
    if (!warnings) return kb_out_of_memory(error, "the answer");
    memcpy(warnings, result->warnings, used * sizeof *warnings);
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; i < result->equations[e].n_terms; i++) {
            if (!jumps(d, &result->equations[e].terms[i])) continue;
            warnings[used] = warning_of(answer, &result->equations[e], result->equations[e].terms[i].term);
            if (!warnings[used++]) return kb_out_of_memory(error, "the answer");
        }
    result->warnings = warnings;
    result->n_warnings = used;
    return KBASS_OK;
}
