/* How often kbass bench calibration gave each verdict, by kind of draw, and the bars that they have. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "draw_information.h"

enum { NAMES = KBASS_NOTHING_TO_EXPLAIN + 1 };
static const double visible = 6; /* noise sds that the dictionary's best law for the record without noise misses */

static bool is_kind(const json_t *row, bench_draw_kind kind)
{
    const char *name = json_string_value(json_object_get(row, "kind"));
    return name && !strcmp(name, bench_draw_kinds[kind]);
}

/* Which rows a bar is about; without one, those of a kind. */
typedef bool (*chooser)(const json_t *row);

static size_t count(const json_t *document, chooser holds, bench_draw_kind kind, size_t counts[NAMES])
{
    const json_t *row;
    size_t i, n = 0;
    memset(counts, 0, NAMES * sizeof *counts);
    json_array_foreach(json_object_get(document, "rows"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "verdict"));
        if (!name || !(holds ? holds(row) : is_kind(row, kind))) continue;
        for (int v = 0; v < NAMES; v++) counts[v] += !strcmp(name, kbass_law_verdict_name((kbass_law_verdict)v));
        n++;
    }
    return n;
}

static void put_counts(FILE *out, const char *what, size_t n, const size_t counts[NAMES])
{
    fprintf(out, "%-42s%5zu%7zu%13zu%11zu%8zu%9zu%12zu\n", what, n, counts[KBASS_LAW_FOUND],
            counts[KBASS_LAW_APPROXIMATE], counts[KBASS_LAW_UNDECIDED], counts[KBASS_LAW_NONE],
            counts[KBASS_NOTHING_TO_EXPLAIN], counts[KBASS_LAW_NOT_JUDGED]);
}

/* ---------------------------------------------------------------- what the bars are about */

static bool is_field(const json_t *row) { return is_kind(row, DRAW_FIELD); }
static bool has_no_law(const json_t *row)
{
    return is_kind(row, DRAW_NOISE) || is_kind(row, DRAW_WALK) || is_kind(row, DRAW_SMOOTH);
}
static bool is_field_without(const json_t *row) { return is_kind(row, DRAW_FIELD_NONE); }
static bool is_decidable(const json_t *row)
{
    return json_is_true(json_object_get(row, "decidable")) && !is_field(row);
}
static bool is_decidable_field(const json_t *row)
{
    return json_is_true(json_object_get(row, "decidable")) && is_field(row);
}

/* at: 0 the largest miss, 1 the root of the sum of squares */
static double miss(const json_t *row, size_t at)
{
    return json_number_value(json_array_get(json_object_get(row, "miss"), at));
}
static bool misses_a_value(const json_t *row) { return is_kind(row, DRAW_OUTSIDE) && miss(row, 0) >= visible; }
static bool misses_together(const json_t *row) { return is_kind(row, DRAW_OUTSIDE) && miss(row, 1) >= visible; }
static bool misses_nowhere(const json_t *row) { return is_kind(row, DRAW_OUTSIDE) && !(miss(row, 1) >= visible); }
static bool misses_in_field(const json_t *row) { return is_kind(row, DRAW_FIELD_OUTSIDE) && miss(row, 1) >= visible; }
static bool misses_no_field(const json_t *row)
{
    return is_kind(row, DRAW_FIELD_OUTSIDE) && !(miss(row, 1) >= visible);
}

/* bar: the largest share of what must not be said; NaN: none */
static const struct {
    const char *what;
    chooser holds;
    kbass_law_verdict wrong;
    double bar;
} bars[] = {{"no law (noise, walk, smooth)", has_no_law, KBASS_LAW_FOUND, 0.03},
            {"field without a law", is_field_without, KBASS_LAW_FOUND, 0.03},
            {"decidable: every weight above 6 sds", is_decidable, KBASS_LAW_NONE, 0.02},
            {"decidable field", is_decidable_field, KBASS_LAW_NONE, 0.02},
            {"outside, 6 sds at a value", misses_a_value, KBASS_LAW_FOUND, 0.1},
            {"outside, 6 sds over all values", misses_together, KBASS_LAW_FOUND, 0.1},
            {"outside, less than that", misses_nowhere, KBASS_LAW_FOUND, NAN},
            {"field outside, 6 sds over all values", misses_in_field, KBASS_LAW_FOUND, 0.1},
            {"field outside, less than that", misses_no_field, KBASS_LAW_FOUND, NAN}};

static void put_bar(FILE *out, const char *what, kbass_law_verdict wrong, double bar, size_t n,
                    const size_t counts[NAMES])
{
    size_t bad = counts[wrong] + (wrong == KBASS_LAW_FOUND ? counts[KBASS_LAW_APPROXIMATE] : 0);
    put_counts(out, what, n, counts);
    if (isnan(bar)) return;
    fprintf(out, "%42s     \"%s\" in %zu, bar %.0f %%: %s\n", "", kbass_law_verdict_name(wrong), bad, 100 * bar,
            (double)bad <= bar * (double)n ? "met" : "missed");
}

void bench_calibration_verdicts(const json_t *document, FILE *out)
{
    size_t counts[NAMES];
    fprintf(out, "\n%-42s%5s%7s%13s%11s%8s%9s%12s\n", "verdicts", "n", "found", "approximate", "undecided", "no law",
            "nothing", "not judged");
    for (int kind = 0; kind < DRAW_KINDS; kind++) {
        size_t n = count(document, NULL, (bench_draw_kind)kind, counts);
        if (n) put_counts(out, bench_draw_kinds[kind], n, counts);
    }
    fputs("\n", out);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        size_t n = count(document, bars[i].holds, DRAW_LAW, counts);
        if (n) put_bar(out, bars[i].what, bars[i].wrong, bars[i].bar, n, counts);
    }
}
