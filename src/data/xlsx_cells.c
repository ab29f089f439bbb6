/* The cells of a sheet, and which of them are merged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/xlsx.h"

typedef struct {
    kb_workbook *book;
    kb_cells *cells;
    size_t row, column; /* of the cell at hand */
    char type[12];
    size_t style;
    bool is_in_cell, is_value, is_phonetic, has_formula;
    kb_buffer value;
} sheet;

static kbass_status fail_at(const sheet *s, const char *what, const char *value)
{
    char letters[4] = "", name[8];
    size_t n = 0;
    for (size_t c = s->column; c && n < sizeof letters - 1; c = (c - 1) / 26) letters[n++] = (char)('A' + (c - 1) % 26);
    for (size_t i = 0; i < n; i++) name[i] = letters[n - 1 - i];
    name[n] = '\0';
    return kb_fail(s->book->reading->error, KBASS_ERROR_DATA, "%s:%zu: cell %s%zu %s%.60s", s->book->reading->file.path,
                   s->row, name, s->row, what, value);
}

/* ---------------------------------------------------------------- places */

/* "AB12"; what is missing is 0. */
static const char *read_place(const char *text, size_t *row, size_t *column)
{
    *row = *column = 0;
    for (; *text == '$'; text++) {}
    for (; *text >= 'A' && *text <= 'Z' && *column <= KB_MOST_SHEET_COLUMNS; text++)
        *column = 26 * *column + (size_t)(*text - 'A' + 1);
    for (; *text == '$'; text++) {}
    for (; *text >= '0' && *text <= '9' && *row <= KB_MOST_SHEET_ROWS; text++) *row = 10 * *row + (size_t)(*text - '0');
    return text;
}

static bool is_place(size_t row, size_t column)
{
    return row >= 1 && row <= KB_MOST_SHEET_ROWS && column >= 1 && column <= KB_MOST_SHEET_COLUMNS;
}

static void begin_cell(kb_xml *xml, sheet *s, const char **attributes)
{
    const char *place = kb_xml_attribute(attributes, "r"), *type = kb_xml_attribute(attributes, "t");
    const char *style = kb_xml_attribute(attributes, "s");
    size_t row = s->row;
    s->column++;
    if (place) read_place(place, &s->row, &s->column);
    if (s->row != row || !is_place(s->row, s->column)) {
        s->row = row;
        kb_xml_stop(xml, fail_at(s, "is out of its row: ", place ? place : ""));
    }
    snprintf(s->type, sizeof s->type, "%.11s", type ? type : "n");
    s->style = style ? strtoul(style, NULL, 10) : 0;
    s->is_in_cell = true;
    s->is_value = s->has_formula = s->is_phonetic = false;
    s->value.length = 0;
}

static void begin_row(kb_xml *xml, sheet *s, const char **attributes)
{
    const char *number = kb_xml_attribute(attributes, "r");
    size_t row = s->row + 1;
    if (number) row = strtoul(number, NULL, 10);
    s->row = row;
    s->column = 0;
    if (!is_place(row, 1)) kb_xml_stop(xml, fail_at(s, "is beyond the last row that a sheet can have", ""));
}

/* "A1:C2" */
static void add_merged(kb_xml *xml, sheet *s, const char *text)
{
    kb_cells *c = s->cells;
    size_t first[2] = {0}, last[2] = {0};
    const char *colon = text ? read_place(text, &first[0], &first[1]) : "";
    if (*colon != ':') return;
    read_place(colon + 1, &last[0], &last[1]);
    bool is_range =
        is_place(first[0], first[1]) && is_place(last[0], last[1]) && first[0] <= last[0] && first[1] <= last[1];
    if (!is_range) return;
    if (!kb_xml_grow(xml, (void **)&c->merged, c->n_merged, &c->merged_capacity, sizeof *c->merged)) return;
    c->merged[c->n_merged++] = (kb_cell_range){.rows = {(uint32_t)first[0], (uint32_t)last[0]},
                                               .columns = {(uint32_t)first[1], (uint32_t)last[1]}};
}

static void begin(kb_xml *xml, const char *name, const char **attributes)
{
    sheet *s = xml->user;
    if (strcmp(name, "row") == 0) begin_row(xml, s, attributes);
    else if (strcmp(name, "c") == 0) begin_cell(xml, s, attributes);
    else if (strcmp(name, "mergeCell") == 0) add_merged(xml, s, kb_xml_attribute(attributes, "ref"));
    if (!s->is_in_cell) return;
    if (strcmp(name, "f") == 0) s->has_formula = true;
    if (strcmp(name, "rPh") == 0) s->is_phonetic = true;
    if (strcmp(name, "v") == 0 || (strcmp(name, "t") == 0 && !s->is_phonetic)) s->is_value = true;
}

static void text(kb_xml *xml, const char *bytes, size_t length)
{
    sheet *s = xml->user;
    if (s->is_value) kb_buffer_add(&s->value, bytes, length);
}

/* ---------------------------------------------------------------- values */

static void add_cell(kb_xml *xml, sheet *s, bool is_text, size_t place)
{
    kb_cells *c = s->cells;
    if (!s->book->texts.text[place]) return; /* empty */
    if (!kb_xml_grow(xml, (void **)&c->cells, c->n, &c->capacity, sizeof *c->cells)) return;
    c->cells[c->n++] = (kb_cell){(uint32_t)s->row, (uint32_t)s->column, is_text, place};
}

static void add_own_text(kb_xml *xml, sheet *s, bool is_text, const char *value)
{
    size_t place = kb_texts_add(&s->book->texts, value, strlen(value));
    if (s->book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(s->book->reading->error, "the cells"));
    else add_cell(xml, s, is_text, place);
}

static void add_shared_text(kb_xml *xml, sheet *s, const char *value)
{
    char *end = NULL;
    unsigned long index = strtoul(value, &end, 10);
    if (*end || end == value || index >= s->book->n_strings)
        kb_xml_stop(xml, fail_at(s, "refers to a text that is not there: ", value));
    else add_cell(xml, s, true, s->book->strings[index]);
}

static void add_number(kb_xml *xml, sheet *s, const char *value)
{
    char date[KB_DATE_SIZE];
    double number = 0;
    kb_look look = s->style < s->book->n_styles ? s->book->styles[s->style] : KB_PLAIN_NUMBER;
    if (!kb_number_parse(value, &number) || !isfinite(number))
        kb_xml_stop(xml, fail_at(s, "should be a number and is ", value));
    else if (kb_serial_print(number, look, s->book->begins_1904, date)) add_own_text(xml, s, false, date);
    else add_own_text(xml, s, false, value);
}

static void end_cell(kb_xml *xml, sheet *s)
{
    const char *value = s->value.length ? s->value.text : "";
    if (s->value.is_lost) kb_xml_stop(xml, kb_out_of_memory(s->book->reading->error, "the cells"));
    else if (s->has_formula && !*value && strcmp(s->type, "str") != 0)
        kb_xml_stop(xml, fail_at(s, "has a formula without its value: open the file in a spreadsheet and save it", ""));
    else if (!*value) return;
    else if (strcmp(s->type, "s") == 0) add_shared_text(xml, s, value);
    else if (strcmp(s->type, "e") == 0) s->cells->n_errors++;
    else if (strcmp(s->type, "str") == 0 || strcmp(s->type, "inlineStr") == 0) add_own_text(xml, s, true, value);
    else if (strcmp(s->type, "d") == 0 || strcmp(s->type, "b") == 0) add_own_text(xml, s, false, value);
    else add_number(xml, s, value);
}

static void end(kb_xml *xml, const char *name)
{
    sheet *s = xml->user;
    if (!s->is_in_cell) return;
    if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) s->is_value = false;
    if (strcmp(name, "rPh") == 0) s->is_phonetic = false;
    if (strcmp(name, "c") != 0) return;
    s->is_in_cell = s->is_value = false;
    end_cell(xml, s);
}

/* ---------------------------------------------------------------- the part */

static int by_place(const void *left, const void *right)
{
    const kb_cell *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

kbass_status kb_cells_read(kb_workbook *book, const char *part, kb_cells *cells)
{
    sheet s = {.book = book, .cells = cells};
    char *copy = kb_strdup(part); /* the texts moves while it grows */
    kb_xml xml = {.reading = book->reading, .part = copy, .begin = begin, .end = end, .text = text, .user = &s};
    kbass_status status = copy ? kb_xml_read(&xml) : kb_out_of_memory(book->reading->error, "the cells");
    if (status == KBASS_OK && cells->n) qsort(cells->cells, cells->n, sizeof *cells->cells, by_place);
    for (size_t i = 1; status == KBASS_OK && i < cells->n; i++) {
        if (by_place(&cells->cells[i - 1], &cells->cells[i]) != 0) continue;
        s.row = cells->cells[i].row;
        s.column = cells->cells[i].column;
        status = fail_at(&s, "stands there twice", "");
    }
    kb_buffer_clear(&s.value);
    kb_free(copy);
    return status;
}
