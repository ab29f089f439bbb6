#include "answer/probe.h"

#include <math.h>
#include <string.h>

#include "answer/misfits.h"
#include "answer/wider_terms.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/status.h"
#include "search/share.h"

enum { MOST_TERMS = 3 }; /* terms: that are named */

/* ---------------------------------------------------------------- the chosen model in it */

static void add_column(kb_probe *q, size_t equation, size_t term)
{
    kb_columns *c = &q->columns;
    c->equation[c->n] = equation;
    c->term[c->n] = term;
    c->scale[c->n++] = 1;
}

/* The model's columns in its order, then all that the narrow dictionary has not. */
static kbass_status make_columns(kb_probe *q, const kb_frame *frame, const kb_fit *fit, kbass_error *error)
{
    size_t n_states = q->wide->n_states, room = fit->support.n + q->wide->n_terms * n_states;
    q->columns.equation = KB_NEW(size_t, room);
    q->columns.term = KB_NEW(size_t, room);
    q->columns.scale = KB_NEW(double, room);
    kbass_status status = kb_support_create(room, &q->all, error);
    if (status == KBASS_OK && (!q->columns.equation || !q->columns.term || !q->columns.scale))
        status = kb_out_of_memory(error, "the wider dictionary");
    for (size_t i = 0; status == KBASS_OK && i < fit->support.n; i++) {
        size_t column = fit->support.column[i];
        const char *name = kb_dictionary_name(q->narrow, frame->columns->term[column]);
        add_column(q, frame->columns->equation[column], kb_dictionary_find(q->wide, name));
    }
    q->n_own = q->columns.n;
    for (size_t state = 0; status == KBASS_OK && state < n_states; state++)
        for (size_t term = 0; term < q->wide->n_terms; term++)
            if (kb_dictionary_find(q->narrow, kb_dictionary_name(q->wide, term)) == q->narrow->n_terms)
                add_column(q, state, term);
    for (size_t i = 0; status == KBASS_OK && i < q->columns.n; i++) kb_support_add(&q->all, i);
    return status;
}

static kbass_status make_fit(kb_probe *q, const kb_frame *frame, const kb_fit *from, size_t n_start, kbass_error *error)
{
    kbass_status status = kb_fit_create(q->columns.n, n_start, from->n_windows, q->n_own, &q->fit, error);
    if (status != KBASS_OK) return status;
    q->fit->n_windows = from->n_windows;
    q->fit->support.n = 0;
    q->freedom = from->values > 0 ? from->values - from->effective : INFINITY;
    for (size_t i = 0; i < q->n_own; i++) {
        size_t column = from->support.column[i], state = frame->columns->equation[column];
        kb_support_add(&q->fit->support, i);
        q->fit->w[i] =
            from->w[column] * frame->columns->unit[column] * pow(frame->span, q->narrow->time_order) / frame->sd[state];
    }
    memcpy(q->fit->start, from->start, from->n_windows * n_start * sizeof *q->fit->start);
    memcpy(q->fit->variance, from->variance, q->wide->n_states * sizeof *q->fit->variance);
    return KBASS_OK;
}

kbass_status kb_probe_begin(kb_probe *q, const kb_frame *frame, const kb_search_result *found, const double *span,
                            const int *highest, kbass_error *error)
{
    const kb_fit *fit = found->pool.fits[0];
    q->narrow = frame->dictionary;
    kbass_status status = kb_wider_dictionary(frame, fit, span, highest, &q->wide, error);
    if (status == KBASS_OK) status = make_columns(q, frame, fit, error);
    if (status == KBASS_OK) status = make_fit(q, frame, fit, found->pool.n_start, error);
    if (status == KBASS_OK) status = kb_message_create(q->columns.n, &q->message, error);
    return status;
}

void kb_probe_clear(kb_probe *q)
{
    if (q->likelihood && !q->workers.n) q->likelihood->destroy(q->likelihood);
    kb_workers_destroy(&q->workers);
    kb_message_destroy(q->message);
    kb_fit_destroy(q->fit);
    kb_support_clear(&q->all);
    kb_dictionary_destroy(q->wide);
    kb_free(q->columns.equation);
    kb_free(q->columns.term);
    kb_free(q->columns.scale);
    kb_free(q->scores);
}

/* ---------------------------------------------------------------- scores */

/* z_c = (g_c - G_cS G_SS^{-1} g_S) / sqrt(G_cc - G_cS G_SS^{-1} G_Sc), g = b - G w, S the model */
static bool score(const kb_probe *q, double *factor, double *g, double *row)
{
    static const double collinear = 1e-6; /* of a column's own precision: the model has it already */
    size_t n = q->columns.n, k = q->n_own;
    const double *G = q->message->G;
    for (size_t j = 0; j < k; j++) memcpy(factor + j * k, G + j * n, k * sizeof *factor);
    if (!kb_cholesky(k, factor, k)) return false;
    for (size_t c = 0; c < n; c++) {
        g[c] = q->message->b[c];
        for (size_t j = 0; j < k; j++) g[c] -= G[c + j * n] * q->fit->w[j];
    }
    kb_lower_solve(k, 1, factor, k, g, k); /* of the model: L^{-1} g_S */
    for (size_t c = k; c < n; c++) {
        memcpy(row, G + c * n, k * sizeof *row);
        kb_lower_solve(k, 1, factor, k, row, k);
        double precision = G[c + c * n] - kb_dot(k, row, row);
        q->scores[c] = precision > collinear * G[c + c * n] ? (g[c] - kb_dot(k, row, g)) / sqrt(precision) : NAN;
    }
    return true;
}

/* Does the column's term name a time or a place? */
static bool has_axis(const kb_probe *q, size_t c)
{
    const kb_dictionary *d = q->wide;
    for (size_t v = d->n_variables - d->n_axes; v < d->n_variables; v++)
        if (kb_dictionary_depends(d, q->columns.term[c], v)) return true;
    return false;
}

/* How likely one of n_tried scores z is so large by chance. The noise is that of f = freedom residuals which a missing
   term has enlarged, so z^2 < f; t = z sqrt((f - 1) / (f - z^2)) is Student's. Not so for waves and powers of time,
   which stand for anything in a short record. */
static double by_chance(const kb_probe *q, size_t c, size_t n_tried)
{
    double f = q->freedom, z = fabs(q->scores[c]);
    if (!isfinite(f) || has_axis(q, c)) return kb_two_sided(z, n_tried);
    if (!(f > 1)) return 1;
    double t = z * sqrt((f - 1) / fmax(f - z * z, 0));
    return fmin(2 * kb_student_below(-t, f - 1) * (double)n_tried, 1);
}

static size_t most_missing(const kb_probe *q, size_t n_tried)
{
    size_t best = q->n_own;
    double least = 1;
    for (size_t c = q->n_own; c < q->columns.n; c++) {
        double p = by_chance(q, c, n_tried);
        bool is_tie = p == least && fabs(q->scores[c]) > fabs(q->scores[best]); /* far out both are 0 */
        if (!(p < least || is_tie)) continue;
        least = p;
        best = c;
    }
    return best;
}

static kbass_status list_terms(const kb_probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, n_tried = 0, n_listed = 0;
    kbass_missing_term *list = kb_answer_own(answer, MOST_TERMS, sizeof *list);
    if (!list) return kb_out_of_memory(error, "the answer");
    for (size_t c = q->n_own; c < n; c++) n_tried += isfinite(q->scores[c]);
    while (n_listed < MOST_TERMS) {
        size_t best = most_missing(q, n_tried);
        if (best == n || !(by_chance(q, best, n_tried) < KB_BY_CHANCE)) break;
        const char *name = kb_dictionary_name(q->wide, q->columns.term[best]);
        char *term = kb_answer_own(answer, strlen(name) + 1, 1);
        if (!term) return kb_out_of_memory(error, "the answer");
        strcpy(term, name);
        list[n_listed++] =
            (kbass_missing_term){q->columns.equation[best], term, q->scores[best], by_chance(q, best, n_tried)};
        q->scores[best] = NAN;
    }
    answer->result.missing = list;
    answer->result.n_missing = n_listed;
    return KBASS_OK;
}

/* The message about all columns, by whoever is there. */
static bool ask(kb_probe *q)
{
    kb_likelihood *l = q->likelihood;
    bool is_there = false,
         is_shared = q->run && l->share && kb_share_is_possible(q->run) && l->share(l, q->run->reduce, q->columns.n);
#pragma omp parallel num_threads(q->workers.n > 0 && !is_shared ? q->workers.n : 1)
#pragma omp master /* the others help */
    is_there = l->message(l, q->fit, &q->all, q->message);
    if (is_shared) l->share(l, NULL, 0);
    return is_there;
}

kbass_status kb_probe_terms(kb_probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, k = q->n_own;
    double *factor = KB_NEW(double, k *k), *g = KB_NEW(double, n), *row = KB_NEW(double, k);
    q->scores = KB_NEW(double, n);
    kbass_status status = factor && g && row && q->scores ? KBASS_OK : kb_out_of_memory(error, "the wider dictionary");
    if (status == KBASS_OK && ask(q) && score(q, factor, g, row)) status = list_terms(q, answer, error);
    kb_free(factor);
    kb_free(g);
    kb_free(row);
    return status;
}
