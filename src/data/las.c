/* Well logs (LAS 1.2 and 2.0): sections that begin with ~, of which ~C names the columns, ~W has the value that means
 * "missing", ~A the rows. They become a sheet with a line for each line of the file.
 */
#include "data/logs.h"

#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/status.h"

enum { LONGEST = 64 }; /* of a number */

typedef struct {
    kb_buffer names, sheet;
    char section; /* V, W, C, P, O, A; 0 before the first */
    bool has_missing, is_wrapped;
    double missing;
} las;

static kb_text_span trimmed(const char *begin, const char *end)
{
    while (begin < end && strchr(" \t\r", *begin)) begin++;
    while (end > begin && strchr(" \t\r", end[-1])) end--;
    return (kb_text_span){begin, end};
}

static bool is_word(kb_text_span s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s.end - s.begin) == n && strncasecmp(s.begin, word, n) == 0;
}

static bool parse(kb_text_span s, double *number)
{
    char text[LONGEST] = "";
    if (s.end - s.begin >= LONGEST || s.begin == s.end) return false;
    memcpy(text, s.begin, (size_t)(s.end - s.begin));
    return kb_number_parse(text, number);
}

/* MNEMONIC.UNIT VALUE : DESCRIPTION */
static bool cut_entry(kb_text_span line, kb_text_span *name, kb_text_span *unit, kb_text_span *value)
{
    const char *point = memchr(line.begin, '.', (size_t)(line.end - line.begin)), *colon = line.end;
    if (!point) return false;
    const char *blank = point + 1;
    while (blank < line.end && !strchr(" \t:", *blank)) blank++;
    for (const char *c = blank; c < line.end; c++)
        if (*c == ':') colon = c;
    *name = trimmed(line.begin, point);
    *unit = (kb_text_span){point + 1, blank};
    *value = trimmed(blank, colon);
    return true;
}

static void put_quoted(kb_buffer *to, kb_text_span s)
{
    for (const char *c = s.begin; c < s.end; c++) kb_buffer_add(to, *c == '"' ? "'" : c, 1);
}

static void take_entry(las *l, kb_text_span line)
{
    kb_text_span name, unit, value;
    if (!cut_entry(line, &name, &unit, &value)) return;
    if (l->section == 'V' && is_word(name, "WRAP")) l->is_wrapped = is_word(value, "YES");
    if (l->section == 'W' && is_word(name, "NULL")) l->has_missing = parse(value, &l->missing);
    if (l->section != 'C') return;
    kb_buffer_put(&l->names, l->names.length ? ",\"" : "\"");
    put_quoted(&l->names, name);
    if (unit.end > unit.begin) kb_buffer_put(&l->names, " [");
    put_quoted(&l->names, unit);
    kb_buffer_put(&l->names, unit.end > unit.begin ? "]\"" : "\"");
}

static void take_row(las *l, kb_text_span line)
{
    for (const char *c = line.begin; c < line.end;) {
        kb_text_span cell = {c, c};
        double number;
        while (cell.end < line.end && !strchr(" \t,", *cell.end)) cell.end++;
        if (c > line.begin) kb_buffer_put(&l->sheet, ",");
        bool is_missing = l->has_missing && parse(cell, &number) && number == l->missing;
        if (!is_missing) kb_buffer_add(&l->sheet, cell.begin, (size_t)(cell.end - cell.begin));
        for (c = cell.end; c < line.end && strchr(" \t,", *c);) c++;
    }
}

static void take_line(las *l, kb_text_span line)
{
    if (line.begin < line.end && *line.begin == '~') {
        l->section = line.begin + 1 < line.end ? (char)(line.begin[1] & ~32) : 0;
        if (l->section == 'A' && l->names.length) kb_buffer_put(&l->sheet, l->names.text);
    } else if (line.begin < line.end && *line.begin != '#') {
        if (l->section == 'A') take_row(l, line);
        else take_entry(l, line);
    }
    kb_buffer_put(&l->sheet, "\n");
}

bool kb_is_las(const kb_file *file)
{
    const char *c = (const char *)file->bytes, *end = c + file->size;
    while (c < end && (strchr(" \t\r\n", *c) || *c == '#')) {
        const char *newline = *c == '#' ? memchr(c, '\n', (size_t)(end - c)) : c;
        c = newline ? newline + 1 : end;
    }
    return end - c > 2 && c[0] == '~' && (c[1] == 'V' || c[1] == 'v');
}

kbass_status kb_read_las(kb_reading *r, kbass_data *data)
{
    las l = {0};
    kbass_status status = kb_file_complete(&r->file, r->error);
    const char *c = (const char *)r->file.bytes, *end = c + r->file.size;
    while (status == KBASS_OK && c < end) {
        const char *newline = memchr(c, '\n', (size_t)(end - c)), *stop = newline ? newline : end;
        take_line(&l, trimmed(c, stop));
        c = newline ? newline + 1 : end;
    }
    if (status == KBASS_OK && (l.sheet.is_lost || l.names.is_lost)) status = kb_out_of_memory(r->error, "the log");
    if (status == KBASS_OK && l.is_wrapped)
        status = kb_fail(r->error, KBASS_ERROR_DATA,
                         "%s: a well log whose rows are wrapped over several lines: save it unwrapped (WRAP. NO)",
                         r->file.path);
    else if (status == KBASS_OK && (l.section != 'A' || !l.names.length))
        status = kb_fail(r->error, KBASS_ERROR_DATA,
                         "%s: a well log without %s: sections ~V, ~W, ~C and, last, ~A are needed", r->file.path,
                         l.names.length ? "rows (~A)" : "names of its curves (~C)");
    if (status == KBASS_OK) status = kb_read_sheet(r, l.sheet.text, l.sheet.length, data);
    kb_buffer_clear(&l.names);
    kb_buffer_clear(&l.sheet);
    return status;
}
