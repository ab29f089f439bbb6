#include "weights/columns_screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "weights/analogy.h"

enum { STEPS = 10 };               /* columns: taken out one after the other, all others weighed after each */
enum { MOST_POINTS = 600 };        /* points: at which columns are compared */
enum { FEWEST_KEPT = 12 };         /* columns: of each equation that stay */
static const double spent = 1e-10; /* share of a column's square left at which it is a sum of those chosen */

/* Terms and slopes at every `stride`-th point. */
typedef struct {
    size_t n, n_terms;
    double *terms;   /* n x n_terms, unit columns */
    double *left;    /* n x n_terms: the same less what the chosen terms explain */
    double *square;  /* n_terms: of the columns of `left` */
    double *slope;   /* n: what is left of the slope */
    double *product; /* n_terms */
    double *share;   /* n_terms: the largest share of what was left that a term explained */
} screen;

static void screen_clear(screen *s)
{
    kb_free(s->terms);
    kb_free(s->left);
    kb_free(s->square);
    kb_free(s->slope);
    kb_free(s->product);
    kb_free(s->share);
}

static kbass_status screen_allocate(screen *s, kbass_error *error)
{
    s->terms = KB_NEW(double, s->n * s->n_terms);
    s->left = KB_NEW(double, s->n * s->n_terms);
    s->square = KB_NEW(double, s->n_terms);
    s->slope = KB_NEW(double, s->n);
    s->product = KB_NEW(double, s->n_terms);
    s->share = KB_NEW(double, s->n_terms);
    bool complete = s->terms && s->left && s->square && s->slope && s->product && s->share;
    return complete ? KBASS_OK : kb_out_of_memory(error, "the screening of the dictionary");
}

static void scale_to_unit(size_t n, double *column)
{
    double norm = sqrt(kb_dot(n, column, column));
    for (size_t i = 0; i < n; i++) column[i] = norm > 0 ? column[i] / norm : 0;
}

static kbass_status fill_terms(screen *s, const kb_dictionary *dictionary, size_t n_points, size_t stride,
                               const double *reference, kbass_error *error)
{
    double *points = KB_NEW(double, s->n * dictionary->n_variables);
    double *work = KB_NEW(double, kb_dictionary_work(dictionary, s->n));
    bool complete = points && work;
    for (size_t v = 0; complete && v < dictionary->n_variables; v++)
        for (size_t i = 0; i < s->n; i++) points[i + v * s->n] = reference[i * stride + v * n_points];
    for (size_t term = 0; complete && term < s->n_terms; term++) {
        kb_dictionary_values(dictionary, 1, &term, s->n, points, s->n, s->terms + term * s->n, work);
        scale_to_unit(s->n, s->terms + term * s->n);
    }
    kb_free(points);
    kb_free(work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the screening of the dictionary");
}

/* Shares of what is left of the slope; the best term, or n_terms when nothing is left. */
static size_t weigh_terms(screen *s)
{
    double all = kb_dot(s->n, s->slope, s->slope), most = 0;
    size_t best = s->n_terms;
    kb_gemv(KB_TRANSPOSED, s->n, s->n_terms, 1, s->left, s->n, s->slope, 0, s->product);
    for (size_t j = 0; all > 0 && j < s->n_terms; j++) {
        double share = s->square[j] > spent ? s->product[j] * s->product[j] / (s->square[j] * all) : 0;
        s->share[j] = fmax(s->share[j], share);
        if (share > most) most = share, best = j;
    }
    return best;
}

/* Takes a term out of the slope and of all others: q = left_best / |left_best|, left <- left - q q' left */
static void take_out(screen *s, size_t best)
{
    double *q = s->left + best * s->n;
    scale_to_unit(s->n, q);
    s->share[best] = HUGE_VAL; /* stays in any case */
    s->square[best] = 0;
    kb_axpy(s->n, -kb_dot(s->n, q, s->slope), q, s->slope);
    kb_gemv(KB_TRANSPOSED, s->n, s->n_terms, 1, s->left, s->n, q, 0, s->product);
    for (size_t j = 0; j < s->n_terms; j++) {
        if (j == best) continue;
        kb_axpy(s->n, -s->product[j], q, s->left + j * s->n);
        s->square[j] = fmax(s->square[j] - s->product[j] * s->product[j], 0);
    }
}

/* The share of every term for one equation's slope. */
static void weigh_equation(screen *s, size_t stride, const double *slope)
{
    memcpy(s->left, s->terms, s->n * s->n_terms * sizeof *s->left);
    for (size_t i = 0; i < s->n; i++) s->slope[i] = slope[i * stride];
    for (size_t j = 0; j < s->n_terms; j++)
        s->share[j] = 0, s->square[j] = kb_dot(s->n, s->left + j * s->n, s->left + j * s->n);
    for (int step = 0; step < STEPS; step++) {
        size_t best = weigh_terms(s);
        if (best == s->n_terms || kb_budget_expired()) return; /* late: by single terms */
        take_out(s, best);
    }
}

static int by_falling_share(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

/* The share from which a column stays when `most` of the columns first to last do. */
static double find_threshold(screen *s, const kb_columns *c, size_t first, size_t last, size_t most)
{
    size_t n = 0;
    if (last - first <= most) return -1;
    for (size_t j = first; j < last; j++) s->product[n++] = s->share[c->term[j]];
    qsort(s->product, n, sizeof *s->product, by_falling_share);
    return s->product[most - 1];
}

static void move_column(kb_columns *c, size_t from, size_t to)
{
    c->equation[to] = c->equation[from];
    c->term[to] = c->term[from];
    c->log_odds[to] = c->log_odds[from];
    c->required[to] = c->required[from];
    c->explained[to] = c->explained[from];
    c->scale[to] = c->scale[from];
    c->unit[to] = c->unit[from];
    c->slab[to] = c->slab[from];
}

/* Simple terms stay, where they are no more than half of what does: products of many states explain by chance what
   these do. */
static void keep_simple(screen *s, const kb_columns *c, const kb_dictionary *d, size_t first, size_t last, size_t most)
{
    size_t n = 0;
    for (size_t j = first; j < last; j++) n += kb_dictionary_degree(d, c->term[j]) <= 1;
    for (size_t j = first; 2 * n <= most && j < last; j++)
        if (kb_dictionary_degree(d, c->term[j]) <= 1) s->share[c->term[j]] = HUGE_VAL;
}

static void choose_best(screen *s, const kb_columns *c, const kb_dictionary *dictionary, size_t n_points, size_t stride,
                        const double *slopes, size_t most, bool *stays)
{
    for (size_t first = 0, last; first < c->n; first = last) {
        last = kb_columns_end(c, first);
        weigh_equation(s, stride, slopes + c->equation[first] * n_points);
        keep_simple(s, c, dictionary, first, last, most);
        double threshold = find_threshold(s, c, first, last, most);
        size_t room = most;
        for (size_t j = first; j < last; j++) {
            stays[j] = c->required[j] || c->explained[j] || (room && s->share[c->term[j]] >= threshold);
            room -= stays[j] && room > 0;
        }
    }
}

/* What most of many like states keep is no chance. */
static kbass_status keep_analogous(const kb_columns *c, const kb_dictionary *dictionary, bool *stays,
                                   kbass_error *error)
{
    kb_analogy *analogy = NULL;
    if (dictionary->n_axes > 1) return KBASS_OK;
    kbass_status status = kb_analogy_create(c, dictionary, true, &analogy, error);
    if (status == KBASS_OK) status = kb_analogy_spread(analogy, c, stays, error);
    kb_analogy_destroy(analogy);
    return status;
}

static void leave_out(kb_columns *c, const bool *stays)
{
    size_t kept = 0;
    for (size_t j = 0; j < c->n; j++)
        if (stays[j]) move_column(c, j, kept++);
    c->n_screened += c->n - kept;
    c->n = kept;
}

kbass_status kb_columns_screen(kb_columns *c, const kb_dictionary *dictionary, size_t n_points, const double *reference,
                               const double *slopes, size_t most, kbass_error *error)
{
    if (c->n <= most) return KBASS_OK;
    if (c->constraints)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "--constraint: found %zu candidates, of which only %zu would be looked at: name fewer", c->n,
                       most);
    size_t each = most / kb_columns_equations(c), stride = (n_points + MOST_POINTS - 1) / MOST_POINTS;
    screen s = {.n = (n_points + stride - 1) / stride, .n_terms = dictionary->n_terms};
    bool *stays = KB_NEW(bool, c->n);
    kbass_status status = screen_allocate(&s, error);
    if (!stays) status = kb_out_of_memory(error, "the screening of the dictionary");
    if (status == KBASS_OK) status = fill_terms(&s, dictionary, n_points, stride, reference, error);
    if (status == KBASS_OK) {
        choose_best(&s, c, dictionary, n_points, stride, slopes, each > FEWEST_KEPT ? each : FEWEST_KEPT, stays);
        status = keep_analogous(c, dictionary, stays, error);
    }
    if (status == KBASS_OK) leave_out(c, stays);
    screen_clear(&s);
    kb_free(stays);
    return status;
}

void kb_columns_keep(kb_columns *c, const size_t *place)
{
    size_t kept = 0;
    for (size_t j = 0; j < c->n; j++)
        if (place[j] != (size_t)-1) move_column(c, j, kept++);
    c->n_screened += c->n - kept;
    c->n = kept;
}
