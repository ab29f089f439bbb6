/* --method em: EP-EM's own answers, on states, runs and fields. */
#include <stdlib.h>

#include "base/settings.h"
#include "check.h"
#include "data/data.h"
#include "kbass/kbass.h"
#include "posterior/posterior.h"

enum { ROWS = 40 };
static kbass_error error;

static kbass_settings em_settings(void)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.method = KB_METHOD_EM;
    settings.degree = 2;
    return settings;
}

static kbass_discovery *discover(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* x_t = 0.55 x - 0.028 x y, y_t = -0.84 y + 0.026 x y */
static kbass_data *hares(double x, double percent, double *truth)
{
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    double times[ROWS], states[2 * ROWS];
    const char *names[] = {"x", "y"};
    for (size_t i = 0; i < ROWS; i++) times[i] = 20 * (double)i / (ROWS - 1);
    CHECK_OK(kbass_model_named("lotka-volterra", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, (double[]){x, 4}, ROWS, times, states, &error));
    CHECK_OK(kbass_data_create(ROWS, 2, times, states, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, 2, &error));
    for (size_t i = 0; truth && i < 2 * ROWS; i++) truth[i] = states[i];
    kbass_model_destroy(model);
    return data;
}

typedef struct {
    size_t equation;
    const char *term;
    double weight;
} part;

static const part of_hares[] = {{0, "x", 0.55}, {0, "x*y", -0.028}, {1, "y", -0.84}, {1, "x*y", 0.026}};

/* Exactly these terms, weights within a share of theirs. */
static void check_law(const kbass_result *result, size_t n, const part *law, double tolerance)
{
    size_t selected = 0;
    for (size_t i = 0; i < result->n_equations; i++)
        for (size_t q = 0; q < result->equations[i].n_terms; q++) selected += result->equations[i].terms[q].selected;
    CHECK(selected == n);
    for (size_t k = 0; k < n; k++) {
        const kbass_equation *equation = &result->equations[law[k].equation];
        const kbass_term *found = NULL;
        for (size_t q = 0; q < equation->n_terms; q++)
            if (!strcmp(equation->terms[q].term, law[k].term)) found = &equation->terms[q];
        CHECK(found && found->selected && found->probability > 0.5 && found->sd > 0);
        CHECK_CLOSE(found->weight, law[k].weight, tolerance * fabs(law[k].weight));
    }
}

static void states_with_their_band(void **state)
{
    (void)state;
    double truth[2 * ROWS], mean[2 * ROWS], sd[2 * ROWS], squares = 0;
    kbass_data *data = hares(30, 5, truth);
    kbass_settings settings = em_settings();
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    check_law(result, 4, of_hares, 0.08); /* 5 % noise: three sd of what the weights are known to */
    CHECK(result->outcome == KBASS_CONVERGED && result->n_runners_up > 0 && result->probability > 0.5);
    CHECK_CLOSE(result->initial[0], 30, 4); /* 5 % noise at the end of the record */
    CHECK_OK(kbass_discovery_solution(discovery, 0, ROWS, data->times, NULL, mean, sd, &error));
    for (size_t i = 0; i < 2 * ROWS; i++) squares += pow((mean[i] - truth[i]) / sd[i], 2) / (2 * ROWS);
    CHECK(squares < 4); /* within twice its own sd in the mean: points of one curve are not independent */
    char *json = NULL;
    CHECK_OK(kbass_discovery_json(discovery, &json, &error));
    CHECK(strstr(json, "\"em\""));
    kbass_free(json);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static const kbass_term *term_of(const kbass_result *result, size_t equation, const char *name)
{
    for (size_t q = 0; q < result->equations[equation].n_terms; q++)
        if (!strcmp(result->equations[equation].terms[q].term, name)) return &result->equations[equation].terms[q];
    return NULL;
}

/* The joint posterior has the answer's weights, as certain as the answer has them, and a start near the truth. */
static void the_posterior_is_of_its_own_weights(void **state)
{
    (void)state;
    kbass_data *data = hares(30, 5, NULL);
    kbass_settings settings = em_settings();
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    kbass_posterior *posterior = NULL;
    CHECK_OK(kbass_discovery_posterior(discovery, 0, &posterior, &error));
    const kb_belief *model = &posterior->models[0];
    size_t size = model->n_terms + posterior->n_start;
    const double *V = model->windows[0].covariance;
    CHECK(model->n_terms == 4 && model->n_windows == 1);
    for (size_t q = 0; q < model->n_terms; q++) {
        const kbass_term *term = term_of(result, model->equation[q], model->term[q]);
        CHECK(term != NULL);
        CHECK_CLOSE(model->weight[q], term->weight, 1e-9 * fabs(term->weight));
        CHECK_CLOSE(sqrt(V[q + q * size]), term->sd, 0.01 * term->sd); /* which has the rivals in it */
    }
    for (size_t q = model->n_terms; q < size; q++) CHECK(V[q + q * size] > 0);
    for (size_t q = 0; q < size; q++) /* a covariance: no correlation beyond 1 */
        for (size_t p = 0; p < q; p++)
            CHECK(pow(V[p + q * size], 2) < V[p + p * size] * V[q + q * size] && V[p + q * size] == V[q + p * size]);
    CHECK_CLOSE(model->windows[0].start[0], 30, 4); /* 5 % noise at the end of the record */
    kbass_posterior_destroy(posterior);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void terms_are_explained(void **state)
{
    (void)state;
    kbass_data *data = hares(30, 5, NULL);
    kbass_settings settings = em_settings();
    settings.explain = "x";
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    check_law(result, 4, of_hares, 0.08); /* as above */
    CHECK(result->n_explanations == 2);
    for (size_t i = 0; i < 2; i++) { /* x drives the hares, not the lynx */
        CHECK(result->explanations[i].log_evidence < 0);
        if (!strcmp(result->explanations[i].lhs, "x_t")) CHECK(result->explanations[i].log_evidence < -20);
    }
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* Two records of one law are two patches with one set of weights. */
static void runs_share_their_weights(void **state)
{
    (void)state;
    kbass_data *parts[] = {hares(30, 5, NULL), hares(20, 5, NULL)}, *data = NULL;
    static const char *const names[] = {"a", "b"};
    kbass_settings settings = em_settings();
    settings.vary = "x_t:x";
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, names, &data, &error));
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    check_law(result, 4, of_hares, 0.08); /* as above */
    CHECK(result->n_runs == 2 && result->n_patches >= 2);
    CHECK_CLOSE(result->initial[2], 20, 4); /* the second begins there */
    CHECK(result->n_varied == 1 && result->varied[0].n_runs == 2 && result->varied[0].log_odds < 0); /* it is one */
    CHECK_CLOSE(result->varied[0].weights[1], 0.55, 0.05);                                           /* 9 %: as above */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    for (size_t i = 0; i < 2; i++) kbass_data_destroy(parts[i]);
}

/* u_t = 0.5 u_xx - 2 u_x on 12 x 12 points of a line */
static void a_field(void **state)
{
    (void)state;
    enum { N = 12 };
    static const part law[] = {{0, "u_x", -2}, {0, "u_xx", 0.5}};
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    double times[N * N], places[N * N], values[N * N], mean[N * N], sd[N * N];
    for (size_t i = 0; i < N * N; i++) {
        double t = times[i] = 1.5 * (double)(i / N) / (N - 1), x = places[i] = 6 * (double)(i % N) / N;
        double k = 2 * M_PI / 6, s = x - 2 * t;
        values[i] = 1 + exp(-0.5 * k * k * t) * cos(k * s) + 0.5 * exp(-2 * k * k * t) * sin(2 * k * s);
    }
    kbass_data *data = NULL;
    kbass_settings settings = em_settings();
    settings.derivatives = 2;
    CHECK_OK(kbass_data_create_axes(N * N, 2, 1, times, places, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 3, &error));
    kbass_discovery *discovery = discover(data, &settings);
    check_law(kbass_discovery_result(discovery), 2, law, 0.1); /* 2 % noise; three sd of the weights */
    CHECK_OK(kbass_discovery_solution(discovery, 0, N * N, times, places, mean, sd, &error));
    for (size_t i = 0; i < N * N; i++) CHECK(fabs(mean[i] - values[i]) < 0.1 && sd[i] > 0); /* of a range of 3 */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void what_it_cannot_do_is_said(void **state)
{
    (void)state;
    kbass_data *data = hares(30, 0, NULL);
    kbass_settings settings = em_settings();
    kbass_discovery *discovery = NULL;
    settings.noise_model = 1;
    CHECK_FAILS(kbass_discovery_create(data, &settings, &discovery, &error), KBASS_ERROR_ARGUMENT, "--method em");
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_with_their_band),
        cmocka_unit_test(the_posterior_is_of_its_own_weights),
        cmocka_unit_test(terms_are_explained),
        cmocka_unit_test(runs_share_their_weights),
        cmocka_unit_test(a_field),
        cmocka_unit_test(what_it_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
