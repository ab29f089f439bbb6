#include "base/calendar.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/moment_parts.h"

/* ---------------------------------------------------------------- the calendar */

/* Days since 1970-01-01; years begin in March, so that the day that some of them lack is the last. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int *year, int *month, int *day)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2));
}

static bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static bool is_date(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && is_leap(year));
}

bool kb_date_seconds(int year, int month, int day, int64_t *seconds)
{
    if (!is_date(year, month, day)) return false;
    *seconds = days_of(year, month, day) * KB_DAY;
    return true;
}

void kb_moment_print(int64_t seconds, char text[KB_MOMENT_SIZE])
{
    int64_t days = (seconds >= 0 ? seconds : seconds - (KB_DAY - 1)) / KB_DAY;
    int rest = (int)(seconds - days * KB_DAY), year, month, day;
    date_of(days, &year, &month, &day);
    int length = snprintf(text, KB_MOMENT_SIZE, "%04d-%02d-%02d", year, month, day);
    if (rest)
        length += snprintf(text + length, KB_MOMENT_SIZE - (size_t)length, " %02d:%02d", rest / 3600, rest / 60 % 60);
    if (rest % 60) snprintf(text + length, KB_MOMENT_SIZE - (size_t)length, ":%02d", rest % 60);
}

/* ---------------------------------------------------------------- dates */

/* A letter, or a byte of one that UTF-8 writes in several. */
static bool is_of_word(char c) { return kb_is_letter(c) || (unsigned char)c >= 0x80; }

/* By their first letters, in English, German, French, Spanish, Italian, Portuguese, Dutch; 0 for another word. */
static int take_month(kb_cursor *c)
{
    static const struct {
        const char *begin;
        int month;
    } months[] = {{"jan", 1},
                  {"ene", 1},
                  {"gen", 1},
                  {"feb", 2},
                  {"fev", 2},
                  {"f\xc3\xa9v", 2},
                  {"mar", 3},
                  {"maer", 3},
                  {"m\xc3\xa4r", 3},
                  {"mrz", 3},
                  {"mrt", 3},
                  {"apr", 4},
                  {"avr", 4},
                  {"abr", 4},
                  {"may", 5},
                  {"mai", 5},
                  {"mag", 5},
                  {"mei", 5},
                  {"jun", 6},
                  {"juin", 6},
                  {"giu", 6},
                  {"jul", 7},
                  {"juil", 7},
                  {"lug", 7},
                  {"aug", 8},
                  {"aou", 8},
                  {"ao\xc3\xbb", 8},
                  {"ago", 8},
                  {"sep", 9},
                  {"set", 9},
                  {"oct", 10},
                  {"okt", 10},
                  {"ott", 10},
                  {"out", 10},
                  {"nov", 11},
                  {"dec", 12},
                  {"dez", 12},
                  {"dic", 12},
                  {"d\xc3\xa9"
                   "c",
                   12}};
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        size_t n = strlen(months[i].begin);
        if ((size_t)(c->end - c->at) < n || strncasecmp(c->at, months[i].begin, n) != 0) continue;
        while (is_of_word(kb_peek(c))) c->at++;
        kb_take(c, '.');
        return months[i].month;
    }
    return 0;
}

static bool take_year(kb_cursor *c, int *year)
{
    size_t n = kb_take_number(c, year);
    if (n == 2) *year += *year < 70 ? 2000 : 1900;
    return n == 2 || n == 4;
}

/* A separator that stands between the parts of a date; with a month in words a blank does. */
static bool take_separator(kb_cursor *c, char *separator, bool is_word)
{
    char found = kb_peek(c);
    if (is_word && (found == ' ' || found == ',')) {
        kb_take(c, ',');
        kb_skip_blanks(c);
        return true;
    }
    if (!found || !strchr("-/.", found) || (*separator && found != *separator)) return false;
    *separator = found;
    c->at++;
    if (found == '.') kb_skip_blanks(c);
    return true;
}

/* "-W10", "W10-3", "-Q2", "Q2", "H1", "M07" behind a year: its first day, as days since 1970. */
static bool take_period(kb_cursor *c, int year, int64_t *days)
{
    int number = 0, day = 1;
    if (!kb_take(c, '-')) kb_skip_blanks(c);
    char letter = kb_peek(c);
    if (!letter || !strchr("WQMH", letter)) return false;
    c->at++;
    size_t n = kb_take_number(c, &number);
    if (letter == 'W' && kb_take(c, '-') && !kb_take_number(c, &day)) return false;
    int last = letter == 'W' ? 53 : letter == 'Q' ? 4 : letter == 'H' ? 2 : 12;
    if (!n || n > 2 || number < 1 || number > last || day < 1 || day > 7) return false;
    int64_t fourth = days_of(year, 1, 4), weekday = ((fourth + 3) % 7 + 7) % 7; /* of January 4th; 0: Monday */
    *days = letter == 'W'   ? fourth - weekday + 7 * (number - 1) + day - 1
            : letter == 'Q' ? days_of(year, 3 * number - 2, 1)
            : letter == 'H' ? days_of(year, 6 * number - 5, 1)
                            : days_of(year, number, 1);
    return true;
}

static bool take_text(kb_cursor *c, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0) return false;
    c->at += n;
    kb_skip_blanks(c);
    return true;
}

/* Year, month and day as China and Japan, and as Korea mark them: 2024 nian 2 yue 1 ri, in signs; behind the year's
 * number. */
static bool finish_marked(kb_cursor *c, int *month, int *day)
{
    static const char *const marks[][3] = {{"\xe5\xb9\xb4", "\xe6\x9c\x88", "\xe6\x97\xa5"},
                                           {"\xeb\x85\x84", "\xec\x9b\x94", "\xec\x9d\xbc"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!take_text(c, marks[i][0])) continue;
        if (!kb_take_number(c, month) || !take_text(c, marks[i][1])) return false;
        *day = 1;
        return c->at == c->end || (kb_take_number(c, day) && take_text(c, marks[i][2]));
    }
    return false;
}

/* "-03-04" behind a year of four digits; "-03" means its first day, "-063" the 63rd of the year. */
static bool finish_year_first(kb_cursor *c, int year, int *month, int *day)
{
    char separator = '\0';
    if ((unsigned char)kb_peek(c) >= 0x80) return finish_marked(c, month, day);
    if (!take_separator(c, &separator, false)) return false;
    size_t n = kb_take_number(c, month);
    *day = 1;
    if (separator == '-' && n == 2 && kb_peek(c) != '-') return true;
    if (separator == '-' && n == 3 && *month >= 1 && *month <= 365 + is_leap(year)) {
        date_of(days_of(year, 1, 1) + *month - 1, &year, month, day);
        return true;
    }
    return n && n <= 2 && take_separator(c, &separator, false) && (n = kb_take_number(c, day)) && n <= 2;
}

/* "3.2021", "Mar-2021" behind a day; or month/day/year, or year/month/day, as the order says. */
static bool finish_day_first(kb_cursor *c, int first, kb_date_order order, int *year, int *month, int *day,
                             kb_moment *m)
{
    char separator = '\0';
    int second = 0;
    kb_cursor ahead = *c;
    if (kb_take(&ahead, '.') || kb_take(&ahead, '-') || kb_take(&ahead, '/') || kb_peek(&ahead) == ' ')
        kb_skip_blanks(&ahead);
    bool is_word = is_of_word(kb_peek(&ahead)), is_joined = kb_is_letter(kb_peek(c)); /* 01FEB2024 */
    if (!is_joined && !take_separator(c, &separator, is_word)) return false;
    if (is_word) {
        *day = first;
        return (*month = take_month(c)) && (is_joined || take_separator(c, &separator, true)) && take_year(c, year);
    }
    size_t n = kb_take_number(c, &second);
    if (!n || n > 2 || !take_separator(c, &separator, false)) return false;
    bool is_year_first = order == KB_YEAR_FIRST, is_day_first = separator == '.' || order == KB_DAY_FIRST;
    m->is_ordered = separator != '.' || is_year_first;
    if (is_year_first) {
        *year = first + (first < 70 ? 2000 : 1900);
        *month = second;
        return (n = kb_take_number(c, day)) && n <= 2;
    }
    *day = is_day_first ? first : second;
    *month = is_day_first ? second : first;
    return take_year(c, year);
}

/* " 2021" or "-21" behind a month: its first day. */
static bool finish_month(kb_cursor *c, int *year, int *day)
{
    bool is_joined = kb_take(c, '-') || kb_take(c, '/');
    if (!is_joined && !kb_skip_blanks(c)) return false;
    size_t n = kb_take_number(c, year);
    if (n == 2) *year += *year < 70 ? 2000 : 1900;
    *day = 1;
    return c->at == c->end && (n == 4 || (n == 2 && is_joined));
}

/* " 12:00:00 CET 2024" behind a month and a day, as C, Java and Unix have it. */
static bool finish_clock_first(kb_cursor *c, int *year, kb_moment *m)
{
    m->has_date = true;
    if (!kb_skip_blanks(c) || !kb_take_clock(c, m) || !kb_skip_blanks(c)) return false;
    if (kb_is_letter(kb_peek(c)) && (!kb_take_zone(c, m) || !kb_skip_blanks(c))) return false;
    return kb_take_number(c, year) == 4;
}

/* "Mar 4, 2021", "Mar 4 12:00:00 CET 2021"; "Mar 2021". */
static bool take_month_first(kb_cursor *c, int *year, int *month, int *day, kb_moment *m)
{
    if (!(*month = take_month(c))) return false;
    kb_cursor before = *c;
    if (finish_month(c, year, day)) return true;
    *c = before;
    if (!kb_skip_blanks(c) || !kb_take_number(c, day)) return false;
    before = *c;
    if (finish_clock_first(c, year, m)) return true;
    *c = before;
    *m = (kb_moment){0};
    kb_take(c, ',');
    return kb_skip_blanks(c) && take_year(c, year);
}

/* The same, or "4 Mar 2021", perhaps behind a weekday, which may sound like a month: mar. 6 mars 2021. */
static bool take_words(kb_cursor *c, int *year, int *month, int *day, kb_moment *m)
{
    const kb_cursor front = *c;
    kb_moment ignored;
    if (take_month_first(c, year, month, day, m)) return true;
    *c = front;
    *m = (kb_moment){0};
    while (is_of_word(kb_peek(c))) c->at++;
    kb_take(c, '.');
    kb_take(c, ',');
    if (!kb_skip_blanks(c)) return false;
    if (!kb_is_digit(kb_peek(c))) return take_month_first(c, year, month, day, m);
    return kb_take_number(c, day) && finish_day_first(c, *day, KB_DAY_FIRST, year, month, day, &ignored);
}

/* 20230501080000, 202305010800. */
static bool take_compact_moment(kb_cursor *c, kb_moment *m)
{
    int date = 0, clock = 0;
    kb_cursor whole = *c, front = {c->at, c->at + 8}, back;
    while (kb_is_digit(kb_peek(&whole))) whole.at++;
    size_t n = (size_t)(whole.at - c->at);
    if (n != 12 && n != 14) return false;
    back = (kb_cursor){c->at + 8, whole.at};
    kb_take_number(&front, &date);
    kb_take_number(&back, &clock);
    if (n == 12) clock *= 100;
    int hour = clock / 10000, minute = clock / 100 % 100, second = clock % 100;
    if (!is_date(date / 10000, date / 100 % 100, date % 100) || hour > 23 || minute > 59 || second > 59) return false;
    m->seconds = days_of(date / 10000, date / 100 % 100, date % 100) * KB_DAY + hour * 3600 + minute * 60 + second;
    m->has_date = m->has_clock = true;
    c->at = whole.at;
    return true;
}

/* 230501, 010523, 050123, as the order says. */
static void split_six_digits(int number, kb_date_order order, int *year, int *month, int *day, kb_moment *m)
{
    int first = number / 10000, middle = number / 100 % 100, last = number % 100;
    bool is_year_first = order == KB_YEAR_FIRST;
    *year = is_year_first ? first : last;
    *year += *year < 70 ? 2000 : 1900;
    *month = order == KB_MONTH_FIRST ? first : middle;
    *day = is_year_first ? last : order == KB_MONTH_FIRST ? middle : first;
    m->is_ordered = true;
}

static bool take_date(kb_cursor *c, kb_date_order order, kb_moment *m)
{
    int year = 0, month = 0, day = 0, first = 0;
    int64_t days = 0;
    bool is_good = false;
    if (take_compact_moment(c, m)) return true;
    if (is_of_word(kb_peek(c))) {
        is_good = take_words(c, &year, &month, &day, m);
    } else {
        size_t n = kb_take_number(c, &first);
        year = first;
        if (n == 8) {
            year = first / 10000;
            month = first / 100 % 100;
            day = first % 100;
            is_good = true;
        } else if (n == 6) {
            split_six_digits(first, order, &year, &month, &day, m);
            is_good = true;
        } else if (n == 4) {
            kb_cursor before = *c;
            m->has_date = take_period(c, year, &days);
            m->seconds = days * KB_DAY;
            if (m->has_date) return true;
            *c = before;
            is_good = finish_year_first(c, year, &month, &day);
        } else if (n == 1 || n == 2) {
            is_good = finish_day_first(c, first, order, &year, &month, &day, m);
        }
    }
    if (!is_good || !is_date(year, month, day)) return false;
    m->seconds += days_of(year, month, day) * KB_DAY; /* the time of day may be known already */
    m->has_date = true;
    return true;
}

bool kb_moment_parse(const char *text, const char *end, kb_date_order order, kb_moment *moment)
{
    bool is_bracketed = end - text > 2 && *text == '[' && end[-1] == ']'; /* as web servers log them */
    if (is_bracketed) text++, end--;
    kb_cursor c = {text, end}, digits = {text, end};
    *moment = (kb_moment){0};
    while (kb_is_digit(kb_peek(&digits))) digits.at++;
    bool is_clock = digits.at > text && kb_peek(&digits) == ':';
    if (is_clock) return kb_take_clock(&c, moment) && c.at == c.end;
    if (digits.at > text ? kb_take_duration(&c, moment) : kb_take_iso_duration(&c, moment)) return true;
    c = (kb_cursor){text, end};
    *moment = (kb_moment){0};
    if (!take_date(&c, order, moment)) return false;
    if (c.at == c.end) return true;
    bool is_apart = kb_take(&c, 'T') || kb_take(&c, 't') || kb_take(&c, ':') || c.at[-1] == ' ';
    if (!is_apart) {
        is_apart = kb_take(&c, ',');
        is_apart |= kb_skip_blanks(&c) > 0;
    }
    if (c.at == c.end) return true;
    if (!is_apart || !kb_take_clock(&c, moment)) return false;
    kb_skip_blanks(&c);
    return kb_take_zone(&c, moment) && c.at == c.end;
}
