#include "draw_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw_random.h"

enum { N_TIMES = 10, N_PLACES = 16, N_POINTS = N_TIMES * N_PLACES, MODES = 3, CURVES = 6 };
static const double turn = 6.283185307179586;
static const double largest = 20;

const char bench_field_candidates[] = "u, u^2, u^3, u_x, u*u_x, u_xx, u_xxx";

/* ---------------------------------------------------------------- laws */

static void add_term(uint64_t *random, bench_draw *d, double low, double high, int sign, const char *term)
{
    size_t j = d->n_terms[0]++;
    double size = round(100 * (low + (high - low) * bench_uniform(random))) / 100;
    strcpy(d->term[0][j], term);
    d->weight[0][j] = (sign ? sign : bench_uniform(random) < 0.5 ? -1 : 1) * size;
}

/* Diffusion, with nothing, drift, steepening, drift and steepening, decay, growth to 1 or dispersion beside it. */
static void draw_law(uint64_t *random, bench_draw *d)
{
    size_t form = bench_among(random, 7), used;
    d->n_terms[0] = 0;
    add_term(random, d, 0.1, 0.4, 1, "u_xx");
    if (form == 1 || form == 3) add_term(random, d, 0.5, 1.5, 0, "u_x");
    if (form == 2 || form == 3) add_term(random, d, 0.5, 1.5, 0, "u*u_x");
    if (form == 4) add_term(random, d, 0.5, 1.5, -1, "u");
    if (form == 5) {
        add_term(random, d, 1, 2, 1, "u");
        add_term(random, d, 1, 2, -1, "u^2");
    }
    if (form == 6) add_term(random, d, 0.1, 0.3, 0, "u_xxx");
    used = (size_t)snprintf(d->equation[0], DRAW_EQUATION_SIZE, "u_t =");
    for (size_t j = 0; j < d->n_terms[0]; j++)
        used += (size_t)snprintf(d->equation[0] + used, DRAW_EQUATION_SIZE - used, " %s%.2f*%s", j ? "+ " : "",
                                 d->weight[0][j], d->term[0][j]);
}

/* Porous media, an oscillating reaction, a drift that changes from place to place, a cubic flux. */
static void draw_outside(uint64_t *random, bench_draw *d)
{
    double a = 0.3 + 0.5 * bench_uniform(random), b = 1 + bench_uniform(random);
    char *text = d->equation[0];
    d->n_terms[0] = 0;
    switch (bench_among(random, 4)) {
    case 0: snprintf(text, DRAW_EQUATION_SIZE, "u_t = %.2f*u*u_xx + %.2f*u_x^2", a, a); break;
    case 1: snprintf(text, DRAW_EQUATION_SIZE, "u_t = %.2f*u_xx + %.2f*sin(5*u)", 0.3 * a, b); break;
    case 2: snprintf(text, DRAW_EQUATION_SIZE, "u_t = %.2f*u_xx + %.2f*cos(x)*u_x", 0.3 * a, b); break;
    default: snprintf(text, DRAW_EQUATION_SIZE, "u_t = %.2f*u_xx - %.2f*u^2*u_x", 0.3 * a, b);
    }
}

/* Positive, so that porous media and growth are well posed. */
static void draw_profile(uint64_t *random, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "0.8");
    for (int m = 1; m <= MODES; m++)
        used += (size_t)snprintf(text + used, size - used, " + %.3f*cos(%d*x - %.3f)",
                                 0.6 * (0.3 + bench_uniform(random)) / (m * m), m, turn * bench_uniform(random));
}

static kbass_status simulate(uint64_t *random, bench_draw *d, kbass_error *error)
{
    const char *equations[] = {d->equation[0]};
    size_t counts[] = {N_TIMES, N_PLACES};
    char profile[160], domain[60];
    const kbass_model_options options = {.domain = domain, .initial = profile};
    kbass_model *pde = NULL;
    draw_profile(random, profile, sizeof profile);
    snprintf(domain, sizeof domain, "x=0:6.283185307179586, t=0:%g", d->span);
    kbass_status status = kbass_model_parse(1, equations, &options, &pde, error);
    if (status == KBASS_OK) status = kbass_model_grid(pde, counts, &d->data, error);
    kbass_model_destroy(pde);
    return status;
}

/* ---------------------------------------------------------------- no law */

typedef enum { WHITE, WALKS, WAVES, FORMS } form_without_law;

/* Waves whose speeds have nothing to do with each other, walks at every place, or noise. */
static void draw_values(uint64_t *random, form_without_law form, const double *times, const double *places,
                        double *values)
{
    double weight[CURVES], speed[CURVES], phase[CURVES], walk[N_PLACES] = {0};
    for (size_t m = 0; m < CURVES; m++) {
        weight[m] = bench_normal(random);
        speed[m] = 8 * bench_uniform(random) - 4;
        phase[m] = turn * bench_uniform(random);
    }
    for (size_t k = 0; k < N_POINTS; k++) {
        double waves = 0, step = bench_normal(random);
        for (size_t m = 0; m < CURVES; m++)
            waves += weight[m] * cos((double)(1 + m / 2) * places[k] + speed[m] * times[k] + phase[m]);
        walk[k % N_PLACES] += step;
        values[k] = form == WHITE ? step : form == WALKS ? walk[k % N_PLACES] : waves;
    }
}

static kbass_status draw_without_law(uint64_t *random, bench_draw *d, kbass_error *error)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    double times[N_POINTS], places[N_POINTS], values[N_POINTS];
    form_without_law form = (form_without_law)bench_among(random, FORMS);
    for (size_t k = 0; k < N_POINTS; k++) {
        times[k] = d->span * (double)(k / N_PLACES) / (N_TIMES - 1);
        places[k] = turn * (double)(k % N_PLACES) / N_PLACES;
    }
    draw_values(random, form, times, places, values);
    d->noise = form == WAVES ? 5 : 0;
    return kbass_data_create_axes(N_POINTS, 2, 1, times, places, values, axes, names, &d->data, error);
}

/* ---------------------------------------------------------------- the draw */

static bool is_fit_to_measure(const kbass_data *data)
{
    const double *values = kbass_data_values(data);
    for (size_t k = 0; k < kbass_data_rows(data); k++)
        if (!(fabs(values[k]) <= largest)) return false;
    return true;
}

kbass_status bench_draw_field(uint64_t *random, uint64_t seed, bench_draw_kind kind, bench_draw *d, kbass_error *error)
{
    static const double noises[] = {1, 2, 5, 10};
    kbass_status status = KBASS_OK;
    memset(d, 0, sizeof *d);
    d->n_states = 1;
    d->n_samples = N_POINTS;
    d->noise = noises[bench_among(random, 4)];
    d->span = bench_among(random, 2) ? 2 : 1;
    if (kind == DRAW_FIELD_NONE) status = draw_without_law(random, d, error);
    else {
        if (kind == DRAW_FIELD_OUTSIDE) draw_outside(random, d);
        else draw_law(random, d);
        status = simulate(random, d, error);
    }
    if (status == KBASS_OK && !is_fit_to_measure(d->data)) bench_draw_clear(d);
    return status == KBASS_OK && d->data ? bench_draw_measure(d, seed, error) : status;
}
