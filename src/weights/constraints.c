#include "weights/constraints.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "dictionary/constraints.h"
#include "weights/ties.h"

enum { MOST = KB_MOST_TIED };          /* room: tied columns */
enum { MOST_ROWS = 2 * MOST };         /* room: equalities */
enum { TRIES = 8 };                    /* draws: of weights, for one that keeps all bounds */
static const double vanishing = 1e-11; /* share of a row's largest entry that is rounding */

/* ---------------------------------------------------------------- in scaled weights */

static size_t column_of(const kb_columns *c, const kb_constraint_part *part)
{
    size_t j = 0;
    while (j < c->n && !(c->equation[j] == part->state && c->term[j] == part->term)) j++;
    return j;
}

static kbass_status add_equality(kb_constraints *s, const kb_columns *c, const kb_constraint *from, kbass_error *error)
{
    struct kb_equality *e = &s->equalities[s->n++];
    *e = (struct kb_equality){.n = from->n, .right = from->right, .component = s->n_components++};
    e->column = KB_NEW(size_t, from->n);
    e->factor = KB_NEW(double, from->n);
    if (!e->column || !e->factor) return kb_out_of_memory(error, "the constraints");
    for (size_t i = 0; i < from->n; i++) {
        e->column[i] = column_of(c, &from->parts[i]);
        e->factor[i] = from->parts[i].factor * c->unit[e->column[i]];
    }
    return KBASS_OK;
}

static void add_bound(kb_constraints *s, const kb_columns *c, const kb_constraint *from)
{
    size_t column = column_of(c, &from->parts[0]);
    if (!(s->low[column] > -INFINITY) && !(s->high[column] < INFINITY)) s->n_bounds++;
    if (from->relation == '<') s->high[column] = from->right / c->unit[column];
    else s->low[column] = from->right / c->unit[column];
}

/* Equalities that share a column are of one component. */
static void join(kb_constraints *s, size_t n_columns)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t own = s->equalities[i].component;
        for (size_t k = 0; k < s->equalities[i].n; k++) {
            size_t other = s->component[s->equalities[i].column[k]];
            for (size_t j = 0; other != KB_NO_COMPONENT && j < n_columns; j++)
                if (s->component[j] == other) s->component[j] = own;
            for (size_t j = 0; other != KB_NO_COMPONENT && j < i; j++)
                if (s->equalities[j].component == other) s->equalities[j].component = own;
            s->component[s->equalities[i].column[k]] = own;
        }
    }
}

static kbass_status fill(const kb_dictionary *d, const kb_columns *c, kb_constraints *s, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t j = 0; j < c->n; j++) s->low[j] = -INFINITY, s->high[j] = INFINITY, s->component[j] = KB_NO_COMPONENT;
    for (size_t i = 0; status == KBASS_OK && i < d->n_constraints; i++)
        if (d->constraints[i].relation == '=') status = add_equality(s, c, &d->constraints[i], error);
        else add_bound(s, c, &d->constraints[i]);
    if (status != KBASS_OK) return status;
    join(s, c->n);
    for (size_t j = 0; j < c->n; j++)
        if (s->component[j] != KB_NO_COMPONENT && (s->low[j] > -INFINITY || s->high[j] < INFINITY))
            s->is_bounded[s->component[j]] = true;
    return KBASS_OK;
}

kbass_status kb_constraints_create(const kb_dictionary *d, const kb_columns *c, kb_constraints **out,
                                   kbass_error *error)
{
    *out = NULL;
    if (!d->n_constraints) return KBASS_OK;
    kb_constraints *s = KB_NEW(kb_constraints, 1);
    if (!s) return kb_out_of_memory(error, "the constraints");
    s->equalities = KB_NEW(struct kb_equality, d->n_constraints);
    s->is_bounded = KB_NEW(bool, d->n_constraints);
    s->component = KB_NEW(size_t, c->n);
    s->low = KB_NEW(double, c->n);
    s->high = KB_NEW(double, c->n);
    bool complete = s->equalities && s->is_bounded && s->component && s->low && s->high;
    kbass_status status = complete ? fill(d, c, s, error) : kb_out_of_memory(error, "the constraints");
    if (status == KBASS_OK) *out = s;
    else kb_constraints_destroy(s);
    return status;
}

void kb_constraints_destroy(kb_constraints *s)
{
    if (!s) return;
    for (size_t i = 0; s->equalities && i < s->n; i++) {
        kb_free(s->equalities[i].column);
        kb_free(s->equalities[i].factor);
    }
    kb_free(s->equalities);
    kb_free(s->is_bounded);
    kb_free(s->component);
    kb_free(s->low);
    kb_free(s->high);
    kb_ties_destroy(s->ties);
    kb_free(s);
}

/* ---------------------------------------------------------------- one component of a support */

/* Its equalities, reduced: row r gives the weight at place[pivot[r]] by the others. */
typedef struct {
    size_t n, place[MOST];
    size_t n_rows, pivot[MOST_ROWS];
    double row[MOST_ROWS][MOST + 1]; /* coefficients, and the right side */
} block;

static void swap_in(block *b, size_t row)
{
    double largest = 0, scale = 0;
    size_t best = 0;
    for (size_t j = 0; j < b->n; j++)
        if (fabs(b->row[row][j]) > largest) largest = fabs(b->row[row][j]), best = j;
    scale = largest;
    for (size_t r = 0; r < row; r++) { /* less what the rows before say */
        double factor = b->row[row][b->pivot[r]];
        for (size_t j = 0; j <= MOST; j++) b->row[row][j] -= factor * b->row[r][j];
        b->row[row][b->pivot[r]] = 0;
    }
    largest = 0;
    for (size_t j = 0; j < b->n; j++)
        if (fabs(b->row[row][j]) > largest) largest = fabs(b->row[row][j]), best = j;
    if (!(largest > vanishing * scale)) return; /* it says nothing more */
    double own = b->row[row][best];
    for (size_t j = 0; j <= MOST; j++)
        b->row[row][j] = fabs(b->row[row][j]) > vanishing * largest || j == MOST ? b->row[row][j] / own : 0;
    b->pivot[row] = best;
    for (size_t r = 0; r < row; r++) {
        double factor = b->row[r][best];
        for (size_t j = 0; j <= MOST; j++) b->row[r][j] -= factor * b->row[row][j];
        b->row[r][best] = 0;
    }
    b->n_rows++;
}

static void gather_places(const kb_constraints *s, const kb_support *support, size_t component, block *b)
{
    b->n = b->n_rows = 0;
    for (size_t q = 0; q < support->n; q++)
        if (s->component[support->column[q]] == component) b->place[b->n++] = q;
}

static void add_held(block *b, size_t place, double value)
{
    memset(b->row[b->n_rows], 0, sizeof b->row[0]);
    b->row[b->n_rows][place] = 1;
    b->row[b->n_rows][MOST] = value;
    swap_in(b, b->n_rows);
}

/* The component's equalities among a support's columns, the others being 0. held (by place in the support) with values,
   or NULL: those weights stay. */
static void gather(const kb_constraints *s, const kb_support *support, size_t component, const bool *held,
                   const double *values, block *b)
{
    gather_places(s, support, component, b);
    for (size_t i = 0; i < s->n; i++) {
        const struct kb_equality *e = &s->equalities[i];
        if (e->component != component) continue;
        double *row = b->row[b->n_rows];
        memset(row, 0, sizeof b->row[0]);
        row[MOST] = e->right;
        for (size_t k = 0; k < e->n; k++)
            for (size_t j = 0; j < b->n; j++)
                if (support->column[b->place[j]] == e->column[k]) row[j] = e->factor[k];
        swap_in(b, b->n_rows);
    }
    for (size_t j = 0; held && j < b->n; j++)
        if (held[b->place[j]]) add_held(b, j, values ? values[b->place[j]] : 0);
}

static bool is_pivot(const block *b, size_t j, size_t *row)
{
    for (*row = 0; *row < b->n_rows; ++*row)
        if (b->pivot[*row] == j) return true;
    return false;
}

/* Can it be nothing but 0? */
static bool is_nil(const block *b, size_t j)
{
    size_t row = 0;
    if (!is_pivot(b, j, &row) || b->row[row][MOST] != 0) return false;
    for (size_t k = 0; k < b->n; k++)
        if (k != j && b->row[row][k] != 0) return false;
    return true;
}

/* ---------------------------------------------------------------- nearest weights */

/* w <- w - R (B w - r) / |B|^2 of each row in turn (Kaczmarz in units of the slabs), then the pivots exactly. */
static void satisfy(const kb_columns *c, const kb_support *support, const block *b, const double *trust, double *w)
{
    for (int sweep = 0; sweep < 200; sweep++)
        for (size_t r = 0; r < b->n_rows; r++) {
            double residual = -b->row[r][MOST], length = 0;
            for (size_t j = 0; j < b->n; j++) {
                double a = b->row[r][j];
                residual += a * w[b->place[j]];
                length += a * a * c->slab[support->column[b->place[j]]] / trust[j];
            }
            for (size_t j = 0; j < b->n; j++)
                w[b->place[j]] -= b->row[r][j] * c->slab[support->column[b->place[j]]] / trust[j] * residual / length;
        }
    for (size_t r = 0; r < b->n_rows; r++) {
        double value = b->row[r][MOST];
        for (size_t j = 0; j < b->n; j++)
            if (j != b->pivot[r]) value -= b->row[r][j] * w[b->place[j]];
        w[b->place[b->pivot[r]]] = value;
    }
}

static double clip(const kb_constraints *s, size_t column, double w)
{
    return fmin(fmax(w, s->low[column]), s->high[column]);
}

/* Weights beyond their bounds are put there and held, the others follow, until none is. */
static bool project_component(const kb_columns *c, const kb_support *support, size_t component, double *w)
{
    const kb_constraints *s = c->constraints;
    block b;
    double trust[MOST];
    bool is_held[MOST] = {false};
    gather(s, support, component, NULL, NULL, &b);
    for (size_t j = 0; j < b.n; j++) trust[j] = w[b.place[j]] != 0 ? 1 : 1e-6;
    for (size_t round = 0; round <= b.n; round++) {
        bool is_changed = false;
        satisfy(c, support, &b, trust, w);
        for (size_t j = 0; j < b.n; j++) {
            size_t column = support->column[b.place[j]];
            double value = clip(s, column, w[b.place[j]]);
            if (is_held[j] || fabs(value - w[b.place[j]]) <= 1e-14 * fabs(value)) continue;
            w[b.place[j]] = value;
            is_held[j] = is_changed = true;
            add_held(&b, j, value);
        }
        if (!is_changed) return true;
    }
    return false;
}

void kb_constraints_project(const kb_columns *c, const kb_support *support, double *w)
{
    const kb_constraints *s = c->constraints;
    for (size_t component = 0; component < s->n_components; component++) project_component(c, support, component, w);
    for (size_t q = 0; q < support->n; q++)
        if (s->component[support->column[q]] == KB_NO_COMPONENT) w[q] = clip(s, support->column[q], w[q]);
}

/* ---------------------------------------------------------------- structures that obey */

/* Within its bounds, with no weight 0? Tried from a few random weights. */
static bool has_inside(const kb_columns *c, const kb_support *support, const block *b, size_t component)
{
    const kb_constraints *s = c->constraints;
    double values[MOST];
    size_t columns[MOST];
    kb_random random;
    kb_random_seed(&random, 1 + component);
    for (size_t j = 0; j < b->n; j++) columns[j] = support->column[b->place[j]];
    const kb_support part = {b->n, columns};
    for (int attempt = 0; attempt < TRIES; attempt++) {
        bool is_inside = true;
        for (size_t j = 0; j < b->n; j++) {
            double low = s->low[columns[j]], high = s->high[columns[j]], size = 0.2 + kb_random_uniform(&random);
            values[j] = low > -INFINITY && high < INFINITY ? low + (high - low) * (0.1 + 0.6 * size)
                        : low > -INFINITY                  ? low + size * sqrt(c->slab[columns[j]])
                        : high < INFINITY
                            ? high - size * sqrt(c->slab[columns[j]])
                            : (kb_random_uniform(&random) < 0.5 ? -size : size) * sqrt(c->slab[columns[j]]);
        }
        if (!project_component(c, &part, component, values)) continue;
        for (size_t j = 0; j < b->n; j++) is_inside = is_inside && fabs(values[j]) > 1e-9 * sqrt(c->slab[columns[j]]);
        if (is_inside) return true;
    }
    return false;
}

/* Marks by place what cannot be but 0; true when there is any. */
static bool find_nil(const kb_columns *c, const kb_support *support, size_t component, block *b, bool *nil)
{
    bool any = false;
    gather(c->constraints, support, component, NULL, NULL, b);
    for (size_t j = 0; j < b->n; j++) any = (nil[j] = is_nil(b, j)) || any;
    if (any || !b->n || !c->constraints->is_bounded[component] || has_inside(c, support, b, component)) return any;
    for (size_t j = 0; j < b->n; j++) nil[j] = true;
    return true;
}

void kb_constraints_complete(const kb_columns *c, kb_support *support)
{
    const kb_constraints *s = c->constraints;
    bool nil[MOST];
    block b;
    for (size_t component = 0; s && component < s->n_components; component++) {
        if (!find_nil(c, support, component, &b, nil)) continue;
        for (size_t column = 0; column < c->n; column++)
            if (s->component[column] == component) kb_support_add(support, column);
    }
}

void kb_constraints_prune(const kb_columns *c, kb_support *support)
{
    const kb_constraints *s = c->constraints;
    bool nil[MOST];
    block b;
    for (size_t component = 0; s && component < s->n_components; component++)
        while (find_nil(c, support, component, &b, nil)) {
            size_t gone[MOST], n = 0;
            for (size_t j = 0; j < b.n; j++)
                if (nil[j]) gone[n++] = support->column[b.place[j]];
            for (size_t j = 0; j < n; j++) kb_support_remove(support, gone[j]);
        }
}

double kb_constraints_share(const kb_columns *c, const kb_support *support, size_t column)
{
    const kb_constraints *s = c->constraints;
    block b;
    if (!s || s->component[column] == KB_NO_COMPONENT) return 1;
    gather(s, support, s->component[column], NULL, NULL, &b);
    return b.n ? (double)(b.n - b.n_rows) / (double)b.n : 1;
}

double kb_constraints_slab(const kb_columns *c, const kb_support *support, size_t column)
{
    return c->constraints ? c->slab[column] / kb_constraints_share(c, support, column) : c->slab[column];
}

/* ---------------------------------------------------------------- free weights */

static size_t add_components(const kb_columns *c, const kb_support *support, const bool *held, double *C)
{
    const kb_constraints *s = c->constraints;
    size_t k = support->n, f = 0, row = 0;
    block b;
    for (size_t component = 0; component < s->n_components; component++) {
        gather(s, support, component, held, NULL, &b);
        for (size_t j = 0; j < b.n; j++) {
            if (is_pivot(&b, j, &row)) continue;
            double *column = C + f++ * k;
            memset(column, 0, k * sizeof *column);
            column[b.place[j]] = 1;
            for (size_t r = 0; r < b.n_rows; r++) column[b.place[b.pivot[r]]] = -b.row[r][j];
        }
    }
    return f;
}

size_t kb_constraints_basis(const kb_columns *c, const kb_support *support, const bool *held, double *C)
{
    size_t k = support->n, f = add_components(c, support, held, C);
    for (size_t q = 0; q < k; q++) {
        if (c->constraints->component[support->column[q]] != KB_NO_COMPONENT || (held && held[q])) continue;
        double *column = C + f++ * k;
        memset(column, 0, k * sizeof *column);
        column[q] = 1;
    }
    return f;
}

/* ---------------------------------------------------------------- bounds */

double kb_constraints_cut(const kb_columns *c, const kb_support *support, const double *w, const double *step,
                          double length, size_t *place)
{
    *place = support->n;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        double bound = step[q] < 0 ? c->constraints->low[column] : c->constraints->high[column];
        if (step[q] == 0 || !isfinite(bound) || !(w[q] + length * step[q] - bound > 0) == (step[q] > 0)) continue;
        length = fmax((bound - w[q]) / step[q], 0);
        *place = q;
    }
    return length;
}

double kb_constraints_end(const kb_columns *c, const kb_support *support, const double *step, size_t place)
{
    size_t column = support->column[place];
    return step[place] < 0 ? c->constraints->low[column] : c->constraints->high[column];
}

bool kb_constraints_blocks(const kb_columns *c, size_t column, double w, double step)
{
    return (step < 0 && w <= c->constraints->low[column]) || (step > 0 && w >= c->constraints->high[column]);
}
