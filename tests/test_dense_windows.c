/* A dense field is compared in short windows; where the law follows the data through longer ones it is fitted there. */
#include <math.h>

#include "check.h"
#include "kbass/kbass.h"

enum { T = 80, X = 64, N = T * X };

/* A wave that travels, u_t = -u_x, over three periods, which are seven windows at first. */
static void windows_join_where_the_law_follows(void **state)
{
    static const char *const axes[] = {"t", "x"}, *const names[] = {"u"};
    static double times[N], positions[N], values[N];
    kbass_data *data = NULL;
    kbass_discovery *discovery = NULL;
    const kbass_result *result = NULL;
    kbass_settings settings;
    kbass_error error;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        times[i] = 0.25 * (double)(i / X);
        positions[i] = 2 * M_PI * (double)(i % X) / X;
        values[i] = sin(positions[i] - times[i]) + 0.5 * sin(2 * (positions[i] - times[i]));
    }
    CHECK_OK(kbass_data_create_axes(N, 2, 1, times, positions, values, axes, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 10, 1, &error));
    kb_settings_default(&settings);
    settings.threads = 1;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    result = kbass_discovery_result(discovery);
    CHECK(result->n_windows <= 2); /* two where its weight is known to 0.1 % by then */
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_join_where_the_law_follows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
