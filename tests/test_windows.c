/* Merging windows on a chaotic record: from short windows to one, with the true weights. */
#include "forward/shoot.h"
#include "search/windows.h"
#include "ode_setup.h"

enum { ROWS = 101, WINDOWS = 16 };

static const char *const equations[] = {"x_t = 10*(y - x)", "y_t = 28*x - x*z - y", "z_t = x*y - 2.6666666666666665*z"};
static const struct {
    size_t equation;
    const char *term;
    double weight;
} law[] = {{0, "x", -10}, {0, "y", 10}, {1, "x", 28}, {1, "y", -1}, {1, "x*z", -1}, {2, "x*y", 1}, {2, "z", -8.0 / 3}};
enum { TERMS = sizeof law / sizeof *law };

static double noise_of(const kb_shooter *s, const kb_fit *fit) { return s->likelihood.noise(&s->likelihood, fit); }

typedef struct {
    setup s;
    kb_shooter *shooter;
    kb_fit *fit;
    kb_windows *windows[5]; /* 16, 8, 4, 2, 1 */
} fixture;

/* The law with weights off by a few percent, starts from the bare field. */
static void begin(fixture *f)
{
    static const double initial[] = {-8, 7, 27};
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = "x, y, z, x*y, x*z";
    *f = (fixture){0};
    kbass_data *data = setup_sample(3, equations, initial, ROWS, 5);
    CHECK_OK(kbass_data_add_noise(data, 1, 3, &error));
    setup_open(&f->s, data, &settings, 400);
    const setup *s = &f->s;
    CHECK_OK(kb_shooter_create(s->record, s->dictionary, s->columns, WINDOWS, s->columns->n, &f->shooter, &error));
    CHECK_OK(kb_fit_create(s->columns->n, 3, WINDOWS, s->columns->n, &f->fit, &error));
    for (size_t i = 0; i < 5; i++) CHECK_OK(kb_windows_divide(s->record->n_rows, WINDOWS >> i, &f->windows[i], &error));
    for (size_t i = 0; i < TERMS; i++)
        setup_include(&f->s, law[i].equation, law[i].term, law[i].weight * (i % 2 ? 1.04 : 0.97), f->fit->w);
    kb_support_copy(&f->s.support, &f->fit->support);
    for (size_t i = 0; i < 3; i++) f->fit->variance[i] = 0.01;
    f->fit->n_windows = WINDOWS;
    for (size_t window = 0; window < WINDOWS; window++)
        for (size_t i = 0; i < 3; i++) {
            size_t row = f->windows[0]->first[window];
            f->fit->start[3 * window + i] = s->record->value[row + i * ROWS];
        }
}

static void end(fixture *f)
{
    for (size_t i = 0; i < 5; i++) kb_windows_destroy(f->windows[i]);
    kb_fit_destroy(f->fit);
    kb_shooter_destroy(f->shooter);
    setup_close(&f->s);
}

static void one_window_with_the_true_weights(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    f.shooter->likelihood.windows = f.windows[0];
    kb_shooter_fit(f.shooter, f.fit, 40, -INFINITY);
    CHECK(f.fit->valid);
    for (size_t i = 0; i + 1 < 5; i++) {
        CHECK_OK(kb_fit_merge(&f.shooter->likelihood, f.windows[i], f.windows[i + 1], f.fit, &error));
        CHECK(f.fit->valid && f.fit->n_windows == f.windows[i + 1]->n);
    }
    CHECK_CLOSE(sqrt(noise_of(f.shooter, f.fit)), 0.01, 0.002); /* 303 values: 4 %, and the noise's own draw */
    for (size_t q = 0; q < TERMS; q++) {
        size_t column = setup_column(&f.s, law[q].equation, law[q].term);
        double weight = f.fit->w[column] * f.s.columns->unit[column];
        CHECK_CLOSE(weight, law[q].weight, 0.01 * fabs(law[q].weight)); /* chaos makes them sharp: 1e-3 and better */
    }
    end(&f);
}

/* From the same beginning, one window at once does not find the way: what merging is for. */
static void a_single_window_is_lost(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    f.shooter->likelihood.windows = f.windows[4];
    kb_shooter_fit(f.shooter, f.fit, 40, -INFINITY);
    CHECK(!f.fit->valid || sqrt(noise_of(f.shooter, f.fit)) > 0.1); /* ten times the noise */
    end(&f);
}

/* Threads take fits as they come: a shooter that has fitted nothing must judge as one that has. */
static void any_shooter_merges_alike(void **state)
{
    fixture f;
    kb_shooter *fresh = NULL;
    kb_fit *copy = NULL;
    (void)state;
    begin(&f);
    f.shooter->likelihood.windows = f.windows[0];
    kb_shooter_fit(f.shooter, f.fit, 40, -INFINITY);
    CHECK_OK(kb_shooter_create(f.s.record, f.s.dictionary, f.s.columns, WINDOWS, f.s.columns->n, &fresh, &error));
    CHECK_OK(kb_fit_create(f.s.columns->n, 3, WINDOWS, f.s.columns->n, &copy, &error));
    kb_fit_copy(f.fit, copy, f.s.columns->n, 3);
    CHECK(noise_of(fresh, copy) == noise_of(f.shooter, f.fit));
    CHECK_OK(kb_fit_merge(&f.shooter->likelihood, f.windows[0], f.windows[1], f.fit, &error));
    CHECK_OK(kb_fit_merge(&fresh->likelihood, f.windows[0], f.windows[1], copy, &error));
    CHECK(copy->log_evidence == f.fit->log_evidence);
    kb_fit_destroy(copy);
    kb_shooter_destroy(fresh);
    end(&f);
}

/* From a start below 0 growth to a limit falls without bound. The first rows alone say that the start is above. */
static void a_model_that_runs_away_grows_with_its_windows(void **state)
{
    static const char *const growth[] = {"x_t = x - x^2"};
    static const double initial[] = {0.02};
    setup s;
    kbass_settings settings;
    kb_shooter *shooter = NULL;
    kb_fit *fit = NULL;
    kb_windows *windows = NULL;
    (void)state;
    kb_settings_default(&settings);
    settings.terms = "x, x^2";
    setup_open(&s, setup_sample(1, growth, initial, ROWS, 12), &settings, 400);
    CHECK_OK(kb_shooter_create(s.record, s.dictionary, s.columns, 1, s.columns->n, &shooter, &error));
    CHECK_OK(kb_fit_create(s.columns->n, 1, 1, s.columns->n, &fit, &error));
    CHECK_OK(kb_windows_divide(ROWS, 1, &windows, &error));
    setup_include(&s, 0, "x", 1, fit->w);
    setup_include(&s, 0, "x^2", -1, fit->w);
    kb_support_copy(&s.support, &fit->support);
    fit->variance[0] = 1e-4;
    fit->start[0] = s.record->value[0] - 0.2; /* sds: the sample is 0.02, the start -0.06 */
    shooter->likelihood.windows = windows;
    kb_shooter_fit(shooter, fit, 40, -INFINITY);
    CHECK(!fit->valid && fit->log_likelihood == -INFINITY);
    CHECK(kb_fit_grow(&shooter->likelihood, 40, -INFINITY, fit) && fit->n_rows == ROWS);
    CHECK_CLOSE(fit->start[0], s.record->value[0], 1e-2); /* there is no noise but the variance's floor */
    CHECK(shooter->likelihood.windows == windows);
    kb_windows_destroy(windows);
    kb_fit_destroy(fit);
    kb_shooter_destroy(shooter);
    setup_close(&s);
}

static void lack_of_memory_is_an_error(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    f.shooter->likelihood.windows = f.windows[0];
    kb_shooter_fit(f.shooter, f.fit, 10, -INFINITY);
    for (long n = 0; n < 3; n++) {
        kb_memory_fail_after(n);
        CHECK(kb_fit_merge(&f.shooter->likelihood, f.windows[0], f.windows[1], f.fit, &error) == KBASS_ERROR_MEMORY);
        kb_memory_fail_after(-1);
    }
    CHECK(f.fit->n_windows == WINDOWS); /* untouched */
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_window_with_the_true_weights),
        cmocka_unit_test(a_single_window_is_lost),
        cmocka_unit_test(any_shooter_merges_alike),
        cmocka_unit_test(a_model_that_runs_away_grows_with_its_windows),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
