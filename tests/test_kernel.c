#include <stdlib.h>

#include "base/linalg.h"
#include "check.h"
#include "kernel/basis.h"

static kbass_error error;

static const kb_kernel kernels[] = {{KB_KERNEL_SE, 0.3, 1},
                                    {KB_KERNEL_MATERN52, 0.3, 1},
                                    {KB_KERNEL_MATERN72, 0.3, 1},
                                    {KB_KERNEL_RQ, 0.3, 1},
                                    {KB_KERNEL_PERIODIC, 0.3, 0.8}};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* ---------------------------------------------------------------- kernels */

/* The formulas of the textbooks, at distance d. */
static double textbook(const kb_kernel *k, double d)
{
    double l = k->length, x = fabs(d) / l, y5 = sqrt(5) * x, y7 = sqrt(7) * x, s = sin(M_PI * d / k->period);
    double c = 2 * M_PI * l / k->period;
    switch (k->kind) {
    case KB_KERNEL_MATERN52: return (1 + y5 + y5 * y5 / 3) * exp(-y5);
    case KB_KERNEL_MATERN72: return (1 + y7 + 2 * y7 * y7 / 5 + y7 * y7 * y7 / 15) * exp(-y7);
    case KB_KERNEL_RQ: return 1 / (1 + x * x / 2);
    case KB_KERNEL_PERIODIC: return exp(-2 * s * s / (c * c));
    default: return exp(-x * x / 2);
    }
}

static void test_values(void **state)
{
    (void)state;
    for (int i = 0; i < N_KERNELS; i++)
        for (double t = -1; t <= 1; t += 0.09)
            CHECK_CLOSE(kb_kernel_derivative(&kernels[i], t, 0.25, 0), textbook(&kernels[i], t - 0.25),
                        1e-15); /* ulps of 1 */
}

/* Every order against the central difference of the order below it. */
static void test_differences(void **state)
{
    const double h = 1e-5;
    (void)state;
    for (int i = 0; i < N_KERNELS; i++)
        for (int order = 1; order <= KB_KERNEL_MAX_ORDER; order++)
            for (double t = -0.93; t <= 1; t += 0.13) {
                double above = kb_kernel_derivative(&kernels[i], t + h, 0, order - 1);
                double below = kb_kernel_derivative(&kernels[i], t - h, 0, order - 1);
                double unit =
                    pow(5 / kernels[i].length, order + 2); /* Taylor coefficients grow like (2 nu)^(q/2) / l^q */
                CHECK_CLOSE(kb_kernel_derivative(&kernels[i], t, 0, order), (above - below) / (2 * h),
                            h * h * unit + 1e-10 * unit); /* truncation h^2 f'''/6, rounding 1e-16 / h */
            }
}

/* d^q/dx^q exp(-x^2/2) = (-1)^q He_q(x) exp(-x^2/2),  He_{q+1} = x He_q - q He_{q-1} */
static void test_hermite(void **state)
{
    const kb_kernel *se = &kernels[0];
    (void)state;
    for (double t = -1.2; t <= 1.2; t += 0.05) {
        double x = t / se->length, before = 0, he = 1, unit = 1;
        for (int q = 0; q <= KB_KERNEL_MAX_ORDER; q++) {
            double expected = unit * he * exp(-x * x / 2);
            CHECK_CLOSE(kb_kernel_derivative(se, t, 0, q), expected, 1e-12 * fabs(unit) * 400); /* 400 > max |He_q e| */
            double next = x * he - q * before;
            before = he;
            he = next;
            unit *= -1 / se->length;
        }
    }
}

/* Computed once with 40 digits (mpmath.taylor of the textbook formulas). */
static void test_golden(void **state)
{
    static const struct {
        int kernel, order;
        double t, value;
    } golden[] = {{0, 3, 0.2, 50.526639964572249}, {1, 2, 0.2, -1.1197626623110306}, {2, 3, 0.2, 71.612513567695564},
                  {3, 4, 0.2, -264.8850364170356}, {4, 3, 0.2, 70.517159456674155},  {4, 5, -0.1, 10728.478822690432}};
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)
        CHECK_CLOSE(kb_kernel_derivative(&kernels[golden[i].kernel], golden[i].t, 0, golden[i].order), golden[i].value,
                    1e-12 * fabs(golden[i].value)); /* golden to 16 digits, a few rounded sums */
}

/* As far as the kernel is smooth, derivatives from the left and the right agree at distance 0, and odd ones vanish. */
static void test_smooth_at_zero(void **state)
{
    (void)state;
    for (int i = 0; i < N_KERNELS; i++)
        for (int q = 0; q <= 2 * kb_kernel_highest_derivative(kernels[i].kind); q++) {
            double right = kb_kernel_derivative(&kernels[i], 1e-12, 0, q);
            double left = kb_kernel_derivative(&kernels[i], -1e-12, 0, q);
            double slack = 1e-9 * pow(9 / kernels[i].length, q + 1); /* 1e-12 away, slope of the next order */
            CHECK_CLOSE(left, right, slack);
            if (q % 2) CHECK_CLOSE(right, 0, slack); /* likewise */
        }
}

static void test_periodic(void **state)
{
    const kb_kernel *k = &kernels[4];
    (void)state;
    for (int q = 0; q <= KB_KERNEL_MAX_ORDER; q++)
        for (double t = -0.4; t < 0.4; t += 0.07) {
            double here = kb_kernel_derivative(k, t, 0, q), size = pow(9 / k->length, q);
            CHECK_CLOSE(kb_kernel_derivative(k, t + k->period, 0, q), here, 1e-13 * size); /* rounding of t + period */
            CHECK_CLOSE(kb_kernel_derivative(k, t - 3 * k->period, 0, q), here, 1e-13 * size); /* likewise */
        }
}

/* ---------------------------------------------------------------- basis */

enum { N = 60, M = 17 };

typedef struct {
    kb_basis *basis;
    double mesh[N], points[M], work[N * N];
    double *at_mesh, *at_points;
} fixture;

static double *features(const fixture *f, size_t n, const double *points, int order, double *work)
{
    double *out = calloc(n * f->basis->rank, sizeof *out);
    kb_basis_features(f->basis, n, points, order, out, work);
    return out;
}

static void begin(fixture *f, const kb_kernel *kernel)
{
    f->basis = NULL;
    for (int i = 0; i < N; i++) f->mesh[i] = i / (N - 1.0);
    for (int i = 0; i < M; i++) f->points[i] = (i + 0.4) / M;
    CHECK_OK(kb_basis_create(kernel, N, f->mesh, &f->basis, &error));
    f->at_mesh = features(f, N, f->mesh, 0, f->work);
    f->at_points = features(f, M, f->points, 0, f->work);
}

static void end(fixture *f)
{
    free(f->at_mesh);
    free(f->at_points);
    kb_basis_destroy(f->basis);
}

/* sum_q a[i, q] b[j, q] */
static double product(size_t rank, const double *a, size_t lda, size_t i, const double *b, size_t ldb, size_t j)
{
    double sum = 0;
    for (size_t q = 0; q < rank; q++) sum += a[i + q * lda] * b[j + q * ldb];
    return sum;
}

static void test_features_reproduce_kernel(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < N_KERNELS; kernel++) {
        fixture f;
        begin(&f, &kernels[kernel]);
        CHECK(f.basis->rank > 4 && f.basis->rank <= N);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                CHECK_CLOSE(product(f.basis->rank, f.at_mesh, N, i, f.at_mesh, N, j),
                            textbook(&kernels[kernel], f.mesh[i] - f.mesh[j]), 1e-10 * N); /* the cut, lambda_max < N */
        end(&f);
    }
}

/* On the mesh the columns are orthogonal, their squares the eigenvalues, falling. */
static void test_orthogonal(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < N_KERNELS; kernel++) {
        fixture f;
        double last = INFINITY;
        begin(&f, &kernels[kernel]);
        for (size_t p = 0; p < f.basis->rank; p++)
            for (size_t q = 0; q <= p; q++) {
                double dot = kb_dot(N, f.at_mesh + p * N, f.at_mesh + q * N);
                if (q < p) CHECK_CLOSE(dot, 0, 1e-8); /* rounding 1e-15 N, magnified by 1/sqrt(lambda) <= 1e5 */
                else {
                    CHECK(dot > 0.9e-10 && dot <= last * (1 + 1e-6));
                    last = dot;
                }
            }
        end(&f);
    }
}

/* Between mesh points the features are smooth kernels' own Nystroem sums: k(t, t') itself, while k is smooth. */
static void test_between_mesh_points(void **state)
{
    fixture f;
    (void)state;
    begin(&f, &kernels[0]);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++)
            CHECK_CLOSE(product(f.basis->rank, f.at_points, M, i, f.at_points, M, j),
                        textbook(&kernels[0], f.points[i] - f.points[j]),
                        1e-8); /* what the cut leaves out, with room */
    end(&f);
}

static void test_feature_derivatives(void **state)
{
    const double h = 1e-4;
    (void)state;
    for (int kernel = 0; kernel < N_KERNELS; kernel++) {
        fixture f;
        double above[M], below[M];
        begin(&f, &kernels[kernel]);
        for (int i = 0; i < M; i++) above[i] = f.points[i] + h, below[i] = f.points[i] - h;
        for (int order = 1; order <= 2; order++) {
            double *exact = features(&f, M, f.points, order, f.work);
            double *up = features(&f, M, above, order - 1, f.work), *down = features(&f, M, below, order - 1, f.work);
            for (size_t i = 0; i < M * f.basis->rank; i++) /* third derivatives of features: up to 5e4 of their size */
                CHECK_CLOSE((up[i] - down[i]) / (2 * h), exact[i], h * h * 5e5);
            free(exact);
            free(up);
            free(down);
        }
        end(&f);
    }
}

/* A large mesh: its pivots make the same features, orthogonal, that give the kernel back on the mesh and between. */
static void test_pivots(void **state)
{
    enum { LARGE = 700 };
    (void)state;
    double *mesh = calloc(LARGE, sizeof *mesh), *work = calloc((size_t)LARGE * LARGE, sizeof *work);
    for (int i = 0; i < LARGE; i++) mesh[i] = i / (LARGE - 1.0);
    for (int kernel = 0; kernel < N_KERNELS; kernel++) {
        fixture f = {0};
        CHECK_OK(kb_basis_create(&kernels[kernel], LARGE, mesh, &f.basis, &error));
        CHECK(f.basis->rank <= f.basis->n_nodes && f.basis->n_nodes <= LARGE);
        double *at = features(&f, LARGE, mesh, 0, work), last = INFINITY;
        for (size_t i = 0; i < LARGE; i += 23)
            for (size_t j = 0; j < LARGE; j += 31)
                CHECK_CLOSE(product(f.basis->rank, at, LARGE, i, at, LARGE, j),
                            textbook(&kernels[kernel], mesh[i] - mesh[j]), 1e-10 * LARGE); /* the cut, lambda_max < n */
        for (size_t p = 0; p < f.basis->rank; p += 7) {
            double own = kb_dot(LARGE, at + p * LARGE, at + p * LARGE);
            CHECK(own > 0 && own <= last * (1 + 1e-6));
            last = own;
            for (size_t q = 0; q < p; q += 5)
                CHECK_CLOSE(kb_dot(LARGE, at + p * LARGE, at + q * LARGE), 0, 1e-6); /* 1e-16 n / pivot_cut^(1/2) */
        }
        free(at);
        kb_basis_destroy(f.basis);
    }
    free(mesh);
    free(work);
}

static void test_bad_kernel(void **state)
{
    static const double mesh[] = {0, 0.5, 1};
    const kb_kernel broken = {KB_KERNEL_SE, NAN, 1};
    kb_basis *basis = NULL;
    (void)state;
    CHECK_FAILS(kb_basis_create(&broken, 3, mesh, &basis, &error), KBASS_ERROR_NUMERICAL, "3 mesh points");
    CHECK(basis == NULL);
    kb_basis_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_hermite),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_smooth_at_zero),
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_features_reproduce_kernel),
        cmocka_unit_test(test_orthogonal),
        cmocka_unit_test(test_between_mesh_points),
        cmocka_unit_test(test_feature_derivatives),
        cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_bad_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
