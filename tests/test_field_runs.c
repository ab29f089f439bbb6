/* Several runs of fields over one space axis that share one law. */
#include <unistd.h>

#include "check.h"
#include "forward/pde1d/runs.h"
#include "forward/shoot.h"
#include "found.h"
#include "posterior/posterior.h"
#include "ode_setup.h"

static const char *const burgers[] = {"u_t: u*u_x", "u_t: u_xx"}, *const law[] = {"u_t = -u*u_x + 0.1*u_xx"};
static const char *const profiles[] = {"exp(-(x-4)^2/3)", "-sin(pi*x/8)*0.8", "0.7*sin(pi*x/4)+0.3*cos(pi*x/8)"};
static const char *const names[] = {"first", "second", "third"}, field_terms[] = "u, u^2, u_x, u*u_x, u_xx, u_xxx";

static kbass_data *sample_of(const char *const *equations, const char *domain, const char *profile, size_t n_times,
                             size_t n_places, double noise, uint64_t seed)
{
    const size_t counts[] = {n_times, n_places};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    CHECK_OK(
        kbass_model_parse(1, equations, &(kbass_model_options){.domain = domain, .initial = profile}, &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, noise, seed, &error));
    kbass_model_destroy(pde);
    return data;
}

static kbass_data *sample(const char *domain, const char *profile, size_t n_times, size_t n_places, double noise,
                          uint64_t seed)
{
    return sample_of(law, domain, profile, n_times, n_places, noise, seed);
}

static kbass_data *join(size_t n, kbass_data **parts)
{
    kbass_data *data = NULL;
    CHECK_OK(kbass_data_join(n, (const kbass_data *const *)parts, names, &data, &error));
    for (size_t i = 0; i < n; i++) kbass_data_destroy(parts[i]);
    return data;
}

/* ---------------------------------------------------------------- data */

static void runs_keep_their_places(void **state)
{
    (void)state;
    static const double times[] = {0, 0, 0, 0, 1, 1, 1, 1}, places[] = {0, 0, 2, 2, 0, 0, 2, 2};
    static const double rows[] = {1, 10, 2, 20, 1, 11, 2, 21, 1, 12, 2, 22, 1, 13, 2, 23};
    static const double values[] = {10, 11, 12, 13, 20, 21, 22, 23};
    static const char *const axes[] = {"t", "x"}, *const columns[] = {"nr", "u"};
    kbass_data *data = NULL, *twice = NULL;
    char text[300];
    CHECK_OK(kbass_data_create_axes(8, 2, 2, times, places, rows, axes, columns, &data, &error));
    CHECK_OK(kbass_data_split(data, "nr", &error));
    CHECK(kbass_data_runs(data) == 2 && data->run_start[1] == 4);
    for (size_t i = 0; i < 8; i++)
        CHECK(data->values[i] == values[i] && data->positions[i] == 2 * (double)(i % 2) &&
              data->times[i] == (double)(i / 2 % 2));
    kbass_data_describe(data, text, sizeof text);
    CHECK(strstr(text, "8 rows in 2 runs (1, 2) on a 2 x 2 grid (t, x)"));
    const kbass_data *parts[] = {data, data};
    CHECK_OK(kbass_data_join(2, parts, names, &twice, &error));
    CHECK(twice->n_runs == 4 && !memcmp(twice->positions + 8, data->positions, 8 * sizeof *data->positions));
    kbass_data_destroy(twice);
    kbass_data_destroy(data);
}

static void runs_share_units_and_domains(void **state)
{
    (void)state;
    kbass_data *parts[] = {sample("x=-8:8, t=0:8", profiles[0], 5, 9, 0, 1),
                           sample("x=-8:8, t=2:4", profiles[1], 4, 12, 0, 1)};
    kbass_data *same = join(2, parts), *other = NULL;
    kb_field_samples *run_samples[2];
    bool is_one = false;
    CHECK_OK(kb_field_samples_create_runs(same, NULL, run_samples, &is_one, &error));
    CHECK(is_one && run_samples[0]->mean[0] == run_samples[1]->mean[0] &&
          run_samples[0]->sd[0] == run_samples[1]->sd[0]);
    CHECK(run_samples[1]->first[1] == -8 && run_samples[1]->span[1] == 16 && run_samples[1]->first[0] == 2 &&
          run_samples[1]->span[0] == 8);
    CHECK_CLOSE(run_samples[1]->extent[0], 0.25, 1e-12); /* 2 of 8, rounding */
    CHECK_CLOSE(run_samples[1]->grid[0][3], 0.25, 1e-12);
    for (size_t i = 0; i < 2; i++) kb_field_samples_destroy(run_samples[i]);

    kbass_data *apart[] = {sample("x=-8:8, t=0:8", profiles[0], 5, 9, 0, 1),
                           sample("x=0:6, t=0:8", "sin(pi*x/3)", 5, 9, 0, 1)};
    other = join(2, apart);
    CHECK_OK(kb_field_samples_create_runs(other, NULL, run_samples, &is_one, &error));
    CHECK(!is_one && run_samples[0]->span[1] == 16 && run_samples[1]->first[1] == 0 && run_samples[1]->span[1] == 6);
    for (size_t i = 0; i < 2; i++) kb_field_samples_destroy(run_samples[i]);
    kbass_data_destroy(same);
    kbass_data_destroy(other);
}

static void axes_have_to_agree(void **state)
{
    (void)state;
    static const double times[] = {0, 1}, values[] = {1, 2};
    static const char *const u[] = {"u"};
    kbass_data *field = sample("x=-8:8, t=0:8", profiles[0], 3, 3, 0, 1), *plain = NULL, *joined = NULL;
    CHECK_OK(kbass_data_create(2, 1, times, values, NULL, u, &plain, &error));
    const kbass_data *parts[] = {field, plain};
    CHECK_FAILS(kbass_data_join(2, parts, names, &joined, &error), KBASS_ERROR_DATA,
                "second: found 1 axis, the first run has 2");
    kbass_data_destroy(field);
    kbass_data_destroy(plain);
}

/* ---------------------------------------------------------------- the engine */

typedef struct {
    kb_field_samples *run_samples[2];
    kb_pde1d_setup setups[2];
    kb_dictionary *dictionary;
    kb_columns *columns;
    kb_support all;
} stage;

/* Two runs with different numbers of modes, the second with open ends. */
static void set_stage(const kbass_data *data, stage *s)
{
    static const char *const fields[] = {"u"}, *const axes[] = {"t", "x"};
    enum { POINTS = 50 };
    kbass_settings settings;
    double points[POINTS * 8], squares[] = {25};
    bool is_one;
    kb_settings_default(&settings);
    settings.terms = "u_x, u*u_x, u_xx";
    CHECK_OK(kbass_data_runs(data) == 2 ? KBASS_OK : KBASS_ERROR_DATA);
    CHECK_OK(kb_dictionary_create_fields(&settings, 1, fields, 2, axes, &s->dictionary, &error));
    CHECK_OK(kb_field_samples_create_runs(data, NULL, s->run_samples, &is_one, &error));
    CHECK(s->dictionary->n_variables <= 8);
    for (size_t i = 0; i < POINTS * s->dictionary->n_variables; i++) points[i] = sin(1.7 * (double)i);
    CHECK_OK(kb_columns_create(s->dictionary, s->run_samples[0]->sd, s->run_samples[0]->span[0], POINTS, points,
                               squares, &s->columns, &error));
    CHECK_OK(kb_support_create(s->columns->n, &s->all, &error));
    for (size_t i = 0; i < s->columns->n; i++) kb_support_add(&s->all, i);
    for (size_t i = 0; i < 2; i++) {
        s->setups[i].samples = s->run_samples[i];
        s->setups[i].line = (kb_pde1d_settings){.n_nodes = 80, .steps = 2, .periodic = i == 0, .period = 1};
        CHECK_OK(kb_pde1d_profile(1, &s->run_samples[i], &s->setups[i].line, 3, i ? 0.15 : 0.05, &s->setups[i].profile,
                                  &error));
    }
}

static void clear_stage(stage *s)
{
    for (size_t i = 0; i < 2; i++) kb_field_samples_destroy(s->run_samples[i]);
    kb_columns_destroy(s->columns);
    kb_dictionary_destroy(s->dictionary);
    kb_support_clear(&s->all);
}

/* The message of `n` runs from the `first` on, at starts by regression and weights near the law's. */
static size_t listen_to(const stage *s, const kb_columns *columns, size_t first, size_t n, double *G, double *b)
{
    kb_pde1d_runs *all_runs = NULL;
    kb_shooter *shooter = NULL;
    kb_windows *windows = NULL;
    kb_message *message = NULL;
    kb_fit *fit = NULL;
    size_t k = columns->n;
    CHECK_OK(kb_pde1d_runs_create(n, s->setups + first, s->dictionary, columns, k, &all_runs, &error));
    CHECK_OK(kb_shooter_create_on(&all_runs->dynamics, columns, n, k, &shooter, &error));
    CHECK_OK(kb_windows_divide_runs(n, all_runs->run_start, 1, &windows, &error));
    CHECK_OK(kb_message_create(k, &message, &error));
    CHECK_OK(kb_fit_create(k, shooter->likelihood.n_start, n, k, &fit, &error));
    shooter->likelihood.windows = windows;
    for (size_t i = 0; i < k; i++) kb_support_add(&fit->support, i);
    for (size_t i = 0; i < k; i++) fit->w[i] = 0.1 / columns->unit[i];
    fit->variance[0] = 0.01;
    for (size_t i = 0; i < n; i++)
        CHECK_OK(all_runs->dynamics.guess(&all_runs->dynamics, all_runs->run_start[i],
                                          fit->start + i * shooter->likelihood.n_start, &error));
    CHECK(kb_shooter_message(shooter, fit, &fit->support, message));
    memcpy(G, message->G, k * k * sizeof *G);
    memcpy(b, message->b, k * sizeof *b);
    size_t n_start = shooter->likelihood.n_start;
    kb_fit_destroy(fit);
    kb_message_destroy(message);
    kb_windows_destroy(windows);
    kb_shooter_destroy(shooter);
    return n_start;
}

static size_t listen(const stage *s, size_t first, size_t n, double *G, double *b)
{
    return listen_to(s, s->columns, first, n, G, b);
}

static void messages_of_runs_add(void **state)
{
    (void)state;
    enum { K = 3 };
    stage s = {0};
    double G[3][K * K], b[3][K];
    kbass_data *parts[] = {sample("x=-8:8, t=0:8", profiles[1], 6, 12, 1, 1),
                           sample("x=0:6, t=1:4", "sin(pi*x/3)", 5, 9, 1, 2)};
    kbass_data *data = join(2, parts);
    set_stage(data, &s);
    size_t both = listen(&s, 0, 2, G[2], b[2]), one = listen(&s, 0, 1, G[0], b[0]), two = listen(&s, 1, 1, G[1], b[1]);
    CHECK(s.columns->n == K && one != two && both == (one > two ? one : two));
    for (size_t i = 0; i < K * K; i++)
        CHECK_CLOSE(G[2][i], G[0][i] + G[1][i], 1e-9 * fabs(G[2][i]) + 1e-9); /* rounding of the same sums */
    for (size_t i = 0; i < K; i++) CHECK_CLOSE(b[2][i], b[0][i] + b[1][i], 1e-8 * fabs(b[2][i]) + 1e-8);
    clear_stage(&s);
    kbass_data_destroy(data);
}

/* Columns that hold in one run each: what both runs say is what each says alone, block by block. */
static void columns_of_a_run_hear_that_run(void **state)
{
    (void)state;
    enum { K = 3 };
    stage s = {0};
    double G[3][4 * K * K], b[3][2 * K];
    size_t term[2 * K], equation[2 * K] = {0}, run[2 * K];
    double scale[2 * K], unit[2 * K], slab[2 * K], log_odds[2 * K] = {0};
    kbass_data *parts[] = {sample("x=-8:8, t=0:8", profiles[1], 6, 12, 1, 1),
                           sample("x=0:6, t=1:4", "sin(pi*x/3)", 5, 9, 1, 2)};
    kbass_data *data = join(2, parts);
    set_stage(data, &s);
    CHECK(s.columns->n == K);
    kb_columns each = {.n = 2 * K,
                       .equation = equation,
                       .term = term,
                       .log_odds = log_odds,
                       .scale = scale,
                       .unit = unit,
                       .slab = slab,
                       .run = run};
    for (size_t i = 0; i < 2 * K; i++) {
        run[i] = i / K;
        term[i] = s.columns->term[i % K];
        scale[i] = s.columns->scale[i % K];
        unit[i] = s.columns->unit[i % K];
        slab[i] = s.columns->slab[i % K];
    }
    listen_to(&s, &each, 0, 2, G[2], b[2]);
    for (size_t i = 0; i < 2; i++) listen(&s, i, 1, G[i], b[i]);
    for (size_t i = 0; i < 2 * K; i++) {
        double alone = b[i / K][i % K];
        CHECK_CLOSE(b[2][i], alone, 1e-8 * fabs(alone) + 1e-8); /* rounding of the same sums */
        for (size_t j = 0; j < 2 * K; j++) {
            alone = i / K == j / K ? G[i / K][i % K + j % K * K] : 0;
            CHECK_CLOSE(G[2][i + j * 2 * K], alone, 1e-9 * fabs(alone) + 1e-9);
        }
    }
    clear_stage(&s);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- discovery */

static void few_samples_of_three_runs_say_what_one_does_not(void **state)
{
    (void)state;
    skip_with_sanitizers();
    kbass_data *parts[3];
    for (size_t i = 0; i < 3; i++) parts[i] = sample("x=-8:8, t=0:8", profiles[i], 4, 6, 10, 5 + i);
    kbass_discovery *alone = discover(parts[2], field_terms);
    CHECK(!has_support(kbass_discovery_result(alone), 2, burgers));
    kbass_discovery_destroy(alone);
    kbass_data *data = join(3, parts);
    kbass_discovery *together = discover(data, field_terms);
    CHECK(has_support(kbass_discovery_result(together), 2, burgers));
    CHECK(kbass_discovery_result(together)->n_runs == 3);
    const kbass_term *viscosity = find_term(&kbass_discovery_result(together)->equations[0], "u_xx");
    CHECK(viscosity->low < 0.1 && viscosity->high > 0.1); /* the truth */
    kbass_discovery_destroy(together);
    kbass_data_destroy(data);
}

/* A grid on a closed axis, one between fixed ends, scattered points: from nothing all of them together end in a minimum
   without viscosity, though each alone has the law. */
static void runs_on_three_domains_lead_each_other_out_of_poor_minima(void **state)
{
    (void)state;
    skip_with_sanitizers();
    static const size_t counts[] = {7, 9};
    kbass_data *parts[] = {sample("x=-8:8, t=0:8", "exp(-(x+2)^2)", 6, 12, 5, 3), NULL, NULL};
    kbass_model *fixed_ends = NULL, *closed = NULL;
    CHECK_OK(kbass_model_parse(
        1, law, &(kbass_model_options){.domain = "x=0:6, t=1:4", .initial = "0.5*sin(pi*x/3)", .boundary = "dirichlet"},
        &fixed_ends, &error));
    CHECK_OK(kbass_model_grid(fixed_ends, counts, &parts[1], &error));
    CHECK_OK(kbass_data_add_noise(parts[1], 5, 103, &error));
    CHECK_OK(kbass_model_parse(
        1, law, &(kbass_model_options){.domain = "x=-4:4, t=0:3", .initial = "2*exp(-(x+1)^2/2)"}, &closed, &error));
    CHECK_OK(kbass_model_scattered(closed, 60, 203, &parts[2], &error));
    CHECK_OK(kbass_data_add_noise(parts[2], 5, 203, &error));
    kbass_data *data = join(3, parts);
    kbass_discovery *discovery = discover(data, "u, u*u_x, u_xx");
    CHECK(has_support(kbass_discovery_result(discovery), 2, burgers));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    kbass_model_destroy(fixed_ends);
    kbass_model_destroy(closed);
}

static double weight_of(const kbass_result *result, const char *term)
{
    for (size_t q = 0; q < result->equations[0].n_terms; q++)
        if (!strcmp(result->equations[0].terms[q].term, term)) return result->equations[0].terms[q].weight;
    return NAN;
}

/* The solution of a run at points of its own against the truth. */
static void check_solution(const kbass_discovery *discovery, size_t run, const char *domain, const char *profile)
{
    enum { N = 40 };
    double points[N * 2], truth[N], times[N], places[N], mean[N], sd[N];
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(1, law, &(kbass_model_options){.domain = domain, .initial = profile}, &pde, &error));
    const kbass_axis *t = kbass_model_axis(pde, 0), *x = kbass_model_axis(pde, 1);
    for (size_t i = 0; i < N; i++) {
        points[2 * i] = times[i] = t->low + (t->high - t->low) * (double)i / (N - 1);
        points[2 * i + 1] = places[i] = x->low + (x->high - x->low) * fmod(0.37 * (double)i, 1);
    }
    CHECK_OK(kbass_model_sample(pde, N, points, truth, &error));
    CHECK_OK(kbass_discovery_solution(discovery, run, N, times, places, mean, sd, &error));
    for (size_t i = 0; i < N; i++)
        CHECK_CLOSE(mean[i], truth[i], 0.01); /* of 1: 20 x 24 clean samples, a grid of 400 nodes */
    CHECK_FAILS(kbass_discovery_solution(discovery, 2, N, times, places, mean, sd, &error), KBASS_ERROR_ARGUMENT,
                "run 2");
    kbass_model_destroy(pde);
}

/* The run's forecast, from the end of its record to that of a longer domain, against the truth there. */
static void check_forecast(const kbass_discovery *discovery, size_t run, const char *domain, const char *profile)
{
    enum { T = 5, X = 8, N = T * X };
    double points[N * 2], truth[N], times[T], places[X], mean[N], first, last;
    kbass_forecast_options options = {.n_draws = 20, .seed = 1, .threads = 2};
    kbass_posterior *posterior = NULL;
    kbass_forecast *forecast = NULL;
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(1, law, &(kbass_model_options){.domain = domain, .initial = profile}, &pde, &error));
    CHECK_OK(kbass_discovery_posterior(discovery, run, &posterior, &error));
    const kbass_axis *t = kbass_model_axis(pde, 0), *x = kbass_model_axis(pde, 1);
    kbass_posterior_range(posterior, 0, &first, &last);
    CHECK_CLOSE(first, t->low, 1e-12); /* rounding */
    for (size_t i = 0; i < N; i++) {
        times[i / X] = points[2 * i] = last + (t->high - last) * (double)(i / X) / (T - 1);
        places[i % X] = points[2 * i + 1] = x->low + (x->high - x->low) * (double)(i % X) / (X - 1);
    }
    CHECK_OK(kbass_model_sample(pde, N, points, truth, &error));
    CHECK_OK(kbass_posterior_forecast(posterior, &options, T, times, X, places, &forecast, &error));
    CHECK_OK(kbass_forecast_summary(forecast, 0, NULL, mean, NULL, NULL, &error));
    for (size_t i = 0; i < N; i++) CHECK_CLOSE(mean[i], truth[i], 0.01); /* as the solution within the record */
    kbass_forecast_destroy(forecast);
    kbass_posterior_destroy(posterior);
    kbass_model_destroy(pde);
}

/* A result file tells the runs apart, and keeps what each believes. */
static void check_files(const kbass_discovery *discovery)
{
    char path[64], *json = NULL;
    kbass_posterior *found = NULL, *kept = NULL;
    snprintf(path, sizeof path, "/tmp/test_field_runs_%ld.json", (long)getpid());
    CHECK_OK(kbass_discovery_json(discovery, &json, &error));
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(json, file) >= 0 && fclose(file) == 0);
    CHECK_FAILS(kbass_posterior_read(path, NULL, &found, &error), KBASS_ERROR_ARGUMENT, "first, second");
    CHECK_FAILS(kbass_posterior_read(path, "third", &found, &error), KBASS_ERROR_ARGUMENT, "no run \"third\"");
    for (size_t run = 0; run < 2; run++) {
        CHECK_OK(kbass_posterior_read(path, names[run], &found, &error));
        CHECK_OK(kbass_discovery_posterior(discovery, run, &kept, &error));
        const kb_stretch *a = &found->models[0].windows[0], *b = &kept->models[0].windows[0];
        size_t size = kept->models[0].n_terms + kept->n_start;
        CHECK(found->n_start == kept->n_start && found->models[0].n_windows == kept->models[0].n_windows);
        CHECK_CLOSE(found->span[0], 8, 1e-12); /* the longest run's */
        CHECK_CLOSE(found->last[0], run ? 4 : 8, 1e-12);
        for (size_t i = 0; i < size * size; i++)
            CHECK_CLOSE(a->covariance[i], b->covariance[i], 1e-12 * fabs(b->covariance[i]) + 1e-18); /* 15 digits */
        kbass_posterior_destroy(found);
        kbass_posterior_destroy(kept);
    }
    unlink(path);
    kbass_free(json);
}

static void clean_runs_on_domains_of_their_own_give_the_truth(void **state)
{
    (void)state;
    static const char *const domains[] = {"x=-8:8, t=0:8", "x=0:6, t=1:4"}, *const later[] = {"x=-8:8, t=0:10",
                                                                                              "x=0:6, t=1:5"};
    static const char *const starts[] = {"-sin(pi*x/8)*0.8", "0.5*sin(pi*x/3)"};
    kbass_data *parts[2];
    for (size_t i = 0; i < 2; i++) parts[i] = sample(domains[i], starts[i], 16, 24, 0.1, 1);
    kbass_data *data = join(2, parts);
    kbass_discovery *discovery = discover(data, field_terms);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(has_support(result, 2, burgers));
    CHECK_CLOSE(weight_of(result, "u*u_x"), -1, 0.005); /* 768 samples at 0.1 % of the sd */
    CHECK_CLOSE(weight_of(result, "u_xx"), 0.1, 0.001);
    for (size_t i = 0; i < 2; i++) {
        check_solution(discovery, i, domains[i], starts[i]);
        check_forecast(discovery, i, later[i], starts[i]);
    }
    check_files(discovery);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* Heat that spreads four times as fast in the second run. */
static void diffusivities_may_differ_between_runs(void **state)
{
    (void)state;
    static const char *const equations[][1] = {{"u_t = 0.05*u_xx"}, {"u_t = 0.2*u_xx"}};
    static const double diffusivity[] = {0.05, 0.2};
    kbass_data *parts[2];
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    for (size_t i = 0; i < 2; i++)
        parts[i] = sample_of(equations[i], "x=-8:8, t=0:8", profiles[i ? 2 : 0], 8, 16, 2, 3 + i);
    kbass_data *data = join(2, parts);
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.terms = "u, u_x, u*u_x, u_xx";
    settings.vary = "u_xx";
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->n_varied == 1 && result->varied->n_runs == 2 && result->varied->log_odds > 5); /* they do differ */
    CHECK_TEXT(result->varied->term, "u_xx");
    CHECK(!strchr(result->varied_equations[0] + 6, '-') &&
          !strchr(result->varied_equations[0], '+')); /* nothing else */
    for (size_t run = 0; run < 2; run++)
        CHECK_CLOSE(result->varied->weights[run], diffusivity[run],
                    4 * result->varied->sds[run]); /* standard deviations */
    CHECK(result->varied->sds[1] < 0.01);          /* of 0.2: 128 samples at 2 % */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_keep_their_places),
        cmocka_unit_test(runs_share_units_and_domains),
        cmocka_unit_test(axes_have_to_agree),
        cmocka_unit_test(messages_of_runs_add),
        cmocka_unit_test(columns_of_a_run_hear_that_run),
        cmocka_unit_test(few_samples_of_three_runs_say_what_one_does_not),
        cmocka_unit_test(runs_on_three_domains_lead_each_other_out_of_poor_minima),
        cmocka_unit_test(clean_runs_on_domains_of_their_own_give_the_truth),
        cmocka_unit_test(diffusivities_may_differ_between_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
