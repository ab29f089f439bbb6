/* How the cells are written: decimal mark, thousands, kinds of columns, dates. */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/plan.h"

static const double hour = 3600; /* seconds; rows that are farther apart are counted in days */

/* ---------------------------------------------------------------- marks */

/* A comma is the decimal mark where more numbers say so, the first where as many do; alone between digits and three of
   them it may be either, and is one where semicolons separate. */
static void decide_marks(kb_plan *p)
{
    const kb_sample *s = &p->sample;
    bool is_comma = s->commas > s->points || (s->commas && s->commas == s->points && s->is_comma_first);
    if (!s->commas && !s->points && p->form.separator == ';') is_comma = s->unclear_commas && !s->comma_groups;
    p->is_marked = s->commas || s->points || is_comma;
    if (p->is_marked) p->form.point = is_comma ? ',' : '.';
    bool is_grouped = is_comma ? s->point_groups > 0 : s->comma_groups > 0 || p->form.separator == ',';
    if (is_grouped) p->form.grouping = is_comma ? '.' : ',';
    if (is_grouped && (s->point_groups || s->comma_groups))
        kb_plan_say(p, "\"%c\" between thousands", p->form.grouping);
}

/* ---------------------------------------------------------------- kinds */

/* Every text is a number with one unit; behind fewer than half of the numbers it would be a flag. */
static bool is_bare(const kb_column_sample *c)
{
    return c->n_bare && c->n_bare == c->n_cells[KB_CELL_TEXT] && c->n_bare >= c->n_cells[KB_CELL_NUMBER];
}

/* "date", "Datum", "YYMMDD", "day": 210304 there is no number, nor a time of day. */
static bool is_called_date(const char *face)
{
    static const char *const parts[] = {"date", "datum", "day", "yymmdd", "ddmmyy", "mmddyy", "fecha"};
    for (const char *at = face; *at; at++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (!strncasecmp(at, parts[i], strlen(parts[i]))) return true;
    return false;
}

/* Numbers of eight digits that are dates, all of them, where time is expected; of six where a date is. */
static bool are_dates(const kb_plan *p, size_t column, size_t n_numbers)
{
    const kb_column_sample *c = &p->sample.columns[column];
    const char *face = p->faces[column];
    if (n_numbers < 2) return false;
    return (c->n_compact == n_numbers && kb_time_likeness(face) > 0) ||
           (c->n_six_digits == n_numbers && is_called_date(face));
}

static unsigned char kind_of(const kb_plan *p, size_t column)
{
    const kb_column_sample *c = &p->sample.columns[column];
    size_t n = kb_sample_values(c), n_numbers = c->n_cells[KB_CELL_NUMBER];
    if (!n) return KB_NUMBERS;
    if (2 * c->n_cells[KB_CELL_DATE] >= n) return KB_DATES;
    if (2 * c->n_cells[KB_CELL_CLOCK] >= n) return KB_CLOCKS;
    if (is_bare(c)) return KB_NUMBERS;
    if (2 * c->n_cells[KB_CELL_TEXT] > n) return KB_LABELS;
    return are_dates(p, column, n_numbers) ? KB_DATES : KB_NUMBERS;
}

/* Units that stand in the cells, behind each number. */
static kbass_status take_units(kb_plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const kb_column_sample *c = &p->sample.columns[i];
        if (p->kinds[i] != KB_NUMBERS || !is_bare(c)) continue;
        if (!p->bare) p->bare = KB_NEW(const char *, p->n);
        if (!p->units) p->units = KB_NEW(char *, p->n);
        for (size_t k = 0; p->units && k < p->n; k++)
            if (!p->units[k]) p->units[k] = kb_strdup("");
        if (!p->bare || !p->units) return kb_out_of_memory(p->reading->error, "the units");
        p->bare[i] = c->unit;
        const char *unit = c->unit + strspn(c->unit, " ");
        if (!strcmp(unit, KB_PLUS_MINUS)) {
            kb_plan_say(p,
                        "the errors behind \"" KB_PLUS_MINUS "\" in \"%.60s\" are left out: --sigma takes them from "
                        "columns of their own",
                        p->faces[i]);
            continue;
        }
        if (p->units[i] && *p->units[i]) continue;
        kb_free(p->units[i]);
        p->units[i] = kb_strdup(unit);
    }
    for (size_t i = 0; p->units && i < p->n; i++)
        if (!p->units[i]) return kb_out_of_memory(p->reading->error, "the units");
    p->form.units = p->bare;
    return KBASS_OK;
}

kbass_status kb_plan_cells(kb_plan *p)
{
    kbass_status status = kb_sample_take(&p->layout, &p->form, &p->sample, p->reading->error);
    p->kinds = KB_NEW(unsigned char, p->n);
    p->is_left_out = KB_NEW(bool, p->n);
    if (status == KBASS_OK && (!p->kinds || !p->is_left_out))
        status = kb_out_of_memory(p->reading->error, "the columns");
    if (status != KBASS_OK) return status;
    decide_marks(p);
    for (size_t i = 0; i < p->n; i++) p->kinds[i] = kind_of(p, i);
    return take_units(p);
}

/* ---------------------------------------------------------------- dates */

static const char *const order_names[] = {"dmy", "mdy", "ymd"};

static kbass_status asked_order(kb_plan *p)
{
    for (int i = 0; i <= KB_YEAR_FIRST; i++)
        if (!strcmp(p->reading->dates, order_names[i])) {
            p->form.order = i;
            return KBASS_OK;
        }
    return kb_fail(p->reading->error, KBASS_ERROR_ARGUMENT, "dates: found \"%.20s\", needed dmy, mdy or ymd",
                   p->reading->dates);
}

static bool goes_on(const kb_dates *d, int order) { return d->is_rising[order] || d->is_falling[order]; }

static const char *first_of(int order)
{
    return order == KB_MONTH_FIRST ? "month" : order == KB_YEAR_FIRST ? "year" : "day";
}

/* Six digits can often be read in all three ways: the one in which they go on in time by the shortest steps; on one day
   of many years dates are rarely written so. */
static kbass_status decide_six_digits(kb_plan *p, const kb_dates *d, size_t column)
{
    int best = -1, second = -1;
    for (int order = KB_DAY_FIRST; order <= KB_YEAR_FIRST; order++) {
        if (d->n_good[order] < d->n || !goes_on(d, order)) continue;
        if (best < 0 || d->step[order] < d->step[best]) second = best, best = order;
        else if (second < 0 || d->step[order] < d->step[second]) second = order;
    }
    if (best < 0 || (second >= 0 && !(d->step[second] > 2 * d->step[best])))
        return kb_fail(p->reading->error, KBASS_ERROR_DATA,
                       "%s: column \"%.100s\": dates such as \"%s\" do not tell their order: say --dates dmy, mdy or "
                       "ymd, or --rename \"%.100s=t\" if they are numbers",
                       p->place, p->faces[column], d->example, p->faces[column]);
    p->form.order = (kb_date_order)best;
    kb_plan_say(p, "dates with the %s first (--dates %s)", first_of(best), order_names[best]);
    return KBASS_OK;
}

/* An order in which every date can be read; of two the one in which they go on in time. */
static kbass_status decide_order(kb_plan *p, const kb_dates *d, size_t column)
{
    if (p->sample.columns[column].n_six_digits) return decide_six_digits(p, d, column);
    bool day = d->n_good[KB_DAY_FIRST] == d->n, month = d->n_good[KB_MONTH_FIRST] == d->n;
    if (day && month && d->is_ordered && d->n > 1 && goes_on(d, KB_DAY_FIRST) != goes_on(d, KB_MONTH_FIRST)) {
        day = goes_on(d, KB_DAY_FIRST);
        month = !day;
    }
    if (day && month && d->is_ordered)
        return kb_fail(
            p->reading->error, KBASS_ERROR_DATA,
            "%s: column \"%.100s\": dates such as \"%s\" can be read in two ways: say --dates dmy (day first) or "
            "--dates mdy (month first)",
            p->place, p->faces[column], d->example);
    bool is_year_first = !day && !month && d->n_good[KB_YEAR_FIRST] == d->n;
    p->form.order = day || (!month && !is_year_first) ? KB_DAY_FIRST : month ? KB_MONTH_FIRST : KB_YEAR_FIRST;
    if (d->is_ordered)
        kb_plan_say(p, "dates with the %s first (--dates %s)", first_of(p->form.order), order_names[p->form.order]);
    return KBASS_OK;
}

static kbass_status say_origin(kb_plan *p, int64_t begin, bool is_dated, const char *zone, double step)
{
    char origin[KB_MOMENT_SIZE];
    const char *unit = step >= hour ? "d" : "s", *name = step >= hour ? "days" : "seconds";
    kb_caption *caption = &p->data->axis_captions[0];
    p->form.unit = step >= hour ? KB_DAY : 1;
    p->form.origin = begin;
    if (!is_dated) p->form.clock_origin = begin;
    kb_moment_print(p->form.origin, origin);
    kb_free(caption->unit);
    caption->unit = kb_strdup(unit);
    if (is_dated) p->data->time_origin = kb_strdup(origin);
    bool all = caption->unit && (p->data->time_origin || !is_dated);
    if (p->data->time_origin) kb_plan_say(p, "%s is %s since %s%s", p->data->time_name, name, origin, zone);
    else kb_plan_say(p, "%s is %s since the first row", p->data->time_name, name);
    return all ? KBASS_OK : kb_out_of_memory(p->reading->error, "the dates");
}

static kbass_status date_parts(kb_plan *p)
{
    double first = 0, step = 0;
    kbass_status status = kb_date_parts_sample(&p->parts, &p->layout, &p->form, &first, &step, p->reading->error);
    if (status != KBASS_OK) return status;
    return say_origin(p, first == first ? (int64_t)first : 0, true, "", step);
}

/* Of a column of dates and one of times of day, rows are as far apart as the times of day where dates repeat. */
kbass_status kb_plan_dates(kb_plan *p)
{
    size_t time = p->roles.axes[0];
    kb_dates dates, clocks = {0};
    if (p->parts.is_there) return date_parts(p);
    if (p->kinds[time] != KB_DATES && p->kinds[time] != KB_CLOCKS) return KBASS_OK;
    kbass_status status = kb_sample_dates(&p->layout, &p->form, time, &dates, p->reading->error);
    if (status == KBASS_OK && p->clock < p->n)
        status = kb_sample_dates(&p->layout, &p->form, p->clock, &clocks, p->reading->error);
    if (status != KBASS_OK) return status;
    if (p->reading->dates) status = asked_order(p);
    else if (p->kinds[time] == KB_DATES) status = decide_order(p, &dates, time);
    p->passes_midnight = p->kinds[time] == KB_CLOCKS && !dates.has_long;
    double step = p->clock < p->n ? clocks.step[0] : dates.step[p->form.order];
    if (status != KBASS_OK) return status;
    return say_origin(p, dates.first[p->form.order] + clocks.first[0], p->kinds[time] == KB_DATES,
                      dates.has_zone ? " UTC" : "", step);
}
