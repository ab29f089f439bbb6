/* Workbooks of Excel (.xlsx) and OpenDocument (.ods): a zip archive of XML parts.
 *
 * xlsx.c finds the sheet that is asked for and what its cells refer to; xlsx_styles.c tells dates from numbers;
 * xlsx_cells.c reads the cells; ods.c does all that for OpenDocument; xlsx_table.c makes of them the text that
 * kb_read_sheet reads like any other.
 */
#ifndef KB_XLSX_H
#define KB_XLSX_H

#include "base/buffer.h"
#include "data/xml.h"

enum { KB_MOST_SHEET_ROWS = 1 << 20, KB_MOST_SHEET_COLUMNS = 1 << 14, KB_DATE_SIZE = 48 };

typedef enum { KB_PLAIN_NUMBER, KB_DATE, KB_CLOCK, KB_ELAPSED } kb_look;

typedef struct {
    size_t name, id, part; /* places in the texts; part 0: not found */
    bool is_hidden;
} kb_sheet_entry;

typedef struct {
    kb_reading *reading;
    kb_buffer texts; /* texts with a NUL behind each; the first is "" */
    size_t strings_part, styles_part;
    size_t n_sheets;
    kb_sheet_entry *sheets;
    size_t n_strings, n_styles;
    size_t *strings; /* places of the shared texts */
    kb_look *styles; /* what numbers of each style are */
    bool begins_1904, is_ods;
} kb_workbook;

typedef struct {
    uint32_t row, column; /* from 1 */
    bool is_text;
    size_t text; /* its place in the texts */
} kb_cell;

typedef struct {
    uint32_t rows[2], columns[2]; /* first and last */
} kb_cell_range;

typedef struct {
    size_t n, capacity;
    kb_cell *cells; /* in order of rows, then columns */
    size_t n_merged, merged_capacity;
    kb_cell_range *merged;
    size_t n_errors; /* cells with #N/A and the like, which are missing */
    size_t aside;    /* a text that stands outside of the table, its place; 0: none */
} kb_cells;

/* Adds a text to the texts; its place. */
size_t kb_texts_add(kb_buffer *texts, const char *text, size_t length);
/* One more of a list that grows; NULL, and the xml is stopped, without memory. */
void *kb_xml_grow(kb_xml *xml, void **list, size_t n, size_t *capacity, size_t size);

kbass_status kb_styles_read(kb_workbook *book);
/* A serial number of days as a date or a time of day; false where it is neither. */
bool kb_serial_print(double serial, kb_look look, bool begins_1904, char text[KB_DATE_SIZE]);

kbass_status kb_cells_read(kb_workbook *book, const char *part, kb_cells *cells);
/* CSV as kb_read_sheet wants it. */
kbass_status kb_cells_write(kb_workbook *book, kb_cells *cells, kb_buffer *text);

/* OpenDocument's: its sheets, and the cells of one by its number from 0. */
bool kb_is_ods(const kb_file *file);
kbass_status kb_ods_list(kb_workbook *book);
kbass_status kb_ods_cells(kb_workbook *book, size_t sheet, kb_cells *cells);

bool kb_is_workbook(const kb_file *file);
kbass_status kb_read_workbook(kb_reading *reading, kbass_data *data);

#endif
