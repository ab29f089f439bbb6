#include "gp/swings.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

static const double beyond = 0.5; /* sd from the mean */
enum { FEWEST = 2 };              /* gaps between crossings */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gaps between upward crossings of one state, in all runs; gaps: n_rows */
static size_t list_gaps(const kb_record *r, size_t state, double *gaps)
{
    size_t n = 0;
    for (size_t run = 0; run < r->n_runs; run++) {
        double last = NAN;
        int side = 0;
        for (size_t row = r->run_start[run]; row < r->run_start[run + 1]; row++) {
            double q = r->value[row + state * r->n_rows];
            int now = r->measured[row + state * r->n_rows] == 0 || fabs(q) < beyond ? side : q > 0 ? 1 : -1;
            if (side < 0 && now > 0) {
                if (r->time[row] > last) gaps[n++] = r->time[row] - last;
                last = r->time[row];
            }
            side = now;
        }
    }
    return n;
}

kbass_status kb_record_period(const kb_record *r, double *period, double *spread, kbass_error *error)
{
    double *gaps = KB_NEW(double, r->n_rows);
    if (!gaps) return kb_out_of_memory(error, "the record's period");
    *period = 1;
    if (spread) *spread = 0;
    for (size_t i = 0; i < r->n_states; i++) {
        size_t n = list_gaps(r, i, gaps), low = n / 4, high = n - n / 4;
        double sum = 0;
        if (n < FEWEST) continue;
        qsort(gaps, n, sizeof *gaps, ascending);
        for (size_t k = low; k < high; k++) sum += gaps[k];
        double mean = sum / (double)(high - low);
        if (!(mean < *period)) continue;
        *period = mean;
        if (spread) *spread = (gaps[high - 1] - gaps[low]) / mean;
    }
    kb_free(gaps);
    return KBASS_OK;
}
