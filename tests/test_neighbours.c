/* The search around fitted models: a fit that ended in a poor minimum is found out by a neighbour. */
#include "search/neighbours.h"
#include "search/polish.h"
#include "ode_setup.h"

enum { ROWS = 41 };

static const char *const equations[] = {"x_t = y", "y_t = 1.5*(1 - x^2)*y - x"};

typedef struct {
    setup s;
    kb_workers workers;
    kb_windows *windows;
    kb_pool pool;
    kb_run run;
} fixture;

static kbass_status make(const void *context, kb_likelihood **out, kbass_error *why)
{
    const setup *s = context;
    kb_shooter *shooter = NULL;
    kbass_status status = kb_shooter_create(s->record, s->dictionary, s->columns, 1, s->columns->n, &shooter, why);
    if (status == KBASS_OK) *out = &shooter->likelihood;
    return status;
}

static void begin(fixture *f)
{
    static const double initial[] = {1, 0.5};
    kbass_settings settings;
    kb_settings_default(&settings);
    settings.terms = "x, y, x^2*y, x*y";
    *f = (fixture){0};
    kbass_data *data = setup_sample(2, equations, initial, ROWS, 8);
    CHECK_OK(kbass_data_add_noise(data, 2, 3, &error));
    setup_open(&f->s, data, &settings, 200);
    const kb_columns *columns = f->s.columns;
    CHECK_OK(kb_workers_create(1, make, &f->s, columns, &f->workers, &error));
    CHECK_OK(kb_windows_divide(ROWS, 1, &f->windows, &error));
    kb_pool_init(&f->pool, columns->n, 2, 1);
    kb_run_begin(&f->run, NULL, NULL, 0);
}

static void end(fixture *f)
{
    kb_pool_clear(&f->pool);
    kb_windows_destroy(f->windows);
    kb_workers_destroy(&f->workers);
    setup_close(&f->s);
}

/* The law, with x*y in the second equation when asked for, fitted from weights near the truth. */
static kb_fit *add_law(fixture *f, bool with_extra)
{
    kb_fit *fit = NULL;
    double w[16] = {0};
    f->s.support.n = 0;
    setup_include(&f->s, 0, "y", 1, w);
    setup_include(&f->s, 1, "x", -1, w);
    setup_include(&f->s, 1, "y", 1.5, w);
    setup_include(&f->s, 1, "x^2*y", -1.5, w);
    if (with_extra) setup_include(&f->s, 1, "x*y", 0, w);
    CHECK_OK(kb_pool_add(&f->pool, &f->s.support, &fit, &error));
    memcpy(fit->w, w, f->s.columns->n * sizeof *w);
    for (size_t i = 0; i < 2; i++) {
        fit->variance[i] = 0.01;
        fit->start[i] = f->s.record->value[i * ROWS];
    }
    f->workers.list[0]->likelihood->windows = f->windows;
    kb_likelihood_fit(f->workers.list[0]->likelihood, fit, 40, -INFINITY);
    CHECK(fit->valid && fit->converged);
    return fit;
}

static void a_poor_minimum_is_left(void **state)
{
    fixture f;
    bool settled = false;
    (void)state;
    begin(&f);
    add_law(&f, true);
    kb_fit *law = add_law(&f, false);
    double evidence = law->log_evidence;
    law->log_evidence -= 40; /* as if the fit had stopped far away, the search been here, and the fit thought final */
    for (size_t q = 0; q < law->support.n; q++) law->w[law->support.column[q]] *= 0.5;
    f.pool.explored[1] = true;
    kb_search search = {.schedule = &kb_schedule_of_states.value,
                        .columns = f.s.columns,
                        .all = &f.s.all,
                        .workers = f.workers,
                        .pool = &f.pool,
                        .windows = f.windows,
                        .run = &f.run};
    CHECK_OK(kb_search_explore(&search, 1, 1, &settled, &error));
    CHECK(f.pool.fits[0] == law);
    CHECK_CLOSE(law->log_evidence, evidence, 0.02); /* fits end within 0.005 nats of their maximum */
    end(&f);
}

/* The last polish fits what its messages say may be better, and goes on from there. */
static void no_answer_has_a_better_neighbour(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    double more = add_law(&f, true)->log_evidence;
    kb_search_result result = {.pool = f.pool};
    const kb_task task = {.schedule = &kb_schedule_of_states.value};
    kb_pass pass = {.task = &task, .result = &result};
    pass.search = (kb_search){.schedule = task.schedule,
                              .columns = f.s.columns,
                              .all = &f.s.all,
                              .workers = f.workers,
                              .pool = &result.pool,
                              .windows = f.windows,
                              .run = &f.run};
    CHECK_OK(kb_polish(&pass, &error));
    CHECK(result.pool.n > 1 && result.pool.fits[0]->log_evidence > more);
    CHECK(result.pool.fits[0]->support.n == 4 && result.pool.fits[0]->converged);
    f.pool = (kb_pool){0};
    kb_search_result_clear(&result);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_poor_minimum_is_left),
                                       cmocka_unit_test(no_answer_has_a_better_neighbour)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
