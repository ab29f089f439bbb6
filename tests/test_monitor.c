/* Nodes by a monitor function: ascending, dense at a front, each cell with its share of M by a quadrature of our own.
 */
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "data/data.h"
#include "gp/mesh.h"
#include "gp/monitor.h"
#include "collocation/refine_mesh.h"

enum { EVEN = 400, LINES = 7, NODES = 60 };
static kbass_error error;

/* A front at 0.3, which stands on every line. */
static double front(double s) { return tanh((s - 0.3) / 0.02); }
static double wave(double s) { return sin(2 * M_PI * s); }
static double straight(double s) { return 3 * s - 1; }
static double nothing(double s) { return s < 0.4 ? NAN : 1; }

/* M of LINES equal lines, laid out on both sides of the axis. */
static void measure(const kb_even_axis *axis, double (*q)(double), double *M)
{
    double *v = KB_NEW(double, axis->n *LINES * 2);
    for (size_t c = 0; c < 2; c++)
        for (size_t j = 0; j < axis->n; j++)
            for (size_t a = 0; a < LINES; a++)
                v[a + LINES * (j + axis->n * c)] =
                    q(axis->end * (double)j / (double)(axis->is_periodic ? axis->n : axis->n - 1));
    kb_monitor_measure(axis, LINES, 2, v, M);
    kb_free(v);
}

static void check_ascending(const kb_even_axis *axis, const double *nodes, size_t n)
{
    CHECK(nodes[0] == 0);
    for (size_t i = 1; i < n; i++) CHECK(nodes[i] > nodes[i - 1]);
    if (axis->is_periodic) CHECK(nodes[n - 1] < axis->end);
    else CHECK_CLOSE(nodes[n - 1], axis->end, 1e-12); /* rounding of a sum over EVEN cells */
}

/* M between its even points is a straight line; of a periodic axis the last point's neighbour is the first. */
static double monitor_at(const kb_even_axis *axis, const double *M, double s)
{
    double at = s / axis->end * (double)(axis->is_periodic ? axis->n : axis->n - 1);
    size_t j = (size_t)fmin(floor(at), (double)(axis->is_periodic ? axis->n - 1 : axis->n - 2));
    return M[j] + (at - (double)j) * (M[(j + 1) % axis->n] - M[j]);
}

static double quadrature(const kb_even_axis *axis, const double *M, double from, double to)
{
    enum { STEPS = 2000 };
    double sum = 0;
    for (int k = 0; k < STEPS; k++) sum += monitor_at(axis, M, from + (to - from) * (k + 0.5) / STEPS);
    return sum * (to - from) / STEPS;
}

static void check_shares(const kb_even_axis *axis, const double *M, const double *nodes, size_t n)
{
    double whole = quadrature(axis, M, 0, axis->end);
    size_t gaps = axis->is_periodic ? n : n - 1;
    for (size_t i = 0; i < gaps; i++) {
        double next = i + 1 < n ? nodes[i + 1] : axis->end, share = whole / (double)gaps;
        CHECK_CLOSE(quadrature(axis, M, nodes[i], next), share, 1e-4 * share); /* midpoints across kinks */
    }
}

/* Distances of neighbours: growth g allows d' = g, from one cell to the next about 1 + g; half as much again for the
   jump from point to point. */
static void check_growth(const double *nodes, size_t n)
{
    for (size_t i = 2; i < n; i++) {
        double ratio = (nodes[i] - nodes[i - 1]) / (nodes[i - 1] - nodes[i - 2]), most = 1 + 1.5 * KB_MONITOR_GROWTH;
        CHECK(ratio < most && ratio > 1 / most);
    }
}

static size_t count_within(const double *nodes, size_t n, double low, double high)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += nodes[i] >= low && nodes[i] <= high;
    return count;
}

static void test_front(void **state)
{
    static const kb_even_axis axes[] = {
        {EVEN, 1, false}, {EVEN, 2, true}, {EVEN, 1.25, true}}; /* the last with a jump */
    double (*const fields[])(double) = {front, wave, wave};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        double M[EVEN], nodes[NODES];
        measure(&axes[k], fields[k], M);
        CHECK_CLOSE(quadrature(&axes[k], M, 0, axes[k].end), 2,
                    1e-3); /* one half even, one half bent; midpoints of kinks */
        kb_monitor_limit(&axes[k], NODES, M);
        kb_monitor_spread(&axes[k], M, NODES, nodes);
        check_ascending(&axes[k], nodes, NODES);
        check_shares(&axes[k], M, nodes, NODES);
        check_growth(nodes, NODES);
        if (!k) CHECK(count_within(nodes, NODES, 0.2, 0.4) > 2 * NODES / 5); /* twice as dense as even, and more */
    }
}

/* b = |sin|^{1/2} is at most 1.31 of its mean 0.763: the density varies from 1 to 2.31, less after the limit. */
static void test_wave(void **state)
{
    static const kb_even_axis axis = {EVEN, 1, false};
    double M[EVEN], nodes[NODES], longest = 0, shortest = 1;
    (void)state;
    measure(&axis, wave, M);
    kb_monitor_limit(&axis, NODES, M);
    kb_monitor_spread(&axis, M, NODES, nodes);
    for (size_t i = 1; i < NODES; i++) {
        longest = fmax(longest, nodes[i] - nodes[i - 1]);
        shortest = fmin(shortest, nodes[i] - nodes[i - 1]);
    }
    CHECK(longest < 2.31 * shortest && longest < 2.0 / NODES && shortest > 0.7 / NODES);
    check_ascending(&axis, nodes, NODES);
}

/* Nothing bends: even nodes, and what is not finite has no say. */
static void test_even(void **state)
{
    static const kb_even_axis axis = {EVEN, 2, false};
    double (*const fields[])(double) = {straight, nothing};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        double M[EVEN], nodes[NODES];
        measure(&axis, fields[k], M);
        kb_monitor_limit(&axis, NODES, M);
        kb_monitor_spread(&axis, M, NODES, nodes);
        for (size_t i = 0; i < NODES; i++) CHECK_CLOSE(nodes[i], 2.0 * (double)i / (NODES - 1), 1e-12); /* rounding */
    }
}

/* ---------------------------------------------------------------- from measurements */

/* A front that stands at x = 3 of 0 to 10 while t goes from 0 to 1, with noise. */
static kbass_data *front_data(bool is_scattered)
{
    enum { NT = 12, NX = 30, N = NT * NX };
    static const char *const axes[] = {"t", "x"}, *const fields[] = {"u"};
    static double times[N], positions[N], values[N];
    kbass_data *data = NULL;
    kb_random random;
    kb_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) {
        double jitter = is_scattered ? 0.2 * (kb_random_uniform(&random) - 0.5) : 0;
        times[i] = (double)(i / NX) / (NT - 1);
        positions[i] = fmin(fmax(10.0 * (double)(i % NX) / (NX - 1) + jitter, 0), 10);
        values[i] = (1 + 0.2 * times[i]) * tanh((positions[i] - 3) / 0.5) + 0.01 * kb_random_normal(&random);
    }
    CHECK_OK(kbass_data_create_axes(N, 2, 1, times, positions, values, axes, fields, &data, &error));
    return data;
}

static kb_field_samples *lay(const kbass_data *data, const kbass_settings *settings)
{
    kb_field_samples *samples = NULL;
    kb_dictionary *dictionary = NULL;
    CHECK_OK(kb_dictionary_create_fields(settings, 1, (const char *const *)data->state_names, 2,
                                         (const char *const *)data->axis_names, &dictionary, &error));
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_mesh_lay(samples, data, settings, dictionary, &error));
    kb_dictionary_destroy(dictionary);
    return samples;
}

static void test_measured_front(void **state)
{
    kbass_settings settings;
    (void)state;
    kb_settings_default(&settings);
    settings.terms = "u, u_x"; /* no second derivative is needed for the monitor */
    for (int is_scattered = 0; is_scattered < 2; is_scattered++) {
        kbass_data *data = front_data(is_scattered);
        settings.mesh = NULL;
        kb_field_samples *open = lay(data, &settings);
        CHECK(!open->mesh[0] && !open->mesh[1]);
        settings.mesh = "auto";
        kb_field_samples *samples = lay(data, &settings);
        size_t n = kb_mesh_standard(2);
        static const kb_even_axis axis = {EVEN, 1, false};
        for (size_t a = 0; a < 2; a++) {
            CHECK(samples->n_mesh[a] == n);
            check_ascending(&axis, samples->mesh[a], n);
        }
        CHECK(count_within(samples->mesh[1], n, 0.2, 0.4) > 3 * n / 10); /* even would be 2/10 */
        CHECK(count_within(samples->mesh[1], n, 0.7, 0.9) < n / 5);
        kb_field_samples_destroy(samples);
        kb_field_samples_destroy(open);
        kbass_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_front), cmocka_unit_test(test_wave),
                                       cmocka_unit_test(test_even), cmocka_unit_test(test_measured_front)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
