/* The integral form of fields on closed grids: waves against closed forms, proposals against laws. */
#include <stdlib.h>

#include "base/run.h"
#include "check.h"
#include "problem/pde_nd.h"
#include "propose/weak/closed_grid.h"
#include "propose/weak/integral_axes.h"

static kbass_error error;
static const char *const axes[] = {"t", "x", "y"};

typedef struct {
    kbass_data *data;
    kbass_settings *settings;
    kb_dictionary *dictionary;
    kb_pde_nd_problem *problem;
} setup;

static void build(setup *s, size_t n_fields, const char *terms)
{
    static const char *const fields[] = {"u", "v"};
    CHECK_OK(kbass_settings_create(&s->settings, &error));
    CHECK_OK(kbass_settings_set(s->settings, "threads", "1", &error));
    if (terms) CHECK_OK(kbass_settings_set(s->settings, "terms", terms, &error));
    CHECK_OK(kb_dictionary_create_fields(s->settings, n_fields, fields, 3, axes, &s->dictionary, &error));
    CHECK_OK(kb_pde_nd_problem_create(s->data, s->settings, s->dictionary, &s->problem, &error));
}

static void clear(setup *s)
{
    kb_pde_nd_problem_destroy(s->problem);
    kb_dictionary_destroy(s->dictionary);
    kbass_settings_destroy(s->settings);
    kbass_data_destroy(s->data);
}

/* ---------------------------------------------------------------- derivatives */

enum { ROWS = 5, ALONG_X = 13, ALONG_Y = 10, POINTS = ALONG_X * ALONG_Y };
static const double period_x = 3, period_y = 2;

/* d^k/dx^k d^l/dy^l of a sum of waves that move. */
static double wave(double t, double x, double y, int k, int l)
{
    double p = 2 * M_PI / period_x, q = 2 * M_PI / period_y, turn = M_PI / 2;
    return (k || l ? 0 : 2) + pow(p, k) * pow(q, l) * cos(p * x - t + turn * k) * cos(q * y + turn * l) +
           0.3 * pow(2 * p, k) * (l ? 0 : 1) * cos(2 * p * x + 0.5 + t + turn * k);
}

/* x closes at its last sample, y one spacing behind it. */
static kbass_data *sample(void)
{
    static const char *const field[] = {"u"};
    static double times[ROWS * POINTS], positions[2 * ROWS * POINTS], values[ROWS * POINTS];
    kbass_data *data = NULL;
    for (size_t i = 0; i < ROWS * POINTS; i++) {
        double t = times[i] = 0.2 * (double)(i / POINTS),
               x = positions[2 * i] = 1 + period_x * (double)(i / ALONG_Y % ALONG_X) / (ALONG_X - 1),
               y = positions[2 * i + 1] = period_y * (double)(i % ALONG_Y) / ALONG_Y;
        values[i] = wave(t, x, y, 0, 0);
    }
    CHECK_OK(kbass_data_create_axes(ROWS * POINTS, 3, 1, times, positions, values, axes, field, &data, &error));
    return data;
}

static void derivatives_are_those_of_the_waves(void **state)
{
    (void)state;
    setup s = {.data = sample()};
    kb_closed_grid *grid = NULL;
    build(&s, 1, "u, u_x, u_y, u_xx, u_xy, u_yy, u_xxx, x, t");
    CHECK_OK(kb_closed_grid_create(s.problem->run_samples[0], s.dictionary, &grid, &error));
    CHECK(grid && grid->n[0] == ALONG_X - 1 && grid->n[1] == ALONG_Y);
    double *variables = calloc(grid->n_points * s.dictionary->n_variables, sizeof *variables);
    CHECK(variables);
    kb_closed_grid_look(grid, 3, variables);
    for (size_t v = 0; v < s.dictionary->n_variables; v++)
        for (size_t i = 0; i < grid->n_points; i++) {
            const kb_variable *variable = &s.dictionary->variables[v];
            double x = 1 + period_x * (double)(i / ALONG_Y) / (ALONG_X - 1),
                   y = period_y * (double)(i % ALONG_Y) / ALONG_Y;
            double expected = variable->axis == 0   ? 0.6
                              : variable->axis == 1 ? x
                              : variable->axis == 2 ? y
                                                    : wave(0.6, x, y, variable->order[1], variable->order[2]);
            CHECK_CLOSE(variables[i + v * grid->n_points], expected, 1e-8); /* rounding, times wave numbers cubed */
        }
    free(variables);
    kb_closed_grid_destroy(grid);
    clear(&s);
}

/* ---------------------------------------------------------------- proposals */

static bool is_proposed(const setup *s, const kb_pool *pool, size_t n, const char *const *law)
{
    for (size_t i = 0; i < pool->n; i++) {
        const kb_support *support = &pool->fits[i]->support;
        bool same = support->n == n;
        for (size_t q = 0; same && q < n; q++) {
            char text[80];
            size_t column = support->column[q];
            snprintf(text, sizeof text, "%s: %s", s->problem->columns->equation[column] ? "v" : "u",
                     kb_dictionary_name(s->dictionary, s->problem->columns->term[column]));
            same = !strcmp(text, law[q]);
        }
        if (same) return true;
    }
    return false;
}

static void propose(setup *s, kb_pool *pool)
{
    kb_run run;
    kb_run_begin(&run, NULL, NULL, 0);
    kb_pool_init(pool, s->problem->columns->n, s->problem->run_samples[0]->n_fields, 0);
    kb_proposals asked = {.problem = s->problem, .n_runs = 1, .run = &run, .pool = pool};
    CHECK_OK(kb_propose_integral_of_axes(&asked, &error));
}

/* Ten rows of 12 x 12 have no room for bumps, and the standard dictionary has 109 candidates for each equation. */
static void two_fields_propose_their_law(void **state)
{
    (void)state;
    static const char *const equations[] = {"u_t = 0.2*u_xx + 0.2*u_yy + u - u^3 - v", "v_t = 0.5*u - 0.2*v"},
                             *const law[] = {"u: u", "u: v", "u: u^3", "u: u_xx", "u: u_yy", "v: u", "v: v"};
    const size_t counts[] = {10, 12, 12};
    setup s = {0};
    kbass_model *pde = NULL;
    kb_pool pool;
    CHECK_OK(kbass_model_parse(2, equations,
                               &(kbass_model_options){.domain = "x=0:2*pi, y=0:2*pi, t=0:3",
                                                      .initial = "u=sin(x)*cos(y) + 0.3*cos(2*x); v=0.3*cos(x + y)"},
                               &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &s.data, &error));
    CHECK_OK(kbass_data_add_noise(s.data, 1, 1, &error));
    build(&s, 2, NULL);
    propose(&s, &pool);
    CHECK(is_proposed(&s, &pool, 7, law));
    kb_pool_clear(&pool);
    clear(&s);
    kbass_model_destroy(pde);
}

/* A value that is missing, or an axis that is open: nothing is proposed, and it is no error. */
static void open_axes_propose_nothing(void **state)
{
    (void)state;
    static const char *const equation = "u_t = u_xx + u_yy";
    const size_t counts[] = {6, 8, 8};
    setup s = {0};
    kbass_model *pde = NULL;
    kb_pool pool;
    CHECK_OK(kbass_model_parse(1, &equation,
                               &(kbass_model_options){.domain = "x=0:1, y=0:1, t=0:0.05",
                                                      .initial = "sin(pi*x)*sin(pi*y)*(1 + x)",
                                                      .boundary = "dirichlet"},
                               &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &s.data, &error));
    CHECK_OK(kbass_data_add_noise(s.data, 1, 1, &error));
    build(&s, 1, "u, u_x, u_xx, u_yy");
    s.problem->run_samples[0]->period[1] = 0;
    propose(&s, &pool);
    CHECK(pool.n == 0);
    kb_pool_clear(&pool);
    clear(&s);
    kbass_model_destroy(pde);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_the_waves),
                                       cmocka_unit_test(two_fields_propose_their_law),
                                       cmocka_unit_test(open_axes_propose_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
