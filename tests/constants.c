/* docs/constants.md, from the tables of the searches and of the verdict. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "evidence/thresholds.h"
#include "search/schedule.h"

static const kb_schedule_table *const tables[] = {&kb_schedule_of_states,        &kb_schedule_of_wide_states,
                                                  &kb_schedule_of_long_states,   &kb_schedule_of_one_axis,
                                                  &kb_schedule_of_short_windows, &kb_schedule_of_dense_axis,
                                                  &kb_schedule_of_sparse_axis,   &kb_schedule_of_weak_fields,
                                                  &kb_schedule_of_axes,          &kb_schedule_of_dear_axes};
enum { TABLES = sizeof tables / sizeof *tables };

static void print_row(const char *name, const char *unit, const char *meaning, const double *values,
                      const char *const *reasons)
{
    bool is_one = true;
    for (size_t i = 1; i < TABLES; i++)
        is_one = is_one && values[i] == values[0] && reasons[i] && reasons[0] && !strcmp(reasons[i], reasons[0]);
    printf("\n**%s** (%s): %s\n\n", name, unit, meaning);
    for (size_t i = 0; i < TABLES; i++)
        if (reasons[i] && (i == 0 || !is_one))
            printf("- %s: %g (%s)\n", is_one ? "all data" : tables[i]->kind, values[i], reasons[i]);
}

int main(void)
{
    puts("# Constants of the search\n\nMade by `make docs` from `src/search/schedule.h` and `schedule.c`: what each "
         "tuned "
         "number means, and for which\ndata it has which value, why. Where nothing is said of some data it is not used "
         "there.");
#define ROW(name, unit, meaning)                                                                                       \
    {                                                                                                                  \
        double values[TABLES];                                                                                         \
        const char *reasons[TABLES];                                                                                   \
        for (size_t i = 0; i < TABLES; i++) values[i] = tables[i]->value.name, reasons[i] = tables[i]->reason.name;    \
        print_row(#name, unit, meaning, values, reasons);                                                              \
    }
    KB_SCHEDULE_FIELDS(ROW)
    puts("\n# Thresholds of the verdict\n\nFrom `src/evidence/thresholds.h` and `thresholds.c`: the numbers by which "
         "the "
         "words of an answer are chosen, for all\ndata (docs/math.md, section 10).\n");
#define THRESHOLD(name, unit, meaning)                                                                                 \
    printf("- **%s** (%s): %s: %g (%s)\n", #name, unit, meaning, kb_threshold.name, kb_threshold_reasons.name);
    KB_THRESHOLD_FIELDS(THRESHOLD)
    return 0;
}
