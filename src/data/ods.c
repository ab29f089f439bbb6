/* OpenDocument's spreadsheets (.ods): all sheets in one XML part. Cells come out as those of xlsx_cells.c do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/xlsx.h"

static const char part[] = "content.xml";
enum { MOST_COPIES = 1 << 20 }; /* of cells, which a few bytes may ask for */

typedef struct {
    kb_workbook *book;
    kb_cells *cells; /* NULL: only the sheets are listed */
    size_t wanted, n_tables, sheets_capacity;
    size_t row, column, n_rows; /* the place from 1, and how often the row comes */
    size_t first_of_row;        /* its first cell among all */
    size_t n_columns, n_copies; /* how often the cell comes; cells made so */
    size_t spans[2];            /* rows and columns that are merged with it */
    char type[16];
    char style[64];
    bool is_in_sheet, is_in_cell, is_covered, has_formula, is_error, is_value;
    int n_remarks; /* around what is read: their text is not the cell's */
    kb_buffer value;
    kb_buffer hidden; /* styles of sheets that are not shown, ";a;;b;" */
} ods;

static kbass_status fail_at(const ods *o, const char *what)
{
    const kb_reading *r = o->book->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s:%zu: cell %zu of row %zu %s", r->file.path, o->row, o->column,
                   o->row, what);
}

/* ---------------------------------------------------------------- sheets */

/* Styles of sheets that are not shown. */
static void begin_style(ods *o, const char *name, const char **attributes)
{
    const char *display = kb_xml_attribute(attributes, "display"), *style = kb_xml_attribute(attributes, "name");
    if (strcmp(name, "style") == 0) snprintf(o->style, sizeof o->style, "%.63s", style ? style : "");
    if (strcmp(name, "table-properties") == 0 && display && strcmp(display, "false") == 0)
        kb_buffer_print(&o->hidden, ";%s;", o->style);
}

static bool is_hidden(const ods *o, const char *style)
{
    char entry[72];
    snprintf(entry, sizeof entry, ";%.63s;", style ? style : "");
    return style && o->hidden.text && strstr(o->hidden.text, entry);
}

static void begin_table(kb_xml *xml, ods *o, const char **attributes)
{
    kb_workbook *book = o->book;
    const char *name = kb_xml_attribute(attributes, "name");
    o->is_in_sheet = o->cells && o->n_tables == o->wanted;
    o->n_tables++;
    o->row = 0;
    o->n_rows = 1;
    if (o->cells) return;
    if (!kb_xml_grow(xml, (void **)&book->sheets, book->n_sheets, &o->sheets_capacity, sizeof *book->sheets)) return;
    if (!name) name = "";
    size_t place = kb_texts_add(&book->texts, name, strlen(name));
    book->sheets[book->n_sheets++] = (kb_sheet_entry){
        .name = place, .part = place, .is_hidden = is_hidden(o, kb_xml_attribute(attributes, "style-name"))};
    if (book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(book->reading->error, "the workbook"));
}

/* ---------------------------------------------------------------- rows and cells */

static size_t count_of(const char **attributes, const char *name, size_t most)
{
    const char *text = kb_xml_attribute(attributes, name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 1;
    return n < 1 ? 1 : n > most ? most : n;
}

static void begin_row(ods *o, const char **attributes)
{
    o->row += o->n_rows;
    o->n_rows = count_of(attributes, "number-rows-repeated", KB_MOST_SHEET_ROWS);
    o->column = 0;
    o->n_columns = 1;
    o->first_of_row = o->cells->n;
}

/* The value that an attribute has, by the cell's type. */
static void take_value(ods *o, const char **attributes)
{
    static const char *const names[][2] = {{"float", "value"},     {"percentage", "value"},
                                           {"currency", "value"},  {"date", "date-value"},
                                           {"time", "time-value"}, {"boolean", "boolean-value"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = strcmp(o->type, names[i][0]) == 0 ? kb_xml_attribute(attributes, names[i][1]) : NULL;
        if (value) kb_buffer_put(&o->value, value);
    }
}

static void begin_cell(ods *o, const char **attributes, bool is_covered)
{
    o->column += o->n_columns;
    o->n_columns = count_of(attributes, "number-columns-repeated", KB_MOST_SHEET_COLUMNS);
    o->spans[0] = count_of(attributes, "number-rows-spanned", KB_MOST_SHEET_ROWS);
    o->spans[1] = count_of(attributes, "number-columns-spanned", KB_MOST_SHEET_COLUMNS);
    o->type[0] = '\0';
    o->is_in_cell = true;
    o->is_covered = is_covered;
    o->has_formula = kb_xml_attribute(attributes, "formula") != NULL;
    o->is_error = o->is_value = false;
    o->value.length = 0;
    for (const char **a = attributes; *a; a += 2) {
        const char *colon = strrchr(a[0], ':');
        if (strcmp(colon ? colon + 1 : a[0], "value-type") != 0) continue;
        o->is_error |= strcmp(a[1], "error") == 0;
        if (!o->type[0]) snprintf(o->type, sizeof o->type, "%.15s", a[1]);
    }
    take_value(o, attributes);
}

static void begin(kb_xml *xml, const char *name, const char **attributes)
{
    ods *o = xml->user;
    if (!o->n_tables) begin_style(o, name, attributes);
    if (strcmp(name, "table") == 0) begin_table(xml, o, attributes);
    if (!o->is_in_sheet) return;
    bool is_covered = strcmp(name, "covered-table-cell") == 0;
    if (strcmp(name, "table-row") == 0) begin_row(o, attributes);
    else if (strcmp(name, "table-cell") == 0 || is_covered) begin_cell(o, attributes, is_covered);
    else if (strcmp(name, "annotation") == 0) o->n_remarks++;
    if (!o->is_in_cell || o->n_remarks || (*o->type && strcmp(o->type, "string") != 0)) return;
    if (strcmp(name, "p") == 0 && o->value.length) kb_buffer_put(&o->value, " ");
    if (strcmp(name, "p") == 0) o->is_value = true;
    if (strcmp(name, "s") == 0 || strcmp(name, "tab") == 0 || strcmp(name, "line-break") == 0)
        kb_buffer_put(&o->value, " ");
}

static void text(kb_xml *xml, const char *bytes, size_t length)
{
    ods *o = xml->user;
    if (o->is_value && !o->n_remarks) kb_buffer_add(&o->value, bytes, length);
}

/* ---------------------------------------------------------------- values */

/* PT36H05M07.5S as 36:05:07.5, which is what dates and times of day are read from. */
static bool print_clock(const char *value, char clock[KB_DATE_SIZE])
{
    unsigned hours = 0, minutes = 0;
    char seconds[16] = "00";
    int n = 0;
    bool is_clock = sscanf(value, "PT%8uH%2uM%n", &hours, &minutes, &n) == 2 && n;
    size_t length = is_clock ? strspn(value + n, "0123456789.,") : 0;
    if (!is_clock || length >= sizeof seconds || strcmp(value + n + length, "S") != 0) return false;
    snprintf(seconds, sizeof seconds, "%.*s", (int)length, value + n);
    for (char *c = seconds; *c; c++)
        if (*c == ',') *c = '.';
    size_t fraction = strcspn(seconds, "."); /* LibreOffice writes nine digits, mostly noughts */
    size_t end = strlen(seconds);
    while (end > fraction && (seconds[end - 1] == '0' || seconds[end - 1] == '.')) seconds[--end] = '\0';
    snprintf(clock, KB_DATE_SIZE, "%02u:%02u:%s", hours, minutes, *seconds ? seconds : "00");
    return true;
}

static void add_copies(kb_xml *xml, ods *o, bool is_text, size_t place)
{
    kb_cells *c = o->cells;
    size_t n = o->n_columns;
    if (o->column + n - 1 > KB_MOST_SHEET_COLUMNS || o->row > KB_MOST_SHEET_ROWS)
        kb_xml_stop(xml, fail_at(o, "is beyond the last place that a sheet can have"));
    else if ((o->n_copies += n - 1) > MOST_COPIES) kb_xml_stop(xml, fail_at(o, "repeats its value without end"));
    for (size_t i = 0; i < n && xml->status == KBASS_OK; i++) {
        if (!kb_xml_grow(xml, (void **)&c->cells, c->n, &c->capacity, sizeof *c->cells)) return;
        c->cells[c->n++] = (kb_cell){(uint32_t)o->row, (uint32_t)(o->column + i), is_text, place};
    }
}

static void add_merged(kb_xml *xml, ods *o)
{
    kb_cells *c = o->cells;
    size_t last[2] = {o->row + o->spans[0] - 1, o->column + o->spans[1] - 1};
    if ((o->spans[0] == 1 && o->spans[1] == 1) || last[0] > KB_MOST_SHEET_ROWS || last[1] > KB_MOST_SHEET_COLUMNS)
        return;
    if (!kb_xml_grow(xml, (void **)&c->merged, c->n_merged, &c->merged_capacity, sizeof *c->merged)) return;
    c->merged[c->n_merged++] = (kb_cell_range){.rows = {(uint32_t)o->row, (uint32_t)last[0]},
                                               .columns = {(uint32_t)o->column, (uint32_t)last[1]}};
}

static void end_cell(kb_xml *xml, ods *o)
{
    char clock[KB_DATE_SIZE];
    double number = 0;
    const char *value = o->value.length ? o->value.text : "";
    bool is_text = !*o->type || strcmp(o->type, "string") == 0,
         is_number = strstr("float percentage currency", o->type);
    o->is_in_cell = o->is_value = false;
    if (o->value.is_lost) {
        kb_xml_stop(xml, kb_out_of_memory(o->book->reading->error, "the cells"));
        return;
    }
    if (o->is_error && !o->is_covered) o->cells->n_errors++;
    if (o->has_formula && !*o->type)
        kb_xml_stop(xml, fail_at(o, "has a formula without its value: open the file in a spreadsheet and save it"));
    else if (!is_text && is_number && !kb_number_parse(value, &number))
        kb_xml_stop(xml, fail_at(o, "should be a number and is none"));
    if (!*value || o->is_error || o->is_covered || xml->status != KBASS_OK) return;
    if (strcmp(o->type, "time") == 0 && print_clock(value, clock)) value = clock;
    if (strcmp(o->type, "boolean") == 0) value = strcmp(value, "true") == 0 ? "1" : "0";
    size_t place = kb_texts_add(&o->book->texts, value, strlen(value));
    if (o->book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(o->book->reading->error, "the cells"));
    else add_copies(xml, o, is_text, place);
    if (xml->status == KBASS_OK) add_merged(xml, o);
}

/* A row that comes several times. */
static void end_row(kb_xml *xml, ods *o)
{
    kb_cells *c = o->cells;
    size_t first = o->first_of_row, n = c->n - first;
    if (!n || o->n_rows == 1) return;
    if (o->row + o->n_rows - 1 > KB_MOST_SHEET_ROWS || n * (o->n_rows - 1) > MOST_COPIES - o->n_copies) {
        kb_xml_stop(xml, fail_at(o, "repeats its value without end"));
        return;
    }
    o->n_copies += n * (o->n_rows - 1);
    for (size_t k = 1; k < o->n_rows; k++)
        for (size_t i = 0; i < n; i++) {
            if (!kb_xml_grow(xml, (void **)&c->cells, c->n, &c->capacity, sizeof *c->cells)) return;
            c->cells[c->n] = c->cells[first + i];
            c->cells[c->n++].row += (uint32_t)k;
        }
}

static void end(kb_xml *xml, const char *name)
{
    ods *o = xml->user;
    if (strcmp(name, "table") == 0) o->is_in_sheet = false;
    if (!o->is_in_sheet) return;
    if (strcmp(name, "annotation") == 0 && o->n_remarks) o->n_remarks--;
    if (strcmp(name, "p") == 0 && !o->n_remarks) o->is_value = false;
    if (strcmp(name, "table-row") == 0) end_row(xml, o);
    else if (o->is_in_cell && (strcmp(name, "table-cell") == 0 || strcmp(name, "covered-table-cell") == 0))
        end_cell(xml, o);
}

/* ---------------------------------------------------------------- the part */

static kbass_status read_part(ods *o)
{
    kb_xml xml = {.reading = o->book->reading, .part = part, .begin = begin, .end = end, .text = text, .user = o};
    kbass_status status = kb_xml_read(&xml);
    if (status == KBASS_OK && o->hidden.is_lost) status = kb_out_of_memory(o->book->reading->error, "the workbook");
    kb_buffer_clear(&o->value);
    kb_buffer_clear(&o->hidden);
    return status;
}

bool kb_is_ods(const kb_file *file)
{
    static const char kind[] = "application/vnd.oasis.opendocument.spreadsheet";
    kb_zip_entry e;
    if (!kb_is_zip(file) || !kb_zip_find(file, "mimetype", &e) || !kb_zip_is_stored(&e)) return false;
    const unsigned char *bytes = kb_zip_trouble(file, &e) ? NULL : kb_zip_bytes(file, &e);
    return bytes && e.size >= sizeof kind - 1 && memcmp(bytes, kind, sizeof kind - 1) == 0 &&
           kb_zip_find(file, part, &e);
}

kbass_status kb_ods_list(kb_workbook *book)
{
    ods o = {.book = book};
    return read_part(&o);
}

kbass_status kb_ods_cells(kb_workbook *book, size_t sheet, kb_cells *cells)
{
    ods o = {.book = book, .cells = cells, .wanted = sheet};
    return read_part(&o);
}
