/* Experiments one below the other, which the order of time would mix. */
#include <math.h>

#include "base/status.h"
#include "data/plan.h"

enum { FEWEST_OF_A_RUN = 4 }; /* rows */

/* Of times: the shorter of two stretches lies in the other by half. Clocks are put back by an hour, and logs are
   appended in another order. */
static bool overlap(double low, double high, double from, double until)
{
    return fmin(high, until) - fmax(low, from) > 0.5 * fmin(high - low, until - from);
}

/* Rows before time begins anew; 0 where it does not, and where repeated, unordered or few rows are no experiments. */
static size_t first_stacked(size_t n, const double *times)
{
    size_t block = 0, second = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && !(times[i] < times[i - 1])) continue;
        double from = times[block], until = times[i - 1];
        if (i - block < FEWEST_OF_A_RUN || !(until > from)) return 0;
        if (block && !overlap(low, high, from, until)) return 0;
        if (block && !second) second = block;
        low = fmin(low, from);
        high = fmax(high, until);
        block = i;
    }
    return second;
}

/* T is temperature as often as time, and time is written in its order. */
static kbass_status refuse_capital_t(const kb_plan *p, const kbass_data *data)
{
    const char *face = p->faces[p->roles.axes[0]];
    bool rises = true;
    for (size_t i = 1; i < data->n_rows; i++) rises &= !(data->times[i] < data->times[i - 1]);
    if (rises || p->reading->time || p->reading->axes || face[0] != 'T' || !kb_is_time_name(face) || face[1])
        return KBASS_OK;
    return kb_fail(
        p->reading->error, KBASS_ERROR_DATA,
        "%s: no time column \"t\" or \"time\" (name it with --time NAME); \"T\" does not rise: --time T if it "
        "is time nevertheless",
        p->form.path);
}

kbass_status kb_refuse_stacked(const kb_plan *p, const kbass_data *data)
{
    kbass_status status = refuse_capital_t(p, data);
    if (status != KBASS_OK) return status;
    bool is_told = p->run < p->n || p->variable < p->n || p->reading->is_plain;
    size_t second = is_told || data->n_axes > 1 ? 0 : first_stacked(data->n_rows, data->times);
    if (!second) return KBASS_OK;
    return kb_fail(
        p->reading->error, KBASS_ERROR_DATA,
        "%s: time begins anew after %zu rows: if another experiment begins there, number them in a column of "
        "their own and name it, --run NAME, or give each a file of its own; rows of one experiment need the "
        "order of time",
        p->form.path, second);
}
