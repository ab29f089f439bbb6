#include "cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "judge.h"
#include "message.h"

size_t bench_cell_count(void)
{
    size_t n = 0;
    for (const bench_case *c = bench_cases; c->key; c++) n += c->n_levels;
    return n;
}

void bench_cell_name(const bench_case *c, size_t level, char name[BENCH_CELL_SIZE])
{
    if (isnan(c->levels[level].noise)) snprintf(name, BENCH_CELL_SIZE, "%s", c->key);
    else snprintf(name, BENCH_CELL_SIZE, "%s-%g", c->key, c->levels[level].noise);
}

const char *const bench_methods[] = {"kbass", "em", "paper", NULL};

void bench_row_name(const char *cell, const char *method, char name[BENCH_CELL_SIZE])
{
    bool is_ours = !strcmp(method, bench_methods[0]);
    snprintf(name, BENCH_CELL_SIZE, "%.30s%s%s", cell, is_ours ? "" : " ", is_ours ? "" : method);
}

bool bench_is_method(const char *asked, const char *method)
{
    size_t length = strlen(method);
    for (const char *a = asked ? asked : bench_methods[0]; *a; a += strcspn(a, ", ")) {
        a += strspn(a, ", ");
        if (!strncmp(a, method, length) && (!a[length] || strchr(", ", a[length]))) return true;
    }
    return false;
}

int bench_check_methods(const char *asked)
{
    size_t n = 0;
    for (const char *a = asked; a && *a;) {
        a += strspn(a, ", ");
        size_t length = strcspn(a, ", "), i = 0;
        while (i < BENCH_METHODS && (strlen(bench_methods[i]) != length || strncmp(a, bench_methods[i], length) != 0))
            i++;
        if (length && i == BENCH_METHODS)
            return cli_fail("--methods: \"%.*s\" is none of kbass, em, paper", (int)length, a);
        n += length > 0;
        a += length;
    }
    return asked && !n ? cli_fail("--methods: found none, needed one or more of kbass, em, paper") : EXIT_OK;
}

int bench_check_cells(const char *cases)
{
    char cells[BENCH_MOST_CELLS][BENCH_CELL_SIZE];
    const char *names[BENCH_MOST_CELLS];
    size_t n = 0;
    for (const bench_case *c = bench_cases; c->key; c++)
        for (size_t level = 0; level < c->n_levels && n < BENCH_MOST_CELLS; level++) {
            bench_cell_name(c, level, cells[n]);
            names[n] = cells[n];
            n++;
        }
    return bench_check_asked(cases, n, names);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---------------------------------------------------------------- medians over the rows of one cell */

typedef struct {
    size_t n;
    const json_t **rows; /* the fits that did not fail */
    double *values;
} gathering;

/* Of rows[].part.key, or rows[].key without a part; absolute values. */
static double median(const gathering *g, const char *part, const char *group, const char *key)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const json_t *object = part ? json_object_get(g->rows[i], part) : g->rows[i];
        double value = number(group ? json_object_get(object, group) : object, key);
        if (!isnan(value)) g->values[n++] = fabs(value);
    }
    if (!n) return NAN;
    qsort(g->values, n, sizeof *g->values, ascending);
    return (g->values[(n - 1) / 2] + g->values[n / 2]) / 2;
}

const json_t *bench_next_row(const json_t *rows, const char *cell, size_t *at)
{
    char prefix[BENCH_CELL_SIZE + 8];
    snprintf(prefix, sizeof prefix, "%s seed ", cell);
    while (*at < json_array_size(rows)) {
        const json_t *row = json_array_get(rows, (*at)++);
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name && !strncmp(name, prefix, strlen(prefix))) return row;
    }
    return NULL;
}

static void gather(const json_t *rows, const char *name, bench_cell *cell, gathering *g)
{
    const json_t *row = NULL;
    for (size_t at = 0; (row = bench_next_row(rows, name, &at)); cell->n_seeds++) {
        const char *failure = json_string_value(json_object_get(row, "error"));
        cell->n_failed += failure != NULL;
        cell->n_exact += json_is_true(json_object_get(row, "exact"));
        if (failure) cell->failure = failure;
        else g->rows[g->n++] = row;
    }
}

static void summarise(const gathering *g, const bench_law *law, bench_cell *cell)
{
    cell->rmse = median(g, NULL, NULL, "rmse");
    cell->recall = median(g, NULL, NULL, "recall");
    cell->precision = median(g, NULL, NULL, "precision");
    cell->seconds = median(g, NULL, NULL, "seconds");
    cell->cpu = median(g, NULL, NULL, "cpu");
    cell->probability = median(g, NULL, NULL, "probability");
    cell->oracle = median(g, "oracle", NULL, "rmse");
    cell->oracle_seconds = median(g, "oracle", NULL, "seconds");
    for (size_t i = 0; i < law->n; i++) {
        char label[BENCH_LABEL_SIZE];
        bench_label(&law->terms[i], label);
        cell->error[i] = median(g, NULL, "errors", label);
        cell->oracle_error[i] = median(g, "oracle", "errors", label);
    }
}

/* ---------------------------------------------------------------- the other rows */

static const json_t *find_row(const json_t *rows, const char *of, const char *what)
{
    const json_t *row = NULL;
    size_t i = 0;
    char name[BENCH_CELL_SIZE + 16];
    snprintf(name, sizeof name, "%s %s", of, what);
    json_array_foreach(rows, i, row)
    {
        const char *found = json_string_value(json_object_get(row, "name"));
        if (found && !strcmp(found, name)) return row;
    }
    return NULL;
}

static void read_sigmas(const json_t *row, const bench_law *law, bench_cell *cell)
{
    const json_t *sigmas = json_object_get(row, "sigmas");
    double share = number(row, "noise") / cell->level->noise; /* sigmas are proportional to 1/noise */
    for (size_t i = 0; i < law->n; i++) {
        char label[BENCH_LABEL_SIZE];
        bench_label(&law->terms[i], label);
        const json_t *value = json_object_get(sigmas, label);
        cell->sigmas[i] = json_is_number(value) ? share * json_number_value(value) : value ? INFINITY : NAN;
        cell->linear_sigmas[i] = share * number(json_object_get(row, "linear_sigmas"), label);
        if (cell->sigmas[i] < cell->sigmas[cell->weakest]) cell->weakest = i;
    }
}

bool bench_cell_read(const json_t *document, const bench_case *c, size_t level, bench_cell *cell)
{
    return bench_cell_read_method(document, c, level, bench_methods[0], cell);
}

bool bench_cell_read_method(const json_t *document, const bench_case *c, size_t level, const char *method,
                            bench_cell *cell)
{
    char name[BENCH_CELL_SIZE];
    const json_t *rows = json_object_get(document, "rows");
    size_t n = json_array_size(rows);
    bench_law law = bench_law_read(c->law);
    gathering g = {0, calloc(n + 1, sizeof *g.rows), calloc(n + 1, sizeof *g.values)};
    *cell = (bench_cell){.of = c, .level = &c->levels[level]};
    bench_cell_name(c, level, cell->name);
    if (g.rows && g.values) {
        bench_row_name(cell->name, method, name);
        gather(rows, name, cell, &g);
        summarise(&g, &law, cell);
        read_sigmas(cell->level->noise > 0 ? find_row(rows, c->key, "limit") : NULL, &law, cell);
        cell->seconds_per_iteration = number(find_row(rows, c->key, "published"), "seconds_per_iteration");
    }
    free(g.values);
    free(g.rows);
    return cell->n_seeds > 0;
}

/* ---------------------------------------------------------------- the bar */

bench_verdict bench_cell_verdict(const bench_cell *cell)
{
    static const double visible = 6, exact_share = 0.9, error_ratio = 1.25, accuracy = 1e-4;
    bool is_drawn = cell->level->noise > 0;
    if (is_drawn && isnan(cell->sigmas[cell->weakest])) return BENCH_UNKNOWN;
    if (is_drawn && cell->sigmas[cell->weakest] < visible) return BENCH_TOO_WEAK;
    if (!((double)cell->n_exact >= exact_share * (double)cell->n_seeds)) return BENCH_WRONG_TERMS;
    return cell->rmse <= error_ratio * cell->oracle + accuracy ? BENCH_MET : BENCH_TOO_FAR;
}

const char *bench_verdict_name(bench_verdict verdict)
{
    static const char *const names[] = {"met", "below 6 sigma", "wrong terms", "error", "-"};
    return names[verdict];
}
