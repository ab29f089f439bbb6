#include "dense.h"
#include "ode_setup.h"
#include "collocation/ode_fields.h"

/* Every block of the Gauss-Newton system is rebuilt from one list of residuals,
 *
 *     r = [ z,  (q(t_n) - y_n) / sqrt v,  sqrt(c / tau) (dq/ds - fixed - Phi w) ],     J = |r|^2 / 2
 *
 * differentiated by central differences: H = J'J, g = J'r. */

enum { MESH = 30, ROWS = 9, MOST_UNKNOWNS = 80, MOST_RESIDUALS = 200 };

typedef struct {
    setup s;
    kb_record *record; /* the whole, or a slice of it */
    kb_level *level;
    kb_ode_field *field;
    size_t nz, k, n_unknowns, n_residuals, first_data, first_equation;
    double r[MOST_RESIDUALS], J[MOST_RESIDUALS * MOST_UNKNOWNS]; /* column-major */
    double H[MOST_UNKNOWNS * MOST_UNKNOWNS], g[MOST_UNKNOWNS];
} fixture;

/* ---------------------------------------------------------------- the residuals, written out */

static double sum_terms(const fixture *f, size_t state, const double *u)
{
    const kb_columns *c = f->s.columns;
    size_t work_size = kb_dictionary_work(f->s.dictionary, 1);
    double sum = 0, value, *work = malloc(work_size * sizeof *work);
    for (size_t q = 0; q < c->n_fixed; q++)
        if (c->fixed_equation[q] == state) {
            kb_dictionary_values(f->s.dictionary, 1, &c->fixed_term[q], 1, u, 1, &value, work);
            sum += c->fixed_weight[q] * value;
        }
    for (size_t q = 0; q < f->s.support.n; q++) {
        size_t column = f->s.support.column[q];
        if (c->equation[column] != state) continue;
        kb_dictionary_values(f->s.dictionary, 1, &c->term[column], 1, u, 1, &value, work);
        sum += f->field->w[column] * value / c->scale[column];
    }
    free(work);
    return sum;
}

static double feature_sum(const fixture *f, const double *features, size_t n_points, size_t point, size_t state)
{
    size_t r = f->field->level->rank;
    double sum = 0;
    for (size_t q = 0; q < r; q++) sum += features[point + q * n_points] * f->field->z[state * r + q];
    return sum;
}

static void residuals(fixture *f, double *r)
{
    const kb_record *record = f->record;
    const kb_level *level = f->field->level;
    size_t n = 0, states = record->n_states, rows = record->n_rows;
    for (; n < f->nz; n++) r[n] = f->field->z[n];
    f->first_data = n;
    for (size_t i = 0; i < states; i++)
        for (size_t row = 0; row < rows; row++)
            if (record->measured[row + i * rows] > 0)
                r[n++] =
                    (feature_sum(f, level->rows, rows, row, i) - record->value[row + i * rows]) / sqrt(f->field->v[i]);
    f->first_equation = n;
    for (size_t i = 0; i < states; i++)
        for (size_t p = 0; f->s.dictionary->has_equation[i] && p < MESH; p++) {
            double u[4];
            for (size_t j = 0; j < states; j++)
                u[j] = record->mean[j] + record->sd[j] * feature_sum(f, level->mesh, MESH, p, j);
            u[states] = record->first + record->span * (double)p / (MESH - 1);
            double slope = record->stretch * feature_sum(f, level->slope, MESH, p, i);
            r[n++] = sqrt(200.0 / MESH / record->stretch / f->field->tau[i]) * (slope - sum_terms(f, i, u));
        }
    f->n_residuals = n;
}

static double *unknown(fixture *f, size_t i)
{
    return i < f->nz ? &f->field->z[i] : &f->field->w[f->s.support.column[i - f->nz]];
}

static void differentiate(fixture *f)
{
    static double up[MOST_RESIDUALS], down[MOST_RESIDUALS];
    const double h = 1e-5;
    size_t n = f->n_unknowns = f->nz + f->k;
    residuals(f, f->r);
    CHECK(n <= MOST_UNKNOWNS && f->n_residuals <= MOST_RESIDUALS);
    for (size_t i = 0; i < n; i++) {
        double *x = unknown(f, i), kept = *x;
        *x = kept + h;
        residuals(f, up);
        *x = kept - h;
        residuals(f, down);
        *x = kept;
        for (size_t m = 0; m < f->n_residuals; m++) f->J[m + i * f->n_residuals] = (up[m] - down[m]) / (2 * h);
    }
}

/* H = J'J and g = J'r over the residuals from `first` on, or all but the data's. */
static void normals(fixture *f, bool with_data)
{
    size_t n = f->n_unknowns, rows = f->n_residuals;
    for (size_t i = 0; i < n; i++) {
        f->g[i] = 0;
        for (size_t j = 0; j < n; j++) f->H[i + j * n] = 0;
        for (size_t m = 0; m < rows; m++) {
            if (!with_data && m >= f->first_data && m < f->first_equation) continue;
            f->g[i] += f->J[m + i * rows] * f->r[m];
            for (size_t j = 0; j < n; j++) f->H[i + j * n] += f->J[m + i * rows] * f->J[m + j * rows];
        }
    }
}

/* ---------------------------------------------------------------- setups */

static const char *const equations[] = {"x_t = y", "y_t = (1 - x^2)*y - x"};
static const double initial[] = {1, 0.5};

/* Every third cell of y is missing. */
static kbass_data *samples(void)
{
    kbass_data *data = setup_sample(2, equations, initial, ROWS, 4);
    for (size_t row = 1; row < ROWS; row += 3) data->values[2 * row + 1] = NAN;
    return data;
}

static void begin(fixture *f, bool sliced, const char *fix, const char *equation_for, const char *noise)
{
    kbass_settings settings;
    kb_random random;
    kb_settings_default(&settings);
    settings.terms = "x, y, x*y, x^2*y, sin(x), x*t";
    settings.fix = fix;
    settings.equation_for = equation_for;
    settings.noise = noise;
    *f = (fixture){0};
    setup_open(&f->s, samples(), &settings, MESH);
    if (sliced) {
        CHECK_OK(kb_record_slice(f->s.record, 0, 1, 2, &f->record, &error));
        CHECK_OK(kb_level_share(f->s.level, f->record, &f->level, &error));
    } else {
        f->record = f->s.record;
        f->level = f->s.level;
    }
    CHECK_OK(
        kb_ode_field_create(f->record, f->s.dictionary, f->s.columns, MESH, f->level->rank + 8, &f->field, &error));
    kb_ode_field_set_level(f->field, f->level);
    f->nz = 2 * f->field->level->rank;
    kb_random_seed(&random, 8);
    for (size_t i = 0; i < 2; i++) f->field->v[i] = 0.01 + 0.02 * (double)i, f->field->tau[i] = 0.5 + (double)i;
    for (size_t i = 0; i < f->nz; i++) f->field->z[i] = 0.5 * kb_random_normal(&random);
    for (size_t i = 0; i < f->s.columns->n; i++) {
        if (i % 3 == 1) continue; /* most of the columns are in */
        kb_support_add(&f->s.support, i);
        f->field->w[i] = kb_random_normal(&random);
    }
    f->k = f->s.support.n;
}

static void end(fixture *f)
{
    kb_ode_field_destroy(f->field);
    if (f->record != f->s.record) {
        kb_level_destroy(f->level);
        kb_record_destroy(f->record);
    }
    setup_close(&f->s);
}

typedef void check(fixture *f);

static void on_every_setup(check *run)
{
    static fixture f;
    begin(&f, false, NULL, NULL, NULL);
    run(&f);
    end(&f);
    begin(&f, true, NULL, NULL, NULL);
    run(&f);
    end(&f);
    begin(&f, false, "x_t = 2*y - sin(x)", NULL, NULL);
    run(&f);
    end(&f);
    begin(&f, false, NULL, "y", "x=0.1");
    run(&f);
    end(&f);
}

static double largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* ---------------------------------------------------------------- objective, gradient, blocks */

static void check_system(fixture *f)
{
    size_t nz = f->nz, k = f->k;
    differentiate(f);
    normals(f, true);
    size_t n = f->n_unknowns;
    double half = 0, slack = 1e-8 * largest(n * n, f->H), slack_g = 1e-8 * largest(n, f->g);
    for (size_t m = 0; m < f->n_residuals; m++) half += 0.5 * f->r[m] * f->r[m];
    kb_ode_field_assemble(f->field, &f->s.support);
    CHECK(f->field->nz == nz && f->field->k == k);
    CHECK_CLOSE(f->field->objective, half, 1e-12 * half); /* the same sum in another order */
    for (size_t i = 0; i < nz; i++) {
        CHECK_CLOSE(f->field->gz[i], f->g[i], slack_g); /* differences: h^2 and rounding 1e-16 / h */
        for (size_t j = 0; j <= i; j++) CHECK_CLOSE(f->field->Hzz[i + j * nz], f->H[i + j * n], slack); /* likewise */
        for (size_t q = 0; q < k; q++)
            CHECK_CLOSE(f->field->Hzw[i + q * nz], f->H[i + (nz + q) * n], slack); /* likewise */
    }
    for (size_t q = 0; q < k; q++) {
        CHECK_CLOSE(f->field->gw[q], f->g[nz + q], slack_g); /* likewise */
        for (size_t p = 0; p < k; p++)
            CHECK_CLOSE(f->field->Hww[p + q * k], f->H[nz + p + (nz + q) * n], slack); /* likewise */
    }
}

static void test_system(void **state)
{
    (void)state;
    on_every_setup(check_system);
}

/* The gradient is that of the objective the module itself reports. */
static void check_gradient(fixture *f)
{
    const double h = 1e-5;
    double *g = malloc((f->nz + f->k) * sizeof *g);
    kb_ode_field_assemble(f->field, &f->s.support);
    memcpy(g, f->field->gz, f->nz * sizeof *g);
    memcpy(g + f->nz, f->field->gw, f->k * sizeof *g);
    double slack = 1e-6 * largest(f->nz + f->k, g);
    for (size_t i = 0; i < f->nz + f->k; i++) {
        double *x = unknown(f, i), kept = *x, up, down;
        *x = kept + h;
        kb_ode_field_assemble(f->field, &f->s.support);
        up = f->field->objective;
        *x = kept - h;
        kb_ode_field_assemble(f->field, &f->s.support);
        down = f->field->objective;
        *x = kept;
        CHECK_CLOSE((up - down) / (2 * h), g[i], slack); /* rounding 1e-16 J / h, truncation h^2 */
    }
    CHECK_CLOSE(kb_ode_field_gradient(f->field, &f->s.support), f->field->objective,
                1e-4 * f->field->objective); /* moved by h */
    for (size_t i = 0; i < f->nz; i++)
        CHECK_CLOSE(f->field->gz[i], g[i], 1e-12 * slack * 1e6); /* a sum in another order */
    free(g);
}

static void test_gradient(void **state)
{
    (void)state;
    on_every_setup(check_gradient);
}

/* ---------------------------------------------------------------- the field integrated out */

/* G = Hww - Hwz Hzz^{-1} Hzw, reduced = gw - Hwz Hzz^{-1} gz from the dense blocks; C = Hzz^{-1} [Hzw, gz] */
static void eliminate(const fixture *f, double *G, double *reduced, double *C)
{
    size_t nz = f->nz, k = f->k, n = f->n_unknowns;
    double *Hzz = malloc(nz * nz * sizeof *Hzz);
    for (size_t j = 0; j < nz; j++) memcpy(Hzz + j * nz, f->H + j * n, nz * sizeof *Hzz);
    for (size_t q = 0; q < k; q++) memcpy(C + q * nz, f->H + (nz + q) * n, nz * sizeof *C);
    memcpy(C + k * nz, f->g, nz * sizeof *C);
    dense_solve(nz, Hzz, k + 1, C);
    for (size_t q = 0; q < k; q++) {
        reduced[q] = f->g[nz + q];
        for (size_t i = 0; i < nz; i++) reduced[q] -= f->H[i + (nz + q) * n] * C[i + k * nz];
        for (size_t p = 0; p < k; p++) {
            G[p + q * k] = f->H[nz + p + (nz + q) * n];
            for (size_t i = 0; i < nz; i++) G[p + q * k] -= f->H[i + (nz + p) * n] * C[i + q * nz];
        }
    }
    free(Hzz);
}

static void check_message(fixture *f)
{
    static double G[MOST_UNKNOWNS * MOST_UNKNOWNS], reduced[MOST_UNKNOWNS], C[MOST_UNKNOWNS * MOST_UNKNOWNS];
    static double moved[MOST_UNKNOWNS], dw[MOST_UNKNOWNS];
    size_t nz = f->nz, k = f->k;
    differentiate(f);
    normals(f, true);
    eliminate(f, G, reduced, C);
    kb_ode_field_assemble(f->field, &f->s.support);
    CHECK(kb_ode_field_marginalise(f->field));
    double slack = 1e-6 * largest(k * k, f->field->Hww), slack_b = 1e-6 * largest(k, f->field->gw);
    for (size_t q = 0; q < k; q++) {
        CHECK_CLOSE(f->field->b[q], -reduced[q], slack_b); /* differences 1e-8, cancelled against Hww */
        for (size_t p = 0; p < k; p++) CHECK_CLOSE(f->field->G[p + q * k], G[p + q * k], slack); /* likewise */
    }
    for (size_t q = 0; q < k; q++) dw[q] = 0.1 * (double)(q + 1);
    for (size_t i = 0; i < nz; i++) {
        moved[i] = f->field->z[i] - C[i + k * nz];
        for (size_t q = 0; q < k; q++) moved[i] -= C[i + q * nz] * dw[q];
    }
    kb_ode_field_step(f->field, dw);
    for (size_t i = 0; i < nz; i++) CHECK_CLOSE(f->field->z[i], moved[i], 1e-5); /* differences 1e-8, condition 1e3 */
}

static void test_message(void **state)
{
    (void)state;
    on_every_setup(check_message);
}

/* The message about all columns: those outside the model have weight 0, and b = G w - reduced gradient. */
static void check_all_columns(fixture *f)
{
    size_t n = f->s.columns->n;
    kb_message *message = NULL;
    double b[MOST_UNKNOWNS];
    CHECK_OK(kb_message_create(n, &message, &error));
    CHECK(kb_ode_fields_message(1, &f->field, &f->s.all, message));
    for (size_t q = 0; q < n; q++) {
        b[q] = f->field->b[q];
        for (size_t p = 0; p < n; p++) b[q] += message->G[q + p * n] * f->field->w[p];
        for (size_t p = 0; p < n; p++) CHECK(message->G[q + p * n] == message->G[p + q * n]);
    }
    for (size_t q = 0; q < n; q++) CHECK_CLOSE(message->b[q], b[q], 1e-9 * largest(n, b)); /* a sum in another order */
    kb_message_destroy(message);
}

static void test_all_columns(void **state)
{
    (void)state;
    on_every_setup(check_all_columns);
}

/* ---------------------------------------------------------------- evidence, noise */

static double zz_logdet(const fixture *f)
{
    double *Hzz = malloc(f->nz * f->nz * sizeof *Hzz);
    for (size_t j = 0; j < f->nz; j++) memcpy(Hzz + j * f->nz, f->H + j * f->n_unknowns, f->nz * sizeof *Hzz);
    double logdet = dense_logdet(f->nz, Hzz);
    free(Hzz);
    return logdet;
}

/* -J - N/2 log v - [logdet Hzz - logdet Hzz(no data)]/2 - logdet(I + S^1/2 G S^1/2)/2 + odds, all of it dense */
static double dense_evidence(fixture *f)
{
    static double G[MOST_UNKNOWNS * MOST_UNKNOWNS], reduced[MOST_UNKNOWNS], C[MOST_UNKNOWNS * MOST_UNKNOWNS];
    const kb_columns *c = f->s.columns;
    double E = 0;
    differentiate(f);
    normals(f, false);
    E += 0.5 * zz_logdet(f);
    normals(f, true);
    E -= 0.5 * zz_logdet(f);
    eliminate(f, G, reduced, C);
    for (size_t m = 0; m < f->n_residuals; m++) E -= 0.5 * f->r[m] * f->r[m];
    for (size_t i = 0; i < 2; i++) E -= 0.5 * (double)f->record->count[i] * log(f->field->v[i]);
    for (size_t q = 0; q < f->k; q++) {
        size_t column = f->s.support.column[q];
        E += c->log_odds[column] - 0.5 * pow(f->field->w[column], 2) / c->slab[column];
        for (size_t p = 0; p < f->k; p++)
            G[p + q * f->k] = sqrt(c->slab[f->s.support.column[p]] * c->slab[column]) * G[p + q * f->k] + (p == q);
    }
    return E - 0.5 * dense_logdet(f->k, G);
}

static void check_evidence(fixture *f)
{
    double expected = dense_evidence(f);
    CHECK_CLOSE(kb_ode_fields_evidence(1, &f->field, &f->s.support), expected,
                1e-5 * (1 + fabs(expected))); /* differences 1e-8 */
}

static void test_evidence(void **state)
{
    (void)state;
    on_every_setup(check_evidence);
}

/* Two patches: the determinant of the whole system, z of both and the weights, in place of messages that add. */
static double dense_evidence_of_two(kb_ode_field *const *fields, const kb_support *support)
{
    size_t nz = fields[0]->nz, k = support->n, n = 2 * nz + k;
    double *H = calloc(n * n, sizeof *H), E = kb_support_log_prior(support, fields[0]->columns);
    for (size_t p = 0; p < 2; p++) {
        kb_ode_field *f = fields[p];
        kb_ode_field_assemble_prior(f, support);
        for (size_t j = 0; j < nz; j++)
            for (size_t i = 0; i < j; i++) f->Hzz[i + j * nz] = f->Hzz[j + i * nz]; /* the lower triangle is there */
        E += 0.5 * dense_logdet(nz, f->Hzz);
        kb_ode_field_assemble(f, support);
        E -= f->objective;
        for (size_t i = 0; i < 2; i++) E -= 0.5 * (double)f->record->count[i] * log(f->v[i]);
        for (size_t j = 0; j < nz; j++)
            for (size_t i = j; i < nz; i++)
                H[p * nz + i + (p * nz + j) * n] = H[p * nz + j + (p * nz + i) * n] = f->Hzz[i + j * nz];
        for (size_t q = 0; q < k; q++) {
            for (size_t i = 0; i < nz; i++)
                H[p * nz + i + (2 * nz + q) * n] = H[2 * nz + q + (p * nz + i) * n] = f->Hzw[i + q * nz];
            for (size_t s = 0; s < k; s++) H[2 * nz + s + (2 * nz + q) * n] += f->Hww[s + q * k];
        }
    }
    for (size_t q = 0; q < k; q++) {
        double slab = fields[0]->columns->slab[support->column[q]], w = fields[0]->w[support->column[q]];
        H[(2 * nz + q) * (n + 1)] += 1 / slab;
        E -= 0.5 * w * w / slab + 0.5 * log(slab);
    }
    E -= 0.5 * dense_logdet(n, H);
    free(H);
    return E;
}

static void check_two_patches(fixture *f)
{
    kb_ode_field *fields[2] = {f->field, NULL};
    CHECK_OK(
        kb_ode_field_create(f->record, f->s.dictionary, f->s.columns, MESH, f->level->rank + 8, &fields[1], &error));
    kb_ode_field_set_level(fields[1], f->level);
    for (size_t i = 0; i < f->nz; i++) fields[1]->z[i] = 0.9 * f->field->z[f->nz - 1 - i];
    memcpy(fields[1]->w, f->field->w, f->s.columns->n * sizeof *f->field->w);
    memcpy(fields[1]->v, f->field->v, 2 * sizeof *f->field->v);
    memcpy(fields[1]->tau, f->field->tau, 2 * sizeof *f->field->tau);
    double found = kb_ode_fields_evidence(2, fields, &f->s.support);
    double expected = dense_evidence_of_two(fields, &f->s.support);
    CHECK_CLOSE(found, expected, 1e-8 * (1 + fabs(expected))); /* the same numbers, factorised otherwise */
    CHECK(kb_ode_fields_solve(2, fields, &f->s.support, 50, 1e-9));
    for (size_t i = 0; i < f->s.columns->n; i++) CHECK(fields[0]->w[i] == fields[1]->w[i]);
    CHECK(kb_ode_fields_learn_noise(2, fields, &f->s.support));
    for (size_t i = 0; i < 2; i++) CHECK(fields[0]->v[i] == fields[1]->v[i]);
    kb_ode_field_destroy(fields[1]);
}

static void test_two_patches(void **state)
{
    (void)state;
    on_every_setup(check_two_patches);
}

/* v = (sum of squares + trace of the posterior covariance of q at the rows) / N, the weights' spread included */
static void check_noise(fixture *f)
{
    static double inverse[MOST_UNKNOWNS * MOST_UNKNOWNS];
    const kb_record *record = f->record;
    size_t r = f->field->level->rank, n, rows = record->n_rows;
    double expected[2] = {0};
    differentiate(f);
    normals(f, true);
    n = f->n_unknowns;
    for (size_t q = 0; q < f->k; q++) f->H[(f->nz + q) * (n + 1)] += 1 / f->s.columns->slab[f->s.support.column[q]];
    dense_inverse(n, f->H, inverse);
    for (size_t i = 0; i < 2; i++) {
        for (size_t row = 0; row < rows; row++) {
            if (record->measured[row + i * rows] == 0) continue;
            double off = feature_sum(f, f->field->level->rows, rows, row, i) - record->value[row + i * rows];
            expected[i] += off * off;
            for (size_t a = 0; a < r; a++)
                for (size_t b = 0; b < r; b++)
                    expected[i] += f->field->level->rows[row + a * rows] * f->field->level->rows[row + b * rows] *
                                   inverse[i * r + a + (i * r + b) * n];
        }
        expected[i] = fmin(expected[i] / (double)record->count[i], 0.5);
        if (record->known_variance[i] > 0) expected[i] = record->known_variance[i];
    }
    CHECK(kb_ode_fields_learn_noise(1, &f->field, &f->s.support));
    for (size_t i = 0; i < 2; i++) CHECK_CLOSE(f->field->v[i], expected[i], 1e-6); /* differences 1e-8, condition 100 */
}

static void test_noise(void **state)
{
    (void)state;
    on_every_setup(check_noise);
}

/* ---------------------------------------------------------------- solving */

/* At the end the gradient with the slab is nothing against its size at the start. */
static void check_solve(fixture *f)
{
    const kb_columns *c = f->s.columns;
    CHECK(kb_ode_field_regress(f->field));
    for (size_t q = 0; q < f->k; q++) f->field->w[f->s.support.column[q]] = 0;
    kb_ode_field_assemble(f->field, &f->s.support);
    double before = fmax(largest(f->nz, f->field->gz), largest(f->k, f->field->gw)), objective = f->field->objective;
    CHECK(kb_ode_fields_solve(1, &f->field, &f->s.support, 300, 1e-13));
    kb_ode_field_assemble(f->field, &f->s.support);
    for (size_t q = 0; q < f->k; q++) {
        size_t column = f->s.support.column[q];
        f->field->gw[q] += f->field->w[column] / c->slab[column];
    }
    CHECK(f->field->objective < objective);
    CHECK_CLOSE(largest(f->nz, f->field->gz), 0, 1e-4 * before); /* stops at gains of 1e-13, gradient its root */
    CHECK_CLOSE(largest(f->k, f->field->gw), 0, 1e-4 * before);  /* likewise */
}

static void test_solve(void **state)
{
    (void)state;
    on_every_setup(check_solve);
}

static void test_solve_not_a_number(void **state)
{
    static fixture f;
    (void)state;
    begin(&f, false, NULL, NULL, NULL);
    f.field->z[0] = NAN;
    CHECK(!kb_ode_fields_solve(1, &f.field, &f.s.support, 5, 1e-3));
    CHECK(!isfinite(kb_ode_fields_evidence(1, &f.field, &f.s.support)));
    end(&f);
}

/* ---------------------------------------------------------------- levels */

static void test_levels(void **state)
{
    static fixture f;
    double work[MESH + MESH], squares[2];
    (void)state;
    begin(&f, false, NULL, NULL, NULL);
    const kb_record *record = f.record;
    kb_level *shorter = NULL;
    CHECK(kb_ode_field_regress(f.field));
    kb_ode_field_evaluate(f.field, f.field->z);
    kb_ode_field_slope_squares(f.field, squares);
    for (size_t i = 0; i < 2; i++) {
        double sum = 0;
        for (size_t k = 0; k < MESH; k++) {
            double s = (double)k / (MESH - 1), q = kb_ode_field_at(f.field, i, s, 0, work);
            double slope = kb_ode_field_at(f.field, i, s, 1, work);
            CHECK_CLOSE(record->mean[i] + record->sd[i] * q, f.field->points[k + i * MESH],
                        1e-9);                                       /* rounding in a basis of condition 1e5 */
            CHECK_CLOSE(slope, f.field->slopes[k + i * MESH], 1e-7); /* likewise, times wave numbers */
            sum += slope * slope / MESH;
        }
        CHECK_CLOSE(squares[i], sum, 1e-6 * sum); /* as the slopes */
    }
    double before = kb_ode_field_at(f.field, 0, 0.37, 0, work);
    CHECK_OK(kb_level_create(record, KB_KERNEL_SE, 0.15, MESH, &shorter, &error));
    CHECK(shorter->rank <= f.field->max_rank);
    kb_ode_field_set_level(f.field, shorter);                              /* the field goes along */
    CHECK_CLOSE(kb_ode_field_at(f.field, 0, 0.37, 0, work), before, 1e-3); /* the projection's ridge */
    end(&f);
    kb_level_destroy(shorter);
    kb_ode_field_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system),      cmocka_unit_test(test_gradient), cmocka_unit_test(test_message),
        cmocka_unit_test(test_all_columns), cmocka_unit_test(test_evidence), cmocka_unit_test(test_noise),
        cmocka_unit_test(test_two_patches), cmocka_unit_test(test_solve),    cmocka_unit_test(test_solve_not_a_number),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
