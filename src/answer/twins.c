#include "answer/twins.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

enum { MOST_TWINS = 4 }; /* sentences: about terms that cannot be told apart */

static bool is_in(size_t n, const char *const *terms, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(terms[i], name)) return true;
    return false;
}

/* Another part of the answer says so. */
static bool is_told(const kbass_result *result, const char *lhs, const char *a, const char *b)
{
    for (size_t g = 0; g < result->n_groups; g++) {
        const kbass_group *group = &result->groups[g];
        if (!strcmp(group->lhs, lhs) && is_in(group->n_terms, group->terms, a) &&
            is_in(group->n_terms, group->terms, b))
            return true;
    }
    return false;
}

static const kbass_term *term_of(const kbass_result *result, const kb_frame *frame, size_t column, const char **lhs)
{
    size_t e = 0, state = frame->columns->equation[column];
    for (size_t i = 0; i < state; i++) e += frame->dictionary->has_equation[i];
    const kbass_equation *equation = &result->equations[e];
    const char *name = kb_dictionary_name(frame->dictionary, frame->columns->term[column]);
    *lhs = equation->lhs;
    for (size_t i = 0; i < equation->n_terms; i++)
        if (!strcmp(equation->terms[i].term, name)) return &equation->terms[i];
    return NULL;
}

static bool has_terms(const kbass_result *result, const char *lhs)
{
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t i = 0; i < result->equations[e].n_terms; i++)
            if (result->equations[e].terms[i].selected && !strcmp(result->equations[e].lhs, lhs)) return true;
    return false;
}

static kbass_status tell(kb_answer *answer, const kb_frame *frame, const char *lhs, const kbass_term *a,
                         const kbass_term *b, double other, double share, kbass_error *error)
{
    kbass_result *result = &answer->result;
    char text[600];
    bool is_field = frame->dictionary->n_axes > 1;
    snprintf(text, sizeof text,
             "%s: %.200s and %.200s are one on this record, within the noise: no weights tell them apart. %s would.",
             lhs, a->term, b->term, is_field ? "A field of another height or shape" : "A run from another start");
    kbass_alike *list = kb_answer_own(answer, result->n_alike + 1, sizeof *list);
    char *sentence = kb_answer_own(answer, strlen(text) + 1, 1);
    const char **terms = kb_answer_own(answer, 1, sizeof *terms);
    double *weight = kb_answer_own(answer, 1, sizeof *weight);
    if (!list || !sentence || !terms || !weight) return kb_out_of_memory(error, "the answer");
    if (result->n_alike) memcpy(list, result->alike, result->n_alike * sizeof *list);
    strcpy(sentence, text);
    terms[0] = b->term;
    *weight = other;
    list[result->n_alike++] = (kbass_alike){.kind = KBASS_ALIKE_TERMS,
                                            .lhs = lhs,
                                            .what = a->term,
                                            .value = a->weight,
                                            .n_terms = 1,
                                            .terms = terms,
                                            .weights = weight,
                                            .share = share,
                                            .sentence = sentence};
    result->alike = list;
    return KBASS_OK;
}

kbass_status kb_answer_twins(kb_answer *answer, const kb_frame *frame, const kb_search_result *found,
                             kbass_error *error)
{
    const kb_columns *c = frame->columns;
    kbass_status status = KBASS_OK;
    size_t n_told = 0;
    for (size_t i = 0; status == KBASS_OK && i < found->n_twins && n_told < MOST_TWINS; i++) {
        const kb_substitute *s = &found->twins[i];
        const char *lhs = NULL;
        const kbass_term *a = term_of(&answer->result, frame, s->column, &lhs),
                         *b = term_of(&answer->result, frame, s->other[0], &lhs);
        if (!a || !b || a->verdict != KBASS_UNDECIDED || b->verdict != KBASS_UNDECIDED) continue;
        if (!has_terms(&answer->result, lhs)) continue; /* the law says nothing here that could be told otherwise */
        if (is_told(&answer->result, lhs, a->term, b->term)) continue;
        status = tell(answer, frame, lhs, a, b, s->weight[0] * c->unit[s->other[0]], s->share, error);
        n_told++;
    }
    return status;
}
