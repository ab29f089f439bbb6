/* InfluxDB's line protocol: measurement,tag=value field=value,... nanoseconds. Fields and tags become the columns of a
 * sheet, times become dates; a line that has no such field leaves its cell empty.
 */
#include "data/logs.h"

#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"

enum { MOST_COLUMNS = 1000, FEWEST_DIGITS = 9, MOST_DIGITS = 19 };

typedef struct {
    kb_text_span measurement, tags, fields;
    long long time; /* counts since 1970 */
    int digits;
} influx_line;

typedef struct {
    size_t n_tags, n; /* columns: tags first */
    kb_text_span *names, *cells;
    kb_text_span measurement;
    long long counts; /* of a second */
    kb_buffer sheet;
    const char *problem;
} influx;

/* ---------------------------------------------------------------- a line */

/* The first of `stops` that is neither escaped nor quoted. */
static const char *find_stop(const char *c, const char *end, const char *stops)
{
    bool is_quoted = false;
    for (; c < end; c++) {
        if (*c == '\\' && c + 1 < end) c++;
        else if (*c == '"') is_quoted = !is_quoted;
        else if (!is_quoted && *c && strchr(stops, *c)) return c;
    }
    return end;
}

static bool take_time(const char *c, const char *end, influx_line *line)
{
    bool is_negative = c < end && *c == '-';
    line->time = line->digits = 0;
    for (c += is_negative; c < end && *c >= '0' && *c <= '9' && line->digits < MOST_DIGITS; c++, line->digits++)
        if (__builtin_mul_overflow(line->time, 10, &line->time) ||
            __builtin_add_overflow(line->time, *c - '0', &line->time))
            return false;
    if (is_negative) line->time = -line->time;
    return c == end && line->digits >= FEWEST_DIGITS;
}

static bool cut_line(const char *c, const char *end, influx_line *line)
{
    while (end > c && strchr(" \t\r", end[-1])) end--;
    const char *key = find_stop(c, end, " "), *comma = find_stop(c, key, ","),
               *fields = key < end ? find_stop(key + 1, end, " ") : end;
    if (comma == c || fields == end || find_stop(key + 1, fields, "=") == fields) return false;
    line->measurement = (kb_text_span){c, comma};
    line->tags = (kb_text_span){comma < key ? comma + 1 : key, key};
    line->fields = (kb_text_span){key + 1, fields};
    return find_stop(c, comma, "=") == comma && take_time(fields + 1, end, line);
}

/* name=value, and what follows its comma. */
static bool take_pair(kb_text_span *rest, kb_text_span *name, kb_text_span *value)
{
    if (rest->begin >= rest->end) return false;
    const char *comma = find_stop(rest->begin, rest->end, ","), *equals = find_stop(rest->begin, comma, "=");
    *name = (kb_text_span){rest->begin, equals};
    *value = (kb_text_span){equals < comma ? equals + 1 : comma, comma};
    rest->begin = comma < rest->end ? comma + 1 : comma;
    return true;
}

/* ---------------------------------------------------------------- the sheet */

static bool is_same(kb_text_span a, kb_text_span b)
{
    return a.end - a.begin == b.end - b.begin && memcmp(a.begin, b.begin, (size_t)(a.end - a.begin)) == 0;
}

static size_t column_of(const influx *f, kb_text_span name, size_t from, size_t until)
{
    while (from < until && !is_same(f->names[from], name)) from++;
    return from;
}

static void put_text(influx *f, kb_text_span s)
{
    kb_buffer_put(&f->sheet, "\"");
    for (const char *c = s.begin; c < s.end; c++) {
        if (*c == '\\' && c + 1 < s.end) c++;
        if (*c != '"') kb_buffer_add(&f->sheet, c, 1);
    }
    kb_buffer_put(&f->sheet, "\"");
}

/* 1.5, 2i, 2u, true, "text" */
static void put_value(influx *f, kb_text_span s)
{
    if (s.begin == s.end) return;
    size_t n = (size_t)(s.end - s.begin);
    if (*s.begin == '"') put_text(f, s);
    else if (strchr("tT", *s.begin)) kb_buffer_put(&f->sheet, "1");
    else if (strchr("fF", *s.begin)) kb_buffer_put(&f->sheet, "0");
    else kb_buffer_add(&f->sheet, s.begin, strchr("iu", s.end[-1]) ? n - 1 : n);
}

static void add_columns(influx *f, kb_text_span rest, size_t from)
{
    kb_text_span name, value;
    while (take_pair(&rest, &name, &value)) {
        if (column_of(f, name, from, f->n) < f->n) continue;
        if (f->n == MOST_COLUMNS) f->problem = "has more than 1000 fields";
        else f->names[f->n++] = name;
    }
}

static void put_header(influx *f)
{
    kb_buffer_put(&f->sheet, "time");
    for (size_t i = 0; i < f->n; i++) {
        kb_buffer_put(&f->sheet, ",");
        put_text(f, f->names[i]);
    }
    kb_buffer_put(&f->sheet, "\n");
}

static void put_time(influx *f, long long time)
{
    long long fraction = (time % f->counts + f->counts) % f->counts;
    time_t seconds = (time_t)(time / f->counts) - (time % f->counts < 0);
    struct tm now;
    if (!gmtime_r(&seconds, &now)) return;
    kb_buffer_print(&f->sheet, "%04d-%02d-%02dT%02d:%02d:%02d.%09lldZ", 1900 + now.tm_year, 1 + now.tm_mon, now.tm_mday,
                    now.tm_hour, now.tm_min, now.tm_sec, fraction * (1000000000 / f->counts));
}

static void put_row(influx *f, const influx_line *line)
{
    kb_text_span rest = line->tags, name, value;
    memset(f->cells, 0, f->n * sizeof *f->cells);
    while (take_pair(&rest, &name, &value)) f->cells[column_of(f, name, 0, f->n_tags)] = value;
    for (rest = line->fields; take_pair(&rest, &name, &value);) f->cells[column_of(f, name, f->n_tags, f->n)] = value;
    put_time(f, line->time);
    for (size_t i = 0; i < f->n; i++) {
        kb_buffer_put(&f->sheet, ",");
        if (i < f->n_tags && f->cells[i].begin) put_text(f, f->cells[i]);
        else if (f->cells[i].begin) put_value(f, f->cells[i]);
    }
    kb_buffer_put(&f->sheet, "\n");
}

/* ---------------------------------------------------------------- all lines */

enum { TAGS, FIELDS, ROWS, PASSES };

/* Nanoseconds, microseconds, milliseconds or seconds, by the digits of a time in our days. */
static long long counts_of(int digits)
{
    return digits > 17 ? 1000000000 : digits > 14 ? 1000000 : digits > 11 ? 1000 : 1;
}

static void take_line(influx *f, int pass, const influx_line *line)
{
    if (!f->measurement.begin) {
        f->measurement = line->measurement;
        f->counts = counts_of(line->digits);
    }
    if (!is_same(f->measurement, line->measurement)) f->problem = "has several measurements: keep the lines of one";
    if (pass == TAGS) add_columns(f, line->tags, 0);
    else if (pass == FIELDS) add_columns(f, line->fields, f->n_tags);
    else put_row(f, line);
}

static void take_lines(influx *f, const kb_file *file, int pass)
{
    const char *c = (const char *)file->bytes, *end = c + file->size;
    while (c < end && !f->problem) {
        const char *newline = memchr(c, '\n', (size_t)(end - c)), *stop = newline ? newline : end;
        influx_line line;
        bool is_blank = c == stop || *c == '#' || (*c == '\r' && c + 1 == stop);
        if (!is_blank && !cut_line(c, stop, &line))
            f->problem =
                "has lines of another form, or without a time: measurement,tag=a field=1.5 1672531200000000000";
        else if (!is_blank) take_line(f, pass, &line);
        c = newline ? newline + 1 : end;
    }
    if (pass == TAGS) f->n_tags = f->n;
    if (pass == FIELDS) put_header(f);
}

bool kb_is_influx(const kb_file *file)
{
    const char *c = (const char *)file->bytes, *end = c + file->size;
    influx_line line;
    while (c < end && strchr("#\r\n", *c)) {
        const char *newline = memchr(c, '\n', (size_t)(end - c));
        c = newline ? newline + 1 : end;
    }
    const char *newline = c < end ? memchr(c, '\n', (size_t)(end - c)) : NULL;
    return c < end && cut_line(c, newline ? newline : end, &line);
}

kbass_status kb_read_influx(kb_reading *r, kbass_data *data)
{
    influx f = {.names = KB_NEW(kb_text_span, MOST_COLUMNS + 1), .cells = KB_NEW(kb_text_span, MOST_COLUMNS + 1)};
    kbass_status status =
        f.names && f.cells ? kb_file_complete(&r->file, r->error) : kb_out_of_memory(r->error, "lines");
    for (int pass = 0; status == KBASS_OK && pass < PASSES; pass++) take_lines(&f, &r->file, pass);
    if (status == KBASS_OK && f.problem)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: InfluxDB's line protocol %s", r->file.path, f.problem);
    if (status == KBASS_OK && f.sheet.is_lost) status = kb_out_of_memory(r->error, "the lines");
    if (status == KBASS_OK) status = kb_read_sheet(r, f.sheet.text, f.sheet.length, data);
    kb_buffer_clear(&f.sheet);
    kb_free(f.names);
    kb_free(f.cells);
    return status;
}
