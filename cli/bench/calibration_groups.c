/* Where probabilities and intervals are off: the draws of kbass bench calibration by what they are like. */
#include <math.h>
#include <string.h>

#include "bench.h"

static const double sure = 0.9;

typedef struct {
    double draws, exact;
    double sure_terms, sure_true;   /* candidates said to be in with 0.9 or more */
    double weights, weights_inside; /* of true terms selected, in their 95 % intervals */
    double points, points_inside;   /* of the solution, in its 95 % band */
} tally;

static double at(const json_t *array, size_t i) { return json_number_value(json_array_get(array, i)); }

static void add(const json_t *row, tally *t)
{
    const json_t *item;
    size_t i;
    t->draws++;
    t->exact += json_is_true(json_object_get(row, "exact"));
    json_array_foreach(json_object_get(row, "terms"), i, item)
    {
        if (!(at(item, 0) >= sure)) continue;
        t->sure_terms++;
        t->sure_true += json_is_true(json_array_get(item, 1));
    }
    json_array_foreach(json_object_get(row, "weights"), i, item)
    {
        t->weights++;
        t->weights_inside += at(item, 1) <= at(item, 0) && at(item, 0) <= at(item, 2);
    }
    t->points_inside += at(json_object_get(row, "band"), 0);
    t->points += at(json_object_get(row, "band"), 1);
}

static bool is_exact(const json_t *row) { return json_is_true(json_object_get(row, "exact")); }
static bool is_wrong(const json_t *row) { return !is_exact(row); }
static size_t states(const json_t *row) { return json_array_size(json_object_get(row, "law")); }
static bool has_one(const json_t *row) { return states(row) == 1; }
static bool has_two(const json_t *row) { return states(row) == 2; }
static bool has_three(const json_t *row) { return states(row) == 3; }
static double noise(const json_t *row) { return json_number_value(json_object_get(row, "noise")); }
static bool is_clean(const json_t *row) { return noise(row) <= 5; }
static bool is_noisy(const json_t *row) { return noise(row) > 5; }

static const struct {
    const char *what;
    bool (*holds)(const json_t *row);
} groups[] = {{"exactly the true terms chosen", is_exact},
              {"other terms chosen", is_wrong},
              {"one state", has_one},
              {"two states", has_two},
              {"three states", has_three},
              {"noise up to 5 %", is_clean},
              {"noise above 5 %", is_noisy}};

static tally collect(const json_t *document, bool (*holds)(const json_t *row))
{
    const json_t *row;
    size_t i;
    tally t = {0};
    json_array_foreach(json_object_get(document, "rows"), i, row) if (!json_object_get(row, "error") && holds(row))
        add(row, &t);
    return t;
}

void bench_calibration_groups(const json_t *document, bench_table *table)
{
    table_begin(table, 3, "draws with|n|exact|said >= 0.9, true|weights inside|solution inside");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        tally t = collect(document, groups[i].holds);
        if (!(t.draws > 0)) continue;
        table_row(table);
        table_put(table, 0, "%s", groups[i].what);
        table_put(table, 1, "%.0f", t.draws);
        table_number(table, 2, t.exact / t.draws);
        table_number(table, 3, t.sure_true / t.sure_terms);
        table_number(table, 4, t.weights_inside / t.weights);
        table_number(table, 5, t.points_inside / t.points);
    }
}

void bench_calibration_reasons(const json_t *document, FILE *out)
{
    tally right = collect(document, is_exact), wrong = collect(document, is_wrong);
    double outside = right.weights - right.weights_inside + wrong.weights - wrong.weights_inside;
    double false_terms = right.sure_terms - right.sure_true + wrong.sure_terms - wrong.sure_true;
    if (!(right.draws > 0 && wrong.draws > 0)) return;
    fprintf(
        out,
        "\nWhy: intervals and bands begin from the chosen terms; near rivals widen them. Where these are exactly the "
        "true ones (%.0f of %.0f draws), %.1f %% of the weights and %.1f %% of the solution's points are inside; where "
        "they are not, %.1f %% and %.1f %%. Of the %.0f weights outside, %.0f belong to such draws, and of the %.0f "
        "terms "
        "said to be in with 0.9 or more that are not, %.0f.\n",
        right.draws, right.draws + wrong.draws, 100 * right.weights_inside / right.weights,
        100 * right.points_inside / right.points, 100 * wrong.weights_inside / wrong.weights,
        100 * wrong.points_inside / wrong.points, outside, wrong.weights - wrong.weights_inside, false_terms,
        wrong.sure_terms - wrong.sure_true);
}

size_t bench_calibration_losses(const json_t *document, FILE *out)
{
    enum { WHAT, SAID = 2, TRUE, BAR, VERDICT };
    bench_table table;
    size_t n = 0;
    bench_calibration_table(document, &table);
    for (size_t row = 1; row < table.n_rows; row++) {
        char(*cell)[TABLE_CELL_SIZE] = table.cells + row * table.n_columns;
        if (strcmp(cell[VERDICT], "missed")) continue;
        bool is_bin = cell[WHAT][0] >= '0' && cell[WHAT][0] <= '9';
        fprintf(out, "- %s%s: said %s, found %s, needed %s.\n", is_bin ? "terms with probability " : "", cell[WHAT],
                cell[SAID], cell[TRUE], cell[BAR]);
        n++;
    }
    table_clear(&table);
    return n;
}
