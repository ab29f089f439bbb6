#include "propose/weak/tile.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/weak/bump.h"
#include "tensor/mode.h"

enum { POWER_IN_TIME = 6 };   /* power of (1 - s^2): a bump's along time; not measured */
enum { POWER_IN_SPACE = 8 };  /* power of (1 - s^2): smooth beyond sixth derivatives */
enum { MOST_TIME_ORDER = 2 }; /* order: of time derivatives */

/* One tile at work. Operators map an axis' points to its bumps: n_centres x n, one for each order of derivative. */
typedef struct {
    const kb_weak_form *form;
    const kb_weak_tile *tile;
    size_t n_points, n_bumps, n_slices; /* n_slices: points of one time */
    double *operators[KB_MAX_AXES][KB_HIGHEST_ORDER + 1];
    double *column;        /* n_points: what is integrated */
    double *in_time;       /* n_slices x centres in time: after the operator of time */
    double *work[2];       /* tensors on the way through the axes of space */
    double *integrals;     /* n_bumps x n, bumps of space fastest */
    double *bumps_missing; /* n_bumps: values in their supports that were not measured */
} integration;

/* ---------------------------------------------------------------- operators */

/* operator[j, i] = (-1)^order quadrature_i d^order phi((x_i - c_j) / h) / h^order, column-major */
static bool make_operator(const kb_weak_tile *t, size_t axis, int order, double **out, double *work)
{
    size_t n = t->n[axis], m = t->n_centres[axis];
    double *s = work, *bump = work + n, *weight = work + 2 * n, half = t->half[axis], scale = pow(-half, -order);
    const double *x = t->at[axis];
    *out = KB_NEW(double, n *m);
    if (!*out) return false;
    kb_bump_quadrature(n, x, x[0], x[n - 1], weight);
    for (size_t j = 0, first = 0; j < m; j++) { /* centres ascend: only points about them are looked at */
        size_t end = first;
        while (first < n && x[first] < t->centre[axis][j] - half) first++;
        for (end = first; end < n && x[end] <= t->centre[axis][j] + half; end++)
            s[end] = (x[end] - t->centre[axis][j]) / half;
        kb_bump_derivative(axis ? POWER_IN_SPACE : POWER_IN_TIME, (size_t)order, end - first, s + first, bump + first);
        for (size_t i = first; i < end; i++) (*out)[j + i * m] = weight[i] * bump[i] * scale;
    }
    return true;
}

/* The orders in use along an axis. */
static bool make_operators(integration *g, size_t axis, double *work)
{
    for (size_t i = 0; i < g->form->n; i++) {
        int order = g->form->integral[i].is_pure ? g->form->integral[i].order[axis] : 0;
        double **operator= & g->operators[axis][order];
        if (!*operator&& !make_operator(g->tile, axis, order, operator, work)) return false;
    }
    return g->operators[axis][0] || make_operator(g->tile, axis, 0, &g->operators[axis][0], work);
}

/* ---------------------------------------------------------------- integrals */

/* in_time = column times the operator of time. */
static void integrate_time(integration *g, const double *operator)
{
    const kb_weak_tile *t = g->tile;
    kb_mode M = {t->n_centres[0], t->n[0], t->n_centres[0], operator};
    kb_mode_product(&M, g->n_slices, 1, g->column, g->in_time);
}

/* One column of integrals of what was integrated over time. */
static void integrate_space(integration *g, double *const *operators, double factor, double *out)
{
    const kb_weak_tile *t = g->tile;
    const double *from = g->in_time;
    size_t right = t->n_centres[0], left = g->n_slices;
    for (size_t axis = 1; axis < t->n_axes; axis++) { /* the slowest axis of space first */
        double *to = axis + 1 < t->n_axes ? g->work[axis % 2] : out;
        kb_mode M = {t->n_centres[axis], t->n[axis], t->n_centres[axis], operators[axis]};
        left /= t->n[axis];
        kb_mode_product(&M, left, right, from, to);
        right *= t->n_centres[axis];
        from = to;
    }
    for (size_t i = 0; i < g->n_bumps; i++) out[i] *= factor;
}

/* Hermite's polynomial of degree p: its mean over noise of variance v is u^p. */
static double hermite(double y, double v, int p)
{
    double before = 0, now = 1;
    for (int i = 0; i < p; i++) {
        double next = y * now - (double)i * v * before;
        before = now;
        now = next;
    }
    return now;
}

static void fill_monomial(integration *g, size_t monomial)
{
    const int *power = g->form->power + monomial * g->form->n_fields;
    for (size_t i = 0; i < g->n_points; i++) g->column[i] = 1;
    for (size_t field = 0; field < g->form->n_fields; field++) {
        const double *value = g->tile->value + field * g->n_points;
        double variance = g->tile->noise[field];
        for (size_t i = 0; power[field] > 0 && i < g->n_points; i++)
            g->column[i] *= isnan(value[i]) ? 0 : hermite(value[i], variance, power[field]);
    }
}

static void integrate_pure(integration *g)
{
    const kb_weak_form *f = g->form;
    for (size_t monomial = 0; monomial < f->n_monomials; monomial++) {
        fill_monomial(g, monomial);
        for (int time = 0; time <= MOST_TIME_ORDER; time++) {
            bool is_there = false;
            for (size_t i = 0; i < f->n; i++) {
                const kb_weak_integral *integral = &f->integral[i];
                double *operators[KB_MAX_AXES];
                if (!integral->is_pure || integral->monomial != monomial || integral->order[0] != time) continue;
                if (!is_there) integrate_time(g, g->operators[0][time]);
                is_there = true;
                for (size_t a = 0; a < f->n_axes; a++) operators[a] = g->operators[a][integral->order[a]];
                integrate_space(g, operators, integral->factor, g->integrals + i * g->n_bumps);
            }
        }
    }
}

/* Terms on the bare field. */
static bool integrate_impure(integration *g)
{
    const kb_weak_form *f = g->form;
    double *operators[KB_MAX_AXES], *work = KB_NEW(double, kb_dictionary_work(f->dictionary, g->n_points));
    if (!work) return false;
    for (size_t a = 0; a < f->n_axes; a++) operators[a] = g->operators[a][0];
    for (size_t term = 0; term < f->dictionary->n_terms; term++) {
        if (f->integral[term].is_pure) continue;
        kb_dictionary_values(f->dictionary, 1, &term, g->n_points, g->tile->bare, g->n_points, g->column, work);
        integrate_time(g, operators[0]);
        integrate_space(g, operators, 1, g->integrals + term * g->n_bumps);
    }
    kb_free(work);
    return true;
}

/* ---------------------------------------------------------------- what was not measured */

static bool is_missing(const integration *g, size_t point)
{
    for (size_t field = 0; field < g->form->n_fields; field++)
        if (isnan(g->tile->value[point + field * g->n_points])) return true;
    return false;
}

/* 1 where the bump of an axis is not zero. */
static void find_supports(double *operator, size_t n)
{
    for (size_t i = 0; i < n; i++) operator[i] = operator[i] != 0;
}

/* Bumps that touch a hole count no more: their integrals are 0. Overwrites the operators of order 0. */
static double leave_out(integration *g)
{
    const kb_weak_tile *t = g->tile;
    double *operators[KB_MAX_AXES], missing = 0, kept = 0;
    for (size_t i = 0; i < g->n_points; i++) missing += g->column[i] = is_missing(g, i);
    if (missing == 0) return (double)g->n_bumps;
    for (size_t a = 0; a < t->n_axes; a++) {
        operators[a] = g->operators[a][0];
        find_supports(operators[a], t->n[a] * t->n_centres[a]);
    }
    integrate_time(g, operators[0]);
    integrate_space(g, operators, 1, g->bumps_missing);
    for (size_t i = 0; i < g->n_bumps; i++) {
        bool is_left_out = g->bumps_missing[i] > 0.5;
        kept += !is_left_out;
        for (size_t k = 0; is_left_out && k < g->form->n; k++) g->integrals[i + k * g->n_bumps] = 0;
    }
    return kept;
}

/* ---------------------------------------------------------------- life */

static bool allocate(integration *g)
{
    const kb_weak_tile *t = g->tile;
    size_t most = 0, space = 1;
    g->n_points = g->n_bumps = g->n_slices = 1;
    for (size_t a = 0; a < t->n_axes; a++) {
        g->n_points *= t->n[a];
        g->n_bumps *= t->n_centres[a];
        most = t->n[a] > most ? t->n[a] : most;
        if (a) g->n_slices *= t->n[a];
        if (a) space *= t->n_centres[a] > t->n[a] ? t->n_centres[a] : t->n[a];
    }
    double *work = KB_NEW(double, 3 * most);
    g->column = KB_NEW(double, g->n_points);
    g->in_time = KB_NEW(double, g->n_slices * t->n_centres[0]);
    for (int i = 0; i < 2; i++) g->work[i] = KB_NEW(double, t->n_axes > 2 ? space * t->n_centres[0] : 0);
    g->integrals = KB_NEW(double, g->n_bumps * g->form->n);
    g->bumps_missing = KB_NEW(double, g->n_bumps);
    bool done = work && g->column && g->in_time && g->work[0] && g->work[1] && g->integrals && g->bumps_missing;
    for (size_t a = 0; done && a < t->n_axes; a++) done = make_operators(g, a, work);
    kb_free(work);
    return done;
}

static void clear(integration *g)
{
    for (size_t a = 0; a < KB_MAX_AXES; a++)
        for (int k = 0; k <= KB_HIGHEST_ORDER; k++) kb_free(g->operators[a][k]);
    double *arrays[] = {g->column, g->in_time, g->work[0], g->work[1], g->integrals, g->bumps_missing};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
}

kbass_status kb_weak_tile_integrate(const kb_weak_form *form, const kb_weak_tile *tile, kb_weak_message *message,
                                    kbass_error *error)
{
    integration g = {.form = form, .tile = tile};
    bool done = allocate(&g);
    if (done) integrate_pure(&g);
    if (done && tile->bare) done = integrate_impure(&g);
    if (done) {
        message->count += leave_out(&g);
        kb_gram(form->n, g.n_bumps, 1, g.integrals, g.n_bumps, 1, message->gram, form->n);
        kb_symmetrise(form->n, message->gram, form->n);
    }
    clear(&g);
    return done ? KBASS_OK : kb_out_of_memory(error, "the weak form");
}
