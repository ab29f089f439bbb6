/* Checkpoints: what is kept is found again, also from the file; damaged files and those of other calls are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checkpoint.h"
#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include "weights/likelihood.h"

static char path[80];
static kbass_error error;
static const kb_checkpoint_field fields[] = {{"version", "0.2.0"}, {"data", "abc"}, {"settings", "degree=2, noise=5%"}};
enum { FIELDS = sizeof fields / sizeof *fields, PIECES = 1000 };

static kb_work_key key_of(size_t i)
{
    kb_work_key key = kb_work_key_begin("test");
    kb_work_key_add(&key, &i, sizeof i);
    return key;
}

/* Piece i: i % 50 numbers. */
static size_t make_piece(size_t i, double *numbers)
{
    kb_random random;
    kb_random_seed(&random, i);
    for (size_t k = 0; k < i % 50; k++) numbers[k] = kb_random_normal(&random);
    return i % 50 * sizeof *numbers;
}

static kb_checkpoint *open_it(void)
{
    kb_checkpoint *c = NULL;
    CHECK_OK(kb_checkpoint_open(path, 60, FIELDS, fields, &c, &error));
    return c;
}

static void check_all(kb_checkpoint *c, size_t n)
{
    double numbers[50];
    for (size_t i = 0; i < n; i++) {
        size_t size = 0, expected = make_piece(i, numbers);
        const void *found = kb_checkpoint_find(c, key_of(i), &size);
        CHECK(found && size == expected && !memcmp(found, numbers, size));
    }
}

static void what_is_kept_is_found(void **state)
{
    (void)state;
    kb_checkpoint *c = open_it();
    double numbers[50];
    size_t size = 0, n_read = 0;
    unlink(path);
    for (size_t i = 0; i < PIECES; i++) {
        CHECK(!kb_checkpoint_find(c, key_of(i), &size));
        kb_checkpoint_keep(c, key_of(i), make_piece(i, numbers), numbers);
    }
    kb_checkpoint_keep(c, key_of(7), sizeof *numbers, numbers); /* the first result of a piece stays */
    check_all(c, PIECES);
    CHECK_OK(kb_checkpoint_write(c, &error));
    kb_checkpoint_close(c);
    c = open_it();
    check_all(c, PIECES);
    CHECK(kb_checkpoint_count(c, &n_read) == PIECES && n_read == PIECES);
    kb_checkpoint_close(c);
}

static void threads_keep_together(void **state)
{
    (void)state;
    unlink(path);
    kb_checkpoint *c = open_it();
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (size_t i = 0; i < PIECES; i++) {
        double numbers[50];
        kb_checkpoint_keep(c, key_of(i), make_piece(i, numbers), numbers);
    }
    check_all(c, PIECES);
    kb_checkpoint_close(c);
}

static void nothing_is_no_checkpoint(void **state)
{
    (void)state;
    size_t size = 0;
    CHECK(!kb_checkpoint_find(NULL, key_of(1), &size));
    kb_checkpoint_keep(NULL, key_of(1), 0, "");
    kb_checkpoint_tick(NULL);
    CHECK_OK(kb_checkpoint_write(NULL, &error));
    kb_checkpoint_close(NULL);
}

/* Every byte of a small file, changed or cut off there. */
/* Under another context nothing is known, and the old one knows its own again. */
static void contexts_are_apart(void **state)
{
    (void)state;
    size_t size = 0;
    kb_work_key context = kb_work_key_begin("K = 2");
    kb_checkpoint *c = open_it();
    kb_checkpoint_keep(c, key_of(1), 5, "first");
    kb_checkpoint_context(c, context);
    CHECK(!kb_checkpoint_find(c, key_of(1), &size));
    kb_checkpoint_keep(c, key_of(1), 6, "second");
    kb_checkpoint_context(c, (kb_work_key){0});
    const char *found = kb_checkpoint_find(c, key_of(1), &size);
    CHECK(found && size == 5 && !memcmp(found, "first", 5));
    kb_checkpoint_context(c, context);
    found = kb_checkpoint_find(c, key_of(1), &size);
    CHECK(found && size == 6 && !memcmp(found, "second", 6));
    kb_checkpoint_close(c);
}

/* ---------------------------------------------------------------- a fit that is killed on its way */

enum { STEPS = 10 };
static size_t n_steps, killed_at; /* steps taken; the one at which the process would be killed */

/* Halves the way to 1 in every step. */
static void fit_slowly(kb_likelihood *l, kb_fit *fit, int max_iterations, double rival)
{
    double at = 0;
    (void)rival;
    kb_likelihood_take_state(l, fit, 1, &at);
    for (int i = (int)at; i < max_iterations; i++) {
        if (n_steps == killed_at) return;
        fit->w[0] += (1 - fit->w[0]) / 2;
        n_steps++;
        at = i + 1;
        kb_likelihood_keep_state(l, fit, 1, &at);
    }
    fit->valid = true;
}

static kb_work_key key_of_fit(kb_likelihood *l, const kb_fit *fit, int max_iterations, double rival)
{
    (void)l, (void)fit, (void)max_iterations, (void)rival;
    return kb_work_key_begin("slow fit");
}

static double fit_with(kb_checkpoint *c, bool *is_valid)
{
    const kb_columns columns = {.n = 1};
    size_t column = 0;
    double w = 0, start = 0, variance = 1, covariance = 1;
    kb_fit fit = {.support = {.n = 1, .column = &column},
                  .w = &w,
                  .start = &start,
                  .variance = &variance,
                  .covariance = &covariance,
                  .n_windows = 1};
    kb_likelihood l = {
        .columns = &columns, .n_start = 1, .n_groups = 1, .checkpoint = c, .fit = fit_slowly, .key = key_of_fit};
    kb_run run = {.stopped =
                      killed_at <= STEPS ? -INFINITY : INFINITY}; /* one that is killed keeps nothing at its end */
    l.run = &run;
    kb_likelihood_fit(&l, &fit, STEPS, -INFINITY);
    *is_valid = fit.valid;
    return w;
}

static void a_fit_goes_on_from_its_state(void **state)
{
    (void)state;
    kb_checkpoint *c = NULL;
    bool is_valid = false;
    unlink(path);
    CHECK_OK(kb_checkpoint_open(path, 0, FIELDS, fields, &c, &error));
    n_steps = 0;
    killed_at = 4;
    fit_with(c, &is_valid);
    CHECK(!is_valid && n_steps == 4);
    CHECK_OK(kb_checkpoint_write(c, &error));
    kb_checkpoint_close(c);
    CHECK_OK(kb_checkpoint_open(path, 0, FIELDS, fields, &c, &error));
    killed_at = STEPS + 1;
    double end = fit_with(c, &is_valid);
    CHECK(is_valid && n_steps == STEPS && end == 1 - ldexp(1, -STEPS));   /* no step was taken twice */
    CHECK(fit_with(c, &is_valid) == end && is_valid && n_steps == STEPS); /* and then it is known */
    kb_checkpoint_close(c);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    unsigned char bytes[600];
    double numbers[50];
    unlink(path);
    kb_checkpoint *c = open_it();
    for (size_t i = 3; i < 6; i++) kb_checkpoint_keep(c, key_of(i), make_piece(i, numbers), numbers);
    CHECK_OK(kb_checkpoint_write(c, &error));
    kb_checkpoint_close(c);
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 200 && size < sizeof bytes);
    for (size_t i = 0; i < 2 * size; i++) {
        size_t length = i < size ? i : size;
        file = fopen(path, "wb");
        if (i >= size) bytes[i - size] ^= 4;
        CHECK(fwrite(bytes, 1, length, file) == length);
        fclose(file);
        if (i >= size) bytes[i - size] ^= 4;
        CHECK_FAILS(kb_checkpoint_open(path, 60, FIELDS, fields, &c, &error), KBASS_ERROR_FILE, "checkpoint");
    }
}

static void another_call_is_told(void **state)
{
    (void)state;
    kb_checkpoint_field other[FIELDS];
    unlink(path);
    kb_checkpoint *c = open_it();
    CHECK_OK(kb_checkpoint_write(c, &error));
    kb_checkpoint_close(c);
    memcpy(other, fields, sizeof other);
    other[2].value = "degree=3, noise=5%";
    CHECK_FAILS(kb_checkpoint_open(path, 60, FIELDS, other, &c, &error), KBASS_ERROR_FILE,
                "settings: degree=2, noise=5%, needed degree=3");
    other[1].value = "abd";
    CHECK_FAILS(kb_checkpoint_open(path, 60, FIELDS, other, &c, &error), KBASS_ERROR_FILE, "data: abc, needed abd");
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    kb_checkpoint *c = NULL;
    for (long n = 0; n < 20; n++) {
        kb_memory_fail_after(n);
        kbass_status status = kb_checkpoint_open(path, 60, FIELDS, fields, &c, &error);
        kb_memory_fail_after(-1);
        CHECK(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
        if (status == KBASS_OK) {
            kb_checkpoint_close(c);
            return;
        }
    }
    fail_msg("no number of allocations is enough");
}

/* ---------------------------------------------------------------- a discovery that is stopped again and again */

/* van der Pol, 20 samples; the checkpoint at `path` unless `is_kept` is false. */
static kbass_discovery *discover(bool is_kept, const char *threads)
{
    static double times[20], values[40];
    static const char *const names[] = {"x", "y"};
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_settings *settings = NULL;
    kbass_discovery *d = NULL;
    for (size_t i = 0; i < 20; i++) times[i] = 0.4 * (double)i;
    CHECK_OK(kbass_model_named("vdp", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 20, times, values, &error));
    CHECK_OK(kbass_data_create(20, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 3, &error));
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kbass_settings_set(settings, "threads", threads, &error));
    if (is_kept) CHECK_OK(kbass_settings_set(settings, "checkpoint", path, &error));
    if (is_kept)
        CHECK_OK(kbass_settings_set(settings, "checkpoint-every", "0.1", &error)); /* states of fits every 5 ms */
    CHECK_OK(kbass_discovery_create(data, settings, &d, &error));
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    kbass_model_destroy(model);
    return d;
}

static int stop_at(const kbass_progress *progress, void *user) { return progress->n_iterations >= *(size_t *)user; }

static void a_stopped_search_goes_on_to_the_same_answer(void **state)
{
    (void)state;
    kbass_discovery *whole = discover(false, "1");
    CHECK_OK(kbass_discovery_run(whole, NULL, NULL, &error));
    const kbass_result *expected = kbass_discovery_result(whole);
    unlink(path);
    for (size_t stop = 50; stop <= 1600; stop *= 2) {
        kbass_discovery *part = discover(true, "2");
        CHECK_OK(kbass_discovery_run(part, stop_at, &stop, &error));
        kbass_discovery_destroy(part);
    }
    kbass_discovery *last = discover(true, "2");
    CHECK_OK(kbass_discovery_run(last, NULL, NULL, &error));
    const kbass_result *found = kbass_discovery_result(last);
    CHECK(expected->outcome == KBASS_CONVERGED && found->outcome == expected->outcome);
    CHECK(found->log_evidence == expected->log_evidence && found->probability == expected->probability);
    CHECK(found->n_models == expected->n_models && found->n_starts == expected->n_starts);
    for (size_t e = 0; e < 2; e++)
        for (size_t q = 0; q < expected->equations[e].n_terms; q++) {
            const kbass_term *a = &expected->equations[e].terms[q], *b = &found->equations[e].terms[q];
            CHECK_TEXT(b->term, a->term);
            CHECK(b->weight == a->weight || (isnan(a->weight) && isnan(b->weight)));
        }
    kbass_discovery_destroy(last);
    kbass_discovery_destroy(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(threads_keep_together),
        cmocka_unit_test(nothing_is_no_checkpoint),
        cmocka_unit_test(contexts_are_apart),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(another_call_is_told),
        cmocka_unit_test(lack_of_memory_is_an_error),
        cmocka_unit_test(a_fit_goes_on_from_its_state),
        cmocka_unit_test(a_stopped_search_goes_on_to_the_same_answer),
    };
    snprintf(path, sizeof path, "/tmp/kbass-test-checkpoint-%d", (int)getpid());
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
