/* What stands above the rows of a table as text: comments, directives, the line of names. */
#include "data/csv_table.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* 0 to 1; 0 also while nobody knows how much there is. */
static double share_read(const kb_csv_table *t)
{
    const kb_file *file = &t->reading->file;
    if (t->reading->sheet) return (double)t->lines.taken / (double)(t->lines.size + 1);
    return file->is_stream || !file->size ? 0 : (double)t->reading->hashed / (double)file->size;
}

kbass_status kb_csv_next_block(kb_csv_table *t)
{
    kbass_status status = kb_lines_next(&t->lines, &t->rest, &t->end);
    return status == KBASS_OK ? kb_reading_tell(t->reading, share_read(t)) : status;
}

/* Copies the comment at `rest` and goes on to the next line. */
static kbass_status take_comment(kb_csv_table *t)
{
    char *end = memchr(t->rest, '\n', (size_t)(t->end - t->rest));
    size_t length = (size_t)((end ? end : t->end) - t->rest);
    if (!kb_directive_take(&t->directives, t->rest, t->rest + length)) {
        kb_free(t->note);
        t->note = KB_NEW(char, length + 1);
        if (!t->note) return kb_out_of_memory(t->reading->error, "the header");
        memcpy(t->note, t->rest, length);
    }
    t->rest += length + (end != NULL);
    t->line++;
    return KBASS_OK;
}

/* Goes past blank lines; the first character of the one that is not, or \n when the block has no more. */
static char skip_blank_lines(kb_csv_table *t)
{
    for (const char *c = t->rest; c < t->end; c++) {
        if (*c == '\n') {
            t->rest = (char *)c + 1;
            t->line++;
        } else if (*c != ' ' && *c != '\t' && *c != '\r') {
            return *c;
        }
    }
    t->rest = t->end;
    return '\n';
}

/* A comment, or what a program says above its numbers; others that begin with an @ are names. */
static bool is_above(kb_csv_table *t, char first)
{
    kb_directives ignored = {0};
    if (kb_begins_comment(first)) return true;
    if (first != '@') return false;
    const char *end = memchr(t->rest, '\n', (size_t)(t->end - t->rest));
    bool is_one = kb_directive_take(&ignored, t->rest, end ? end : t->end);
    kb_directives_clear(&ignored);
    return is_one;
}

static void take_directives(kb_csv_table *t)
{
    char *names = kb_directives_header(&t->directives);
    if (!names) return;
    kb_free(t->note);
    t->note = names;
}

/* Goes to the first line that is neither blank nor a comment. */
static kbass_status find_table(kb_csv_table *t)
{
    kbass_status status = kb_csv_next_block(t);
    bool has_mark = status == KBASS_OK && t->end - t->rest >= 3 && memcmp(t->rest, "\xef\xbb\xbf", 3) == 0;
    if (has_mark) t->rest += 3;
    while (status == KBASS_OK && t->rest < t->end) {
        char first = skip_blank_lines(t);
        if (first != '\n' && !is_above(t, first)) return KBASS_OK;
        if (first != '\n') status = take_comment(t);
        if (status == KBASS_OK && t->rest == t->end) status = kb_csv_next_block(t);
    }
    return status;
}

/* Goes to the first row. */
static void begin_rows(kb_csv_table *t)
{
    const kb_layout *l = &t->plan.layout;
    bool has_rows = l->body < l->n;
    const kb_line *last = &l->lines[has_rows ? l->body : l->n - 1];
    t->rest = (char *)(has_rows ? last->begin : last->end);
    t->line = has_rows ? last->number - 1 : last->number;
    if (!has_rows && t->rest < t->end) t->rest++;
}

/* Lines may be moved on before the last row is read. */
static kbass_status keep_header(kb_csv_table *t)
{
    const kb_line *line = &t->plan.layout.lines[t->plan.layout.header];
    size_t length = (size_t)(line->end - line->begin);
    t->header = KB_NEW(char, length + 1);
    if (t->header) memcpy(t->header, line->begin, length);
    return t->header ? KBASS_OK : kb_out_of_memory(t->reading->error, "the header");
}

kbass_status kb_csv_read_header(kb_csv_table *t)
{
    kb_reading *r = t->reading;
    kbass_status status = find_table(t);
    if (status == KBASS_OK && t->rest == t->end)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: %s: a header row and rows of numbers are needed",
                         r->file.path, t->lines.size ? "nothing but blank lines and comments" : "the file is empty");
    if (status == KBASS_OK) take_directives(t);
    if (status == KBASS_OK) status = kb_plan_make(&t->plan, r, t->data, t->rest, t->end, t->line, t->note);
    if (status == KBASS_OK) status = keep_header(t);
    if (status == KBASS_OK) begin_rows(t);
    return status;
}
