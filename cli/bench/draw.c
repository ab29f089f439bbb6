#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Samples at even times, with noise. */
static kbass_status sample(const kbass_model *model, const double *start, uint64_t seed, bench_draw *d,
                           kbass_error *error)
{
    double times[64], values[64 * DRAW_STATES];
    const char *labels[] = {"x", "y", "z"};
    for (size_t k = 0; k < d->n_samples; k++) times[k] = d->span * (double)k / (double)(d->n_samples - 1);
    kbass_status status = kbass_model_integrate(model, 0, start, d->n_samples, times, values, error);
    if (status == KBASS_OK)
        status = kbass_data_create(d->n_samples, d->n_states, times, values, "t", labels, &d->data, error);
    if (status == KBASS_OK) status = kbass_data_add_noise(d->data, d->noise, seed, error);
    return status;
}

static kbass_status try_draw(uint64_t *random, uint64_t seed, bench_draw *d, kbass_error *error)
{
    static const size_t samples[] = {20, 30, 40, 60};
    static const double noises[] = {1, 2, 5, 10, 20};
    const char *equations[DRAW_STATES];
    double start[DRAW_STATES];
    kbass_model *model = NULL;
    memset(d, 0, sizeof *d);
    d->n_states = 1 + choose(random, DRAW_STATES);
    for (size_t i = 0; i < d->n_states; i++) {
        draw_equation(random, d, i);
        equations[i] = d->equation[i];
        start[i] = 3 * uniform(random) - 1.5;
    }
    d->n_samples = samples[choose(random, 4)];
    d->noise = noises[choose(random, 5)];
    d->span = choose(random, 2) ? 8 : 4;
    for (size_t k = 0; k < 2 * DRAW_FINE; k++) d->times[k] = d->span * (double)k / (DRAW_FINE - 1);
    kbass_status status = kbass_model_parse(d->n_states, equations, &model, error);
    if (status == KBASS_OK) status = kbass_model_integrate(model, 0, start, 2 * DRAW_FINE, d->times, d->states, error);
    if (status == KBASS_OK && is_fit_to_measure(d)) status = sample(model, start, seed, d, error);
    kbass_model_destroy(model);
    return status;
}

bool bench_draw_make(uint64_t seed, bench_draw *d)
{
    uint64_t random = seed;
    kbass_error error;
    for (int i = 0; i < TRIES; i++) {
        kbass_status status = try_draw(&random, seed, d, &error);
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
