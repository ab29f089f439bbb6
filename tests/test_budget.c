/* Limits of memory: amounts are read, allocations counted and refused with the figures, wide dictionaries screened. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/status.h"
#include "check.h"

static kbass_error error;

static double amount(const char *text)
{
    double bytes = 0;
    CHECK_OK(kb_memory_parse(text, &bytes, &error));
    return bytes;
}

static void test_amounts(void **state)
{
    static const char *const bad[] = {"-1GB", "0", "2 XB", "GB", "1e400GB", "nan", "1 2"};
    double bytes = 0;
    (void)state;
    CHECK(amount("1000") == 1000 && amount("500MB") == 5e8 && amount("2 GB") == 2e9 &&
          amount("1.5GiB") == 1.5 * 1073741824);
    CHECK(amount("3g") == 3e9);
    CHECK(amount(NULL) == amount("") || amount(NULL) > 0); /* what is free changes from moment to moment */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(kb_memory_parse(bad[i], &bytes, &error), KBASS_ERROR_ARGUMENT, "is not an amount of memory");
}

static void test_counting(void **state)
{
    kb_budget budget;
    (void)state;
    CHECK_OK(kb_budget_begin(&budget, "1MB", 0, &error));
    kb_budget *before = kb_budget_enter(&budget);
    double *small = KB_NEW(double, 1000), *large = KB_NEW(double, 1000000);
    CHECK(small && !large);
    CHECK(atomic_load(&budget.used) >= 8000 && atomic_load(&budget.used) < 10000); /* rounded up by malloc */
    CHECK_FAILS(kb_out_of_memory(&error, "the search"), KBASS_ERROR_MEMORY, "the search: needed 8 MB");
    kb_free(small);
    CHECK(atomic_load(&budget.used) == 0);
    CHECK_FAILS(kb_out_of_memory(&error, "it"), KBASS_ERROR_MEMORY,
                "beside the 0.008"); /* in use when it was refused */
    CHECK(!kb_budget_expired());
    kb_budget_enter(before);
    CHECK(kb_budget_current() == before);
    large = KB_NEW(double, 1000000);
    CHECK(large != NULL);
    kb_free(large);
}

/* Blocks of every size are zero, also where memory was used before; what is not touched takes no memory. */
static void test_zeros(void **state)
{
    (void)state;
    for (size_t n = 1000; n < 20000000; n *= 17) {
        for (int round = 0; round < 2; round++) {
            double *block = KB_NEW(double, n), sum = 0;
            CHECK(block != NULL);
            for (size_t i = 0; i < n; i++) sum += fabs(block[i]);
            CHECK(sum == 0);
            for (size_t i = 0; i < n; i++) block[i] = 1;
            kb_free(block);
        }
    }
    unsigned char pages[1] = {1};
    char *large = KB_NEW(char, 100 << 20), *middle = large + (50 << 20);
    CHECK(large != NULL);
    CHECK(mincore(middle - (uintptr_t)middle % (uintptr_t)sysconf(_SC_PAGESIZE), 1, pages) == 0 && !(pages[0] & 1));
    kb_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_amounts), cmocka_unit_test(test_counting),
                                       cmocka_unit_test(test_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
