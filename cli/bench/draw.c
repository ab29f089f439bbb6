#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const bench_draw_kinds[DRAW_KINDS] = {"law",    "few",    "noise",   "walk", "smooth",
                                                  "growth", "hidden", "outside", "many"};

static const char names[] = "xyz";
static const double most = 20, least_sd = 0.02;
enum { TRIES = 1000 };

/* splitmix64 */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static size_t choose(uint64_t *random, size_t n) { return (size_t)(uniform(random) * (double)n); }

/* All exponents up to a total degree are alike. */
static void draw_term(uint64_t *random, size_t n_states, char term[DRAW_TERM_SIZE])
{
    size_t power[DRAW_STATES], degree, used = 0;
    do {
        degree = 0;
        for (size_t i = 0; i < n_states; i++) degree += power[i] = choose(random, DRAW_DEGREE + 1);
    } while (degree > DRAW_DEGREE);
    term[0] = '\0';
    for (size_t i = 0; i < n_states; i++) {
        if (!power[i]) continue;
        used += (size_t)snprintf(term + used, DRAW_TERM_SIZE - used, "%s%c", used ? "*" : "", names[i]);
        if (power[i] > 1) used += (size_t)snprintf(term + used, DRAW_TERM_SIZE - used, "^%zu", power[i]);
    }
    if (!used) strcpy(term, "1");
}

double bench_draw_weight(const bench_draw *d, size_t state, const char *term)
{
    for (size_t j = 0; j < d->n_terms[state]; j++)
        if (!strcmp(d->term[state][j], term)) return d->weight[state][j];
    return 0;
}

static void draw_equation(uint64_t *random, bench_draw *d, size_t state)
{
    size_t wanted = 1 + choose(random, DRAW_TERMS), used;
    char *text = d->equation[state];
    d->n_terms[state] = 0;
    used = (size_t)snprintf(text, DRAW_EQUATION_SIZE, "%c_t =", names[state]);
    while (d->n_terms[state] < wanted) {
        char term[DRAW_TERM_SIZE];
        draw_term(random, d->n_states, term);
        if (bench_draw_weight(d, state, term) != 0) continue;
        double size = 0.3 + 1.7 * uniform(random), sign = uniform(random) < 0.5 ? -1 : 1;
        size_t j = d->n_terms[state]++;
        strcpy(d->term[state][j], term);
        d->weight[state][j] = sign * round(100 * size) / 100;
        used += (size_t)snprintf(text + used, DRAW_EQUATION_SIZE - used, " %s%.2f*%s", j ? "+ " : "",
                                 d->weight[state][j], term);
    }
}

/* A term that no polynomial has, in place of an equation's first. */
static void draw_outside(uint64_t *random, bench_draw *d, size_t state)
{
    static const char *const forms[] = {"sin(4*%c)", "1/(1+8*%c^2)", "abs(%c)", "exp(-3*%c^2)"};
    size_t form = choose(random, sizeof forms / sizeof *forms), used = 0;
    char *text = d->equation[state];
    double weight = (uniform(random) < 0.5 ? -1 : 1) * (1 + uniform(random));
    used = (size_t)snprintf(text, DRAW_EQUATION_SIZE, "%c_t = %.2f*", names[state], weight);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    used += (size_t)snprintf(text + used, DRAW_EQUATION_SIZE - used, forms[form],
                             names[(state + d->n_states - 1) % d->n_states]);
#pragma GCC diagnostic pop
    if (d->n_states > 1 || uniform(random) < 0.5)
        snprintf(text + used, DRAW_EQUATION_SIZE - used, " - %.2f*%c", 0.3 + uniform(random), names[state]);
    d->n_terms[state] = 0;
}

/* Bounded over both records, and moving in the first. */
static bool is_fit_to_measure(const bench_draw *d)
{
    for (size_t i = 0; i < d->n_states; i++) {
        double sum = 0, squares = 0;
        for (size_t k = 0; k < 2 * DRAW_FINE; k++) {
            double value = d->states[k * d->n_states + i];
            if (!(fabs(value) <= most)) return false;
            if (k < DRAW_FINE) sum += value, squares += value * value;
        }
        if (!(squares / DRAW_FINE - pow(sum / DRAW_FINE, 2) > least_sd * least_sd)) return false;
    }
    return true;
}

static double normal(uint64_t *random)
{
    return sqrt(-2 * log(1 - uniform(random))) * cos(6.283185307179586 * uniform(random));
}

/* One state's values without a law. */
static void draw_curve(uint64_t *random, bench_draw_kind kind, size_t n, double *values, size_t stride)
{
    enum { MODES = 6 };
    double walk = 0, weight[MODES], phase[MODES];
    for (size_t m = 0; m < MODES; m++) weight[m] = normal(random), phase[m] = 6.283185307179586 * uniform(random);
    for (size_t k = 0; k < n; k++) {
        double s = (double)k / (double)(n - 1), smooth = 0, step = normal(random);
        for (size_t m = 0; m < MODES; m++) smooth += weight[m] * cos(2.7 * (double)(m + 1) * s + phase[m]);
        walk += step;
        values[k * stride] = kind == DRAW_NOISE ? step : kind == DRAW_WALK ? walk : smooth;
    }
}

/* Logistic growth, saturation or decay. */
static void draw_growth(uint64_t *random, const double *times, size_t n, double *values)
{
    size_t form = choose(random, 3);
    double rate = 0.5 + uniform(random), start = 0.05 + 0.15 * uniform(random);
    for (size_t k = 0; k < n; k++) {
        double decay = exp(-rate * times[k]);
        values[k] = form == 0 ? 1 / (1 + (1 / start - 1) * decay) : form == 1 ? 1 - decay : 2 * decay;
    }
}

static kbass_status draw_without_law(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *d,
                                     kbass_error *error)
{
    static const size_t samples[] = {10, 20, 30, 40};
    double times[64], values[64 * DRAW_STATES] = {0};
    const char *labels[] = {"x", "y", "z"};
    memset(d, 0, sizeof *d);
    d->n_states = kind == DRAW_GROWTH ? 1 : 1 + choose(random, 2);
    d->n_samples = samples[choose(random, 4)];
    d->noise = kind == DRAW_NOISE || kind == DRAW_WALK ? 0
               : kind == DRAW_SMOOTH                   ? 5
                                                       : 5 * (double)(1 + choose(random, 4));
    d->span = 8;
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    for (size_t i = 0; i < d->n_states && kind != DRAW_GROWTH; i++)
        draw_curve(random, kind, d->n_samples, values + i, d->n_states);
    if (kind == DRAW_GROWTH) draw_growth(random, times, d->n_samples, values);
    kbass_status status = kbass_data_create(d->n_samples, d->n_states, times, values, "t", labels, &d->data, error);
    return status == KBASS_OK && d->noise > 0 ? kbass_data_add_noise(d->data, d->noise, seed, error) : status;
}

/* Samples at even times, with noise. */
static kbass_status sample(const kbass_model *model, const double *start, uint64_t seed, bench_draw_kind kind,
                           bench_draw *d, kbass_error *error)
{
    double times[64], values[64 * DRAW_STATES];
    const char *labels[] = {"x", "y", "z"};
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    kbass_status status = kbass_model_integrate(model, 0, start, d->n_samples, times, values, error);
    size_t measured = kind == DRAW_HIDDEN ? d->n_states - 1 : d->n_states;
    for (size_t k = 0; k < d->n_samples; k++)
        memmove(values + k * measured, values + k * d->n_states, measured * sizeof *values);
    if (status == KBASS_OK)
        status = kbass_data_create(d->n_samples, measured, times, values, "t", labels, &d->data, error);
    if (status == KBASS_OK) status = kbass_data_add_noise(d->data, d->noise, seed, error);
    return status;
}

static kbass_status try_draw(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *d, kbass_error *error)
{
    static const size_t samples[] = {20, 30, 40, 60}, few[] = {6, 8, 11, 15};
    static const double noises[] = {1, 2, 5, 10, 20};
    const char *equations[DRAW_STATES];
    double start[DRAW_STATES];
    kbass_model *model = NULL;
    memset(d, 0, sizeof *d);
    bool has_several = kind == DRAW_HIDDEN || kind == DRAW_MANY;
    d->n_states = has_several ? 2 + choose(random, DRAW_STATES - 1) : 1 + choose(random, DRAW_STATES);
    for (size_t i = 0; i < d->n_states; i++) {
        draw_equation(random, d, i);
        if (kind == DRAW_OUTSIDE) draw_outside(random, d, i);
        equations[i] = d->equation[i];
        start[i] = 3 * uniform(random) - 1.5;
    }
    d->n_samples = (kind == DRAW_FEW || kind == DRAW_MANY ? few : samples)[choose(random, 4)];
    d->noise = noises[choose(random, 5)];
    d->span = choose(random, 2) ? 8 : 4;
    for (size_t k = 0; k < 2 * DRAW_FINE; k++) d->times[k] = d->span * (double)k / (DRAW_FINE - 1);
    kbass_status status = kbass_model_parse(d->n_states, equations, &model, error);
    if (status == KBASS_OK) status = kbass_model_integrate(model, 0, start, 2 * DRAW_FINE, d->times, d->states, error);
    if (status == KBASS_OK && is_fit_to_measure(d)) status = sample(model, start, seed, kind, d, error);
    kbass_model_destroy(model);
    return status;
}

bool bench_draw_make(uint64_t seed, bench_draw_kind kind, bench_draw *d)
{
    bool has_law = kind == DRAW_LAW || kind == DRAW_FEW || kind >= DRAW_HIDDEN;
    uint64_t random = seed;
    kbass_error error;
    for (int i = 0; i < TRIES; i++) {
        kbass_status status =
            has_law ? try_draw(&random, seed, kind, d, &error) : draw_without_law(&random, seed, kind, d, &error);
        if (status == KBASS_OK && d->data) return true;
        bench_draw_clear(d);
        if (status == KBASS_ERROR_MEMORY) return false;
    }
    return false;
}

void bench_draw_clear(bench_draw *d)
{
    kbass_data_destroy(d->data);
    d->data = NULL;
}
