#include "propose/weak/looks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/schedule.h"
#include "search/share.h"

static const double waves_per_length = 7.06; /* 6 sqrt(2 log 2): lag at which exp(-d^2 / 2 l^2) is one half */
static const kb_schedule *const schedule = &kb_schedule_of_weak_fields.value;

/* ---------------------------------------------------------------- life */

void kb_weak_looks_destroy(size_t n, kb_weak_look *looks)
{
    for (size_t i = 0; looks && i < n; i++) {
        kb_free(looks[i].found);
        kb_free(looks[i].supports);
    }
    kb_free(looks);
}

kbass_status kb_weak_looks_create(const kb_weak_grids *g, size_t n, kb_weak_look **out, kbass_error *error)
{
    size_t F = g->dictionary->n_states;
    kb_weak_look *looks = KB_NEW(kb_weak_look, n);
    bool done = looks != NULL;
    for (size_t i = 0; done && i < n; i++) {
        looks[i].found = KB_NEW(size_t, F);
        looks[i].supports = KB_NEW(kb_weak_support, F * KB_WEAK_SUPPORTS);
        done = looks[i].found && looks[i].supports;
    }
    *out = looks;
    return done ? KBASS_OK : kb_out_of_memory(error, "the weak form");
}

void kb_weak_look_set(const kb_weak_grids *g, size_t n_runs, kb_weak_grid_run *const *runs, double in_time,
                      double in_space, double *half)
{
    for (size_t a = 0; a < g->form->n_axes; a++) {
        double low = 0, high = INFINITY;
        for (size_t i = 0; i < n_runs; i++) {
            low = fmax(low, schedule->weak_rows * runs[i]->spacing[a]);
            high = fmin(high, fmax(schedule->weak_longest * runs[i]->extent[a],
                                   fmin(schedule->weak_longest_of_few * runs[i]->extent[a],
                                        schedule->weak_rows * runs[i]->spacing[a])));
        }
        half[a] = fmin(fmax((a ? in_space : in_time) * g->wavelength[a], low), high);
    }
}

/* ---------------------------------------------------------------- messages */

/* Of a field: noise over its own variance. */
static double noise_ratio(const kb_weak_grid_run *r, size_t field)
{
    double squares = 0, sum = 0, n = 0;
    for (size_t p = field * r->n_points; p < (field + 1) * r->n_points; p++) {
        if (isnan(r->value[p])) continue;
        sum += r->value[p];
        squares += r->value[p] * r->value[p];
        n++;
    }
    double variance = n > 0 ? squares / n - sum / n * (sum / n) : 0;
    return fmax(r->noise[field] / fmax(variance - r->noise[field], 1e-3 * variance), 1e-8);
}

/* length: of the bare field; NULL: pure terms alone. */
static kbass_status integrate(const kb_weak_grids *g, kb_weak_grid_run *const *runs, const double *half,
                              const double *length, kb_weak_message *message, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double *ratio = KB_NEW(double, g->form->n_fields);
    if (!ratio) return kb_out_of_memory(error, "the weak form");
    for (size_t i = 0; status == KBASS_OK && i < g->n_runs; i++) {
        for (size_t f = 0; f < g->form->n_fields; f++) ratio[f] = noise_ratio(runs[i], f);
        status = kb_weak_grid_run_integrate(g->form, runs[i], half, length, ratio, g->whole.run, message, error);
    }
    kb_free(ratio);
    return status;
}

/* All terms, on grids thinned to what the bare field's length scale needs. */
static kbass_status integrate_bare(const kb_weak_grids *g, const kb_weak_look *look, kb_weak_message *message,
                                   kbass_error *error)
{
    kb_weak_grid_run **thin = KB_NEW(kb_weak_grid_run *, g->n_runs);
    double length[KB_MAX_AXES];
    kbass_status status = thin ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    for (size_t a = 0; a < g->form->n_axes; a++) length[a] = look->share * g->wavelength[a] / waves_per_length;
    for (size_t i = 0; status == KBASS_OK && i < g->n_runs; i++) {
        size_t cell[KB_MAX_AXES];
        for (size_t a = 0; a < g->form->n_axes; a++) {
            double most =
                fmin(length[a] / schedule->weak_cells, look->half[a] / schedule->weak_rows) / g->runs[i]->spacing[a];
            cell[a] = (size_t)fmax(1, floor(most));
        }
        status = kb_weak_grid_run_thin(g->runs[i], cell, &thin[i], error);
    }
    if (status == KBASS_OK) status = integrate(g, thin, look->half, length, message, error);
    for (size_t i = 0; thin && i < g->n_runs; i++) kb_weak_grid_run_destroy(thin[i]);
    kb_free(thin);
    return status;
}

/* The right-hand sides that a message suggests, equation by equation. */
static kbass_status regress(const kb_weak_grids *g, const kb_weak_message *message, kb_weak_look *look,
                            kbass_error *error)
{
    const kb_dictionary *d = g->dictionary;
    kbass_status status = KBASS_OK;
    for (size_t e = 0; status == KBASS_OK && e < d->n_states; e++)
        if (d->has_equation[e] && !d->is_known[e])
            status = kb_weak_regress(g->form, message, g->columns, e, look->share > 0, KB_WEAK_BEST,
                                     look->supports + e * KB_WEAK_SUPPORTS, &look->found[e], error);
    look->is_heard = true;
    return status;
}

static kbass_status take(const kb_weak_grids *g, kb_weak_look *look, kbass_error *error)
{
    kb_weak_message *message = NULL;
    kbass_status status = kb_weak_message_create(g->form, &message, error);
    if (status == KBASS_OK && look->share > 0) status = integrate_bare(g, look, message, error);
    else if (status == KBASS_OK && g->all)
        status = kb_weak_grid_run_stream(g->form, g->all, look->half, g->whole.run, g->whole.threads, message, error);
    else if (status == KBASS_OK) status = integrate(g, g->runs, look->half, NULL, message, error);
    if (status == KBASS_OK && message->count >= schedule->weak_fewest) status = regress(g, message, look, error);
    kb_weak_message_destroy(message);
    return status;
}

/* ---------------------------------------------------------------- threads and ranks */

static bool is_over(const kb_weak_grids *g) { return g->whole.run && kb_run_gives_up(g->whole.run); }

/* Bytes of what a look leaves. */
static size_t bytes_of(const kb_weak_grids *g)
{
    size_t F = g->dictionary->n_states;
    return sizeof(uint64_t) + F * (sizeof(size_t) + KB_WEAK_SUPPORTS * sizeof(kb_weak_support));
}

static void pack(const kb_weak_grids *g, const kb_weak_look *look, unsigned char *to)
{
    size_t F = g->dictionary->n_states;
    uint64_t is_heard = look->is_heard;
    memcpy(to, &is_heard, sizeof is_heard);
    memcpy(to + sizeof is_heard, look->found, F * sizeof *look->found);
    memcpy(to + sizeof is_heard + F * sizeof *look->found, look->supports,
           F * KB_WEAK_SUPPORTS * sizeof *look->supports);
}

static void unpack(const kb_weak_grids *g, const unsigned char *from, kb_weak_look *look)
{
    size_t F = g->dictionary->n_states;
    uint64_t is_heard;
    memcpy(&is_heard, from, sizeof is_heard);
    look->is_heard = is_heard;
    memcpy(look->found, from + sizeof is_heard, F * sizeof *look->found);
    memcpy(look->supports, from + sizeof is_heard + F * sizeof *look->found,
           F * KB_WEAK_SUPPORTS * sizeof *look->supports);
}

/* Every rank's own looks to all of them. */
static kbass_status exchange(const kb_weak_grids *g, size_t n, kb_weak_look *looks, kbass_error *error)
{
    size_t size = bytes_of(g);
    unsigned char *packed = kb_allocate(n * size + 1, 1);
    if (!packed) return kb_out_of_memory(error, "what other ranks saw");
    for (size_t i = 0; i < n; i++) pack(g, &looks[i], packed + i * size);
    kbass_status status = kb_share_pieces(g->whole.run, n, size, packed, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) unpack(g, packed + i * size, &looks[i]);
    kb_free(packed);
    return status;
}

/* Of a grid that stays in its file the tiles are shared out, not the widths. */
static kbass_status take_streamed(const kb_weak_grids *g, size_t n, kb_weak_look *looks, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < n && !is_over(g); i++) {
        status = take(g, &looks[i], error);
        kb_run_advance(g->whole.run, (double)(i + 1) / (double)n);
    }
    return status;
}

static kbass_status take_shared(const kb_weak_grids *g, size_t n, kb_weak_look *looks, kbass_error *error)
{
    bool is_shared = g->whole.run && kb_share_is_possible(g->whole.run);
    kbass_status status = KBASS_OK;
    kbass_error first = {0};
#pragma omp parallel for schedule(dynamic) num_threads(g->whole.threads > 0 ? g->whole.threads : 1)
    for (size_t i = 0; i < n; i++) {
        kbass_error own = {0};
        if ((is_shared && !kb_share_is_own(g->whole.run, i)) || is_over(g)) continue;
        kbass_status found = take(g, &looks[i], &own);
#pragma omp critical(kb_weak_looks)
        if (found != KBASS_OK && status == KBASS_OK) status = found, first = own;
    }
    if (status != KBASS_OK && error) *error = first;
    return status == KBASS_OK && is_shared ? exchange(g, n, looks, error) : status;
}

kbass_status kb_weak_looks_take(const kb_weak_grids *g, size_t n, kb_weak_look *looks, kbass_error *error)
{
    size_t streamed = 0;
    while (g->all && streamed < n && !(looks[streamed].share > 0)) streamed++;
    kbass_status status = take_streamed(g, streamed, looks, error);
    return status == KBASS_OK ? take_shared(g, n - streamed, looks + streamed, error) : status;
}
