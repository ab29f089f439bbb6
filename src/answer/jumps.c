#include "answer/jumps.h"

#include <stdio.h>

#include "base/number.h"
#include "base/status.h"

enum { TEXT_SIZE = 600 }; /* room: a sentence */

static bool jumps(const kb_dictionary *d, const kbass_term *term)
{
    size_t place = kb_dictionary_find(d, term->term), n_space = d->n_variables - d->n_axes;
    return term->selected && place < d->n_terms && kb_expression_jumps(d->terms[place], n_space);
}

static kbass_status warn_of_jump(kb_answer *answer, const char *lhs, const char *term, kbass_error *error)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof text,
             "%.150s of %.80s jumps where the solution passes a place: tangents do not see the jump, so its weight may "
             "be off and the intervals too narrow; tanh(x/d) of a small d is smooth",
             term, lhs);
    return kb_answer_warn(answer, text, error);
}

kbass_status kb_answer_jumps(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    const kbass_result *result = &answer->result;
    kbass_status status = KBASS_OK;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; status == KBASS_OK && i < result->equations[e].n_terms; i++) {
            const kbass_term *term = &result->equations[e].terms[i];
            if (jumps(d, term)) status = warn_of_jump(answer, result->equations[e].lhs, term->term, error);
        }
    return status;
}

kbass_status kb_answer_delays(kb_answer *answer, const kb_dictionary *d, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && d->input_delay && i < d->n_states; i++) {
        char text[TEXT_SIZE], late[KB_NUMBER_SIZE];
        if (!d->is_input[i] || !(d->input_delay[i] > 0)) continue;
        kb_number_round(d->input_delay[i], 3, late);
        snprintf(text, sizeof text,
                 "%.80s acts %s late, so what it was before the record counts: its first value is taken to have held. "
                 "Where it had not, leave the other columns empty for the first %s",
                 d->state_names[i], late, late);
        status = kb_answer_warn(answer, text, error);
    }
    return status;
}
