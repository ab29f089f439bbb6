/* Checks for the test programs, on top of cmocka. CHECK_CLOSE is true only for |found - expected| <= tolerance, so NaN
   never passes; it prints both values. State the tolerance's reason on the line. */
#ifndef KB_CHECK_H
#define KB_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/settings.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) fail_msg("not true: %s", #condition);                                                        \
    } while (0)

#define CHECK_CLOSE(found, expected, tolerance)                                                                        \
    do {                                                                                                               \
        double found_ = (found), expected_ = (expected), tolerance_ = (tolerance);                                     \
        if (!(fabs(found_ - expected_) <= tolerance_))                                                                 \
            fail_msg("%s = %.17g, expected %.17g within %.3g", #found, found_, expected_, tolerance_);                 \
    } while (0)

#define CHECK_TEXT(found, expected) assert_string_equal(found, expected)

/* The call succeeds; its message is shown when it does not. `error` is the caller's variable. */
#define CHECK_OK(call)                                                                                                 \
    do {                                                                                                               \
        if ((call) != KBASS_OK) fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

/* The call fails with this status, and its message contains the text. */
#define CHECK_FAILS(call, status, text)                                                                                \
    do {                                                                                                               \
        kbass_status status_ = (call);                                                                                 \
        if (status_ != (status)) fail_msg("%s: %s (%s)", #call, kbass_status_name(status_), error.message);            \
        if (!strstr(error.message, text)) fail_msg("\"%s\" does not contain \"%s\"", error.message, text);             \
    } while (0)

/* A test that this machine cannot run says why; RUN_TESTS then ends with the code that ctest counts as skipped, unless
   another test fails. */
static inline int *count_of_skipped(void)
{
    static int count = 0;
    return &count;
}

#define SKIP(...)                                                                                                      \
    do {                                                                                                               \
        print_message("skipped: " __VA_ARGS__);                                                                        \
        print_message("\n");                                                                                           \
        ++*count_of_skipped();                                                                                         \
        skip();                                                                                                        \
    } while (0)

#define RUN_TESTS(tests, set_up, tear_down)                                                                            \
    (cmocka_run_group_tests(tests, set_up, tear_down) ? 1 : *count_of_skipped() ? 77 : 0)

/* For a discovery that takes minutes with sanitizers, and walks where shorter ones walk. */
static inline void skip_with_sanitizers(void)
{
#ifdef KBASS_SANITIZED
    skip();
#endif
}

/* The term of this name, NULL when there is none. */
static inline const kbass_term *find_term(const kbass_equation *equation, const char *name)
{
    for (size_t i = 0; i < equation->n_terms; i++)
        if (!strcmp(equation->terms[i].term, name)) return &equation->terms[i];
    return NULL;
}

#endif
