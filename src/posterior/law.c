#include "posterior/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { STENCIL = KB_LAW_STENCIL }; /* room: as there */
enum { POINTS_AT_ONCE = 5000 };    /* room: points at a time */

/* Where the solution is wanted around each point: along time, then a box of space. */
typedef struct {
    double time;
    size_t place; /* in the order of the points */
} sample;

typedef struct {
    const kb_law *law;
    size_t n, n_space, box, each; /* points; samples in a box, and of each point in all */
    size_t width[KB_MAX_AXES];    /* of the stencil along each axis: 1 where nothing is differentiated */
    double *origin;               /* n x n_axes: the first coordinate of each stencil */
    sample *samples;
    double *times, *positions, *sorted, *values; /* n * each samples */
    double *variables, *work, *terms;
} sheet;

/* ---------------------------------------------------------------- stencils */

/* Fornberg (1988) */
void kb_difference_weights(size_t width, double first, double step, double x, int order, double *weights)
{
    double c[STENCIL][KB_HIGHEST_ORDER + 1] = {{1}}, c1 = 1, c4 = first - x;
    for (size_t i = 1; i < width; i++) {
        double here = first + (double)i * step, c2 = 1, c5 = c4;
        c4 = here - x;
        for (size_t j = 0; j < i; j++) {
            double c3 = (double)(i - j) * step;
            c2 *= c3;
            for (int m = order; j == i - 1 && m >= 0; m--)
                c[i][m] = c1 * ((m ? m * c[i - 1][m - 1] : 0) - c5 * c[i - 1][m]) / c2;
            for (int m = order; m >= 0; m--) c[j][m] = (c4 * c[j][m] - (m ? m * c[j][m - 1] : 0)) / c3;
        }
        c1 = c2;
    }
    for (size_t i = 0; i < width; i++) weights[i] = c[i][order];
}

/* The stencil around x that stays within [low, high]; it shrinks where that is too narrow. */
static double first_of(double x, double low, double high, double step)
{
    return fmax(fmin(x - STENCIL / 2 * step, high - (STENCIL - 1) * step), low);
}

/* The stretch between two jumps in which a time lies; a jump itself belongs to the stretch before it. */
static void stretch_of(const kb_law *law, double time, double *low, double *high)
{
    double slack = 1e-9 * (law->high[0] - law->low[0]);
    *low = law->low[0];
    *high = law->high[0];
    for (size_t i = 0; i < law->n_borders; i++) {
        if (law->borders[i] < time) *low = law->borders[i] + slack;
        else *high = fmin(*high, law->borders[i]);
    }
}

/* ---------------------------------------------------------------- samples */

static int by_time(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void place_samples(sheet *s, const double *times, const double *positions)
{
    const kb_law *law = s->law;
    for (size_t p = 0; p < s->n; p++) {
        const double *at = positions ? positions + p * s->n_space : NULL;
        double *origin = s->origin + p * (s->n_space + 1), low, high;
        stretch_of(law, times[p], &low, &high);
        origin[0] = first_of(times[p], low, high, law->step[0]);
        for (size_t a = 1; a <= s->n_space; a++)
            origin[a] = s->width[a] > 1 ? first_of(at[a - 1], law->low[a], law->high[a], law->step[a]) : at[a - 1];
        for (size_t k = 0; k < s->each; k++) {
            size_t place = p * s->each + k, rest = k - STENCIL;
            s->samples[place] = (sample){k < STENCIL ? origin[0] + (double)k * law->step[0] : times[p], place};
            for (size_t a = s->n_space; a > 0; a--) {
                double shift = k < STENCIL ? at[a - 1] - origin[a] : (double)(rest % s->width[a]) * law->step[a];
                s->positions[place * s->n_space + a - 1] = origin[a] + shift;
                rest /= s->width[a];
            }
        }
    }
}

static kbass_status solve(sheet *s, kbass_error *error)
{
    size_t n = s->n * s->each, states = s->law->dictionary->n_states, space = s->n_space;
    double *found = s->values + n * states; /* in the order of time */
    qsort(s->samples, n, sizeof *s->samples, by_time);
    for (size_t i = 0; i < n; i++) {
        s->times[i] = s->samples[i].time;
        if (space) memcpy(s->sorted + i * space, s->positions + s->samples[i].place * space, space * sizeof *s->sorted);
    }
    kbass_status status = s->law->solution(s->law->context, n, s->times, space ? s->sorted : NULL, found, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        memcpy(s->values + s->samples[i].place * states, found + i * states, states * sizeof *found);
    return status;
}

/* ---------------------------------------------------------------- both sides */

static double time_derivative(const sheet *s, size_t p, double time, size_t state)
{
    const kb_dictionary *d = s->law->dictionary;
    double weights[STENCIL], sum = 0;
    kb_difference_weights(STENCIL, s->origin[p * (s->n_space + 1)], s->law->step[0], time, d->time_order, weights);
    for (size_t k = 0; k < STENCIL; k++) sum += weights[k] * s->values[(p * s->each + k) * d->n_states + state];
    return sum;
}

/* A field or one of its space derivatives: sum over the box of products of the axes' weights. */
static double space_derivative(const sheet *s, size_t p, const double *at, const kb_variable *variable)
{
    const kb_law *law = s->law;
    double weights[KB_MAX_AXES][STENCIL] = {{0}}, sum = 0;
    const double *box = s->values + (p * s->each + STENCIL) * law->dictionary->n_states;
    for (size_t a = 1; a <= s->n_space; a++)
        kb_difference_weights(s->width[a], s->origin[p * (s->n_space + 1) + a], law->step[a], at[a - 1],
                              variable->order[a], weights[a]);
    for (size_t k = 0; k < s->box; k++) {
        double product = 1;
        for (size_t a = s->n_space, rest = k; a > 0; rest /= s->width[a--]) product *= weights[a][rest % s->width[a]];
        sum += product * box[k * law->dictionary->n_states + variable->field];
    }
    return sum;
}

static void fill_sides(sheet *s, const double *times, const double *positions, double *lhs, double *rhs)
{
    const kb_dictionary *d = s->law->dictionary;
    for (size_t p = 0; p < s->n; p++) {
        const double *at = positions ? positions + p * s->n_space : NULL;
        for (size_t v = 0; v < d->n_variables; v++) {
            const kb_variable *variable = &d->variables[v];
            double axis = variable->axis > 0 ? at[variable->axis - 1] : times[p];
            s->variables[p + v * s->n] = variable->axis >= 0 ? axis : space_derivative(s, p, at, variable);
        }
        for (size_t i = 0; i < d->n_states; i++) {
            lhs[p * d->n_states + i] = time_derivative(s, p, times[p], i);
            rhs[p * d->n_states + i] = 0;
        }
    }
    for (size_t term = 0; term < d->n_terms; term++) {
        bool is_used = false;
        for (size_t i = 0; i < d->n_states; i++) is_used = is_used || s->law->weights[term + i * d->n_terms] != 0;
        if (!is_used) continue;
        kb_dictionary_values(d, 1, &term, s->n, s->variables, s->n, s->terms, s->work);
        for (size_t p = 0; p < s->n; p++)
            for (size_t i = 0; i < d->n_states; i++)
                rhs[p * d->n_states + i] += s->law->weights[term + i * d->n_terms] * s->terms[p];
    }
}

/* ---------------------------------------------------------------- life */

static void sheet_clear(sheet *s)
{
    double *arrays[] = {s->origin, s->times, s->positions, s->sorted, s->values, s->variables, s->work, s->terms};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(s->samples);
}

static kbass_status sheet_init(sheet *s, const kb_law *law, size_t n, kbass_error *error)
{
    const kb_dictionary *d = law->dictionary;
    *s = (sheet){.law = law, .n_space = d->n_axes - 1, .box = 1};
    for (size_t a = 1; a < d->n_axes; a++) {
        s->width[a] = 1;
        for (size_t v = 0; v < d->n_variables; v++)
            if (d->variables[v].axis < 0 && d->variables[v].order[a] > 0) s->width[a] = STENCIL;
        s->box *= s->width[a];
    }
    s->each = STENCIL + s->box;
    size_t total = n * s->each;
    s->origin = KB_NEW(double, n * d->n_axes);
    s->samples = KB_NEW(sample, total);
    s->times = KB_NEW(double, total);
    s->positions = KB_NEW(double, total * s->n_space + 1);
    s->sorted = KB_NEW(double, total * s->n_space + 1);
    s->values = KB_NEW(double, 2 * total * d->n_states);
    s->variables = KB_NEW(double, n * d->n_variables);
    s->work = KB_NEW(double, kb_dictionary_work(d, n));
    s->terms = KB_NEW(double, n);
    bool complete = s->origin && s->samples && s->times && s->positions && s->sorted && s->values && s->variables &&
                    s->work && s->terms;
    return complete ? KBASS_OK : kb_out_of_memory(error, "the residual of the law");
}

kbass_status kb_law_sides(const kb_law *law, size_t n, const double *times, const double *positions, double *lhs,
                          double *rhs, kbass_error *error)
{
    sheet s;
    size_t states = law->dictionary->n_states, room = n < POINTS_AT_ONCE ? n : POINTS_AT_ONCE;
    kbass_status status = sheet_init(&s, law, room, error);
    for (size_t done = 0; status == KBASS_OK && done < n; done += s.n) {
        const double *at = positions ? positions + done * s.n_space : NULL;
        s.n = n - done < room ? n - done : room;
        place_samples(&s, times + done, at);
        status = solve(&s, error);
        if (status == KBASS_OK) fill_sides(&s, times + done, at, lhs + done * states, rhs + done * states);
    }
    sheet_clear(&s);
    return status;
}
