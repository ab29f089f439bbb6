#include "base/larger.h"
#include "base/linalg.h"
#include "base/statistics.h"
#include "dense.h"
#include "evidence/without_law.h"
#include "forward/shoot.h"
#include "forward/shoot_noise.h"
#include "posterior/ode_solution.h"
#include "ode_setup.h"

/* Messages, covariances and evidence are rebuilt from one list of residuals over (weights, starts of all windows),
 *
 *     r = [ sqrt(c_n / v) (q(t_n) - y_n),  start / 2,  w / sqrt(slab) ],     c_n = 1/2 on borders between windows
 *
 * differentiated by central differences through the flow, whose own tests are elsewhere. */

enum { WINDOWS = 4, MOST_UNKNOWNS = 40, MOST_RESIDUALS = 300 };
static const double start_variance = 4, noise_shrinkage = 4; /* as in trajectory.c, shoot.c */

typedef struct {
    setup s;
    kb_windows *windows;
    kb_shooter *shooter;
    kb_fit *fit;
    size_t n_unknowns, n_residuals, n_data;
    double slack; /* of what comes from differences: 1e-11 / h and h^2; more at the kinks of a followed state */
    double r[MOST_RESIDUALS], J[MOST_RESIDUALS * MOST_UNKNOWNS], H[MOST_UNKNOWNS * MOST_UNKNOWNS], g[MOST_UNKNOWNS];
} fixture;

/* ---------------------------------------------------------------- setups */

typedef struct {
    size_t rows, windows;
    double percent; /* of noise */
    bool gaps;
    const char *fix, *equation_for, *noise;
} plan;

static const char *const equations[] = {"x_t = y", "y_t = y - x^2*y - x"};
static const double initial[] = {1, 0.5};

static kbass_data *samples(const plan *p)
{
    kbass_data *data = setup_sample(2, equations, initial, p->rows, 5);
    CHECK_OK(kbass_data_add_noise(data, p->percent, 3, &error));
    for (size_t row = 1; p->gaps && row < p->rows; row += 3) data->values[2 * row + 1] = NAN;
    for (size_t row = 2; p->gaps && row < p->rows; row += 5) data->values[2 * row] = NAN;
    return data;
}

static void include(fixture *f, size_t equation, const char *term, double weight)
{
    if (f->s.dictionary->has_equation[equation] && !f->s.dictionary->is_known[equation])
        setup_include(&f->s, equation, term, weight, f->fit->w);
}

static void begin(fixture *f, const plan *chosen)
{
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = "x, y, x*y, x^2*y";
    settings.fix = chosen->fix;
    settings.equation_for = chosen->equation_for;
    settings.noise = chosen->noise;
    *f = (fixture){0};
    setup_open(&f->s, samples(chosen), &settings, 60);
    const setup *p = &f->s;
    size_t n = p->columns->n;
    CHECK_OK(kb_windows_divide(p->record->n_rows, chosen->windows, &f->windows, &error));
    CHECK_OK(kb_shooter_create(p->record, p->dictionary, p->columns, WINDOWS, n, &f->shooter, &error));
    CHECK_OK(kb_fit_create(n, 2, WINDOWS, n, &f->fit, &error));
    f->shooter->likelihood.windows = f->windows;
    f->shooter->flow->follow = setup_follow(p);
    include(f, 0, "y", 1);
    include(f, 1, "y", 1);
    include(f, 1, "x", -1);
    include(f, 1, "x^2*y", -1);
    kb_support_copy(&f->s.support, &f->fit->support);
    for (size_t i = 0; i < 2; i++) f->fit->variance[i] = 0.01 + 0.01 * (double)i;
    for (size_t window = 0; window < chosen->windows; window++)
        for (size_t i = 0; i < 2; i++) { /* the bare field at the window's first row */
            size_t node = (size_t)lround(p->record->time[f->windows->first[window]] * (double)(p->n_mesh - 1));
            f->fit->start[2 * window + i] = p->follow[node + i * p->n_mesh];
        }
}

static void end(fixture *f)
{
    kb_fit_destroy(f->fit);
    kb_shooter_destroy(f->shooter);
    kb_windows_destroy(f->windows);
    setup_close(&f->s);
}

typedef void check(fixture *f);

static void on_every_setup(check *run)
{
    static const plan plans[] = {{.rows = 17, .windows = 1, .percent = 5},
                                 {.rows = 18, .windows = 4, .percent = 5},
                                 {.rows = 24, .windows = 2, .percent = 5, .gaps = true},
                                 {.rows = 17, .windows = 2, .percent = 5, .fix = "x_t = y"},
                                 {.rows = 17, .windows = 1, .percent = 5, .equation_for = "y", .noise = "y=5%"}};
    static fixture f;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        begin(&f, &plans[i]);
        f.shooter->flow->tolerance = 1e-11;
        f.slack = plans[i].equation_for ? 1e-3 : 1e-5;
        run(&f);
        end(&f);
    }
}

/* ---------------------------------------------------------------- the residuals, written out */

static double share(const fixture *f, size_t window, size_t row)
{
    bool shared = (window > 0 && row == f->windows->first[window]) ||
                  (window + 1 < f->windows->n && row == f->windows->last[window]);
    return shared ? 0.5 : 1;
}

/* The last residuals are the priors'; those of the weights only for the columns of `in`. */
static void residuals(fixture *f, const kb_support *in, double *r)
{
    const kb_record *record = f->s.record;
    static double states[2 * 100];
    size_t n = 0;
    kb_flow_model(f->shooter->flow, in, f->fit->w, NULL);
    for (size_t window = 0; window < f->windows->n; window++) {
        size_t first = f->windows->first[window], last = f->windows->last[window];
        CHECK(kb_flow_integrate(f->shooter->flow, last - first + 1, record->time + first, f->fit->start + 2 * window,
                                states, NULL));
        for (size_t row = first; row <= last; row++)
            for (size_t i = 0; i < 2; i++)
                if (f->s.dictionary->has_equation[i] && record->measured[row + i * record->n_rows] > 0)
                    r[n++] = sqrt(share(f, window, row) / f->fit->variance[i]) *
                             (states[2 * (row - first) + i] - record->value[row + i * record->n_rows]);
    }
    f->n_data = n;
    for (size_t i = 0; i < 2 * f->windows->n; i++) r[n++] = f->fit->start[i] / sqrt(start_variance);
    for (size_t q = 0; q < in->n; q++) r[n++] = f->fit->w[in->column[q]] / sqrt(f->s.columns->slab[in->column[q]]);
    f->n_residuals = n;
}

/* H = J'J, g = J'r; unknowns: the weights of `in`, then the starts. Without the slabs' rows when so asked. */
static void differentiate(fixture *f, const kb_support *in, bool with_slab)
{
    static double up[MOST_RESIDUALS], down[MOST_RESIDUALS];
    const double h = f->slack > 1e-4 ? 5e-3 : 1e-4;
    size_t n = f->n_unknowns = in->n + 2 * f->windows->n;
    residuals(f, in, f->r);
    size_t rows = f->n_residuals, used = with_slab ? rows : rows - in->n;
    CHECK(n <= MOST_UNKNOWNS && rows <= MOST_RESIDUALS);
    for (size_t i = 0; i < n; i++) {
        double *x = i < in->n ? &f->fit->w[in->column[i]] : &f->fit->start[i - in->n], kept = *x;
        size_t state = i < in->n ? 0 : (i - in->n) % 2;
        bool is_followed = i >= in->n && !f->s.dictionary->has_equation[state]; /* moves no other state by definition */
        *x = kept + h;
        residuals(f, in, up);
        *x = kept - h;
        residuals(f, in, down);
        *x = kept;
        for (size_t m = 0; m < rows; m++)
            f->J[m + i * rows] = is_followed && m < f->n_data ? 0 : (up[m] - down[m]) / (2 * h);
    }
    for (size_t i = 0; i < n; i++) {
        f->g[i] = kb_dot(used, f->J + i * rows, f->r);
        for (size_t j = 0; j < n; j++) f->H[i + j * n] = kb_dot(used, f->J + i * rows, f->J + j * rows);
    }
}

static double largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* ---------------------------------------------------------------- windows */

static void test_windows(void **state)
{
    static const plan one = {.rows = 18, .windows = 4};
    static fixture f;
    (void)state;
    begin(&f, &one);
    for (size_t n = 1; n <= 8; n++) {
        kb_windows *windows = NULL;
        CHECK_OK(kb_windows_divide(f.s.record->n_rows, n, &windows, &error));
        CHECK(windows->n == n && windows->first[0] == 0 && windows->last[n - 1] == 17);
        for (size_t i = 0; i < n; i++) {
            CHECK(windows->last[i] > windows->first[i]);
            CHECK(i == 0 || windows->first[i] == windows->last[i - 1]); /* they share their border */
        }
        kb_windows_destroy(windows);
    }
    end(&f);
    kb_windows_destroy(NULL);
    kb_shooter_destroy(NULL);
    kb_fit_destroy(NULL);
}

/* ---------------------------------------------------------------- the message */

/* G and b over all columns by dense block elimination of the starts. */
static void check_message(fixture *f)
{
    static double A[MOST_UNKNOWNS * MOST_UNKNOWNS], C[MOST_UNKNOWNS * MOST_UNKNOWNS];
    const kb_support *all = &f->s.all;
    size_t k = all->n, m = 2 * f->windows->n, n = k + m;
    kb_message *message = NULL;
    CHECK_OK(kb_message_create(k, &message, &error));
    CHECK(kb_shooter_message(f->shooter, f->fit, all, message));
    differentiate(f, all, false);
    for (size_t j = 0; j < m; j++) memcpy(A + j * m, f->H + k + (k + j) * n, m * sizeof *A);
    for (size_t q = 0; q < k; q++) memcpy(C + q * m, f->H + k + q * n, m * sizeof *C);
    memcpy(C + k * m, f->g + k, m * sizeof *C);
    dense_solve(m, A, k + 1, C);
    double slack = f->slack * largest(k * k, message->G);
    for (size_t q = 0; q < k; q++) {
        double b = -f->g[q];
        for (size_t i = 0; i < m; i++) b += f->H[k + i + q * n] * C[i + k * m];
        for (size_t p = 0; p < k; p++) {
            double G = f->H[p + q * n];
            for (size_t i = 0; i < m; i++) G -= f->H[k + i + p * n] * C[i + q * m];
            CHECK_CLOSE(message->G[p + q * k], G, slack); /* differences */
            b += message->G[q + p * k] * f->fit->w[p];
        }
        CHECK_CLOSE(message->b[q], b, slack * 10); /* likewise, times weights of some units */
    }
    kb_message_destroy(message);
}

static void test_message(void **state)
{
    (void)state;
    on_every_setup(check_message);
}

/* ---------------------------------------------------------------- covariance and evidence */

/* log p(v_i | common level) in log v_i with its Laplace factor; gamma = parameters - trace(H^{-1} prior) */
static double noise_evidence(const fixture *f, const double *inverse)
{
    const kb_record *r = f->s.record;
    size_t n = f->n_unknowns, k = f->fit->support.n;
    double gamma = (double)n, total = 0, inverse_sum = 0, states = 0, E = 0;
    for (size_t i = 0; i < n; i++)
        gamma -= inverse[i + i * n] / (i < k ? f->s.columns->slab[f->fit->support.column[i]] : start_variance);
    for (size_t i = 0; i < 2; i++)
        if (f->s.dictionary->has_equation[i])
            total += (double)r->count[i], inverse_sum += 1 / f->fit->variance[i], states++;
    for (size_t i = 0; i < 2; i++) {
        if (!f->s.dictionary->has_equation[i] || r->known_variance[i] > 0) continue;
        double N = (double)r->count[i], ratio = states / inverse_sum / f->fit->variance[i];
        double freedom = fmax(N * (1 - gamma / total), 0.2 * N);
        E += 0.5 * noise_shrinkage * (log(ratio) - ratio) - 0.5 * log(0.5 * (freedom + noise_shrinkage));
    }
    return E;
}

/* log of the mean over widths r of prod N(w; 0, r S) / N(w; 0, S), densities written out, equation by equation */
static double width_evidence(const fixture *f)
{
    const kb_columns *c = f->s.columns;
    static const double widths[] = {1.0 / 25, 1.0 / 5, 1, 5};
    double E = 0;
    for (size_t equation = 0; equation < 2; equation++) {
        double mean = 0;
        for (size_t g = 0; g < 4; g++) {
            double ratio = 1;
            for (size_t q = 0; q < f->fit->support.n; q++) {
                size_t column = f->fit->support.column[q];
                double w = f->fit->w[column], S = c->slab[column], wide = widths[g] * S;
                if (c->equation[column] != equation) continue;
                ratio *= exp(-w * w / (2 * wide)) / sqrt(wide) / (exp(-w * w / (2 * S)) / sqrt(S));
            }
            mean += ratio / 4;
        }
        E += log(mean);
    }
    return E;
}

static double dense_evidence(fixture *f, const double *inverse, double logdet)
{
    const kb_columns *c = f->s.columns;
    double E = noise_evidence(f, inverse) + width_evidence(f) - 0.5 * logdet - 0.5 * kb_dot(f->n_residuals, f->r, f->r);
    for (size_t i = 0; i < 2; i++)
        if (f->s.dictionary->has_equation[i]) E -= 0.5 * (double)f->s.record->count[i] * log(f->fit->variance[i]);
    for (size_t q = 0; q < f->fit->support.n; q++)
        E += c->log_odds[f->fit->support.column[q]] - 0.5 * log(c->slab[f->fit->support.column[q]]);
    for (size_t i = 0; i < 2 * f->windows->n; i++) /* a followed state's start is known: no prior on it */
        if (!f->s.dictionary->has_equation[i % 2]) E += 0.5 * f->fit->start[i] * f->fit->start[i] / start_variance;
    return E - (double)f->windows->n * log(start_variance); /* half of it for each of the two states */
}

static void check_fit(fixture *f)
{
    static double inverse[MOST_UNKNOWNS * MOST_UNKNOWNS], covariances[WINDOWS * 100];
    size_t k = f->fit->support.n, size = k + 2;
    kb_shooter_fit(f->shooter, f->fit, 100, -INFINITY);
    CHECK(f->fit->valid && f->fit->converged);
    differentiate(f, &f->fit->support, true);
    size_t n = f->n_unknowns;
    double logdet = dense_inverse(n, f->H, inverse), decrement = 0;
    CHECK_CLOSE(f->fit->log_evidence, dense_evidence(f, inverse, logdet),
                10 * f->slack); /* differences, ten eigenvalues */
    for (size_t q = 0; q < k; q++)
        for (size_t p = 0; p < k; p++)
            CHECK_CLOSE(f->fit->covariance[p + q * k], inverse[p + q * n],
                        10 * f->slack * largest(k * k, f->fit->covariance)); /* likewise */
    CHECK(kb_shooter_covariances(f->shooter, f->fit, covariances));
    for (size_t window = 0; window < f->windows->n; window++)
        for (size_t a = 0; a < size; a++)
            for (size_t b = 0; b < size; b++) {
                size_t i = a < k ? a : a + 2 * window, j = b < k ? b : b + 2 * window;
                bool given = a >= k && a == b && !f->s.dictionary->has_equation[a - k]; /* not fitted: no spread */
                CHECK_CLOSE(covariances[window * size * size + a + b * size], given ? 0 : inverse[i + j * n],
                            10 * f->slack * largest(n * n, inverse)); /* likewise */
            }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) { /* starts of followed states are given, not fitted */
            bool given = (i >= k && !f->s.dictionary->has_equation[(i - k) % 2]) ||
                         (j >= k && !f->s.dictionary->has_equation[(j - k) % 2]);
            if (!given) decrement += 0.5 * f->g[i] * inverse[i + j * n] * f->g[j];
        }
    CHECK_CLOSE(decrement, 0, 0.005); /* what another step could gain: the fit's own tolerance in nats */
}

static void test_fit(void **state)
{
    (void)state;
    on_every_setup(check_fit);
}

/* A law without terms: its evidence is that of its states at rest, one by one. */
static void test_at_rest(void **state)
{
    static fixture f;
    const plan p = {.rows = 25, .windows = 1};
    (void)state;
    begin(&f, &p);
    f.fit->support.n = 0;
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(f.fit->valid && f.fit->misfit > 0.9);
    double counts[] = {(double)f.s.record->count[0], (double)f.s.record->count[1]}, sum = 0;
    for (size_t k = 0; k < 2; k++) sum += kb_evidence_at_rest(f.shooter->dynamics, counts, f.fit, k);
    CHECK_CLOSE(sum, f.fit->log_evidence, 0.02); /* nats: the fit's tolerance, in steps of the noise */
    end(&f);
}

/* Student's width over the normal one's, by the degrees of freedom behind the noise of each number's state: its own f,
   and what the other state, known by as many, tells of the level that both are drawn towards. */
static void test_student(void **state)
{
    static fixture f;
    static double normal[100], student[100];
    (void)state;
    const plan p = {.rows = 12, .windows = 1};
    begin(&f, &p);
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    size_t k = f.fit->support.n, size = k + 2;
    CHECK(kb_shooter_covariances(f.shooter, f.fit, normal) && kb_states_covariances(f.shooter, f.fit, student));
    for (size_t a = 0; a < size; a++)
        for (size_t b = 0; b < size; b++) {
            size_t i = a < k ? a > 0 : a - k, j = b < k ? b > 0 : b - k; /* the first weight is the first state's */
            double fi = kb_shooter_freedom(f.shooter, f.fit, i), fj = kb_shooter_freedom(f.shooter, f.fit, j);
            double own = 12 * (1 - f.fit->effective / 24), level = 2 / noise_shrinkage + 1 / own;
            CHECK_CLOSE(fi, own + 1 / level, 1e-12 * fi);
            double factor = kb_student_width(fi) * kb_student_width(fj);
            CHECK_CLOSE(student[a + b * size], factor * normal[a + b * size], 1e-12 * largest(size * size, student));
        }
    end(&f);
}

/* ---------------------------------------------------------------- recovery */

/* Data without noise: the weights come back from 30 % off, in any number of windows. */
static void test_recovery(void **state)
{
    static fixture f;
    (void)state;
    for (size_t windows = 1; windows <= 4; windows *= 2) {
        const plan p = {.rows = 25, .windows = windows};
        begin(&f, &p);
        double exact[16];
        for (size_t q = 0; q < f.fit->support.n; q++) {
            size_t column = f.fit->support.column[q];
            exact[q] = f.fit->w[column];
            f.fit->w[column] *= q % 2 ? 1.3 : 0.7;
        }
        kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
        CHECK(f.fit->valid && f.fit->converged && f.fit->n_windows == windows);
        for (size_t q = 0; q < f.fit->support.n; q++)
            CHECK_CLOSE(f.fit->w[f.fit->support.column[q]], exact[q],
                        1e-3 * fabs(exact[q])); /* the slab's pull at the noise floor 1e-6 */
        CHECK_CLOSE(f.fit->misfit, 0, 1e-3);    /* likewise */
        for (size_t row = f.windows->first[windows - 1]; row <= f.windows->last[windows - 1]; row++) {
            double found[2];
            CHECK(kb_shooter_state(f.shooter, f.fit, windows - 1, row, found));
            for (size_t i = 0; i < 2; i++) /* the data without noise; the floor again, a few times */
                CHECK_CLOSE(found[i], f.s.record->value[row + i * f.s.record->n_rows], 4e-3);
        }
        end(&f);
    }
}

/* Many samples: each state's noise is found, not the average; and the windows' border rows do not bias it. */
static void test_noise_estimate(void **state)
{
    static fixture f;
    (void)state;
    for (size_t windows = 1; windows <= 4; windows *= 2) {
        const plan p = {.rows = 600, .windows = windows, .percent = 10};
        begin(&f, &p);
        kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
        CHECK(f.fit->valid);
        for (size_t i = 0; i < 2; i++)
            CHECK_CLOSE(f.fit->variance[i], 0.01 / 1.01, 0.0018); /* three times sqrt(2 / 600), as a share of 0.01 */
        end(&f);
    }
}

static void test_known_noise(void **state)
{
    static const plan p = {.rows = 20, .windows = 1, .percent = 10, .noise = "x=3%"};
    static fixture f;
    (void)state;
    begin(&f, &p);
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(f.fit->valid);
    CHECK_CLOSE(f.fit->variance[0], 0.0009, 1e-15); /* as given */
    CHECK(f.fit->variance[1] > 0.002);              /* estimated: 10 % is there, 3 % pulls */
    end(&f);
}

/* ---------------------------------------------------------------- the integral form along a solution */

/* A model's right-hand side integrated along its solution is the solution: sum_j w_j int P_j / scale_j = q(t) - q(0) */
static void check_sums(fixture *f, size_t window)
{
    kb_dynamics *d = f->shooter->dynamics;
    size_t first = f->windows->first[window], last = f->windows->last[window], rows = last - first + 1;
    const double *start = f->fit->start + 2 * window;
    double *sums = KB_NEW(double, rows * d->n_terms), state[2];
    kb_shooter_fit(f->shooter, f->fit, 0, -INFINITY); /* sets the model */
    CHECK(d->integrals(d, first, last, start, NULL, sums));
    for (size_t row = 0; row < rows; row++) {
        double grown[2] = {0, 0};
        for (size_t q = 0; q < f->fit->support.n; q++) {
            size_t c = f->fit->support.column[q];
            grown[f->s.columns->equation[c]] +=
                f->fit->w[c] / f->s.columns->scale[c] * sums[row + f->s.columns->term[c] * rows];
        }
        CHECK(kb_shooter_state(f->shooter, f->fit, window, first + row, state));
        for (int i = 0; i < 2; i++) CHECK_CLOSE(grown[i], state[i] - start[i], 1e-5); /* five nodes between rows */
    }
    kb_free(sums);
}

/* Its message, each equation for itself, has the fit's weights where there is no noise. */
static void test_integrals(void **state)
{
    static const plan p = {.rows = 33, .windows = 2};
    static fixture f;
    kb_message *message = NULL;
    (void)state;
    begin(&f, &p);
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(f.fit->valid);
    for (size_t window = 0; window < 2; window++) check_sums(&f, window);
    size_t n = f.s.columns->n, k = f.fit->support.n;
    double *mean = KB_NEW(double, n), *work = KB_NEW(double, kb_message_work(n));
    CHECK_OK(kb_message_create(n, &message, &error));
    CHECK(kb_shooter_integrals(f.shooter, f.fit, false, message));
    CHECK(isfinite(kb_message_evidence(message, f.s.columns, &f.fit->support, mean, work)));
    for (size_t q = 0; q < k; q++) {
        double w = f.fit->w[f.fit->support.column[q]];
        CHECK_CLOSE(mean[q], w, 2e-3 * fabs(w)); /* noise of 0.1 % is the least that a fit assumes */
    }
    kb_message_destroy(message);
    kb_free(mean);
    kb_free(work);
    end(&f);
}

/* ---------------------------------------------------------------- what cannot be fitted */

static void test_no_answer(void **state)
{
    static const plan p = {.rows = 17, .windows = 1, .percent = 5};
    static fixture f;
    kb_message *message = NULL;
    (void)state;
    begin(&f, &p);
    f.fit->w[setup_column(&f.s, 1, "y")] *= 100; /* explodes */
    kb_shooter_fit(f.shooter, f.fit, 20, -INFINITY);
    CHECK(!f.fit->valid && f.fit->log_evidence == -INFINITY);
    CHECK_OK(kb_message_create(f.s.columns->n, &message, &error));
    CHECK(!kb_shooter_message(f.shooter, f.fit, &f.s.all, message));
    kb_message_destroy(message);
    end(&f);
    begin(&f, &p);
    f.fit->start[0] = NAN;
    kb_shooter_fit(f.shooter, f.fit, 20, -INFINITY);
    CHECK(!f.fit->valid);
    end(&f);
}

static bool (*true_predict)(kb_dynamics *, size_t, size_t, const double *, double *, double *);

static bool predict_with_wrong_tangents(kb_dynamics *d, size_t first, size_t last, const double *start,
                                        double *predicted, double *tangents)
{
    size_t n = d->observation_start[last + 1] - d->observation_start[first], P = 4 + 2; /* terms, and the start */
    bool done = true_predict(d, first, last, start, predicted, tangents);
    for (size_t i = 0; tangents && i < n * P; i++) tangents[i] *= -1;
    return done;
}

/* Every step goes uphill: a fit that stays where it is has not converged there. */
static void test_no_step_helps(void **state)
{
    static const plan p = {.rows = 17, .windows = 1, .percent = 5};
    static fixture f;
    (void)state;
    begin(&f, &p);
    f.fit->w[setup_column(&f.s, 1, "x")] *= 0.8;
    true_predict = f.shooter->dynamics->predict;
    f.shooter->dynamics->predict = predict_with_wrong_tangents;
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(!f.fit->converged);
    f.shooter->dynamics->predict = true_predict;
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(f.fit->valid && f.fit->converged);
    end(&f);
}

static void test_larger_keeps_nan(void **state)
{
    (void)state;
    CHECK(isnan(kb_larger(NAN, 1)) && isnan(kb_larger(1, NAN)) && kb_larger(1, 2) == 2 && kb_larger(2, 1) == 2);
}

/* A model far behind its rival is given up. */
static void test_hopeless(void **state)
{
    static const plan p = {.rows = 25, .windows = 2, .percent = 1};
    static fixture f;
    (void)state;
    begin(&f, &p);
    kb_support_remove(&f.fit->support, setup_column(&f.s, 1, "x^2*y"));
    kb_shooter_fit(f.shooter, f.fit, 100, 1e6);
    CHECK(!f.fit->valid);
    end(&f);
}

static size_t n_predictions, n_systems;

static bool predict_counted(kb_dynamics *d, size_t first, size_t last, const double *start, double *predicted,
                            double *tangents)
{
    n_predictions++;
    n_systems += tangents != NULL;
    return true_predict(d, first, last, start, predicted, tangents);
}

/* Predictions that a fit of a wrong model takes, which ends where it stands. */
static size_t count_predictions(double aim)
{
    static const plan p = {.rows = 25, .windows = 1, .percent = 1};
    static fixture f;
    begin(&f, &p);
    kb_support_remove(&f.fit->support, setup_column(&f.s, 1, "x^2*y"));
    true_predict = f.shooter->dynamics->predict;
    f.shooter->dynamics->predict = predict_counted;
    f.shooter->likelihood.aim = aim;
    n_predictions = 0;
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK(f.fit->valid);
    end(&f);
    return n_predictions;
}

/* A fit that will not come near what a law leaves ends; one that is there already takes its time. */
static void test_aim(void **state)
{
    (void)state;
    size_t free_fit = count_predictions(0);
    CHECK(count_predictions(1e-4) < free_fit);
    CHECK(count_predictions(100) == free_fit);
}

/* Fits a model that lacks a term, whose residuals are large: Gauss-Newton's steps have the wrong length there. */
static void fit_wrong_model(fixture *f, bool tangents_are_dear)
{
    static const plan p = {.rows = 17, .windows = 2, .percent = 1};
    begin(f, &p);
    kb_support_remove(&f->fit->support, setup_column(&f->s, 1, "x"));
    true_predict = f->shooter->dynamics->predict;
    f->shooter->dynamics->predict = predict_counted;
    f->shooter->dynamics->tangents_are_dear = tangents_are_dear;
    n_systems = 0;
    kb_shooter_fit(f->shooter, f->fit, 100, -INFINITY);
    CHECK(f->fit->valid && f->fit->converged);
}

/* Where tangents are dear a fit takes few of them, and arrives at the same place. */
static void test_dear_tangents(void **state)
{
    static fixture plain, dear;
    (void)state;
    fit_wrong_model(&plain, false);
    size_t usual = n_systems;
    fit_wrong_model(&dear, true);
    CHECK(3 * n_systems <= 2 * usual);
    CHECK(fabs(dear.fit->log_evidence - plain.fit->log_evidence) < 0.02);
    for (size_t q = 0; q < dear.fit->support.n; q++) {
        size_t column = dear.fit->support.column[q];
        CHECK(fabs(dear.fit->w[column] - plain.fit->w[column]) < 0.1 * sqrt(kb_fit_variance(plain.fit, column)));
    }
    end(&plain);
    end(&dear);
}

static void test_copy(void **state)
{
    static const plan p = {.rows = 17, .windows = 2, .percent = 5};
    static fixture f;
    kb_fit *copy = NULL;
    (void)state;
    begin(&f, &p);
    size_t n = f.s.columns->n, k = f.fit->support.n;
    kb_shooter_fit(f.shooter, f.fit, 100, -INFINITY);
    CHECK_OK(kb_fit_create(n, 2, WINDOWS, k, &copy, &error));
    kb_fit_copy(f.fit, copy, n, 2);
    CHECK(kb_support_equal(&copy->support, &f.fit->support) && copy->log_evidence == f.fit->log_evidence);
    CHECK(copy->w != f.fit->w && !memcmp(copy->w, f.fit->w, n * sizeof *copy->w));
    CHECK(!memcmp(copy->start, f.fit->start, 4 * sizeof *copy->start) && copy->valid && copy->n_windows == 2);
    CHECK(!memcmp(copy->covariance, f.fit->covariance, k * k * sizeof *copy->covariance));
    kb_fit_destroy(copy);
    end(&f);
}

/* Even times have one kernel value for each distance; times that are off by a millionth of a gap have all of them. */
static void test_even_times(void **state)
{
    (void)state;
    static const char *const harmonic[] = {"x_t = y", "y_t = -x"};
    static const double from[] = {1, 0};
    kbass_settings settings;
    kb_settings_default(&settings);
    setup s;
    setup_open(&s, setup_sample(2, harmonic, from, 40, 12), &settings, 40);
    kb_trajectory *trajectory = NULL;
    kb_without_law even = {0}, uneven = {0};
    double times[40];
    memcpy(times, s.record->time, sizeof times);
    CHECK_OK(kb_trajectory_create(s.record, s.dictionary, s.columns, 0, &trajectory, &error));
    CHECK_OK(kb_without_law_of_states(&trajectory->dynamics, times, KB_KERNEL_MATERN52, 2, &even, &error));
    times[20] += 1e-6 / 39;
    CHECK_OK(kb_without_law_of_states(&trajectory->dynamics, times, KB_KERNEL_MATERN52, 2, &uneven, &error));
    CHECK_CLOSE(even.field, uneven.field, 1e-4 * fabs(even.field)); /* what the time that is off changes */
    CHECK_CLOSE(even.field_variance[0] / uneven.field_variance[0], 1, 0.1);
    kb_without_law_clear(&even);
    kb_without_law_clear(&uneven);
    trajectory->dynamics.destroy(&trajectory->dynamics);
    setup_close(&s);
}

/* ---------------------------------------------------------------- threads that help */

enum { HELPERS = 3, LONG = 1500 };

/* The message about all columns, made by the first of some threads while the others wait. */
static bool message_among(fixture *f, int threads, kb_message *message)
{
    bool is_there = false;
#pragma omp parallel num_threads(threads) shared(is_there)
    {
#pragma omp master
        is_there = kb_shooter_message(f->shooter, f->fit, &f->s.all, message);
    }
    return is_there;
}

static void compare_messages(fixture *f)
{
    kb_message *alone = NULL, *together = NULL;
    size_t n = f->s.columns->n;
    CHECK_OK(kb_message_create(n, &alone, &error));
    CHECK_OK(kb_message_create(n, &together, &error));
    bool is_there = message_among(f, 1, alone);
    for (int threads = 2; threads <= HELPERS; threads++) {
        f->shooter->was_stiff = false;
        kb_message_zero(together);
        CHECK(message_among(f, threads, together) == is_there);
        for (size_t i = 0; is_there && i < n * n; i++) CHECK(together->G[i] == alone->G[i]);
        for (size_t i = 0; is_there && i < n; i++) CHECK(together->b[i] == alone->b[i]);
    }
    kb_message_destroy(alone);
    kb_message_destroy(together);
}

static kb_shooter *helper_of(fixture *f)
{
    kb_shooter *helper = NULL;
    const setup *p = &f->s;
    CHECK_OK(kb_shooter_create(p->record, p->dictionary, p->columns, WINDOWS, p->columns->n, &helper, &error));
    helper->flow->follow = setup_follow(p);
    return helper;
}

/* One thread, two and three make the same message to the bit, of windows and of parts of the tangents, of a law, of a
   solution that escapes, and of equations that are stiff in some windows or in all. */
static void test_team(void **state)
{
    (void)state;
    static const struct {
        const char *term;
        double weight;
    } cases[] = {{"y", 1}, {"y", 40}, {"x^2*y", -1e4}, {"x^2*y", -3e4}, {"x^2*y", -1e5}, {"x^2*y", -1e6}};
    static fixture f;
    for (size_t windows = 1; windows <= WINDOWS; windows *= 2) {
        kb_likelihood *team[HELPERS];
        begin(&f, &(plan){.rows = LONG, .windows = windows, .percent = 5});
        for (int i = 0; i < HELPERS; i++) team[i] = i ? &helper_of(&f)->likelihood : &f.shooter->likelihood;
        f.shooter->likelihood.team = team;
        f.shooter->likelihood.n_team = HELPERS;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            size_t column = setup_column(&f.s, 1, cases[i].term);
            double before = f.fit->w[column];
            f.fit->w[column] = cases[i].weight / f.s.columns->unit[column];
            compare_messages(&f);
            f.fit->w[column] = before;
        }
        for (int i = 1; i < HELPERS; i++) kb_shooter_destroy(kb_shooter_of(team[i]));
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_no_step_helps),
        cmocka_unit_test(test_larger_keeps_nan),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_at_rest),
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_noise_estimate),
        cmocka_unit_test(test_known_noise),
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_aim),
        cmocka_unit_test(test_dear_tangents),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_even_times),
        cmocka_unit_test(test_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
