/* What asks the clock: length scales of the bare field while setting up, messages of patches, the verdict on fields.
   Without a limit, or with time left, nothing changes. */
#include "base/budget.h"
#include "base/run.h"
#include "evidence/without_law_fields.h"
#include "gp/bare_field.h"
#include "patch_setup.h"
#include "collocation/patch_solver.h"

/* A run whose limit, and what may pass it, are over. */
static void begin_late(kb_run *run)
{
    kb_run_begin(run, NULL, NULL, 1);
    run->start -= 10;
    run->end -= 10;
    CHECK(!kb_run_continue(run, 0) && kb_run_left(run) < 0);
}

static void length_scales_ask_the_budget(void **state)
{
    (void)state;
    kbass_data *data = make_data(2, 1, (size_t[]){10, 11}, false, false);
    kb_field_samples *samples = NULL;
    kb_bare_field *field = NULL;
    kb_budget budget;
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_budget_begin(&budget, NULL, 5, &error));
    kb_budget *before = kb_budget_enter(&budget);
    CHECK_OK(kb_bare_field_fit(samples, KB_KERNEL_SE, &field, &error));
    kb_bare_field_destroy(field);
    budget.deadline -= 10;
    budget.worked -= 10;
    CHECK_FAILS(kb_bare_field_fit(samples, KB_KERNEL_SE, &field, &error), KBASS_ERROR_TIME,
                "the time limit of 5 s was reached before the field's length scales were found");
    kb_budget_enter(before);
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
}

static void messages_ask_the_run(void **state)
{
    (void)state;
    setup s;
    kb_patch_solver *solver = NULL;
    kb_kernel_state *found = NULL;
    kb_run run;
    kbass_settings settings = some_terms("u_xx");
    open_setup(&s, make_data(2, 1, (size_t[]){6, 7}, false, false), &settings, 0.4);
    CHECK_OK(kb_patch_solver_create(1, &s.patch, s.dictionary, s.columns, s.amplitude, s.variance, 1, &solver, &error));
    CHECK_OK(kb_kernel_state_create(solver, &found, &error));
    found->tau = 0.05;
    found->variance[0] = s.variance[0];
    CHECK(kb_patch_solver_regress(solver, found));
    kb_run_begin(&run, NULL, NULL, 0);
    solver->clock = &run;
    CHECK(kb_patch_solver_message(solver, found, &solver->all));
    begin_late(&run);
    CHECK(!kb_patch_solver_message(solver, found, &solver->all));
    kb_kernel_state_destroy(found);
    kb_patch_solver_destroy(solver);
    close_setup(&s);
}

static void verdicts_ask_the_run(void **state)
{
    (void)state;
    kbass_data *data = make_data(2, 1, (size_t[]){10, 11}, false, false);
    kb_field_samples *samples = NULL;
    kb_without_law timed = {0}, untimed = {0};
    kb_run run;
    CHECK_OK(kb_field_samples_create(data, NULL, &samples, &error));
    CHECK_OK(kb_without_law_of_fields(1, &samples, KB_KERNEL_SE, 0, NULL, &untimed, &error));
    kb_run_begin(&run, NULL, NULL, 0);
    CHECK_OK(kb_without_law_of_fields(1, &samples, KB_KERNEL_SE, 0, &run, &timed, &error));
    CHECK(timed.field == untimed.field && timed.constant == untimed.constant);
    kb_without_law_clear(&timed);
    begin_late(&run);
    CHECK_FAILS(kb_without_law_of_fields(1, &samples, KB_KERNEL_SE, 0, &run, &timed, &error), KBASS_ERROR_TIME,
                "stopped before its law was judged");
    kb_without_law_clear(&untimed);
    kb_field_samples_destroy(samples);
    kbass_data_destroy(data);
}

/* Fits of a stopped run leave half of its time to the answer. */
static void grace_is_at_most_half_of_what_is_left(void **state)
{
    (void)state;
    kb_run run;
    begin_late(&run);
    CHECK(kb_run_grace(&run, 2) <= kb_clock());
    run.end = kb_clock() + 1000;
    CHECK_CLOSE(kb_run_grace(&run, 2000) - kb_clock(), 500, 100); /* a busy machine */
    CHECK_CLOSE(kb_run_grace(&run, 200) - kb_clock(), 200, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_scales_ask_the_budget),
        cmocka_unit_test(messages_ask_the_run),
        cmocka_unit_test(verdicts_ask_the_run),
        cmocka_unit_test(grace_is_at_most_half_of_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
