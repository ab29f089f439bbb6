#include "pace.h"

#include <math.h>
#include <time.h>

/* The loop reports every step of Adam, paper_steps to an iteration. */
typedef struct {
    size_t n;
    clock_t first, last;
} pace;

static int step(const kbass_progress *now, void *user)
{
    pace *p = user;
    (void)now;
    p->last = clock();
    if (p->n++ == 0) p->first = p->last;
    return 0;
}

double bench_published_pace(const kbass_data *data, const kbass_settings *settings)
{
    kbass_settings copy = *settings;
    kbass_discovery *discovery = NULL;
    pace p = {0};
    kbass_settings_set(&copy, "method", "paper", NULL);
    copy.paper_iterations = 10;
    kbass_status status = kbass_discovery_create(data, &copy, &discovery, NULL);
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, step, &p, NULL);
    kbass_discovery_destroy(discovery);
    if (status != KBASS_OK || p.n < 2) return NAN;
    return (double)(p.last - p.first) / CLOCKS_PER_SEC / (double)(p.n - 1) * copy.paper_steps;
}
