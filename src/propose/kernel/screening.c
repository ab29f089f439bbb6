#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "propose/kernel/search.h"
#include "propose/kernel/trace.h"

/* Length scales, as steps of the ladder, and variances of the equation at which the bare field is asked. */
static const kb_steps asked_steps[] = {{0, 0}, {13, 4}, {20, 10}};
static const double asked_tau[] = {1, 0.1,
                                   0.01}; /* variances of the scaled equation: at which the bare field is asked */
static const kb_steps weighed_steps = {15, 5};
static const double weighed_tau = 0.03; /* variance of the scaled equation: at which they are weighed; not measured */
static const double most_subsets = 2e5; /* structures: of one size that are enumerated; a bound on the work */
enum { BEST_OF_SIZE = 3 };              /* structures: of each size that get a vote */
enum { PROPOSALS = 256 };               /* room: structures with votes */
enum { WEIGHED = 16 };                  /* structures: of most votes, that are solved; not measured */
enum { LARGEST = 3 };                   /* terms: of a structure that is enumerated */
enum { LARGEST_OF_EP = 6 };             /* terms a field: of EP's structure that gets votes */

typedef struct {
    kb_support support;
    int votes;
    double *w;
} proposal;

typedef struct {
    size_t n;
    proposal list[PROPOSALS];
} ballot;

typedef struct {
    double evidence;
    size_t n, column[LARGEST];
} subset;

static void ballot_clear(ballot *b)
{
    for (size_t i = 0; i < b->n; i++) {
        kb_support_clear(&b->list[i].support);
        kb_free(b->list[i].w);
    }
    kb_free(b);
}

static kbass_status vote(kb_kernel_search *s, ballot *b, const kb_support *support, int votes, kbass_error *error)
{
    for (size_t i = 0; i < b->n; i++)
        if (kb_support_equal(&b->list[i].support, support)) {
            b->list[i].votes += votes;
            return KBASS_OK;
        }
    if (b->n == PROPOSALS) return KBASS_OK;
    proposal *p = &b->list[b->n];
    kbass_status status = kb_support_create(s->columns->n, &p->support, error);
    p->w = KB_NEW(double, s->columns->n);
    b->n++;
    if (status != KBASS_OK || !p->w) return kb_out_of_memory(error, "the screening");
    kb_support_copy(support, &p->support);
    kb_kernel_search_weights(s, support, p->w);
    p->votes = votes;
    return KBASS_OK;
}

static size_t largest_size(size_t first, size_t end)
{
    double n = (double)(end - first);
    return n * (n - 1) * (n - 2) / 6 <= most_subsets ? 3 : n * (n - 1) / 2 <= most_subsets ? 2 : 1;
}

static void rank_subset(subset candidate, subset *best)
{
    if (!(candidate.evidence > best[BEST_OF_SIZE - 1].evidence)) return;
    size_t i = BEST_OF_SIZE - 1;
    for (; i > 0 && best[i - 1].evidence < candidate.evidence; i--) best[i] = best[i - 1];
    best[i] = candidate;
}

/* The base without the equation's columns, with the subset in their place. */
static void replace(const kb_columns *columns, const kb_support *base, size_t equation, const subset *set,
                    kb_support *out)
{
    out->n = 0;
    for (size_t q = 0; q < base->n; q++)
        if (columns->equation[base->column[q]] != equation) out->column[out->n++] = base->column[q];
    for (size_t j = 0; j < columns->n; j++)
        if (columns->equation[j] == equation && columns->required[j]) kb_support_add(out, j);
    for (size_t q = 0; q < set->n; q++) kb_support_add(out, set->column[q]);
}

/* All subsets of `size` columns of one equation, in lexical order. */
static void try_subsets(kb_kernel_search *s, const kb_support *base, size_t equation, size_t first, size_t end,
                        size_t size, subset *best)
{
    subset set = {.n = size};
    if (end - first < size) return;
    for (size_t q = 0; q < size; q++) set.column[q] = first + q;
    for (;;) {
        replace(s->columns, base, equation, &set, &s->trial);
        set.evidence = kb_message_evidence(s->message, &s->view, &s->trial, NULL, s->work);
        rank_subset(set, best);
        size_t q = size;
        while (q > 0 && set.column[q - 1] == end - size + q - 1) q--;
        if (!q) return;
        set.column[q - 1]++;
        for (; q < size; q++) set.column[q] = set.column[q - 1] + 1;
    }
}

static kbass_status vote_equation(kb_kernel_search *s, ballot *b, const kb_support *base, size_t equation,
                                  kbass_error *error)
{
    const kb_columns *columns = s->columns;
    size_t first = 0, end;
    kbass_status status = KBASS_OK;
    while (first < columns->n && columns->equation[first] != equation) first++;
    for (end = first; end < columns->n && columns->equation[end] == equation;) end++;
    for (size_t size = 1; size <= largest_size(first, end); size++) {
        subset best[BEST_OF_SIZE];
        for (size_t i = 0; i < BEST_OF_SIZE; i++) best[i] = (subset){.evidence = -INFINITY};
        try_subsets(s, base, equation, first, end, size, best);
        for (size_t i = 0; status == KBASS_OK && i < BEST_OF_SIZE && best[i].evidence > -INFINITY; i++) {
            replace(columns, base, equation, &best[i], &s->trial);
            status = vote(s, b, &s->trial, 1, error);
        }
    }
    return status;
}

/* Ballots cast by one message: the choice of EP, and the best small structures of each equation beside it. */
static kbass_status cast(kb_kernel_search *s, ballot *b, kbass_error *error)
{
    size_t fields = s->domain->dictionary->n_states;
    kbass_status status = KBASS_OK;
    if (!kb_kernel_search_select(s, 0.5, &s->chosen)) return KBASS_OK;
    if (s->chosen.n <= LARGEST_OF_EP * fields) status = vote(s, b, &s->chosen, 2, error);
    else kb_message_climb(s->message, &s->view, &s->chosen, 4 * s->chosen.n, s->work);
    for (size_t i = 0; status == KBASS_OK && i < fields; i++) status = vote_equation(s, b, &s->chosen, i, error);
    return status;
}

static proposal *most_votes(ballot *b)
{
    proposal *best = NULL;
    for (size_t i = 0; i < b->n; i++)
        if (b->list[i].votes > 0 && (!best || b->list[i].votes > best->votes)) best = &b->list[i];
    return best;
}

static void bare_state(kb_kernel_search *s, kb_steps steps, kb_kernel_state *state)
{
    state->steps = steps;
    state->freedom = 0;
    state->support.n = 0;
    memset(state->w, 0, s->columns->n * sizeof *state->w);
    for (size_t i = 0; i < s->solver->n_fields; i++)
        state->variance[i] = fmax(s->domain->variance[i], kb_patch_solver_variance_floor(s->solver, i));
}

static kbass_status weigh(kb_kernel_search *s, ballot *b, kbass_error *error)
{
    kb_kernel_state *bare = s->spare[0], *state = s->spare[1];
    kbass_status status = KBASS_OK;
    proposal *p;
    bare_state(s, weighed_steps, bare);
    if (!kb_patch_solver_regress(s->solver, bare)) return KBASS_OK;
    for (int i = 0; i < WEIGHED && status == KBASS_OK && (p = most_votes(b)); i++) {
        p->votes = 0;
        kb_kernel_state_copy(s->solver, bare, state);
        kb_support_copy(&p->support, &state->support);
        memcpy(state->w, p->w, s->columns->n * sizeof *p->w);
        state->tau = weighed_tau;
        kb_kernel_search_evaluate(s, state, 4, false);
        kb_kernel_pool_keep(s, state);
        status = kb_kernel_search_status(s, error);
    }
    return status;
}

kbass_status kb_kernel_search_screen(kb_kernel_search *s, kbass_error *error)
{
    kb_kernel_state *state = s->spare[0];
    kbass_status status = KBASS_OK;
    ballot *b = KB_NEW(ballot, 1);
    if (!b) return kb_out_of_memory(error, "the screening");
    for (size_t i = 0; i < sizeof asked_steps / sizeof *asked_steps; i++) {
        bare_state(s, asked_steps[i], state);
        if (!kb_patch_solver_regress(s->solver, state)) continue;
        for (size_t j = 0; status == KBASS_OK && j < sizeof asked_tau / sizeof *asked_tau; j++) {
            state->tau = asked_tau[j];
            if (!kb_run_continue(s->run, 0) || !kb_patch_solver_message(s->solver, state, &s->solver->all)) continue;
            kb_kernel_search_take_message(s);
            status = cast(s, b, error);
        }
    }
    if (status == KBASS_OK) status = weigh(s, b, error);
    kb_trace_kernel_pool(s, "screened");
    ballot_clear(b);
    return status;
}
