#include "data/xlsx.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"

enum { LONGEST_PATH = 400, LIST_SIZE = 160 };

size_t kb_texts_add(kb_buffer *texts, const char *text, size_t length)
{
    size_t place = texts->length;
    kb_buffer_add(texts, text, length);
    kb_buffer_add(texts, "", 1);
    return texts->is_lost ? 0 : place;
}

void *kb_xml_grow(kb_xml *xml, void **list, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity) return *list;
    size_t more = *capacity ? 2 * *capacity : 16;
    void *grown = kb_reallocate(*list, n, more, size);
    if (!grown) {
        kb_xml_stop(xml, kb_out_of_memory(xml->reading->error, xml->part));
        return NULL;
    }
    *list = grown;
    *capacity = more;
    return grown;
}

/* ---------------------------------------------------------------- relations: which part is which */

typedef struct {
    kb_workbook *book;
    char folder[LONGEST_PATH]; /* that targets are relative to, with its slash */
    char main[LONGEST_PATH];   /* the workbook's own part */
    size_t sheets_capacity, strings_capacity;
    bool is_phonetic, is_text;
} parts;

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

/* "worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml" or "../xl/..." as a name in the archive. */
static size_t resolve(parts *p, const char *target)
{
    char path[2 * LONGEST_PATH];
    const char *folder = *target == '/' ? "" : p->folder;
    if (strlen(target) >= LONGEST_PATH) return 0;
    if (strncmp(target, "../", 3) == 0) {
        folder = "";
        target += 3;
    }
    snprintf(path, sizeof path, "%s%s", folder, target + (*target == '/'));
    return kb_texts_add(&p->book->texts, path, strlen(path));
}

static void begin_relation(kb_xml *xml, const char *name, const char **attributes)
{
    parts *p = xml->user;
    kb_workbook *book = p->book;
    const char *id = kb_xml_attribute(attributes, "Id"), *type = kb_xml_attribute(attributes, "Type");
    const char *target = kb_xml_attribute(attributes, "Target");
    if (strcmp(name, "Relationship") != 0 || !id || !type || !target) return;
    if (ends_with(type, "/officeDocument"))
        snprintf(p->main, sizeof p->main, "%.*s", LONGEST_PATH - 1, target + (*target == '/'));
    if (ends_with(type, "/sharedStrings")) book->strings_part = resolve(p, target);
    if (ends_with(type, "/styles")) book->styles_part = resolve(p, target);
    for (size_t i = 0; i < book->n_sheets; i++)
        if (ends_with(type, "/worksheet") && strcmp(book->texts.text + book->sheets[i].id, id) == 0)
            book->sheets[i].part = resolve(p, target);
    if (book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(book->reading->error, "the workbook"));
}

static kbass_status read_relations(parts *p, const char *path)
{
    kb_xml xml = {.reading = p->book->reading, .part = path, .begin = begin_relation, .user = p};
    return kb_xml_read(&xml);
}

/* ---------------------------------------------------------------- sheets */

static void begin_book(kb_xml *xml, const char *name, const char **attributes)
{
    parts *p = xml->user;
    kb_workbook *book = p->book;
    const char *epoch = kb_xml_attribute(attributes, "date1904"), *id = NULL, *title = NULL;
    if (strcmp(name, "workbookPr") == 0)
        book->begins_1904 = epoch && (strcmp(epoch, "1") == 0 || strcmp(epoch, "true") == 0);
    if (strcmp(name, "sheet") != 0) return;
    const char *state = kb_xml_attribute(attributes, "state");
    for (const char **a = attributes; *a; a += 2) {
        if (strcmp(a[0], "name") == 0) title = a[1];
        if (ends_with(a[0], ":id")) id = a[1];
    }
    if (!id || !title) return;
    if (!kb_xml_grow(xml, (void **)&book->sheets, book->n_sheets, &p->sheets_capacity, sizeof *book->sheets)) return;
    book->sheets[book->n_sheets++] = (kb_sheet_entry){.name = kb_texts_add(&book->texts, title, strlen(title)),
                                                      .id = kb_texts_add(&book->texts, id, strlen(id)),
                                                      .is_hidden = state && strcmp(state, "visible") != 0};
    if (book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(book->reading->error, "the workbook"));
}

/* The workbook, its sheets and where they lie; sheets that are charts have no part here. */
static kbass_status read_book(kb_workbook *book)
{
    parts p = {.book = book, .main = "xl/workbook.xml"};
    char relations[2 * LONGEST_PATH];
    kbass_status status = read_relations(&p, "_rels/.rels");
    const char *slash = strrchr(p.main, '/');
    int folder = slash ? (int)(slash + 1 - p.main) : 0;
    kb_xml xml = {.reading = book->reading, .part = p.main, .begin = begin_book, .user = &p};
    if (status == KBASS_OK) status = kb_xml_read(&xml);
    snprintf(p.folder, sizeof p.folder, "%.*s", folder, p.main);
    snprintf(relations, sizeof relations, "%s_rels/%s.rels", p.folder, p.main + folder);
    return status == KBASS_OK ? read_relations(&p, relations) : status;
}

static void list_sheets(const kb_workbook *book, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < book->n_sheets && length < size; i++)
        if (book->sheets[i].part)
            length += (size_t)snprintf(text + length, size - length, "%s%.31s", length ? ", " : "",
                                       book->texts.text + book->sheets[i].name);
    if (length >= size) memcpy(text + size - 4, "...", 4);
}

static kbass_status no_sheet(const kb_workbook *book)
{
    const kb_reading *r = book->reading;
    char list[LIST_SIZE];
    list_sheets(book, list, sizeof list);
    if (!*list) return kb_fail(r->error, KBASS_ERROR_DATA, "%s: a workbook without sheets", r->file.path);
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: no sheet \"%.60s\"; there are: %s", r->file.path, r->inside, list);
}

/* The one that was named, else the first that can be seen. */
static const kb_sheet_entry *find_sheet(const kb_workbook *book)
{
    const char *name = book->reading->inside;
    const kb_sheet_entry *like = NULL, *first = NULL;
    for (size_t i = 0; i < book->n_sheets; i++) {
        const kb_sheet_entry *s = &book->sheets[i];
        const char *own = book->texts.text + s->name;
        if (!s->part) continue;
        if (!first || (first->is_hidden && !s->is_hidden)) first = s;
        if (name && strcmp(own, name) == 0) return s;
        if (name && !like && (strcasecmp(own, name) == 0 || (*name == '/' && strcmp(own, name + 1) == 0))) like = s;
    }
    return name ? like : first;
}

/* ---------------------------------------------------------------- shared texts */

static void begin_strings(kb_xml *xml, const char *name, const char **attributes)
{
    parts *p = xml->user;
    kb_workbook *book = p->book;
    (void)attributes;
    if (strcmp(name, "rPh") == 0) p->is_phonetic = true;
    if (strcmp(name, "t") == 0) p->is_text = !p->is_phonetic;
    if (strcmp(name, "si") != 0) return;
    if (!kb_xml_grow(xml, (void **)&book->strings, book->n_strings, &p->strings_capacity, sizeof *book->strings))
        return;
    book->strings[book->n_strings++] = book->texts.length;
}

static void end_strings(kb_xml *xml, const char *name)
{
    parts *p = xml->user;
    if (strcmp(name, "rPh") == 0) p->is_phonetic = false;
    if (strcmp(name, "t") == 0) p->is_text = false;
    if (strcmp(name, "si") == 0) kb_buffer_add(&p->book->texts, "", 1);
    if (p->book->texts.is_lost) kb_xml_stop(xml, kb_out_of_memory(p->book->reading->error, "the texts"));
}

static void add_string(kb_xml *xml, const char *text, size_t length)
{
    parts *p = xml->user;
    if (p->is_text && p->book->n_strings) kb_buffer_add(&p->book->texts, text, length);
}

static kbass_status read_strings(kb_workbook *book)
{
    parts p = {.book = book};
    if (!book->strings_part) return KBASS_OK;
    char *part = kb_strdup(book->texts.text + book->strings_part);
    kb_xml xml = {.reading = book->reading,
                  .part = part,
                  .begin = begin_strings,
                  .end = end_strings,
                  .text = add_string,
                  .user = &p};
    kbass_status status = part ? kb_xml_read(&xml) : kb_out_of_memory(book->reading->error, "the texts");
    kb_free(part);
    return status;
}

/* ---------------------------------------------------------------- everything */

static kbass_status note_sheet(const kb_workbook *book, const kb_sheet_entry *sheet, const kb_cells *cells,
                               kbass_data *data)
{
    char list[LIST_SIZE];
    kb_buffer note = {0};
    size_t n = 0;
    for (size_t i = 0; i < book->n_sheets; i++) n += book->sheets[i].part != 0;
    list_sheets(book, list, sizeof list);
    kb_buffer_print(&note, "sheet \"%.31s\"", book->texts.text + sheet->name);
    if (n > 1) kb_buffer_print(&note, " of %s", list);
    if (cells->n_errors)
        kb_buffer_print(&note, "; %zu cell%s with errors such as #N/A taken as missing", cells->n_errors,
                        cells->n_errors > 1 ? "s" : "");
    if (cells->aside)
        kb_buffer_print(&note, "; left out: text beside the table such as \"%.60s\"", book->texts.text + cells->aside);
    if (data->note && *data->note) kb_buffer_print(&note, "; %s", data->note);
    char *text = kb_buffer_take(&note);
    if (!text) return kb_out_of_memory(book->reading->error, "the data");
    kb_free(data->note);
    data->note = text;
    return KBASS_OK;
}

/* Where the first sheet was none to read, it may be another that was meant. */
static kbass_status name_others(const kb_workbook *book, kbass_status status)
{
    const kb_reading *r = book->reading;
    char list[LIST_SIZE], message[sizeof r->error->message];
    size_t n = 0;
    for (size_t i = 0; i < book->n_sheets; i++) n += book->sheets[i].part != 0;
    if (r->inside || n < 2 || !r->error || status != KBASS_ERROR_DATA) return status;
    list_sheets(book, list, sizeof list);
    snprintf(message, sizeof message, "%s", r->error->message);
    return kb_fail(r->error, status, "%.330s (file:NAME reads another sheet: %s)", message, list);
}

static kbass_status read_sheet(kb_workbook *book, const kb_sheet_entry *sheet, kbass_data *data)
{
    kb_reading *r = book->reading;
    kb_cells cells = {0};
    kb_buffer text = {0};
    kbass_status status = book->is_ods ? kb_ods_cells(book, (size_t)(sheet - book->sheets), &cells)
                                       : kb_cells_read(book, book->texts.text + sheet->part, &cells);
    if (status == KBASS_OK && !cells.n)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: the sheet \"%.31s\" is empty", r->file.path,
                         book->texts.text + sheet->name);
    if (status == KBASS_OK) status = kb_cells_write(book, &cells, &text);
    if (status == KBASS_OK) status = kb_read_sheet(r, text.text, text.length, data);
    if (status == KBASS_OK) status = note_sheet(book, sheet, &cells, data);
    else status = name_others(book, status);
    kb_buffer_clear(&text);
    kb_free(cells.cells);
    kb_free(cells.merged);
    return status;
}

bool kb_is_workbook(const kb_file *file)
{
    kb_zip_entry e;
    return (kb_is_zip(file) && kb_zip_find(file, "[Content_Types].xml", &e)) || kb_is_ods(file);
}

kbass_status kb_read_workbook(kb_reading *reading, kbass_data *data)
{
    kb_workbook book = {.reading = reading, .is_ods = kb_is_ods(&reading->file)};
    kb_texts_add(&book.texts, "", 0);
    kbass_status status = book.texts.is_lost ? kb_out_of_memory(reading->error, "the workbook")
                          : book.is_ods      ? kb_ods_list(&book)
                                             : read_book(&book);
    const kb_sheet_entry *sheet = status == KBASS_OK ? find_sheet(&book) : NULL;
    if (status == KBASS_OK && !sheet) status = no_sheet(&book);
    if (status == KBASS_OK) status = kb_styles_read(&book);
    if (status == KBASS_OK) status = read_strings(&book);
    if (status == KBASS_OK) status = read_sheet(&book, sheet, data);
    kb_buffer_clear(&book.texts);
    kb_free(book.sheets);
    kb_free(book.strings);
    kb_free(book.styles);
    return status;
}
