/* The published algorithm: its gradient and Adam by a second road, and what it finds on clean samples. */
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "discover/paper.h"
#include "kbass/kbass.h"
#include "problem/ode.h"
#include "solve/adam.h"

static kbass_data *simulate(const char *system, size_t n, double until, const double *initial)
{
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_error error;
    double times[200], states[400];
    const char *names[] = {"x", "y"};
    for (size_t i = 0; i < n; i++) times[i] = until * (double)i / (double)(n - 1);
    CHECK_OK(kbass_model_named(system, &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, initial, n, times, states, &error));
    CHECK_OK(kbass_data_create(n, 2, times, states, NULL, names, &data, &error));
    kbass_model_destroy(model);
    return data;
}

static kbass_data *hares(void) { return simulate("lotka-volterra", 40, 20, (double[]){30, 4}); }

static kbass_settings paper_settings(void)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.method = KB_METHOD_PAPER;
    settings.degree = 2;
    return settings;
}

static kbass_discovery *discover(const kbass_data *data, const kbass_settings *settings)
{
    kbass_discovery *discovery = NULL;
    kbass_error error;
    CHECK_OK(kbass_discovery_create(data, settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* ---------------------------------------------------------------- parts */

/* At an arbitrary point, against central differences of J and against the full Gauss-Newton system's gradient. */
static void the_gradient_is_that_of_the_objective(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kb_dictionary *dictionary = NULL;
    kb_ode_problem *p = NULL;
    kb_ode_field *f = NULL;
    kbass_error error;
    const char *names[] = {"x", "y"};
    CHECK_OK(kb_dictionary_create(&settings, 2, names, "t", &dictionary, &error));
    CHECK_OK(kb_ode_problem_create(data, &settings, dictionary, &p, &error));
    CHECK_OK(kb_ode_field_create(p->record, dictionary, p->columns, p->n_mesh, p->max_rank, &f, &error));
    kb_ode_field_set_level(f, p->levels[kb_ode_problem_level(p, 0.1)]);
    for (size_t i = 0; i < 2; i++) f->v[i] = 1e-2, f->tau[i] = 0.5 * p->slope_squares[i];
    CHECK(kb_ode_field_regress(f));
    for (size_t q = 0; q < p->columns->n; q++) f->w[q] = 0.3 * sin((double)q + 1);

    size_t nz = 2 * f->level->rank;
    double *gradient = calloc(nz, sizeof *gradient), J = kb_ode_field_gradient(f, &p->all);
    memcpy(gradient, f->gz, nz * sizeof *gradient);
    kb_ode_field_assemble(f, &p->all);
    CHECK_CLOSE(J, f->objective, 1e-12 * J); /* the same sums in another order */
    for (size_t i = 0; i < nz; i++)
        CHECK_CLOSE(gradient[i], f->gz[i], 1e-10 * (1 + fabs(gradient[i]))); /* the same sums in another order */
    for (size_t i = 0; i < nz; i += 7) {
        double h = 1e-5, z = f->z[i], scale = 1 + fabs(gradient[i]);
        f->z[i] = z + h;
        double up = kb_ode_field_gradient(f, &p->all);
        f->z[i] = z - h;
        double down = kb_ode_field_gradient(f, &p->all);
        f->z[i] = z;
        double tolerance = 1e-5 * scale + 1e-15 * J / h; /* h^2 truncation and the rounding of J */
        CHECK_CLOSE((up - down) / (2 * h), gradient[i], tolerance);
    }
    free(gradient);
    kb_ode_field_destroy(f);
    kb_ode_problem_destroy(p);
    kb_dictionary_destroy(dictionary);
    kbass_data_destroy(data);
}

static void adam_finds_the_bottom_of_a_bowl(void **state)
{
    (void)state;
    kb_adam *adam = NULL;
    kbass_error error;
    double x[] = {3, -2}, gradient[2];
    CHECK_OK(kb_adam_create(2, 1e-2, &adam, &error));
    gradient[0] = 100 * x[0];
    gradient[1] = x[1];
    kb_adam_step(adam, gradient, x);
    CHECK_CLOSE(x[0], 2.99, 1e-9); /* bias correction makes the first step the rate, whatever the gradient's size */
    CHECK_CLOSE(x[1], -1.99, 1e-9);
    for (int step = 0; step < 2000; step++) {
        gradient[0] = 100 * x[0];
        gradient[1] = x[1];
        kb_adam_step(adam, gradient, x);
    }
    CHECK_CLOSE(x[0], 0, 1e-3); /* 2000 steps of 0.01 reach 20 times as far as needed, and the jitter dies out */
    CHECK_CLOSE(x[1], 0, 1e-3);
    kb_adam_destroy(adam);
}

/* ---------------------------------------------------------------- the whole */

static void check_term(const kbass_equation *equation, size_t index, const char *name, double weight, double tolerance)
{
    CHECK(index < equation->n_terms && equation->terms[index].selected);
    CHECK_TEXT(equation->terms[index].term, name);
    CHECK_CLOSE(equation->terms[index].weight, weight, tolerance);
    CHECK(equation->terms[index].probability > 0.99 && equation->terms[index].sd > 0);
}

static size_t selected(const kbass_equation *equation)
{
    size_t n = 0;
    for (size_t i = 0; i < equation->n_terms; i++) n += equation->terms[i].selected != 0;
    return n;
}

/* Default hyperparameters, as docs/options.md states them. */
static void it_finds_lotka_volterra(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->outcome == KBASS_CONVERGED && result->n_equations == 2);
    CHECK(selected(&result->equations[0]) == 2 && selected(&result->equations[1]) == 2);
    check_term(&result->equations[0], 0, "x", 0.55, 0.0055); /* 1 %: the kernel's error on 40 samples without noise */
    check_term(&result->equations[0], 1, "x*y", -0.028, 0.00028);
    check_term(&result->equations[1], 0, "y", -0.84, 0.0084);
    check_term(&result->equations[1], 1, "x*y", 0.026, 0.00026);
    CHECK_CLOSE(result->initial[0], 30, 0.2); /* under 1 % of the state's spread of 22 */
    CHECK(result->noise[0] < 0.2 && result->noise[1] < 0.2);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void its_solution_follows_the_samples(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = discover(data, &settings);
    kbass_error error;
    size_t n = kbass_data_rows(data);
    double mean[80], sd[80], times[] = {0, 21};
    CHECK_OK(kbass_discovery_solution(discovery, 0, n, kbass_data_times(data), NULL, mean, sd, &error));
    for (size_t i = 0; i < 2 * n; i++) {
        CHECK_CLOSE(mean[i], kbass_data_values(data)[i], 0.5); /* 2 % of the spread, where the noise allowed is 3 % */
        CHECK(sd[i] > 0 && sd[i] < 2);
    }
    CHECK_FAILS(kbass_discovery_solution(discovery, 0, 2, times, NULL, mean, sd, &error), KBASS_ERROR_ARGUMENT, "21");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static void what_is_known_stays_known(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    settings.fix = "x_t = 0.55*x - 0.028*x*y";
    settings.require = "y_t: y^2";
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->equations[0].known && result->equations[0].n_terms == 2);
    CHECK_CLOSE(result->equations[0].terms[0].weight, 0.55, 1e-12); /* to the scaled units and back */
    CHECK(selected(&result->equations[1]) == 3);
    CHECK_TEXT(result->equations[1].terms[1].term, "x*y");
    CHECK_TEXT(result->equations[1].terms[2].term, "y^2");
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* An inclusion probability so small that nothing passes: empty equations are an answer. */
static void nothing_may_be_left(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    settings.paper_inclusion = 1e-6;
    settings.paper_equation_variance = 1e4;
    kbass_discovery *discovery = discover(data, &settings);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(result->n_equations == 2 && result->outcome != KBASS_NO_MODEL);
    CHECK(selected(&result->equations[0]) == 0 && selected(&result->equations[1]) == 0);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

static int stop_at_once(const kbass_progress *progress, void *user)
{
    (void)progress, (void)user;
    return 1;
}

static void a_stopped_run_has_an_answer(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = NULL;
    kbass_error error;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, stop_at_once, NULL, &error));
    CHECK(kbass_discovery_result(discovery)->outcome == KBASS_CANCELLED);
    CHECK(kbass_discovery_result(discovery)->n_equations == 2);
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    CHECK(kbass_discovery_result(discovery)->outcome == KBASS_CONVERGED);
    settings.paper_iterations = 2;
    kbass_discovery *hurried = discover(data, &settings);
    CHECK(kbass_discovery_result(hurried)->outcome == KBASS_NOT_CONVERGED);
    kbass_discovery_destroy(hurried);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

/* Each allocation of a run in turn fails; the leak checker of the sanitizers watches. */
static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    kbass_data *data = hares();
    kbass_settings settings = paper_settings();
    kbass_discovery *discovery = NULL;
    kbass_error error;
    long n = 0;
    settings.paper_iterations = settings.paper_steps = 1;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    for (kbass_status status = KBASS_ERROR_MEMORY; status != KBASS_OK; n++) {
        kb_memory_fail_after(n);
        status = kbass_discovery_run(discovery, NULL, NULL, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
        CHECK((status == KBASS_OK) == (kbass_discovery_result(discovery) != NULL));
    }
    CHECK(n > 20);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_objective),
        cmocka_unit_test(adam_finds_the_bottom_of_a_bowl),
        cmocka_unit_test(it_finds_lotka_volterra),
        cmocka_unit_test(its_solution_follows_the_samples),
        cmocka_unit_test(what_is_known_stays_known),
        cmocka_unit_test(nothing_may_be_left),
        cmocka_unit_test(a_stopped_run_has_an_answer),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
