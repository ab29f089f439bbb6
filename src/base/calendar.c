#include "base/calendar.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_DIGITS = 9 };

/* What is left to read. */
typedef struct {
    const char *at, *end;
} cursor;

static char peek(const cursor *c) { return c->at < c->end ? *c->at : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool take(cursor *c, char what)
{
    if (c->at == c->end || *c->at != what) return false;
    c->at++;
    return true;
}

static size_t skip_blanks(cursor *c)
{
    const char *before = c->at;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
    return (size_t)(c->at - before);
}

/* The number of digits, 0 when there are none or too many. */
static size_t take_number(cursor *c, int *value)
{
    size_t n = 0;
    for (*value = 0; is_digit(peek(c)) && n < LONGEST_DIGITS; c->at++, n++) *value = 10 * *value + (*c->at - '0');
    return is_digit(peek(c)) ? 0 : n;
}

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

static bool take_clock(cursor *c, kb_moment *m);
static bool take_zone(cursor *c, kb_moment *m);

/* ---------------------------------------------------------------- dates */

/* A letter, or a byte of one that UTF-8 writes in several. */
static bool is_of_word(char c) { return is_letter(c) || (unsigned char)c >= 0x80; }

/* By their first letters, in English, German, French, Spanish, Italian, Portuguese, Dutch; 0 for another word. */
static int take_month(cursor *c)
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
        while (is_of_word(peek(c))) c->at++;
        take(c, '.');
        return months[i].month;
    }
    return 0;
}

static bool take_year(cursor *c, int *year)
{
    size_t n = take_number(c, year);
    if (n == 2) *year += *year < 70 ? 2000 : 1900;
    return n == 2 || n == 4;
}

/* A separator that stands between the parts of a date; with a month in words a blank does. */
static bool take_separator(cursor *c, char *separator, bool is_word)
{
    char found = peek(c);
    if (is_word && (found == ' ' || found == ',')) {
        take(c, ',');
        skip_blanks(c);
        return true;
    }
    if (!found || !strchr("-/.", found) || (*separator && found != *separator)) return false;
    *separator = found;
    c->at++;
    if (found == '.') skip_blanks(c);
    return true;
}

/* "-W10", "W10-3", "-Q2", "Q2", "H1", "M07" behind a year: its first day, as days since 1970. */
static bool take_period(cursor *c, int year, int64_t *days)
{
    int number = 0, day = 1;
    if (!take(c, '-')) skip_blanks(c);
    char letter = peek(c);
    if (!letter || !strchr("WQMH", letter)) return false;
    c->at++;
    size_t n = take_number(c, &number);
    if (letter == 'W' && take(c, '-') && !take_number(c, &day)) return false;
    int last = letter == 'W' ? 53 : letter == 'Q' ? 4 : letter == 'H' ? 2 : 12;
    if (!n || n > 2 || number < 1 || number > last || day < 1 || day > 7) return false;
    int64_t fourth = days_of(year, 1, 4), weekday = ((fourth + 3) % 7 + 7) % 7; /* of January 4th; 0: Monday */
    *days = letter == 'W'   ? fourth - weekday + 7 * (number - 1) + day - 1
            : letter == 'Q' ? days_of(year, 3 * number - 2, 1)
            : letter == 'H' ? days_of(year, 6 * number - 5, 1)
                            : days_of(year, number, 1);
    return true;
}

static bool take_text(cursor *c, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0) return false;
    c->at += n;
    skip_blanks(c);
    return true;
}

/* Year, month and day as China and Japan, and as Korea mark them: 2024 nian 2 yue 1 ri, in signs; behind the year's
 * number. */
static bool finish_marked(cursor *c, int *month, int *day)
{
    static const char *const marks[][3] = {{"\xe5\xb9\xb4", "\xe6\x9c\x88", "\xe6\x97\xa5"},
                                           {"\xeb\x85\x84", "\xec\x9b\x94", "\xec\x9d\xbc"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!take_text(c, marks[i][0])) continue;
        if (!take_number(c, month) || !take_text(c, marks[i][1])) return false;
        *day = 1;
        return c->at == c->end || (take_number(c, day) && take_text(c, marks[i][2]));
    }
    return false;
}

/* "-03-04" behind a year of four digits; "-03" means its first day, "-063" the 63rd of the year. */
static bool finish_year_first(cursor *c, int year, int *month, int *day)
{
    char separator = '\0';
    if ((unsigned char)peek(c) >= 0x80) return finish_marked(c, month, day);
    if (!take_separator(c, &separator, false)) return false;
    size_t n = take_number(c, month);
    *day = 1;
    if (separator == '-' && n == 2 && peek(c) != '-') return true;
    if (separator == '-' && n == 3 && *month >= 1 && *month <= 365 + is_leap(year)) {
        date_of(days_of(year, 1, 1) + *month - 1, &year, month, day);
        return true;
    }
    return n && n <= 2 && take_separator(c, &separator, false) && (n = take_number(c, day)) && n <= 2;
}

/* "3.2021", "Mar-2021" behind a day; or month/day/year, or year/month/day, as the order says. */
static bool finish_day_first(cursor *c, int first, kb_date_order order, int *year, int *month, int *day, kb_moment *m)
{
    char separator = '\0';
    int second = 0;
    cursor ahead = *c;
    if (take(&ahead, '.') || take(&ahead, '-') || take(&ahead, '/') || peek(&ahead) == ' ') skip_blanks(&ahead);
    bool is_word = is_of_word(peek(&ahead)), is_joined = is_letter(peek(c)); /* 01FEB2024 */
    if (!is_joined && !take_separator(c, &separator, is_word)) return false;
    if (is_word) {
        *day = first;
        return (*month = take_month(c)) && (is_joined || take_separator(c, &separator, true)) && take_year(c, year);
    }
    size_t n = take_number(c, &second);
    if (!n || n > 2 || !take_separator(c, &separator, false)) return false;
    bool is_year_first = order == KB_YEAR_FIRST, is_day_first = separator == '.' || order == KB_DAY_FIRST;
    m->is_ordered = separator != '.' || is_year_first;
    if (is_year_first) {
        *year = first + (first < 70 ? 2000 : 1900);
        *month = second;
        return (n = take_number(c, day)) && n <= 2;
    }
    *day = is_day_first ? first : second;
    *month = is_day_first ? second : first;
    return take_year(c, year);
}

/* " 2021" or "-21" behind a month: its first day. */
static bool finish_month(cursor *c, int *year, int *day)
{
    bool is_joined = take(c, '-') || take(c, '/');
    if (!is_joined && !skip_blanks(c)) return false;
    size_t n = take_number(c, year);
    if (n == 2) *year += *year < 70 ? 2000 : 1900;
    *day = 1;
    return c->at == c->end && (n == 4 || (n == 2 && is_joined));
}

/* " 12:00:00 CET 2024" behind a month and a day, as C, Java and Unix have it. */
static bool finish_clock_first(cursor *c, int *year, kb_moment *m)
{
    m->has_date = true;
    if (!skip_blanks(c) || !take_clock(c, m) || !skip_blanks(c)) return false;
    if (is_letter(peek(c)) && (!take_zone(c, m) || !skip_blanks(c))) return false;
    return take_number(c, year) == 4;
}

/* "Mar 4, 2021", "Mar 4 12:00:00 CET 2021"; "Mar 2021". */
static bool take_month_first(cursor *c, int *year, int *month, int *day, kb_moment *m)
{
    if (!(*month = take_month(c))) return false;
    cursor before = *c;
    if (finish_month(c, year, day)) return true;
    *c = before;
    if (!skip_blanks(c) || !take_number(c, day)) return false;
    before = *c;
    if (finish_clock_first(c, year, m)) return true;
    *c = before;
    *m = (kb_moment){0};
    take(c, ',');
    return skip_blanks(c) && take_year(c, year);
}

/* The same, or "4 Mar 2021", perhaps behind a weekday, which may sound like a month: mar. 6 mars 2021. */
static bool take_words(cursor *c, int *year, int *month, int *day, kb_moment *m)
{
    const cursor front = *c;
    kb_moment ignored;
    if (take_month_first(c, year, month, day, m)) return true;
    *c = front;
    *m = (kb_moment){0};
    while (is_of_word(peek(c))) c->at++;
    take(c, '.');
    take(c, ',');
    if (!skip_blanks(c)) return false;
    if (!is_digit(peek(c))) return take_month_first(c, year, month, day, m);
    return take_number(c, day) && finish_day_first(c, *day, KB_DAY_FIRST, year, month, day, &ignored);
}

/* 20230501080000, 202305010800. */
static bool take_compact_moment(cursor *c, kb_moment *m)
{
    int date = 0, clock = 0;
    cursor whole = *c, front = {c->at, c->at + 8}, back;
    while (is_digit(peek(&whole))) whole.at++;
    size_t n = (size_t)(whole.at - c->at);
    if (n != 12 && n != 14) return false;
    back = (cursor){c->at + 8, whole.at};
    take_number(&front, &date);
    take_number(&back, &clock);
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

static bool take_date(cursor *c, kb_date_order order, kb_moment *m)
{
    int year = 0, month = 0, day = 0, first = 0;
    int64_t days = 0;
    bool is_good = false;
    if (take_compact_moment(c, m)) return true;
    if (is_of_word(peek(c))) {
        is_good = take_words(c, &year, &month, &day, m);
    } else {
        size_t n = take_number(c, &first);
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
            cursor before = *c;
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

/* ---------------------------------------------------------------- times of day */

static double take_fraction(cursor *c)
{
    double value = 0, place = 1;
    if (peek(c) != '.' && peek(c) != ',' && peek(c) != ':') return 0;
    for (c->at++; is_digit(peek(c)); c->at++) value += (place /= 10) * (*c->at - '0');
    return value < 1 ? value : 0;
}

/* am, pm, a.m., p.m.; the hour of twelve. */
static bool take_half(cursor *c, int *hour)
{
    cursor ahead = *c;
    skip_blanks(&ahead);
    char letter = peek(&ahead) | ' ';
    if (letter != 'a' && letter != 'p') return true;
    ahead.at++;
    take(&ahead, '.');
    if ((peek(&ahead) | ' ') != 'm') return true;
    ahead.at++;
    take(&ahead, '.');
    if (*hour < 1 || *hour > 12) return false;
    *hour = *hour % 12 + (letter == 'p' ? 12 : 0);
    *c = ahead;
    return true;
}

/* 050607, behind a T. */
static bool take_compact_clock(cursor *c, size_t n, int *hour, int *minute, int *second)
{
    int all = *hour;
    *hour = n == 6 ? all / 10000 : all / 100;
    *minute = n == 6 ? all / 100 % 100 : all % 100;
    *second = n == 6 ? all % 100 : 0;
    return (n == 4 || n == 6) && c->at <= c->end;
}

/* ".00.00" */
static bool has_points(const cursor *c)
{
    int number = 0;
    cursor ahead = *c;
    return take(&ahead, '.') && take_number(&ahead, &number) == 2 && take(&ahead, '.') &&
           take_number(&ahead, &number) == 2;
}

static bool take_clock(cursor *c, kb_moment *m)
{
    int hour = 0, minute = 0, second = 0;
    size_t n = take_number(c, &hour);
    bool is_good = n > 0, has_seconds = false;
    const char mark = m->has_date && has_points(c) ? '.' : ':'; /* 08.00.00, in Italy */
    if (is_good && !take(c, mark)) {
        is_good = m->has_date && take_compact_clock(c, n, &hour, &minute, &second);
    } else if (is_good) {
        size_t digits = take_number(c, &minute);
        is_good = digits == 1 || digits == 2;
        if (is_good && take(c, mark)) {
            has_seconds = true;
            digits = take_number(c, &second);
            is_good = digits == 1 || digits == 2;
        }
    }
    const char *before = c->at;
    m->fraction = is_good && (has_seconds || peek(c) != ':') ? take_fraction(c) : 0;
    if (c->at > before && !has_seconds && !m->has_date) { /* 12:34.5 is of minutes and seconds */
        second = minute;
        minute = hour % 60;
        hour /= 60;
    }
    if (!is_good || !take_half(c, &hour) || minute > 59 || second > 60) return false;
    if (m->has_date && (hour > 24 || (hour == 24 && (minute || second)))) return false;
    m->seconds += (int64_t)hour * 3600 + minute * 60 + second;
    m->has_clock = true;
    return true;
}

/* "UTC", "CET", ...: names that mean one shift, in hours, wherever they are used. */
static bool take_zone_name(cursor *c, double *hours)
{
    static const struct {
        const char *name;
        double hours;
    } zones[] = {{"UTC", 0},  {"GMT", 0},  {"CEST", 2},  {"CET", 1},  {"MESZ", 2}, {"MEZ", 1},
                 {"EEST", 3}, {"EET", 2},  {"WEST", 1},  {"WET", 0},  {"EST", -5}, {"EDT", -4},
                 {"CST", -6}, {"CDT", -5}, {"MST", -7},  {"MDT", -6}, {"PST", -8}, {"PDT", -7},
                 {"MSK", 3},  {"JST", 9},  {"AEST", 10}, {"AEDT", 11}};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        size_t n = strlen(zones[i].name);
        if ((size_t)(c->end - c->at) < n || strncasecmp(c->at, zones[i].name, n) != 0) continue;
        c->at += n;
        *hours = zones[i].hours;
        return true;
    }
    return false;
}

static bool take_shift(cursor *c, kb_moment *m)
{
    int hours = 0, minutes = 0;
    char sign = peek(c);
    if (!take(c, '+') && !take(c, '-')) return true;
    size_t n = take_number(c, &hours);
    if (n == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (n != 2 || (take(c, ':') && take_number(c, &minutes) != 2)) {
        return false;
    }
    int64_t shift = hours * 3600 + minutes * 60;
    m->seconds -= sign == '-' ? -shift : shift;
    return hours <= 18 && minutes <= 59;
}

/* A place in brackets says no more than the shift before it; alone the time is the place's own. */
static bool take_zone(cursor *c, kb_moment *m)
{
    double named = 0;
    m->has_zone = c->at < c->end && *c->at != '[';
    if (!take(c, 'Z') && !take(c, 'z') && !take_zone_name(c, &named) && !take_shift(c, m)) return false;
    m->seconds -= (int64_t)(3600 * named);
    if (!take(c, '[')) return true;
    while (c->at < c->end && *c->at != ']') c->at++;
    return take(c, ']');
}

/* PT1M30S, P1DT2H: as ISO 8601 has spans; whole numbers. */
static bool take_iso_duration(cursor *c, kb_moment *m)
{
    static const char letters[] = "DHMS";
    static const int seconds[] = {KB_DAY, 3600, 60, 1};
    int number = 0;
    if (!take(c, 'P')) return false;
    for (const char *last = letters; c->at < c->end;) {
        if (take(c, 'T') && last < letters + 1) last = letters + 1;
        const char *letter = take_number(c, &number) ? strchr(last, peek(c)) : NULL;
        if (!letter || !*letter) return false;
        m->seconds += (int64_t)number * seconds[letter - letters];
        last = letter + 1;
        c->at++;
    }
    return is_letter(c->end[-1]) && c->end[-1] != 'T' && c->end[-1] != 'P';
}

/* "1 day, 02:03:04", "0 days 02:03:04.5", "1h30", "2 h 5 min": parts that add up. */
static bool take_duration(cursor *c, kb_moment *m)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"days", KB_DAY}, {"day", KB_DAY}, {"d", KB_DAY}, {"hours", 3600}, {"hour", 3600}, {"hr", 3600},
                 {"h", 3600},      {"min", 60},     {"m", 60},     {"sec", 1},      {"s", 1}};
    int number = 0, last = KB_DAY + 1;
    for (size_t n_parts = 0; c->at < c->end; n_parts++) {
        cursor before = *c;
        bool is_last = last == KB_DAY && n_parts && take_clock(c, m);
        if (is_last) return c->at == c->end;
        *c = before;
        size_t unit = 0, n_digits = take_number(c, &number);
        if (!n_digits) return false;
        skip_blanks(c);
        if (c->at == c->end && n_parts && last == 3600 && n_digits == 2) { /* 1h30 */
            m->seconds += 60 * (int64_t)number;
            return number < 60;
        }
        size_t n_units = sizeof units / sizeof *units, left = (size_t)(c->end - c->at);
        while (unit < n_units &&
               (left < strlen(units[unit].name) || strncasecmp(c->at, units[unit].name, strlen(units[unit].name)) != 0))
            unit++;
        if (unit == n_units || units[unit].seconds >= last) return false;
        c->at += strlen(units[unit].name);
        last = units[unit].seconds;
        m->seconds += (int64_t)number * last;
        take(c, ',');
        skip_blanks(c);
        if (c->at == c->end) return n_parts > 0; /* one part alone is a number with its unit */
    }
    return false;
}

bool kb_moment_parse(const char *text, const char *end, kb_date_order order, kb_moment *moment)
{
    bool is_bracketed = end - text > 2 && *text == '[' && end[-1] == ']'; /* as web servers log them */
    if (is_bracketed) text++, end--;
    cursor c = {text, end}, digits = {text, end};
    *moment = (kb_moment){0};
    while (is_digit(peek(&digits))) digits.at++;
    bool is_clock = digits.at > text && peek(&digits) == ':';
    if (is_clock) return take_clock(&c, moment) && c.at == c.end;
    if (digits.at > text ? take_duration(&c, moment) : take_iso_duration(&c, moment)) return true;
    c = (cursor){text, end};
    *moment = (kb_moment){0};
    if (!take_date(&c, order, moment)) return false;
    if (c.at == c.end) return true;
    bool is_apart = take(&c, 'T') || take(&c, 't') || take(&c, ':') || c.at[-1] == ' ';
    if (!is_apart) {
        is_apart = take(&c, ',');
        is_apart |= skip_blanks(&c) > 0;
    }
    if (c.at == c.end) return true;
    if (!is_apart || !take_clock(&c, moment)) return false;
    skip_blanks(&c);
    return take_zone(&c, moment) && c.at == c.end;
}
