#include "base/number.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    locale_t plain, before;
} locale_guard;

/* glibc hands out its one "C" locale here: nothing is allocated, and only this thread changes. */
static locale_guard enter_plain_locale(void)
{
    locale_guard guard = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (guard.plain) guard.before = uselocale(guard.plain);
    return guard;
}

static void leave_plain_locale(locale_guard guard)
{
    if (!guard.plain) return;
    uselocale(guard.before);
    freelocale(guard.plain);
}

bool kb_number_parse(const char *text, double *value)
{
    if (!*text || isspace((unsigned char)*text) || strpbrk(text, "xX(")) return false;
    char *end = NULL;
    locale_guard guard = enter_plain_locale();
    *value = strtod(text, &end);
    leave_plain_locale(guard);
    return end != text && !*end;
}

size_t kb_number_print(double value, char text[KB_NUMBER_SIZE])
{
    size_t length = 0;
    locale_guard guard = enter_plain_locale();
    for (int digits = 15; digits <= 17; digits++) {
        length = (size_t)snprintf(text, KB_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    leave_plain_locale(guard);
    return length;
}

size_t kb_number_round(double value, int digits, char text[KB_NUMBER_SIZE])
{
    locale_guard guard = enter_plain_locale();
    size_t length = (size_t)snprintf(text, KB_NUMBER_SIZE, "%.*g", digits, value);
    leave_plain_locale(guard);
    return length;
}
