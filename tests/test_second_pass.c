/* Routes of fields along one axis: proposals first, and the second pass of a search that is in doubt. */
#include <math.h>

#include "base/memory.h"
#include "check.h"
#include "found.h"
#include "search/strategy.h"
#include "tasks/one_axis.h"

static kbass_error error;

/* Waves on a ring that steepen and disperse, 5 % noise. */
static kbass_data *waves(size_t n_times, size_t n_places)
{
    static const char *const law[] = {"u_t = -6*u*u_x - u_xxx"};
    const size_t counts[] = {n_times, n_places};
    kbass_data *data = NULL;
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(
        1, law, &(kbass_model_options){.domain = "x=0:2*pi, t=0:0.5", .initial = "exp(2*cos(x - 2) - 2) + sin(2*x)/4"},
        &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 2, &error));
    kbass_model_destroy(pde);
    return data;
}

typedef struct {
    kbass_data *data;
    kbass_settings settings;
    kb_dictionary *dictionary;
    kb_pde1d_problem *problem;
    kb_run run;
    kb_search_result before, result;
} setup;

/* terms: NULL: all of degree 1 with derivatives to the third. */
static void setup_create_with(setup *s, kbass_data *data, const char *terms)
{
    static const char *const field[] = {"u"}, *const axes[] = {"t", "x"};
    *s = (setup){.data = data};
    kb_settings_default(&s->settings);
    s->settings.degree = terms ? 0 : 1;
    s->settings.derivatives = terms ? 0 : 3;
    s->settings.terms = terms;
    s->settings.require = terms;
    s->settings.threads = 2;
    CHECK_OK(kb_dictionary_create_fields(&s->settings, 1, field, 2, axes, &s->dictionary, &error));
    CHECK_OK(kb_pde1d_problem_create(s->data, &s->settings, s->dictionary, &s->problem, &error));
    kb_run_begin(&s->run, NULL, NULL, 0);
}

static void setup_create_on(setup *s, kbass_data *data) { setup_create_with(s, data, NULL); }

static void setup_create(setup *s) { setup_create_on(s, waves(10, 18)); }

static void setup_destroy(setup *s)
{
    kb_search_result_clear(&s->before);
    kb_search_result_clear(&s->result);
    kb_pde1d_problem_destroy(s->problem);
    kb_dictionary_destroy(s->dictionary);
    kbass_data_destroy(s->data);
}

static bool is_term(const setup *s, size_t column, const char *name)
{
    return !strcmp(kb_dictionary_name(s->dictionary, s->problem->columns->term[column]), name);
}

/* A search before this one that left so much noise, and has no term. */
static void setup_doubt(setup *s, double noise)
{
    kb_fit *fit = NULL;
    kb_support none = {0};
    CHECK_OK(kb_support_create(1, &none, &error));
    kb_pool_init(&s->before.pool, s->problem->columns->n, 1, 1);
    CHECK_OK(kb_pool_add(&s->before.pool, &none, &fit, &error));
    fit->variance[0] = noise;
    fit->valid = true;
    kb_support_clear(&none);
}

/* From pairs of simple terms to the law, which is among them, on one window. */
static void simple_terms_first(void **state)
{
    (void)state;
    setup s;
    setup_create(&s);
    setup_doubt(&s, 0.0025);
    CHECK_OK(kb_search_pass(&kb_task_of_simple_terms, s.problem, 1, &s.before, &s.run, &s.result, &error));
    assert_true(kb_has_model(&s.result));
    const kb_fit *best = s.result.pool.fits[0];
    assert_int_equal(best->support.n, 2);
    assert_true(is_term(&s, best->support.column[0], "u*u_x") && is_term(&s, best->support.column[1], "u_xxx"));
    assert_int_equal(s.result.windows->n, 1);
    setup_destroy(&s);
}

/* Cells that drift, merge and split, sampled so seldom that lines look unlike the ones before; 5 % noise. */
static kbass_data *cells(void)
{
    static const char *const law[] = {"u_t = -u*u_x - u_xx - u_xxxx"};
    const size_t counts[] = {24, 24};
    kbass_data *data = NULL;
    kbass_model *pde = NULL;
    const kbass_model_options options = {.domain = "x=0:32, t=30:100",
                                         .initial = "cos(2*pi*x/32)*(1 + sin(2*pi*x/32))"};
    CHECK_OK(kbass_model_parse(1, law, &options, &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 2, &error));
    kbass_model_destroy(pde);
    return data;
}

static bool follows_longer(const char *terms)
{
    setup s;
    setup_create_with(&s, cells(), terms);
    assert_true(kb_one_axis_is_restless(s.problem));
    CHECK_OK(kb_search_pass(&kb_task_of_short_windows, s.problem, 1, NULL, &s.run, &s.result, &error));
    assert_true(kb_has_model(&s.result) && s.result.windows->n > 4);
    bool is_so = s.result.follows_longer;
    setup_destroy(&s);
    return is_so;
}

/* A law follows longer windows as it did short ones; a wrong one has lost the data on either. */
static void wrong_laws_lose_longer_windows(void **state)
{
    (void)state;
    assert_true(follows_longer("u*u_x, u_xx, u_xxxx"));
    assert_false(follows_longer("u, u_x, u_xx, u_xxxx"));
}

/* No law follows the data to a hundredth of their noise: the route ends without an answer, and without an error. */
static void gives_up_where_lost(void **state)
{
    (void)state;
    setup s;
    setup_create(&s);
    setup_doubt(&s, 2.5e-5);
    CHECK_OK(kb_search_pass(&kb_task_of_simple_terms, s.problem, 1, &s.before, &s.run, &s.result, &error));
    assert_false(kb_has_model(&s.result));
    setup_destroy(&s);
}

/* Cancels in the second pass, which alone goes beyond 0.6 of the work. */
static int cancel_the_second(const kbass_progress *progress, void *user)
{
    (void)user;
    return progress->fraction > 0.65;
}

/* A run that is stopped in the second route keeps what the first one has. */
static void doubt_needs_time(void **state)
{
    (void)state;
    setup s;
    setup_create(&s);
    kb_run_begin(&s.run, cancel_the_second, NULL, 0);
    CHECK_OK(kb_search_discover(&kb_task_of_one_axis, s.problem, 1, &s.run, &s.result, &error));
    assert_true(kb_run_stopped(&s.run));
    assert_true(kb_has_model(&s.result) && s.result.windows);
    setup_destroy(&s);
}

/* The first search alone, or with the second one after it, when memory ends after so many allocations. */
static bool search_with(long allocations, bool with_second)
{
    setup s;
    setup_create(&s);
    s.problem->threads = 1;
    kb_memory_fail_after(allocations);
    kbass_status status = with_second
                              ? kb_search_discover(&kb_task_of_one_axis, s.problem, 1, &s.run, &s.result, NULL)
                              : kb_search_pass(&kb_task_of_one_axis, s.problem, 1, NULL, &s.run, &s.result, NULL);
    kb_memory_fail_after(-1);
    bool has_model = status == KBASS_OK && kb_has_model(&s.result);
    setup_destroy(&s);
    return has_model;
}

/* Memory that is enough for the first search and ends in the second leaves the first one's answer. */
static void an_error_in_the_second_search_leaves_the_first(void **state)
{
    (void)state;
    long few = 0, enough = 1000;
    for (; !search_with(enough, false); enough *= 2) few = enough;
    while (enough - few > enough / 10) {
        long half = (few + enough) / 2;
        if (search_with(half, false)) enough = half;
        else few = half;
    }
    assert_true(search_with(enough, true)); /* 10 % more than the first needs is far less than the second does */
}

/* Fisher's front: growth from a tail that was there before looks the same, but for the first lines. */
static void diffusion_behind_a_front(void **state)
{
    (void)state;
    static const char *const law[] = {"u_t = u_xx + u - u^2"}, *const terms[] = {"u_t: u", "u_t: u^2", "u_t: u_xx"};
    const size_t counts[] = {14, 16};
    kbass_data *data = NULL;
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(
        1, law,
        &(kbass_model_options){.domain = "x=0:20, t=0:8", .initial = "exp(-(x - 5)^2)/2", .boundary = "neumann"}, &pde,
        &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 2, &error));
    kbass_discovery *discovery = discover(data, "u, u^2, u_x, u*u_x, u_xx");
    assert_true(has_support(kbass_discovery_result(discovery), 3, terms));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    kbass_model_destroy(pde);
}

/* The weak form's proposals end where the pairs of simple terms do, on a grid as fine. */
static void proposals_lead_to_the_same_fit(void **state)
{
    (void)state;
    setup s;
    kb_search_result proposed = {0};
    bool found = false;
    setup_create_on(&s, waves(24, 24)); /* on fewer the weak form sees too little */
    CHECK_OK(kb_sparse_search(s.problem, &s.run, &proposed, &found, &error));
    assert_true(found && kb_has_model(&proposed));
    setup_doubt(&s, 0.0025);
    CHECK_OK(kb_search_pass(&kb_task_of_simple_terms, s.problem, 1, &s.before, &s.run, &s.result, &error));
    const kb_fit *one = proposed.pool.fits[0], *other = s.result.pool.fits[0];
    assert_true(kb_support_equal(&one->support, &other->support));
    for (size_t q = 0; q < one->support.n; q++) {
        size_t column = one->support.column[q];
        double sd = sqrt(one->covariance[q + q * one->support.n]);
        CHECK_CLOSE(one->w[column], other->w[column], 0.5 * sd); /* by which a finer grid may move weights */
    }
    assert_true(proposed.n_models < s.result.n_models / 2);
    kb_search_result_clear(&proposed);
    setup_destroy(&s);
}

/* A dictionary without the law: no proposal follows the data, and the search from nothing is due. */
static void proposals_that_do_not_follow_are_no_answer(void **state)
{
    (void)state;
    static const char *const field[] = {"u"}, *const axes[] = {"t", "x"};
    setup s = {.data = waves(10, 18)};
    bool found = true;
    kb_settings_default(&s.settings);
    s.settings.degree = 2;
    s.settings.derivatives = 0;
    CHECK_OK(kb_dictionary_create_fields(&s.settings, 1, field, 2, axes, &s.dictionary, &error));
    CHECK_OK(kb_pde1d_problem_create(s.data, &s.settings, s.dictionary, &s.problem, &error));
    kb_run_begin(&s.run, NULL, NULL, 0);
    CHECK_OK(kb_sparse_search(s.problem, &s.run, &s.result, &found, &error));
    assert_true(!found && !s.result.pool.n && !s.result.windows);
    setup_destroy(&s);
}

/* The grid after the first, of the law u_t = -u_x fitted to a profile on a ring that so many lines see go by. */
static kb_line_grid finer_grid_for(const char *profile, size_t n_times)
{
    static const char *const law[] = {"u_t = -u_x"};
    const size_t counts[] = {n_times, 40};
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    setup s;
    size_t column = 0;
    CHECK_OK(kbass_model_parse(1, law, &(kbass_model_options){.domain = "x=0:2*pi, t=0:1.5", .initial = profile}, &pde,
                               &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    setup_create_on(&s, data);
    while (!is_term(&s, column, "u_x")) column++;
    kb_pass p = {.task = &kb_task_of_one_axis, .problem = s.problem, .n_runs = 1, .result = &s.result};
    p.search = (kb_search){.schedule = p.task->schedule, .run = &s.run, .pool = &s.result.pool};
    CHECK_OK(kb_one_axis_begin(&p, &error));
    CHECK_OK(kb_one_axis_enter(&p, 1, &column, &error));
    CHECK_OK(kb_pass_fit(&p, 12, &error));
    CHECK_OK(kb_one_axis_refine(&p, &error));
    kb_line_grid grid = kb_one_axis_of(&p)->grid;
    CHECK_OK(kb_one_axis_step_back(&p, &error));
    CHECK(kb_line_grid_is_same(kb_one_axis_of(&p)->grid, (kb_line_grid){0}));
    s.result.windows = p.search.windows;
    kb_workers_destroy(&p.search.workers);
    kb_one_axis_end(&p);
    setup_destroy(&s);
    kbass_model_destroy(pde);
    return grid;
}

/* A long wave that few lines see needs more steps, a narrow pulse that many see more nodes; not both. */
static void grids_are_refined_where_they_err(void **state)
{
    (void)state;
    CHECK(kb_line_grid_is_same(finer_grid_for("sin(x)", 8), (kb_line_grid){.steps = 1}));
    CHECK(kb_line_grid_is_same(finer_grid_for("exp(150*cos(x - 3) - 150)", 60), (kb_line_grid){.nodes = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_refined_where_they_err),
        cmocka_unit_test(proposals_lead_to_the_same_fit),
        cmocka_unit_test(proposals_that_do_not_follow_are_no_answer),
        cmocka_unit_test(simple_terms_first),
        cmocka_unit_test(wrong_laws_lose_longer_windows),
        cmocka_unit_test(gives_up_where_lost),
        cmocka_unit_test(doubt_needs_time),
        cmocka_unit_test(an_error_in_the_second_search_leaves_the_first),
        cmocka_unit_test(diffusion_behind_a_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
