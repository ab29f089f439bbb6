/* The expression parser. A canonical name is parsed to itself; values can be computed. */
#include <string.h>

#include "base/memory.h"
#include "dictionary/expression.h"
#include "fuzz.h"

static const char *const names[] = {"x", "y", "u_x", "t"};
static const kb_variables variables = {4, names};

static void check_name(const kb_expression *expression)
{
    kb_expression *again = NULL;
    kbass_error error;
    const char *name = kb_expression_name(expression);
    kbass_status status = kb_expression_parse(name, variables, &again, &error);
    DEMAND(status == KBASS_OK || status == KBASS_ERROR_MEMORY);
    DEMAND(!again || !strcmp(kb_expression_name(again), name));
    kb_expression_destroy(again);
}

static void check_values(const kb_expression *expression)
{
    static const double points[] = {0.5, 2, -1, 3, 0.25, -0.5, 1, 0};
    double values[2], *work = KB_NEW(double, kb_expression_work(expression, 2));
    DEMAND(work);
    kb_expression_values(expression, 2, points, 2, values, work);
    for (size_t i = 0; i < variables.n; i++) kb_expression_slopes(expression, i, 2, points, 2, values, work);
    kb_free(work);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kb_expression *expression = NULL;
    kb_sum sum = {0};
    kbass_error error;
    char *text = KB_NEW(char, size + 1);
    DEMAND(text);
    memcpy(text, bytes, size);
    if (kb_expression_parse(text, variables, &expression, &error) == KBASS_OK) {
        check_name(expression);
        check_values(expression);
        kb_expression_destroy(expression);
    }
    if (kb_sum_parse(text, variables, &sum, &error) == KBASS_OK) kb_sum_clear(&sum);
    kb_free(text);
    return 0;
}
