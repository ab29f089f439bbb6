#include "gp/input_curves.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "gp/inputs.h"

static const double widest_gap = 1.5; /* between the record and what follows, in longest steps of both */
static const double rounding = 1e-9;  /* of the span: times that are no farther apart are one */

kbass_status kb_input_curves_allocate(size_t n, kb_input_curves *out, kbass_error *error)
{
    *out = (kb_input_curves){n, KB_NEW(char *, n), KB_NEW(kb_curve, n)};
    if (out->names && out->curves) return KBASS_OK;
    kb_input_curves_clear(out);
    return kb_out_of_memory(error, "the inputs");
}

void kb_input_curves_clear(kb_input_curves *in)
{
    for (size_t i = 0; in->names && i < in->n; i++) kb_free(in->names[i]);
    for (size_t i = 0; in->curves && i < in->n; i++) kb_curve_clear(&in->curves[i]);
    kb_free(in->names);
    kb_free(in->curves);
    *in = (kb_input_curves){0};
}

/* A curve through other points, held and late as one that is there. */
static kbass_status set_points(kb_curve *curve, size_t n, const double *times, const double *values, kbass_error *error)
{
    kb_curve made = {0};
    if (!kb_curve_create(n, times, values, curve->is_held, &made)) return kb_out_of_memory(error, "the inputs");
    made.delay = curve->delay;
    kb_curve_clear(curve);
    *curve = made;
    return KBASS_OK;
}

kbass_status kb_input_curves_copy(const kb_input_curves *from, kb_input_curves *out, kbass_error *error)
{
    kbass_status status = kb_input_curves_allocate(from->n, out, error);
    for (size_t i = 0; status == KBASS_OK && i < from->n; i++) {
        const kb_curve *c = &from->curves[i];
        out->curves[i] = (kb_curve){.is_held = c->is_held, .delay = c->delay};
        out->names[i] = kb_strdup(from->names[i]);
        if (!out->names[i]) status = kb_out_of_memory(error, "the inputs");
        if (status == KBASS_OK && c->n) status = set_points(&out->curves[i], c->n, c->time, c->value, error);
    }
    if (status != KBASS_OK) kb_input_curves_clear(out);
    return status;
}

/* ---------------------------------------------------------------- other data */

static double longest_step(size_t n, const double *times)
{
    double longest = 0;
    for (size_t i = 1; i < n; i++) longest = fmax(longest, times[i] - times[i - 1]);
    return longest;
}

/* Puts the points up to `after` before the n that are there; there is room for both. */
static kbass_status put_before(const kb_curve *c, const char *name, double after, size_t *n, double *times,
                               double *values, kbass_error *error)
{
    size_t kept = 0, dropped = 0;
    double slack = rounding * (c->time[c->n - 1] - c->time[0]), step = longest_step(c->n, c->time);
    while (kept < c->n && c->time[kept] <= after + slack) kept++;
    step = fmax(step, longest_step(*n, times));
    while (dropped < *n && times[dropped] <= c->time[kept - 1] + slack) dropped++;
    if (dropped < *n && !(times[dropped] - c->time[kept - 1] <= widest_gap * step))
        return kb_fail(error, KBASS_ERROR_DATA,
                       "the input \"%.60s\" is known to %.10g from the record and from %.10g on from the data: nothing "
                       "is known between",
                       name, c->time[kept - 1], times[dropped]);
    memmove(times + kept, times + dropped, (*n - dropped) * sizeof *times);
    memmove(values + kept, values + dropped, (*n - dropped) * sizeof *values);
    memcpy(times, c->time, kept * sizeof *times);
    memcpy(values, c->value, kept * sizeof *values);
    *n += kept - dropped;
    return KBASS_OK;
}

static kbass_status take_one(kb_input_curves *in, size_t i, const kbass_data *data, size_t run, double after,
                             double *times, double *values, kbass_error *error)
{
    kb_curve *c = &in->curves[i];
    size_t column = kb_data_find_state(data, in->names[i]), n = 0;
    if (column == data->n_states)
        return kb_fail(error, KBASS_ERROR_DATA, "the data have no column \"%.60s\", an input of the law", in->names[i]);
    kbass_status status = kb_inputs_gather(data, run, column, times, values, &n, error);
    if (status == KBASS_OK && n && c->n && !isnan(after))
        status = put_before(c, in->names[i], after, &n, times, values, error);
    if (status == KBASS_OK && n < 2)
        status = kb_fail(error, KBASS_ERROR_DATA, "the input \"%.60s\" has %zu value%s, at least 2 are needed",
                         in->names[i], n, n == 1 ? "" : "s");
    return status == KBASS_OK ? set_points(c, n, times, values, error) : status;
}

kbass_status kb_input_curves_take(kb_input_curves *in, const kbass_data *data, size_t run, double after,
                                  kbass_error *error)
{
    size_t room = data->n_rows;
    if (data->n_axes > 1)
        return kb_fail(error, KBASS_ERROR_DATA, "the data of inputs have %zu axes, needed time alone", data->n_axes);
    for (size_t i = 0; i < in->n; i++)
        room = room < data->n_rows + in->curves[i].n ? data->n_rows + in->curves[i].n : room;
    double *times = KB_NEW(double, room), *values = KB_NEW(double, room);
    kbass_status status = times && values ? KBASS_OK : kb_out_of_memory(error, "the inputs");
    for (size_t i = 0; status == KBASS_OK && i < in->n; i++)
        status = take_one(in, i, data, run, after, times, values, error);
    kb_free(times);
    kb_free(values);
    return status;
}

/* ---------------------------------------------------------------- along a solution */

kbass_status kb_input_curves_check(const kb_input_curves *in, const char *time_name, double first, double last,
                                   kbass_error *error)
{
    double slack = rounding * (last - first);
    for (size_t i = 0; i < in->n; i++) {
        const kb_curve *c = &in->curves[i];
        if (!c->n)
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "the law has the input \"%.60s\", and nobody said what it is (--input-data FILE)",
                           in->names[i]);
        double begin = c->time[0], end = c->time[c->n - 1] + c->delay;
        if (begin <= first + slack && end >= last - slack) continue;
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "the input \"%.60s\" is known from %s = %.10g to %.10g%s, and needed from %.10g to %.10g "
                       "(--input-data FILE)",
                       in->names[i], time_name, begin, end, c->delay > 0 ? ", its delay counted" : "", first, last);
    }
    return KBASS_OK;
}

void kb_input_curves_at(const kb_input_curves *in, double time, double middle, double *values)
{
    for (size_t i = 0; i < in->n; i++)
        values[i] = kb_curve_at(&in->curves[i], in->curves[i].is_held ? middle : time, NULL);
}

double kb_input_curves_next_jump(const kb_input_curves *in, double time)
{
    double next = INFINITY;
    for (size_t i = 0; i < in->n; i++) next = fmin(next, kb_curve_next_jump(&in->curves[i], time));
    return next;
}
