/* What the numbers of a style are: Excel keeps dates as days since an epoch, and only the number format tells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/xlsx.h"

typedef struct {
    long id;
    kb_look look;
} format;

typedef struct {
    kb_workbook *book;
    bool is_in_cells; /* within cellXfs */
    size_t n_formats, formats_capacity, styles_capacity;
    format *formats;
} styles;

/* ---------------------------------------------------------------- number formats */

static kb_look look_of_builtin(long id)
{
    if ((id >= 14 && id <= 17) || id == 22 || (id >= 27 && id <= 31) || (id >= 50 && id <= 58) || id == 36)
        return KB_DATE;
    if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id == 45 || id == 47) return KB_CLOCK;
    return id == 46 ? KB_ELAPSED : KB_PLAIN_NUMBER;
}

/* Behind what is no part of the pattern: "text", \x, _x, *x; behind one character of the pattern. */
static const char *skip_literal(const char *c)
{
    const char *close = NULL;
    if (*c == '"') close = strchr(c + 1, '"');
    else if (*c && strchr("\\_*", *c)) close = c[1] ? c + 1 : c;
    else return c;
    return close ? close + 1 : c + strlen(c);
}

/* [h], [mm], [ss] measure elapsed time; other brackets are colours, conditions and languages. */
static bool is_elapsed(const char *bracket)
{
    size_t n = strspn(bracket + 1, "hHmMsS");
    return n && bracket[1 + n] == ']';
}

/* The first section of the code; digits before any letter of dates make a number of it. */
static kb_look look_of_code(const char *code)
{
    bool has_day = false, has_clock = false, has_month = false;
    for (const char *c = skip_literal(code); *c && *c != ';'; c = skip_literal(c + 1)) {
        if (*c == '[') {
            const char *close = strchr(c, ']');
            if (is_elapsed(c)) return KB_ELAPSED;
            if (!close) break;
            c = close;
            continue;
        }
        if (strchr("0#?", *c) && !has_day && !has_clock && !has_month) return KB_PLAIN_NUMBER;
        has_day |= strchr("yYdD", *c) != NULL;
        has_clock |= strchr("hHsS", *c) != NULL;
        has_month |= strchr("mM", *c) != NULL;
    }
    return has_day ? KB_DATE : has_clock ? KB_CLOCK : has_month ? KB_DATE : KB_PLAIN_NUMBER;
}

static kb_look look_of(const styles *s, long id)
{
    for (size_t i = 0; i < s->n_formats; i++)
        if (s->formats[i].id == id) return s->formats[i].look;
    return look_of_builtin(id);
}

/* ---------------------------------------------------------------- the part */

static void begin(kb_xml *xml, const char *name, const char **attributes)
{
    styles *s = xml->user;
    const char *id = kb_xml_attribute(attributes, "numFmtId"), *code = kb_xml_attribute(attributes, "formatCode");
    if (strcmp(name, "cellXfs") == 0) s->is_in_cells = true;
    if (strcmp(name, "numFmt") == 0 && id && code) {
        if (!kb_xml_grow(xml, (void **)&s->formats, s->n_formats, &s->formats_capacity, sizeof *s->formats)) return;
        s->formats[s->n_formats++] = (format){strtol(id, NULL, 10), look_of_code(code)};
    }
    if (strcmp(name, "xf") == 0 && s->is_in_cells) {
        kb_workbook *book = s->book;
        if (!kb_xml_grow(xml, (void **)&book->styles, book->n_styles, &s->styles_capacity, sizeof *book->styles))
            return;
        book->styles[book->n_styles++] = look_of(s, id ? strtol(id, NULL, 10) : 0);
    }
}

static void end(kb_xml *xml, const char *name)
{
    styles *s = xml->user;
    if (strcmp(name, "cellXfs") == 0) s->is_in_cells = false;
}

kbass_status kb_styles_read(kb_workbook *book)
{
    styles s = {.book = book};
    kb_xml xml = {
        .reading = book->reading, .part = book->texts.text + book->styles_part, .begin = begin, .end = end, .user = &s};
    kbass_status status = book->styles_part ? kb_xml_read(&xml) : KBASS_OK;
    kb_free(s.formats);
    return status;
}

/* ---------------------------------------------------------------- dates */

enum { DAYS_1900 = 25569, DAYS_1904 = 24107, FALSE_LEAP_DAY = 60 }; /* from the epochs to 1970 */

static const int64_t DAY = 86400000; /* ms, as finely as Excel tells time */

static void print_clock(int64_t ms, char *text, size_t size)
{
    int64_t s = ms / 1000;
    int length = snprintf(text, size, "%02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    if (ms % 1000) snprintf(text + length, size - (size_t)length, ".%03d", (int)(ms % 1000));
}

/* Excel believes that 1900 was a leap year: days before its 29 February are one off. */
static void print_date(int64_t ms, bool begins_1904, char *text, size_t size)
{
    int64_t day = ms / DAY, since_1970 = day - (begins_1904 ? DAYS_1904 : DAYS_1900);
    if (!begins_1904 && day < FALSE_LEAP_DAY) since_1970++;
    time_t seconds = (time_t)(since_1970 * (DAY / 1000));
    struct tm date;
    gmtime_r(&seconds, &date);
    int length = snprintf(text, size, "%04d-%02d-%02dT", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
    print_clock(ms % DAY, text + length, size - (size_t)length);
}

bool kb_serial_print(double serial, kb_look look, bool begins_1904, char text[KB_DATE_SIZE])
{
    enum { YEAR = 366, LAST_DAY = 2958466 }; /* 9999-12-31 and one */
    if (look == KB_PLAIN_NUMBER || !(serial >= 0 && serial < LAST_DAY)) return false;
    int64_t ms = (int64_t)llround(serial * (double)DAY);
    bool is_date = look == KB_DATE ? serial >= 1 || begins_1904 : look == KB_CLOCK && serial >= YEAR;
    if (is_date) print_date(ms, begins_1904, text, KB_DATE_SIZE);
    else print_clock(ms, text, KB_DATE_SIZE);
    return true;
}
