#include "propose/weak/structures.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "weights/subset.h"

enum { SCREENED = 4 };                   /* structures: of the enumeration, that begin a climb */
enum { SIZE = 3 };                       /* terms: up to which structures are enumerated */
enum { FEW_COLUMNS = 64 };               /* columns: of more, one term fewer is enumerated */
enum { SUPPORTS = SCREENED + SIZE + 1 }; /* room: rivals */

/* One equation at one half width. */
typedef struct {
    size_t first; /* its first column */
    kb_subset *subset;
    kb_support best;               /* counted from `first` */
    kb_support supports[SUPPORTS]; /* likewise: rivals, best first */
    double evidence[SUPPORTS];
    size_t n_supports;
} equation;

static void equation_clear(equation *e)
{
    kb_subset_destroy(e->subset);
    kb_support_clear(&e->best);
    for (size_t i = 0; i < SUPPORTS; i++) kb_support_clear(&e->supports[i]);
}

static kbass_status equation_create(const kb_weak_states *weak, size_t first, size_t n, equation *e, kbass_error *error)
{
    *e = (equation){.first = first};
    kbass_status status = kb_subset_create(weak->columns, first, n, &e->subset, error);
    if (status == KBASS_OK) status = kb_support_create(n, &e->best, error);
    for (size_t i = 0; status == KBASS_OK && i < SUPPORTS; i++) status = kb_support_create(n, &e->supports[i], error);
    return status == KBASS_OK ? kb_weak_states_regression(weak, first, e->subset, error) : status;
}

static bool search_equation(equation *e)
{
    size_t n = e->subset->columns.n, largest = n <= FEW_COLUMNS ? SIZE : SIZE - 1;
    if (!(e->subset->squares > 0) || !isfinite(kb_subset_search(e->subset, &e->best))) return false;
    e->n_supports = kb_subset_rivals(e->subset, &e->best, largest, SCREENED, e->supports, e->evidence);
    return e->n_supports > 0;
}

/* ---------------------------------------------------------------- joined over the equations */

static kbass_status add_proposal(kb_weak_proposals *list, size_t n_columns, kb_weak_proposal **out, kbass_error *error)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        kb_weak_proposal *more = kb_reallocate(list->proposals, list->n, capacity, sizeof *more);
        if (!more) return kb_out_of_memory(error, "the weak form");
        list->proposals = more;
        list->capacity = capacity;
    }
    kb_weak_proposal *p = &list->proposals[list->n];
    *p = (kb_weak_proposal){0};
    p->w = KB_NEW(double, n_columns);
    kbass_status status = kb_support_create(n_columns, &p->support, error);
    if (status != KBASS_OK || !p->w) {
        kb_free(p->w);
        kb_support_clear(&p->support);
        return kb_out_of_memory(error, "the weak form");
    }
    list->n++;
    *out = p;
    return KBASS_OK;
}

void kb_weak_proposals_clear(kb_weak_proposals *list)
{
    for (size_t i = 0; i < list->n; i++) {
        kb_support_clear(&list->proposals[i].support);
        kb_free(list->proposals[i].w);
    }
    kb_free(list->proposals);
    *list = (kb_weak_proposals){0};
}

static void set_equation(equation *e, const kb_support *support, kb_weak_proposal *p)
{
    kb_subset_evidence(e->subset, support);
    for (size_t c = 0; c < e->subset->columns.n; c++) {
        kb_support_remove(&p->support, e->first + c);
        p->w[e->first + c] = 0;
    }
    for (size_t j = 0; j < support->n; j++) {
        kb_support_add(&p->support, e->first + support->column[j]);
        p->w[e->first + support->column[j]] = e->subset->mean[j];
    }
}

static bool is_known(const kb_weak_proposals *list, const kb_support *support)
{
    for (size_t i = 0; i + 1 < list->n; i++)
        if (kb_support_equal(&list->proposals[i].support, support)) return true;
    return false;
}

static void drop_last(kb_weak_proposals *list)
{
    kb_weak_proposal *p = &list->proposals[--list->n];
    kb_support_clear(&p->support);
    kb_free(p->w);
}

/* The best structures of all equations together, then each close rival of one with the best of the others. */
static kbass_status join(size_t n, equation *equations, double half_width, double close, size_t n_columns,
                         kb_weak_proposals *out, kbass_error *error)
{
    kb_weak_proposal *p = NULL;
    size_t first = out->n;
    kbass_status status = add_proposal(out, n_columns, &p, error);
    if (status != KBASS_OK) return status;
    p->half_width = half_width;
    for (size_t e = 0; e < n; e++) set_equation(&equations[e], &equations[e].supports[0], p);
    bool best_is_new = !is_known(out, &p->support);
    for (size_t e = 0; status == KBASS_OK && e < n; e++)
        for (size_t i = 1; status == KBASS_OK && i < equations[e].n_supports; i++) {
            double behind = equations[e].evidence[0] - equations[e].evidence[i];
            if (behind > close) break;
            status = add_proposal(out, n_columns, &p, error);
            if (status != KBASS_OK) break;
            kb_support_copy(&out->proposals[first].support, &p->support);
            memcpy(p->w, out->proposals[first].w, n_columns * sizeof *p->w);
            p->half_width = half_width;
            p->behind = behind;
            set_equation(&equations[e], &equations[e].supports[i], p);
            if (is_known(out, &p->support)) drop_last(out);
        }
    if (!best_is_new) { /* kept for its rivals alone */
        kb_weak_proposal known = out->proposals[first];
        out->proposals[first] = out->proposals[out->n - 1];
        out->proposals[out->n - 1] = known;
        drop_last(out);
    }
    return status;
}

kbass_status kb_weak_propose_present(kb_weak_states *weak, double half_width, double close, kb_weak_proposals *out,
                                     kbass_error *error)
{
    const kb_columns *columns = weak->columns;
    size_t n = kb_columns_equations(columns), e = 0;
    kbass_status status = KBASS_OK;
    equation *equations = KB_NEW(equation, n);
    bool found = true;
    if (!equations) return kb_out_of_memory(error, "the weak form");
    for (size_t first = 0, end; status == KBASS_OK && found && first < columns->n; first = end, e++) {
        end = kb_columns_end(columns, first);
        status = equation_create(weak, first, end - first, &equations[e], error);
        if (status == KBASS_OK) found = search_equation(&equations[e]);
    }
    if (status == KBASS_OK && found) status = join(n, equations, half_width, close, columns->n, out, error);
    for (size_t i = 0; i < n; i++) equation_clear(&equations[i]);
    kb_free(equations);
    return status;
}

kbass_status kb_weak_propose(kb_weak_states *weak, const kb_weak_schedule *schedule, double period,
                             kb_weak_proposals *out, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    double least = schedule->rows * weak->record->spacing, last = 0;
    for (size_t i = 0; status == KBASS_OK && i < schedule->n_widths; i++) {
        double share = schedule->n_widths > 1 ? (double)i / (double)(schedule->n_widths - 1) : 0;
        double h = period * schedule->narrowest * pow(schedule->widest / schedule->narrowest, share);
        h = fmax(h, least);
        if (!(h > 1.05 * last)) continue;
        last = h;
        status = kb_weak_states_integrate(weak, h, error);
        if (status == KBASS_OK && weak->n_queries)
            status = kb_weak_propose_present(weak, h, schedule->close, out, error);
    }
    return status;
}
