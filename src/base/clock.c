/* Times of day, zones and durations as people write them. */
#include "base/moment_parts.h"

#include <string.h>
#include <strings.h>

static double take_fraction(kb_cursor *c)
{
    double value = 0, place = 1;
    if (kb_peek(c) != '.' && kb_peek(c) != ',' && kb_peek(c) != ':') return 0;
    for (c->at++; kb_is_digit(kb_peek(c)); c->at++) value += (place /= 10) * (*c->at - '0');
    return value < 1 ? value : 0;
}

/* am, pm, a.m., p.m.; the hour of twelve. */
static bool take_half(kb_cursor *c, int *hour)
{
    kb_cursor ahead = *c;
    kb_skip_blanks(&ahead);
    char letter = kb_peek(&ahead) | ' ';
    if (letter != 'a' && letter != 'p') return true;
    ahead.at++;
    kb_take(&ahead, '.');
    if ((kb_peek(&ahead) | ' ') != 'm') return true;
    ahead.at++;
    kb_take(&ahead, '.');
    if (*hour < 1 || *hour > 12) return false;
    *hour = *hour % 12 + (letter == 'p' ? 12 : 0);
    *c = ahead;
    return true;
}

/* 050607, behind a T. */
static bool take_compact_clock(kb_cursor *c, size_t n, int *hour, int *minute, int *second)
{
    int all = *hour;
    *hour = n == 6 ? all / 10000 : all / 100;
    *minute = n == 6 ? all / 100 % 100 : all % 100;
    *second = n == 6 ? all % 100 : 0;
    return (n == 4 || n == 6) && c->at <= c->end;
}

/* ".00.00" */
static bool has_points(const kb_cursor *c)
{
    int number = 0;
    kb_cursor ahead = *c;
    return kb_take(&ahead, '.') && kb_take_number(&ahead, &number) == 2 && kb_take(&ahead, '.') &&
           kb_take_number(&ahead, &number) == 2;
}

bool kb_take_clock(kb_cursor *c, kb_moment *m)
{
    int hour = 0, minute = 0, second = 0;
    size_t n = kb_take_number(c, &hour);
    bool is_good = n > 0, has_seconds = false;
    const char mark = m->has_date && has_points(c) ? '.' : ':'; /* 08.00.00, in Italy */
    if (is_good && !kb_take(c, mark)) {
        is_good = m->has_date && take_compact_clock(c, n, &hour, &minute, &second);
    } else if (is_good) {
        size_t digits = kb_take_number(c, &minute);
        is_good = digits == 1 || digits == 2;
        if (is_good && kb_take(c, mark)) {
            has_seconds = true;
            digits = kb_take_number(c, &second);
            is_good = digits == 1 || digits == 2;
        }
    }
    const char *before = c->at;
    m->fraction = is_good && (has_seconds || kb_peek(c) != ':') ? take_fraction(c) : 0;
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
static bool take_zone_name(kb_cursor *c, double *hours)
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

static bool take_shift(kb_cursor *c, kb_moment *m)
{
    int hours = 0, minutes = 0;
    char sign = kb_peek(c);
    if (!kb_take(c, '+') && !kb_take(c, '-')) return true;
    size_t n = kb_take_number(c, &hours);
    if (n == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (n != 2 || (kb_take(c, ':') && kb_take_number(c, &minutes) != 2)) {
        return false;
    }
    int64_t shift = hours * 3600 + minutes * 60;
    m->seconds -= sign == '-' ? -shift : shift;
    return hours <= 18 && minutes <= 59;
}

/* A place in brackets says no more than the shift before it; alone the time is the place's own. */
bool kb_take_zone(kb_cursor *c, kb_moment *m)
{
    double named = 0;
    m->has_zone = c->at < c->end && *c->at != '[';
    if (!kb_take(c, 'Z') && !kb_take(c, 'z') && !take_zone_name(c, &named) && !take_shift(c, m)) return false;
    m->seconds -= (int64_t)(3600 * named);
    if (!kb_take(c, '[')) return true;
    while (c->at < c->end && *c->at != ']') c->at++;
    return kb_take(c, ']');
}

bool kb_take_iso_duration(kb_cursor *c, kb_moment *m)
{
    static const char letters[] = "DHMS";
    static const int seconds[] = {KB_DAY, 3600, 60, 1};
    int number = 0;
    if (!kb_take(c, 'P')) return false;
    for (const char *last = letters; c->at < c->end;) {
        if (kb_take(c, 'T') && last < letters + 1) last = letters + 1;
        const char *letter = kb_take_number(c, &number) ? strchr(last, kb_peek(c)) : NULL;
        if (!letter || !*letter) return false;
        m->seconds += (int64_t)number * seconds[letter - letters];
        last = letter + 1;
        c->at++;
    }
    return kb_is_letter(c->end[-1]) && c->end[-1] != 'T' && c->end[-1] != 'P';
}

bool kb_take_duration(kb_cursor *c, kb_moment *m)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"days", KB_DAY}, {"day", KB_DAY}, {"d", KB_DAY}, {"hours", 3600}, {"hour", 3600}, {"hr", 3600},
                 {"h", 3600},      {"min", 60},     {"m", 60},     {"sec", 1},      {"s", 1}};
    int number = 0, last = KB_DAY + 1;
    for (size_t n_parts = 0; c->at < c->end; n_parts++) {
        kb_cursor before = *c;
        bool is_last = last == KB_DAY && n_parts && kb_take_clock(c, m);
        if (is_last) return c->at == c->end;
        *c = before;
        size_t unit = 0, n_digits = kb_take_number(c, &number);
        if (!n_digits) return false;
        kb_skip_blanks(c);
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
        kb_take(c, ',');
        kb_skip_blanks(c);
        if (c->at == c->end) return n_parts > 0; /* one part alone is a number with its unit */
    }
    return false;
}
