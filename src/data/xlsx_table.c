/* Cells as the text of a table. Columns without a cell are left out, rows stay where they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/xlsx.h"

/* ---------------------------------------------------------------- merged cells */

static int by_place(const void *left, const void *right)
{
    const kb_cell *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static kb_cell *find_cell(const kb_cells *c, uint32_t row, uint32_t column)
{
    kb_cell key = {.row = row, .column = column};
    return c->n ? bsearch(&key, c->cells, c->n, sizeof key, by_place) : NULL;
}

/* What is merged over several rows stands in each of them: names over two rows of headers, labels of runs. */
static kbass_status fill_down(kb_workbook *book, kb_cells *c)
{
    size_t n_old = c->n, n_more = 0;
    uint32_t last = c->n ? c->cells[c->n - 1].row : 0;
    for (size_t i = 0; i < c->n_merged; i++) {
        kb_cell_range *m = &c->merged[i];
        if (m->rows[1] > last) m->rows[1] = last;
        if (m->rows[1] > m->rows[0] && find_cell(c, m->rows[0], m->columns[0])) n_more += m->rows[1] - m->rows[0];
    }
    if (n_more > KB_MOST_SHEET_ROWS * (size_t)64)
        return kb_fail(book->reading->error, KBASS_ERROR_DATA, "%s: its merged cells overlap without end",
                       book->reading->file.path);
    if (!n_more) return KBASS_OK;
    kb_cell *grown = kb_reallocate(c->cells, c->n, c->n + n_more, sizeof *grown);
    if (!grown) return kb_out_of_memory(book->reading->error, "the cells");
    c->cells = grown;
    for (size_t i = 0; i < c->n_merged; i++) {
        const kb_cell_range *m = &c->merged[i];
        kb_cells old = {.n = n_old, .cells = c->cells};
        const kb_cell *first = find_cell(&old, m->rows[0], m->columns[0]);
        for (uint32_t row = m->rows[0] + 1; first && row <= m->rows[1]; row++) {
            if (find_cell(&old, row, m->columns[0])) continue;
            c->cells[c->n++] = (kb_cell){row, m->columns[0], first->is_text, first->text};
        }
    }
    qsort(c->cells, c->n, sizeof *c->cells, by_place);
    size_t n = 0; /* merged cells may overlap in a file that was tampered with */
    for (size_t i = 0; i < c->n; i++)
        if (!n || by_place(&c->cells[n - 1], &c->cells[i]) != 0) c->cells[n++] = c->cells[i];
    c->n = n;
    return KBASS_OK;
}

/* Whether a text stands twice in the row. */
static bool has_twins(const kb_workbook *book, const kb_cells *c, uint32_t row)
{
    for (const kb_cell *a = c->cells; a < c->cells + c->n; a++)
        for (const kb_cell *b = a + 1; a->row == row && a->is_text && b < c->cells + c->n && b->row == row; b++)
            if (b->is_text && strcmp(book->texts.text + a->text, book->texts.text + b->text) == 0) return true;
    return false;
}

/* Headers in two rows: a name over several columns goes in front of theirs where these alone are not unique. */
static kbass_status join_headers(kb_workbook *book, kb_cells *c)
{
    enum { MOST_GROUPS = 256 };
    for (size_t i = 0; i < c->n_merged && i < MOST_GROUPS; i++) {
        const kb_cell_range *m = &c->merged[i];
        const kb_cell *group = find_cell(c, m->rows[0], m->columns[0]);
        bool is_group = group && group->is_text && m->columns[1] > m->columns[0] && m->rows[0] == m->rows[1];
        if (!is_group || !has_twins(book, c, m->rows[0] + 1)) continue;
        for (size_t k = i; k < c->n_merged && k < MOST_GROUPS; k++) {
            const kb_cell_range *other = &c->merged[k];
            const kb_cell *name = find_cell(c, other->rows[0], other->columns[0]);
            if (other->rows[0] != m->rows[0] || other->rows[1] != m->rows[0] || !name || !name->is_text) continue;
            for (uint32_t column = other->columns[0]; column <= other->columns[1]; column++) {
                kb_cell *below = find_cell(c, m->rows[0] + 1, column);
                if (!below || !below->is_text) continue;
                char *front = kb_strdup(book->texts.text + name->text),
                     *own = kb_strdup(book->texts.text + below->text);
                size_t place = book->texts.length;
                if (front && own) kb_buffer_print(&book->texts, "%s %s", front, own);
                if (front && own) kb_buffer_add(&book->texts, "", 1);
                bool all = front && own && !book->texts.is_lost;
                kb_free(front);
                kb_free(own);
                if (!all) return kb_out_of_memory(book->reading->error, "the header");
                below->text = place;
            }
        }
        return KBASS_OK; /* one row of groups */
    }
    return KBASS_OK;
}

/* ---------------------------------------------------------------- text */

/* Quotes are doubled, line ends are blanks. */
static void put_text(kb_buffer *out, const char *text)
{
    kb_buffer_put(out, "\"");
    while (*text) {
        size_t n = strcspn(text, "\"\r\n\t");
        kb_buffer_add(out, text, n);
        text += n;
        if (*text) kb_buffer_put(out, *text == '"' ? "\"\"" : " ");
        text += *text != '\0';
    }
    kb_buffer_put(out, "\"");
}

/* Cells of each column: all, and those that are no text. */
typedef struct {
    uint32_t n, n_plain;
} column_count;

/* A column with a text or two and nothing else, beside others that go on, is a title or a remark. */
static bool is_aside(const column_count *count, size_t n_rows)
{
    enum { FEW = 2, GO_ON = 6 };
    return count->n <= FEW && !count->n_plain && n_rows >= GO_ON;
}

/* Columns of the table, in order; texts aside of it are dropped. */
static size_t list_columns(kb_cells *c, size_t n_rows, uint32_t *columns)
{
    column_count count[KB_MOST_SHEET_COLUMNS + 1] = {0};
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        count[c->cells[i].column].n++;
        count[c->cells[i].column].n_plain += !c->cells[i].is_text;
    }
    for (uint32_t i = 1; i <= KB_MOST_SHEET_COLUMNS; i++)
        if (count[i].n && !is_aside(&count[i], n_rows)) columns[n++] = i;
    for (size_t i = 0; n && i < c->n; i++) {
        bool is_dropped = is_aside(&count[c->cells[i].column], n_rows);
        if (is_dropped && !c->aside) c->aside = c->cells[i].text;
        if (!is_dropped) c->cells[n_kept++] = c->cells[i];
    }
    if (n) c->n = n_kept;
    for (uint32_t i = 1; !n_kept && i <= KB_MOST_SHEET_COLUMNS; i++) /* nothing but texts */
        if (count[i].n) columns[n++] = i;
    return n;
}

static size_t count_rows(const kb_cells *c)
{
    size_t n = c->n > 0;
    for (size_t i = 1; i < c->n; i++) n += c->cells[i].row != c->cells[i - 1].row;
    return n;
}

static void write_rows(const kb_workbook *book, const kb_cells *c, size_t n, const uint32_t *columns, kb_buffer *out)
{
    size_t next = 0;
    for (uint32_t row = 1; next < c->n; row++) {
        for (size_t i = 0; i < n && c->cells[next].row == row; i++) {
            if (i) kb_buffer_put(out, ",");
            const kb_cell *cell = &c->cells[next];
            if (cell->column != columns[i]) continue;
            if (cell->is_text) put_text(out, book->texts.text + cell->text);
            else kb_buffer_put(out, book->texts.text + cell->text);
            if (next + 1 == c->n || c->cells[next + 1].row != row) {
                for (; i + 1 < n; i++) kb_buffer_put(out, ",");
                next++;
                break;
            }
            next++;
        }
        kb_buffer_put(out, "\n");
    }
}

kbass_status kb_cells_write(kb_workbook *book, kb_cells *cells, kb_buffer *text)
{
    const kb_reading *r = book->reading;
    uint32_t columns[KB_MOST_SHEET_COLUMNS];
    kbass_status status = fill_down(book, cells);
    if (status == KBASS_OK) status = join_headers(book, cells);
    if (status != KBASS_OK) return status;
    size_t n_rows = count_rows(cells), n = list_columns(cells, n_rows, columns);
    if (n * n_rows > 100 * cells->n + 1000000)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %zu cells over %zu rows and %zu columns are no table",
                       r->file.path, cells->n, n_rows, n);
    write_rows(book, cells, n, columns, text);
    return text->is_lost ? kb_out_of_memory(r->error, r->file.path) : KBASS_OK;
}
