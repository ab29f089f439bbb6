/* The names above the columns. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "data/plan.h"

/* ---------------------------------------------------------------- the header */

static kbass_status take_faces(kb_plan *p, size_t n, char **cells)
{
    p->n = n;
    p->faces = KB_NEW(char *, n);
    p->is_unnamed = KB_NEW(bool, n);
    bool all = p->faces && p->is_unnamed;
    for (size_t i = 0; all && i < n; i++) {
        char number[32];
        p->is_unnamed[i] = !*cells[i] || strncmp(cells[i], "Unnamed: ", 9) == 0;
        snprintf(number, sizeof number, "column%zu", i + 1);
        p->faces[i] = p->is_unnamed[i] ? kb_strdup(number) : kb_face_copy(cells[i]);
        all = p->faces[i] != NULL;
    }
    return all ? KBASS_OK : kb_out_of_memory(p->reading->error, "the header");
}

static bool are_numbers(size_t n, char **cells)
{
    size_t n_numbers = 0;
    for (size_t i = 0; i < n; i++) {
        kb_cell_type type = kb_cell_type_of(cells[i], NULL);
        if (type != KB_CELL_NUMBER && (type != KB_CELL_MISSING || !*cells[i])) return false;
        n_numbers += type == KB_CELL_NUMBER;
    }
    return n_numbers > 0;
}

/* No names anywhere: columns are called by their numbers, by which --rename and --time can speak of them. */
static void take_no_names(size_t n, kb_row_work *work)
{
    static char nothing[] = "";
    for (size_t i = 0; i < n; i++) work->cells[i] = nothing;
}

/* numpy.savetxt and others write the names as a comment: "# t x y". */
static kbass_status take_comment(kb_plan *p, size_t n_numbers, const char *comment, kb_row_work *work, size_t *n)
{
    kbass_status status = KBASS_OK;
    const kb_line *line = &p->layout.lines[p->layout.header];
    *n = 0;
    if (comment) {
        comment += strspn(comment, " \t#%");
        status = kb_row_cut(&p->form, comment, comment + strlen(comment), work, n, line->number, p->reading->error);
    }
    bool is_named = *n == n_numbers && !are_numbers(*n, work->cells);
    if (status == KBASS_OK && !is_named && (p->reading->rename || p->reading->time)) {
        *n = n_numbers;
        take_no_names(*n, work);
    } else if (status == KBASS_OK && !is_named) {
        status = kb_fail(p->reading->error, KBASS_ERROR_DATA,
                         "%s:%zu: the first row is all numbers: a header row that names the %zu columns is needed "
                         "above it, such as t,x,y, or names for them: --rename \"column1=t, column2=x%s\"",
                         p->form.path, line->number, n_numbers, n_numbers > 2 ? ", ..." : "");
    }
    p->layout.body = p->layout.header;
    p->layout.units = KB_NO_LINE;
    return status;
}

/* Rows may be longer than the header: they end with a separator, or begin with their own names. */
static kbass_status compare_lengths(kb_plan *p, size_t *n, char ***cells, char **shifted)
{
    kb_row_lengths rows;
    kbass_status status = kb_sample_lengths(&p->layout, &p->form, &rows, p->reading->error);
    bool is_even = rows.n_rows && rows.fewest == rows.most, is_nameless = *n > 2 && !*(*cells)[*n - 1];
    if (status != KBASS_OK || !is_even) return status;
    if (rows.most == *n + 1 && rows.are_last_empty) {
        p->form.is_open = true;
    } else if (rows.most == *n + 1 && rows.n_rows >= 3 && rows.is_first_counting) {
        shifted[0] = "";
        memcpy(shifted + 1, *cells, *n * sizeof *shifted);
        *cells = shifted;
        ++*n;
    } else if (is_nameless && (rows.most == *n - 1 || (rows.most == *n && rows.are_last_empty))) {
        p->form.is_open = rows.most == *n;
        --*n;
    } else if (*n > 2 && rows.most == *n - 1 && strcasecmp((*cells)[*n - 1], "comment") == 0) { /* LabVIEW's */
        --*n;
    }
    return status;
}

static kbass_status read_header(kb_plan *p, const char *comment, kb_row_work *work)
{
    const kb_line *line = &p->layout.lines[p->layout.header];
    size_t n = 0;
    kbass_status status = kb_row_cut(&p->form, line->begin, line->end, work, &n, line->number, p->reading->error);
    if (status == KBASS_OK && are_numbers(n, work->cells)) status = take_comment(p, n, comment, work, &n);
    if (status != KBASS_OK) return status;
    p->form.has_remarks = true;
    char **cells = work->cells, **shifted = KB_NEW(char *, n + 1);
    if (!shifted) return kb_out_of_memory(p->reading->error, "the header");
    status = compare_lengths(p, &n, &cells, shifted);
    if (status == KBASS_OK) status = take_faces(p, n, cells);
    kb_free(shifted);
    return status;
}

static kbass_status read_units(kb_plan *p, kb_row_work *work)
{
    if (p->layout.units == KB_NO_LINE) return KBASS_OK;
    const kb_line *line = &p->layout.lines[p->layout.units];
    size_t n = 0;
    kbass_status status = kb_row_cut(&p->form, line->begin, line->end, work, &n, line->number, p->reading->error);
    if (status == KBASS_OK && !(p->units = KB_NEW(char *, p->n)))
        status = kb_out_of_memory(p->reading->error, "the units");
    for (size_t i = 0; status == KBASS_OK && i < p->n; i++) {
        p->units[i] = kb_strdup(i < n ? work->cells[i] : "");
        if (!p->units[i]) status = kb_out_of_memory(p->reading->error, "the units");
    }
    return status;
}

/* Only the first column has something below its name, and that means time: the name is that of pandas' columns. */
static bool names_index(const kb_plan *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (*p->units[i] || p->is_unnamed[i]) return false;
    return kb_is_time_name(p->units[0]) && kb_time_likeness(p->faces[0]) <= 0.5;
}

/* pandas writes names of its index in a line of their own, where the header has none: what looked like units is no
   unit then. */
static kbass_status take_index_names(kb_plan *p)
{
    bool is_index = p->units != NULL, is_first = is_index && names_index(p);
    for (size_t i = 0; is_index && !is_first && i < p->n; i++) is_index = p->is_unnamed[i] == (*p->units[i] != '\0');
    for (size_t i = 0; is_index && i < p->n; i++) {
        if (is_first ? i > 0 : !p->is_unnamed[i]) continue;
        char *face = kb_face_copy(p->units[i]);
        if (!face) return kb_out_of_memory(p->reading->error, "the names");
        kb_free(p->faces[i]);
        p->faces[i] = face;
        p->is_unnamed[i] = false;
        p->units[i][0] = '\0';
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- --rename */

static char *trimmed(char *text)
{
    char *end = text + strlen(text);
    while (*text == ' ') text++;
    while (end > text && end[-1] == ' ') end--;
    *end = '\0';
    return text;
}

static kbass_status rename_one(kb_plan *p, char *part)
{
    char *equals = strchr(part, '=');
    if (!equals || !*trimmed(equals + 1))
        return kb_fail(p->reading->error, KBASS_ERROR_ARGUMENT, "rename: found \"%.60s\", needed \"old=new\"", part);
    *equals = '\0';
    const kb_roles all = {.place = p->place, .n = p->n, .names = p->faces};
    size_t column = kb_roles_column(&all, trimmed(part));
    if (column == p->n) return kb_roles_missing(&all, trimmed(part), "--rename", p->reading->error);
    char *face = kb_face_copy(trimmed(equals + 1));
    if (!face) return kb_out_of_memory(p->reading->error, "the names");
    kb_free(p->written[column]);
    p->written[column] = p->faces[column];
    p->faces[column] = face;
    p->is_unnamed[column] = false;
    return KBASS_OK;
}

static kbass_status rename_columns(kb_plan *p)
{
    char *copy = p->reading->rename ? kb_strdup(p->reading->rename) : NULL;
    p->written = copy ? KB_NEW(char *, p->n) : NULL;
    kbass_status status =
        p->reading->rename && !p->written ? kb_out_of_memory(p->reading->error, "the names") : KBASS_OK;
    for (char *part = copy, *next; status == KBASS_OK && part; part = next) {
        next = strchr(part, ',');
        if (next) *next++ = '\0';
        status = rename_one(p, part);
    }
    kb_free(copy);
    return status;
}

kbass_status kb_plan_names(kb_plan *p, const char *comment)
{
    kb_row_work work = {0};
    kbass_status status = read_header(p, comment, &work);
    if (status == KBASS_OK) status = read_units(p, &work);
    if (status == KBASS_OK) status = take_index_names(p);
    if (status == KBASS_OK) status = kb_plan_groups(p, &work);
    if (status == KBASS_OK) status = rename_columns(p);
    kb_row_work_clear(&work);
    return status;
}
