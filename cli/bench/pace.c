#include "pace.h"

#include <math.h>
#include <time.h>

/* CPU seconds, not the result's own: on a busy machine the wall clock counts others' work too. */
double bench_published_pace(const kbass_data *data, const kbass_settings *settings)
{
    kbass_settings copy = *settings;
    kbass_discovery *discovery = NULL;
    double pace = NAN;
    kbass_settings_set(&copy, "method", "paper", NULL);
    copy.paper_iterations = 5;
    kbass_status status = kbass_discovery_create(data, &copy, &discovery, NULL);
    clock_t start = clock();
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, NULL, NULL, NULL);
    clock_t end = clock();
    size_t n = status == KBASS_OK ? kbass_discovery_result(discovery)->n_iterations : 0;
    if (n) pace = (double)(end - start) / CLOCKS_PER_SEC / (double)n;
    kbass_discovery_destroy(discovery);
    return pace;
}
