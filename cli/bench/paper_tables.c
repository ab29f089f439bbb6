/* The tables of kbass bench paper. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "cell.h"
#include "pysindy_figures.h"

typedef void (*cell_writer)(const bench_cell *cell, bench_table *table);

static void for_each_cell(const json_t *document, bench_table *table, cell_writer write)
{
    bench_cell cell;
    for (const bench_case *c = bench_cases; c->key; c++)
        for (size_t level = 0; level < c->n_levels; level++)
            if (bench_cell_read(document, c, level, &cell)) write(&cell, table);
}

/* ---------------------------------------------------------------- one row a cell */

enum {
    CELL,
    PAPER,
    PAPER_RECALL,
    PAPER_PRECISION,
    OURS,
    RECALL,
    PRECISION,
    EXACT,
    ORACLE,
    RATIO,
    WEAKEST,
    SIGMAS,
    SECONDS,
    CPU,
    PER_ITERATION,
    VERDICT
};

static void put_paper(const bench_cell *cell, bench_table *table)
{
    static const double rounding = 5e-5; /* the paper prints four decimals */
    table_number(table, PAPER, cell->level->rmse);
    if (cell->level->rmse + rounding < cell->oracle) table_put(table, PAPER, "*");
    table_number(table, PAPER_RECALL, cell->level->recall);
    table_number(table, PAPER_PRECISION, cell->level->precision);
}

static void put_sigmas(bench_table *table, size_t column, double sigmas)
{
    if (isinf(sigmas)) table_put(table, column, "no fit");
    else table_number(table, column, sigmas);
}

static void put_weakest(const bench_cell *cell, bench_table *table)
{
    bench_law law = bench_law_read(cell->of->law);
    bool is_known = cell->level->noise > 0 && !isnan(cell->sigmas[cell->weakest]);
    table_put(table, WEAKEST, "%s", is_known ? law.terms[cell->weakest].term : "-");
    put_sigmas(table, SIGMAS, is_known ? cell->sigmas[cell->weakest] : NAN);
}

static void write_cell(const bench_cell *cell, bench_table *table)
{
    table_row(table);
    table_put(table, CELL, "%s", cell->name);
    put_paper(cell, table);
    table_number(table, OURS, cell->rmse);
    table_number(table, RECALL, cell->recall);
    table_number(table, PRECISION, cell->precision);
    table_put(table, EXACT, "%zu/%zu", cell->n_exact, cell->n_seeds);
    table_number(table, ORACLE, cell->oracle);
    table_number(table, RATIO, cell->oracle > 0 ? cell->rmse / cell->oracle : NAN);
    put_weakest(cell, table);
    table_number(table, SECONDS, cell->seconds);
    table_number(table, CPU, cell->cpu);
    table_number(table, PER_ITERATION, cell->seconds_per_iteration);
    if (cell->failure) table_put(table, VERDICT, "failed: %s", cell->failure);
    else table_put(table, VERDICT, "%s", bench_verdict_name(bench_cell_verdict(cell)));
}

void bench_paper_cells(const json_t *document, int digits, bench_table *table)
{
    table_begin(table, digits, "cell|paper|R|P|ours|R|P|exact|oracle|ratio|weakest|sigma|s|cpu s|paper s/it|bar");
    for_each_cell(document, table, write_cell);
}

/* ---------------------------------------------------------------- the methods beside each other */

enum { OF_CELL, OF_PAPER, OF_PYSINDY, PYSINDY_EXACT, FIRST_METHOD, PER_METHOD = 4 };

static void put_pysindy(const char *cell, bench_table *table)
{
    const bench_figures *figures = bench_pysindy_figures(cell);
    table_number(table, OF_PYSINDY, figures ? figures->rmse : NAN);
    if (figures) table_put(table, PYSINDY_EXACT, "%zu/%zu", figures->n_exact, figures->n_seeds);
    else table_put(table, PYSINDY_EXACT, "-");
}

/* Error, exact draws, probability, CPU seconds; returns the last. */
static double put_method(const json_t *document, const bench_case *c, size_t level, size_t method, bench_table *table)
{
    bench_cell cell;
    size_t at = FIRST_METHOD + method * PER_METHOD;
    bool is_there = bench_cell_read_method(document, c, level, bench_methods[method], &cell);
    if (is_there && cell.n_failed == cell.n_seeds) table_put(table, at, "failed");
    else table_number(table, at, is_there ? cell.rmse : NAN);
    if (is_there) table_put(table, at + 1, "%zu/%zu", cell.n_exact, cell.n_seeds);
    else table_put(table, at + 1, "-");
    table_number(table, at + 2, is_there ? cell.probability : NAN);
    table_number(table, at + 3, is_there ? cell.cpu : NAN);
    return is_there ? cell.cpu : NAN;
}

static bool has_others(const json_t *document, const bench_case *c, size_t level)
{
    bench_cell cell;
    for (size_t i = 1; bench_methods[i]; i++)
        if (bench_cell_read_method(document, c, level, bench_methods[i], &cell)) return true;
    return false;
}

static void write_methods(const json_t *document, const bench_case *c, size_t level, bench_table *table)
{
    char name[BENCH_CELL_SIZE];
    double cpu[BENCH_METHODS];
    if (!has_others(document, c, level)) return;
    bench_cell_name(c, level, name);
    table_row(table);
    table_put(table, OF_CELL, "%s", name);
    table_number(table, OF_PAPER, c->levels[level].rmse);
    put_pysindy(name, table);
    for (size_t i = 0; i < BENCH_METHODS; i++) cpu[i] = put_method(document, c, level, i, table);
    for (size_t i = 1; i < BENCH_METHODS; i++)
        table_number(table, FIRST_METHOD + BENCH_METHODS * PER_METHOD + i - 1, cpu[i] / cpu[0]);
}

void bench_paper_methods(const json_t *document, int digits, bench_table *table)
{
    table_begin(table, digits,
                "cell|paper's|PySINDy|exact|kbass|exact|P|cpu s|em|exact|P|cpu s|paper|exact|P|cpu s|em/kbass|"
                "paper/kbass");
    for (const bench_case *c = bench_cases; c->key; c++)
        for (size_t level = 0; level < c->n_levels; level++) write_methods(document, c, level, table);
}

/* ---------------------------------------------------------------- one row a true term */

static void write_terms(const bench_cell *cell, bench_table *table)
{
    bench_law law = bench_law_read(cell->of->law);
    for (size_t i = 0; i < law.n; i++) {
        table_row(table);
        table_put(table, 0, "%s", i == 0 ? cell->name : "");
        table_put(table, 1, "%s: %s", law.terms[i].lhs, law.terms[i].term);
        table_put(table, 2, "%.4g", law.terms[i].weight);
        table_number(table, 3, 100 * cell->error[i]);
        table_number(table, 4, 100 * cell->oracle_error[i]);
        put_sigmas(table, 5, cell->level->noise > 0 ? cell->sigmas[i] : NAN);
        table_number(table, 6, cell->level->noise > 0 ? cell->linear_sigmas[i] : NAN);
    }
}

void bench_paper_terms(const json_t *document, int digits, bench_table *table)
{
    table_begin(table, digits, "cell|term|weight|error %|oracle's %|sigma|linear");
    for_each_cell(document, table, write_terms);
}
