#include "propose/weak/fields.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/schedule.h"
#include "propose/weak/grid_run.h"
#include "propose/weak/regression.h"
#include "data/visible.h"

enum { BEST_OF_EACH = 3 };                     /* structures: of each width, best first */
enum { MOST_OF_EACH = BEST_OF_EACH + 4 };      /* structures: of each width, the best of each size among them */
enum { BARE_LENGTHS = 2 };                     /* room: length scales of the bare field */
static const double bare_lengths[] = {1, 0.5}; /* times the length whose kernel has that wavelength */
static const double waves_per_length = 7.06;   /* 6 sqrt(2 log 2): lag at which exp(-d^2 / 2 l^2) is one half */
enum { SHARES = 3 };                           /* room for the schedule's widths */
static const kb_schedule *const schedule = &kb_schedule_of_weak_fields.value;

/* Half width i in visible wavelengths, from the narrowest to the widest. */
static double share_of(size_t i)
{
    double step = (double)i / (schedule->weak_widths - 1);
    return schedule->weak_narrowest * pow(schedule->weak_widest / schedule->weak_narrowest, step);
}

typedef struct {
    size_t n_runs, most;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    kb_weak_form *form;
    kb_weak_grid_run **runs;
    kb_weak_whole whole;
    kb_weak_grid_run *all;          /* of which the runs are a part; NULL: they are all */
    double wavelength[KB_MAX_AXES]; /* in the data's units */
    kb_field_proposals *out;
    size_t capacity;
} weak_search;

/* ---------------------------------------------------------------- the list of proposals */

static size_t find(const kb_field_proposals *list, const kb_support *support)
{
    size_t i = 0;
    while (i < list->n && !kb_support_equal(&list->proposals[i].support, support)) i++;
    return i;
}

static kbass_status append(weak_search *s, const kb_support *support, const double *w, kbass_error *error)
{
    kb_field_proposals *list = s->out;
    size_t columns = s->columns->n;
    if (list->n == s->capacity) {
        size_t capacity = 2 * s->capacity + 16;
        kb_field_proposal *grown = kb_reallocate(list->proposals, s->capacity, capacity, sizeof *grown);
        if (!grown) return kb_out_of_memory(error, "proposals");
        list->proposals = grown;
        s->capacity = capacity;
    }
    kb_field_proposal *p = &list->proposals[list->n];
    kbass_status status = kb_support_create(columns, &p->support, error);
    if (status != KBASS_OK) return status;
    p->w = KB_NEW(double, columns);
    list->n++;
    if (!p->w) return kb_out_of_memory(error, "proposals");
    kb_support_copy(support, &p->support);
    memcpy(p->w, w, columns * sizeof *w);
    p->votes = 0;
    return KBASS_OK;
}

static void sort_by_votes(kb_field_proposals *list)
{
    for (size_t i = 1; i < list->n; i++) {
        kb_field_proposal p = list->proposals[i];
        size_t at = i;
        for (; at > 0 && list->proposals[at - 1].votes < p.votes; at--) list->proposals[at] = list->proposals[at - 1];
        list->proposals[at] = p;
    }
}

/* ---------------------------------------------------------------- what a message proposes */

/* The best supports of each equation; `choice[e]`: which of them. */
static kbass_status propose_choice(weak_search *s, const kb_weak_support *supports, const size_t *choice, size_t rank,
                                   kb_support *all, double *w, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    all->n = 0;
    memset(w, 0, s->columns->n * sizeof *w);
    for (size_t e = 0; e < s->dictionary->n_states; e++) {
        const kb_weak_support *one = &supports[e * MOST_OF_EACH + choice[e]];
        for (size_t q = 0; q < one->n; q++) {
            kb_support_add(all, one->column[q]);
            w[one->column[q]] = one->w[q];
        }
    }
    size_t at = find(s->out, all);
    if (at == s->out->n) status = append(s, all, w, error);
    if (status == KBASS_OK) s->out->proposals[at].votes += 1 / (double)((1 + rank) * (1 + rank));
    return status;
}

/* The best of all equations, and each equation's next beside the best of the others. */
static kbass_status take_message(weak_search *s, const kb_weak_message *message, bool with_impure, kbass_error *error)
{
    size_t F = s->dictionary->n_states, *choice = KB_NEW(size_t, F), *found = KB_NEW(size_t, F);
    kb_weak_support *supports = KB_NEW(kb_weak_support, F * MOST_OF_EACH);
    double *w = KB_NEW(double, s->columns->n);
    kb_support all = {0};
    kbass_status status = kb_support_create(s->columns->n, &all, error);
    if (!choice || !found || !supports || !w) status = kb_out_of_memory(error, "proposals");
    for (size_t e = 0; status == KBASS_OK && e < F; e++)
        if (s->dictionary->has_equation[e] && !s->dictionary->is_known[e])
            status = kb_weak_regress(s->form, message, s->columns, e, with_impure, BEST_OF_EACH,
                                     supports + e * MOST_OF_EACH, &found[e], error);
    if (status == KBASS_OK) status = propose_choice(s, supports, choice, 0, &all, w, error);
    for (size_t e = 0; status == KBASS_OK && e < F; e++)
        for (choice[e] = 1; status == KBASS_OK && choice[e] < found[e]; choice[e]++)
            status = propose_choice(s, supports, choice, choice[e], &all, w, error);
    s->out->n_messages++;
    kb_support_clear(&all);
    kb_free(choice);
    kb_free(found);
    kb_free(supports);
    kb_free(w);
    return status;
}

/* ---------------------------------------------------------------- widths */

static bool is_over(const weak_search *s) { return s->whole.run && kb_run_gives_up(s->whole.run); }

/* Half widths for shares of the wavelength along time and space, within what the grid allows. */
static void set_widths(const weak_search *s, size_t n_runs, kb_weak_grid_run *const *runs, double in_time,
                       double in_space, double *half)
{
    for (size_t a = 0; a < s->form->n_axes; a++) {
        double low = 0, high = INFINITY;
        for (size_t i = 0; i < n_runs; i++) {
            low = fmax(low, schedule->weak_rows * runs[i]->spacing[a]);
            high = fmin(high, fmax(schedule->weak_longest * runs[i]->extent[a],
                                   fmin(schedule->weak_longest_of_few * runs[i]->extent[a],
                                        schedule->weak_rows * runs[i]->spacing[a])));
        }
        half[a] = fmin(fmax((a ? in_space : in_time) * s->wavelength[a], low), high);
    }
}

static kbass_status try_widths(weak_search *s, kb_weak_grid_run *const *runs, const double *half, const double *length,
                               kb_weak_message *message, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    memset(message->gram, 0, message->n * message->n * sizeof *message->gram);
    message->count = 0;
    for (size_t i = 0; status == KBASS_OK && i < s->n_runs; i++) {
        double *ratio = KB_NEW(double, s->form->n_fields);
        if (!ratio) return kb_out_of_memory(error, "the weak form");
        for (size_t f = 0; f < s->form->n_fields; f++) { /* noise over the field's variance */
            double squares = 0, sum = 0, n = 0;
            for (size_t p = f * runs[i]->n_points; p < (f + 1) * runs[i]->n_points; p++) {
                if (isnan(runs[i]->value[p])) continue;
                sum += runs[i]->value[p];
                squares += runs[i]->value[p] * runs[i]->value[p];
                n++;
            }
            double variance = n > 0 ? squares / n - sum / n * (sum / n) : 0;
            ratio[f] = fmax(runs[i]->noise[f] / fmax(variance - runs[i]->noise[f], 1e-3 * variance), 1e-8);
        }
        status = kb_weak_grid_run_integrate(s->form, runs[i], half, length, ratio, s->whole.run, message, error);
        kb_free(ratio);
    }
    if (status == KBASS_OK && message->count >= schedule->weak_fewest)
        status = take_message(s, message, length != NULL, error);
    return status;
}

static bool is_same(const weak_search *s, const double *a, const double *b)
{
    bool same = true;
    for (size_t axis = 0; axis < s->form->n_axes; axis++) same = same && fabs(a[axis] - b[axis]) <= 0.05 * b[axis];
    return same;
}

/* What all tiles of the whole say. */
static kbass_status stream_widths(weak_search *s, const double *half, kb_weak_message *message, kbass_error *error)
{
    memset(message->gram, 0, message->n * message->n * sizeof *message->gram);
    message->count = 0;
    kbass_status status =
        kb_weak_grid_run_stream(s->form, s->all, half, s->whole.run, s->whole.threads, message, error);
    if (status == KBASS_OK && message->count >= schedule->weak_fewest) status = take_message(s, message, false, error);
    return status;
}

/* Every share along time with every share in space, pure terms. */
static kbass_status propose_pure(weak_search *s, kb_weak_message *message, kbass_error *error)
{
    double half[SHARES * SHARES][KB_MAX_AXES];
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < SHARES * SHARES && !is_over(s); i++) {
        bool is_new = true;
        set_widths(s, s->all ? 1 : s->n_runs, s->all ? &s->all : s->runs, share_of(i / SHARES), share_of(i % SHARES),
                   half[i]);
        for (size_t j = 0; j < i; j++) is_new = is_new && !is_same(s, half[i], half[j]);
        if (is_new && s->all) status = stream_widths(s, half[i], message, error);
        else if (is_new) status = try_widths(s, s->runs, half[i], NULL, message, error);
        if (s->all) kb_run_advance(s->whole.run, (double)(i + 1) / (SHARES * SHARES));
    }
    return status;
}

/* All terms, on grids thinned to what the bare field's length scale needs. */
static kbass_status propose_bare(weak_search *s, double share, kb_weak_message *message, kbass_error *error)
{
    kb_weak_grid_run **thin = KB_NEW(kb_weak_grid_run *, s->n_runs);
    double length[KB_MAX_AXES], half[KB_MAX_AXES];
    kbass_status status = thin ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    set_widths(s, s->n_runs, s->runs, 0.5, 0.5, half);
    for (size_t a = 0; a < s->form->n_axes; a++) length[a] = share * s->wavelength[a] / waves_per_length;
    for (size_t i = 0; status == KBASS_OK && i < s->n_runs; i++) {
        size_t cell[KB_MAX_AXES];
        for (size_t a = 0; a < s->form->n_axes; a++) {
            double most =
                fmin(length[a] / schedule->weak_cells, half[a] / schedule->weak_rows) / s->runs[i]->spacing[a];
            cell[a] = (size_t)fmax(1, floor(most));
        }
        status = kb_weak_grid_run_thin(s->runs[i], cell, &thin[i], error);
    }
    if (status == KBASS_OK) status = try_widths(s, thin, half, length, message, error);
    for (size_t i = 0; thin && i < s->n_runs; i++) kb_weak_grid_run_destroy(thin[i]);
    kb_free(thin);
    return status;
}

/* ---------------------------------------------------------------- life */

/* The shortest that any field shows, along each axis, of the runs' mean. */
static void find_wavelengths(weak_search *s)
{
    for (size_t a = 0; a < s->form->n_axes; a++)
        for (size_t i = 0; i < s->n_runs; i++) {
            const kb_weak_grid_run *r = s->runs[i];
            double least = INFINITY;
            for (size_t f = 0; f < r->n_fields; f++) {
                kb_grid_values grid = {.n_axes = r->n_axes, .value = r->value + f * r->n_points};
                memcpy(grid.n, r->n, sizeof grid.n);
                least = fmin(least, kb_grid_wavelength(&grid, a, r->noise[f]) * r->spacing[a]);
            }
            s->wavelength[a] += least / (double)s->n_runs;
        }
}

static kbass_status open_runs(weak_search *s, kb_field_samples *const *run_samples, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    s->runs = KB_NEW(kb_weak_grid_run *, s->n_runs);
    s->out->noise = KB_NEW(double, s->dictionary->n_states);
    s->out->is_pure = KB_NEW(bool, s->columns->n);
    if (!s->runs || !s->out->noise || !s->out->is_pure) return kb_out_of_memory(error, "the weak form");
    for (size_t c = 0; c < s->columns->n; c++) s->out->is_pure[c] = s->form->integral[s->columns->term[c]].is_pure;
    for (size_t i = 0; status == KBASS_OK && i < s->n_runs; i++)
        status = kb_weak_grid_run_create(run_samples[i], &s->runs[i], error);
    if (status != KBASS_OK) return status;
    find_wavelengths(s);
    const double *noise = run_samples[0]->noise_share < 1 ? NULL : s->runs[0]->noise; /* that of projections is not */
    if (s->whole.tiles) status = kb_weak_grid_run_of_tiles(s->whole.tiles, noise, &s->all, error);
    for (size_t a = 0; a < s->form->n_axes; a++) s->out->wavelength[a] = s->wavelength[a] / run_samples[0]->span[a];
    for (size_t i = 0; i < s->n_runs; i++)
        for (size_t f = 0; f < s->dictionary->n_states; f++)
            s->out->noise[f] += s->runs[i]->noise[f] / pow(run_samples[i]->sd[f], 2) / (double)s->n_runs;
    return status;
}

static bool are_grids(size_t n_runs, kb_field_samples *const *run_samples)
{
    for (size_t i = 0; i < n_runs; i++)
        if (!run_samples[i]->gridded) return false;
    return true;
}

static void keep_most_voted(weak_search *s)
{
    kb_field_proposals *list = s->out;
    sort_by_votes(list);
    for (; list->n > s->most; list->n--) {
        kb_support_clear(&list->proposals[list->n - 1].support);
        kb_free(list->proposals[list->n - 1].w);
    }
}

kbass_status kb_weak_fields_propose(size_t n_runs, kb_field_samples *const *run_samples, const kb_weak_whole *whole,
                                    const kb_dictionary *dictionary, const kb_columns *columns, size_t most,
                                    kb_field_proposals *out, kbass_error *error)
{
    weak_search s = {.n_runs = n_runs, .most = most, .dictionary = dictionary, .columns = columns, .out = out};
    kb_weak_message *message = NULL;
    if (whole) s.whole = *whole;
    memset(out, 0, sizeof *out);
    if (!are_grids(n_runs, run_samples)) return KBASS_OK;
    kbass_status status = kb_weak_form_create(dictionary, &s.form, error);
    if (status == KBASS_OK) status = kb_weak_message_create(s.form, &message, error);
    if (status == KBASS_OK) status = open_runs(&s, run_samples, error);
    if (status == KBASS_OK) status = propose_pure(&s, message, error);
    for (size_t i = 0; status == KBASS_OK && s.form->n_impure && i < BARE_LENGTHS && !is_over(&s); i++)
        status = propose_bare(&s, bare_lengths[i], message, error);
    if (status == KBASS_OK) keep_most_voted(&s);
    else kb_field_proposals_clear(out);
    for (size_t i = 0; s.runs && i < n_runs; i++) kb_weak_grid_run_destroy(s.runs[i]);
    kb_free(s.runs);
    kb_weak_grid_run_destroy(s.all);
    kb_weak_message_destroy(message);
    kb_weak_form_destroy(s.form);
    return status;
}

void kb_field_proposals_clear(kb_field_proposals *list)
{
    for (size_t i = 0; i < list->n; i++) {
        kb_support_clear(&list->proposals[i].support);
        kb_free(list->proposals[i].w);
    }
    kb_free(list->proposals);
    kb_free(list->noise);
    kb_free(list->is_pure);
    memset(list, 0, sizeof *list);
}
