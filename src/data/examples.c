#include <stdbool.h>
#include <string.h>

#include "base/status.h"
#include "base/suggest.h"
#include "data/data.h"

typedef struct {
    const char *name, *summary;
    size_t n_rows, n_states;
    const char *const *state_names;
    const double *times, *values;
} example;

/* Pelts collected by the Hudson's Bay Company, in thousands: snowshoe hare x, Canada lynx y. */
static const char *const hare_lynx_names[] = {"x", "y"};
static const double hare_lynx_years[] = {1900, 1901, 1902, 1903, 1904, 1905, 1906, 1907, 1908, 1909, 1910,
                                         1911, 1912, 1913, 1914, 1915, 1916, 1917, 1918, 1919, 1920};
static const double hare_lynx_pelts[] = {
    30.0, 4.0,  47.2, 6.1,  70.2, 9.8,  77.4, 35.2, 36.3, 59.4, 20.6, 41.7, 18.1, 19.0,
    21.4, 13.0, 22.0, 8.3,  25.4, 9.1,  27.1, 7.4,  40.3, 8.0,  57.0, 12.3, 76.6, 19.5,
    52.3, 45.7, 19.5, 51.1, 11.2, 29.7, 7.6,  15.8, 14.6, 9.7,  16.2, 10.1, 24.7, 8.6,
};

static const example examples[] = {
    {"hare-lynx", "hares (x) and lynxes (y) of the Hudson Bay, in thousands, 1900 to 1920", 21, 2, hare_lynx_names,
     hare_lynx_years, hare_lynx_pelts},
};

enum { N_EXAMPLES = sizeof examples / sizeof *examples };

_Static_assert(sizeof hare_lynx_years == 21 * sizeof(double), "one time per row");
_Static_assert(sizeof hare_lynx_pelts == 2 * sizeof hare_lynx_years, "two states per row");

const char *kbass_data_example_name(size_t index) { return index < N_EXAMPLES ? examples[index].name : NULL; }

const char *kbass_data_example_summary(size_t index) { return index < N_EXAMPLES ? examples[index].summary : NULL; }

kbass_status kbass_data_example(const char *name, kbass_data **data, kbass_error *error)
{
    const char *names[N_EXAMPLES];
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        const example *e = &examples[i];
        names[i] = e->name;
        if (strcmp(name, e->name) == 0)
            return kbass_data_create(e->n_rows, e->n_states, e->times, e->values, "t", e->state_names, data, error);
    }
    const char *nearest = kb_nearest(name, N_EXAMPLES, names);
    if (!nearest) return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown data set \"%s\" (try \"%s\")", name, names[0]);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown data set \"%s\" (did you mean \"%s\"?)", name, nearest);
}
