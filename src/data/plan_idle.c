/* Columns that measure nothing: empty ones, counts of the rows, flags. */
#include <string.h>
#include <strings.h>

#include "data/plan.h"

enum { FEWEST_COUNTED = 3 };

/* A column that only counts the rows, under no name or one that says so. */
static bool is_index(const kb_plan *p, size_t column)
{
    static const char *const names[] = {"index",    "idx",       "#",  "no",  "no.",    "nr",     "nr.", "row",
                                        "rownames", "row_names", "id", "obs", "record", "sample", "i",   "n"};
    const kb_column_sample *c = &p->sample.columns[column];
    bool is_named_so = p->is_unnamed[column];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) is_named_so |= !strcasecmp(p->faces[column], names[i]);
    bool is_counting =
        c->is_counting && c->n_cells[KB_CELL_NUMBER] == p->sample.n_rows && p->sample.n_rows >= FEWEST_COUNTED;
    bool is_record = !strcasecmp(p->faces[column], "record"); /* loggers count on for years */
    return is_named_so && is_counting && (c->first == 0 || c->first == 1 || is_record);
}

/* Whole numbers under a name that says that they judge a measurement. */
static bool is_flag(const kb_plan *p, size_t column)
{
    static const char *const names[] = {"qc",    "flag",         "flags",        "qf",
                                        "qflag", "quality_flag", "quality flag", "qc_flag"};
    static const char *const ends[] = {"_flag", "_qc", "_qf", " flag", " qc", "_flags", "_quality"};
    const kb_column_sample *c = &p->sample.columns[column];
    const char *face = p->faces[column];
    bool is_named_so = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) is_named_so |= !strcasecmp(face, names[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(face), end = strlen(ends[i]);
        is_named_so |= length > end && !strcasecmp(face + length - end, ends[i]);
    }
    return is_named_so && c->n_cells[KB_CELL_NUMBER] && c->n_whole == c->n_cells[KB_CELL_NUMBER];
}

void kb_plan_leave_out_idle(kb_plan *p, const bool *is_used)
{
    size_t n_full = 0;
    for (size_t i = 0; i < p->n; i++) n_full += kb_sample_values(&p->sample.columns[i]) > 0;
    for (size_t i = 0; i < p->n; i++) {
        if (is_used[i] || p->is_left_out[i]) continue;
        bool is_seen = p->is_unnamed[i] || (p->layout.n < KB_SAMPLE_LINES && n_full > 1); /* not later rows' */
        bool is_empty = is_seen && p->sample.n_rows && !kb_sample_values(&p->sample.columns[i]);
        bool counts = is_index(p, i);
        p->is_left_out[i] = is_empty || counts || is_flag(p, i);
        if (p->is_left_out[i] && !is_empty)
            kb_plan_say(p, "left out: \"%.60s\", which %s (--use keeps it)", p->faces[i],
                        counts ? "counts the rows" : "has flags by its name");
        else if (is_empty && p->is_unnamed[i]) kb_plan_say(p, "left out: column %zu, which is empty", i + 1);
        else if (is_empty) kb_plan_say(p, "left out: \"%.60s\", which is empty", p->faces[i]);
    }
}
