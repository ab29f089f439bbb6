#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw_field.h"
#include "draw_information.h"
#include "draw_random.h"

const char *const bench_draw_kinds[DRAW_KINDS] = {"law",    "few",           "noise",        "walk", "smooth",
                                                  "growth", "hidden",        "outside",      "many", "decidable",
                                                  "field",  "lawless-field", "foreign-field"};

static const char names[] = "xyz";
static const double most = 20, least_sd = 0.02;
enum { TRIES = 1000 };

/* All exponents up to a total degree are alike. */
static void draw_term(uint64_t *random, size_t n_states, char term[DRAW_TERM_SIZE])
{
    size_t power[DRAW_STATES], degree, used = 0;
    do {
        degree = 0;
        for (size_t i = 0; i < n_states; i++) degree += power[i] = bench_among(random, DRAW_DEGREE + 1);
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
    size_t wanted = 1 + bench_among(random, DRAW_TERMS), used;
    char *text = d->equation[state];
    d->n_terms[state] = 0;
    used = (size_t)snprintf(text, DRAW_EQUATION_SIZE, "%c_t =", names[state]);
    while (d->n_terms[state] < wanted) {
        char term[DRAW_TERM_SIZE];
        draw_term(random, d->n_states, term);
        if (bench_draw_weight(d, state, term) != 0) continue;
        double size = 0.3 + 1.7 * bench_uniform(random), sign = bench_uniform(random) < 0.5 ? -1 : 1;
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
    size_t form = bench_among(random, sizeof forms / sizeof *forms), used = 0;
    char *text = d->equation[state];
    double weight = (bench_uniform(random) < 0.5 ? -1 : 1) * (1 + bench_uniform(random));
    used = (size_t)snprintf(text, DRAW_EQUATION_SIZE, "%c_t = %.2f*", names[state], weight);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    used += (size_t)snprintf(text + used, DRAW_EQUATION_SIZE - used, forms[form],
                             names[(state + d->n_states - 1) % d->n_states]);
#pragma GCC diagnostic pop
    if (d->n_states > 1 || bench_uniform(random) < 0.5)
        snprintf(text + used, DRAW_EQUATION_SIZE - used, " - %.2f*%c", 0.3 + bench_uniform(random), names[state]);
    d->n_terms[state] = 0;
}

/* An oscillator that no polynomial of low degree has: relays, dry friction, a spring with play, little noise. */
static void draw_oscillator(uint64_t *random, bench_draw *d)
{
    static const char *const forms[] = {"y_t = %.2f*tanh(-10*x) - %.2f*y", "y_t = -%.2f*x - %.2f*tanh(20*y)",
                                        "y_t = %.2f*sin(-5*x) - %.2f*y", "y_t = -%.2f*x*step(abs(x) - 0.6) - %.2f*y"};
    double stiffness = 1 + bench_uniform(random), friction = 0.05 + 0.15 * bench_uniform(random);
    d->n_states = 2;
    snprintf(d->equation[0], DRAW_EQUATION_SIZE, "x_t = y");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(d->equation[1], DRAW_EQUATION_SIZE, forms[bench_among(random, 4)], stiffness, friction);
#pragma GCC diagnostic pop
    d->start[0] = 0.8 + bench_uniform(random);
    d->start[1] = 2 * bench_uniform(random) - 1;
    d->n_samples = bench_among(random, 2) ? 60 : 40;
    d->noise = bench_among(random, 2) ? 2 : 1;
    d->span = 8;
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

/* One state's values without a law. */
static void draw_curve(uint64_t *random, bench_draw_kind kind, size_t n, double *values, size_t stride)
{
    enum { MODES = 6 };
    double walk = 0, weight[MODES], phase[MODES];
    for (size_t m = 0; m < MODES; m++)
        weight[m] = bench_normal(random), phase[m] = 6.283185307179586 * bench_uniform(random);
    for (size_t k = 0; k < n; k++) {
        double s = (double)k / (double)(n - 1), smooth = 0, step = bench_normal(random);
        for (size_t m = 0; m < MODES; m++) smooth += weight[m] * cos(2.7 * (double)(m + 1) * s + phase[m]);
        walk += step;
        values[k * stride] = kind == DRAW_NOISE ? step : kind == DRAW_WALK ? walk : smooth;
    }
}

static kbass_status draw_without_law(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *d,
                                     kbass_error *error)
{
    static const size_t samples[] = {10, 20, 30, 40};
    double times[DRAW_SAMPLES], values[DRAW_SAMPLES * DRAW_STATES] = {0};
    const char *labels[] = {"x", "y", "z"};
    memset(d, 0, sizeof *d);
    d->n_states = 1 + bench_among(random, 2);
    d->n_samples = samples[bench_among(random, 4)];
    d->noise = kind == DRAW_SMOOTH ? 5 : 0;
    d->span = 8;
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    for (size_t i = 0; i < d->n_states; i++) draw_curve(random, kind, d->n_samples, values + i, d->n_states);
    kbass_status status = kbass_data_create(d->n_samples, d->n_states, times, values, "t", labels, &d->data, error);
    return status == KBASS_OK ? bench_draw_measure(d, seed, error) : status;
}

/* Samples at even times, with noise. */
static kbass_status sample(const kbass_model *model, uint64_t seed, bench_draw_kind kind, bench_draw *d,
                           kbass_error *error)
{
    double times[DRAW_SAMPLES], values[DRAW_SAMPLES * DRAW_STATES];
    const char *labels[] = {"x", "y", "z"};
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    kbass_status status = kbass_model_integrate(model, 0, d->start, d->n_samples, times, values, error);
    size_t measured = kind == DRAW_HIDDEN ? d->n_states - 1 : d->n_states;
    for (size_t k = 0; k < d->n_samples; k++)
        memmove(values + k * measured, values + k * d->n_states, measured * sizeof *values);
    if (status == KBASS_OK)
        status = kbass_data_create(d->n_samples, measured, times, values, "t", labels, &d->data, error);
    return status == KBASS_OK ? bench_draw_measure(d, seed, error) : status;
}

/* Logistic growth, saturation or decay. */
static void draw_growth(uint64_t *random, bench_draw *d)
{
    static const char *const terms[][2] = {{"x", "x^2"}, {"1", "x"}, {"x", ""}};
    static const double signs[][2] = {{1, -1}, {1, -1}, {-1, 0}};
    size_t form = bench_among(random, 3), used;
    double rate = 0.5 + bench_uniform(random), start = 0.05 + 0.15 * bench_uniform(random);
    d->start[0] = form == 0 ? start : form == 1 ? 0 : 2;
    used = (size_t)snprintf(d->equation[0], DRAW_EQUATION_SIZE, "x_t =");
    for (size_t j = 0; j < 2 && *terms[form][j]; j++) {
        strcpy(d->term[0][j], terms[form][j]);
        d->weight[0][j] = signs[form][j] * rate;
        d->n_terms[0]++;
        used += (size_t)snprintf(d->equation[0] + used, DRAW_EQUATION_SIZE - used, " %s%.17g*%s", j ? "+ " : "",
                                 d->weight[0][j], terms[form][j]);
    }
}

static void draw_system(uint64_t *random, bench_draw_kind kind, bench_draw *d)
{
    static const size_t samples[] = {20, 30, 40, 60}, few[] = {6, 8, 11, 15}, short_ones[] = {10, 20, 30, 40};
    static const double noises[] = {1, 2, 5, 10, 20};
    bool has_several = kind == DRAW_HIDDEN || kind == DRAW_MANY, is_small = kind == DRAW_DECIDABLE;
    memset(d, 0, sizeof *d);
    if (kind == DRAW_GROWTH || (is_small && bench_among(random, 3) == 0)) {
        d->n_states = 1;
        draw_growth(random, d);
        d->n_samples = short_ones[bench_among(random, 4)];
        d->noise = 5 * (double)(1 + bench_among(random, 4));
        d->span = 8;
        return;
    }
    if (kind == DRAW_OUTSIDE && bench_among(random, 2) == 0) {
        draw_oscillator(random, d);
        return;
    }
    d->n_states = is_small      ? 1 + bench_among(random, 2)
                  : has_several ? 2 + bench_among(random, DRAW_STATES - 1)
                                : 1 + bench_among(random, DRAW_STATES);
    for (size_t i = 0; i < d->n_states; i++) {
        draw_equation(random, d, i);
        if (kind == DRAW_OUTSIDE) draw_outside(random, d, i);
        d->start[i] = 3 * bench_uniform(random) - 1.5;
    }
    d->n_samples = (kind == DRAW_FEW || kind == DRAW_MANY ? few : samples)[bench_among(random, 4)];
    d->noise = noises[bench_among(random, 5)];
    d->span = bench_among(random, 2) ? 8 : 4;
}

static kbass_status try_draw(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *d, kbass_error *error)
{
    const char *equations[DRAW_STATES];
    kbass_model *model = NULL;
    draw_system(random, kind, d);
    for (size_t i = 0; i < d->n_states; i++) equations[i] = d->equation[i];
    for (size_t k = 0; k < 2 * DRAW_FINE; k++) d->times[k] = d->span * (double)k / (DRAW_FINE - 1);
    kbass_status status = kbass_model_parse(d->n_states, equations, NULL, &model, error);
    if (status == KBASS_OK)
        status = kbass_model_integrate(model, 0, d->start, 2 * DRAW_FINE, d->times, d->states, error);
    if (status == KBASS_OK && is_fit_to_measure(d)) status = sample(model, seed, kind, d, error);
    if (status == KBASS_OK && d->data && bench_draw_has_terms(kind)) status = bench_draw_inform(d, error);
    if (status == KBASS_OK && kind == DRAW_DECIDABLE && !(d->clearness >= bench_decidable)) bench_draw_clear(d);
    kbass_model_destroy(model);
    return status;
}

bool bench_draw_has_terms(bench_draw_kind kind)
{
    return kind == DRAW_LAW || kind == DRAW_FEW || kind == DRAW_GROWTH || kind == DRAW_MANY || kind == DRAW_DECIDABLE ||
           kind == DRAW_FIELD;
}

bool bench_draw_is_field(bench_draw_kind kind)
{
    return kind == DRAW_FIELD || kind == DRAW_FIELD_NONE || kind == DRAW_FIELD_OUTSIDE;
}

kbass_status bench_draw_measure(bench_draw *d, uint64_t seed, kbass_error *error)
{
    size_t n = kbass_data_rows(d->data), n_states = kbass_data_states(d->data);
    const double *values = kbass_data_values(d->data);
    for (size_t i = 0; i < n_states; i++) {
        double sum = 0, squares = 0;
        for (size_t k = 0; k < n; k++) sum += values[k * n_states + i];
        for (size_t k = 0; k < n; k++) squares += pow(values[k * n_states + i] - sum / (double)n, 2);
        d->sigma[i] = d->noise / 100 * sqrt(squares / (double)n);
    }
    kbass_status status = kbass_data_pick(d->data, 0, &d->clean, error);
    return status == KBASS_OK && d->noise > 0 ? kbass_data_add_noise(d->data, d->noise, seed, error) : status;
}

bool bench_draw_make(uint64_t seed, bench_draw_kind kind, bench_draw *d)
{
    bool is_field = bench_draw_is_field(kind);
    bool is_curve = kind == DRAW_NOISE || kind == DRAW_WALK || kind == DRAW_SMOOTH;
    uint64_t random = seed;
    kbass_error error;
    for (int i = 0; i < TRIES; i++) {
        kbass_status status = is_field   ? bench_draw_field(&random, seed, kind, d, &error)
                              : is_curve ? draw_without_law(&random, seed, kind, d, &error)
                                         : try_draw(&random, seed, kind, d, &error);
        if (status == KBASS_OK && d->data) return true;
        bench_draw_clear(d);
        if (status == KBASS_ERROR_MEMORY) return false;
    }
    return false;
}

void bench_draw_clear(bench_draw *d)
{
    kbass_data_destroy(d->data);
    kbass_data_destroy(d->clean);
    d->data = d->clean = NULL;
}
