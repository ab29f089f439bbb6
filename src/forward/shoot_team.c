#include "forward/shoot_team.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "forward/shoot_normals.h"

static const double worth_sharing = 5e4; /* numbers: tangents that take some 0.1 ms; a task takes 2 us */
enum { PANEL = 128 };                    /* columns that one thread multiplies at a time */
enum { PIECES = 4 };                     /* pieces for each thread: windows differ in length */
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
    size_t P = with_tangents ? s->n_tangents + s->likelihood.n_start : 0;
    return (double)s->offset[s->likelihood.windows->n] * (double)(P + 10); /* 10: evaluations, about */
}

bool kb_shooter_has_team(const kb_shooter *s, bool with_tangents)
{
    bool is_possible = !s->ranks && s->likelihood.n_team > 1 && !s->was_stiff;
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
    h->is_stiff[window * h->n_parts + part] = helper->flow && helper->flow->stiff;
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
    s->was_stiff = is_stiff;
    if (s->flow) s->flow->stiff = is_stiff;
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

/* ---------------------------------------------------------------- messages */

/* What one call hands out: windows, a few at a time. A window leaves J'J and J'r of the weights and half a
   log-determinant in its block, all else where back substitution looks for it. */
typedef struct {
    kb_shooter *owner;
    const double *start, *variance;
    bool is_streamed;    /* the windows are not integrated yet */
    atomic_bool is_lost; /* one cannot be integrated */
} weighing;

static size_t block_size(const kb_shooter *s) { return s->n_tangents * s->n_tangents + s->n_tangents + 1; }

static void weigh_window(weighing *h, size_t window)
{
    kb_shooter *s = h->owner, *helper = kb_shooter_of(s->likelihood.team[omp_get_thread_num()]);
    size_t k = s->n_tangents, P = k + s->likelihood.n_start;
    double *block = s->blocks + window * block_size(s);
    if (!h->is_streamed) kb_shooter_window_normals(s, window, h->variance, helper);
    else if (atomic_load(&h->is_lost) || !kb_shooter_stream_normals(s, window, h->start, h->variance, helper)) {
        atomic_store(&h->is_lost, true);
        return;
    }
    for (size_t q = 0; q < k; q++) memcpy(block + q * k, helper->normals + q * P, k * sizeof *block);
    memcpy(block + k * k, helper->gradient, k * sizeof *block);
    block[k * k + k] = kb_shooter_reduce_start(s, window, h->start + window * s->likelihood.n_start, helper->normals,
                                               helper->gradient);
}

/* Blocks as large as the tangents at most: of many weights and short windows each is weighed by itself. */
static bool has_room(kb_shooter *s)
{
    size_t W = s->likelihood.windows->n, wanted = W * block_size(s),
           most = s->offset[W] * (s->n_tangents + s->likelihood.n_start);
    if (W < 2 || wanted > most) return false;
    if (wanted > s->n_blocks) {
        kb_free(s->blocks);
        s->blocks = KB_NEW(double, wanted);
        s->n_blocks = s->blocks ? wanted : 0;
    }
    return s->blocks != NULL;
}

static void weigh_windows(weighing *h)
{
    size_t W = h->owner->likelihood.windows->n, most = PIECES * team_size(h->owner), n = W < most ? W : most;
    for (size_t piece = 0; piece < n; piece++) {
#pragma omp task firstprivate(piece) shared(h)
        for (size_t window = piece * W / n; window < (piece + 1) * W / n; window++) weigh_window(h, window);
    }
#pragma omp taskwait
}

bool kb_shooter_weigh_together(kb_shooter *s, const double *start, const double *variance, bool is_streamed,
                               double *half_logdet)
{
    size_t k = s->n_tangents;
    weighing h = {.owner = s, .start = start, .variance = variance, .is_streamed = is_streamed};
    if (!kb_shooter_has_team(s, true) || !has_room(s)) return false;
    atomic_init(&h.is_lost, false);
    weigh_windows(&h);
    *half_logdet = atomic_load(&h.is_lost) ? NAN : 0;
    for (size_t window = 0; !atomic_load(&h.is_lost) && window < s->likelihood.windows->n; window++) {
        const double *block = s->blocks + window * block_size(s);
        *half_logdet += block[k * k + k];
        kb_shooter_add_message(s, window, block, k, block + k * k);
    }
    return true;
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
