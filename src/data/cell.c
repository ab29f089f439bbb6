#include "data/cell.h"

#include <string.h>
#include <strings.h>

#include "base/name.h"
#include "base/number.h"

enum { LONGEST_NUMBER = 400 };

/* ---------------------------------------------------------------- missing */

static bool is_listed(const char *cell, const char *list)
{
    while (list && *list) {
        list += strspn(list, " ,");
        size_t length = strcspn(list, ",");
        const char *next = list + length;
        while (length && list[length - 1] == ' ') length--;
        bool is_front = length > 1 && list[length - 1] == '*'; /* "<*": all that begin so */
        if (is_front && strncmp(cell, list, length - 1) == 0) return true;
        if (length && strlen(cell) == length && strncmp(cell, list, length) == 0) return true;
        list = next;
    }
    return false;
}

bool kb_cell_is_missing(const char *cell, const char *missing)
{
    static const char *const words[] = {
        "",        "NA",      "N/A",   "#N/A",   "n.a.",  "nan",     "NaT",     "null",         "none",
        "nil",     "missing", "-",     "--",     "---",   ".",       "..",      "...",          "?",
        "*",       "n/d",     "nd",    "n.d.",   "<NA>",  "(null)",  "\\N",     "-nan",         "#NULL!",
        "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "1.#QNAN", "-1.#IND", "\xe2\x80\x93", "\xe2\x80\x94",
        "k.A.",    "MM"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(cell, words[i]) == 0) return true;
    bool is_stars = *cell && !cell[strspn(cell, "*")]; /* Fortran: it did not fit */
    return is_stars || is_listed(cell, missing);
}

/* ---------------------------------------------------------------- numbers */

/* Blanks of several widths, and apostrophes: the length of one that stands here, 0 when none does. */
static size_t gap_length(const char *c)
{
    static const char *const gaps[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "'", "\xe2\x80\x99"};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strncmp(c, gaps[i], strlen(gaps[i])) == 0) return strlen(gaps[i]);
    return 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t digits_at(const char *c)
{
    size_t n = 0;
    while (is_digit(c[n])) n++;
    return n;
}

/* The sign in front, with the minus that word processors write. */
static const char *copy_sign(const char *c, char **to)
{
    static const char minus[] = "\xe2\x88\x92";
    bool is_long = strncmp(c, minus, 3) == 0;
    if (is_long || *c == '-') *(*to)++ = '-';
    return is_long ? c + 3 : *c == '-' || *c == '+' ? c + 1 : c;
}

/* 12,34,567, as India groups: twos, at last three. */
static bool is_pair(const char *c, char grouping)
{
    return grouping == ',' && digits_at(c + 1) == 2 && c[3] == ',' && digits_at(c + 4) >= 2;
}

/* Digits in groups of three, after a first one of one to three; without marks all of them. NULL: groups of other sizes.
 */
static const char *copy_groups(const char *c, char grouping, char **to)
{
    size_t n = digits_at(c);
    bool is_grouped = false;
    memcpy(*to, c, n);
    *to += n;
    c += n;
    for (;;) {
        size_t gap = grouping && *c == grouping ? 1 : gap_length(c);
        if (!gap || !is_digit(c[gap])) break;
        size_t size = *c == grouping && is_pair(c, grouping) ? 2 : 3;
        if ((!is_grouped && (n < 1 || n > 3)) || digits_at(c + gap) != size) return NULL;
        is_grouped = true;
        memcpy(*to, c + gap, size);
        *to += size;
        c += gap + size;
    }
    return c;
}

/* e5, E-5, and Fortran's D+05. */
static const char *copy_exponent(const char *c, char **to)
{
    size_t sign = c[1] == '-' || c[1] == '+', n = digits_at(c + 1 + sign);
    if (!strchr("eEdD", *c) || !n) return c;
    *(*to)++ = 'e';
    memcpy(*to, c + 1, sign + n);
    *to += sign + n;
    return c + 1 + sign + n;
}

bool kb_cell_number(const char *cell, char point, char grouping, double *value)
{
    char plain[LONGEST_NUMBER + 8], *to = plain;
    if (strlen(cell) > LONGEST_NUMBER) return point == '.' && kb_number_parse(cell, value);
    const char *c = copy_sign(cell, &to), *first = to;
    if (*c == '\0' || (!is_digit(*c) && *c != point)) return kb_number_parse(cell, value); /* inf, nan */
    if (!(c = copy_groups(c, grouping, &to))) return false;
    if (*c == point) {
        size_t n = digits_at(++c);
        *to++ = '.';
        memcpy(to, c, n);
        to += n;
        c += n;
    }
    if (to == first || (to == first + 1 && *first == '.')) return false;
    if (*c) c = copy_exponent(c, &to);
    *to = '\0';
    return !*c && kb_number_parse(plain, value);
}

void kb_cell_marks(const char *cell, char *point, char *grouping)
{
    const char *comma = strchr(cell, ','), *dot = strchr(cell, '.'), *first = comma ? comma : dot;
    *point = *grouping = '\0';
    if (comma && dot) {
        *point = strrchr(cell, ',') > strrchr(cell, '.') ? ',' : '.';
        *grouping = *point == ',' ? '.' : ',';
    } else if (first && strchr(first + 1, *first)) {
        *point = *first == ',' ? '.' : ',';
        *grouping = *first;
    } else if (first) {
        const char *begin = first;
        while (begin > cell && is_digit(begin[-1])) begin--;
        size_t before = (size_t)(first - begin);
        bool is_group =
            digits_at(first + 1) == 3 && before >= 1 && before <= 3 && *begin != '0' && !strpbrk(first, "eEdD");
        bool is_after_gap = begin > cell && !strchr("+-", begin[-1]); /* 1 234,567 */
        *point = is_group && !is_after_gap ? '\0' : *first;
    }
}

/* ---------------------------------------------------------------- what stands around numbers */

/* Signs of currencies, with a blank behind them or not. */
static size_t currency_length(const char *c)
{
    static const char *const signs[] = {"$", "US$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i]);
        if (strncmp(c, signs[i], n) == 0) return n + strspn(c + n, " ");
    }
    return 0;
}

/* Digits, signs, marks and gaps up to the last digit, and an exponent. */
static size_t number_length(const char *c)
{
    size_t n = 0, last = 0;
    while (c[n]) {
        size_t gap = gap_length(c + n), step = strncmp(c + n, "\xe2\x88\x92", 3) == 0 ? 3 : gap ? gap : 1;
        if (step == 1 && !gap && !strchr("0123456789.,+-", c[n])) break;
        n += step;
        if (is_digit(c[n - 1])) last = n;
    }
    size_t sign = last && (c[last] == 'e' || c[last] == 'E') && (c[last + 1] == '-' || c[last + 1] == '+');
    if (last && (c[last] == 'e' || c[last] == 'E') && digits_at(c + last + 1 + sign))
        last += 1 + sign + digits_at(c + last + 1 + sign);
    return last;
}

/* "1.5 +- 0.1" */
static bool is_error(const char *after)
{
    after += gap_length(after);
    return !strncmp(after, KB_PLUS_MINUS, strlen(KB_PLUS_MINUS)) || !strncmp(after, "+/-", 3) ||
           !strncmp(after, "+-", 2);
}

bool kb_cell_bare(const char *cell, const char **bare, size_t *length, const char **after)
{
    bool is_formula = cell[0] == '=' && cell[1] == '"'; /* Excel: ="1.5" */
    *bare = is_formula ? cell + 2 : cell + currency_length(cell);
    *length = number_length(*bare);
    *after = *bare + *length;
    if (is_formula && strcmp(*after, "\"") == 0) *after = "";
    if (is_error(*after)) *after = KB_PLUS_MINUS;
    return *length > 0;
}

bool kb_cell_is_unit(const char *after)
{
    size_t gap = gap_length(after), length = strlen(after + gap);
    const char *unit = after + gap;
    if (!length) return !*after;
    if (!strncmp(unit, "\xc3\x97", 2) || !strncmp(unit, "\xc2\xb7", 2)) return false; /* times ten to some power */
    if (*unit == '/' && is_digit(unit[1])) return false;                              /* 1/12 */
    if (!strcmp(unit, KB_PLUS_MINUS)) return true;
    if (!strcmp(unit, "%") || currency_length(unit) == length) return true;
    bool has_mark = strchr(unit, '/') || (unsigned char)unit[0] >= 0x80;
    return strcmp(unit, "*") != 0 && (gap || has_mark) && kb_looks_like_unit(unit, length);
}

/* ---------------------------------------------------------------- what it is */

static bool is_numeric(const char *cell)
{
    double value;
    return kb_cell_number(cell, '.', ',', &value) || kb_cell_number(cell, ',', '.', &value);
}

kb_cell_type kb_cell_type_of(const char *cell, const char *missing)
{
    kb_moment moment;
    const char *end = cell + strlen(cell);
    if (kb_cell_is_missing(cell, missing)) return KB_CELL_MISSING;
    if (is_numeric(cell)) return KB_CELL_NUMBER;
    for (int order = KB_DAY_FIRST; order <= KB_YEAR_FIRST; order++)
        if (kb_moment_parse(cell, end, order, &moment)) return moment.has_date ? KB_CELL_DATE : KB_CELL_CLOCK;
    return KB_CELL_TEXT;
}
