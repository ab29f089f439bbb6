/* Tables: one way to fill them, written as text for the terminal, Markdown, or CSV. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdio.h>

enum { TABLE_CELL_SIZE = 64, TABLE_MOST_COLUMNS = 24 };

typedef struct {
    int digits; /* of numbers */
    size_t n_columns, n_rows, capacity;
    char (*cells)[TABLE_CELL_SIZE]; /* the headings first */
} bench_table;

/* Headings separated by '|'. Rows that do not fit into memory are left out. */
void table_begin(bench_table *table, int digits, const char *headings);
void table_row(bench_table *table);
/* Appends to the last row's cell. */
void table_put(bench_table *table, size_t column, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A number, or '-' when it is not one. */
void table_number(bench_table *table, size_t column, double value);
void table_text(const bench_table *table, FILE *out);
void table_markdown(const bench_table *table, FILE *out);
void table_csv(const bench_table *table, FILE *out);
void table_clear(bench_table *table);

#endif
