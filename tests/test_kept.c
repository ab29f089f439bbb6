/* What a run keeps of its solution: the same numbers as solved anew, for every kind of data; cut off by the caller it
 * is left out, and the answer stays.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "discovery/discovery.h"

static const int everything = KBASS_KEEP_RESULT | KBASS_KEEP_SOLUTION | KBASS_KEEP_ROWS;

static kbass_data *hares(void)
{
    kbass_data *data = NULL;
    kbass_error error;
    CHECK_OK(kbass_data_example("hare-lynx", &data, &error));
    return data;
}

/* Two runs of x_t = -x. */
static kbass_data *decays(void)
{
    enum { N = 12 };
    static const char *const names[] = {"x"}, *const runs[] = {"a", "b"};
    kbass_data *parts[2] = {NULL}, *data = NULL;
    kbass_error error;
    double times[N], values[N];
    for (size_t run = 0; run < 2; run++) {
        for (size_t i = 0; i < N; i++) {
            times[i] = 0.25 * (double)i;
            values[i] = (1 + 2 * (double)run) * exp(-times[i]);
        }
        CHECK_OK(kbass_data_create(N, 1, times, values, NULL, names, &parts[run], &error));
        CHECK_OK(kbass_data_add_noise(parts[run], 2, 1 + run, &error));
    }
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, runs, &data, &error));
    for (size_t run = 0; run < 2; run++) kbass_data_destroy(parts[run]);
    return data;
}

/* Waves that decay and drift along one axis or two, 2 % noise. */
static kbass_data *heat(size_t n_axes)
{
    enum { LINES = 10, PLACES = 12, MOST = LINES * PLACES * PLACES };
    static const char *const axes[] = {"t", "x", "y"}, *const names[] = {"u"};
    static double times[MOST], positions[2 * MOST], values[MOST];
    size_t row = n_axes == 2 ? PLACES : PLACES * PLACES, n = LINES * row;
    kbass_data *data = NULL;
    kbass_error error;
    for (size_t i = 0; i < n; i++) {
        double t = times[i] = 2 * (double)(i / row) / (LINES - 1), x = 2 * M_PI * (double)(i % PLACES) / PLACES,
               y = 2 * M_PI * (double)(i / PLACES % PLACES) / PLACES;
        positions[i * (n_axes - 1)] = x;
        if (n_axes == 3) positions[2 * i + 1] = y;
        values[i] = exp(-0.1 * t) * sin(x - t) + exp(-0.4 * t) * cos(2 * x - 2 * t) / 2 +
                    (n_axes == 3 ? exp(-0.1 * t) * sin(y) : 0);
    }
    CHECK_OK(kbass_data_create_axes(n, n_axes, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 2, 1, &error));
    return data;
}

typedef struct {
    const char *name;
    int degree;
    const char *terms, *lhs, *method;
} kind;

static kbass_discovery *discover(const kbass_data *data, const kind *k, int parts, kbass_progress_callback callback)
{
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kbass_error error;
    kb_settings_default(&settings);
    settings.threads = 1;
    if (k->terms) settings.terms = k->terms;
    else settings.degree = k->degree;
    if (k->lhs) settings.lhs = k->lhs;
    if (k->method) settings.method = !strcmp(k->method, "em") ? KB_METHOD_EM : KB_METHOD_PAPER;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    kbass_discovery_keep(discovery, parts);
    CHECK_OK(kbass_discovery_run(discovery, callback, NULL, &error));
    return discovery;
}

/* The solution at points, kept, against that of a solver that is asked again. */
static void check_points(const kbass_discovery *d, size_t run, size_t n, const double *times, const double *positions,
                         bool has_sd)
{
    size_t values = n * d->data->n_states;
    double share = d->data->n_axes > 1 ? 0.03 : 1e-3; /* of the noise: grids of fields err by 0.1 % of its variance
                                                         (the schedules' `resolved`) */
    double *kept = calloc(2 * values, sizeof *kept), *anew = calloc(2 * values, sizeof *anew);
    kbass_error error;
    CHECK(kb_discovery_find(d, run, n, times, positions, kept, has_sd ? kept + values : NULL));
    CHECK_OK(kb_discovery_solve_at(d, run, n, times, positions, anew, has_sd ? anew + values : NULL, NULL, &error));
    for (size_t i = 0; i < values; i++) {
        double unit = kbass_discovery_result(d)->noise[i % d->data->n_states];
        CHECK_CLOSE(kept[i], anew[i], share * unit); /* other stops of the integrator's steps */
        if (has_sd)
            CHECK_CLOSE(kept[values + i], anew[values + i], share * unit + 1e-2 * anew[values + i]); /* likewise */
    }
    free(kept);
    free(anew);
}

static void check_run(const kbass_discovery *d, size_t run)
{
    const kbass_data own = kb_data_run(d->data, run);
    size_t counts[KBASS_MAX_AXES], n = 1, n_axes = d->data->n_axes;
    kbass_error error;
    CHECK_OK(kbass_discovery_points(d, run, counts, NULL, NULL, &error));
    for (size_t a = 0; a < n_axes; a++) n *= counts[a];
    double *times = calloc(n, sizeof *times), *positions = calloc(n * n_axes, sizeof *positions);
    CHECK_OK(kbass_discovery_points(d, run, counts, times, positions, &error));
    check_points(d, run, n, times, n_axes > 1 ? positions : NULL, true);
    check_points(d, run, own.n_rows, own.times, n_axes > 1 ? own.positions : NULL, false);
    free(times);
    free(positions);
}

static void check_kind(kbass_data *data, const kind *k)
{
    kbass_discovery *d = discover(data, k, everything, NULL);
    const kbass_result *result = kbass_discovery_result(d);
    kbass_error error;
    char *json = NULL;
    if (!result->n_equations) fail_msg("%s: no answer", k->name);
    double seconds = result->seconds_total;
    for (size_t run = 0; run < kbass_data_runs(data); run++) check_run(d, run);
    CHECK(d->solved.sketch && !d->solved.is_cut);
    CHECK_OK(kbass_discovery_json(d, &json, &error));
    CHECK(strstr(json, "\"solution\": {") && result->seconds_total == seconds); /* nothing was solved for it */
    kbass_free(json);
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

static void kept_is_what_is_solved(void **state)
{
    (void)state;
    check_kind(hares(), &(kind){.name = "states", .degree = 2});
    check_kind(decays(), &(kind){.name = "runs", .degree = 1});
    check_kind(hares(), &(kind){.name = "em", .degree = 1, .method = "em"});
    check_kind(heat(2), &(kind){.name = "one axis", .terms = "u, u_x, u_xx"});
    check_kind(heat(3), &(kind){.name = "two axes", .terms = "u_x, u_xx, u_yy"});
    check_kind(heat(2), &(kind){.name = "u_tt", .terms = "u, u_xx", .lhs = "u_tt"});
}

/* Without the wish nothing is made before it is asked for, and then once. */
static void unasked_it_is_made_when_needed(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_discovery *d = discover(data, &(kind){.degree = 2}, 0, NULL);
    kbass_error error;
    char *first = NULL, *second = NULL;
    CHECK(!d->solved.sketch);
    CHECK_OK(kbass_discovery_json(d, &first, &error));
    double seconds = kbass_discovery_result(d)->seconds_total;
    CHECK_OK(kbass_discovery_json(d, &second, &error));
    CHECK(kbass_discovery_result(d)->seconds_total == seconds);
    CHECK_TEXT(first, second);
    kbass_free(first);
    kbass_free(second);
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

static int stop_solving(const kbass_progress *progress, void *user)
{
    (void)user;
    return !strcmp(progress->stage, "solution");
}

/* Ctrl-C in the last stage, longer ago than the run may go on after it. */
static void cut_off_it_is_left_out(void **state)
{
    (void)state;
    kbass_data *data = decays();
    kbass_discovery *d = discover(data, &(kind){.degree = 1}, 0, NULL);
    kb_run late;
    kb_run_begin(&late, stop_solving, NULL, 0);
    late.stage = "solution";
    CHECK(!kb_run_continue(&late, 0) && kb_run_spares(&late));
    late.stopped = kb_clock() - 10; /* seconds */
    size_t counts[KBASS_MAX_AXES];
    kbass_error error;
    char *json = NULL;
    CHECK_OK(kb_discovery_solve(d, everything, &late, &error));
    CHECK(kbass_discovery_result(d)->n_equations == 1 && d->solved.is_cut);
    CHECK_FAILS(kbass_discovery_points(d, 0, counts, NULL, NULL, &error), KBASS_ERROR_TIME, "stopped before");
    CHECK_OK(kbass_discovery_json(d, &json, &error));
    CHECK(strstr(json, "\"equations\": [") && !strstr(json, "\"equations\": []"));
    kbass_free(json);
    kbass_discovery_destroy(d);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_is_what_is_solved),
                                       cmocka_unit_test(unasked_it_is_made_when_needed),
                                       cmocka_unit_test(cut_off_it_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
