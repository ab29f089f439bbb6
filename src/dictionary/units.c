#include "dictionary/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "dictionary/text.h"

static const double negligible = 1e-6; /* a power that roundings have left */
static const double highest_power = 100;

/* ---------------------------------------------------------------- what symbols mean */

typedef struct {
    const char *name;
    bool takes_prefix;
    double scale;
    signed char power[KB_UNIT_BASES]; /* kg m s A K mol cd */
} known_unit;

static const known_unit known_units[] = {
    {"kg", false, 1, {1}},
    {"g", true, 1e-3, {1}},
    {"m", true, 1, {0, 1}},
    {"s", true, 1, {0, 0, 1}},
    {"A", true, 1, {0, 0, 0, 1}},
    {"K", true, 1, {0, 0, 0, 0, 1}},
    {"mol", true, 1, {0, 0, 0, 0, 0, 1}},
    {"cd", true, 1, {0, 0, 0, 0, 0, 0, 1}},
    {"rad", true, 1, {0}},
    {"deg", false, 0.017453292519943295, {0}},
    {"%", false, 0.01, {0}},
    {"degC", false, 1, {0, 0, 0, 0, 1}}, /* of differences */
    {"\xc2\xb0"
     "C",
     false,
     1,
     {0, 0, 0, 0, 1}},
    {"min", false, 60, {0, 0, 1}},
    {"h", false, 3600, {0, 0, 1}},
    {"d", false, 86400, {0, 0, 1}},
    {"day", false, 86400, {0, 0, 1}},
    {"week", false, 604800, {0, 0, 1}},
    {"yr", false, 31557600, {0, 0, 1}},
    {"year", false, 31557600, {0, 0, 1}},
    {"L", true, 1e-3, {0, 3}},
    {"l", true, 1e-3, {0, 3}},
    {"M", true, 1e3, {0, -3, 0, 0, 0, 1}},
    {"Hz", true, 1, {0, 0, -1}},
    {"N", true, 1, {1, 1, -2}},
    {"Pa", true, 1, {1, -1, -2}},
    {"bar", true, 1e5, {1, -1, -2}},
    {"J", true, 1, {1, 2, -2}},
    {"eV", true, 1.602176634e-19, {1, 2, -2}},
    {"W", true, 1, {1, 2, -3}},
    {"C", true, 1, {0, 0, 1, 1}},
    {"V", true, 1, {1, 2, -3, -1}},
    {"Ohm", true, 1, {1, 2, -3, -2}},
    {"S", true, 1, {-1, -2, 3, 2}},
    {"F", true, 1, {-1, -2, 4, 2}},
    {"H", true, 1, {1, 2, -2, -2}},
    {"Wb", true, 1, {1, 2, -2, -1}},
    {"T", true, 1, {1, 0, -2, -1}},
};

static const struct {
    const char *name;
    double scale;
} prefixes[] = {{"da", 10},         {"d", 1e-1},        {"c", 1e-2}, {"m", 1e-3},  {"u", 1e-6},
                {"\xc2\xb5", 1e-6}, {"\xce\xbc", 1e-6}, {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15},
                {"h", 1e2},         {"k", 1e3},         {"M", 1e6},  {"G", 1e9},   {"T", 1e12}};

static const known_unit *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_units / sizeof *known_units; i++)
        if (!strcmp(known_units[i].name, name)) return &known_units[i];
    return NULL;
}

/* The unit behind a symbol and the factor before it; NULL for words of their own. */
static const known_unit *understand(const char *name, double *factor)
{
    const known_unit *unit = find_known(name);
    *factor = 1;
    for (size_t i = 0; !unit && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].name);
        if (strncmp(name, prefixes[i].name, length)) continue;
        const known_unit *base = find_known(name + length);
        if (!base || !base->takes_prefix) continue;
        unit = base;
        *factor = prefixes[i].scale;
    }
    return unit;
}

static void define(kb_symbol *symbol, size_t index)
{
    double factor = 1;
    const known_unit *unit = understand(symbol->name, &factor);
    if (!unit) symbol->dimension[KB_UNIT_BASES + index] = 1;
    else symbol->log_scale = log(factor * unit->scale);
    for (size_t i = 0; unit && i < KB_UNIT_BASES; i++) symbol->dimension[i] = unit->power[i];
}

/* ---------------------------------------------------------------- parsing */

static bool is_symbol_letter(char c) { return kb_is_letter(c) || c == '%' || (unsigned char)c >= 0x80; }

static kbass_status find_symbol(kb_symbols *symbols, const char *text, size_t start, size_t length, size_t *index,
                                kbass_error *error)
{
    if (length >= KB_UNIT_NAME)
        return kb_text_fail(error, text, start, "found a unit of %zu letters, needed at most %d", length,
                            KB_UNIT_NAME - 1);
    for (*index = 0; *index < symbols->n; ++*index) {
        const char *name = symbols->symbol[*index].name;
        if (strlen(name) == length && !memcmp(name, text + start, length)) return KBASS_OK;
    }
    if (symbols->n == KB_UNIT_SYMBOLS)
        return kb_text_fail(error, text, start, "found more than %d different units", KB_UNIT_SYMBOLS);
    kb_symbol *symbol = &symbols->symbol[symbols->n++];
    *symbol = (kb_symbol){0};
    memcpy(symbol->name, text + start, length);
    define(symbol, *index);
    return KBASS_OK;
}

/* "^2", "2", "-1", or nothing, which is 1 */
static kbass_status read_power(const char *text, size_t *at, double *power, kbass_error *error)
{
    bool has_caret = text[*at] == '^';
    const char *start = text + *at + (has_caret ? 1 : 0), *end = text + strlen(text);
    *power = 1;
    if (!has_caret && !kb_is_digit(*start) && *start != '-') return KBASS_OK;
    const char *rest = kb_number_scan(start, end, '.', power);
    if (!rest || !(fabs(*power) <= highest_power))
        return kb_text_fail(error, text, *at, "found no power from -100 to 100 at \"%.20s\"", text + *at);
    *at = (size_t)(rest - text);
    return KBASS_OK;
}

static kbass_status read_factor(kb_symbols *symbols, const char *text, size_t *at, double sign, kb_unit *unit,
                                kbass_error *error)
{
    size_t start = *at, index = 0;
    double power = 1;
    if (text[start] == '1' && !kb_is_digit(text[start + 1]) && text[start + 1] != '.') {
        ++*at;
        return KBASS_OK;
    }
    while (is_symbol_letter(text[*at])) ++*at;
    if (*at == start)
        return kb_text_fail(error, text, start, "found \"%.20s\", needed a unit such as m, m/s^2 or 1", text + start);
    kbass_status status = find_symbol(symbols, text, start, *at - start, &index, error);
    if (status == KBASS_OK) status = read_power(text, at, &power, error);
    if (status == KBASS_OK) unit->power[index] += sign * power;
    return status;
}

/* Past blanks and one "*" or "/" between them, which is returned; or '\0'. */
static char read_operator(const char *text, size_t *at)
{
    char found = '\0';
    for (;; ++*at) {
        bool is_operator = text[*at] == '*' || text[*at] == '/';
        if (!kb_is_blank(text[*at]) && (!is_operator || found)) return found;
        if (is_operator) found = text[*at];
    }
}

kbass_status kb_unit_parse(kb_symbols *symbols, const char *text, kb_unit *unit, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    size_t at = 0;
    char between = '\0';
    *unit = (kb_unit){0};
    while (kb_is_blank(text[at])) at++;
    do {
        status = read_factor(symbols, text, &at, between == '/' ? -1 : 1, unit, error);
        size_t end = at;
        if (status == KBASS_OK) between = read_operator(text, &at);
        if (status == KBASS_OK && at == end && text[at])
            status = kb_text_fail(error, text, at, "found \"%.20s\" after a unit, needed a blank, * or /", text + at);
    } while (status == KBASS_OK && (text[at] || between));
    return status;
}

/* ---------------------------------------------------------------- printing */

static size_t append(char *text, size_t size, size_t used, const char *separator, const char *name, double power)
{
    char number[KB_NUMBER_SIZE] = "";
    if (power != 1) kb_number_round(power, 6, number);
    int written = snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "%s%s%s%s", separator, name,
                           *number ? "^" : "", number);
    return used + (size_t)(written > 0 ? written : 0);
}

size_t kb_unit_print(const kb_symbols *symbols, const kb_unit *unit, char *text, size_t size)
{
    size_t used = 0, n_below = 0, below = 0;
    for (size_t i = 0; i < symbols->n; i++)
        if (unit->power[i] < -negligible) n_below++, below = i;
    for (size_t i = 0; i < symbols->n; i++)
        if (unit->power[i] > negligible)
            used = append(text, size, used, used ? " " : "", symbols->symbol[i].name, unit->power[i]);
    if (n_below == 1)
        return append(text, size, used, used ? "/" : "1/", symbols->symbol[below].name, -unit->power[below]);
    for (size_t i = 0; i < symbols->n; i++)
        if (unit->power[i] < -negligible)
            used = append(text, size, used, used ? " " : "", symbols->symbol[i].name, unit->power[i]);
    return used ? used : append(text, size, 0, "", "1", 1);
}

/* ---------------------------------------------------------------- arithmetic */

void kb_unit_multiply(kb_unit *a, const kb_unit *b, double power)
{
    for (size_t i = 0; i < KB_UNIT_SYMBOLS; i++) a->power[i] += power * b->power[i];
}

double kb_unit_dimension(const kb_symbols *symbols, const kb_unit *unit, double dimension[KB_DIMENSIONS])
{
    double log_scale = 0;
    memset(dimension, 0, KB_DIMENSIONS * sizeof *dimension);
    for (size_t i = 0; i < symbols->n; i++) {
        log_scale += unit->power[i] * symbols->symbol[i].log_scale;
        for (size_t k = 0; k < KB_DIMENSIONS; k++) dimension[k] += unit->power[i] * symbols->symbol[i].dimension[k];
    }
    return log_scale;
}

bool kb_unit_is_same(const kb_symbols *symbols, const kb_unit *a, const kb_unit *b)
{
    kb_unit ratio = *a;
    double dimension[KB_DIMENSIONS];
    kb_unit_multiply(&ratio, b, -1);
    bool is_same = fabs(kb_unit_dimension(symbols, &ratio, dimension)) <= negligible;
    for (size_t k = 0; k < KB_DIMENSIONS; k++) is_same = is_same && fabs(dimension[k]) <= negligible;
    return is_same;
}
