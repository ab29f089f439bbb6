/* Records that are written in pieces, against the table of the same grid; and the files they are written to. */
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "data/data.h"
#include "check.h"

static kbass_error error;

static kbass_model *burgers(void)
{
    const char *equation = "u_t = -u*u_x + 0.1*u_xx";
    kbass_model *pde = NULL;
    CHECK_OK(kbass_model_parse(
        1, &equation, &(kbass_model_options){.domain = "x=-8:8, t=0:8", .initial = "exp(-(x-1)^2/3)"}, &pde, &error));
    return pde;
}

static kbass_data *written(const kbass_model *pde, const size_t *counts, double noise, const char *ending)
{
    char file[300];
    kbass_data *data = NULL;
    snprintf(file, sizeof file, "/tmp/kbass-record-%ld%s", (long)getpid(), ending);
    CHECK_OK(kbass_model_write(pde, counts, noise, 7, file, &error));
    CHECK_OK(kbass_data_read(file, NULL, &data, &error));
    unlink(file);
    return data;
}

static double farthest(const kbass_data *a, const kbass_data *b)
{
    double most = 0;
    CHECK(a->n_rows == b->n_rows && a->n_states == b->n_states && a->n_axes == b->n_axes);
    for (size_t i = 0; i < a->n_rows; i++) {
        CHECK_CLOSE(a->times[i], b->times[i], 1e-12);
        CHECK_CLOSE(a->positions[i], b->positions[i], 1e-12);
        most = fmax(most, fabs(a->values[i] - b->values[i]));
    }
    return most;
}

/* 5000 rows of 20 points are two stretches. */
static void stretches_go_on_where_the_last_ended(void **state)
{
    const size_t counts[] = {5000, 20};
    kbass_model *pde = burgers();
    kbass_data *whole = NULL, *npz = written(pde, counts, 0, ".npz"), *h5 = written(pde, counts, 0, ".h5");
    (void)state;
    CHECK_OK(kbass_model_grid(pde, counts, &whole, &error));
    CHECK(farthest(npz, whole) < 1e-5); /* each stretch is solved to 1e-7 of the largest value, and tolerates 1e-6 */
    CHECK(farthest(npz, h5) == 0);
    kbass_data_destroy(whole);
    kbass_data_destroy(npz);
    kbass_data_destroy(h5);
    kbass_model_destroy(pde);
}

static void noise_is_a_share_of_the_standard_deviation(void **state)
{
    const size_t counts[] = {200, 40};
    kbass_model *pde = burgers();
    kbass_data *clean = written(pde, counts, 0, ".h5"), *noisy = written(pde, counts, 20, ".h5");
    double sum = 0, squares = 0, noise = 0, n = (double)clean->n_rows;
    (void)state;
    for (size_t i = 0; i < clean->n_rows; i++) {
        sum += clean->values[i];
        squares += clean->values[i] * clean->values[i];
        noise += (noisy->values[i] - clean->values[i]) * (noisy->values[i] - clean->values[i]);
    }
    double variance = squares / n - sum / n * (sum / n);
    CHECK_CLOSE(noise / n / variance, 0.04, 0.003); /* 8000 squares: 1.6 % of it, times five */
    kbass_data_destroy(clean);
    kbass_data_destroy(noisy);
    kbass_model_destroy(pde);
}

/* Columns of a table of states, in each kind of file. */
static void tables_become_arrays(void **state)
{
    static const char *const endings[] = {".npy", ".npz", ".h5"}, *const names[] = {"x", "y"};
    const double times[] = {0, 0.5, 2}, values[] = {1, 2, 3, NAN, 5, 6};
    kbass_data *table = NULL;
    (void)state;
    CHECK_OK(kbass_data_create(3, 2, times, values, NULL, names, &table, &error));
    for (size_t i = 0; i < 3; i++) {
        char file[300];
        kbass_data *read = NULL;
        snprintf(file, sizeof file, "/tmp/kbass-record-%ld%s", (long)getpid(), endings[i]);
        CHECK_OK(kbass_data_write(table, file, &error));
        CHECK_OK(kbass_data_read(file, NULL, &read, &error));
        CHECK(read->n_rows == 3 && read->n_states == 2 && read->times[2] == 2);
        CHECK(read->values[0] == 1 && isnan(read->values[3]) && read->values[5] == 6);
        unlink(file);
        kbass_data_destroy(read);
    }
    kbass_data_destroy(table);
}

static void what_cannot_be_written_is_told(void **state)
{
    const size_t counts[] = {20, 20}, few[] = {20, 1};
    const char *equation = "u_tt = u_xx", *two[] = {"u_t = u_xx", "v_t = v_xx"};
    kbass_model *pde = burgers(), *wave = NULL, *pair = NULL;
    (void)state;
    CHECK_FAILS(kbass_model_write(pde, counts, 0, 1, "/no/such/folder/u.h5", &error), KBASS_ERROR_FILE,
                "cannot be written");
    CHECK_FAILS(kbass_model_write(pde, few, 0, 1, "/tmp/kbass-record.npz", &error), KBASS_ERROR_ARGUMENT, "2 or more");
    CHECK_FAILS(kbass_model_write(pde, counts, -1, 1, "/tmp/kbass-record.npz", &error), KBASS_ERROR_ARGUMENT, "noise");
    CHECK_OK(kbass_model_parse(
        1, &equation, &(kbass_model_options){.domain = "x=0:1, t=0:1", .initial = "u=sin(2*pi*x)"}, &wave, &error));
    CHECK_FAILS(kbass_model_write(wave, counts, 0, 1, "/tmp/kbass-record.npz", &error), KBASS_ERROR_ARGUMENT,
                "second order");
    CHECK_OK(kbass_model_parse(
        2, two, &(kbass_model_options){.domain = "x=0:1, t=0:1", .initial = "u=sin(2*pi*x); v=0"}, &pair, &error));
    CHECK_FAILS(kbass_model_write(pair, counts, 0, 1, "/tmp/kbass-record.npy", &error), KBASS_ERROR_ARGUMENT,
                "one array");
    CHECK(access("/tmp/kbass-record.npz", F_OK) != 0);
    kbass_model_destroy(pde);
    kbass_model_destroy(wave);
    kbass_model_destroy(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stretches_go_on_where_the_last_ended),
                                       cmocka_unit_test(noise_is_a_share_of_the_standard_deviation),
                                       cmocka_unit_test(tables_become_arrays),
                                       cmocka_unit_test(what_cannot_be_written_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
