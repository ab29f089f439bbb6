#include "pace.h"

#include <math.h>
#include <time.h>

#include "choose.h"

/* CPU seconds, not the result's own: on a busy machine the wall clock counts others' work too. */
bench_pace bench_published_pace(const kbass_data *data, const kbass_settings *settings, int iterations, double limit)
{
    kbass_settings *copy = bench_settings(settings);
    kbass_discovery *discovery = NULL;
    bench_pace pace = {NAN, NAN, KBASS_NO_MODEL};
    bench_choose(copy, "method", "paper");
    if (iterations) { /* a short first regression: it is the steps with the equation that are timed */
        bench_choose_number(copy, "paper-first", 1);
        bench_choose_number(copy, "paper-limit", 1 + 100 * iterations);
    }
    bench_choose_number(copy, "time-limit", limit);
    kbass_status status = kbass_discovery_create(data, copy, &discovery, NULL);
    clock_t start = clock();
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, NULL, NULL, NULL);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    const kbass_result *result = status == KBASS_OK ? kbass_discovery_result(discovery) : NULL;
    if (result && result->n_iterations)
        pace = (bench_pace){seconds / (double)result->n_iterations, seconds, result->outcome};
    kbass_discovery_destroy(discovery);
    kbass_settings_destroy(copy);
    return pace;
}
