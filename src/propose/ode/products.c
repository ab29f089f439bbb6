#include "propose/ode/products.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "problem/ode.h"
#include "propose/ode/weak.h"
#include "weights/integral_form.h"
#include "weights/subset.h"

enum { MOST_PRODUCTS = 36 };          /* laws: that are fitted; seconds */
enum { MOST_SIDES = 8 };              /* right-hand sides: of one equation */
enum { LARGEST = 3 };                 /* terms: of right-hand sides that are all tried */
enum { MOST_COLUMNS = 64 };           /* columns: of an equation that is searched so */
enum { ROOM = MOST_SIDES + LARGEST }; /* room: the best, and the best of each size */

/* One equation: its columns from `first` on, and its right-hand sides, columns counted from there. */
typedef struct {
    size_t first, n_sides;
    kb_subset *subset;
    kb_support best, sides[ROOM];
} equation;

static void clear(size_t n, equation *equations)
{
    for (size_t e = 0; equations && e < n; e++) {
        kb_subset_destroy(equations[e].subset);
        kb_support_clear(&equations[e].best);
        for (size_t i = 0; i < ROOM; i++) kb_support_clear(&equations[e].sides[i]);
    }
    kb_free(equations);
}

static kbass_status search(const kb_columns *c, const kb_integral_form *form, size_t first, size_t most, equation *e,
                           kbass_error *error)
{
    const kb_support nothing = {0, NULL};
    size_t n = kb_columns_end(c, first) - first;
    e->first = first;
    kbass_status status = kb_subset_create(c, first, n, &e->subset, error);
    if (status == KBASS_OK) status = kb_support_create(n, &e->best, error);
    for (size_t i = 0; status == KBASS_OK && i < ROOM; i++) status = kb_support_create(n, &e->sides[i], error);
    if (status != KBASS_OK) return status;
    kb_subset_set(e->subset, form->n_rows, form->X, c->term + first, form->H + c->equation[first] * form->n_rows,
                  form->n_counted);
    if (!isfinite(kb_subset_search(e->subset, &e->best))) return KBASS_OK;
    size_t found = kb_message_screen(&e->subset->message, &e->subset->columns, &nothing, c->equation[first], LARGEST,
                                     most, e->sides, e->subset->work);
    e->n_sides = found < most ? found : most;
    return KBASS_OK;
}

/* The law whose number in base n_sides, digit by digit, has the right-hand sides. */
static void compose(size_t n, const equation *equations, size_t number, kb_support *support, double *w)
{
    support->n = 0;
    for (size_t e = 0; e < n; number /= equations[e++].n_sides) {
        const equation *q = &equations[e];
        const kb_support *side = &q->sides[number % q->n_sides];
        kb_subset_evidence(q->subset, side);
        for (size_t j = 0; j < side->n; j++) {
            kb_support_add(support, q->first + side->column[j]);
            w[q->first + side->column[j]] = q->subset->mean[j];
        }
    }
}

static kbass_status add_products(const kb_ode_problem *p, size_t n, const equation *equations, kb_pool *pool,
                                 kbass_error *error)
{
    size_t total = 1, n_columns = p->columns->n;
    double *w = KB_NEW(double, n_columns);
    kb_support support = {0};
    kbass_status status = kb_support_create(n_columns, &support, error);
    if (status == KBASS_OK && !w) status = kb_out_of_memory(error, "the products");
    for (size_t e = 0; e < n; e++) total *= equations[e].n_sides;
    for (size_t i = 0; status == KBASS_OK && i < total; i++) {
        memset(w, 0, n_columns * sizeof *w);
        compose(n, equations, i, &support, w);
        status = kb_propose_structure(p, &support, w, pool, error);
    }
    kb_support_clear(&support);
    kb_free(w);
    return status;
}

/* How many right-hand sides of each of n equations make no more than all products; 1: it is no use. */
static size_t sides_each(size_t n)
{
    double most = pow(MOST_PRODUCTS + 0.5, 1 / (double)n);
    return most < MOST_SIDES ? (size_t)most : MOST_SIDES;
}

static bool is_suited(const kb_ode_problem *p)
{
    const kb_columns *c = p->columns;
    if (kb_ode_problem_is_large(p) || p->is_middle || c->constraints || c->run) return false;
    for (size_t first = 0, end; first < c->n; first = end) {
        end = kb_columns_end(c, first);
        if (end - first > MOST_COLUMNS) return false;
    }
    return sides_each(kb_columns_equations(c)) > 1;
}

kbass_status kb_propose_products(kb_proposals *asked, kbass_error *error)
{
    const kb_ode_problem *p = asked->problem;
    const kb_field_points field = {p->n_reference, p->reference_start, p->reference, p->follow};
    size_t n = kb_columns_equations(p->columns), e = 0;
    kb_integral_form *form = NULL;
    if (kb_run_stopped(asked->run) || !is_suited(p)) return KBASS_OK;
    equation *equations = KB_NEW(equation, n);
    kbass_status status = equations ? KBASS_OK : kb_out_of_memory(error, "the products");
    if (status == KBASS_OK)
        status = kb_integral_form_create(p->record, p->dictionary, p->columns, &field, &form, error);
    if (status == KBASS_OK) kb_integral_form_divide(form, 1);
    for (size_t first = 0; status == KBASS_OK && first < p->columns->n; first = kb_columns_end(p->columns, first))
        status = search(p->columns, form, first, sides_each(n), &equations[e++], error);
    if (status == KBASS_OK) status = add_products(p, n, equations, asked->pool, error);
    kb_integral_form_destroy(form);
    clear(n, equations);
    return status;
}
