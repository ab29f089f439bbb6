/* NumPy's datetime64 and timedelta64: counts of a unit since 1970, or since nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/source.h"

static const double hour = 3600;

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Seconds since the first that is there; NaN for NaT. */
static void count_from_first(const kb_array *array, size_t n, double *seconds, int64_t *first)
{
    bool has_first = false;
    for (size_t i = 0; i < n; i++) {
        int64_t count = kb_element_whole(array->element, array->bytes + i * array->strides[0]), from = 0;
        bool is_there = count != INT64_MIN;
        if (is_there && !has_first) *first = count;
        has_first |= is_there;
        bool is_near = is_there && !__builtin_sub_overflow(count, *first, &from);
        seconds[i] = is_near ? (double)from * array->tick : (double)NAN;
    }
}

static double typical_step(size_t n, const double *seconds, double *work)
{
    size_t n_steps = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(seconds[i] - seconds[i - 1]) > 0) work[n_steps++] = fabs(seconds[i] - seconds[i - 1]);
    if (n_steps) qsort(work, n_steps, sizeof *work, ascending);
    return n_steps ? work[n_steps / 2] : 0;
}

/* The numbers lie as far apart as the dates did. */
static void store(kb_array *array, size_t n, const double *seconds, double begin, unsigned char *to)
{
    for (size_t i = 0; i < n; i++) {
        double value = (seconds[i] + begin) / array->time_unit;
        memcpy(to + i * array->strides[0], &value, sizeof value);
    }
    kb_free(array->owned);
    array->owned = to;
    array->bytes = to;
    array->element = (kb_element){KB_REAL, sizeof(double), false};
    array->tick = 0;
}

kbass_status kb_array_settle_dates(kb_array *array, kbass_error *error)
{
    static const double most = 9e15; /* seconds; dates of other ages than ours cannot be printed */
    size_t n = array->dims[0];
    int64_t first = 0;
    double *seconds = KB_NEW(double, n + 1), *work = KB_NEW(double, n + 1);
    unsigned char *bytes = KB_NEW(unsigned char, n * array->strides[0] + sizeof(double));
    bool all = seconds && work && bytes;
    if (all) {
        count_from_first(array, n, seconds, &first);
        double begin = fmax(-most, fmin(most, (double)first * array->tick)), origin = floor(begin);
        array->origin = (int64_t)origin;
        array->time_unit = typical_step(n, seconds, work) >= hour ? KB_DAY : 1;
        store(array, n, seconds, array->is_span ? begin : begin - origin, bytes);
    } else {
        kb_free(bytes);
    }
    kb_free(seconds);
    kb_free(work);
    return all ? KBASS_OK : kb_out_of_memory(error, "the dates");
}
