#include "answer/twins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double one_shape = 1e-4; /* of a squared cosine */
static const double likely = 0.02;    /* probability: less is out */
enum { MOST_TWINS = 4, MOST_UNDECIDED = 30 };

typedef struct {
    size_t n;
    const kbass_term *term[MOST_UNDECIDED];
    double *values; /* n_points x n */
} undecided;

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

static void gather(const kbass_equation *equation, const kb_dictionary *d, size_t n, const double *points, double *work,
                   undecided *u)
{
    u->n = 0;
    for (size_t i = 0; i < equation->n_terms && u->n < MOST_UNDECIDED; i++) {
        const kbass_term *term = &equation->terms[i];
        size_t place = kb_dictionary_find(d, term->term);
        if (term->verdict != KBASS_UNDECIDED || !(term->probability > likely) || place == d->n_terms) continue;
        kb_dictionary_values(d, 1, &place, n, points, n, u->values + u->n * n, work);
        u->term[u->n++] = term;
    }
}

/* values of b = ratio times those of a */
static bool have_one_shape(size_t n, const double *a, const double *b, double *ratio)
{
    double aa = 0, ab = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        aa += a[i] * a[i];
        ab += a[i] * b[i];
        bb += b[i] * b[i];
    }
    *ratio = ab / aa;
    return aa > 0 && bb > 0 && ab * ab >= (1 - one_shape) * aa * bb;
}

static kbass_status tell(kb_answer *answer, const char *lhs, const kbass_term *a, const kbass_term *b, double ratio,
                         kbass_error *error)
{
    kbass_result *result = &answer->result;
    char text[600];
    snprintf(text, sizeof text,
             "%s: %.200s and %.200s have one shape on this record, so that no weights tell them apart. A run from "
             "another start would.",
             lhs, a->term, b->term);
    kbass_alike *list = kb_answer_own(answer, result->n_alike + 1, sizeof *list);
    char *sentence = kb_answer_own(answer, strlen(text) + 1, 1);
    const char **terms = kb_answer_own(answer, 1, sizeof *terms);
    double *weight = kb_answer_own(answer, 1, sizeof *weight);
    if (!list || !sentence || !terms || !weight) return kb_out_of_memory(error, "the answer");
    if (result->n_alike) memcpy(list, result->alike, result->n_alike * sizeof *list);
    strcpy(sentence, text);
    terms[0] = b->term;
    *weight = a->weight / ratio;
    list[result->n_alike++] = (kbass_alike){.kind = KBASS_ALIKE_TERMS,
                                            .lhs = lhs,
                                            .what = a->term,
                                            .value = a->weight,
                                            .n_terms = 1,
                                            .terms = terms,
                                            .weights = weight,
                                            .share = 0,
                                            .sentence = sentence};
    result->alike = list;
    return KBASS_OK;
}

static kbass_status compare(kb_answer *answer, const char *lhs, const undecided *u, size_t n, size_t *n_told,
                            kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t j = 1; status == KBASS_OK && j < u->n; j++)
        for (size_t i = 0; status == KBASS_OK && i < j && *n_told < MOST_TWINS; i++) {
            double ratio = 0;
            if (!have_one_shape(n, u->values + i * n, u->values + j * n, &ratio) ||
                is_told(&answer->result, lhs, u->term[i]->term, u->term[j]->term))
                continue;
            status = tell(answer, lhs, u->term[i], u->term[j], ratio, error);
            ++*n_told;
        }
    return status;
}

kbass_status kb_answer_twins(kb_answer *answer, const kb_dictionary *d, size_t n, const double *points,
                             kbass_error *error)
{
    size_t n_told = 0;
    undecided u = {.values = KB_NEW(double, n *MOST_UNDECIDED)};
    double *work = KB_NEW(double, kb_dictionary_work(d, n));
    kbass_status status = u.values && work ? KBASS_OK : kb_out_of_memory(error, "the answer");
    for (size_t e = 0; status == KBASS_OK && e < answer->result.n_equations; e++) {
        if (answer->result.equations[e].known) continue;
        gather(&answer->result.equations[e], d, n, points, work, &u);
        status = compare(answer, answer->result.equations[e].lhs, &u, n, &n_told, error);
    }
    kb_free(u.values);
    kb_free(work);
    return status;
}
