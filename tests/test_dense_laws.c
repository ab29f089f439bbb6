/* Many values along one axis: laws that the first model to follow the data hid. */
#include "check.h"
#include "found.h"

static kbass_error error;

static kbass_data *simulate(const char *equation, const char *domain, const char *initial, const size_t *counts,
                            double percent, unsigned seed)
{
    kbass_model *pde = NULL;
    kbass_data *data = NULL;
    kbass_model_options options = {.domain = domain, .initial = initial};
    CHECK_OK(kbass_model_parse(1, &equation, &options, &pde, &error));
    CHECK_OK(kbass_model_grid(pde, counts, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, percent, seed, &error));
    kbass_model_destroy(pde);
    return data;
}

/* Swift and Hohenberg's equation. Its late lines are one wave: open ones have modes to follow some of the noise, and
   left less of it than the ring. Without u^3 the pattern's growth is followed to 1.4 times the noise, and what damps
   was not tried beside u, u^3, u_xx. */
static void a_model_that_nearly_follows_is_not_all(void **state)
{
    static const size_t counts[] = {100, 80};
    static const char *const law[] = {"u_t: u", "u_t: u^3", "u_t: u_xx", "u_t: u_xxxx"};
    (void)state;
    kbass_data *data = simulate("u_t = -0.7*u - 2*u_xx - u_xxxx - u^3", "x=0:8*pi, t=0:12",
                                "0.4*cos(x) + 0.3*sin(x/2) + 0.1*cos(3*x/4)", counts, 10, 3);
    kbass_discovery *discovery = discover(data, NULL);
    CHECK(has_support(kbass_discovery_result(discovery), 4, law));
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_that_nearly_follows_is_not_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
