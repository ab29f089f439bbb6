/* Integration by CVODES: BDF with Newton's method and the exact Jacobian, step by step, so that a solution that runs
 * away is noticed and told from one that is only stiff.
 */
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/model.h"
#include "simulate/sundials.h"

enum {
    MOST_STEPS = 5000000,
    MOST_SHORT = 200
}; /* steps where a state begins at 0, and on to a jump of sign, step or floor */

static const double RELATIVE = 1e-12, ABSOLUTE = 1e-14; /* the latter in units of the initial state */
static const double SMALL_SHARE = 1e-3;                 /* of the largest initial state: the least unit of any */
static const double RUNAWAY = 1e4;                      /* growth that, with steps down to nothing, means a pole */
static const double FARTHEST = 1e100;                   /* no solution is followed beyond */

typedef struct {
    const kb_model *model;
    double *x;     /* states, time, inputs */
    double middle; /* of the present stretch between jumps of the inputs */
    double *work;
    double largest; /* initial state */
    size_t n_short; /* steps in a row that are too short to count */
    SUNContext context;
    void *cvodes;
    N_Vector state, tolerance;
    SUNMatrix jacobian;
    SUNLinearSolver solver;
} integrator;

/* ---------------------------------------------------------------- the equations */

static void load(integrator *in, double t, N_Vector state)
{
    size_t n = in->model->n_states;
    memcpy(in->x, N_VGetArrayPointer(state), n * sizeof *in->x);
    in->x[n] = t;
    kb_input_curves_at(&in->model->inputs, t, in->middle, in->x + n + 1);
}

/* A positive answer makes CVODES try a shorter step. */
static int rates(double t, N_Vector state, N_Vector derivative, void *user)
{
    integrator *in = user;
    double *rate = N_VGetArrayPointer(derivative);
    load(in, t, state);
    for (size_t i = 0; i < in->model->n_states; i++) {
        kb_expression_values(in->model->rates[i], 1, in->x, 1, &rate[i], in->work);
        if (!isfinite(rate[i])) return 1;
    }
    return 0;
}

/* A slope that is not finite counts as zero: the Jacobian only steers Newton's method. */
static int slopes(double t, N_Vector state, N_Vector derivative, SUNMatrix jacobian, void *user, N_Vector a, N_Vector b,
                  N_Vector c)
{
    integrator *in = user;
    size_t n = in->model->n_states;
    (void)derivative, (void)a, (void)b, (void)c;
    load(in, t, state);
    for (size_t j = 0; j < n; j++) {
        double *column = SUNDenseMatrix_Column(jacobian, (sunindextype)j);
        for (size_t i = 0; i < n; i++) {
            column[i] = 0;
            if (!kb_expression_depends(in->model->rates[i], j)) continue;
            kb_expression_slopes(in->model->rates[i], j, 1, in->x, 1, &column[i], in->work);
            if (!isfinite(column[i])) column[i] = 0;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- life */

static void finish(integrator *in)
{
    if (in->cvodes) CVodeFree(&in->cvodes);
    if (in->solver) SUNLinSolFree(in->solver);
    if (in->jacobian) SUNMatDestroy(in->jacobian);
    if (in->tolerance) N_VDestroy(in->tolerance);
    if (in->state) N_VDestroy(in->state);
    if (in->context) SUNContext_Free(&in->context);
    kb_free(in->x);
    kb_free(in->work);
}

static bool create_parts(integrator *in)
{
    sunindextype n = (sunindextype)in->model->n_states;
    in->x = KB_NEW(double, in->model->n_states + 1 + in->model->inputs.n);
    in->work = KB_NEW(double, in->model->n_work);
    if (!in->x || !in->work || !kb_sundials_create(CV_BDF, &in->context, &in->cvodes)) return false;
    in->state = N_VNew_Serial(n, in->context);
    in->tolerance = N_VNew_Serial(n, in->context);
    in->jacobian = SUNDenseMatrix(n, n, in->context);
    if (!in->state || !in->tolerance || !in->jacobian) return false;
    in->solver = SUNLinSol_Dense(in->state, in->jacobian, in->context);
    return in->solver != NULL;
}

static void set_scales(integrator *in, const double *initial)
{
    size_t n = in->model->n_states;
    double *tolerance = N_VGetArrayPointer(in->tolerance);
    for (size_t i = 0; i < n; i++) in->largest = fmax(in->largest, fabs(initial[i]));
    if (!(in->largest > 0)) in->largest = 1;
    for (size_t i = 0; i < n; i++) tolerance[i] = ABSOLUTE * fmax(fabs(initial[i]), SMALL_SHARE * in->largest);
    memcpy(N_VGetArrayPointer(in->state), initial, n * sizeof *initial);
}

/* Up to the next jump of an input, or to the last time; where that is. */
static double stretch_from(integrator *in, double start, double last)
{
    double slack = 8 * DBL_EPSILON * fmax(fabs(start), fabs(last));
    double end = fmin(last, kb_input_curves_next_jump(&in->model->inputs, start + slack));
    if (last - end <= slack) end = last;
    in->middle = 0.5 * (start + end);
    return end;
}

static bool begin(integrator *in, double start, double last)
{
    int failed = CVodeInit(in->cvodes, rates, start, in->state);
    if (!failed) failed = CVodeSVtolerances(in->cvodes, RELATIVE, in->tolerance);
    if (!failed) failed = CVodeSetUserData(in->cvodes, in);
    if (!failed) failed = CVodeSetLinearSolver(in->cvodes, in->solver, in->jacobian);
    if (!failed) failed = CVodeSetJacFn(in->cvodes, slopes);
    if (!failed) failed = CVodeSetStopTime(in->cvodes, last);
    return !failed;
}

/* ---------------------------------------------------------------- steps */

static kbass_status give_up(integrator *in, double t, size_t too_long, kbass_error *error)
{
    const double *x = N_VGetArrayPointer(in->state);
    size_t worst = 0;
    for (size_t i = 0; i < in->model->n_states; i++)
        if (!(fabs(x[i]) <= fabs(x[worst]))) worst = i;
    const char *name = in->model->names[worst], *time = in->model->names[in->model->n_states];
    if (!(fabs(x[worst]) <= RUNAWAY * in->largest))
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "the solution leaves every bound near %s = %.6g (%s = %.3g)", time,
                       t, name, x[worst]);
    if (too_long)
        return kb_fail(error, KBASS_ERROR_NUMERICAL, "%zu steps reach only %s = %.6g (%s = %.6g)", too_long, time, t,
                       name, x[worst]);
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the equations cannot be followed beyond %s = %.6g (%s = %.6g)", time,
                   t, name, x[worst]);
}

/* False at a failure of CVODES, at steps too short to count, and beyond every bound. */
static bool step(integrator *in, double last, double *t)
{
    double size = 0, before = *t;
    const double *x = N_VGetArrayPointer(in->state);
    int flag = CVode(in->cvodes, last, in->state, t, CV_ONE_STEP);
    if (flag < 0) {
        CVodeGetCurrentTime(in->cvodes, t);
        return false;
    }
    for (size_t i = 0; i < in->model->n_states; i++) size = !(fabs(x[i]) <= size) ? fabs(x[i]) : size;
    bool moves = *t >= last || *t - before > 4 * DBL_EPSILON * fabs(*t);
    in->n_short = moves ? 0 : in->n_short + 1;
    return in->n_short <= MOST_SHORT && size <= FARTHEST * fmax(in->largest, 1);
}

/* Steps until the times are passed and interpolates at each. */
static kbass_status follow(integrator *in, size_t most_steps, double start, size_t n_times, const double *times,
                           double *states, bool *too_far, kbass_error *error)
{
    size_t n = in->model->n_states, done = 0, n_steps = 0;
    double t = start, last = times[n_times - 1], end = stretch_from(in, start, last);
    while (done < n_times && times[done] <= start)
        memcpy(states + done++ * n, N_VGetArrayPointer(in->state), n * sizeof *states);
    while (done < n_times) {
        if (!step(in, end, &t)) return give_up(in, t, 0, error);
        if (++n_steps > most_steps) {
            if (too_far) *too_far = true;
            return give_up(in, t, most_steps, error);
        }
        for (; done < n_times && times[done] <= t; done++) {
            if (CVodeGetDky(in->cvodes, times[done], 0, in->tolerance) != CV_SUCCESS) return give_up(in, t, 0, error);
            memcpy(states + done * n, N_VGetArrayPointer(in->tolerance), n * sizeof *states);
        }
        if (done < n_times && t >= end) {
            end = stretch_from(in, t, last);
            if (CVodeReInit(in->cvodes, t, in->state) || CVodeSetStopTime(in->cvodes, end))
                return give_up(in, t, 0, error);
        }
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- the public door */

static kbass_status check(const kb_model *model, double start, const double *initial, size_t n_times,
                          const double *times, kbass_error *error)
{
    if (!isfinite(start)) return kb_fail(error, KBASS_ERROR_ARGUMENT, "the start time is %g, it must be finite", start);
    for (size_t i = 0; i < model->n_states; i++)
        if (!isfinite(initial[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "the initial value of %s is %g, it must be finite",
                           model->names[i], initial[i]);
    for (size_t i = 0; i < n_times; i++) {
        double before = i ? times[i - 1] : start;
        if (!isfinite(times[i]) || !(before <= times[i]))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "times must ascend from the start: time %zu is %.10g, after %.10g", i + 1, times[i], before);
    }
    if (n_times && model->inputs.n)
        return kb_input_curves_check(&model->inputs, model->names[model->n_states], start, times[n_times - 1], error);
    return KBASS_OK;
}

/* CVODES refuses spans of a few roundings: there is nothing to integrate. */
static bool stands_still(double start, double last)
{
    return last - start <= 8 * DBL_EPSILON * fmax(fabs(start), fabs(last));
}

kbass_status kb_model_integrate(const kb_model *model, double start, const double *initial, size_t n_times,
                                const double *times, double *states, kbass_error *error)
{
    return kb_model_follow(model, MOST_STEPS, start, initial, n_times, times, states, NULL, error);
}

kbass_status kb_model_follow(const kb_model *model, size_t most_steps, double start, const double *initial,
                             size_t n_times, const double *times, double *states, bool *too_far, kbass_error *error)
{
    integrator in = {.model = model};
    kbass_status status = check(model, start, initial, n_times, times, error);
    if (status != KBASS_OK || !n_times) return status;
    if (stands_still(start, times[n_times - 1])) {
        for (size_t i = 0; i < n_times * model->n_states; i++) states[i] = initial[i % model->n_states];
        return KBASS_OK;
    }
    if (!create_parts(&in)) status = kb_out_of_memory(error, "the integrator");
    if (status == KBASS_OK) {
        set_scales(&in, initial);
        if (!begin(&in, start, stretch_from(&in, start, times[n_times - 1])))
            status = kb_out_of_memory(error, "the integrator");
    }
    if (status == KBASS_OK) status = follow(&in, most_steps, start, n_times, times, states, too_far, error);
    finish(&in);
    return status;
}
