/* The flow of a model: dq/ds = f(s, q; w) in scaled variables, integrated with its tangents.
 *
 *     f_i = sum_c w_c P_c(u) / scale_c + fixed part,     u = mean + sd q
 *
 * Tangents with respect to chosen columns' weights and to the initial state are those of the discrete scheme itself, on
 * the steps the states took (docs/math.md, eq. 18). Two steppers behind one door: Dormand-Prince 5(4), and, when that
 * runs out of steps, the L-stable SDIRK4 of Hairer and Wanner with full Newton. A state that leaves its bounds, or
 * steps that run out, end the integration: such a model is no answer.
 */
#ifndef KB_FORWARD_ODE_FLOW_H
#define KB_FORWARD_ODE_FLOW_H

#include "forward/rhs.h"

/* States without an equation follow this cubic: values and slopes of q at even nodes of each run, n x n_states,
   column-major; run r has the nodes from start[r] to start[r + 1]. */
typedef struct {
    size_t n;
    const size_t *start;
    const double *value, *slope;
} kb_follow;

typedef struct {
    const kb_record *record;
    const kb_dictionary *dictionary;
    const kb_columns *columns;
    size_t n;   /* states */
    size_t run; /* of the record, that times belong to */

    kb_rhs rhs;
    size_t n_parameters; /* tangent columns' weights, then the initial state */

    kb_follow follow;

    double *bound; /* largest |q| per state */
    double tolerance;
    bool stiff;       /* set once the explicit stepper gave up; reset by kb_flow_model */
    bool escaped;     /* the last integration left the bounds */
    double next_step; /* where the last integration left off; a guess for the next */
    double middle;    /* of the present stretch between jumps of the inputs */

    size_t *depends_start,
        *depends; /* the states that a term depends on, inputs left out: from depends_start[term] on */
    double rated; /* the time at whose state rate's first n are known; NaN: there is none */
    double *x, *values, *slopes, *work; /* evaluation */
    double *forces;                     /* terms of the model and of the tangents, of each stage */
    double *stage, *rate, *tangent_rate, *tangent_stage, *jacobian, *lu, *tangent, *state, *trial, *delta;
    double *known, *error, *unused; /* n each: of one step */
    int *pivot;
} kb_flow;

kbass_status kb_flow_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                            size_t max_tangents, kb_flow **out, kbass_error *error);
void kb_flow_destroy(kb_flow *flow);

/* Sets the model: weights (by column, scaled) of the support, tangents for the columns of `tangents` (NULL: none). */
void kb_flow_model(kb_flow *flow, const kb_support *support, const double *w, const kb_support *tangents);
/* From `start` (n) at times[0] through ascending times. states: n_times x n, row-major; tangents, unless NULL:
   n_times x n x n_parameters, the last fastest. False when the solution escapes or stalls. */
bool kb_flow_integrate(kb_flow *flow, size_t n_times, const double *times, const double *start, double *states,
                       double *tangents);

/* The cubic of `follow`, or an input's curve, at a scaled time of the present run. */
double kb_flow_followed(const kb_flow *flow, size_t state, double s);

/* Shared by the two steppers: rate f (n) and, unless NULL, Jacobian df/dq (n x n row-major) at (s, q). */
void kb_flow_rate(kb_flow *flow, double s, const double *q, double *rate, double *jacobian);
/* Keeps all terms at the last point given to kb_flow_rate, as those of a stage. */
void kb_flow_keep_forces(kb_flow *flow, int stage);
/* out += factor * df/d(weights) there, for n parameters from `first` on; two states' are `stride` numbers apart. */
void kb_flow_force(const kb_flow *flow, int stage, size_t first, size_t n, double factor, size_t stride, double *out);
/* One step of size h from flow->state at s; returns the scaled error (<= 1: good), NaN when it cannot be done. The new
   state is left in flow->trial; stages are kept for the tangents. */
double kb_explicit_step(kb_flow *flow, double s, double h);
double kb_implicit_step(kb_flow *flow, double s, double h);
/* Carries flow->tangent along the step just taken. */
bool kb_explicit_tangent(kb_flow *flow, double s, double h);
bool kb_implicit_tangent(kb_flow *flow, double s, double h);
enum { KB_FLOW_STAGES = 7 }; /* room: stages of either method */
enum { KB_FLOW_BLOCK = 64 }; /* parameters that are carried together: their stages of ten states are 36 kB */

#endif
