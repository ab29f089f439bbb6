/* The kernel engine's search on small PDEs whose data are made here: by closed forms and by a fine explicit scheme. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "posterior/kernel_solution.h"
#include "propose/kernel/search.h"

static kbass_error error;

typedef struct {
    kbass_data *data;
    kb_field_samples *samples;
    kb_dictionary *dictionary;
    kb_patched_domain *domain;
    kb_columns *columns;
    kb_kernel_fit proposals[8];
    size_t n;
} search;

/* Takes the data over. */
static void make_search(search *s, kbass_data *data, const kbass_settings *settings)
{
    *s = (search){.data = data};
    CHECK_OK(kb_field_samples_create(data, NULL, &s->samples, &error));
    CHECK_OK(kb_dictionary_create_fields(settings, data->n_states, (const char *const *)data->state_names, data->n_axes,
                                         (const char *const *)data->axis_names, &s->dictionary, &error));
    CHECK_OK(kb_patched_domain_create(1, &s->samples, s->dictionary, settings, kb_kernel_scope, 2, &s->domain, &error));
    CHECK_OK(kb_columns_create(s->dictionary, s->samples->sd, s->samples->span[0], s->domain->n_reference,
                               s->domain->reference, s->domain->slope_squares, &s->columns, &error));
}

static void seek(search *s, kbass_data *data, const kbass_settings *settings, double time_limit)
{
    kb_run run;
    make_search(s, data, settings);
    kb_run_begin(&run, NULL, NULL, time_limit);
    CHECK_OK(kb_kernel_propose(s->domain, s->columns, &run, 8, s->proposals, &s->n, &error));
}

static void forget(search *s)
{
    for (size_t i = 0; i < s->n; i++) kb_kernel_fit_clear(&s->proposals[i]);
    kb_columns_destroy(s->columns);
    kb_patched_domain_destroy(s->domain);
    kb_dictionary_destroy(s->dictionary);
    kb_field_samples_destroy(s->samples);
    kbass_data_destroy(s->data);
}

/* The best proposal has these terms and no other, weights within the tolerance. */
static void check_law(const search *s, size_t n, const char *const *terms, const double *weights, double tolerance)
{
    const kb_kernel_fit *best = &s->proposals[0];
    CHECK(s->n > 0);
    assert_int_equal(best->support.n, n);
    for (size_t q = 0; q < n; q++) {
        size_t column = best->support.column[q], i = 0;
        const char *name = kb_dictionary_name(s->dictionary, s->columns->term[column]);
        while (i < n && strcmp(name, terms[i])) i++;
        if (i == n) fail_msg("found the term %s", name);
        CHECK_CLOSE(best->w[column] * s->columns->unit[column], weights[i], tolerance * fabs(weights[i]));
    }
}

static void check_order(const search *s)
{
    for (size_t i = 1; i < s->n; i++) {
        CHECK(s->proposals[i].log_evidence <= s->proposals[i - 1].log_evidence);
        for (size_t j = 0; j < i; j++) CHECK(!kb_support_equal(&s->proposals[i].support, &s->proposals[j].support));
    }
}

/* ---------------------------------------------------------------- Burgers */

enum { FINE = 400, TIMES = 12, PLACES = 14 };

/* u_t = -u u_x + 0.1 u_xx on [0, 10), periodic, fourth-order Runge-Kutta on central differences. */
static void burgers_slope(const double *u, double *slope)
{
    double h = 10.0 / FINE;
    for (int i = 0; i < FINE; i++) {
        double left = u[(i + FINE - 1) % FINE], right = u[(i + 1) % FINE];
        slope[i] = -(right * right - left * left) / (4 * h) + 0.1 * (right - 2 * u[i] + left) / (h * h);
    }
}

static void burgers_advance(double *u, double dt)
{
    double k[4][FINE], trial[FINE];
    static const double share[] = {0, 0.5, 0.5, 1};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < FINE; i++) trial[i] = u[i] + (stage ? share[stage] * dt * k[stage - 1][i] : 0);
        burgers_slope(trial, k[stage]);
    }
    for (int i = 0; i < FINE; i++) u[i] += dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static kbass_data *burgers_data(double noise)
{
    double u[FINE], times[TIMES * PLACES], places[TIMES * PLACES], values[TIMES * PLACES], last = 6;
    const char *const axes[] = {"t", "x"}, *const fields[] = {"u"};
    int steps = 1000;
    kb_random random;
    kbass_data *data = NULL;
    kb_random_seed(&random, 5);
    for (int i = 0; i < FINE; i++) u[i] = exp(-pow(10.0 * i / FINE - 4, 2));
    for (int t = 0; t < TIMES; t++) {
        for (int x = 0; x < PLACES; x++) {
            int at = x * (FINE - 1) / (PLACES - 1), row = t * PLACES + x;
            times[row] = last * t / (TIMES - 1);
            places[row] = 10.0 * at / FINE;
            values[row] = u[at] + noise * kb_random_normal(&random);
        }
        for (int i = 0; i < steps; i++) burgers_advance(u, last / (TIMES - 1) / steps);
    }
    CHECK_OK(kbass_data_create_axes(TIMES * PLACES, 2, 1, times, places, values, axes, fields, &data, &error));
    return data;
}

static void burgers_from_a_coarse_grid(void **state)
{
    (void)state;
    search s;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.derivatives = 3;
    seek(&s, burgers_data(0.01), &settings, 0);
    check_law(&s, 2, (const char *const[]){"u*u_x", "u_xx"}, (const double[]){-1, 0.1}, 0.1); /* noise 1 of 30 */
    check_order(&s);
    CHECK(s.proposals[0].variance[0] * pow(s.samples->sd[0], 2) < 4e-4); /* true noise 1e-4, in the data's units */
    forget(&s);
}

/* With nothing to choose the search is short; its weights are those of the long one. */
static void told_terms_need_no_search(void **state)
{
    (void)state;
    search s;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = settings.derivatives = settings.constant = 0;
    settings.terms = "u*u_x, u_xx";
    settings.require = "u_t: u*u_x, u_xx";
    seek(&s, burgers_data(0.01), &settings, 0);
    assert_int_equal(s.n, 1);
    check_law(&s, 2, (const char *const[]){"u*u_x", "u_xx"}, (const double[]){-1, 0.1}, 0.1); /* noise 1 of 30 */
    forget(&s);
}

static void a_stopped_search_leaves_what_there_is(void **state)
{
    (void)state;
    search s;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.derivatives = 2;
    seek(&s, burgers_data(0.01), &settings, 1e-6);
    assert_int_equal(s.n, 0);
    forget(&s);
}

/* ---------------------------------------------------------------- drift and diffusion, scattered */

static double drifting(double t, double x)
{
    return exp(-0.1 * t) * sin(x - 0.5 * t) + 0.7 * exp(-0.4 * t) * cos(2 * (x - 0.5 * t) + 1);
}

static kbass_data *scattered_data(size_t n, double noise)
{
    const char *const axes[] = {"t", "x"}, *const fields[] = {"u"};
    double *times = malloc(n * sizeof *times), *places = malloc(n * sizeof *places);
    double *values = malloc(n * sizeof *values);
    kb_random random;
    kbass_data *data = NULL;
    kb_random_seed(&random, 9);
    for (size_t i = 0; i < n; i++) {
        times[i] = 3 * kb_random_uniform(&random);
        places[i] = 6 * kb_random_uniform(&random);
        values[i] = drifting(times[i], places[i]) + noise * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create_axes(n, 2, 1, times, places, values, axes, fields, &data, &error));
    free(times), free(places), free(values);
    return data;
}

static void check_solution(const search *s)
{
    enum { N = 60 };
    double points[2 * N], mean[N], sd[N], residual[N], outside = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
        points[i] = 0.3 + 2.4 * (double)(i % 7) / 6;
        points[i + N] = 0.6 + 4.8 * (double)i / (N - 1);
    }
    CHECK_OK(kb_kernel_solution(s->domain, s->columns, &s->proposals[0], 0, N, points, mean, sd, residual, &error));
    for (size_t i = 0; i < N; i++) {
        double miss = fabs(mean[i] - drifting(points[i], points[i + N]));
        CHECK_CLOSE(miss, 0, 0.05); /* noise 0.02, averaged; a point near a gap of the scatter may be off by two */
        CHECK(sd[i] > 0 && sd[i] < 0.05);
        outside += miss > 3 * sd[i];
        squares += residual[i] * residual[i];
    }
    CHECK(outside <= 0.2 * N);      /* 3 sd hold all but 1 in 300 by themselves; neighbours are correlated */
    CHECK(sqrt(squares / N) < 0.2); /* u_t has rms 0.5 */
}

static void drift_and_diffusion_from_scattered_points(void **state)
{
    (void)state;
    search s;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.degree = 2;
    settings.derivatives = 2;
    seek(&s, scattered_data(130, 0.02), &settings, 0);
    CHECK(!s.samples->gridded);
    check_law(&s, 2, (const char *const[]){"u_x", "u_xx"}, (const double[]){-0.5, 0.1}, 0.1); /* noise 2 % of sd 1 */
    check_solution(&s);
    forget(&s);
}

/* A model that there is no memory to keep is an error, not a model less; and the search for hyperparameters has an end
   only where no step away from them helps. */
static void what_cannot_be_kept_or_tuned_is_told(void **state)
{
    (void)state;
    search s;
    kb_run run;
    kb_kernel_search *kernel = NULL;
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = "u_x, u_xx";
    make_search(&s, scattered_data(60, 0.02), &settings);
    kb_run_begin(&run, NULL, NULL, 0);
    CHECK_OK(kb_kernel_search_create(s.domain, s.columns, &run, &kernel, &error));
    kb_kernel_state *at = kernel->spare[0];
    CHECK(kb_kernel_search_begin(kernel, at) && kb_kernel_search_propose(kernel, 0.5, at));
    CHECK(kb_kernel_search_evaluate(kernel, at, 3, false) > -INFINITY);
    kb_kernel_search_tune(kernel, at, kernel->spare[1], true, 2, 1);
    CHECK(at->is_settled && !at->is_tuned);
    kb_kernel_search_tune(kernel, at, kernel->spare[1], true, 100, 1000);
    CHECK(at->is_settled && at->is_tuned);
    kb_memory_fail_after(0);
    kb_kernel_pool_keep(kernel, at);
    kb_memory_fail_after(-1);
    assert_int_equal(kb_kernel_search_ascend(kernel, &error), KBASS_ERROR_MEMORY);
    kb_kernel_search_destroy(kernel);
    forget(&s);
}

/* The chosen model of a search that saw one of two patches, with its field there. */
static void find_on_one_patch(kb_patched_domain *both, const kb_columns *columns, kb_kernel_fit *found)
{
    kb_run run;
    kb_kernel_search *kernel = NULL;
    assert_int_equal(both->n_patches, 2);
    both->n_searched = 1;
    kb_run_begin(&run, NULL, NULL, 0);
    CHECK_OK(kb_kernel_search_create(both, columns, &run, &kernel, &error));
    kb_kernel_state *at = kernel->spare[0];
    CHECK(kb_kernel_search_begin(kernel, at) && kb_kernel_search_propose(kernel, 0.5, at));
    CHECK(kb_kernel_search_evaluate(kernel, at, 3, false) > -INFINITY);
    CHECK_OK(kb_kernel_fit_create(kernel->solver, at, found, &error));
    kb_kernel_fit_keep_field(kernel->solver, at, found);
    CHECK(found->z && kb_kernel_fit_has_field(kernel->solver, found));
    kb_kernel_search_destroy(kernel);
}

/* Where there are more patches than were searched, the field that was kept is no field of all: it is made again, as if
   none had been kept. Two runs of the same data are the patches. */
static void a_field_of_some_patches_is_not_one_of_all(void **state)
{
    (void)state;
    enum { N = 3 };
    search s;
    kbass_settings settings;
    kb_patched_domain *both = NULL;
    kb_field_samples *runs[2] = {NULL};
    kb_kernel_fit found = {0};
    const double points[2 * N] = {0.5, 1.5, 2.5, 1, 3, 5};
    double kept[N], made[N], sd[N];
    kb_settings_default(&settings);
    settings.terms = "u_x, u_xx";
    make_search(&s, scattered_data(60, 0.02), &settings);
    for (size_t i = 0; i < 2; i++) CHECK_OK(kb_field_samples_create(s.data, NULL, &runs[i], &error));
    CHECK_OK(kb_patched_domain_create(2, runs, s.dictionary, &settings, kb_kernel_scope, 1, &both, &error));
    find_on_one_patch(both, s.columns, &found);
    CHECK_OK(kb_kernel_solution(both, s.columns, &found, 1, N, points, kept, sd, NULL, &error));
    kb_free(found.z);
    found.z = NULL;
    CHECK_OK(kb_kernel_solution(both, s.columns, &found, 1, N, points, made, sd, NULL, &error));
    for (size_t i = 0; i < N; i++) {
        CHECK_CLOSE(kept[i], made[i], 0);
        CHECK_CLOSE(kept[i], drifting(points[i], points[i + N]), 0.1); /* noise 0.02; few points, and not tuned */
    }
    kb_kernel_fit_clear(&found);
    kb_patched_domain_destroy(both);
    for (size_t i = 0; i < 2; i++) kb_field_samples_destroy(runs[i]);
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(burgers_from_a_coarse_grid),
        cmocka_unit_test(told_terms_need_no_search),
        cmocka_unit_test(a_stopped_search_leaves_what_there_is),
        cmocka_unit_test(drift_and_diffusion_from_scattered_points),
        cmocka_unit_test(what_cannot_be_kept_or_tuned_is_told),
        cmocka_unit_test(a_field_of_some_patches_is_not_one_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
