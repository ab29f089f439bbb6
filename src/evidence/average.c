#include "evidence/average.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/status.h"
#include "evidence/marginals.h"
#include "evidence/thresholds.h"
#include "weights/constraints.h"

enum { QUANTILE_STEPS = 45 };         /* halvings: of a quantile */
static const double nearly = 1. / 55; /* odds: of weights as other laws would have them, too; as bands count rivals */
static const double tails = 9;        /* sds about a mean beyond which nothing lies */

/* ---------------------------------------------------------------- the models and their shares */

/* The column that stands for one. */
static size_t stands_for(const kb_average *a, size_t column) { return a->same ? a->same->column[column] : column; }

static void add_model(kb_average *a, size_t fit, size_t added, double log_odds)
{
    const kb_support *support = &a->pool->fits[fit]->support;
    bool *has = a->has + a->n * a->columns->n;
    for (size_t q = 0; q < support->n; q++) has[stands_for(a, support->column[q])] = true;
    if (added != KB_NO_COLUMN) has[stands_for(a, added)] = true;
    if (added != KB_NO_COLUMN && a->neighbours[added].with != KB_NO_COLUMN) has[a->neighbours[added].with] = true;
    a->fit[a->n] = fit;
    a->added[a->n] = added;
    a->share[a->n++] = log_odds;
}

/* Two columns that come in together are one model. */
static bool is_counted(const kb_average *a, size_t column)
{
    size_t with = a->neighbours[column].with;
    bool is_second = with != KB_NO_COLUMN && with < column && a->neighbours[with].with == column;
    return a->neighbours[column].gain > -INFINITY && !is_second;
}

static double clamp(double x) { return fmin(fmax(x, 0), 1); }

/* The share of models that nobody compared (docs/math.md, eq. 24): where a law has more numbers than a third of the
   data, other laws that were not sought would do as well; and where there are more candidates than data, and the chosen
   law is one of many (`share`), those compared are its neighbours, which have in common what they come from. */
static double unseen(const kb_average *a, double share)
{
    const kb_fit *chosen = a->pool->fits[0];
    double values = chosen->values > 0 ? chosen->values : INFINITY;
    double by_numbers = clamp((chosen->effective / values - kb_threshold.used_up) / (1 - kb_threshold.used_up));
    double scant = clamp((double)a->columns->n / values - 1);
    double each = scant > 0 ? pow(share, 1 / (double)kb_columns_equations(a->columns)) : 1;
    return fmax(by_numbers, scant * clamp(1 - each / kb_threshold.one_of_many));
}

/* A number for each column whose sums differ where the columns do (Steele, Lea and Flood 2014). */
static uint64_t key_of(size_t column)
{
    uint64_t x = ((uint64_t)column + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The right-hand sides of a model, by the columns that it was fitted or extended with. */
static void note_sides(const kb_average *a, size_t model, uint64_t *side)
{
    const kb_support *support = &a->pool->fits[a->fit[model]]->support;
    const size_t *equation = a->columns->equation;
    size_t added = a->added[model], with = added != KB_NO_COLUMN ? a->neighbours[added].with : KB_NO_COLUMN;
    for (size_t q = 0; q < support->n; q++) side[equation[support->column[q]]] += key_of(support->column[q]);
    if (added != KB_NO_COLUMN) side[equation[added]] += key_of(added);
    if (with != KB_NO_COLUMN) side[equation[with]] += key_of(with);
}

static void list_models(kb_average *a)
{
    const kb_pool *pool = a->pool;
    for (size_t i = 0; i < pool->n && pool->fits[i]->valid; i++)
        add_model(a, i, KB_NO_COLUMN, kb_fit_log_odds(pool->fits[i], pool->fits[0]));
    for (size_t column = 0; a->neighbours && column < a->columns->n; column++)
        if (is_counted(a, column)) add_model(a, 0, column, kb_log_odds(a->neighbours[column].gain));
}

/* Shares of the models and of their right-hand sides. */
static kbass_status weigh_models(kb_average *a, kbass_error *error)
{
    static const double most_unseen = 0.99; /* share: what is left still says how the compared laws differ */
    static const double most = 200;         /* log-odds: of a run that was stopped, neighbours may be far better */
    double *odds = KB_NEW(double, a->n + 1);
    uint64_t *side = KB_NEW(uint64_t, a->n * a->equations + 1);
    kbass_status status = odds && side ? KBASS_OK : kb_out_of_memory(error, "the average over models");
    for (size_t m = 0; status == KBASS_OK && m < a->n; m++) {
        odds[m] = exp(fmin(a->share[m], most));
        note_sides(a, m, side + m * a->equations);
    }
    const kb_marginals models = {a->n, a->equations, odds, side, a->share, a->marginal};
    if (status == KBASS_OK) status = kb_marginals_fill(&models, error);
    if (status == KBASS_OK && a->n) a->unseen = fmin(unseen(a, a->share[0]), most_unseen);
    for (size_t m = 0; m < a->n; m++) a->share[m] *= 1 - a->unseen;
    for (size_t i = 0; i < a->n * a->equations; i++) a->marginal[i] *= 1 - a->unseen;
    kb_free(odds);
    kb_free(side);
    return status;
}

kbass_status kb_average_create(const kb_columns *columns, const kb_pool *pool, const kb_neighbour *neighbours,
                               const double *freedom, const kb_same *same, kb_average **out, kbass_error *error)
{
    size_t most = pool->n + columns->n;
    kb_average *a = KB_NEW(kb_average, 1);
    if (!a) return kb_out_of_memory(error, "the average over models");
    *a = (kb_average){.columns = columns, .pool = pool, .neighbours = neighbours, .freedom = freedom, .same = same};
    for (size_t c = 0; c < columns->n; c++)
        if (columns->equation[c] >= a->equations) a->equations = columns->equation[c] + 1;
    a->share = KB_NEW(double, most);
    a->marginal = KB_NEW(double, most * a->equations + 1);
    a->fit = KB_NEW(size_t, most);
    a->added = KB_NEW(size_t, most);
    a->has = KB_NEW(bool, most * columns->n);
    a->components = KB_NEW(kb_component, most);
    a->place = KB_NEW(size_t, pool->n);
    bool complete = a->share && a->marginal && a->fit && a->added && a->has && a->components && a->place;
    kbass_status status = complete ? KBASS_OK : kb_out_of_memory(error, "the average over models");
    if (complete) list_models(a);
    if (complete) status = weigh_models(a, error);
    if (status == KBASS_OK) *out = a;
    else kb_average_destroy(a);
    return status;
}

void kb_average_destroy(kb_average *a)
{
    if (!a) return;
    kb_free(a->share);
    kb_free(a->marginal);
    kb_free(a->fit);
    kb_free(a->added);
    kb_free(a->has);
    kb_free(a->components);
    kb_free(a->place);
    kb_free(a);
}

/* ---------------------------------------------------------------- one column */

bool kb_average_has(const kb_average *a, size_t model, size_t column) { return a->has[column + model * a->columns->n]; }

double kb_average_share(const kb_average *a, size_t model, size_t column)
{
    return a->marginal[a->columns->equation[column] + model * a->equations];
}

double kb_average_inclusion(const kb_average *a, size_t column)
{
    double sum = 0;
    if (a->columns->required[column]) return 1;
    for (size_t m = 0; m < a->n; m++)
        if (kb_average_has(a, m, column)) sum += kb_average_share(a, m, column);
    return fmin(sum, 1);
}

/* Degrees of freedom behind a column's weight: those of its state's noise. */
static double freedom_of(const kb_average *a, size_t column)
{
    double freedom = a->freedom ? a->freedom[a->columns->equation[column]] : INFINITY;
    return freedom > 0 ? freedom : INFINITY; /* NaN: the noise of a velocity that was not measured */
}

/* Does a fit have the column, or one that it stands for? */
static bool is_fitted(const kb_average *a, const kb_fit *fit, size_t column)
{
    for (size_t q = 0; q < fit->support.n; q++)
        if (stands_for(a, fit->support.column[q]) == column) return true;
    return false;
}

/* Is a column one that a model has beside its fit's? */
static bool is_added(const kb_average *a, size_t model, size_t column)
{
    size_t own = a->added[model];
    if (own == KB_NO_COLUMN || is_fitted(a, a->pool->fits[a->fit[model]], column)) return false;
    return stands_for(a, own) == column || a->neighbours[own].with == column;
}

static double ratio_of(const kb_average *a, size_t column) { return a->same ? a->same->ratio[column] : 1; }

/* sum_q r_q w_q and sum_qp r_q r_p V_qp over the fit's columns that one stands for */
static void fitted(const kb_average *a, const kb_fit *fit, size_t column, double *mean, double *square)
{
    size_t k = fit->support.n;
    *mean = *square = 0;
    for (size_t q = 0; q < k; q++) {
        size_t c = fit->support.column[q];
        if (stands_for(a, c) != column) continue;
        *mean += ratio_of(a, c) * fit->w[c];
        for (size_t p = 0; p < k; p++)
            if (stands_for(a, fit->support.column[p]) == column)
                *square += ratio_of(a, c) * ratio_of(a, fit->support.column[p]) * fit->covariance[q + p * k];
    }
}

/* How a model's neighbour takes the weights of its equation along that it was fitted with; NULL: it leaves them. */
static const double *shift_of(const kb_average *a, size_t model, size_t column)
{
    size_t added = a->added[model];
    bool is_near = added != KB_NO_COLUMN && a->columns->equation[added] == a->columns->equation[column];
    return is_near ? a->neighbours[added].shift : NULL;
}

/* w_q - t_q w_c and V_qq + t_q^2 v_c: a column c was added, t = M G_Sc */
static void take_along(const kb_average *a, size_t model, size_t column, double *mean, double *square)
{
    const kb_fit *fit = a->pool->fits[a->fit[model]];
    const kb_neighbour *added = &a->neighbours[a->added[model]];
    double shift = 0;
    for (size_t q = 0; q < fit->support.n; q++) {
        size_t c = fit->support.column[q];
        if (stands_for(a, c) == column) shift += ratio_of(a, c) * added->shift[q];
    }
    *mean -= shift * added->mean;
    *square += shift * shift * added->variance;
}

/* Mean and squared scale of a column's weight in a model that has it. */
static void component(const kb_average *a, size_t model, size_t column, double *mean, double *square)
{
    const kb_fit *fit = a->pool->fits[a->fit[model]];
    if (!is_added(a, model, column)) {
        fitted(a, fit, column, mean, square);
        if (shift_of(a, model, column)) take_along(a, model, column, mean, square);
        return;
    }
    size_t own = a->added[model], from = stands_for(a, own) == column ? own : column;
    *mean = ratio_of(a, from) * a->neighbours[from].mean;
    *square = pow(ratio_of(a, from), 2) * a->neighbours[from].variance;
}

/* The square of Student's width over that of its scale. */
static double student_square(double freedom) { return pow(kb_student_width(freedom), 2); }

/* The distinct weights that a column has among the models that have it, with the shares of those where it is the same:
   neighbours that leave the weights of the model they come from. */
static size_t list_components(const kb_average *a, size_t column)
{
    size_t n = 0;
    for (size_t i = 0; i < a->pool->n; i++) a->place[i] = KB_NO_COLUMN;
    for (size_t m = 0; m < a->n; m++) {
        kb_component one = {.share = kb_average_share(a, m, column)};
        if (!kb_average_has(a, m, column) || !(one.share > 0)) continue;
        size_t *place = is_added(a, m, column) || shift_of(a, m, column) ? NULL : &a->place[a->fit[m]];
        if (place && *place != KB_NO_COLUMN) {
            a->components[*place].share += one.share;
            continue;
        }
        component(a, m, column, &one.mean, &one.square);
        if (place) *place = n;
        a->components[n++] = one;
    }
    return n;
}

/* E w = sum pi_m w_m,   var w = sum pi_m (v_m + w_m^2) - (E w)^2 */
void kb_average_weight(const kb_average *a, size_t column, double *mean, double *variance)
{
    double sum = 0, squares = 0, factor = student_square(freedom_of(a, column));
    size_t n = list_components(a, column);
    for (size_t i = 0; i < n; i++) {
        const kb_component *c = &a->components[i];
        sum += c->share * c->mean;
        squares += c->share * (factor * c->square + c->mean * c->mean);
    }
    *mean = sum;
    *variance = fmax(squares - sum * sum, 0);
}

/* ---------------------------------------------------------------- the mixture, given that a column is in */

/* P(weight <= w) of one model, cut at the bounds that the weight has. */
static double share_of_component(const kb_average *a, size_t column, double mean, double square, double w)
{
    const kb_constraints *c = a->columns->constraints;
    double scale = sqrt(square), freedom = freedom_of(a, column);
    if (!(square > 0)) return w >= mean;
    double below = kb_student_below((w - mean) / scale, freedom);
    if (!c) return below;
    double low = c->low[column] > -INFINITY ? kb_student_below((c->low[column] - mean) / scale, freedom) : 0,
           high = c->high[column] < INFINITY ? kb_student_below((c->high[column] - mean) / scale, freedom) : 1;
    return fmin(fmax((below - low) / (high - low), 0), 1);
}

/* sum_m pi_m F((w - w_m) / s_m), F Student's distribution */
static double share_below(const kb_average *a, size_t column, size_t n, double w)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const kb_component *c = &a->components[i];
        sum += c->share * share_of_component(a, column, c->mean, c->square, w);
    }
    return sum;
}

static double quantile(const kb_average *a, size_t column, size_t n, double share, double low, double high)
{
    for (int i = 0; i < QUANTILE_STEPS; i++) {
        double middle = 0.5 * (low + high);
        if (share_below(a, column, n, middle) < share) low = middle;
        else high = middle;
    }
    return 0.5 * (low + high);
}

/* Laws that nobody sought are like those that come near, and not most like the best of them: their share goes to the
   weights of all of these alike. */
static void add_unseen(const kb_average *a, size_t n)
{
    double total = 0, most = 0, near = 0;
    for (size_t i = 0; i < n; i++) {
        total += a->components[i].share;
        most = fmax(most, a->components[i].share);
    }
    for (size_t i = 0; i < n; i++) near += a->components[i].share >= nearly * most;
    for (size_t i = 0; i < n; i++)
        if (a->components[i].share >= nearly * most)
            a->components[i].share += a->unseen / (1 - a->unseen) * total / near;
}

void kb_average_interval(const kb_average *a, size_t column, double *sd, double *low, double *high)
{
    double total = 0, sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    double factor = student_square(freedom_of(a, column));
    size_t n = list_components(a, column);
    add_unseen(a, n);
    for (size_t i = 0; i < n; i++) {
        const kb_component *c = &a->components[i];
        double variance = factor * c->square;
        total += c->share;
        sum += c->share * c->mean;
        squares += c->share * (variance + c->mean * c->mean);
        least = fmin(least, c->mean - tails * sqrt(variance));
        most = fmax(most, c->mean + tails * sqrt(variance));
    }
    *sd = *low = *high = NAN;
    if (!(total > 0) || !isfinite(squares)) return;
    *sd = sqrt(fmax(squares / total - sum / total * (sum / total), 0));
    *low = quantile(a, column, n, 0.025 * total, least, most);
    *high = quantile(a, column, n, 0.975 * total, least, most);
}
