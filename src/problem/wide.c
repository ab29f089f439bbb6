#include "problem/wide.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "weights/analogy.h"
#include "weights/columns_screen.h"
#include "weights/integral_form.h"
#include "weights/subset.h"

enum { CUTS = 4 };                                /* stages: of windows */
enum { FEWEST_KEPT = 12 };                        /* columns: of each equation that stay */
enum { MANY_COLUMNS = 900 };                      /* columns: of an equation, pairs of more are too many to try */
static const size_t windows[CUTS] = {8, 4, 2, 1}; /* many are robust, few tell most: each begins from the one before */
static const double share_of_time = 0.4;          /* of the limit, for all of this; the rest is for the joint fit */

/* One equation: its columns, first to first + n, and the support of each cut, counted from `first`. */
typedef struct {
    size_t first, n;
    kb_support supports[CUTS];
    double *w[CUTS]; /* of the support's columns */
    size_t *rank;    /* columns, the most wanted first; n_ranked */
    size_t n_ranked;
} equation;

typedef struct {
    const kb_ode_problem *problem;
    kb_columns *columns;
    kb_integral_form *form;
    size_t n;
    equation *equations;
    double deadline; /* of kb_clock: after it only single moves */
} wide;

void kb_structures_destroy(kb_structures *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) {
        kb_support_clear(&s->supports[i]);
        kb_free(s->w[i]);
    }
    kb_free(s->supports);
    kb_free(s->w);
    kb_free(s);
}

static void clear(wide *w)
{
    for (size_t e = 0; w->equations && e < w->n; e++) {
        equation *q = &w->equations[e];
        for (int cut = 0; cut < CUTS; cut++) {
            kb_support_clear(&q->supports[cut]);
            kb_free(q->w[cut]);
        }
        kb_free(q->rank);
    }
    kb_free(w->equations);
    kb_integral_form_destroy(w->form);
}

static kbass_status create_equation(equation *e, size_t first, size_t n, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    e->first = first;
    e->n = n;
    e->rank = KB_NEW(size_t, n);
    bool complete = e->rank != NULL;
    for (int cut = 0; status == KBASS_OK && cut < CUTS; cut++) {
        status = kb_support_create(n, &e->supports[cut], error);
        e->w[cut] = KB_NEW(double, n);
        complete = complete && e->w[cut];
    }
    return complete ? status : kb_out_of_memory(error, "the equations");
}

static kbass_status create(kb_ode_problem *p, wide *w, kbass_error *error)
{
    const kb_field_points field = {p->n_reference, p->reference_start, p->reference, p->follow};
    *w = (wide){.problem = p, .columns = p->columns};
    for (size_t first = 0; first < p->columns->n; first = kb_columns_end(p->columns, first)) w->n++;
    w->equations = KB_NEW(equation, w->n);
    kbass_status status = w->equations ? KBASS_OK : kb_out_of_memory(error, "the equations");
    for (size_t e = 0, first = 0, end; status == KBASS_OK && e < w->n; e++, first = end) {
        end = kb_columns_end(p->columns, first);
        status = create_equation(&w->equations[e], first, end - first, error);
    }
    return status == KBASS_OK ? kb_integral_form_create(p->record, p->dictionary, p->columns, &field, &w->form, error)
                              : status;
}

/* ---------------------------------------------------------------- one equation */

static size_t degree_of(const kb_dictionary *d, size_t term)
{
    size_t degree = 0;
    if (!d->is_monomial[term]) return SIZE_MAX;
    for (size_t f = d->factor_start[term]; f < d->factor_start[term + 1]; f++) degree += d->factors[f].power;
    return degree;
}

/* The best set of linear terms alone: where all terms are alike, simple ones are a start that products hide. */
static double search_linear(const wide *w, const equation *e, kb_subset *all, kb_support *support, kbass_error *error)
{
    const kb_columns *c = w->columns;
    size_t *linear = KB_NEW(size_t, e->n), n = 0;
    kb_subset *subset = NULL;
    double evidence = -INFINITY;
    support->n = 0;
    for (size_t j = 0; linear && j < e->n; j++)
        if (c->required[e->first + j] || degree_of(w->problem->dictionary, c->term[e->first + j]) <= 1) linear[n++] = j;
    if (n && n < e->n && kb_subset_restrict(all, n, linear, &subset, error) == KBASS_OK) {
        kb_subset_search(subset, support);
        for (size_t q = 0; q < support->n; q++) support->column[q] = linear[support->column[q]];
        evidence = kb_subset_search(all, support);
    }
    kb_subset_destroy(subset);
    kb_free(linear);
    return evidence;
}

/* The better of two sets stays in `best`. */
static void keep_better(double *evidence, kb_support *best, double other, const kb_support *support)
{
    if (!(other > *evidence)) return;
    *evidence = other;
    kb_support_copy(support, best);
}

/* The columns that would be worth adding, or worth having in place of another, the best first; then the rest. */
static void rank_columns(equation *e, kb_subset *subset, const kb_support *support, kb_move *moves)
{
    bool *seen = KB_NEW(bool, e->n);
    size_t found =
        kb_message_moves(&subset->message, &subset->columns, support, KB_SWAPS, 2 * e->n, moves, subset->work);
    e->n_ranked = 0;
    for (size_t i = 0; seen && i < found; i++) {
        size_t column = moves[i].add;
        if (column == KB_NO_COLUMN || seen[column]) continue;
        seen[column] = true;
        e->rank[e->n_ranked++] = column;
    }
    kb_free(seen);
}

/* One equation on the present windows: from nothing, from linear terms, and from what more windows found. */
static kbass_status search_equation(const wide *w, size_t index, int cut, kbass_error *error)
{
    equation *e = &w->equations[index];
    const kb_columns *c = w->columns;
    const kb_integral_form *form = w->form;
    kb_subset *subset = NULL;
    kb_support trial = {0}, *best = &e->supports[cut];
    kb_move *moves = KB_NEW(kb_move, 2 * e->n);
    kbass_status status = kb_subset_create(c, e->first, e->n, &subset, error);
    if (status == KBASS_OK) status = kb_support_create(e->n, &trial, error);
    if (!moves) status = kb_out_of_memory(error, "the equations");
    if (status == KBASS_OK) {
        kb_subset_set(subset, form->n_rows, form->X, c->term + e->first, form->H + c->equation[e->first] * form->n_rows,
                      form->n_counted);
        subset->is_hasty = kb_clock() > w->deadline;
        double evidence = kb_subset_search(subset, best);
        if (cut) {
            kb_support_copy(&e->supports[cut - 1], &trial);
            keep_better(&evidence, best, kb_subset_search(subset, &trial), &trial);
        }
        if (!subset->is_hasty) keep_better(&evidence, best, search_linear(w, e, subset, &trial, error), &trial);
        kb_subset_evidence(subset, best);
        memcpy(e->w[cut], subset->mean, best->n * sizeof *subset->mean);
        rank_columns(e, subset, best, moves);
    }
    kb_subset_destroy(subset);
    kb_support_clear(&trial);
    kb_free(moves);
    return status;
}

/* What the cut before has found, where there is no time for more. */
static void copy_cut(equation *e, int cut)
{
    kb_support_copy(&e->supports[cut - 1], &e->supports[cut]);
    memcpy(e->w[cut], e->w[cut - 1], e->n * sizeof *e->w[cut]);
}

/* All equations on one cut. */
static kbass_status search_cut(wide *w, int cut, kbass_error *error)
{
    kbass_status status = KBASS_OK, *statuses = KB_NEW(kbass_status, w->n);
    kb_budget *budget = kb_budget_current();
    if (!statuses) return kb_out_of_memory(error, "the equations");
    kb_integral_form_divide(w->form, windows[cut]);
#pragma omp parallel for schedule(dynamic) num_threads(w->problem->threads)
    for (size_t e = 0; e < w->n; e++) {
        kb_budget *before = kb_budget_enter(budget);
        if (cut && kb_clock() > w->deadline) copy_cut(&w->equations[e], cut);
        else statuses[e] = kb_budget_expired() ? KBASS_ERROR_TIME : search_equation(w, e, cut, NULL);
        kb_budget_enter(before);
    }
    for (size_t e = 0; status == KBASS_OK && e < w->n; e++)
        if (statuses[e] != KBASS_OK)
            status = statuses[e] == KBASS_ERROR_TIME ? kb_out_of_time(error, "all equations were searched once")
                                                     : kb_out_of_memory(error, "the equations");
    kb_free(statuses);
    return status;
}

/* ---------------------------------------------------------------- structures */

static kbass_status create_structures(kb_structures **out, kbass_error *error)
{
    kb_structures *s = KB_NEW(kb_structures, 1);
    if (!s) return kb_out_of_memory(error, "the structures");
    s->supports = KB_NEW(kb_support, CUTS + KB_ANALOGIES);
    s->w = KB_NEW(double *, CUTS + KB_ANALOGIES);
    *out = s;
    return s->supports && s->w ? KBASS_OK : kb_out_of_memory(error, "the structures");
}

/* Room for one more. */
static kbass_status add_structure(const kb_columns *columns, kb_structures *s, kbass_error *error)
{
    kbass_status status = kb_support_create(columns->n, &s->supports[s->n], error);
    s->w[s->n] = KB_NEW(double, columns->n);
    bool complete = s->w[s->n++] != NULL;
    return complete ? status : kb_out_of_memory(error, "the structures");
}

/* All equations as one cut has found them. */
static kbass_status join(const wide *w, int cut, kb_structures *s, kbass_error *error)
{
    kbass_status status = add_structure(w->columns, s, error);
    for (size_t e = 0; status == KBASS_OK && e < w->n; e++) {
        const equation *q = &w->equations[e];
        for (size_t j = 0; j < q->supports[cut].n; j++) {
            size_t column = q->first + q->supports[cut].column[j];
            kb_support_add(&s->supports[s->n - 1], column);
            s->w[s->n - 1][column] = q->w[cut][j];
        }
    }
    return status;
}

/* The cut in which most equations agree, with what these have in place of the others. */
static kbass_status add_by_analogy(const wide *w, bool is_ring, kb_structures *s, kbass_error *error)
{
    const kb_columns *c = w->columns;
    kb_analogy *analogy = NULL;
    size_t best = 0, most = 0;
    kbass_status status = kb_analogy_create(c, w->problem->dictionary, is_ring, &analogy, error);
    if (status == KBASS_OK) status = add_structure(c, s, error);
    kb_support *out = &s->supports[s->n - 1];
    for (size_t cut = 0; status == KBASS_OK && cut < CUTS; cut++) {
        size_t n = kb_analogy_apply(analogy, c, &s->supports[cut], s->w[cut], 0, out, s->w[s->n - 1]);
        if (n >= most) most = n, best = cut;
    }
    if (status == KBASS_OK) kb_analogy_apply(analogy, c, &s->supports[best], s->w[best], 0, out, s->w[s->n - 1]);
    kb_analogy_destroy(analogy);
    return status;
}

static kbass_status list_structures(const wide *w, kb_structures **out, kbass_error *error)
{
    kbass_status status = create_structures(out, error);
    for (int cut = 0; status == KBASS_OK && cut < CUTS; cut++) status = join(w, cut, *out, error);
    if (w->columns->constraints || w->columns->run) return status;
    for (int is_ring = 0; status == KBASS_OK && is_ring < KB_ANALOGIES; is_ring++)
        status = add_by_analogy(w, is_ring, *out, error);
    return status;
}

/* ---------------------------------------------------------------- fewer columns */

/* The new place of each column, or KB_NO_COLUMN: those of any structure, then the most wanted, `each` of an equation.
 */
static size_t choose_columns(const wide *w, const kb_structures *s, size_t each, size_t *place)
{
    size_t n = 0;
    const kb_columns *c = w->columns;
    bool *stays = KB_NEW(bool, c->n);
    if (!stays) return 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->supports[i].n; j++) stays[s->supports[i].column[j]] = true;
    for (size_t e = 0; e < w->n; e++) {
        const equation *q = &w->equations[e];
        size_t kept = 0;
        for (size_t j = 0; j < q->n; j++)
            stays[q->first + j] |= q->n <= each || c->required[q->first + j] || c->explained[q->first + j];
        for (size_t j = 0; j < q->n; j++) kept += stays[q->first + j];
        for (size_t i = 0; i < q->n_ranked && kept < each; i++) {
            bool *stay = &stays[q->first + q->rank[i]];
            kept += !*stay;
            *stay = true;
        }
    }
    for (size_t j = 0; j < c->n; j++) place[j] = stays[j] ? n++ : KB_NO_COLUMN;
    kb_free(stays);
    return n;
}

/* Places never rise: a structure is moved within itself. */
static void move_structures(const size_t *place, kb_structures *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->supports[i].n; j++) {
            size_t from = s->supports[i].column[j], to = place[from];
            double weight = s->w[i][from];
            s->w[i][from] = 0;
            s->w[i][to] = weight;
            s->supports[i].column[j] = to;
        }
}

/* Very many columns are screened on the bare field's slopes before. */
static kbass_status screen_first(kb_ode_problem *p, kbass_error *error)
{
    size_t n = kb_columns_equations(p->columns);
    if (p->columns->n <= MANY_COLUMNS * n) return KBASS_OK;
    return kb_columns_screen(p->columns, p->dictionary, p->n_reference, p->reference, p->reference_slope,
                             MANY_COLUMNS * n, error);
}

kbass_status kb_wide_search(kb_ode_problem *p, size_t most, kbass_error *error)
{
    wide w;
    size_t *place = NULL, n = 0;
    double deadline = p->settings->time_limit > 0 ? kb_clock() + share_of_time * p->settings->time_limit : INFINITY;
    kbass_status status = screen_first(p, error);
    if (status != KBASS_OK) return status;
    status = create(p, &w, error);
    w.deadline = deadline;
    for (int cut = 0; status == KBASS_OK && cut < CUTS; cut++) status = search_cut(&w, cut, error);
    if (status == KBASS_OK) status = list_structures(&w, &p->structures, error);
    if (status == KBASS_OK) place = KB_NEW(size_t, p->columns->n);
    if (place) n = choose_columns(&w, p->structures, most / w.n > FEWEST_KEPT ? most / w.n : FEWEST_KEPT, place);
    if (status == KBASS_OK && !n) status = kb_out_of_memory(error, "the columns");
    if (status == KBASS_OK) {
        move_structures(place, p->structures);
        kb_columns_keep(p->columns, place);
    }
    kb_free(place);
    clear(&w);
    return status;
}
