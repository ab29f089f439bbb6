/* Averages over models, on pools made by hand whose answers can be counted. */
#include "base/memory.h"
#include "check.h"
#include "evidence/average.h"
#include "evidence/groups.h"
#include "search/result.h"

enum { COLUMNS = 6 };

/* Two equations of three columns; the last is required. */
static size_t equation[COLUMNS] = {0, 0, 0, 1, 1, 1};
static bool required[COLUMNS] = {0, 0, 0, 0, 0, 1};
static const kb_columns columns = {.n = COLUMNS, .equation = equation, .required = required};

/* A model: its columns as a mask, its share of the posterior, the weight and sd that all its columns have. */
typedef struct {
    unsigned mask;
    double share, weight, sd;
} entry;

static void make_pool(size_t n, const entry *entries, kb_search_result *found)
{
    kbass_error error;
    *found = (kb_search_result){0};
    kb_pool_init(&found->pool, COLUMNS, 1, 1);
    for (size_t i = 0; i < n; i++) {
        size_t list[COLUMNS];
        kb_support support = {0, list};
        kb_fit *fit = NULL;
        for (size_t c = 0; c < COLUMNS; c++)
            if (entries[i].mask >> c & 1) kb_support_add(&support, c);
        CHECK_OK(kb_pool_add(&found->pool, &support, &fit, &error));
        for (size_t q = 0; q < support.n; q++) {
            fit->w[support.column[q]] = entries[i].weight;
            fit->covariance[q + q * support.n] = entries[i].sd * entries[i].sd;
        }
        fit->log_evidence = -1000 + log(entries[i].share) / kb_log_odds(1);
        fit->valid = true;
    }
}

static kb_average *average_of(const kb_search_result *found)
{
    kb_average *average = NULL;
    kbass_error error;
    CHECK_OK(kb_average_create(&columns, &found->pool, found->neighbours, NULL, NULL, &average, &error));
    return average;
}

static void weights_follow_the_law_of_total_variance(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.6, 2, 0.1}, {0x23, 0.3, 3, 0.2}, {0x22, 0.1, 5, 0.3}};
    kb_search_result found;
    double mean, variance;
    make_pool(3, entries, &found);
    kb_average *average = average_of(&found);
    CHECK_CLOSE(average->share[0], 0.6, 1e-12); /* rounding, here and below */
    CHECK_CLOSE(kb_average_inclusion(average, 0), 0.9, 1e-12);
    CHECK_CLOSE(kb_average_inclusion(average, 1), 0.4, 1e-12);
    CHECK_CLOSE(kb_average_inclusion(average, 2), 0, 0);
    CHECK_CLOSE(kb_average_inclusion(average, 5), 1, 0);
    kb_average_weight(average, 0, &mean, &variance);
    CHECK_CLOSE(mean, 0.6 * 2 + 0.3 * 3, 1e-12);
    CHECK_CLOSE(variance, 0.6 * (0.01 + 4) + 0.3 * (0.04 + 9) - 2.1 * 2.1, 1e-12);
    kb_average_weight(average, 2, &mean, &variance);
    CHECK(mean == 0 && variance == 0);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

static void an_added_column_counts_with_its_odds(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 1, 2, 0.1}};
    kb_search_result found;
    double mean, variance;
    make_pool(1, entries, &found);
    found.neighbours = KB_NEW(kb_neighbour, COLUMNS);
    for (size_t c = 0; c < COLUMNS; c++) found.neighbours[c] = (kb_neighbour){-INFINITY, NAN, NAN, KB_NO_COLUMN, NULL};
    found.neighbours[3] = (kb_neighbour){log(0.25) / kb_log_odds(1), 4, 0.5, KB_NO_COLUMN, NULL};
    kb_average *average = average_of(&found);
    CHECK_CLOSE(average->share[0], 0.8, 1e-12);
    CHECK_CLOSE(kb_average_inclusion(average, 3), 0.2, 1e-12);
    CHECK_CLOSE(kb_average_inclusion(average, 0), 1, 1e-12);
    kb_average_weight(average, 3, &mean, &variance);
    CHECK_CLOSE(mean, 0.2 * 4, 1e-12);
    CHECK_CLOSE(variance, 0.2 * (0.5 + 16) - 0.64, 1e-12);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

/* The weight of the model's other column gives way by half of the added one's: 2 - 4/2, 0.1^2 + 0.5/4. */
static void an_added_column_takes_others_along(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 1, 2, 0.1}};
    static const double shift[] = {0, 0.5};
    kb_search_result found;
    double mean, variance, sd, low, high;
    make_pool(1, entries, &found);
    found.neighbours = KB_NEW(kb_neighbour, COLUMNS);
    for (size_t c = 0; c < COLUMNS; c++) found.neighbours[c] = (kb_neighbour){-INFINITY, NAN, NAN, KB_NO_COLUMN, NULL};
    found.neighbours[3] = (kb_neighbour){log(0.25) / kb_log_odds(1), 4, 0.5, KB_NO_COLUMN, shift};
    kb_average *average = average_of(&found);
    kb_average_weight(average, 5, &mean, &variance);
    CHECK_CLOSE(mean, 0.8 * 2, 1e-12); /* rounding, here and below */
    CHECK_CLOSE(variance, 0.8 * (0.01 + 4) + 0.2 * 0.135 - 1.6 * 1.6, 1e-12);
    kb_average_interval(average, 5, &sd, &low, &high);
    CHECK(low < 0 && high > 2.1 && high < 2.3);
    kb_average_weight(average, 0, &mean, &variance);
    CHECK_CLOSE(mean, 2, 1e-12);
    CHECK_CLOSE(variance, 0.01, 1e-12);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

/* One equation has a rival of 1 : 5, the other one of 1 : 1: that the laws with both were not fitted is no evidence
   against them. Where one was, its own evidence counts and not the product. */
static void equations_are_judged_for_themselves(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 1, 2, 0.1}, {0x29, 1, 3, 0.1}, {0x22, 0.2, 2, 0.1}, {0x2a, 0.1, 2, 0.1}};
    for (size_t n = 3; n <= 4; n++) {
        kb_search_result found;
        double mean, variance, total = n == 3 ? 1.2 * 2 : 1.2 * 2 - 0.2 + 0.1;
        make_pool(n, entries, &found);
        kb_average *average = average_of(&found);
        CHECK_CLOSE(average->share[0], 1 / total, 1e-12); /* rounding, here and below */
        CHECK_CLOSE(kb_average_inclusion(average, 0), 2 / total, 1e-12);
        CHECK_CLOSE(kb_average_inclusion(average, 1), n == 3 ? 0.4 / total : 0.3 / total, 1e-12);
        CHECK_CLOSE(kb_average_inclusion(average, 3), n == 3 ? 0.5 : 1.1 / total, 1e-12);
        kb_average_weight(average, 0, &mean, &variance); /* 2 and 3 alike, by the other equation */
        CHECK_CLOSE(mean, 5 / total, 1e-12);
        kb_average_destroy(average);
        kb_search_result_clear(&found);
    }
}

/* One model, noise from 5 degrees of freedom: Student's table. */
static void noise_from_few_samples_widens_intervals(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 1, 2, 0.1}};
    double freedom[2] = {5, INFINITY}, sd, low, high;
    kb_search_result found;
    kb_average *average = NULL;
    kbass_error error;
    make_pool(1, entries, &found);
    CHECK_OK(kb_average_create(&columns, &found.pool, NULL, freedom, NULL, &average, &error));
    kb_average_interval(average, 0, &sd, &low, &high);
    CHECK_CLOSE(sd, 0.2570581835636314 / 1.959963984540054, 1e-9);
    CHECK_CLOSE(low, 2 - 0.2570581835636314, 1e-9);
    CHECK_CLOSE(high, 2 + 0.2570581835636314, 1e-9);
    kb_average_interval(average, 5, &sd, &low, &high); /* of an equation whose noise is known */
    CHECK_CLOSE(sd, 0.1, 1e-12);
    CHECK_CLOSE(high, 2 + 0.1959963984540054, 1e-9);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

/* 6 numbers of 12 data: a quarter of the models was never sought; 4 of 12: none. */
static void laws_that_nobody_sought_have_a_share(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 1, 2, 0.1}};
    kb_search_result found;
    make_pool(1, entries, &found);
    found.pool.fits[0]->values = 12;
    for (int i = 0; i < 2; i++) {
        found.pool.fits[0]->effective = i ? 4 : 6;
        kb_average *average = average_of(&found);
        CHECK_CLOSE(kb_average_inclusion(average, 0), i ? 1 : 0.75, 1e-12); /* rounding */
        kb_average_destroy(average);
    }
    kb_search_result_clear(&found);
}

/* 3 data for 6 candidates in two equations: of four laws alike one has 1/4, 1/2 an equation; of 16 it has 1/4 an
   equation, and 1 - 0.25 / 0.4 is for laws that nobody sought. With 6 data or more: none. */
static void scant_data_leave_laws_unsought(void **state)
{
    (void)state;
    entry entries[16];
    for (unsigned i = 0; i < 16; i++) entries[i] = (entry){0x21 | i << 1, 1.0 / 16, 2, 0.1};
    for (size_t n = 4; n <= 16; n += 12) {
        kb_search_result found;
        for (size_t i = 0; i < n; i++) entries[i].share = 1 / (double)n;
        make_pool(n, entries, &found);
        for (int values = 3; values <= 6; values += 3) {
            found.pool.fits[0]->values = values;
            found.pool.fits[0]->effective = 0;
            kb_average *average = average_of(&found);
            double seen = n == 4 || values == 6 ? 1 : 0.25 / 0.4;
            CHECK_CLOSE(kb_average_inclusion(average, 0), seen, 1e-12); /* rounding */
            kb_average_destroy(average);
        }
        kb_search_result_clear(&found);
    }
}

static size_t groups_of(size_t n, const entry *entries, kb_group first[1])
{
    kb_search_result found;
    kb_group *groups = NULL;
    size_t n_groups = 0;
    kbass_error error;
    make_pool(n, entries, &found);
    kb_average *average = average_of(&found);
    CHECK_OK(kb_average_groups(average, &groups, &n_groups, &error));
    if (n_groups) *first = groups[0], groups[0].column = NULL;
    kb_groups_free(groups, n_groups);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
    return n_groups;
}

/* Columns 0 and 1 take turns, and column 3 of the other equation goes along with 1: it is no member. */
static void columns_that_take_turns_are_a_group(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.55, 1, 1}, {0x2a, 0.42, 1, 1}, {0x20, 0.03, 1, 1}};
    kb_group group;
    CHECK(groups_of(3, entries, &group) == 1);
    CHECK(group.n == 2 && group.column[0] == 0 && group.column[1] == 1 && group.n_present == 1);
    CHECK_CLOSE(group.probability, 0.97, 1e-12);
    kb_free(group.column);
}

static void two_of_three_are_a_group_too(void **state)
{
    (void)state;
    static const entry entries[] = {{0x23, 0.35, 1, 1}, {0x25, 0.35, 1, 1}, {0x26, 0.28, 1, 1}, {0x27, 0.02, 1, 1}};
    kb_group group;
    CHECK(groups_of(4, entries, &group) == 1);
    CHECK(group.n == 3 && group.n_present == 2);
    CHECK_CLOSE(group.probability, 0.98, 1e-12);
    kb_free(group.column);
}

/* Neither one nor two of them alone, but one or more in any case. */
static void one_or_more_are_a_group(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.4, 1, 1}, {0x22, 0.3, 1, 1}, {0x23, 0.28, 1, 1}, {0x20, 0.02, 1, 1}};
    kb_group group;
    CHECK(groups_of(4, entries, &group) == 1);
    CHECK(group.n == 2 && group.n_present == 0);
    CHECK_CLOSE(group.probability, 0.98, 1e-12);
    kb_free(group.column);
}

/* All four combinations: nothing can be said of the two together. */
static void independent_columns_are_no_group(void **state)
{
    (void)state;
    static const entry entries[] = {{0x20, 0.25, 1, 1}, {0x21, 0.25, 1, 1}, {0x22, 0.25, 1, 1}, {0x23, 0.25, 1, 1}};
    kb_group group;
    CHECK(groups_of(4, entries, &group) == 0);
}

/* A column that is in with certainty needs no company. */
static void certain_columns_are_no_group(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.95, 1, 1}, {0x22, 0.05, 1, 1}};
    kb_group group;
    CHECK(groups_of(2, entries, &group) == 0);
}

static double normal_below(double x, double mean, double sd) { return 0.5 * erfc((mean - x) / (sd * sqrt(2))); }

static void intervals_are_quantiles_of_the_mixture(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.6, 2, 0.1}, {0x23, 0.3, 3, 0.2}, {0x22, 0.1, 5, 0.3}};
    kb_search_result found;
    double sd, low, high, mean = (0.6 * 2 + 0.3 * 3) / 0.9;
    make_pool(3, entries, &found);
    kb_average *average = average_of(&found);
    kb_average_interval(average, 0, &sd, &low, &high); /* in the first two, 2 : 1 */
    CHECK_CLOSE(2 * normal_below(low, 2, 0.1) / 3 + normal_below(low, 3, 0.2) / 3, 0.025, 1e-9); /* bisection */
    CHECK_CLOSE(2 * normal_below(high, 2, 0.1) / 3 + normal_below(high, 3, 0.2) / 3, 0.975, 1e-9);
    CHECK_CLOSE(sd * sd, (0.6 * (0.01 + 4) + 0.3 * (0.04 + 9)) / 0.9 - mean * mean, 1e-12);
    kb_average_interval(average, 1, &sd, &low, &high);
    CHECK(low > 2 && high > 5 && high < 6);
    kb_average_interval(average, 2, &sd, &low, &high); /* in no model */
    CHECK(isnan(sd) && isnan(low) && isnan(high));
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

/* 6 numbers of 12 data: a quarter is for laws that nobody sought, half of it like either; not like the one far behind.
 */
static void laws_unsought_widen_intervals(void **state)
{
    (void)state;
    static const entry entries[] = {{0x21, 0.6, 2, 0.1}, {0x23, 0.399, 3, 0.1}, {0x25, 0.001, 50, 0.1}};
    kb_search_result found;
    double sd, low, high;
    make_pool(3, entries, &found);
    found.pool.fits[0]->values = 12;
    found.pool.fits[0]->effective = 6;
    kb_average *average = average_of(&found);
    kb_average_interval(average, 0, &sd, &low, &high);
    double first = 0.75 * 0.6 + 0.125, second = 0.75 * 0.399 + 0.125;
    CHECK_CLOSE(first * normal_below(low, 2, 0.1), 0.025, 1e-9); /* bisection */
    CHECK_CLOSE(first + second * normal_below(high, 3, 0.1), 0.975, 1e-9);
    kb_average_destroy(average);
    kb_search_result_clear(&found);
}

static void longer_models_far_behind_are_dropped(void **state)
{
    (void)state;
    static const entry entries[] = {{0x03, 1, 1, 0.1}, {0x07, 0.5, 1, 0.1}, {0x05, 1e-9, 1, 0.1}, {0x0b, 1e-9, 1, 0.1}};
    kb_search_result found;
    make_pool(4, entries, &found);
    kb_pool_sort(&found.pool);
    kb_pool_drop_longer(&found.pool, 8);
    CHECK(found.pool.n == 3); /* the last has all of the best one's columns; the one before has not */
    CHECK(found.pool.fits[0]->support.n == 2 && found.pool.fits[1]->support.n == 3);
    CHECK(!kb_support_has(&found.pool.fits[2]->support, 1));
    kb_search_result_clear(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_models_far_behind_are_dropped),
        cmocka_unit_test(weights_follow_the_law_of_total_variance),
        cmocka_unit_test(an_added_column_counts_with_its_odds),
        cmocka_unit_test(an_added_column_takes_others_along),
        cmocka_unit_test(equations_are_judged_for_themselves),
        cmocka_unit_test(noise_from_few_samples_widens_intervals),
        cmocka_unit_test(laws_that_nobody_sought_have_a_share),
        cmocka_unit_test(scant_data_leave_laws_unsought),
        cmocka_unit_test(columns_that_take_turns_are_a_group),
        cmocka_unit_test(two_of_three_are_a_group_too),
        cmocka_unit_test(one_or_more_are_a_group),
        cmocka_unit_test(intervals_are_quantiles_of_the_mixture),
        cmocka_unit_test(laws_unsought_widen_intervals),
        cmocka_unit_test(independent_columns_are_no_group),
        cmocka_unit_test(certain_columns_are_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
