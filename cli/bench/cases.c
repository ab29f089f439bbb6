#include "cases.h"
#include "choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the paper's tables (Long et al., AISTATS 2024) */

#define VDP_LAW "x_t: 1 y; y_t: -1 x, 2.5 y, -2.5 x^2*y"
#define LORENZ96_LAW                                                                                                   \
    "x1_t: 8 1, -1 x1, 1 x2*x6, -1 x5*x6; x2_t: 8 1, -1 x2, 1 x1*x3, -1 x1*x6; x3_t: 8 1, -1 x3, 1 x2*x4, -1 x1*x2; "  \
    "x4_t: 8 1, -1 x4, 1 x3*x5, -1 x2*x3; x5_t: 8 1, -1 x5, 1 x4*x6, -1 x3*x4; x6_t: 8 1, -1 x6, 1 x1*x5, -1 x4*x5"
#define SMALL_BURGERS .is_field = true, .grid = {50, 50}, .degree = 4, .derivatives = 4, .n_levels = 3

/* clang-format off */
const bench_case bench_cases[] = {
    {.key = "vdp-10", .title = "van der Pol, 10 samples", .system = "vdp", .start = {1, 0}, .step = 0.825, .n = 10,
     .box_degree = 4, .law = VDP_LAW, .note = "starts at (1, 0), samples 0.825 apart, as released",
     .n_levels = 3, .levels = {{0, 0.0086, 1, 1}, {1, 0.032, 1, 1}, {20, 0.0995, 1, 1}}},
    {.key = "vdp-25", .title = "van der Pol, 25 samples", .system = "vdp", .start = {1, 0}, .step = 1.0 / 3, .n = 25,
     .box_degree = 4, .law = VDP_LAW, .note = "starts at (1, 0) like the ten samples; of these none were released",
     .n_levels = 3, .levels = {{0, 0, 1, 1}, {1, 0.0029, 1, 1}, {20, 0.042, 1, 1}}, .published_seconds = 643},
    {.key = "lorenz96-12", .title = "Lorenz 96, 12 samples", .system = "lorenz96", .first = 1.2, .step = 0.2, .n = 12,
     .has_absolute_noise = true, .degree = 3, .constant = 1, .law = LORENZ96_LAW,
     .note = "t = 1.2 to 3.4; p % noise is a standard deviation of p/100, about p/4 % of the states' own, as released",
     .n_levels = 3, .levels = {{0, 0.0068, 1, 1}, {1, 0.0125, 1, 1}, {10, 0.134, 1, 1}}},
    {.key = "lorenz96-50", .title = "Lorenz 96, 50 samples", .system = "lorenz96", .step = 5.0 / 49, .n = 50,
     .degree = 3, .constant = 1, .law = LORENZ96_LAW,
     .note = "p % of the states' own standard deviation: four times the noise of the 12 samples",
     .n_levels = 3, .levels = {{0, 0, 1, 1}, {1, 0.0035, 1, 1}, {10, 0.054, 1, 1}}, .published_seconds = 3994},
    {.key = "burgers-10", .title = "Burgers, nu = 0.1, 10 x 10", .system = "burgers-released", .is_field = true,
     .grid = {10, 10}, .degree = 4, .derivatives = 4, .law = "u_t: -1.001001001001001 u*u_x, 0.1002003004005006 u_xx",
     .note = "solves u_t = -1.001 u u_x + 0.1002 u_xx and stops short of the domain's edge, as released",
     .n_levels = 3, .levels = {{0, 0, 1, 1}, {1, 0.0032, 1, 1}, {20, 0.038, 1, 1}}},
    {.key = "burgers-20", .title = "Burgers, nu = 0.1, 20 x 20", .system = "burgers", .is_field = true,
     .grid = {20, 20}, .degree = 4, .derivatives = 4, .law = "u_t: -1 u*u_x, 0.1 u_xx",
     .n_levels = 3, .levels = {{0, 0, 1, 1}, {1, 0, 1, 1}, {20, 0.038, 1, 1}}, .published_seconds = 99},
    {.key = "burgers-0.01", .title = "Burgers, nu = 0.01, 50 x 50", .system = "burgers-0.01",
     .law = "u_t: -1 u*u_x, 0.01 u_xx", SMALL_BURGERS,
     .levels = {{0, 0.003, 1, 1}, {10, 0.007, 1, 1}, {20, 0.008, 1, 1}}},
    {.key = "burgers-0.005", .title = "Burgers, nu = 0.005, 50 x 50", .system = "burgers-0.005",
     .law = "u_t: -1 u*u_x, 0.005 u_xx", SMALL_BURGERS,
     .levels = {{0, 0.0013, 1, 1}, {10, 0.0026, 1, 1}, {20, 0.0047, 1, 1}}},
    {.key = "ks", .title = "Kuramoto-Sivashinsky, 40 x 40", .system = "ks", .is_field = true, .grid = {40, 40},
     .degree = 4, .derivatives = 4, .law = "u_t: -1 u*u_x, -1 u_xx, -1 u_xxxx",
     .note = "starts from cos(12.5 x/(32 pi)), as released",
     .n_levels = 3, .levels = {{0, 0.013, 1, 1}, {10, 0.023, 1, 1}, {20, 0.025, 1, 1}}, .published_seconds = 1174},
    {.key = "allen-cahn", .title = "Allen-Cahn, 26 x 101", .system = "allen-cahn", .is_field = true, .grid = {101, 26},
     .degree = 3, .derivatives = 3, .law = "u_t: 5 u, -5 u^3, 0.0001 u_xx",
     .n_levels = 3, .levels = {{0, 0.0023, 1, 1}, {5, 0.0071, 1, 1}, {10, 0.045, 1, 1}}},
    {.key = "hare-lynx", .title = "hare and lynx, 21 years", .system = "hare-lynx", .is_measured = true, .degree = 2,
     .law = "x_t: 0.4807 x, -0.0248 x*y; y_t: -0.9272 y, 0.02756 x*y",
     .note = "measured; nobody knows the law: errors are distances to the reference the paper uses",
     .n_levels = 1, .levels = {{NAN, 0.0244, 1, 1}}},
    {0}};
/* clang-format on */

/* ---------------------------------------------------------------- laws */

static void copy_name(char *to, size_t size, const char *from, size_t length)
{
    snprintf(to, size, "%.*s", (int)length, from);
}

bench_law bench_law_read(const char *text)
{
    bench_law law = {0};
    char lhs[12] = "";
    while (*text && law.n < BENCH_MOST_TERMS) {
        char *rest = NULL;
        text += strspn(text, " ,;");
        size_t length = strcspn(text, ":,;");
        if (text[length] == ':') {
            copy_name(lhs, sizeof lhs, text, length);
            text += length + 1;
        }
        bench_term *term = &law.terms[law.n++];
        term->weight = strtod(text, &rest);
        rest += strspn(rest, " ");
        length = strcspn(rest, ",; ");
        copy_name(term->lhs, sizeof term->lhs, lhs, strlen(lhs));
        copy_name(term->term, sizeof term->term, rest, length);
        text = rest + length;
    }
    return law;
}

/* ---------------------------------------------------------------- data */

static kbass_status sample_states(const bench_case *c, const kbass_model *model, double *times, double *states,
                                  kbass_data **data, kbass_error *error)
{
    const char *names[BENCH_MOST_STATES] = {0};
    size_t n_states = kbass_model_states(model);
    bool has_start = false;
    for (size_t i = 0; i < n_states; i++) {
        names[i] = kbass_model_state_name(model, i);
        has_start |= c->start[i] != 0;
    }
    for (size_t k = 0; k < c->n; k++) times[k] = c->first + (double)k * c->step;
    const double *start = has_start ? c->start : kbass_model_initial(model);
    kbass_status status = kbass_model_integrate(model, 0, start, c->n, times, states, error);
    return status == KBASS_OK ? kbass_data_create(c->n, n_states, times, states, NULL, names, data, error) : status;
}

static kbass_status simulate_system(const bench_case *c, kbass_data **data, kbass_error *error)
{
    kbass_model *model = NULL;
    kbass_status status = kbass_model_named(c->system, &model, error);
    if (status != KBASS_OK) return status;
    double *times = calloc(c->n, sizeof *times), *states = calloc(c->n * BENCH_MOST_STATES, sizeof *states);
    snprintf(error->message, sizeof error->message, "out of memory for %zu samples", c->n);
    status = times && states ? sample_states(c, model, times, states, data, error) : KBASS_ERROR_MEMORY;
    free(states);
    free(times);
    kbass_model_destroy(model);
    return status;
}

static kbass_status simulate_field(const bench_case *c, kbass_data **data, kbass_error *error)
{
    kbass_model *pde = NULL;
    kbass_status status = kbass_model_named(c->system, &pde, error);
    if (status == KBASS_OK) status = kbass_model_grid(pde, c->grid, data, error);
    kbass_model_destroy(pde);
    return status;
}

/* Over the measured values, divided by their number. */
static double deviation(const kbass_data *data, size_t state)
{
    const double *values = kbass_data_values(data);
    size_t n = kbass_data_rows(data), n_states = kbass_data_states(data);
    double sum = 0, squares = 0;
    for (size_t k = 0; k < n; k++) sum += values[k * n_states + state];
    for (size_t k = 0; k < n; k++) squares += pow(values[k * n_states + state] - sum / (double)n, 2);
    return sqrt(squares / (double)n);
}

void bench_case_noise(const bench_case *c, double noise, const kbass_data *clean, double *sd)
{
    for (size_t i = 0; i < kbass_data_states(clean); i++)
        sd[i] = noise / 100 * (c->has_absolute_noise ? 1 : deviation(clean, i));
}

kbass_status bench_case_data(const bench_case *c, double noise, uint64_t seed, kbass_data **data, kbass_error *error)
{
    double sd[BENCH_MOST_STATES];
    if (c->is_measured) return kbass_data_example(c->system, data, error);
    kbass_status status = c->is_field ? simulate_field(c, data, error) : simulate_system(c, data, error);
    if (status != KBASS_OK || !(noise > 0)) return status;
    bench_case_noise(c, noise, *data, sd);
    return kbass_data_disturb(*data, sd, seed, error);
}

void bench_case_dictionary(const bench_case *c, kbass_settings *settings)
{
    bench_choose_number(settings, "degree", c->degree);
    bench_choose_number(settings, "box-degree", c->box_degree);
    bench_choose_number(settings, "derivatives", c->derivatives);
    bench_choose_number(settings, "constant", c->constant);
}
