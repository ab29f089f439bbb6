#include "propose/ode/starts.h"

#include <math.h>
#include <omp.h>

#include "base/memory.h"
#include "base/status.h"
#include "propose/ode/anneal.h"
#include "propose/ode/pool_entry.h"
#include "propose/ode/refine.h"
#include "search/packed_proposals.h"
#include "search/share.h"

enum { MOST_TERMS_PER_EQUATION = 14 }; /* terms: of structures that are refined; not measured */
static const double begin = 0.05;      /* of the whole run: progress before */
static const double end = 0.6;         /* of the whole run: progress after */

static void add_starts(kb_anneal_start *starts, size_t *n, double first, double last, size_t n_variances,
                       const double *variances)
{
    for (size_t i = 0; i < n_variances; i++) starts[(*n)++] = (kb_anneal_start){first, last, variances[i]};
}

/* Two ranges of length scale from the sample spacing and one from the bare field's own, over a grid of noise levels. */
size_t kb_anneal_starts(const kb_ode_problem *p, kb_anneal_start *starts)
{
    static const double variances[] = {1e-5, 1e-3, 3e-2};
    size_t n = 0, n_variances = p->settings->noise ? 1 : 3;
    double spacing = p->record->spacing, own = kb_ode_problem_length(p, p->best_level), floor = fmin(0.02, own / 2);
    double from_field[] = {p->best_variance, 3e-2};
    add_starts(starts, &n, fmax(0.9 * spacing, 2 * floor), fmax(0.5 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, fmax(0.5 * spacing, 2 * floor), fmax(0.3 * spacing, floor), n_variances, variances);
    add_starts(starts, &n, own, fmax(own / 2, 0.3 * spacing), p->settings->noise ? 1 : 2, from_field);
    return n;
}

size_t kb_refine_level(const kb_ode_problem *p)
{
    return kb_ode_problem_level(
        p, fmax(0.25 * p->record->spacing, fmin(0.02, 0.5 * kb_ode_problem_length(p, p->best_level))));
}

bool kb_anneal_start_run(const kb_ode_problem *p, const kb_anneal_start *start, kb_annealer *w, kb_run *run)
{
    return kb_anneal(p, start, w->fields, w->ep, w->work, &w->support, run) &&
           w->support.n <= MOST_TERMS_PER_EQUATION * p->record->n_states;
}

/* One start's proposal: the annealed structure or, when asked for, that one refined by evidence. */
static kbass_status run_start(kb_proposals *part, const kb_anneal_start *start, bool refined, kb_annealer *w)
{
    const kb_ode_problem *p = part->problem;
    kb_run *run = part->run;
    bool usable =
        kb_anneal_start_run(p, start, w, run) && (!refined || isfinite(kb_refine(p, w, kb_refine_level(p), run)));
    part->n_starts++;
    part->n_lost += !usable && !kb_run_stopped(run);
    return usable ? kb_pool_add_annealed(p, w, part->pool, NULL) : KBASS_OK;
}

static kb_work_key key_of(const kb_proposals *part, const kb_anneal_start *start, bool refined)
{
    const kb_ode_problem *p = part->problem;
    const uint64_t counts[] = {refined, part->pool->max_windows, p->columns->n, p->record->n_rows};
    const double numbers[] = {start->length_first, start->length_last, start->variance};
    kb_work_key key = kb_work_key_begin("annealed start");
    kb_work_key_add(&key, counts, sizeof counts);
    kb_work_key_add(&key, numbers, sizeof numbers);
    return key;
}

/* A start that the checkpoint knows, or one to keep there unless it was cut short. */
static kbass_status ask_start(kb_proposals *part, const kb_anneal_start *start, bool refined, kb_annealer *w)
{
    kb_work_key key = key_of(part, start, refined);
    kbass_status status = KBASS_OK;
    if (kb_proposals_recall(part, key, &status, NULL)) return status;
    status = run_start(part, start, refined, w);
    if (status == KBASS_OK && kb_run_continue(part->run, 0))
        kb_proposals_keep(part, 0, part->n_starts, part->n_lost, key);
    return status;
}

static kbass_status take(kb_proposals *asked, kb_proposals *part, kbass_error *error)
{
    asked->n_starts += part->n_starts;
    asked->n_lost += part->n_lost;
    return kb_pool_merge(asked->pool, part->pool, error);
}

/* All starts, in parallel, of ranks each its own; proposals enter the pool in the starts' order, whoever was first. */
static kbass_status run_starts(kb_proposals *asked, bool refined, kb_annealer **annealers, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    kb_run *run = asked->run;
    kb_anneal_start starts[KB_MOST_STARTS];
    kb_pool pools[KB_MOST_STARTS];
    kb_proposals parts[KB_MOST_STARTS];
    size_t n = kb_anneal_starts(p, starts), done = 0;
    bool is_shared = kb_share_is_possible(run);
    kbass_status statuses[KB_MOST_STARTS] = {KBASS_OK}, status = KBASS_OK;
    for (size_t i = 0; i < n; i++) {
        kb_pool_init(&pools[i], p->columns->n, p->record->n_states, asked->pool->max_windows);
        parts[i] = (kb_proposals){.problem = p, .run = run, .pool = &pools[i]};
    }
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
    for (size_t i = 0; i < n; i++) {
        if (kb_run_stopped(run) || (is_shared && !kb_share_is_own(run, i))) continue;
        statuses[i] = ask_start(&parts[i], &starts[i], refined, annealers[omp_get_thread_num()]);
#pragma omp critical(kb_progress)
        run->fraction = begin + (end - begin) * (double)++done / (double)n; /* atomic: other threads read it */
    }
    for (size_t i = 0; i < n; i++)
        if (statuses[i] != KBASS_OK) status = kb_out_of_memory(error, "the search");
    if (status == KBASS_OK && is_shared) status = kb_share_proposals(run, n, parts, error);
    for (size_t i = 0; i < n; i++) {
        if (status == KBASS_OK) status = take(asked, &parts[i], error);
        kb_pool_clear(&pools[i]);
    }
    return status;
}

static kbass_status propose(kb_proposals *asked, bool refined, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    kb_annealer **annealers = NULL;
    kbass_status status = kb_annealers_create(p, &annealers, error);
    if (status == KBASS_OK) status = run_starts(asked, refined, annealers, error);
    kb_annealers_destroy(p, annealers);
    return status;
}

kbass_status kb_propose_annealed(kb_proposals *asked, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    return kb_ode_problem_is_large(p) || p->is_middle ? KBASS_OK : propose(asked, false, error);
}

kbass_status kb_propose_annealed_anyway(kb_proposals *asked, kbass_error *error)
{
    return propose(asked, false, error);
}

/* Where these were not asked at first they are now. */
kbass_status kb_propose_refined(kb_proposals *asked, kbass_error *error)
{
    return propose(asked, !((const kb_ode_problem *)asked->problem)->is_middle, error);
}
