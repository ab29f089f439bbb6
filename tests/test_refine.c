/* Finer resolutions, with a likelihood whose fits err by what the resolution says: which models are fitted where. */
#include <math.h>

#include "check.h"
#include "search/refine.h"

enum { COLUMNS = 3, FINEST = 6 };

static kbass_error error;

typedef struct {
    kb_likelihood likelihood;
    size_t level;
    size_t fitted[FINEST + 1]; /* models, by level */
} resolved;

static resolved world;

/* Weights off by 8^-level sds; the evidence gains 40 nats from level 0 to 1 and next to nothing after it. */
static void fit_model(kb_likelihood *l, kb_fit *fit, int iterations, double rival)
{
    (void)l, (void)iterations, (void)rival;
    double sd = 0.01, wrong = pow(8, -(double)world.level);
    for (size_t q = 0; q < fit->support.n; q++) {
        fit->w[fit->support.column[q]] = 1 + 3 * sd * wrong;
        fit->covariance[q + q * fit->support.n] = sd * sd;
    }
    fit->log_evidence = fit->log_likelihood = (world.level ? 100 - wrong : 60) - 5 * (double)fit->support.n;
    fit->misfit = 0.1;
    fit->valid = fit->converged = true;
    world.fitted[world.level]++;
}

static double no_floor(const kb_likelihood *l) { return (void)l, 0; }

static kbass_status make_finer(kb_pass *p, kbass_error *why)
{
    (void)why;
    p->is_over = world.level == FINEST;
    if (!p->is_over) world.level++;
    return KBASS_OK;
}

static kbass_status make_coarser(kb_pass *p, kbass_error *why)
{
    (void)p, (void)why;
    world.level--;
    return KBASS_OK;
}

static const kb_schedule schedule = {.refined = 2, .fit_iterations = 1};
static const kb_task task = {.schedule = &schedule, .refine = make_finer, .step_back = make_coarser};

/* Models of one, two and three terms, fitted on the coarsest level. */
static void fill(kb_pool *pool)
{
    kb_support support;
    CHECK_OK(kb_support_create(COLUMNS, &support, &error));
    kb_pool_init(pool, COLUMNS, 1, 1);
    for (size_t n = 0; n < COLUMNS; n++) {
        kb_fit *fit = NULL;
        kb_support_add(&support, n);
        CHECK_OK(kb_pool_add(pool, &support, &fit, &error));
        fit_model(NULL, fit, 1, 0);
    }
    kb_pool_sort(pool);
    kb_support_clear(&support);
}

static void best_goes_ahead(void **state)
{
    (void)state;
    size_t equation[COLUMNS] = {0};
    kb_columns columns = {.n = COLUMNS, .equation = equation};
    kb_search_result result = {0};
    kb_run run;
    kb_search_worker worker = {.likelihood = &world.likelihood}, *list[] = {&worker};
    world = (resolved){
        .likelihood = {.columns = &columns, .n_start = 1, .n_groups = 1, .fit = fit_model, .floor = no_floor}};
    kb_run_begin(&run, NULL, NULL, 0);
    fill(&result.pool);
    kb_pass p = {.task = &task, .result = &result};
    p.search = (kb_search){.schedule = &schedule,
                           .run = &run,
                           .pool = &result.pool,
                           .columns = &columns,
                           .workers = {.n = 1, .list = list}};
    CHECK_OK(kb_refine_resolution(&p, 0.05, &error));
    assert_int_equal(world.level, 2);     /* on the third the best model moved by 0.04 sds */
    assert_int_equal(world.fitted[1], 1); /* the best alone */
    assert_int_equal(world.fitted[2], 3); /* and the best two where it stays */
    assert_int_equal(world.fitted[3], 1);
    assert_int_equal(result.pool.n, 2);
    for (size_t i = 0; i < result.pool.n; i++) /* all of one resolution */
        assert_true(fabs(result.pool.fits[i]->w[0] - 1 - 0.03 / 64) < 1e-12);
    kb_search_result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_goes_ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
