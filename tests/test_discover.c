/* Whole discoveries through the public header, on data whose law is known. */
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "kbass/kbass.h"

static kbass_error error;

/* ---------------------------------------------------------------- data */

static uint64_t seed = 1; /* of the noise */

/* Laws are found from three draws of the noise, not from one that happens to be kind. */
#define WITH_THREE_SEEDS(test)                                                                                         \
    static void test##_three_times(void **state)                                                                       \
    {                                                                                                                  \
        for (seed = 1; seed <= 3; seed++) test(state);                                                                 \
        seed = 1;                                                                                                      \
    }

/* `n` even samples of a named system from its own start until `last`; NAN: on its own span. */
static kbass_data *sample_until(const char *name, double until, size_t n, double percent)
{
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    const char *names[6];
    double first, last, *times = malloc(n * sizeof *times), *states = malloc(6 * n * sizeof *states);
    CHECK_OK(kbass_model_named(name, &model, &error));
    first = kbass_model_axis(model, 0)->first, last = isnan(until) ? kbass_model_axis(model, 0)->last : until;
    for (size_t i = 0; i < n; i++) times[i] = first + (last - first) * (double)i / (double)(n - 1);
    CHECK_OK(kbass_model_integrate(model, first, kbass_model_initial(model), n, times, states, &error));
    for (size_t i = 0; i < kbass_model_states(model); i++) names[i] = kbass_model_state_name(model, i);
    CHECK_OK(kbass_data_create(n, kbass_model_states(model), times, states, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, seed, &error));
    kbass_model_destroy(model);
    free(times);
    free(states);
    return data;
}

static kbass_data *sample(const char *name, size_t n, double percent) { return sample_until(name, NAN, n, percent); }

/* The same with cells taken out: x in odd rows only at first, both later, with gaps. */
static kbass_data *with_gaps(kbass_data *data)
{
    kbass_data *out = NULL;
    size_t n = kbass_data_rows(data), states = kbass_data_states(data);
    const char *names[] = {kbass_data_state_name(data, 0), kbass_data_state_name(data, 1)};
    double *values = malloc(n * states * sizeof *values);
    memcpy(values, kbass_data_values(data), n * states * sizeof *values);
    for (size_t row = 0; row < n; row++) {
        if (row < n / 2) values[2 * row + row % 2] = NAN; /* at different times */
        else if (row % 5 == 0) values[2 * row] = NAN;
    }
    CHECK_OK(kbass_data_create(n, states, kbass_data_times(data), values, NULL, names, &out, &error));
    kbass_data_destroy(data);
    free(values);
    return out;
}

/* ---------------------------------------------------------------- runs */

static kbass_settings defaults(void)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    return settings;
}

/* Takes the data over. */
static kbass_discovery *discover(kbass_data *data, kbass_settings settings)
{
    kbass_discovery *discovery = NULL;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    kbass_data_destroy(data);
    CHECK(kbass_discovery_result(discovery) == NULL);
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

typedef struct {
    const char *lhs, *term;
    double weight;
} truth;

static const kbass_equation *equation_of(const kbass_result *result, const char *lhs)
{
    for (size_t e = 0; e < result->n_equations; e++)
        if (!strcmp(result->equations[e].lhs, lhs)) return &result->equations[e];
    fail_msg("no equation %s", lhs);
    return NULL;
}

static size_t count_selected(const kbass_result *result)
{
    size_t n = 0;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t q = 0; q < result->equations[e].n_terms; q++) n += result->equations[e].terms[q].selected != 0;
    return n;
}

/* Exactly these terms, with these weights to a relative tolerance; the numbers around them make sense. */
static void expect(const kbass_discovery *discovery, size_t n, const truth *truths, double tolerance)
{
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->outcome == KBASS_CONVERGED || result->outcome == KBASS_NOT_CONVERGED);
    for (size_t i = 0; i < n; i++) {
        const kbass_term *term = find_term(equation_of(result, truths[i].lhs), truths[i].term);
        if (!term || !term->selected) fail_msg("%s: %s is not selected", truths[i].lhs, truths[i].term);
        CHECK_CLOSE(term->weight, truths[i].weight, tolerance * fabs(truths[i].weight));
    }
    CHECK(count_selected(result) == n);
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t q = 0; q < result->equations[e].n_terms; q++) {
            const kbass_term *term = &result->equations[e].terms[q];
            CHECK(term->probability >= 0 && term->probability <= 1 && term->sd >= 0 && isfinite(term->weight));
        }
    CHECK(result->probability > 0 && result->probability <= 1 && isfinite(result->log_evidence));
    for (size_t i = 0; i < result->n_runners_up; i++) {
        const kbass_runner_up *other = &result->runners_up[i];
        CHECK(other->log_odds <= 0 && other->probability > 0 && other->probability <= result->probability);
        CHECK(other->n_equations == result->n_equations && isfinite(other->misfit));
    }
}

#define EXPECT(discovery, truths, tolerance) expect(discovery, sizeof(truths) / sizeof *(truths), truths, tolerance)

static const truth vdp[] = {{"x_t", "y", 1}, {"y_t", "y", 2.5}, {"y_t", "x^2*y", -2.5}, {"y_t", "x", -1}};
static const truth lotka[] = {{"x_t", "x", 0.55}, {"x_t", "x*y", -0.028}, {"y_t", "x*y", 0.026}, {"y_t", "y", -0.84}};

/* ---------------------------------------------------------------- laws found */

/* The solution's band is finite and holds the truth. */
static void check_band(const kbass_discovery *discovery, const char *name)
{
    enum { N = 60 };
    kbass_model *model = NULL;
    double first, last, times[N], exact[2 * N], mean[2 * N], sd[2 * N];
    size_t outside = 0;
    CHECK_OK(kbass_model_named(name, &model, &error));
    first = kbass_model_axis(model, 0)->first, last = kbass_model_axis(model, 0)->last;
    for (int i = 0; i < N; i++) times[i] = first + (last - first) * (i + 0.5) / N;
    CHECK_OK(kbass_model_integrate(model, first, kbass_model_initial(model), N, times, exact, &error));
    CHECK_OK(kbass_discovery_solution(discovery, 0, N, times, NULL, mean, sd, &error));
    for (int i = 0; i < 2 * N; i++) {
        CHECK(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0);
        outside += !(fabs(mean[i] - exact[i]) <= 4 * sd[i]);
    }
    CHECK(outside <= 2 * N / 20); /* a Gaussian leaves 1 in 16000 there; the linearised band a few more */
    kbass_model_destroy(model);
}

static void test_vdp_clean(void **state)
{
    (void)state;
    kbass_discovery *d = discover(sample("vdp", 10, 0), defaults());
    CHECK(kbass_discovery_candidates(d) == 10); /* degree 3 with the constant */
    CHECK_TEXT(kbass_discovery_candidate(d, 0), "1");
    CHECK(kbass_discovery_candidate(d, 10) == NULL);
    EXPECT(d, vdp, 0.02); /* 10 samples, noise floor 0.1 % of the sd */
    kbass_discovery_destroy(d);
}

static void test_vdp_noisy(void **state)
{
    (void)state;
    kbass_discovery *d = discover(sample("vdp", 25, 5), defaults());
    const kbass_result *result = kbass_discovery_result(d);
    EXPECT(d, vdp, 0.2); /* sds of about 5 %, times 4 */
    for (size_t e = 0; e < 2; e++)
        for (size_t q = 0; q < result->equations[e].n_terms; q++) {
            const kbass_term *term = &result->equations[e].terms[q];
            if (!term->selected) continue;
            for (size_t i = 0; i < 4; i++)
                if (!strcmp(vdp[i].lhs, result->equations[e].lhs) && !strcmp(vdp[i].term, term->term))
                    CHECK_CLOSE(term->weight, vdp[i].weight, 4 * term->sd); /* honest: within 4 of its own sds */
        }
    for (size_t i = 0; i < 2; i++)
        CHECK(result->noise[i] > 0.01 && result->noise[i] < 0.4); /* 5 % of sds of 1.4 and 2.3 */
    check_band(d, "vdp");
    kbass_discovery_destroy(d);
}
WITH_THREE_SEEDS(test_vdp_noisy)

/* Each row of the first half measures one state only; later some cells are missing. */
static void test_lotka_gaps(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.degree = 2;
    kbass_discovery *d = discover(with_gaps(sample("lotka-volterra", 60, 2)), settings);
    EXPECT(d, lotka, 0.1); /* sds of about 2 %, times 4 */
    check_band(d, "lotka-volterra");
    kbass_discovery_destroy(d);
}
WITH_THREE_SEEDS(test_lotka_gaps)

static void test_logistic(void **state)
{
    static const truth logistic[] = {{"x_t", "x", 1}, {"x_t", "x^2", -1}};
    (void)state;
    kbass_discovery *d = discover(sample("logistic", 20, 1), defaults());
    EXPECT(d, logistic, 0.1); /* sds of 1 or 2 %, times 4 */
    kbass_discovery_destroy(d);
}
WITH_THREE_SEEDS(test_logistic)

static void test_pendulum(void **state)
{
    static const truth pendulum[] = {{"x_t", "y", 1}, {"y_t", "sin(x)", -1}, {"y_t", "y", -0.1}};
    kbass_settings settings = defaults();
    (void)state;
    settings.terms = "sin(x), x, y";
    kbass_discovery *d = discover(sample("pendulum", 40, 1), settings);
    EXPECT(d, pendulum, 0.05); /* sds below 1 %, times 4 */
    kbass_discovery_destroy(d);
}
WITH_THREE_SEEDS(test_pendulum)

/* ---------------------------------------------------------------- what the user knows */

static void test_fixed_equation(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.fix = "x_t = y";
    kbass_discovery *d = discover(sample("vdp", 25, 5), settings);
    const kbass_equation *fixed = equation_of(kbass_discovery_result(d), "x_t");
    EXPECT(d, vdp, 0.2); /* as without it */
    CHECK(fixed->known && fixed->n_terms == 1 && fixed->terms[0].weight == 1 && fixed->terms[0].sd == 0);
    CHECK(fixed->terms[0].probability == 1 && !equation_of(kbass_discovery_result(d), "y_t")->known);
    kbass_discovery_destroy(d);
}
WITH_THREE_SEEDS(test_fixed_equation)

/* All equations known: nothing to search for, but noise, start and solution to find. */
static void test_all_fixed(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.fix = "x_t = y; y_t = 2.5*y - 2.5*x^2*y - x";
    kbass_discovery *d = discover(sample("vdp", 25, 5), settings);
    EXPECT(d, vdp, 1e-12); /* as given, through the scaling and back */
    check_band(d, "vdp");
    kbass_discovery_destroy(d);
}

/* A required term is in, even where the data do not want it. */
static void test_required(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.require = "y_t: x^3";
    kbass_discovery *d = discover(sample("vdp", 25, 2), settings);
    const kbass_result *result = kbass_discovery_result(d);
    const kbass_term *term = find_term(equation_of(result, "y_t"), "x^3");
    CHECK(term && term->selected && term->probability == 1);
    CHECK_CLOSE(term->weight, 0, 5 * term->sd); /* and its weight is nothing */
    for (size_t i = 0; i < 3; i++) {
        const kbass_term *other = find_term(equation_of(result, vdp[i].lhs), vdp[i].term);
        CHECK(other && other->selected);
    }
    kbass_discovery_destroy(d);
}

/* What adding a term does is what requiring it does; what the data need cannot be dropped. */
static void test_explained(void **state)
{
    kbass_settings asking = defaults(), requiring = defaults();
    (void)state;
    asking.explain = "y_t: x^3, x";
    requiring.require = "y_t: x^3";
    kbass_discovery *d = discover(sample("vdp", 25, 2), asking), *other = discover(sample("vdp", 25, 2), requiring);
    const kbass_result *result = kbass_discovery_result(d);
    const kbass_term *required = find_term(equation_of(kbass_discovery_result(other), "y_t"), "x^3");
    EXPECT(d, vdp, 0.1); /* 2 % noise */
    CHECK(result->n_explanations == 2);
    for (size_t i = 0; i < 2; i++) {
        const kbass_explanation *e = &result->explanations[i];
        CHECK_TEXT(e->lhs, "y_t");
        CHECK_TEXT(e->term, e->is_added ? "x^3" : "x");
        CHECK(e->is_fitted && e->n_changes == (e->is_added ? 5 : 4));
        CHECK(e->log_odds < (e->is_added ? 0 : -20)); /* 25 samples settle it */
        CHECK(e->is_added ? e->misfit_after <= e->misfit_before : e->misfit_after > 2 * e->misfit_before);
        for (size_t j = 0; j < e->n_changes; j++) {
            const kbass_weight_change *c = &e->changes[j];
            if (strcmp(c->lhs, e->lhs) || strcmp(c->term, e->term)) continue;
            CHECK(e->is_added ? c->before == 0 && c->before_sd == 0 : c->after == 0 && c->after_sd == 0);
            if (e->is_added) CHECK_CLOSE(c->after, required->weight, 0.05 * c->after_sd); /* the fits' tolerance */
        }
    }
    kbass_discovery_destroy(d);
    kbass_discovery_destroy(other);
}

/* Only y's equation is sought; x is followed as measured. */
static void test_equation_for(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.equation_for = "y";
    kbass_discovery *d = discover(sample("vdp", 40, 0), settings);
    const kbass_result *result = kbass_discovery_result(d);
    CHECK(result->n_equations == 1);
    expect(d, 3, vdp + 1, 0.1); /* as good as the interpolated x */
    CHECK(isnan(result->noise[0]) && isnan(result->initial[0]) && isfinite(result->initial[1]));
    kbass_discovery_destroy(d);
}

/* Ten times the time in which two solutions part by a factor of e^2: no window follows all of it. */
static void test_long_chaos(void **state)
{
    static const truth law[] = {{"x_t", "x", -10},  {"x_t", "y", 10},  {"y_t", "x", 28},     {"y_t", "y", -1},
                                {"y_t", "x*z", -1}, {"z_t", "x*y", 1}, {"z_t", "z", -8 / 3.}};
    kbass_settings settings = defaults();
    (void)state;
    settings.degree = 2;
    kbass_discovery *d = discover(sample_until("lorenz63", 20, 400, 5), settings);
    EXPECT(d, law, 0.05); /* 5 % noise: y_t: y comes out worst */
    kbass_discovery_destroy(d);
}

static kbass_data *sample_circle(size_t periods)
{
    enum { EACH = 16 };
    size_t n = EACH * periods + 1;
    double *times = malloc(n * sizeof *times), *states = malloc(2 * n * sizeof *states);
    kbass_data *data = NULL;
    for (size_t i = 0; i < n; i++) {
        times[i] = 2 * 3.14159265358979 * (double)i / EACH;
        states[2 * i] = cos(times[i]), states[2 * i + 1] = -sin(times[i]);
    }
    CHECK_OK(kbass_data_create(n, 2, times, states, NULL, (const char *const[]){"x", "y"}, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 1, &error));
    free(times);
    free(states);
    return data;
}

/* The product of both weights is known a thousand times better than their ratio: a narrow valley that steps have to
   follow to its lowest place. */
static void test_many_periods(void **state)
{
    static const truth law[] = {{"x_t", "y", 1}, {"y_t", "x", -1}};
    kbass_settings settings = defaults();
    (void)state;
    settings.degree = 1;
    kbass_discovery *d = discover(sample_circle(1000), settings);
    EXPECT(d, law, 0.0022); /* 4 sd: 5 % noise in 16,000 values of each state */
    kbass_discovery_destroy(d);
}

/* ---------------------------------------------------------------- threads, time, cancelling */

static void test_threads(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.threads = 1;
    kbass_discovery *one = discover(sample("vdp", 25, 5), settings);
    settings.threads = 2;
    kbass_discovery *two = discover(sample("vdp", 25, 5), settings);
    const kbass_result *a = kbass_discovery_result(one), *b = kbass_discovery_result(two);
    CHECK(count_selected(a) == count_selected(b));
    for (size_t i = 0; i < 4; i++) {
        const kbass_term *x = find_term(equation_of(a, vdp[i].lhs), vdp[i].term),
                         *y = find_term(equation_of(b, vdp[i].lhs), vdp[i].term);
        CHECK(x && y && x->selected && y->selected);
        CHECK_CLOSE(x->weight, y->weight, 1e-6 * fabs(x->weight)); /* the same fit, reached by the same steps */
    }
    kbass_discovery_destroy(one);
    kbass_discovery_destroy(two);
}

static void test_time_limit(void **state)
{
    kbass_settings settings = defaults();
    (void)state;
    settings.time_limit = 1e-3;
    kbass_discovery *d = discover(sample("lorenz63", 60, 1), settings);
    CHECK(kbass_discovery_result(d)->outcome == KBASS_TIME_LIMIT);
    CHECK_CLOSE(kbass_discovery_result(d)->seconds_total, 0,
                15); /* one start's iteration and the field; slow machines */
    kbass_discovery_destroy(d);
}

/* Cancels at once, or (user points at true) as soon as there is a model. */
static int cancel(const kbass_progress *progress, void *user)
{
    const bool *wants_model = user;
    CHECK(progress->fraction >= 0 && progress->fraction <= 1 && progress->seconds >= 0 && progress->stage);
    return !*wants_model || isfinite(progress->log_evidence);
}

static const kbass_result *run_cancelled(kbass_discovery *discovery, bool wants_model)
{
    CHECK_OK(kbass_discovery_run(discovery, cancel, &wants_model, &error));
    return kbass_discovery_result(discovery);
}

/* Stopped early there is at least an outcome; stopped late there is the best model so far. And the handle runs again.
 */
static void test_cancel(void **state)
{
    kbass_settings settings = defaults();
    kbass_discovery *d = NULL;
    kbass_data *data = sample("vdp", 25, 5);
    (void)state;
    settings.threads = 1;
    CHECK_OK(kbass_discovery_create(data, &settings, &d, &error));
    CHECK(run_cancelled(d, false)->outcome == KBASS_CANCELLED);
    const kbass_result *late = run_cancelled(d, true);
    CHECK(late->outcome == KBASS_CANCELLED && late->n_equations == 2 && count_selected(late) >= 2);
    for (size_t e = 0; e < 2; e++)
        for (size_t q = 0; q < late->equations[e].n_terms; q++)
            CHECK(!late->equations[e].terms[q].selected || isfinite(late->equations[e].terms[q].weight));
    CHECK_OK(kbass_discovery_run(d, NULL, NULL, &error));
    EXPECT(d, vdp, 0.2); /* as test_vdp_noisy */
    kbass_data_destroy(data);
    kbass_discovery_destroy(d);
    kbass_discovery_destroy(NULL);
}

/* ---------------------------------------------------------------- doors */

static void test_before_the_run(void **state)
{
    const kbass_settings settings = defaults();
    static const double times[] = {1};
    double mean[2], sd[2];
    char *json = NULL;
    kbass_discovery *d = NULL;
    kbass_data *data = sample("vdp", 10, 0);
    (void)state;
    CHECK_OK(kbass_discovery_create(data, &settings, &d, &error));
    kbass_data_destroy(data);
    CHECK_FAILS(kbass_discovery_solution(d, 0, 1, times, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "no solution yet");
    CHECK_FAILS(kbass_discovery_json(d, &json, &error), KBASS_ERROR_ARGUMENT, "no result yet");
    kbass_discovery_destroy(d);
}

static void test_bad_times(void **state)
{
    static const double falling[] = {2, 1}, outside[] = {9}, broken[] = {NAN};
    double mean[4], sd[4];
    (void)state;
    kbass_discovery *d = discover(sample("logistic", 12, 0), defaults());
    CHECK_FAILS(kbass_discovery_solution(d, 0, 2, falling, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT, "ascending");
    CHECK_FAILS(kbass_discovery_solution(d, 0, 1, broken, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT, "ascending");
    CHECK_OK(kbass_discovery_solution(d, 0, 1, outside, NULL, mean, sd, &error)); /* 9 is within [0, 10] */
    CHECK_CLOSE(mean[0], 0.05 / (0.05 + 0.95 * exp(-9)), 1e-3); /* the closed form; noise floor 1e-3 */
    kbass_discovery_destroy(d);
}

static void test_not_finite_term(void **state)
{
    kbass_settings settings = defaults();
    kbass_discovery *d = NULL;
    kbass_data *data = sample("vdp", 10, 0);
    (void)state;
    settings.terms = "x, y, log(x)";
    CHECK_FAILS(kbass_discovery_create(data, &settings, &d, &error), KBASS_ERROR_DATA, "\"log(x)\" is not finite");
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- no memory */

static kbass_status whole_life(const kbass_data *data, const kbass_settings *settings)
{
    static const double times[] = {0.5, 3};
    double mean[2], sd[2];
    char *json = NULL;
    kbass_discovery *d = NULL;
    kbass_status status = kbass_discovery_create(data, settings, &d, &error);
    if (status == KBASS_OK) status = kbass_discovery_run(d, NULL, NULL, &error);
    if (status == KBASS_OK) status = kbass_discovery_solution(d, 0, 2, times, NULL, mean, sd, &error);
    if (status == KBASS_OK) status = kbass_discovery_json(d, &json, &error);
    kbass_free(json);
    kbass_discovery_destroy(d);
    return status;
}

/* Allocations fail from the n-th on, n from 0 to all of them in growing strides; the sanitizers watch. */
static void test_without_memory(void **state)
{
    kbass_settings settings = defaults();
    kbass_data *data = sample("logistic", 10, 1);
    kbass_status status = KBASS_ERROR_MEMORY;
    long n = 0;
    (void)state;
    settings.threads = 1;
    settings.mesh = "30";
    settings.degree = 2;
    while (status != KBASS_OK && n < 1000000) {
        kb_memory_fail_after(n);
        status = whole_life(data, &settings);
        kb_memory_fail_after(-1);
        n += 1 + n / 24;
    }
    CHECK(status == KBASS_OK && n > 100);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vdp_clean),
        cmocka_unit_test(test_vdp_noisy_three_times),
        cmocka_unit_test(test_lotka_gaps_three_times),
        cmocka_unit_test(test_logistic_three_times),
        cmocka_unit_test(test_pendulum_three_times),
        cmocka_unit_test(test_fixed_equation_three_times),
        cmocka_unit_test(test_all_fixed),
        cmocka_unit_test(test_required),
        cmocka_unit_test(test_explained),
        cmocka_unit_test(test_equation_for),
        cmocka_unit_test(test_long_chaos),
        cmocka_unit_test(test_many_periods),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_before_the_run),
        cmocka_unit_test(test_bad_times),
        cmocka_unit_test(test_not_finite_term),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
