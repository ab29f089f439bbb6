#include "propose/weak/fields.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "search/schedule.h"
#include "propose/weak/looks.h"
#include "data/visible.h"

static const double bare_lengths[] = {1, 0.5};        /* times the length whose kernel has the visible wavelength */
enum { BARE_LENGTHS = 2 };                            /* room: length scales of the bare field */
enum { SHARES = 3 };                                  /* room for the schedule's widths */
enum { MOST_LOOKS = SHARES * SHARES + BARE_LENGTHS }; /* room: widths, and the bare field's lengths */
static const kb_schedule *const schedule = &kb_schedule_of_weak_fields.value;

/* Half width i in visible wavelengths, from the narrowest to the widest. */
static double share_of(size_t i)
{
    double step = (double)i / (schedule->weak_widths - 1);
    return schedule->weak_narrowest * pow(schedule->weak_widest / schedule->weak_narrowest, step);
}

typedef struct {
    kb_weak_grids grids;
    size_t most;
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
    size_t columns = s->grids.columns->n;
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

/* ---------------------------------------------------------------- what a look proposes */

/* The best supports of each equation; `choice[e]`: which of them. */
static kbass_status propose_choice(weak_search *s, const kb_weak_look *look, const size_t *choice, size_t rank,
                                   kb_support *all, double *w, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    all->n = 0;
    memset(w, 0, s->grids.columns->n * sizeof *w);
    for (size_t e = 0; e < s->grids.dictionary->n_states; e++) {
        const kb_weak_support *one = &look->supports[e * KB_WEAK_SUPPORTS + choice[e]];
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
static kbass_status propose_look(weak_search *s, const kb_weak_look *look, kbass_error *error)
{
    size_t F = s->grids.dictionary->n_states, *choice = KB_NEW(size_t, F);
    double *w = KB_NEW(double, s->grids.columns->n);
    kb_support all = {0};
    kbass_status status = kb_support_create(s->grids.columns->n, &all, error);
    if (!choice || !w) status = kb_out_of_memory(error, "proposals");
    if (status == KBASS_OK) status = propose_choice(s, look, choice, 0, &all, w, error);
    for (size_t e = 0; status == KBASS_OK && e < F; e++)
        for (choice[e] = 1; status == KBASS_OK && choice[e] < look->found[e]; choice[e]++)
            status = propose_choice(s, look, choice, choice[e], &all, w, error);
    s->out->n_messages++;
    kb_support_clear(&all);
    kb_free(choice);
    kb_free(w);
    return status;
}

/* ---------------------------------------------------------------- widths */

static bool is_same(const kb_weak_grids *g, const double *a, const double *b)
{
    bool same = true;
    for (size_t axis = 0; axis < g->form->n_axes; axis++) same = same && fabs(a[axis] - b[axis]) <= 0.05 * b[axis];
    return same;
}

/* Every share along time with every share in space, pure terms; then all terms on the bare field. Returns how many
   there are: widths that are nearly the same are one. */
static size_t choose_looks(const kb_weak_grids *g, kb_weak_look *looks)
{
    double half[SHARES * SHARES][KB_MAX_AXES];
    size_t n = 0;
    for (size_t i = 0; i < SHARES * SHARES; i++) {
        bool is_new = true;
        kb_weak_look_set(g, g->all ? 1 : g->n_runs, g->all ? &g->all : g->runs, share_of(i / SHARES),
                         share_of(i % SHARES), half[i]);
        for (size_t j = 0; j < i; j++) is_new = is_new && !is_same(g, half[i], half[j]);
        if (is_new) memcpy(looks[n++].half, half[i], sizeof half[i]);
    }
    for (size_t i = 0; g->form->n_impure && i < BARE_LENGTHS; i++) {
        kb_weak_look_set(g, g->n_runs, g->runs, 0.5, 0.5, looks[n].half);
        looks[n++].share = bare_lengths[i];
    }
    return n;
}

static kbass_status propose_all(weak_search *s, kbass_error *error)
{
    kb_weak_look *looks = NULL;
    kbass_status status = kb_weak_looks_create(&s->grids, MOST_LOOKS, &looks, error);
    size_t n = status == KBASS_OK ? choose_looks(&s->grids, looks) : 0;
    if (status == KBASS_OK) status = kb_weak_looks_take(&s->grids, n, looks, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        if (looks[i].is_heard) status = propose_look(s, &looks[i], error);
    kb_weak_looks_destroy(MOST_LOOKS, looks);
    return status;
}

/* ---------------------------------------------------------------- life */

/* The shortest that any field shows, along each axis, of the runs' mean. */
static void find_wavelengths(kb_weak_grids *g)
{
    for (size_t a = 0; a < g->form->n_axes; a++)
        for (size_t i = 0; i < g->n_runs; i++) {
            const kb_weak_grid_run *r = g->runs[i];
            double least = INFINITY;
            for (size_t f = 0; f < r->n_fields; f++) {
                kb_grid_values grid = {.n_axes = r->n_axes, .value = r->value + f * r->n_points};
                memcpy(grid.n, r->n, sizeof grid.n);
                least = fmin(least, kb_grid_wavelength(&grid, a, r->noise[f]) * r->spacing[a]);
            }
            g->wavelength[a] += least / (double)g->n_runs;
        }
}

static kbass_status open_runs(weak_search *s, kb_field_samples *const *run_samples, kbass_error *error)
{
    kb_weak_grids *g = &s->grids;
    kbass_status status = KBASS_OK;
    g->runs = KB_NEW(kb_weak_grid_run *, g->n_runs);
    s->out->noise = KB_NEW(double, g->dictionary->n_states);
    s->out->is_pure = KB_NEW(bool, g->columns->n);
    if (!g->runs || !s->out->noise || !s->out->is_pure) return kb_out_of_memory(error, "the weak form");
    for (size_t c = 0; c < g->columns->n; c++) s->out->is_pure[c] = g->form->integral[g->columns->term[c]].is_pure;
    for (size_t i = 0; status == KBASS_OK && i < g->n_runs; i++)
        status = kb_weak_grid_run_create(run_samples[i], &g->runs[i], error);
    if (status != KBASS_OK) return status;
    find_wavelengths(g);
    const double *noise = run_samples[0]->noise_share < 1 ? NULL : g->runs[0]->noise; /* that of projections is not */
    if (g->whole.tiles) status = kb_weak_grid_run_of_tiles(g->whole.tiles, noise, &g->all, error);
    for (size_t a = 0; a < g->form->n_axes; a++) s->out->wavelength[a] = g->wavelength[a] / run_samples[0]->span[a];
    for (size_t i = 0; i < g->n_runs; i++)
        for (size_t f = 0; f < g->dictionary->n_states; f++)
            s->out->noise[f] += g->runs[i]->noise[f] / pow(run_samples[i]->sd[f], 2) / (double)g->n_runs;
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
    weak_search s = {.most = most, .out = out};
    kb_weak_grids *g = &s.grids;
    *g = (kb_weak_grids){.n_runs = n_runs, .dictionary = dictionary, .columns = columns};
    if (whole) g->whole = *whole;
    memset(out, 0, sizeof *out);
    if (!are_grids(n_runs, run_samples)) return KBASS_OK;
    kbass_status status = kb_weak_form_create(dictionary, &g->form, error);
    if (status == KBASS_OK) status = open_runs(&s, run_samples, error);
    if (status == KBASS_OK) status = propose_all(&s, error);
    if (status == KBASS_OK) keep_most_voted(&s);
    else kb_field_proposals_clear(out);
    for (size_t i = 0; g->runs && i < n_runs; i++) kb_weak_grid_run_destroy(g->runs[i]);
    kb_free(g->runs);
    kb_weak_grid_run_destroy(g->all);
    kb_weak_form_destroy(g->form);
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
