/* Patches of a PDE's field: mode products, axes, the Gauss-Newton system, its Schur complement, the evidence. The
   second road is dense everywhere: Kronecker matrices, Jacobians by differences, Gaussian elimination, the covariance
   of y. */
#include <stdlib.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "dense.h"
#include "gp/bare_field.h"
#include "patch_setup.h"
#include "collocation/patch_solver.h"

/* ---------------------------------------------------------------- mode products */

static void modes_are_a_kronecker_product(void **state)
{
    (void)state;
    kb_random random;
    kb_random_seed(&random, 7);
    size_t rows[3] = {3, 5, 4}, columns[3] = {4, 2, 3}, n = 24, m = 60;
    kb_mode modes[3];
    double *matrices[3], *u = random_numbers(&random, n), *v = KB_NEW(double, m), *y = random_numbers(&random, m);
    for (size_t a = 0; a < 3; a++) {
        matrices[a] = random_numbers(&random, (rows[a] + 1) * columns[a]); /* leading dimension larger than rows */
        modes[a] = (kb_mode){rows[a], columns[a], rows[a] + 1, matrices[a]};
    }
    double *work = KB_NEW(double, kb_modes_work(3, modes)), *back = KB_NEW(double, n);
    kb_modes_product(3, modes, u, v, work);
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            double entry = 1;
            for (size_t a = 0, p = i, q = j; a < 3; p /= rows[a], q /= columns[a++])
                entry *= matrices[a][p % rows[a] + q % columns[a] * (rows[a] + 1)];
            sum += entry * u[j];
        }
        CHECK_CLOSE(v[i], sum, 1e-12); /* rounding of sums of 24 */
    }
    kb_modes_adjoint(3, modes, y, back, work);
    CHECK_CLOSE(kb_dot(n, back, u), kb_dot(m, y, v), 1e-11); /* <A'y, u> = <y, Au> up to rounding */
    for (size_t a = 0; a < 3; a++) kb_free(matrices[a]);
    kb_free(u), kb_free(v), kb_free(y), kb_free(work), kb_free(back);
}

/* ---------------------------------------------------------------- the Gauss-Newton system */

static size_t residual_size(const setup *s)
{
    return s->nz + (s->patch->n_points + s->patch->n_mesh) * s->patch->n_fields;
}

/* r with J = |r|^2/2, the rows' weights as given */
static void residual_vector(setup *s, const double *z, const double *w, const double *weight, double *r)
{
    const kb_patch *p = s->patch;
    for (size_t i = 0; i < s->nz; i++) r[i] = z[i] / sqrt(s->amplitude[i / p->n]);
    r += s->nz;
    for (size_t f = 0; f < p->n_fields; f++, r += p->n_points) {
        kb_patch_residual(p, f, z + f * p->n, r, s->workspace->data);
        for (size_t i = 0; i < p->n_points; i++) r[i] /= sqrt(s->variance[f]);
    }
    kb_collocation_residuals(s->workspace, p, &s->all, z, w);
    for (size_t f = 0; f < p->n_fields; f++)
        for (size_t i = 0; i < p->n_mesh; i++)
            *r++ = sqrt(kb_equation_weight(p, &s->hyper, f) * weight[i + f * p->n_mesh]) *
                   s->workspace->residual[i + f * p->n_mesh];
}

/* The whole Jacobian in (z, w) by central differences. */
static double *difference_jacobian(setup *s, const double *weight)
{
    size_t m = residual_size(s), k = s->columns->n;
    double *J = KB_NEW(double, m *(s->nz + k)), *up = KB_NEW(double, m), *down = KB_NEW(double, m);
    for (size_t j = 0; j < s->nz + k; j++) {
        double *x = j < s->nz ? s->z + j : s->w + j - s->nz, before = *x, h = 1e-5;
        *x = before + h;
        residual_vector(s, s->z, s->w, weight, up);
        *x = before - h;
        residual_vector(s, s->z, s->w, weight, down);
        *x = before;
        for (size_t i = 0; i < m; i++) J[i + j * m] = (up[i] - down[i]) / (2 * h);
    }
    kb_free(up), kb_free(down);
    return J;
}

static void check_entry(double found, double expected, double scale)
{
    CHECK_CLOSE(found, expected, 2e-6 * scale); /* differences of step 1e-5 on numbers of the matrix's size */
}

static void check_system(setup *s)
{
    const kb_patch *p = s->patch;
    kb_patch_workspace *b = s->workspace;
    size_t m = residual_size(s), k = s->columns->n, nz = s->nz, all = nz + k;
    kb_normal_assemble(b, p, &s->hyper, &s->all, s->z, s->w);
    kb_normal_add_data(b, p, &s->hyper, s->z);
    double *weight = KB_NEW(double, p->n_mesh * p->n_fields), *r = KB_NEW(double, m), *H = KB_NEW(double, all *all);
    double *gradient = KB_NEW(double, all), scale = 0;
    memcpy(weight, b->weight, p->n_mesh * p->n_fields * sizeof *weight);
    double *J = difference_jacobian(s, weight);
    residual_vector(s, s->z, s->w, weight, r);
    kb_gram(all, m, 1, J, m, 0, H, all);
    kb_gemv(KB_TRANSPOSED, m, all, 1, J, m, r, 0, gradient);
    for (size_t i = 0; i < all; i++) scale = fmax(scale, H[i + i * all]);
    for (size_t j = 0; j < nz; j++) {
        for (size_t i = j; i < nz; i++) check_entry(b->H[i + j * nz], H[i + j * all], scale);
        for (size_t q = 0; q < k; q++) check_entry(b->Hzw[j + q * nz], H[nz + q + j * all], scale);
        check_entry(b->gz[j], gradient[j], scale);
    }
    for (size_t q = 0; q < k; q++) {
        for (size_t s2 = q; s2 < k; s2++) check_entry(b->Hww[s2 + q * k], H[nz + s2 + (nz + q) * all], scale);
        check_entry(b->gw[q], gradient[nz + q], scale);
    }
    kb_free(weight), kb_free(r), kb_free(H), kb_free(gradient), kb_free(J);
}

static void assembly_on_a_grid(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u, u*u_x, u_xx, u^2*u_xxx, sin(x)*u_x, t");
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.5);
    CHECK(s.patch->gridded);
    check_system(&s);
    s.hyper.freedom = 2; /* Student's t: rows have weights of their own */
    check_system(&s);
    close_setup(&s);
}

static void assembly_of_second_order_in_time(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u_xx, u^3");
    settings.lhs = "u_tt";
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.5);
    check_system(&s);
    close_setup(&s);
}

static void assembly_of_coupled_fields_with_missing_values(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u, u*v_x, v_xx, u*v^2");
    open_setup(&s, make_data(2, 2, (size_t[]){6, 6}, false, true), &settings, 0.7);
    CHECK(!s.patch->gridded);
    check_system(&s);
    close_setup(&s);
}

static void assembly_with_error_bars(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u, u*v_x, v_xx, u*v^2");
    kbass_data *data = make_data(2, 2, (size_t[]){6, 6}, false, false);
    data->sigma = KB_NEW(double, data->n_rows * 2);
    for (size_t i = 0; i < data->n_rows * 2; i++) data->sigma[i] = 0.05 * (double)(1 + i % 5);
    open_setup(&s, data, &settings, 0.7);
    CHECK(!s.patch->gridded);
    check_system(&s);
    close_setup(&s);
}

static void assembly_in_two_dimensions(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u_x, u*u_y, u_xy, u_yy");
    open_setup(&s, make_data(3, 1, (size_t[]){4, 5, 4}, false, false), &settings, 1.2);
    CHECK(s.patch->gridded);
    check_system(&s);
    close_setup(&s);
    open_setup(&s, make_data(3, 1, (size_t[]){4, 4, 4}, true, false), &settings, 1.2);
    CHECK(!s.patch->gridded);
    check_system(&s);
    close_setup(&s);
}

/* Only products above the cut, and along time a prefix; both forms of z are one field. */
static void products_are_cut_by_eigenvalue(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u_x, u*u_y, u_xy, u_yy");
    open_setup(&s, make_data(3, 1, (size_t[]){6, 7, 7}, false, false), &settings, 0.35);
    const kb_products *kept = &s.patch->kept;
    double least = INFINITY, *tensor = KB_NEW(double, kept->n_tensor), *back = KB_NEW(double, kept->n);
    CHECK(kept->n < kept->n_tensor && kept->first[kept->n_space] == kept->n);
    for (size_t i = 0; i < kept->n_space; i++) {
        double product = 1;
        size_t indices = 0;
        for (size_t a = 1; a < 3; a++) {
            size_t index = kb_products_index(kept, i, a);
            product *= s.patch->level[a]->eigenvalue[index] / s.patch->level[a]->eigenvalue[0];
            indices += index;
        }
        size_t last = kept->first[i + 1] - kept->first[i] - 1;
        product *= s.patch->level[0]->eigenvalue[last] / s.patch->level[0]->eigenvalue[0];
        if (indices > 2) least = fmin(least, product); /* the first few of an axis stay in any case */
    }
    CHECK(least >= KB_PRODUCT_CUT);
    kb_products_gather(kept, 2, kb_products_open(kept, s.z, tensor), back);
    for (size_t i = 0; i < kept->n; i++) CHECK_CLOSE(back[i], 2 * s.z[i], 1e-15); /* the same numbers */
    double outside = kb_dot(kept->n_tensor, tensor, tensor) - kb_dot(kept->n, s.z, s.z);
    CHECK_CLOSE(outside, 0, 1e-9); /* nothing beside them, up to the rounding of two sums */
    check_system(&s);
    kb_free(tensor), kb_free(back);
    close_setup(&s);
}

/* ---------------------------------------------------------------- integrating the field out */

static void marginal_is_dense_elimination(void **state)
{
    (void)state;
    setup s;
    kb_patch_message *message = NULL;
    kbass_settings settings = some_terms("u, u*u_x, u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.5);
    size_t nz = s.nz, k = s.columns->n;
    kb_patch_workspace *b = s.workspace;
    CHECK_OK(kb_patch_message_create(s.columns, s.patch, &message, &error));
    kb_normal_assemble(b, s.patch, &s.hyper, &s.all, s.z, s.w);
    double *prior = KB_NEW(double, nz *nz), *H = KB_NEW(double, nz *nz), *X = KB_NEW(double, nz *(k + 1));
    memcpy(prior, b->H, nz * nz * sizeof *prior);
    kb_normal_add_data(b, s.patch, &s.hyper, s.z);
    memcpy(H, b->H, nz * nz * sizeof *H);
    dense_mirror(nz, prior), dense_mirror(nz, H);
    memcpy(X, b->Hzw, nz * k * sizeof *X);
    memcpy(X + nz * k, b->gz, nz * sizeof *X);
    double logdet = dense_solve(nz, H, k + 1, X), step_weights[3] = {0.3, -0.2, 0.1}, *step = KB_NEW(double, nz);
    CHECK(kb_normal_marginalise(b, s.patch, &s.hyper, &s.all, s.z, s.w, true, true, message));
    CHECK_CLOSE(message->logdet, logdet, 1e-8 * (double)nz);                        /* rounding, condition about 1e6 */
    CHECK_CLOSE(message->logdet_prior, dense_logdet(nz, prior), 1e-8 * (double)nz); /* likewise */
    for (size_t q = 0; q < k; q++) {
        double shift = -b->gw[q] + kb_dot(nz, b->Hzw + q * nz, X + k * nz);
        CHECK_CLOSE(message->b[q], shift, 1e-7 * (1 + fabs(b->gw[q]))); /* cancellation against gw */
        for (size_t r = 0; r < k; r++) {
            double expected = b->Hww[r + q * k] - kb_dot(nz, b->Hzw + r * nz, X + q * nz);
            CHECK_CLOSE(message->G[r + q * k], expected, 1e-7 * (1 + b->Hww[q + q * k])); /* likewise */
        }
    }
    kb_normal_step(s.patch, message, k, step_weights, step);
    for (size_t i = 0; i < nz; i++) {
        double expected = -X[i + k * nz];
        for (size_t q = 0; q < k; q++) expected -= X[i + q * nz] * step_weights[q];
        CHECK_CLOSE(step[i], expected, 1e-7 * (1 + fabs(expected))); /* condition about 1e6 */
    }
    kb_free(prior), kb_free(H), kb_free(X), kb_free(step);
    kb_patch_message_destroy(message);
    close_setup(&s);
}

/* trace of the hat matrix: exact from the dense inverse, sampled in the library */
static void effective_parameters_are_a_trace(void **state)
{
    (void)state;
    setup s;
    kb_patch_message *message = NULL;
    kbass_settings settings = some_terms("u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){8, 9}, false, false), &settings, 0.4);
    size_t nz = s.nz, n = s.patch->n_points;
    double *inverse = KB_NEW(double, nz *nz), *row = KB_NEW(double, nz), *unit = KB_NEW(double, n), trace = 0;
    CHECK_OK(kb_patch_message_create(s.columns, s.patch, &message, &error));
    kb_normal_assemble(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w);
    kb_normal_add_data(s.workspace, s.patch, &s.hyper, s.z);
    dense_mirror(nz, s.workspace->H);
    dense_inverse(nz, s.workspace->H, inverse);
    for (size_t i = 0; i < n; i++) {
        memset(unit, 0, n * sizeof *unit);
        unit[i] = 1;
        kb_patch_pull(s.patch, unit, row, s.workspace->data);
        for (size_t p = 0; p < nz; p++) trace += row[p] * kb_dot(nz, inverse + p * nz, row) / s.variance[0];
    }
    CHECK(kb_normal_marginalise(s.workspace, s.patch, &s.hyper, &s.all, s.z, s.w, false, true, message));
    CHECK_CLOSE(message->effective[0], trace, 0.2 * trace); /* 16 random probes: about 3 sd */
    kb_free(inverse), kb_free(row), kb_free(unit);
    kb_patch_message_destroy(message);
    close_setup(&s);
}

/* d'(G + 1/slab) d by sums, from the message that the solve left */
static void distance_is_in_the_posterior_precision(void **state)
{
    (void)state;
    setup s;
    kb_patch_solver *solver = NULL;
    kb_kernel_state *found = NULL;
    kbass_settings settings = some_terms("u,u_x,u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.4);
    CHECK_OK(kb_patch_solver_create(1, &s.patch, s.dictionary, s.columns, s.amplitude, s.variance, 1, &solver, &error));
    CHECK_OK(kb_kernel_state_create(solver, &found, &error));
    found->tau = 0.05;
    found->variance[0] = s.variance[0];
    for (size_t column = 0; column < 3; column += 2) kb_support_add(&found->support, column);
    CHECK(kb_patch_solver_regress(solver, found));
    CHECK(kb_patch_solver_iterate(solver, found, &(kb_solve_options){4, false, true, NULL}));
    double d[3] = {0.3, 5, -0.7}, w[3], expected = 0; /* the column that is not in does not count */
    for (size_t c = 0; c < 3; c++) w[c] = found->w[c] + d[c];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            expected += d[2 * i] * d[2 * j] * (solver->G[i + 2 * j] + (i == j ? 1 / solver->slab[2 * i] : 0));
    CHECK_CLOSE(kb_patch_solver_distance(solver, found, w), expected, 1e-9 * expected); /* rounding */
    CHECK_CLOSE(kb_patch_solver_distance(solver, found, found->w), 0, 0);
    kb_kernel_state_destroy(found);
    kb_patch_solver_destroy(solver);
    close_setup(&s);
}

/* Two patches that see the same agree; one whose matrix fails agrees with nothing. */
static void a_patch_that_fails_does_not_agree(void **state)
{
    (void)state;
    setup s;
    kb_patch_solver *solver = NULL;
    kb_kernel_state *found = NULL;
    kbass_settings settings = some_terms("u,u_x,u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.4);
    kb_patch *twice[] = {s.patch, s.patch};
    CHECK_OK(kb_patch_solver_create(2, twice, s.dictionary, s.columns, s.amplitude, s.variance, 1, &solver, &error));
    CHECK_OK(kb_kernel_state_create(solver, &found, &error));
    found->tau = 0.05;
    found->variance[0] = s.variance[0];
    kb_support_add(&found->support, 2);
    CHECK(kb_patch_solver_regress(solver, found));
    CHECK(kb_patch_solver_iterate(solver, found, &(kb_solve_options){4, false, true, NULL}));
    CHECK(kb_patch_solver_discord(solver, found) < 1);
    solver->messages[1]->G[0] = -1e9;
    CHECK(!(kb_patch_solver_discord(solver, found) <= 1e9));
    kb_kernel_state_destroy(found);
    kb_patch_solver_destroy(solver);
    close_setup(&s);
}

/* A known linear law makes everything Gaussian: the evidence is the density of y under R Hp^{-1} R' + v. */
static void evidence_is_the_density_of_the_data(void **state)
{
    (void)state;
    setup s;
    kb_patch_solver *solver = NULL;
    kb_kernel_state *found = NULL;
    kbass_settings settings = some_terms("u_xx");
    settings.fix = "u_t = 0.1*u_xx";
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.4);
    assert_int_equal(s.columns->n, 0);
    CHECK_OK(kb_patch_solver_create(1, &s.patch, s.dictionary, s.columns, s.amplitude, s.variance, 1, &solver, &error));
    CHECK_OK(kb_kernel_state_create(solver, &found, &error));
    found->tau = 0.05;
    found->variance[0] = s.variance[0];
    CHECK(kb_patch_solver_regress(solver, found));
    CHECK(kb_patch_solver_iterate(solver, found, &(kb_solve_options){4, false, true, NULL}));
    size_t nz = s.nz, n = s.patch->n_points;
    kb_hyper hyper = {found->tau, solver->slope_squares, s.variance, s.amplitude, 0};
    kb_normal_assemble(s.workspace, s.patch, &hyper, &s.all, found->z, s.w);
    double *R = KB_NEW(double, nz *n), *X = KB_NEW(double, nz *n), *C = KB_NEW(double, n *n), *y = KB_NEW(double, n);
    for (size_t i = 0; i < n; i++) {
        memset(y, 0, n * sizeof *y);
        y[i] = 1;
        kb_patch_pull(s.patch, y, R + i * nz, s.workspace->data);
    }
    memcpy(X, R, nz * n * sizeof *X);
    dense_mirror(nz, s.workspace->H);
    dense_solve(nz, s.workspace->H, n, X);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, nz, 1, R, nz, X, nz, 0, C, n);
    for (size_t i = 0; i < n; i++) C[i + i * n] += s.variance[0];
    memcpy(y, s.patch->value, n * sizeof *y);
    double logdet = dense_solve(n, C, 1, y), density = -0.5 * (kb_dot(n, s.patch->value, y) + logdet);
    CHECK_CLOSE(found->log_evidence, density, 1e-5 * fabs(density)); /* prior of condition 1e8 in the dense road */
    kb_free(R), kb_free(X), kb_free(C), kb_free(y);
    kb_kernel_state_destroy(found);
    kb_patch_solver_destroy(solver);
    close_setup(&s);
}

/* ---------------------------------------------------------------- levels */

static void a_field_survives_the_change_of_length_scale(void **state)
{
    (void)state;
    setup s;
    kbass_settings settings = some_terms("u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){8, 9}, false, false), &settings, 0.3);
    size_t n = s.patch->n_points;
    double *before = KB_NEW(double, n), *after = KB_NEW(double, n), *z = KB_NEW(double, s.patch->most);
    CHECK(kb_normal_regress(s.workspace, s.patch, &s.hyper, s.z));
    kb_patch_residual(s.patch, 0, s.z, before, s.workspace->data);
    CHECK_OK(kb_patch_set_level(s.patch, (kb_steps){4, 3}, &error));
    CHECK_OK(kb_patch_transfer(s.patch, (kb_steps){0, 0}, s.z, z, s.workspace->work, &error));
    kb_patch_residual(s.patch, 0, z, after, s.workspace->data);
    for (size_t i = 0; i < n; i++) CHECK_CLOSE(after[i], before[i], 2e-3); /* of sd 1: what the cut at 1e-6 leaves */
    kb_free(before), kb_free(after), kb_free(z);
    close_setup(&s);
}

/* ---------------------------------------------------------------- the bare field */

/* Fewer points than a block holds: blocks and Kronecker see the same likelihood, and so do dense matrices. */
static void length_scales_by_three_roads(void **state)
{
    (void)state;
    kbass_data *data = make_data(2, 1, (size_t[]){10, 11}, false, false);
    kb_field_samples *samples = NULL;
    kb_bare_field *grid = NULL, *blocks = NULL;
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_bare_field_fit(samples, KB_KERNEL_SE, &grid, &error));
    samples->gridded = false;
    CHECK_OK(kb_bare_field_fit(samples, KB_KERNEL_SE, &blocks, &error));
    size_t n = samples->n_points;
    for (size_t a = 0; a < 2; a++)
        CHECK_CLOSE(log(blocks->length[a]), log(grid->length[a]), 0.05); /* the compass' last step is 0.03 */
    double *K = KB_NEW(double, n *n), *y = KB_NEW(double, n);
    memcpy(y, samples->value, n * sizeof *y);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double d = 0;
            for (size_t a = 0; a < 2; a++)
                d += pow((samples->point[i + a * n] - samples->point[j + a * n]) / grid->length[a], 2);
            K[i + j * n] = grid->amplitude[0] * exp(-0.5 * d) + (i == j ? grid->variance[0] : 0);
        }
    double logdet = dense_solve(n, K, 1, y), expected = -0.5 * (kb_dot(n, samples->value, y) + logdet);
    CHECK_CLOSE(grid->log_likelihood, expected, 1e-6 * fabs(expected)); /* noise 1e-4 of the kernel: condition 1e6 */
    kb_free(K), kb_free(y);
    kb_bare_field_destroy(grid);
    kb_bare_field_destroy(blocks);
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_are_a_kronecker_product),
        cmocka_unit_test(assembly_on_a_grid),
        cmocka_unit_test(assembly_of_second_order_in_time),
        cmocka_unit_test(assembly_of_coupled_fields_with_missing_values),
        cmocka_unit_test(assembly_with_error_bars),
        cmocka_unit_test(assembly_in_two_dimensions),
        cmocka_unit_test(products_are_cut_by_eigenvalue),
        cmocka_unit_test(marginal_is_dense_elimination),
        cmocka_unit_test(effective_parameters_are_a_trace),
        cmocka_unit_test(evidence_is_the_density_of_the_data),
        cmocka_unit_test(distance_is_in_the_posterior_precision),
        cmocka_unit_test(a_patch_that_fails_does_not_agree),
        cmocka_unit_test(a_field_survives_the_change_of_length_scale),
        cmocka_unit_test(length_scales_by_three_roads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
