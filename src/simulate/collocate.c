/* PDEs with ends: the states at the inner nodes are the unknowns, the values at the ends follow from them and from the
 * boundary conditions, derivatives are those of the interpolant through all nodes; CVODES follows the unknowns.
 *
 * Along axis d, with n nodes and m inner ones: u_all = P u_inner + what is held at the ends, and the derivative of
 * order o at the inner nodes is S_o u_all; P is n x m, S_o is m x n. Tables have the first axis of space fastest.
 */
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "simulate/nodes.h"
#include "simulate/pde.h"
#include "simulate/sundials.h"

enum { HIGHEST = 6, MOST_STEPS = 100000 };

static const double absolute_share = 0.01; /* of the relative tolerance, in units of the initial state */
static const double FARTHEST = 1e30;       /* times the initial state */

typedef struct {
    kb_nodes nodes;
    size_t n, m, first;          /* nodes, inner ones, and the first of these */
    double *fill;                /* P */
    double *derive[HIGHEST + 1]; /* S_o */
    double *inner[HIGHEST + 1];  /* S_o P */
} line;

typedef struct {
    const kb_pde *pde;
    line lines[KB_MOST_SPACE];
    size_t n_all, n_inner;   /* nodes in the box */
    double *held;            /* n_all x n_states: the state at open ends; elsewhere the initial one */
    double *slices;          /* the table's slices at all nodes, if it has several: n_slices x n_fields x n_all */
    double *all, *from, *to; /* n_all each */
    double *table, *value, *sum, *work;
    double largest;
    SUNContext context;
    void *cvodes;
    N_Vector state, answer;
    SUNMatrix jacobian;
    SUNLinearSolver solver;
} collocation;

/* ---------------------------------------------------------------- one axis */

static void clear_line(line *l)
{
    kb_nodes_clear(&l->nodes);
    kb_free(l->fill);
    for (int o = 0; o <= HIGHEST; o++) {
        kb_free(l->derive[o]);
        kb_free(l->inner[o]);
    }
}

/* No slope at the ends: two equations for the two end values, of which D holds the coefficients. */
static void fill_neumann(line *l, const double *d)
{
    size_t n = l->n, last = n - 1;
    double a = d[0], b = d[last * n], c = d[last], e = d[last + last * n], determinant = a * e - b * c;
    for (size_t j = 0; j < l->m; j++) {
        double first = d[(j + 1) * n], second = d[last + (j + 1) * n];
        l->fill[j * n] = -(e * first - b * second) / determinant;
        l->fill[last + j * n] = -(a * second - c * first) / determinant;
    }
}

/* S_0 = rows of the identity, S_o = rows of D^o */
static void set_matrices(line *l, kb_boundary boundary, const double *d, double *power, double *next)
{
    size_t n = l->n, m = l->m;
    for (size_t j = 0; j < m; j++) l->fill[j + l->first + j * n] = 1;
    if (boundary == KB_NEUMANN) fill_neumann(l, d);
    memset(power, 0, n * n * sizeof *power);
    for (size_t i = 0; i < n; i++) power[i + i * n] = 1;
    for (int o = 0; o <= HIGHEST; o++) {
        for (size_t j = 0; j < n; j++) memcpy(l->derive[o] + j * m, power + l->first + j * n, m * sizeof *power);
        kb_gemm(KB_PLAIN, KB_PLAIN, m, m, n, 1, l->derive[o], m, l->fill, n, 0, l->inner[o], m);
        kb_gemm(KB_PLAIN, KB_PLAIN, n, n, n, 1, d, n, power, n, 0, next, n);
        memcpy(power, next, n * n * sizeof *power);
    }
}

static bool create_line(line *l, size_t n, kb_boundary boundary, const kbass_axis *axis)
{
    bool is_periodic = boundary == KB_PERIODIC, fine = true;
    l->n = is_periodic ? n | 1 : n;
    l->m = is_periodic ? l->n : l->n - 2;
    l->first = is_periodic ? 0 : 1;
    double *d = KB_NEW(double, l->n * l->n), *power = KB_NEW(double, l->n * l->n), *next = KB_NEW(double, l->n * l->n);
    l->fill = KB_NEW(double, l->n * l->m);
    for (int o = 0; o <= HIGHEST; o++) {
        l->derive[o] = KB_NEW(double, l->m * l->n);
        l->inner[o] = KB_NEW(double, l->m * l->m);
        fine &= l->derive[o] && l->inner[o];
    }
    fine = fine && l->fill && d && power && next;
    if (fine && (fine = kb_nodes_create(&l->nodes, l->n, is_periodic, axis->low, axis->high))) {
        kb_nodes_derivative(&l->nodes, d);
        set_matrices(l, boundary, d, power, next);
    }
    kb_free(next);
    kb_free(power);
    kb_free(d);
    return fine;
}

/* ---------------------------------------------------------------- tables */

static size_t index_along(const collocation *c, size_t i, size_t d, bool is_inner)
{
    for (size_t k = 0; k < d; k++) i /= is_inner ? c->lines[k].m : c->lines[k].n;
    return i % (is_inner ? c->lines[d].m : c->lines[d].n);
}

/* Where an inner node stands among all. */
static size_t place_of(const collocation *c, size_t i)
{
    size_t at = 0, stride = 1;
    for (size_t d = 0; d < c->pde->n_space; d++) {
        at += stride * (index_along(c, i, d, true) + c->lines[d].first);
        stride *= c->lines[d].n;
    }
    return at;
}

/* to[a, i, b] = sum_j matrix[i, j] from[a, j, b], matrix rows x columns */
static void along(size_t before, size_t rows, size_t columns, size_t after, const double *matrix, const double *from,
                  double *to)
{
    for (size_t b = 0; b < after; b++)
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, before, rows, columns, 1, from + b * before * columns, before, matrix, rows, 0,
                to + b * before * rows, before);
}

/* c->held <- what the slices say at a time */
static void hold(collocation *c, double t)
{
    double weights[KB_TABLE_SLICES];
    size_t first = 0, each = c->n_all * c->pde->n_fields;
    if (!c->slices) return;
    size_t n = kb_pde_table_at(c->pde->table, t, &first, weights);
    memset(c->held, 0, each * sizeof *c->held);
    for (size_t k = 0; k < n; k++) kb_axpy(each, weights[k], c->slices + (first + k) * each, c->held);
}

/* c->all <- the state at all nodes: what is held at dirichlet ends, then axis by axis what neumann's need. */
static void spread(collocation *c, size_t state, const double *inner)
{
    size_t before = 1;
    memcpy(c->all, c->held + state * c->n_all, c->n_all * sizeof *c->all);
    for (size_t i = 0; i < c->n_inner; i++) c->all[place_of(c, i)] = inner[i];
    for (size_t d = 0; d < c->pde->n_space; d++) {
        const line *l = &c->lines[d];
        size_t after = c->n_all / before / l->n;
        for (size_t r = 0; c->pde->boundary[d] == KB_NEUMANN && r < before * after; r++) {
            double *own = c->all + r / before * before * l->n + r % before, ends[2] = {0, 0};
            for (size_t j = 0; j < l->m; j++) {
                ends[0] += l->fill[j * l->n] * own[(j + 1) * before];
                ends[1] += l->fill[l->n - 1 + j * l->n] * own[(j + 1) * before];
            }
            own[0] = ends[0];
            own[(l->n - 1) * before] = ends[1];
        }
        before *= l->n;
    }
}

/* The derivative of c->all at the inner nodes. */
static void derive(collocation *c, const kb_derivative *derivative, double *column)
{
    size_t before = 1, after = c->n_all;
    const double *from = c->all;
    double *to = c->from;
    for (size_t d = 0; d < c->pde->n_space; d++) {
        const line *l = &c->lines[d];
        after /= l->n;
        to = d + 1 == c->pde->n_space ? column : d % 2 ? c->to : c->from;
        along(before, l->m, l->n, after, l->derive[derivative->order[d]], from, to);
        before *= l->m;
        from = to;
    }
}

/* ---------------------------------------------------------------- the equations */

static void fill_columns(collocation *c, double t, const double *x)
{
    const kb_pde *pde = c->pde;
    hold(c, t);
    for (size_t s = 0; s < pde->n_states; s++) {
        spread(c, s, x + s * c->n_inner);
        for (size_t v = 0; v < pde->n_derivatives; v++)
            if (pde->derivatives[v].is_used && pde->derivatives[v].state == s)
                derive(c, &pde->derivatives[v], c->table + v * c->n_inner);
    }
    for (size_t i = 0; i < c->n_inner; i++) c->table[i + pde->n_derivatives * c->n_inner] = t;
}

/* A positive answer makes CVODES try a shorter step. */
static int rates(double t, N_Vector state, N_Vector derivative, void *user)
{
    collocation *c = user;
    size_t n = c->n_inner;
    double *rate = N_VGetArrayPointer(derivative);
    fill_columns(c, t, N_VGetArrayPointer(state));
    memset(rate, 0, n * c->pde->n_states * sizeof *rate);
    for (size_t s = 0; s < c->pde->n_states; s++) {
        const kb_sum *sum = &c->pde->rates[s];
        for (size_t j = 0; j < sum->n; j++) {
            kb_expression_values(sum->terms[j], n, c->table, n, c->value, c->work);
            kb_axpy(n, sum->coefficients[j], c->value, rate + s * n);
        }
    }
    for (size_t i = 0; i < n * c->pde->n_states; i++)
        if (!isfinite(rate[i])) return 1;
    return 0;
}

/* c->sum <- d rate / d variable at the inner nodes; false when it does not depend on it. */
static bool slopes_of(collocation *c, size_t state, size_t variable)
{
    const kb_sum *sum = &c->pde->rates[state];
    bool any = false;
    memset(c->sum, 0, c->n_inner * sizeof *c->sum);
    for (size_t j = 0; j < sum->n; j++) {
        if (!kb_expression_depends(sum->terms[j], variable)) continue;
        kb_expression_slopes(sum->terms[j], variable, c->n_inner, c->table, c->n_inner, c->value, c->work);
        kb_axpy(c->n_inner, sum->coefficients[j], c->value, c->sum);
        any = true;
    }
    return any;
}

/* J[(s, r), (q, k)] += slope[r] prod_d (S P)_d[r_d, k_d] for the variable, a derivative of state q */
static void add_block(collocation *c, size_t state, const kb_derivative *derivative, SUNMatrix jacobian)
{
    size_t n = c->n_inner;
    for (size_t k = 0; k < n; k++) {
        double *column = SUNDenseMatrix_Column(jacobian, (sunindextype)(derivative->state * n + k)) + state * n;
        for (size_t r = 0; r < n; r++) {
            double product = isfinite(c->sum[r]) ? c->sum[r] : 0; /* the Jacobian only steers Newton's method */
            for (size_t d = 0; d < c->pde->n_space && product != 0; d++) {
                const line *l = &c->lines[d];
                size_t at = index_along(c, r, d, true) + index_along(c, k, d, true) * l->m;
                product *= l->inner[derivative->order[d]][at];
            }
            column[r] += product;
        }
    }
}

static int slopes(double t, N_Vector state, N_Vector derivative, SUNMatrix jacobian, void *user, N_Vector a, N_Vector b,
                  N_Vector d)
{
    collocation *c = user;
    (void)derivative, (void)a, (void)b, (void)d;
    fill_columns(c, t, N_VGetArrayPointer(state));
    SUNMatZero(jacobian);
    for (size_t s = 0; s < c->pde->n_states; s++)
        for (size_t v = 0; v < c->pde->n_derivatives; v++)
            if (c->pde->derivatives[v].is_used && slopes_of(c, s, v))
                add_block(c, s, &c->pde->derivatives[v], jacobian);
    return 0;
}

/* ---------------------------------------------------------------- life */

static void finish(collocation *c)
{
    double *all[] = {c->held, c->slices, c->all, c->from, c->to, c->table, c->value, c->sum, c->work};
    if (c->cvodes) CVodeFree(&c->cvodes);
    if (c->solver) SUNLinSolFree(c->solver);
    if (c->jacobian) SUNMatDestroy(c->jacobian);
    if (c->answer) N_VDestroy(c->answer);
    if (c->state) N_VDestroy(c->state);
    if (c->context) SUNContext_Free(&c->context);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) kb_free(all[i]);
    for (size_t d = 0; d < KB_MOST_SPACE; d++) clear_line(&c->lines[d]);
}

static bool create_tables(collocation *c)
{
    c->held = KB_NEW(double, c->n_all * c->pde->n_states);
    c->all = KB_NEW(double, c->n_all);
    c->from = KB_NEW(double, c->n_all);
    c->to = KB_NEW(double, c->n_all);
    c->table = KB_NEW(double, c->n_inner * c->pde->n_variables);
    c->value = KB_NEW(double, c->n_inner);
    c->sum = KB_NEW(double, c->n_inner);
    c->work = KB_NEW(double, kb_pde_work(c->pde, c->n_inner));
    return c->held && c->all && c->from && c->to && c->table && c->value && c->sum && c->work;
}

/* Diffusion is stiff; waves are not, and the stiff method would damp them. */
static bool is_stiff(const kb_pde *pde)
{
    for (size_t f = 0; f < pde->n_fields; f++)
        for (size_t j = 0; !pde->is_second[f] && j < pde->rates[f].n; j++)
            for (size_t v = 0; v < pde->n_derivatives; v++)
                if (pde->derivatives[v].total > 1 && kb_expression_depends(pde->rates[f].terms[j], v)) return true;
    return false;
}

static bool create_solver(collocation *c)
{
    sunindextype n = (sunindextype)(c->n_inner * c->pde->n_states);
    if (!kb_sundials_create(is_stiff(c->pde) ? CV_BDF : CV_ADAMS, &c->context, &c->cvodes)) return false;
    c->state = N_VNew_Serial(n, c->context);
    c->answer = N_VNew_Serial(n, c->context);
    c->jacobian = SUNDenseMatrix(n, n, c->context);
    if (!c->state || !c->answer || !c->jacobian) return false;
    c->solver = SUNLinSol_Dense(c->state, c->jacobian, c->context);
    return c->solver != NULL;
}

/* The slices of a table that has several, at all nodes. */
static kbass_status set_slices(collocation *c, const double *const *columns, kbass_error *error)
{
    const kb_pde_table *table = c->pde->table;
    kbass_status status = KBASS_OK;
    if (!table || table->n_slices < 2) return KBASS_OK;
    c->slices = KB_NEW(double, table->n_slices * c->pde->n_fields * c->n_all);
    if (!c->slices) return kb_out_of_memory(error, "the ends");
    for (size_t i = 0; i < table->n_slices * c->pde->n_fields && status == KBASS_OK; i++)
        status = kb_pde_table_slice(table, i / c->pde->n_fields, i % c->pde->n_fields, c->n_all, columns,
                                    c->slices + i * c->n_all, error);
    return status;
}

/* The initial state at all nodes and, in the table, the places of the inner ones. */
static kbass_status set_initial(collocation *c, kbass_error *error)
{
    const kb_pde *pde = c->pde;
    kbass_status status = KBASS_OK;
    const double *columns[KB_MOST_SPACE];
    double *places = KB_NEW(double, c->n_all * pde->n_space), *x = N_VGetArrayPointer(c->state);
    if (!places) return kb_out_of_memory(error, "the initial condition");
    for (size_t d = 0; d < pde->n_space; d++) {
        columns[d] = places + d * c->n_all;
        for (size_t i = 0; i < c->n_all; i++)
            places[i + d * c->n_all] = c->lines[d].nodes.at[index_along(c, i, d, false)];
        for (size_t i = 0; i < c->n_inner; i++)
            c->table[i + (pde->n_derivatives + 1 + d) * c->n_inner] = columns[d][place_of(c, i)];
    }
    for (size_t i = 0; i < c->n_inner; i++) c->table[i + (pde->n_variables - 1) * c->n_inner] = M_PI;
    for (size_t s = 0; s < pde->n_states && status == KBASS_OK; s++) {
        double *held = c->held + s * c->n_all;
        status = kb_pde_initial(pde, s, c->n_all, columns, held, error);
        for (size_t i = 0; i < c->n_inner; i++) x[i + s * c->n_inner] = held[place_of(c, i)];
    }
    for (size_t i = 0; i < c->n_inner * pde->n_states; i++) c->largest = fmax(c->largest, fabs(x[i]));
    if (!(c->largest > 0)) c->largest = 1;
    if (status == KBASS_OK) status = set_slices(c, columns, error);
    kb_free(places);
    return status;
}

static kbass_status begin(collocation *c, size_t n, double last, double tolerance, kbass_error *error)
{
    c->n_all = c->n_inner = 1;
    for (size_t d = 0; d < c->pde->n_space; d++) {
        if (!create_line(&c->lines[d], n, c->pde->boundary[d], &c->pde->axes[d + 1]))
            return kb_out_of_memory(error, "the nodes");
        c->n_all *= c->lines[d].n;
        c->n_inner *= c->lines[d].m;
    }
    if (!create_tables(c) || !create_solver(c)) return kb_out_of_memory(error, "the integrator");
    kbass_status status = set_initial(c, error);
    if (status != KBASS_OK) return status;
    int failed = CVodeInit(c->cvodes, rates, c->pde->axes[0].low, c->state);
    if (!failed) failed = CVodeSStolerances(c->cvodes, tolerance, absolute_share * tolerance * c->largest);
    if (!failed) failed = CVodeSetUserData(c->cvodes, c);
    if (!failed) failed = CVodeSetLinearSolver(c->cvodes, c->solver, c->jacobian);
    if (!failed) failed = CVodeSetJacFn(c->cvodes, slopes);
    if (!failed) failed = CVodeSetStopTime(c->cvodes, last);
    return failed ? kb_out_of_memory(error, "the integrator") : KBASS_OK;
}

/* ---------------------------------------------------------------- steps and samples */

/* False at a failure of CVODES, at steps too short to count, and beyond every bound. */
static bool step(collocation *c, double last, double *t, kb_journey *journey)
{
    double before = *t, size = 0;
    const double *x = N_VGetArrayPointer(c->state);
    bool goes = CVode(c->cvodes, last, c->state, t, CV_ONE_STEP) >= 0;
    for (size_t i = 0; i < c->n_inner * c->pde->n_states; i++) {
        if (fabs(x[i]) <= size) continue;
        size = fabs(x[i]);
        journey->state = i / c->n_inner;
    }
    if (!goes) CVodeGetCurrentTime(c->cvodes, t);
    bool moves = *t >= last || *t - before > 4 * DBL_EPSILON * fabs(*t);
    journey->t = *t;
    journey->growth = size / c->largest;
    journey->is_lost = !(goes && moves && journey->growth <= FARTHEST);
    return !journey->is_lost;
}

static double value_at(const collocation *c, double *const *weights)
{
    double sum = 0;
    for (size_t i = 0; i < c->n_all; i++) {
        double product = c->all[i];
        for (size_t d = 0; d < c->pde->n_space; d++) product *= weights[d][index_along(c, i, d, false)];
        sum += product;
    }
    return sum;
}

static bool deliver(collocation *c, const kb_samples *samples, size_t rank, double *const *weights, double *values)
{
    size_t row = samples->list[rank].row;
    if (CVodeGetDky(c->cvodes, samples->list[rank].t, 0, c->answer) != CV_SUCCESS) return false;
    hold(c, samples->list[rank].t);
    for (size_t d = 0; d < c->pde->n_space; d++)
        kb_nodes_weights(&c->lines[d].nodes, samples->points[row * c->pde->n_axes + d + 1], weights[d]);
    for (size_t f = 0; f < c->pde->n_fields; f++) {
        spread(c, f, N_VGetArrayPointer(c->answer) + f * c->n_inner);
        values[row * c->pde->n_fields + f] = value_at(c, weights);
    }
    return true;
}

static void follow(collocation *c, const kb_samples *samples, double *const *weights, double *values,
                   kb_journey *journey)
{
    size_t done = 0;
    double t = c->pde->axes[0].low, last = samples->list[samples->n - 1].t;
    for (size_t n_steps = 0; done < samples->n && step(c, last, &t, journey); n_steps++) {
        if (n_steps == MOST_STEPS) journey->is_lost = true;
        while (done < samples->n && samples->list[done].t <= t && !journey->is_lost)
            journey->is_lost = !deliver(c, samples, done++, weights, values);
        if (journey->is_lost) return;
    }
}

kbass_status kb_collocate_run(const kb_pde *pde, const kb_samples *samples, size_t n, double tolerance, double *values,
                              kb_journey *journey, kbass_error *error)
{
    collocation c = {.pde = pde};
    double *weights[KB_MOST_SPACE] = {0};
    kbass_status status = begin(&c, n, samples->list[samples->n - 1].t, tolerance, error);
    *journey = (kb_journey){0};
    for (size_t d = 0; d < pde->n_space && status == KBASS_OK; d++)
        if (!(weights[d] = KB_NEW(double, c.lines[d].n))) status = kb_out_of_memory(error, "the samples");
    if (status == KBASS_OK) follow(&c, samples, weights, values, journey);
    for (size_t d = 0; d < KB_MOST_SPACE; d++) kb_free(weights[d]);
    finish(&c);
    return status;
}
