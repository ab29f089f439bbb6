/* Tables in JSON: records [{"t": 0, "x": 1}, ...], one to a line or all in a list, columns {"t": [0, 1], "x": [1, 2]},
 * rows [["t", "x"], [0, 1], ...], and what pandas makes of a table. They become a sheet (data/read.h). */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/logs.h"

enum {
    DEEPEST = 4,         /* objects within a record, and around the table */
    MOST_COLUMNS = 4096, /* of a table */
    LONGEST_LIST = 64,   /* within a record: each number is a column */
    LONGEST_NAME = 400,
    MOST_MEGABYTES = 200 /* of text, which takes some thirty times as much memory while it is read */
};

typedef struct {
    kb_reading *reading;
    json_t *columns; /* name: its number, in the order in which they came */
    json_t **cells;  /* of a row */
    kb_buffer sheet;
    const char *problem;
} table;

/* ---------------------------------------------------------------- cells */

static void put_text(kb_buffer *out, const char *text)
{
    kb_buffer_put(out, "\"");
    for (; *text; text++)
        kb_buffer_add(out, *text == '"' ? "\"\"" : strchr("\r\n\t", *text) ? " " : text, 1 + (*text == '"'));
    kb_buffer_put(out, "\"");
}

static void put_cell(table *t, const json_t *value)
{
    if (json_is_integer(value)) kb_buffer_print(&t->sheet, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) kb_buffer_number(&t->sheet, json_real_value(value));
    else if (json_is_boolean(value)) kb_buffer_put(&t->sheet, json_is_true(value) ? "1" : "0");
    else if (json_is_string(value)) put_text(&t->sheet, json_string_value(value));
    else if (json_is_array(value) || json_is_object(value)) t->problem = "lists within its rows";
}

static void put_header(table *t)
{
    const char *name;
    json_t *place;
    bool is_first = true;
    json_object_foreach(t->columns, name, place)
    {
        if (!is_first) kb_buffer_put(&t->sheet, ",");
        put_text(&t->sheet, name);
        is_first = false;
    }
    kb_buffer_put(&t->sheet, "\n");
}

/* ---------------------------------------------------------------- records */

static bool is_flat_list(const json_t *value)
{
    size_t n = json_array_size(value), i = 0;
    while (i < n && !json_is_array(json_array_get(value, i)) && !json_is_object(json_array_get(value, i))) i++;
    return json_is_array(value) && i == n;
}

/* Each value of a record under its full name, "position.x" or "u_2"; with cells it is put there, else a column is made.
 */
static void take_member(table *t, const char *name, json_t *value, int depth)
{
    char full[LONGEST_NAME];
    const char *key;
    json_t *member;
    if (json_is_object(value) && depth < DEEPEST) {
        json_object_foreach(value, key, member)
        {
            snprintf(full, sizeof full, "%.190s%s%.190s", name, *name ? "." : "", key);
            take_member(t, full, member, depth + 1);
        }
    } else if (is_flat_list(value) && json_array_size(value) <= LONGEST_LIST) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            snprintf(full, sizeof full, "%.190s_%zu", name, i + 1);
            take_member(t, full, json_array_get(value, i), depth + 1);
        }
    } else if (t->cells) {
        const json_t *place = json_object_get(t->columns, name);
        if (place) t->cells[json_integer_value(place)] = value;
    } else if (!json_object_get(t->columns, name)) {
        if (json_object_size(t->columns) == MOST_COLUMNS) t->problem = "more than 4096 columns";
        else json_object_set_new(t->columns, name, json_integer((json_int_t)json_object_size(t->columns)));
    }
}

static void put_record(table *t, const char *label, json_t *record)
{
    size_t n = json_object_size(t->columns);
    json_t *first = label ? json_string(label) : NULL;
    memset(t->cells, 0, n * sizeof *t->cells);
    take_member(t, "", record, 0);
    if (label) t->cells[0] = first;
    for (size_t i = 0; i < n; i++) {
        if (i) kb_buffer_put(&t->sheet, ",");
        if (t->cells[i]) put_cell(t, t->cells[i]);
    }
    kb_buffer_put(&t->sheet, "\n");
    json_decref(first);
}

static void begin_records(table *t)
{
    t->cells = KB_NEW(json_t *, json_object_size(t->columns) + 1);
    if (!t->cells) t->sheet.is_lost = true;
    else put_header(t);
}

static void put_records(table *t, json_t *records)
{
    size_t n = json_array_size(records);
    for (size_t i = 0; i < n && !t->problem; i++) take_member(t, "", json_array_get(records, i), 0);
    begin_records(t);
    for (size_t i = 0; i < n && t->cells && !t->problem; i++) put_record(t, NULL, json_array_get(records, i));
}

/* 0, 1, 2, ...: not worth a column. */
static bool is_count(const char *label, size_t place)
{
    char own[32];
    snprintf(own, sizeof own, "%zu", place);
    return strcmp(label, own) == 0;
}

/* {"a": {"t": 0, "x": 1}, ...}: the names of the records are a column unless they count. */
static void put_named_records(table *t, json_t *records)
{
    const char *label;
    json_t *record;
    size_t i = 0;
    bool is_counted = true;
    json_object_foreach(records, label, record) is_counted &= is_count(label, i++);
    if (!is_counted) json_object_set_new(t->columns, "index", json_integer(0));
    json_object_foreach(records, label, record) take_member(t, "", record, 0);
    begin_records(t);
    if (!t->cells) return;
    json_object_foreach(records, label, record) if (!t->problem) put_record(t, is_counted ? NULL : label, record);
}

/* ---------------------------------------------------------------- columns and rows */

static void put_rows(table *t, json_t *rows, json_t *labels)
{
    for (size_t i = 0; i < json_array_size(rows) && !t->problem; i++) {
        json_t *row = json_array_get(rows, i);
        if (labels) put_cell(t, json_array_get(labels, i));
        for (size_t k = 0; k < json_array_size(row); k++) {
            if (k || labels) kb_buffer_put(&t->sheet, ",");
            put_cell(t, json_array_get(row, k));
        }
        kb_buffer_put(&t->sheet, "\n");
    }
}

/* pandas' {"columns": [...], "index": [...], "data": [[...], ...]} */
static void put_split(table *t, json_t *root)
{
    json_t *names = json_object_get(root, "columns"), *labels = json_object_get(root, "index");
    bool is_counted = true;
    for (size_t i = 0; i < json_array_size(labels); i++)
        is_counted &= json_integer_value(json_array_get(labels, i)) == (json_int_t)i;
    if (json_array_size(labels) != json_array_size(json_object_get(root, "data")) || is_counted) labels = NULL;
    if (labels) put_text(&t->sheet, "index");
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (i || labels) kb_buffer_put(&t->sheet, ",");
        put_cell(t, json_array_get(names, i));
    }
    kb_buffer_put(&t->sheet, "\n");
    put_rows(t, json_object_get(root, "data"), labels);
}

/* Lists of one length are the columns; single values beside them are left out. */
static void put_columns(table *t, json_t *root)
{
    const char *name;
    json_t *column;
    size_t n = 0, k;
    bool is_first = true;
    json_object_foreach(root, name, column)
    {
        if (!json_array_size(column)) continue;
        if (!is_first) kb_buffer_put(&t->sheet, ",");
        put_text(&t->sheet, name);
        is_first = false;
        n = json_array_size(column);
    }
    kb_buffer_put(&t->sheet, "\n");
    for (size_t i = 0; i < n && !t->problem; i++) {
        k = 0;
        json_object_foreach(root, name, column)
        {
            if (!json_array_size(column)) continue;
            if (k++) kb_buffer_put(&t->sheet, ",");
            put_cell(t, json_array_get(column, i));
        }
        kb_buffer_put(&t->sheet, "\n");
    }
}

/* {"t": {"0": 0, "1": 0.5}, "x": {...}}: the names within are those of the rows. */
static void put_named_columns(table *t, json_t *root)
{
    const char *name, *label;
    json_t *column, *value, *first = NULL;
    size_t i = 0;
    bool is_counted = true, is_begun = false;
    json_object_foreach(root, name, column) if (!first) first = column;
    json_object_foreach(first, label, value) is_counted &= is_count(label, i++);
    if (!is_counted) put_text(&t->sheet, "index");
    json_object_foreach(root, name, column)
    {
        if (is_begun || !is_counted) kb_buffer_put(&t->sheet, ",");
        put_text(&t->sheet, name);
        is_begun = true;
    }
    kb_buffer_put(&t->sheet, "\n");
    json_object_foreach(first, label, value)
    {
        if (!is_counted) put_text(&t->sheet, label);
        is_begun = false;
        json_object_foreach(root, name, column)
        {
            if (is_begun || !is_counted) kb_buffer_put(&t->sheet, ",");
            put_cell(t, json_object_get(column, label));
            is_begun = true;
        }
        kb_buffer_put(&t->sheet, "\n");
    }
}

/* ---------------------------------------------------------------- which of them it is */

typedef enum { NOTHING, RECORDS, ROWS, SPLIT, COLUMNS, NAMED_RECORDS, NAMED_COLUMNS, NESTED } shape;

static bool is_list_of(const json_t *list, bool is_objects)
{
    size_t n = json_array_size(list), i = 0;
    while (i < n && (is_objects ? json_is_object(json_array_get(list, i)) : json_is_array(json_array_get(list, i))))
        i++;
    return n > 0 && i == n;
}

/* Names of rows are numbers or dates, those of columns are words. */
static bool is_label(const char *name) { return (*name >= '0' && *name <= '9') || *name == '-'; }

static shape shape_of_objects(json_t *root)
{
    const char *name, *inner;
    json_t *member, *value;
    size_t n_labels = 0, n_inner = 0, n_inner_labels = 0;
    json_object_foreach(root, name, member)
    {
        n_labels += is_label(name);
        json_object_foreach(member, inner, value)
        {
            n_inner++;
            n_inner_labels += is_label(inner);
            if (json_is_object(value) || json_is_array(value)) return NOTHING;
        }
    }
    if (n_inner && n_inner_labels == n_inner) return NAMED_COLUMNS;
    return n_inner && n_labels == json_object_size(root) ? NAMED_RECORDS : NOTHING;
}

static shape shape_of_lists(json_t *root)
{
    const char *name;
    json_t *member;
    size_t n = 0, n_lists = 0, n_nested = 0;
    bool is_even = true;
    json_object_foreach(root, name, member)
    {
        if (!json_is_array(member) || !json_array_size(member)) continue;
        if (is_list_of(member, true)) return NOTHING;
        n_nested += is_list_of(member, false);
        is_even &= !n_lists++ || json_array_size(member) == n;
        n = json_array_size(member);
    }
    if (n_nested && n_lists > 1) return NESTED;
    return n_lists > 1 && is_even ? COLUMNS : NOTHING;
}

static shape shape_of(json_t *root)
{
    const char *name;
    json_t *member;
    bool is_objects = json_object_size(root) > 0;
    if (is_list_of(root, true)) return RECORDS;
    if (is_list_of(root, false)) return ROWS;
    if (!json_is_object(root)) return NOTHING;
    if (json_is_array(json_object_get(root, "columns")) && is_list_of(json_object_get(root, "data"), false))
        return SPLIT;
    json_object_foreach(root, name, member) is_objects &= json_is_object(member);
    return is_objects ? shape_of_objects(root) : shape_of_lists(root);
}

/* The table, or the only one in an object around it; *n counts them all. */
static json_t *find_table(json_t *root, int depth, size_t *n, char *list, size_t size)
{
    const char *name;
    json_t *member, *found = NULL;
    json_t *body = json_object_get(root, "schema") ? json_object_get(root, "data") : NULL; /* as pandas has it */
    if (body) root = body;
    if (shape_of(root) != NOTHING) {
        ++*n;
        return root;
    }
    if (!json_is_object(root) || depth == DEEPEST) return NULL;
    json_object_foreach(root, name, member)
    {
        size_t before = *n, length = strlen(list);
        json_t *one = find_table(member, depth + 1, n, list, size);
        if (one && !found) found = one;
        if (one && *n == before + 1 && !depth)
            snprintf(list + length, size - length, "%s%.40s", length ? ", " : "", name);
    }
    return found;
}

static void put_table(table *t, json_t *root)
{
    switch (shape_of(root)) {
    case RECORDS: put_records(t, root); break;
    case ROWS: put_rows(t, root, NULL); break;
    case SPLIT: put_split(t, root); break;
    case COLUMNS: put_columns(t, root); break;
    case NAMED_RECORDS: put_named_records(t, root); break;
    case NAMED_COLUMNS: put_named_columns(t, root); break;
    default: break;
    }
}

/* ---------------------------------------------------------------- text */

/* Python writes NaN, which is missing, and Infinity; JSON has neither. */
static char *copy_without_nan(const kb_file *file)
{
    static const char *const words[] = {"NaN", "-Infinity", "Infinity"};
    char *text = KB_NEW(char, file->size + 1);
    bool is_quoted = false;
    if (text) memcpy(text, file->bytes, file->size);
    for (char *c = text, *end = text ? text + file->size : NULL; c < end; c++) {
        if (*c == '"') is_quoted = !is_quoted;
        else if (is_quoted && *c == '\\') c++;
        for (size_t i = 0; !is_quoted && i < sizeof words / sizeof *words && c < end; i++) {
            size_t n = strlen(words[i]);
            if ((size_t)(end - c) < n || memcmp(c, words[i], n) != 0) continue;
            memset(c, ' ', n);
            memcpy(c, n > 3 ? "\"inf\"" : "\"\"", n > 3 ? 5 : 2); /* an empty text is an empty cell */
            c += n - 1;
        }
    }
    return text;
}

/* One value, or one behind another, which are records. */
static json_t *parse(const kb_reading *r, const char *text, size_t size, kbass_status *status)
{
    json_error_t error;
    json_t *first = NULL, *list = NULL;
    for (size_t at = 0; at < size && *status == KBASS_OK;) {
        while (at < size && strchr(" \t\r\n\x1e", text[at])) at++;
        if (at == size) break;
        json_t *one = json_loadb(text + at, size - at, JSON_DISABLE_EOF_CHECK, &error);
        if (!one)
            *status =
                kb_fail(r->error, KBASS_ERROR_DATA, "%s:%d: no JSON: %.120s", r->file.path, error.line, error.text);
        if (first && !list) {
            list = json_array();
            json_array_append(list, first);
        }
        if (list) json_array_append(list, one);
        if (first) json_decref(one);
        else first = one;
        at += one ? (size_t)error.position : 0;
    }
    if (list) json_decref(first);
    return list ? list : first;
}

bool kb_is_json(const kb_file *file)
{
    const char *c = (const char *)file->bytes, *end = c + file->size;
    if (end - c > 3 && memcmp(c, "\xef\xbb\xbf", 3) == 0) c += 3;
    while (c < end && strchr(" \t\r\n", *c)) c++;
    if (end - c < 2 || (*c != '{' && *c != '[')) return false;
    for (c++; c < end && strchr(" \t\r\n", *c);) c++;
    return c < end && *c && strchr("\"{[", *c);
}

static kbass_status read_found(kb_reading *r, json_t *root, kbass_data *data)
{
    table t = {.reading = r, .columns = json_object()};
    char list[200] = "";
    size_t n = 0;
    json_t *named = r->inside ? json_object_get(root, r->inside) : root;
    json_t *found = find_table(named, 0, &n, list, sizeof list);
    kbass_status status = KBASS_OK;
    if (r->inside && !named)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: no member \"%.60s\" inside", r->file.path, r->inside);
    else if (!found)
        status = kb_fail(r->error, KBASS_ERROR_DATA,
                         "%s: JSON without a table: records [{\"t\": 0, \"x\": 1}, ...] or columns {\"t\": [0, 1], "
                         "\"x\": [1, 2]} of one length are read; else save it as CSV, in Python by "
                         "pandas.read_json(FILE).to_csv(...)",
                         r->file.path);
    else if (n > 1)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: several tables, name one as in file:NAME; there are: %s",
                         r->file.path, list);
    if (status == KBASS_OK && shape_of(found) == NESTED) {
        json_decref(t.columns);
        r->parsed = found;
        return kb_read_arrays(r, data);
    }
    if (status == KBASS_OK) put_table(&t, found);
    if (status == KBASS_OK && t.problem)
        status = kb_fail(r->error, KBASS_ERROR_DATA, "%s: JSON with %s", r->file.path, t.problem);
    if (status == KBASS_OK && (t.sheet.is_lost || !t.columns)) status = kb_out_of_memory(r->error, "the table");
    if (status == KBASS_OK) status = kb_read_sheet(r, t.sheet.text, t.sheet.length, data);
    kb_buffer_clear(&t.sheet);
    kb_free(t.cells);
    json_decref(t.columns);
    return status;
}

kbass_status kb_read_json(kb_reading *r, kbass_data *data)
{
    kbass_status status = kb_file_complete(&r->file, r->error);
    if (status != KBASS_OK) return status;
    if (r->file.size > (size_t)MOST_MEGABYTES << 20)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: JSON of more than %d MB: save it as CSV", r->file.path,
                       MOST_MEGABYTES);
    size_t mark = r->file.size > 3 && memcmp(r->file.bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    char *text = copy_without_nan(&r->file);
    if (!text) return kb_out_of_memory(r->error, r->file.path);
    json_t *root = parse(r, text + mark, r->file.size - mark, &status);
    kb_free(text);
    if (status == KBASS_OK) status = read_found(r, root, data);
    json_decref(root);
    return status;
}
