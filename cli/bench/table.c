#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *cell(const bench_table *table, size_t row, size_t column)
{
    return table->cells[row * table->n_columns + column];
}

void table_begin(bench_table *table, int digits, const char *headings)
{
    *table = (bench_table){.digits = digits, .n_columns = 1};
    for (const char *c = headings; *c; c++) table->n_columns += *c == '|';
    table_row(table);
    for (size_t column = 0; column < table->n_columns && table->n_rows; column++) {
        size_t length = strcspn(headings, "|");
        snprintf(cell(table, 0, column), TABLE_CELL_SIZE, "%.*s", (int)length, headings);
        headings += length + (headings[length] == '|');
    }
}

void table_row(bench_table *table)
{
    if (table->n_rows == table->capacity) {
        size_t capacity = 2 * table->capacity + 8;
        void *cells = realloc(table->cells, capacity * table->n_columns * sizeof *table->cells);
        if (!cells) return;
        table->cells = cells;
        table->capacity = capacity;
    }
    memset(cell(table, table->n_rows++, 0), 0, table->n_columns * sizeof *table->cells);
}

void table_put(bench_table *table, size_t column, const char *format, ...)
{
    if (!table->n_rows) return;
    char *text = cell(table, table->n_rows - 1, column);
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TABLE_CELL_SIZE - used, format, arguments);
    va_end(arguments);
}

void table_number(bench_table *table, size_t column, double value)
{
    bool is_whole = fabs(value) >= pow(10, table->digits) - 0.5 && fabs(value) < 1e6;
    if (isnan(value)) table_put(table, column, "-");
    else if (is_whole) table_put(table, column, "%.0f", value);
    else table_put(table, column, "%.*g", table->digits, value);
}

/* ---------------------------------------------------------------- three ways to write it */

static void find_widths(const bench_table *table, int *widths)
{
    for (size_t column = 0; column < table->n_columns; column++) {
        widths[column] = 0;
        for (size_t row = 0; row < table->n_rows; row++) {
            int length = (int)strlen(cell(table, row, column));
            if (length > widths[column]) widths[column] = length;
        }
    }
}

/* The first column to the left, the others to the right. */
static void write_aligned(const bench_table *table, FILE *out, const char *edge, const char *between, size_t row,
                          const int *widths)
{
    fputs(edge, out);
    for (size_t column = 0; column < table->n_columns; column++)
        fprintf(out, "%s%*s", column ? between : "", column ? widths[column] : -widths[column],
                cell(table, row, column));
    fputs(edge, out);
    fputc('\n', out);
}

void table_text(const bench_table *table, FILE *out)
{
    int widths[TABLE_MOST_COLUMNS];
    find_widths(table, widths);
    for (size_t row = 0; row < table->n_rows; row++) write_aligned(table, out, "", "  ", row, widths);
}

void table_markdown(const bench_table *table, FILE *out)
{
    int widths[TABLE_MOST_COLUMNS];
    find_widths(table, widths);
    for (size_t row = 0; row < table->n_rows; row++) {
        write_aligned(table, out, "|", "|", row, widths);
        for (size_t column = 0; row == 0 && column < table->n_columns; column++) fputs(column ? "--:|" : "|---|", out);
        if (row == 0) fputc('\n', out);
    }
}

void table_csv(const bench_table *table, FILE *out)
{
    for (size_t row = 0; row < table->n_rows; row++)
        for (size_t column = 0; column < table->n_columns; column++) {
            const char *text = cell(table, row, column), *quote = strpbrk(text, ",\"") ? "\"" : "";
            fprintf(out, "%s%s%s%s", quote, text, quote, column + 1 < table->n_columns ? "," : "\n");
        }
}

void table_clear(bench_table *table)
{
    free(table->cells);
    *table = (bench_table){0};
}
