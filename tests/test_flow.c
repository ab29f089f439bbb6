#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "forward/ode/flow.h"
#include "ode_setup.h"
#include "simulate/sundials.h"

enum { TIMES = 11 };

typedef struct {
    setup s;
    kb_flow *flow;
    double *w; /* by column */
    double start[4];
    double times[TIMES], states[TIMES * 4], tangents[TIMES * 4 * 12];
} fixture;

static void begin(fixture *f, kbass_data *data, const char *terms, const char *equation_for)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = terms;
    settings.equation_for = equation_for;
    *f = (fixture){0};
    setup_open(&f->s, data, &settings, 40);
    const kb_record *r = f->s.record;
    f->w = KB_NEW(double, f->s.columns->n);
    CHECK_OK(kb_flow_create(r, f->s.dictionary, f->s.columns, f->s.columns->n, &f->flow, &error));
    for (size_t i = 0; i < r->n_states; i++) f->start[i] = r->value[i * r->n_rows];
    for (int k = 0; k < TIMES; k++) f->times[k] = k / (TIMES - 1.0);
}

static void end(fixture *f)
{
    kb_flow_destroy(f->flow);
    kb_free(f->w);
    setup_close(&f->s);
}

static double in_units(const fixture *f, const double *states, size_t time, size_t state)
{
    const kb_record *r = f->s.record;
    return r->mean[state] + r->sd[state] * states[time * r->n_states + state];
}

/* ---------------------------------------------------------------- setups with closed forms */

static double logistic(double t) { return 0.2 / (0.2 + 0.8 * exp(-t)); }

static void begin_logistic(fixture *f)
{
    static const char *const equations[] = {"x_t = x - x^2"};
    static const double initial[] = {0.2};
    begin(f, setup_sample(1, equations, initial, 12, 6), "x, x^2", NULL);
    setup_include(&f->s, 0, "x", 1, f->w);
    setup_include(&f->s, 0, "x^2", -1, f->w);
}

static void begin_harmonic(fixture *f)
{
    static const char *const equations[] = {"x_t = y", "y_t = -x"};
    static const double initial[] = {1, 0};
    begin(f, setup_sample(2, equations, initial, 20, 8), "x, y", NULL);
    setup_include(&f->s, 0, "y", 1, f->w);
    setup_include(&f->s, 1, "x", -1, f->w);
}

static double error_of(fixture *f, double (*exact)(double), size_t state, bool stiff)
{
    double worst = 0;
    kb_flow_model(f->flow, &f->s.support, f->w, NULL);
    f->flow->stiff = stiff;
    CHECK(kb_flow_integrate(f->flow, TIMES, f->times, f->start, f->states, NULL));
    CHECK(f->flow->stiff == stiff && !f->flow->escaped);
    for (size_t k = 0; k < TIMES; k++)
        worst = fmax(worst, fabs(in_units(f, f->states, k, state) - exact(f->s.record->span * f->times[k])));
    return worst;
}

/* The error follows the tolerance, for both steppers. */
static void check_tolerances(fixture *f, double (*exact)(double), size_t state)
{
    for (int stiff = 0; stiff < 2; stiff++)
        for (double tolerance = 1e-4; tolerance > 1e-10; tolerance /= 100) {
            f->flow->tolerance = tolerance;
            CHECK_CLOSE(error_of(f, exact, state, stiff), 0,
                        100 * tolerance); /* one step's error times some tens of steps */
        }
}

static void test_logistic(void **state)
{
    fixture f;
    (void)state;
    begin_logistic(&f);
    check_tolerances(&f, logistic, 0);
    end(&f);
}

static void test_harmonic(void **state)
{
    fixture f;
    (void)state;
    begin_harmonic(&f);
    check_tolerances(&f, cos, 0);
    end(&f);
}

/* ---------------------------------------------------------------- order */

typedef double stepper(kb_flow *flow, double s, double h);
typedef bool carrier(kb_flow *flow, double s, double h);

/* n fixed steps over the record; the error of the state at its end, and of its tangent to the start of x */
static void march(fixture *f, stepper *step, carrier *carry, int n, double *off, double *tangent_off)
{
    kb_flow *flow = f->flow;
    const kb_record *r = f->s.record;
    size_t states = r->n_states, P;
    kb_flow_model(flow, &f->s.support, f->w, &f->s.support);
    P = flow->n_parameters;
    memcpy(flow->state, f->start, states * sizeof *flow->state);
    memset(flow->tangent, 0, states * P * sizeof *flow->tangent);
    for (size_t i = 0; i < states; i++) flow->tangent[i * P + flow->rhs.n_tangents + i] = 1;
    for (int k = 0; k < n; k++) {
        CHECK(isfinite(step(flow, (double)k / n, 1.0 / n)));
        CHECK(carry(flow, (double)k / n, 1.0 / n));
        memcpy(flow->state, flow->trial, states * sizeof *flow->state);
    }
    *off = hypot(r->mean[0] + r->sd[0] * flow->state[0] - cos(r->span),
                 r->mean[1] + r->sd[1] * flow->state[1] + sin(r->span));
    *tangent_off = hypot(flow->tangent[flow->rhs.n_tangents] - cos(r->span), /* d x(T) / d x(0), d y(T) / d x(0) */
                         flow->tangent[P + flow->rhs.n_tangents] * r->sd[1] / r->sd[0] + sin(r->span));
}

/* Halving the step divides the error by 2^order. */
static void check_order(stepper *step, carrier *carry, int n, double order)
{
    fixture f;
    double coarse, fine, tangent_coarse, tangent_fine;
    begin_harmonic(&f);
    f.flow->tolerance = 1e-11; /* Newton solves its stages to 1e-13 */
    march(&f, step, carry, n, &coarse, &tangent_coarse);
    march(&f, step, carry, 2 * n, &fine, &tangent_fine);
    CHECK_CLOSE(log2(coarse / fine), order, 0.4);                 /* the next order's share at these steps */
    CHECK_CLOSE(log2(tangent_coarse / tangent_fine), order, 0.4); /* likewise: the tangent is the scheme's own */
    end(&f);
}

static void test_order(void **state)
{
    (void)state;
    check_order(kb_explicit_step, kb_explicit_tangent, 30, 5);
    check_order(kb_implicit_step, kb_implicit_tangent, 40, 4);
}

/* ---------------------------------------------------------------- stiff */

/* Van der Pol, mu = 1000, on its slow branch: stability asks 1e5 steps of the explicit stepper; accuracy some tens. */
static void begin_stiff(fixture *f)
{
    static const char *const equations[] = {"x_t = y", "y_t = 1000*y - 1000*x^2*y - x"};
    static const double initial[] = {2, -2.0 / 3000};
    begin(f, setup_sample(2, equations, initial, 12, 300), "x, y, x^2*y", NULL);
    setup_include(&f->s, 0, "y", 1, f->w);
    setup_include(&f->s, 1, "y", 1000, f->w);
    setup_include(&f->s, 1, "x^2*y", -1000, f->w);
    setup_include(&f->s, 1, "x", -1, f->w);
}

static void test_stiff(void **state)
{
    fixture f;
    const kb_record *r;
    (void)state;
    begin_stiff(&f);
    r = f.s.record;
    kb_flow_model(f.flow, &f.s.support, f.w, NULL);
    double *found = malloc(r->n_rows * 2 * sizeof *found);
    CHECK(kb_flow_integrate(f.flow, r->n_rows, r->time, f.start, found, NULL));
    CHECK(f.flow->stiff);
    for (size_t row = 0; row < r->n_rows; row++)
        for (size_t i = 0; i < 2; i++)
            CHECK_CLOSE(found[2 * row + i], r->value[row + i * r->n_rows],
                        1e-4); /* CVODES' data, to 1e-8 of x: 1e-5 of sd */
    free(found);
    end(&f);
}

/* ---------------------------------------------------------------- tangents against differences */

static double *parameter(fixture *f, size_t p)
{
    return p < f->s.support.n ? &f->w[f->s.support.column[p]] : &f->start[p - f->s.support.n];
}

static void check_differences(fixture *f, bool stiff, double h, double slack)
{
    static double up[TIMES * 4], down[TIMES * 4];
    size_t n = f->flow->n, P = f->s.support.n + n;
    kb_flow_model(f->flow, &f->s.support, f->w, &f->s.support);
    f->flow->stiff = stiff;
    CHECK(kb_flow_integrate(f->flow, TIMES, f->times, f->start, f->states, f->tangents));
    CHECK(f->flow->n_parameters == P);
    for (size_t p = 0; p < P; p++) {
        double *x = parameter(f, p), kept = *x, size = h * fmax(fabs(kept), 1);
        double *targets[] = {up, down};
        for (int side = 0; side < 2; side++) {
            *x = kept + (side ? -size : size);
            kb_flow_model(f->flow, &f->s.support, f->w, NULL);
            f->flow->stiff = stiff;
            CHECK(kb_flow_integrate(f->flow, TIMES, f->times, f->start, targets[side], NULL));
        }
        *x = kept;
        for (size_t k = 0; k < TIMES * n; k++)
            CHECK_CLOSE(f->tangents[k * P + p] * fmax(fabs(kept), 1), (up[k] - down[k]) / (2 * h), slack);
    }
}

static void test_tangent_stiff(void **state)
{
    fixture f;
    (void)state;
    begin_stiff(&f);
    f.flow->tolerance = 1e-9;
    check_differences(&f, true, 1e-3, 1e-3); /* h^2 of third derivatives, tangents up to 30 */
    end(&f);
}

static void test_tangent_differences(void **state)
{
    fixture f;
    (void)state;
    begin_harmonic(&f);
    f.flow->tolerance = 1e-11;
    check_differences(&f, false, 1e-4, 1e-5); /* tolerance / h = 1e-7 a step, h^2 of the third derivative, T^3 */
    check_differences(&f, true, 1e-4, 1e-5);  /* likewise */
    end(&f);
    begin_logistic(&f);
    f.flow->tolerance = 1e-11;
    check_differences(&f, false, 1e-4, 1e-4); /* as above; the weights' curvature is 100 here */
    check_differences(&f, true, 1e-4, 1e-4);  /* likewise */
    end(&f);
}

/* A column outside the model, at weight 0, has a tangent too: proposals come from it. */
static void test_absent_column(void **state)
{
    fixture f;
    (void)state;
    begin_harmonic(&f);
    f.flow->tolerance = 1e-11;
    kb_support_add(&f.s.support, setup_column(&f.s, 0, "x"));
    check_differences(&f, false, 1e-4, 1e-5); /* as above */
    end(&f);
}

/* ---------------------------------------------------------------- tangents against CVODES */

static const double rates[] = {0.55, -0.028, 0.026, -0.84}; /* Lotka and Volterra */

static int lotka(double t, N_Vector u, N_Vector out, void *user)
{
    double x = NV_Ith_S(u, 0), y = NV_Ith_S(u, 1);
    (void)t, (void)user;
    NV_Ith_S(out, 0) = rates[0] * x + rates[1] * x * y;
    NV_Ith_S(out, 1) = rates[2] * x * y + rates[3] * y;
    return 0;
}

/* The variational equation of the four rates, then of the two initial values. */
static int lotka_tangent(int n, double t, N_Vector u, N_Vector rate, int which, N_Vector s, N_Vector out, void *user,
                         N_Vector a, N_Vector b)
{
    double x = NV_Ith_S(u, 0), y = NV_Ith_S(u, 1), sx = NV_Ith_S(s, 0), sy = NV_Ith_S(s, 1);
    const double forcing[] = {x, x * y, x * y, y, 0, 0};
    (void)n, (void)t, (void)rate, (void)user, (void)a, (void)b;
    NV_Ith_S(out, 0) = (rates[0] + rates[1] * y) * sx + rates[1] * x * sy + (which < 2 ? forcing[which] : 0);
    NV_Ith_S(out, 1) = rates[2] * y * sx + (rates[2] * x + rates[3]) * sy + (which >= 2 ? forcing[which] : 0);
    return 0;
}

/* out[p * 2 + i] = d u_i(last) / d parameter p by CVODES */
static void cvodes_sensitivities(const double *initial, double last, double out[12])
{
    SUNContext context = NULL;
    double tolerances[6], reached;
    void *memory = NULL;
    CHECK(kb_sundials_create(CV_BDF, &context, &memory));
    N_Vector u = N_VNew_Serial(2, context), *s = N_VCloneVectorArray(6, u);
    SUNMatrix matrix = SUNDenseMatrix(2, 2, context);
    SUNLinearSolver solver = SUNLinSol_Dense(u, matrix, context);
    for (int i = 0; i < 2; i++) NV_Ith_S(u, i) = initial[i];
    for (int p = 0; p < 6; p++) {
        N_VConst(0, s[p]);
        if (p >= 4) NV_Ith_S(s[p], p - 4) = 1;
        tolerances[p] = 1e-10;
    }
    CHECK(CVodeInit(memory, lotka, 0, u) == 0 && CVodeSStolerances(memory, 1e-11, 1e-11) == 0);
    CHECK(CVodeSetLinearSolver(memory, solver, matrix) == 0 && CVodeSetMaxNumSteps(memory, 100000) == 0);
    CHECK(CVodeSensInit1(memory, 6, CV_STAGGERED, lotka_tangent, s) == 0);
    CHECK(CVodeSensSStolerances(memory, 1e-10, tolerances) == 0 && CVodeSetSensErrCon(memory, SUNTRUE) == 0);
    CHECK(CVode(memory, last, u, &reached, CV_NORMAL) >= 0 && CVodeGetSens(memory, &reached, s) == 0);
    for (int p = 0; p < 6; p++)
        for (int i = 0; i < 2; i++) out[p * 2 + i] = NV_Ith_S(s[p], i);
    CVodeFree(&memory);
    SUNLinSolFree(solver);
    SUNMatDestroy(matrix);
    N_VDestroyVectorArray(s, 6);
    N_VDestroy(u);
    SUNContext_Free(&context);
}

static void check_against_cvodes(bool stiff)
{
    static const char *const equations[] = {"x_t = 0.55*x - 0.028*x*y", "y_t = 0.026*x*y - 0.84*y"};
    static const struct {
        size_t equation;
        const char *term;
    } terms[] = {{0, "x"}, {0, "x*y"}, {1, "x*y"}, {1, "y"}};
    static const double initial[] = {30, 4};
    fixture f;
    double exact[12];
    begin(&f, setup_sample(2, equations, initial, 15, 12), "x, y, x*y", NULL);
    for (int p = 0; p < 4; p++) setup_include(&f.s, terms[p].equation, terms[p].term, rates[p], f.w);
    const kb_record *r = f.s.record;
    f.flow->tolerance = 1e-10;
    kb_flow_model(f.flow, &f.s.support, f.w, &f.s.support);
    f.flow->stiff = stiff;
    CHECK(kb_flow_integrate(f.flow, TIMES, f.times, f.start, f.states, f.tangents));
    cvodes_sensitivities(initial, r->span, exact);
    const double *last = f.tangents + (TIMES - 1) * 2 * 6;
    for (size_t i = 0; i < 2; i++)
        for (size_t p = 0; p < 6; p++) {
            double unit = r->sd[p >= 4 ? p - 4 : 0]; /* of the parameter: scaled -> data */
            size_t slot = p;                         /* among the tangents: the support's order */
            if (p < 4) {
                size_t column = setup_column(&f.s, terms[p].equation, terms[p].term);
                unit = f.s.columns->unit[column];
                for (slot = 0; f.s.support.column[slot] != column;) slot++;
            }
            double found = last[i * 6 + slot], expected = exact[p * 2 + i] * unit / r->sd[i];
            CHECK_CLOSE(found, expected,
                        2e-6 * (1 + fabs(expected))); /* 1e-10 a step, some hundred steps, growth 100 */
        }
    end(&f);
}

static void test_tangent_cvodes(void **state)
{
    (void)state;
    check_against_cvodes(false);
    check_against_cvodes(true);
}

/* ---------------------------------------------------------------- ends of the road */

static void test_escape(void **state)
{
    fixture f;
    (void)state;
    begin_logistic(&f);
    f.w[setup_column(&f.s, 0, "x^2")] *= -1; /* x_t = x + x^2 explodes */
    kb_flow_model(f.flow, &f.s.support, f.w, NULL);
    CHECK(!kb_flow_integrate(f.flow, TIMES, f.times, f.start, f.states, NULL));
    CHECK(f.flow->escaped && !f.flow->stiff);
    f.w[0] = NAN;
    kb_flow_model(f.flow, &f.s.support, f.w, NULL);
    CHECK(!kb_flow_integrate(f.flow, TIMES, f.times, f.start, f.states, NULL));
    end(&f);
}

/* x_t = -sqrt(x) ends at 0 where no real number goes on: stalled, not an endless loop. */
static void test_stall(void **state)
{
    static const char *const equations[] = {"x_t = -sqrt(x)"};
    static const double initial[] = {4};
    fixture f;
    (void)state;
    begin(&f, setup_sample(1, equations, initial, 10, 3.5), "sqrt(x)", NULL);
    setup_include(&f.s, 0, "sqrt(x)", -2, f.w); /* twice as fast: over before the record ends */
    kb_flow_model(f.flow, &f.s.support, f.w, NULL);
    CHECK(!kb_flow_integrate(f.flow, TIMES, f.times, f.start, f.states, NULL));
    end(&f);
}

/* Equal times: replicates cost nothing and change nothing. */
static void test_equal_times(void **state)
{
    fixture f;
    double at[] = {0, 0, 0.5, 0.5, 0.5, 1}, found[12];
    (void)state;
    begin_harmonic(&f);
    kb_flow_model(f.flow, &f.s.support, f.w, NULL);
    CHECK(kb_flow_integrate(f.flow, 6, at, f.start, found, NULL));
    CHECK(found[0] == found[2] && found[4] == found[6] && found[6] == found[8]);
    CHECK_CLOSE(in_units(&f, found, 5, 0), cos(8), 1e-6); /* 3e-8 a step, some tens of steps */
    end(&f);
}

/* ---------------------------------------------------------------- a followed state */

/* x has no equation: it runs along c(s) = a cubic, which the Hermite interpolant is exactly; y_t = x integrates it. */
static void test_followed(void **state)
{
    enum { NODES = 21 };
    static const char *const equations[] = {"x_t = 1 - 0.2*x", "y_t = x"};
    static const double initial[] = {0, 0};
    double value[2 * NODES] = {0}, slope[2 * NODES] = {0};
    fixture f;
    (void)state;
    begin(&f, setup_sample(2, equations, initial, 15, 5), "x, y", "y");
    const kb_record *r = f.s.record;
    for (int k = 0; k < NODES; k++) {
        double s = k / (NODES - 1.0);
        value[k] = -1 + 3 * s - s * s * s;
        slope[k] = 3 - 3 * s * s;
    }
    const size_t nodes[] = {0, NODES};
    f.flow->follow = (kb_follow){NODES, nodes, value, slope};
    f.start[0] = -1;
    setup_include(&f.s, 1, "x", 1, f.w);
    for (int stiff = 0; stiff < 2; stiff++) {
        kb_flow_model(f.flow, &f.s.support, f.w, &f.s.support);
        f.flow->stiff = stiff;
        CHECK(kb_flow_integrate(f.flow, TIMES, f.times, f.start, f.states, f.tangents));
        size_t P = f.flow->n_parameters;
        for (size_t k = 0; k < TIMES; k++) {
            double s = f.times[k], cubic = -1 + 3 * s - s * s * s, area = -s + 1.5 * s * s - s * s * s * s / 4;
            double y = f.start[1] + r->span / r->sd[1] * (r->mean[0] * s + r->sd[0] * area);
            CHECK_CLOSE(f.states[2 * k], cubic, 1e-6); /* 3e-8 a step; slopes kink in their third derivative only */
            CHECK_CLOSE(f.states[2 * k + 1], y, 1e-6); /* likewise */
            CHECK(f.tangents[2 * k * P] == 0);         /* nothing moves what was measured: neither the weight */
            CHECK(f.tangents[2 * k * P + 1] == 0);     /* nor its own start */
        }
    }
    end(&f);
    kb_flow_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_harmonic),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_tangent_differences),
        cmocka_unit_test(test_tangent_stiff),
        cmocka_unit_test(test_absent_column),
        cmocka_unit_test(test_tangent_cvodes),
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
