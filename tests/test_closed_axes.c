/* Fields over several closed axes: which proposals are followed, and laws as a user finds them. */
#include "check.h"
#include "found.h"
#include "problem/pde_nd.h"
#include "tasks/axes_order.h"

static kbass_error error;
static const char *const axes[] = {"t", "x", "y"};

static kbass_data *simulate(size_t n_equations, const char *const *equations, const char *domain, const char *initial,
                            const size_t *counts, double percent, unsigned seed)
{
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    CHECK_OK(kbass_model_parse(n_equations, equations, &(kbass_model_options){.domain = domain, .initial = initial},
                               &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, seed, &error));
    kbass_model_destroy(pde);
    return data;
}

/* Terms NULL: the usual dictionary. */
static void check_support(const kbass_data *data, const char *terms, size_t n, const char *const *expected)
{
    kbass_discovery *discovery = discover(data, terms);
    const kbass_result *result = kbass_discovery_result(discovery);
    CHECK(has_support(result, n, expected));
    CHECK(result->n_windows == 1); /* through the integrated equation, not by the kernel engine */
    kbass_discovery_destroy(discovery);
}

/* ---------------------------------------------------------------- the order of proposals */

static void propose(kb_pool *pool, const kb_columns *columns, const char *const *names, const double *weights, size_t n,
                    const kb_dictionary *dictionary)
{
    kb_support support = {0};
    kb_fit *fit = NULL;
    double w[16] = {0};
    CHECK_OK(kb_support_create(columns->n, &support, &error));
    for (size_t i = 0; i < n; i++)
        for (size_t q = 0; q < columns->n; q++)
            if (!strcmp(kb_dictionary_name(dictionary, columns->term[q]), names[i])) {
                kb_support_add(&support, q);
                w[q] = weights[i];
            }
    CHECK(support.n == n);
    CHECK_OK(kb_pool_add(pool, &support, &fit, &error));
    memcpy(fit->w, w, columns->n * sizeof *w);
    kb_support_clear(&support);
}

/* Heat in the plane: waves that grow cannot be followed, no change follows worse than diffusion, and a term that adds
   nothing costs. */
static void what_cannot_be_followed_is_last(void **state)
{
    static const char *const law[] = {"u_t = 0.3*u_xx + 0.3*u_yy"}, *const field[] = {"u"};
    static const size_t counts[] = {8, 10, 10};
    static const char *const pair[] = {"u_xx", "u_yy", "u_x"};
    (void)state;
    kbass_data *data = simulate(1, law, "x=0:2*pi, y=0:2*pi, t=0:1", "sin(x)*cos(y) + 0.5*cos(2*x - y)", counts, 2, 1);
    kbass_settings settings;
    kb_dictionary *dictionary = NULL;
    kb_pde_nd_problem *problem = NULL;
    kb_settings_default(&settings);
    settings.terms = "u, u_x, u_xx, u_yy";
    settings.threads = 1;
    CHECK_OK(kb_dictionary_create_fields(&settings, 1, field, 3, axes, &dictionary, &error));
    CHECK_OK(kb_pde_nd_problem_create(data, &settings, dictionary, &problem, &error));
    kb_axes c = {.problem = problem};
    kb_axes_plan(&c);
    double scale = problem->columns->scale[2], grows[] = {-30 * scale, -30 * scale},
           spreads[] = {0.3 * scale, 0.3 * scale, 0};
    kb_pool pool;
    kb_pool_init(&pool, problem->columns->n, 1, 0);
    propose(&pool, problem->columns, pair, grows, 2, dictionary);
    propose(&pool, problem->columns, NULL, NULL, 0, dictionary);
    propose(&pool, problem->columns, pair, spreads, 3, dictionary);
    propose(&pool, problem->columns, pair, spreads, 2, dictionary);
    const kb_fit *ill_posed = pool.fits[0], *still = pool.fits[1], *more = pool.fits[2], *heat = pool.fits[3];
    CHECK_OK(kb_axes_order(&c, 4, &pool, &error));
    CHECK(pool.fits[0] == heat && pool.fits[1] == more && pool.fits[2] == still && pool.fits[3] == ill_posed);
    CHECK(still->valid);
    CHECK(!ill_posed->valid);
    kb_pool_clear(&pool);
    kb_pde_nd_problem_destroy(problem);
    kb_dictionary_destroy(dictionary);
    kbass_data_destroy(data);
}

/* ---------------------------------------------------------------- laws */

/* Its first proposal, of simple terms only, is ill-posed. */
static void burgers_in_the_plane(void **state)
{
    static const char *const equation[] = {"u_t = -u*u_x - u*u_y + 0.1*u_xx + 0.1*u_yy"},
                             *const terms = "u, u^2, u_x, u_y, u*u_x, u*u_y, u_xx, u_xy, u_yy",
                             *const law[] = {"u_t: u*u_x", "u_t: u*u_y", "u_t: u_xx", "u_t: u_yy"};
    static const size_t counts[] = {12, 12, 12};
    (void)state;
    kbass_data *data =
        simulate(1, equation, "x=0:2*pi, y=0:2*pi, t=0:1", "sin(x)*cos(y) + 0.3*cos(2*y + 1)", counts, 2, 1);
    check_support(data, terms, 4, law);
    kbass_data_destroy(data);
}

/* Few waves of long wavelength: to the bare field they are as smooth as polynomials of a large amplitude. */
static void few_long_waves(void **state)
{
    static const char *const equation[] = {"u_t = -0.8*u_x - 0.5*u_y + 0.1*u_xx + 0.1*u_yy"}, *const law[] = {
                                                                                                  "u_t: u_x",
                                                                                                  "u_t: u_y",
                                                                                                  "u_t: u_xx",
                                                                                                  "u_t: u_yy"};
    static const size_t counts[] = {12, 16, 16};
    (void)state;
    kbass_data *data = simulate(1, equation, "x=0:2*pi, y=0:2*pi, t=0:2",
                                "sin(x) + cos(y) + 0.5*cos(x + y) + 0.3*sin(2*x - y)", counts, 5, 1);
    check_support(data, NULL, 4, law);
    kbass_data_destroy(data);
}

static void heat_in_space(void **state)
{
    static const char *const equation[] = {"u_t = 0.2*u_xx + 0.2*u_yy + 0.2*u_zz"},
                             *const terms = "u, u^2, u_x, u_y, u_z, u_xx, u_yy, u_zz, u_xy",
                             *const law[] = {"u_t: u_xx", "u_t: u_yy", "u_t: u_zz"};
    static const size_t counts[] = {6, 7, 7, 7};
    (void)state;
    kbass_data *data = simulate(1, equation, "x=0:2*pi, y=0:2*pi, z=0:2*pi, t=0:2",
                                "sin(x) + cos(y) + sin(z + 1) + 0.5*cos(x + y - z) + 0.3*sin(2*x - z)", counts, 2, 1);
    check_support(data, terms, 3, law);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_followed_is_last),
                                       cmocka_unit_test(burgers_in_the_plane), cmocka_unit_test(few_long_waves),
                                       cmocka_unit_test(heat_in_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
