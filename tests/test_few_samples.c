/* Records of a few samples, which many laws explain: all that count have to be compared before a term is in. */
#include <string.h>

#include "check.h"

static kbass_error error;

typedef struct {
    kbass_data *data;
    kbass_settings *settings;
    kbass_discovery *discovery;
    const kbass_result *result;
} run_of;

static void discover(run_of *r, size_t n_states, size_t n, double span, const double *u, const char *terms)
{
    static const char *const names[] = {"x", "y"};
    double t[40];
    *r = (run_of){0};
    for (size_t i = 0; i < n; i++) t[i] = span * (double)i / (double)(n - 1);
    CHECK_OK(kbass_settings_create(&r->settings, &error));
    CHECK_OK(kbass_settings_set(r->settings, "threads", "1", &error));
    if (terms) CHECK_OK(kbass_settings_set(r->settings, "terms", terms, &error));
    CHECK_OK(kbass_data_create(n, n_states, t, u, "t", names, &r->data, &error));
    CHECK_OK(kbass_discovery_create(r->data, r->settings, &r->discovery, &error));
    CHECK_OK(kbass_discovery_run(r->discovery, NULL, NULL, &error));
    r->result = kbass_discovery_result(r->discovery);
}

/* Percent of the spread, as `kbass simulate` has it. */
static void add_noise(size_t n, double *u, double percent, uint64_t seed)
{
    static const char *const names[] = {"x", "y"};
    double t[40];
    kbass_data *data = NULL;
    for (size_t i = 0; i < n; i++) t[i] = (double)i;
    CHECK_OK(kbass_data_create(n, 2, t, u, "t", names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, seed, &error));
    memcpy(u, kbass_data_values(data), 2 * n * sizeof *u);
    kbass_data_destroy(data);
}

static void end(run_of *r)
{
    kbass_discovery_destroy(r->discovery);
    kbass_settings_destroy(r->settings);
    kbass_data_destroy(r->data);
}

static const kbass_term *find(const kbass_result *result, size_t equation, const char *name)
{
    const kbass_equation *e = &result->equations[equation];
    for (size_t i = 0; i < e->n_terms; i++)
        if (!strcmp(e->terms[i].term, name)) return &e->terms[i];
    return NULL;
}

/* Was a law with this misfit compared? No two of one record's have the same. */
static bool has_compared(const kbass_result *result, double misfit)
{
    bool has = fabs(result->law.misfit - misfit) < 1e-3 * misfit;
    for (size_t i = 0; i < result->n_runners_up; i++)
        has = has || fabs(result->runners_up[i].misfit - misfit) < 1e-3 * misfit;
    return has;
}

static void list_terms(unsigned members, char list[32])
{
    static const char *const terms[] = {"1", "x", "x^2", "x^3"};
    *list = '\0';
    for (unsigned i = 0; i < 4; i++)
        if (members >> i & 1) strcat(strcat(list, *list ? "," : ""), terms[i]);
}

/* x_t = 0.82 x + 0.47 x^2 with 1 % of noise. Each of the 15 dictionaries of these four terms by itself is the second
   road: what is the best law of one of them, within 4 nats of the best of all, is among the rivals. The true one was
   not, and the term 1 was in. */
static void all_laws_of_a_small_dictionary_are_compared(void **state)
{
    (void)state;
    static const double u[] = {-1.435629764, -1.608073,    -1.687682381, -1.722918005,
                               -1.736053498, -1.742190168, -1.744524428, -1.745486119};
    run_of all, part;
    size_t compared = 0;
    discover(&all, 1, 8, 8, u, NULL);
    for (unsigned members = 1; members < 16; members++) {
        char list[32];
        list_terms(members, list);
        discover(&part, 1, 8, 8, u, list);
        if (part.result->log_evidence > all.result->log_evidence - 4) {
            CHECK(has_compared(all.result, part.result->law.misfit));
            compared++;
        }
        end(&part);
    }
    CHECK(compared >= 5);
    CHECK(all.result->law.verdict == KBASS_LAW_UNDECIDED);
    CHECK(find(all.result, 0, "1")->verdict == KBASS_UNDECIDED);
    CHECK(find(all.result, 0, "x")->probability > 0.2);
    CHECK(strstr(all.result->law.reason, "other laws of this dictionary explain the data nearly as well"));
    end(&all);
}

/* x_t = -1.05 x - 1.76 y - 1.96 x^2 y, y_t = 1.33 x + 1.53 x y - 1.99 y^3 with 5 % of noise: y_t = 2.1 x^2 + 3.1 x^3
   was found, with x^2 and x^3 at 0.91 each. */
static void far_laws_count_beside_neighbours(void **state)
{
    (void)state;
    static const double u[] = {-1.257434396, 1.059148791,   -0.933022782, -0.3677245149, -0.1308388141, -0.4308793822,
                               0.2171613926, -0.3684026919, 0.3711909622, -0.1393998165, 0.2036932211,  0.09835326293,
                               0.0298508989, 0.1383346146,  -0.116640153, 0.08697495751};
    run_of r;
    discover(&r, 2, 8, 4, u, NULL);
    CHECK(r.result->law.verdict == KBASS_LAW_UNDECIDED);
    CHECK(find(r.result, 1, "x^2")->probability < 0.6);
    CHECK(find(r.result, 1, "x^3")->probability < 0.6);
    CHECK(find(r.result, 1, "x")->probability > 0.5);
    CHECK(find(r.result, 0, "x")->verdict == KBASS_IN && find(r.result, 0, "y")->verdict == KBASS_IN);
    CHECK(r.result->law.n_rivals >= 5);
    end(&r);
}

/* Selkov's oscillator, 40 samples with 10 % of noise: all models compared had x*y in y_t, P(in) 0.997; the true law has
   x^2*y there, and both equations have to change for it. */
static void laws_of_two_other_equations_are_compared(void **state)
{
    (void)state;
    static const char *const selkov[] = {"x_t = -x + 0.1*y + x^2*y", "y_t = 0.5 - 0.1*y - x^2*y"};
    static const double start[] = {1, 1};
    double t[40], u[80];
    kbass_model *model = NULL;
    run_of r;
    for (size_t i = 0; i < 40; i++) t[i] = 30 * (double)i / 39;
    CHECK_OK(kbass_model_parse(2, selkov, NULL, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, start, 40, t, u, &error));
    add_noise(40, u, 10, 21);
    discover(&r, 2, 40, 30, u, NULL);
    CHECK(find(r.result, 1, "x*y")->probability < 0.9);
    CHECK(find(r.result, 1, "x^2*y")->probability > 0.1);
    CHECK(find(r.result, 0, "x^2*y")->verdict == KBASS_IN);
    end(&r);
    kbass_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_laws_of_a_small_dictionary_are_compared),
        cmocka_unit_test(far_laws_count_beside_neighbours),
        cmocka_unit_test(laws_of_two_other_equations_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
