/* Progress: what is left is told where it is known, bounded where there is a limit, and else left open. */
#include <math.h>

#include "base/run.h"
#include "check.h"

static int note(const kbass_progress *progress, void *user)
{
    *(kbass_progress *)user = *progress;
    return 0;
}

static kbass_progress told(kb_run *run, double seconds, double fraction)
{
    kbass_progress last = {0};
    run->user = &last;
    run->start = kb_clock() - seconds;
    run->fraction = fraction;
    kb_run_continue(run, 3);
    return last;
}

static void a_known_length_is_estimated_from_a_tenth_on(void **state)
{
    (void)state;
    kb_run run;
    kb_run_begin(&run, note, NULL, 0);
    run.is_of_known_length = true;
    CHECK(isnan(told(&run, 10, 0.05).seconds_left));
    kbass_progress now = told(&run, 10, 0.25);
    CHECK_CLOSE(now.seconds_left, 30, 0.5); /* three quarters at the pace of one; the clock goes on meanwhile */
    CHECK(!now.is_bound);
}

static void a_search_knows_only_its_limit(void **state)
{
    (void)state;
    kb_run run;
    kb_run_begin(&run, note, NULL, 0);
    atomic_store(&run.n_models, 7);
    kbass_progress now = told(&run, 10, 0.9);
    CHECK(isnan(now.seconds_left) && !now.is_bound && now.n_models == 7);
    kb_run_begin(&run, note, NULL, 60);
    now = told(&run, 10, 0.9);
    CHECK(now.is_bound && now.seconds_left <= 50);
    CHECK_CLOSE(now.seconds_left, 48, 0.5); /* two seconds are kept for the answer */
}

static void the_nearer_end_is_told(void **state)
{
    (void)state;
    kb_run run;
    kb_run_begin(&run, note, NULL, 60);
    run.is_of_known_length = true;
    kbass_progress now = told(&run, 10, 0.5);
    CHECK(!now.is_bound);
    CHECK_CLOSE(now.seconds_left, 10, 0.5);
    now = told(&run, 10, 0.1);
    CHECK(now.is_bound);
    CHECK_CLOSE(now.seconds_left, 48, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_length_is_estimated_from_a_tenth_on),
        cmocka_unit_test(a_search_knows_only_its_limit),
        cmocka_unit_test(the_nearer_end_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
