#include "forecast/request.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "forecast/spread.h"
#include "simulate/model.h"

enum { MOST_DRAWS = 1000000 };
static const double fitted_reach =
    0.25; /* of the record: the modes of fitted boundary values come round again at 0.5 */

static kbass_status check_options(const kbass_posterior *p, const kbass_forecast_options *o, kbass_error *error)
{
    if (!o->n_draws || o->n_draws > MOST_DRAWS)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found %zu draws, needed 1 to %d", o->n_draws, MOST_DRAWS);
    if (o->state && p->n_axes > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "a field cannot start from a list of numbers: kbass simulate takes its "
                       "equation with --initial");
    for (size_t i = 0; o->state && i < p->n_states; i++)
        if (!isfinite(o->state[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s starts at %g, needed a finite number", p->state_names[i],
                           o->state[i]);
    if (o->boundary && p->n_axes == 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "a boundary is for fields over space, these are states over time");
    return KBASS_OK;
}

static kbass_status check_times(const kb_forecast_request *q, kbass_error *error)
{
    const kbass_posterior *p = q->posterior;
    double slack = 1e-9 * (p->last[0] - p->first[0]), before = p->last[0] - slack;
    if (!q->n_times) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found no time to forecast");
    for (size_t i = 0; i < q->n_times; i++) {
        if (!isfinite(q->times[i]) || !(q->times[i] >= before))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "found the time %.10g, needed %s from %.10g on, where the record ends", q->times[i],
                           "ascending times", p->last[0]);
        before = q->times[i];
    }
    return KBASS_OK;
}

static kbass_status check_row_places(const kb_forecast_request *q, kbass_error *error)
{
    const kbass_posterior *p = q->posterior;
    size_t space = p->n_axes - 1;
    if (!q->n_places) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found no place to forecast the fields at");
    for (size_t i = 0; i < q->n_places * space; i++) {
        double low = p->row.low[i % space], high = p->row.high[i % space], slack = 1e-9 * (high - low);
        if (!(q->places[i] >= low - slack && q->places[i] <= high + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "the place %s = %g is outside the domain, %g to %g",
                           p->axis_names[1 + i % space], q->places[i], low, high);
    }
    return KBASS_OK;
}

static kbass_status check_places(const kb_forecast_request *q, kbass_error *error)
{
    const kbass_posterior *p = q->posterior;
    if (kb_posterior_has_row(p)) return check_row_places(q, error);
    double first = p->origin[1], length = p->span[1], reach = p->line.periodic ? p->line.period : 1,
           slack = 1e-9 * length;
    if (!q->n_places) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found no place to forecast the fields at");
    for (size_t i = 0; i < q->n_places; i++)
        if (!(q->places[i] >= first - slack && q->places[i] <= first + reach * length + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "the place %s = %g is outside the domain, %g to %g",
                           p->axis_names[1], q->places[i], first, first + reach * length);
    return KBASS_OK;
}

/* The first axis of space that is open, counted from 0; 0 when there is none. */
static size_t open_axis(const kbass_posterior *p)
{
    size_t d = 0;
    if (!kb_posterior_has_row(p)) return 0;
    while (d + 1 < p->n_axes && p->row.is_closed[d]) d++;
    return d + 1 < p->n_axes ? d : 0;
}

static bool is_all_closed(const kbass_posterior *p)
{
    return kb_posterior_has_row(p) ? p->row.is_closed[open_axis(p)] : p->line.periodic;
}

static kbass_status choose_ends(kb_forecast_request *q, kbass_error *error)
{
    static const char *const names[] = {"fitted", "dirichlet", "neumann"};
    const kbass_posterior *p = q->posterior;
    const char *name = q->options->boundary ? q->options->boundary : "fitted", *axis = p->axis_names[1 + open_axis(p)];
    bool is_closed = is_all_closed(p);
    double farthest = p->last[0] + fitted_reach * (p->last[0] - p->first[0]);
    size_t i = 0;
    if (is_closed && (!strcmp(name, "periodic") || !strcmp(name, "fitted"))) return KBASS_OK;
    while (i < 3 && strcmp(names[i], name)) i++;
    if (i == 3 && strcmp(name, "periodic"))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "found the boundary \"%.40s\", needed fitted, periodic, dirichlet or neumann", name);
    if (i == 3 || is_closed)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "found the boundary \"%s\", but the fit has %s %s: discover again with "
                       "--periodic %s",
                       name, axis, i == 3 ? "not periodic" : "periodic", i == 3 ? axis : "none");
    if (i == KB_ENDS_FITTED && !(q->times[q->n_times - 1] <= farthest))
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "the fitted values at the ends of %s reach only a quarter of the record "
                       "beyond it, to %s = %g: name a boundary, dirichlet or neumann",
                       axis, p->axis_names[0], farthest);
    q->ends = (kb_ends)i;
    return KBASS_OK;
}

/* Has every equation a value where the forecast starts? */
static kbass_status check_start(const kbass_posterior *p, const double *state, kbass_error *error)
{
    kb_model *model = NULL;
    double *rates = KB_NEW(double, p->n_states);
    kbass_status status = rates ? KBASS_OK : kb_out_of_memory(error, "the start");
    if (status == KBASS_OK) status = kb_belief_model(p, &p->models[0], p->models[0].weight, &model, error);
    if (status == KBASS_OK) status = kb_model_rates(model, 1, &p->last[0], state, rates, error);
    for (size_t i = 0; status == KBASS_OK && i < p->n_states; i++)
        if (!isfinite(rates[i]))
            status = kb_fail(error, KBASS_ERROR_ARGUMENT,
                             "the forecast cannot start: %s_t has no finite value at the given "
                             "state (%s = %g)",
                             p->state_names[i], p->state_names[i], state[i]);
    kb_model_destroy(model);
    kb_free(rates);
    return status;
}

kbass_status kb_forecast_check(kb_forecast_request *q, kbass_error *error)
{
    kbass_status status = check_options(q->posterior, q->options, error);
    if (status == KBASS_OK) status = check_times(q, error);
    if (status == KBASS_OK && q->posterior->n_axes > 1) status = check_places(q, error);
    if (status == KBASS_OK && q->posterior->n_axes > 1) status = choose_ends(q, error);
    if (status == KBASS_OK && q->posterior->inputs.n)
        status = kb_input_curves_check(&q->posterior->inputs, q->posterior->axis_names[0], q->posterior->last[0],
                                       q->times[q->n_times - 1], error);
    if (status == KBASS_OK && q->options->state) status = check_start(q->posterior, q->options->state, error);
    return status;
}
