#include "data/date_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/cell.h"

/* ---------------------------------------------------------------- names */

static bool is_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(name, *words) == 0) return true;
    return false;
}

/* MM is the month and mm the minute, as in patterns of dates. */
static bool is_called(const char *name, kb_date_part part)
{
    static const char *const words[KB_DATE_PARTS][12] = {
        {"year", "yr", "yy", "yyyy", "jahr",
         "ann\xc3\xa9"
         "e",
         "anno", "a\xc3\xb1o"},
        {"month", "mo", "mon", "monat", "mois", "mes", "mese"},
        {"day", "dy", "dd", "dom", "tag", "jour", "dia", "giorno"},
        {"doy", "day of year", "day_of_year", "dayofyear", "yday", "jday", "julian day"},
        {"hour", "hr", "hh", "stunde", "heure", "hora"},
        {"minute", "min", "mn", "mi"},
        {"second", "sec", "ss", "sekunde"}};
    if (strcmp(name, "MM") == 0) return part == KB_MONTH;
    if (strcmp(name, "mm") == 0) return part == KB_MINUTE;
    return is_one_of(name, words[part]);
}

void kb_date_parts_find(size_t n, char *const *names, const unsigned char *kinds, const bool *is_left_out,
                        kb_date_parts *parts)
{
    for (int part = 0; part < KB_DATE_PARTS; part++) {
        parts->columns[part] = KB_NO_COLUMN;
        for (size_t i = n; i-- > 0;)
            if (kinds[i] == KB_NUMBERS && !is_left_out[i] && is_called(names[i], part)) parts->columns[part] = i;
    }
    const size_t *c = parts->columns;
    parts->is_there = c[KB_YEAR] != KB_NO_COLUMN && (c[KB_MONTH] != KB_NO_COLUMN || c[KB_DAY_OF_YEAR] != KB_NO_COLUMN);
}

/* ---------------------------------------------------------------- moments */

static double part_of(const kb_date_parts *parts, const double *row, kb_date_part part, double otherwise)
{
    return parts->columns[part] == KB_NO_COLUMN ? otherwise : row[parts->columns[part]];
}

double kb_date_parts_seconds(const kb_date_parts *parts, const double *row)
{
    static const double most[KB_DATE_PARTS] = {9999, 12, 31, 366, 24, 59, 61};
    double at[KB_DATE_PARTS];
    int64_t seconds = 0;
    bool has_month = parts->columns[KB_MONTH] != KB_NO_COLUMN;
    for (int i = 0; i < KB_DATE_PARTS; i++) {
        at[i] = part_of(parts, row, i, i < KB_HOUR ? 1 : 0);
        if (!(at[i] >= 0 && at[i] <= most[i])) return NAN;
    }
    double year = at[KB_YEAR] < 100 ? at[KB_YEAR] + (at[KB_YEAR] < 70 ? 2000 : 1900) : at[KB_YEAR];
    double day = has_month ? at[KB_DAY_OF_MONTH] : 1;
    if (year != floor(year) || at[KB_MONTH] != floor(at[KB_MONTH])) return NAN;
    if (!kb_date_seconds((int)year, has_month ? (int)at[KB_MONTH] : 1, (int)day, &seconds)) return NAN;
    double days = has_month ? day - floor(day) : at[KB_DAY_OF_YEAR] - 1;
    return (double)seconds + days * KB_DAY + at[KB_HOUR] * 3600 + at[KB_MINUTE] * 60 + at[KB_SECOND];
}

/* ---------------------------------------------------------------- the sample */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double read_moment(const kb_date_parts *parts, const kb_row_form *form, char **cells, double *row)
{
    for (int i = 0; i < KB_DATE_PARTS; i++) {
        size_t column = parts->columns[i];
        if (column == KB_NO_COLUMN) continue;
        row[column] = NAN;
        kb_cell_number(cells[column], form->point, form->grouping, &row[column]);
    }
    return kb_date_parts_seconds(parts, row);
}

kbass_status kb_date_parts_sample(const kb_date_parts *parts, const kb_layout *layout, const kb_row_form *form,
                                  double *first, double *step, kbass_error *error)
{
    kb_row_work work = {0};
    double *row = KB_NEW(double, form->n_columns), *steps = KB_NEW(double, layout->n + 1), before = NAN;
    kbass_status status = row && steps ? KBASS_OK : kb_out_of_memory(error, "the dates");
    size_t n_steps = 0;
    *first = NAN;
    *step = 0;
    for (size_t i = layout->body; status == KBASS_OK && i < layout->n; i++) {
        size_t n = 0;
        const kb_line *line = &layout->lines[i];
        kbass_status cut = kb_row_cut(form, line->begin, line->end, &work, &n, line->number, NULL);
        if (cut != KBASS_OK || n != form->n_columns) continue;
        double at = read_moment(parts, form, work.cells, row);
        if (isnan(*first)) *first = at;
        if (at != before && !isnan(at) && !isnan(before)) steps[n_steps++] = fabs(at - before);
        before = at;
    }
    if (n_steps) qsort(steps, n_steps, sizeof *steps, ascending);
    if (n_steps) *step = steps[n_steps / 2];
    kb_row_work_clear(&work);
    kb_free(steps);
    kb_free(row);
    return status;
}
