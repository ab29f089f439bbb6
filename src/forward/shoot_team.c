#include "forward/shoot_team.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double worth_sharing = 5e4; /* numbers: tangents that take some 0.1 ms; a task takes 2 us */
enum { PANEL = 128 };                    /* columns that one thread multiplies at a time */
enum { PANELS_FROM = 400 };              /* columns: as many parameters take the road of symmetric products */

/* ---------------------------------------------------------------- windows */

/* What one call hands out: every window in n_parts parts of its tangents. */
typedef struct {
    kb_shooter *owner;
    const double *start;
    bool with_tangents;
    size_t n_parts;
    bool *is_there, *is_stiff; /* of each part of each window */
    atomic_size_t lost;        /* a window that cannot be integrated: what follows it need not be there */
} handout;

static size_t team_size(const kb_shooter *s)
{
    size_t n = (size_t)omp_get_num_threads(), own = (size_t)omp_get_thread_num();
    bool is_member = n <= s->likelihood.n_team && s->likelihood.team[own] == &s->likelihood;
    return is_member ? n : 1;
}

static double work_of(const kb_shooter *s, bool with_tangents)
{
    size_t n = s->likelihood.n_start, P = with_tangents ? s->n_tangents + n : 0;
    return (double)kb_windows_rows(s->likelihood.windows) * (double)(n * (P + 10)); /* 10: evaluations, about */
}

bool kb_shooter_has_team(const kb_shooter *s, bool with_tangents)
{
    bool is_possible = s->flow && !s->ranks && s->likelihood.n_team > 1 && !s->was_stiff;
    return is_possible && work_of(s, with_tangents) > worth_sharing && team_size(s) > 1;
}

/* The owner's model, with the tangents of a part: the starts' come with every one. */
static size_t lend(kb_shooter *helper, const handout *h, size_t part, size_t *first)
{
    const kb_support *all = h->with_tangents ? h->owner->model_tangents : NULL;
    size_t n = all ? all->n : 0, end = n * (part + 1) / h->n_parts;
    *first = n * part / h->n_parts;
    kb_support some = {end - *first, all ? all->column + *first : NULL};
    helper->dynamics->set_model(helper->dynamics, h->owner->model_support, h->owner->model_w, all ? &some : NULL);
    return end - *first;
}

/* Tangents of a part, n_observed x (n + n_start), among those of all parameters. */
static void put_part(const handout *h, size_t n_observed, size_t first, size_t n, const double *part, double *all)
{
    size_t n_start = h->owner->likelihood.n_start, k = h->owner->n_tangents, P = k + n_start;
    for (size_t o = 0; o < n_observed; o++, part += n + n_start, all += P) {
        memcpy(all + first, part, n * sizeof *all);
        if (!first) memcpy(all + k, part + n, n_start * sizeof *all);
    }
}

static void note_lost(handout *h, size_t window)
{
    size_t known = atomic_load(&h->lost);
    while (window < known && !atomic_compare_exchange_weak(&h->lost, &known, window)) continue;
}

static void do_piece(handout *h, size_t window, size_t part)
{
    kb_shooter *s = h->owner, *helper = kb_shooter_of(s->likelihood.team[omp_get_thread_num()]);
    kb_dynamics *d = helper->dynamics;
    const kb_windows *windows = s->likelihood.windows;
    bool is_whole = h->n_parts == 1;
    size_t at = s->offset[window], n_observed = s->offset[window + 1] - at, first, n = lend(helper, h, part, &first);
    double *tangents = h->with_tangents ? s->tangents + at * (s->n_tangents + s->likelihood.n_start) : NULL;
    double *own = is_whole ? tangents : helper->weighted;
    double *predicted = part ? own + n_observed * (n + s->likelihood.n_start) : s->predicted + at;
    bool done = d->predict(d, windows->first[window], windows->last[window], h->start + window * s->likelihood.n_start,
                           predicted, own);
    if (done && !is_whole) put_part(h, n_observed, first, n, own, tangents);
    if (!done) note_lost(h, window);
    h->is_there[window * h->n_parts + part] = done;
    h->is_stiff[window * h->n_parts + part] = helper->flow->stiff;
}

static void hand_out(handout *h)
{
    for (size_t window = 0; window < h->owner->likelihood.windows->n; window++)
        for (size_t part = 0; part < h->n_parts; part++) {
#pragma omp task firstprivate(window, part) shared(h)
            if (window <= atomic_load(&h->lost)) do_piece(h, window, part);
        }
#pragma omp taskwait
}

/* Few windows, and many tangents: parts of them. */
static size_t choose_parts(const kb_shooter *s, bool with_tangents)
{
    size_t n = team_size(s);
    bool is_worth = with_tangents && s->likelihood.windows->n < n && s->n_tangents >= 2 * s->likelihood.n_start;
    return is_worth && s->n_tangents >= n ? n : 1;
}

/* One after the other from a window on, once the equation is known to be stiff there. */
static size_t go_on_alone(const handout *h, size_t window, bool is_stiff)
{
    kb_shooter *s = h->owner;
    kb_dynamics *d = s->dynamics;
    const kb_windows *windows = s->likelihood.windows;
    s->was_stiff = s->flow->stiff = is_stiff;
    for (; window < windows->n; window++) {
        size_t at = s->offset[window];
        double *tangents = h->with_tangents ? s->tangents + at * (s->n_tangents + s->likelihood.n_start) : NULL;
        if (!d->predict(d, windows->first[window], windows->last[window], h->start + window * s->likelihood.n_start,
                        s->predicted + at, tangents))
            return window;
    }
    return windows->n;
}

/* Up to which window all are there, as if they had been integrated one after the other: an equation that was stiff in
   one window is taken for stiff in those that follow. */
static size_t collect(const handout *h)
{
    kb_shooter *s = h->owner;
    size_t window = 0, n = s->likelihood.windows->n;
    bool is_there = true, is_stiff = false;
    for (; window < n && is_there && !is_stiff; window++)
        for (size_t part = 0; part < h->n_parts; part++) {
            is_there = is_there && h->is_there[window * h->n_parts + part];
            is_stiff = is_stiff || h->is_stiff[window * h->n_parts + part];
        }
    s->dynamics->set_model(s->dynamics, s->model_support, s->model_w, h->with_tangents ? s->model_tangents : NULL);
    if (is_stiff && h->n_parts > 1) return go_on_alone(h, window - 1, false);
    if (!is_there) return window - 1;
    return is_stiff ? go_on_alone(h, window, true) : n;
}

size_t kb_shooter_predict_together(kb_shooter *s, const double *start, bool with_tangents)
{
    handout h = {.owner = s, .start = start, .with_tangents = with_tangents, .n_parts = choose_parts(s, with_tangents)};
    size_t n = s->likelihood.windows->n * h.n_parts;
    h.is_there = KB_NEW(bool, 2 * n);
    if (!h.is_there) return go_on_alone(&h, 0, false);
    h.is_stiff = h.is_there + n;
    atomic_init(&h.lost, SIZE_MAX);
    hand_out(&h);
    size_t there = collect(&h);
    kb_free(h.is_there);
    return there;
}

/* ---------------------------------------------------------------- normal equations */

static size_t panel_end(size_t first, size_t n) { return first + PANEL < n ? first + PANEL : n; }

/* The columns of a panel, from its diagonal down, and their mirror image. */
static void outer_panel(size_t n, size_t k, const double *a, size_t first, double *c)
{
    size_t end = panel_end(first, n), width = end - first;
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, n - first, width, k, 1, a + first, n, a + first, n, 0, c + first + first * n, n);
    for (size_t i = first; i < n; i++)
        for (size_t j = first; j < end && j < i; j++) c[j + i * n] = c[i + j * n];
}

void kb_team_outer(size_t n, size_t k, const double *a, double *c)
{
    for (size_t first = 0; first < n; first += PANEL) {
#pragma omp task firstprivate(first)
        outer_panel(n, k, a, first, c);
    }
#pragma omp taskwait
}

static void eliminate_panel(size_t k, size_t m, const double *N, size_t stride, const double *Z, size_t first,
                            size_t end, double *H)
{
    for (size_t q = first; q < end; q++)
        for (size_t p = 0; p < k; p++) H[p + q * k] += N[p + q * stride];
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, end - first, m, -1, Z, m, Z + first * m, m, 1, H + first * k, k);
}

void kb_team_eliminate(size_t k, size_t m, const double *N, size_t stride, const double *Z, double *H)
{
    if (k < PANELS_FROM) {
        eliminate_panel(k, m, N, stride, Z, 0, k, H);
        return;
    }
    for (size_t first = 0; first < k; first += PANEL) {
#pragma omp task firstprivate(first)
        eliminate_panel(k, m, N, stride, Z, first, panel_end(first, k), H);
    }
#pragma omp taskwait
}
