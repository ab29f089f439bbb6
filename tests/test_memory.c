/* Memory that ends anywhere in a discovery, for every kind of search: an error that says so, or an answer where the
 * part that failed was one that may fail (a second pass). Nothing is lost, nothing leaks: the sanitizers watch.
 */
#include "base/memory.h"
#include "check.h"

static kbass_error error;

typedef struct {
    const char *name;
    const char *equations[2]; /* of the data */
    const char *domain, *initial;
    size_t counts[KBASS_MAX_AXES]; /* of fields: the grid; of states: samples and 0 */
    double start[2], until;
    size_t n_runs;
    const char *settings[5][2];
} kind;

static const kind kinds[] = {
    {"states", {"x_t = y", "y_t = -x"}, .counts = {12}, .start = {1, 0}, .until = 6, .settings = {{"degree", "1"}}},
    {"runs of states",
     {"x_t = x - x^2"},
     .counts = {8},
     .start = {0.1},
     .until = 6,
     .n_runs = 2,
     .settings = {{"degree", "2"}, {"vary", "x_t: x"}, {"explain", "x_t: x^2"}}},
    {"many swings",
     {"x_t = y", "y_t = -x"},
     .counts = {400},
     .start = {1, 0},
     .until = 170,
     .settings = {{"degree", "1"}}},
    {"unknown constants",
     {"x_t = -x/(0.5 + x)"},
     .counts = {15},
     .start = {2},
     .until = 4,
     .settings = {{"terms", "x, x/(K+x)"}, {"unknown", "K=0.1:5"}}},
    {"constraints",
     {"x_t = -y", "y_t = x"},
     .counts = {12},
     .start = {1, 0},
     .until = 6,
     .settings = {{"degree", "1"}, {"constraint", "x_t: y + y_t: x = 0; x_t: y < 0"}}},
    {"second order",
     {"x_tt = -x"},
     .counts = {15},
     .start = {1, 0},
     .until = 6,
     .settings = {{"terms", "x, x_t"}, {"lhs", "x_tt"}}},
    {"em of states",
     {"x_t = x - x^2"},
     .counts = {10},
     .start = {0.1},
     .until = 6,
     .settings = {{"degree", "2"}, {"method", "em"}, {"mesh", "30"}}},
    {"held out",
     {"x_t = x - x^2"},
     .counts = {12},
     .start = {0.1},
     .until = 6,
     .settings = {{"degree", "2"}, {"holdout", "0.25"}}},
    {"one axis, a grid",
     {"u_t = 0.1*u_xx"},
     "x=0:2*pi, t=0:2",
     "sin(x) + 0.5*cos(2*x)",
     {8, 12},
     .settings = {{"terms", "u, u_xx"}}},
    {"one axis, open",
     {"u_t = 0.1*u_xx"},
     "x=0:2*pi, t=0:2",
     "sin(x) + 0.5*cos(2*x)",
     {6, 8},
     .settings = {{"terms", "u, u_xx"}, {"periodic", "none"}}},
    {"one axis, dense",
     {"u_t = -u_x + 0.1*u_xx"},
     "x=0:2*pi, t=0:2",
     "sin(x) + 0.5*cos(2*x)",
     {80, 80},
     .settings = {{"terms", "u, u_x, u_xx"}}},
    {"runs over one axis",
     {"u_t = 0.1*u_xx"},
     "x=0:2*pi, t=0:2",
     "sin(x) + 0.5*cos(2*x)",
     {6, 8},
     .n_runs = 2,
     .settings = {{"terms", "u, u_xx"}}},
    {"two closed axes",
     {"u_t = -u_x + 0.1*u_xx + 0.1*u_yy"},
     "x=0:2*pi, y=0:2*pi, t=0:1",
     "sin(x) + cos(y)",
     {5, 6, 6},
     .settings = {{"terms", "u_x, u_xx, u_yy"}}},
    {"two open axes",
     {"u_t = 0.2*u_xx + 0.1*u_yy"},
     "x=0:2*pi, y=0:2*pi, t=0:1",
     "sin(x) + cos(y)",
     {4, 5, 5},
     .settings = {{"terms", "u_xx, u_yy"}, {"periodic", "none"}}},
    {"second order in time",
     {"u_tt = u_xx"},
     "x=0:2*pi, t=0:3",
     "sin(x)",
     {8, 8},
     .settings = {{"terms", "u_xx, u"}, {"lhs", "u_tt"}}},
    {"em of fields",
     {"u_t = 0.1*u_xx"},
     "x=0:2*pi, t=0:2",
     "sin(x) + 0.5*cos(2*x)",
     {6, 8},
     .settings = {{"terms", "u, u_xx"}, {"method", "em"}}},
    {"the published method",
     {"x_t = x - x^2"},
     .counts = {8},
     .start = {0.1},
     .until = 6,
     .settings = {{"degree", "2"}, {"method", "paper"}, {"mesh", "20"}, {"paper-steps", "200"}}},
};

/* ---------------------------------------------------------------- data */

static kbass_data *sample_states(const kbass_model *model, const kind *k, double stretch)
{
    double times[400], values[800], start[2] = {k->start[0] * stretch, k->start[1] * stretch};
    size_t n = k->counts[0], n_states = kbass_model_states(model);
    bool is_second = strstr(k->equations[0], "_tt") != NULL;
    const char *names[] = {kbass_model_state_name(model, 0), kbass_model_state_name(model, 1)};
    kbass_data *data = NULL;
    for (size_t i = 0; i < n; i++) times[i] = k->until * (double)i / (double)(n - 1);
    CHECK_OK(kbass_model_integrate(model, 0, start, n, times, values, &error));
    for (size_t i = 0; is_second && i < n; i++) values[i] = values[2 * i]; /* positions alone */
    CHECK_OK(kbass_data_create(n, is_second ? 1 : n_states, times, values, NULL, names, &data, &error));
    return data;
}

static kbass_data *sample(const kind *k, size_t run)
{
    const kbass_model_options options = {.domain = k->domain, .initial = k->initial};
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    size_t n_equations = k->equations[1] ? 2 : 1;
    CHECK_OK(kbass_model_parse(n_equations, k->equations, &options, &model, &error));
    if (k->domain) CHECK_OK(kbass_model_grid(model, k->counts, &data, &error));
    else data = sample_states(model, k, run ? 1.5 : 1);
    CHECK_OK(kbass_data_add_noise(data, 2, 7 + run, &error));
    kbass_model_destroy(model);
    return data;
}

static kbass_data *make_data(const kind *k)
{
    static const char *const names[] = {"a", "b"};
    kbass_data *parts[2] = {sample(k, 0), NULL}, *joined = NULL;
    if (k->n_runs < 2) return parts[0];
    parts[1] = sample(k, 1);
    CHECK_OK(kbass_data_join(2, (const kbass_data *const *)parts, names, &joined, &error));
    kbass_data_destroy(parts[0]);
    kbass_data_destroy(parts[1]);
    return joined;
}

/* ---------------------------------------------------------------- lives */

static kbass_settings *make_settings(const kind *k)
{
    kbass_settings *settings = NULL;
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kbass_settings_set(settings, "threads", "1", &error));
    for (size_t i = 0; k->settings[i][0]; i++)
        CHECK_OK(kbass_settings_set(settings, k->settings[i][0], k->settings[i][1], &error));
    return settings;
}

static kbass_status whole_life(const kbass_data *data, const kbass_settings *settings)
{
    const double *positions = kbass_data_positions(data);
    double mean[2], sd[2];
    char *json = NULL;
    kbass_discovery *d = NULL;
    kbass_status status = kbass_discovery_create(data, settings, &d, &error);
    if (status == KBASS_OK) status = kbass_discovery_run(d, NULL, NULL, &error);
    if (status == KBASS_OK && kbass_discovery_result(d)->n_equations)
        status = kbass_discovery_solution(d, 0, 1, kbass_data_times(data), positions, mean, sd, &error);
    if (status == KBASS_OK) status = kbass_discovery_json(d, &json, &error);
    kbass_free(json);
    kbass_discovery_destroy(d);
    return status;
}

/* Allocations fail from the n-th on, n growing by half: what all of this costs is three whole lives. */
static void starve(const kind *k)
{
    kbass_data *data = make_data(k);
    kbass_settings *settings = make_settings(k);
    if (whole_life(data, settings) != KBASS_OK) fail_msg("%s: %s", k->name, error.message);
    kbass_status status = KBASS_ERROR_MEMORY;
    long n = 0;
    for (; status != KBASS_OK && n < 100000000; n += 1 + n / 2) {
        kb_memory_fail_after(n);
        status = whole_life(data, settings);
        kb_memory_fail_after(-1);
        if (status != KBASS_OK && status != KBASS_ERROR_MEMORY)
            fail_msg("%s, allocation %ld: %s", k->name, n, error.message);
    }
    if (status != KBASS_OK || n < 100) fail_msg("%s: %ld allocations: %s", k->name, n, error.message);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
}

static void every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) starve(&kinds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
