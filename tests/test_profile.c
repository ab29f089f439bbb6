/* The prior of a profile: its modes, its likelihood by a dense second road, what a fit recovers, and periods. */
#include <stdlib.h>

#include "base/linalg.h"
#include "base/random.h"
#include "check.h"
#include "dense.h"
#include "forward/pde1d/method_of_lines.h"

enum { LINES = 12, POINTS = 40, MODES = 61 };
static kbass_error error;

typedef struct {
    kb_data_line lines[LINES];
    double coordinate[LINES][POINTS], value[LINES][POINTS];
} setup;

/* Profiles drawn from the prior, with noise, at even coordinates. */
static void draw(setup *s, const kb_profile *truth, uint64_t seed)
{
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < LINES; i++) {
        double z[MODES], modes[MODES];
        for (size_t m = 0; m < truth->n_modes; m++) z[m] = kb_random_normal(&random);
        for (size_t p = 0; p < POINTS; p++) {
            s->coordinate[i][p] = (double)p / (POINTS - 1);
            kb_profile_modes(truth, s->coordinate[i][p], modes);
            s->value[i][p] = kb_dot(truth->n_modes, z, modes) + sqrt(truth->noise) * kb_random_normal(&random);
        }
        s->lines[i] = (kb_data_line){POINTS, s->coordinate[i], s->value[i], NULL};
    }
}

static void modes_have_the_variance(void **state)
{
    (void)state;
    for (double length = 0.02; length < 1; length *= 3) {
        kb_profile profile = {.period = 1.3, .length = length, .amplitude = 1.7, .n_modes = MODES};
        double modes[MODES];
        for (double x = 0; x <= 1; x += 0.1) {
            kb_profile_modes(&profile, x, modes);
            CHECK_CLOSE(kb_dot(MODES, modes, modes), 1.7 * 1.7, 1e-12); /* cos^2 + sin^2 of each frequency: rounding */
        }
    }
}

static void modes_repeat_after_the_period(void **state)
{
    kb_profile profile = {.period = 1.1, .length = 0.1, .amplitude = 1, .n_modes = MODES};
    double here[MODES], there[MODES];
    (void)state;
    kb_profile_modes(&profile, 0.3, here);
    kb_profile_modes(&profile, 0.3 + 1.1, there);
    for (size_t m = 0; m < MODES; m++) CHECK_CLOSE(there[m], here[m], 1e-12); /* rounding */
}

static void fit_recovers_the_prior(void **state)
{
    static setup s;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        kb_profile truth = {.period = 1.3, .length = 0.1, .amplitude = 2, .noise = 0.04, .n_modes = MODES};
        kb_profile found = {.period = 1.3};
        draw(&s, &truth, seed);
        CHECK(kb_profile_fit(&found, LINES, s.lines, 0.02, MODES));
        CHECK_CLOSE(log(found.length / 0.1), 0, log(1.5));  /* lengths are tried 1.28 apart; 100 of them fit in */
        CHECK_CLOSE(log(found.noise / 0.04), 0, log(2));    /* noise ratios are tried 3.2 apart */
        CHECK_CLOSE(log(found.amplitude / 2), 0, log(1.6)); /* 100 independent stretches, and the length's error */
    }
}

/* Waves that fall faster than the prior's leave modes that are noise; those that carry anything stay. */
static void modes_of_noise_are_left_out(void **state)
{
    static setup s;
    kb_profile truth = {.period = 1.3, .length = 0.05, .amplitude = 1, .noise = 0.01, .n_modes = 13};
    kb_profile all = {.period = 1.3}, few = {.period = 1.3};
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        draw(&s, &truth, seed);
        CHECK(kb_profile_fit(&all, LINES, s.lines, 0.02, MODES));
        CHECK(kb_profile_fit_few(&few, LINES, s.lines, 0.02, MODES));
        CHECK(few.n_modes >= truth.n_modes && few.n_modes < all.n_modes);
        CHECK_CLOSE(few.length, all.length, 0);
    }
}

/* Where the last modes carry something none is left out. */
static void modes_that_lines_show_stay(void **state)
{
    static setup s;
    kb_profile truth = {.period = 1.3, .length = 0.02, .amplitude = 1, .noise = 1e-4, .n_modes = 31};
    kb_profile all = {.period = 1.3}, few = {.period = 1.3};
    (void)state;
    draw(&s, &truth, 1);
    CHECK(kb_profile_fit(&all, LINES, s.lines, 0.02, 31));
    CHECK(kb_profile_fit_few(&few, LINES, s.lines, 0.02, 31));
    CHECK(few.n_modes == all.n_modes);
}

static void white_noise_is_noise(void **state)
{
    static setup s;
    kb_profile truth = {.period = 1.3, .length = 0.3, .amplitude = 1e-3, .noise = 1, .n_modes = 5};
    kb_profile found = {.period = 1.3};
    (void)state;
    draw(&s, &truth, 4);
    CHECK(kb_profile_fit(&found, LINES, s.lines, 0.02, MODES));
    CHECK_CLOSE(found.noise, 1, 0.25); /* 480 values: 0.065; the profile takes a small share */
}

/* log-likelihood of all lines, maximised over the amplitude: N/2 log(y'C^{-1}y / N) + log|C| / 2, C dense */
static double dense_loss(const setup *s, const kb_profile *p)
{
    double quadratic = 0, logdet = 0, ratio = p->noise / (p->amplitude * p->amplitude);
    for (size_t i = 0; i < LINES; i++) {
        static double C[POINTS * POINTS], x[POINTS];
        for (size_t a = 0; a < POINTS; a++)
            for (size_t b = 0; b < POINTS; b++) {
                double left[MODES], right[MODES];
                kb_profile_modes(p, s->coordinate[i][a], left);
                kb_profile_modes(p, s->coordinate[i][b], right);
                C[a + b * POINTS] = kb_dot(p->n_modes, left, right) / pow(p->amplitude, 2) + (a == b ? ratio : 0);
            }
        memcpy(x, s->value[i], sizeof x);
        logdet += dense_solve(POINTS, C, 1, x);
        quadratic += kb_dot(POINTS, x, s->value[i]);
    }
    return 0.5 * LINES * POINTS * log(quadratic / (LINES * POINTS)) + 0.5 * logdet;
}

static void loss_is_the_likelihood(void **state)
{
    static setup s;
    kb_profile truth = {.period = 1.3, .length = 0.15, .amplitude = 1, .noise = 0.01, .n_modes = MODES};
    kb_profile found = {.period = 1.3};
    (void)state;
    draw(&s, &truth, 7);
    CHECK(kb_profile_fit(&found, LINES, s.lines, 0.02, MODES));
    CHECK_CLOSE(found.loss, dense_loss(&s, &found), 1e-7 * fabs(found.loss)); /* rounding at condition 1e6 */
    kb_profile other = found;
    for (double factor = 0.5; factor < 2.5; factor *= 2) { /* its neighbours are worse */
        other.length = found.length * factor;
        if (factor != 1) CHECK(dense_loss(&s, &other) > found.loss);
    }
}

static void nothing_finite_is_refused(void **state)
{
    static setup s;
    kb_profile truth = {.period = 1.3, .length = 0.2, .amplitude = 1, .noise = 0.01, .n_modes = 9};
    kb_profile found = {.period = 1.3};
    (void)state;
    draw(&s, &truth, 1);
    CHECK(!kb_profile_fit(&found, 0, s.lines, 0.02, MODES));
    s.value[3][5] = NAN;
    CHECK(!kb_profile_fit(&found, LINES, s.lines, 0.02, MODES));
}

/* ---------------------------------------------------------------- periods */

/* u = shape(x) on 10 x 24 points with noise; x goes from 0 to `last`. */
static kb_field_samples *samples_of(double (*shape)(double x), double last, double noise, uint64_t seed)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    double times[240], positions[240], values[240];
    kbass_data *data = NULL;
    kb_field_samples *samples = NULL;
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t i = 0; i < 240; i++) {
        times[i] = (double)(i / 24);
        positions[i] = last * (double)(i % 24) / 23;
        values[i] = (1 + 0.05 * times[i]) * shape(positions[i]) + noise * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create_axes(240, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    kbass_data_destroy(data);
    return samples;
}

static double waves(double x) { return sin(2 * M_PI * x) + 0.5 * cos(4 * M_PI * x); } /* period 1 */
static double ramp(double x) { return x * x + 0.3 * sin(5 * x); }

static kb_pde1d_settings find_period(double last, double noise, uint64_t seed, int known)
{
    kb_pde1d_settings found = {0};
    kb_field_samples *samples = samples_of(waves, last, noise, seed);
    CHECK_OK(kb_pde1d_find_period(1, &samples, known, &found, &error));
    kb_field_samples_destroy(samples);
    return found;
}

static void periods_are_found(void **state)
{
    static const double lasts[] = {1, 23.0 / 24, 23.5 / 24}; /* both ends of the period sampled, or one, or cropped */
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        kb_pde1d_settings found = find_period(lasts[i], 0.02, 2, 0);
        CHECK(found.periodic);
        CHECK_CLOSE(found.period, 1 / lasts[i], 0.006); /* periods are tried 0.0054 apart */
    }
    CHECK(!find_period(1, 0.02, 2, -1).periodic);
}

/* On a grid the first two are usual: no data have to speak for them. */
static void unusual_periods_cost(void **state)
{
    kb_field_samples *samples = samples_of(waves, 1, 0.02, 2);
    (void)state;
    CHECK(kb_pde1d_period_loss(1, &samples, 1) == 0 && kb_pde1d_period_loss(1, &samples, 24.0 / 23) == 0);
    CHECK(kb_pde1d_period_loss(1, &samples, 1.01) > 0);
    samples->gridded = false;
    CHECK(kb_pde1d_period_loss(1, &samples, 1.01) == 0);
    kb_field_samples_destroy(samples);
}

static void ramps_have_none(void **state)
{
    kb_pde1d_settings found = {0};
    (void)state;
    kb_field_samples *samples = samples_of(ramp, 1, 0.02, 2);
    CHECK_OK(kb_pde1d_find_period(1, &samples, 0, &found, &error));
    CHECK(!found.periodic);
    CHECK_OK(kb_pde1d_find_period(1, &samples, 1, &found, &error));
    CHECK(found.periodic); /* the user knows better */
    kb_field_samples_destroy(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_have_the_variance),    cmocka_unit_test(modes_repeat_after_the_period),
        cmocka_unit_test(fit_recovers_the_prior),     cmocka_unit_test(modes_of_noise_are_left_out),
        cmocka_unit_test(modes_that_lines_show_stay), cmocka_unit_test(white_noise_is_noise),
        cmocka_unit_test(loss_is_the_likelihood),     cmocka_unit_test(nothing_finite_is_refused),
        cmocka_unit_test(periods_are_found),          cmocka_unit_test(ramps_have_none),
        cmocka_unit_test(unusual_periods_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
