#include "data/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"

enum { FEWEST_DATES = 3 };

void kb_plan_say(kb_plan *plan, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (plan->note.length) kb_buffer_put(&plan->note, "; ");
    kb_buffer_put(&plan->note, text);
}

void kb_plan_clear(kb_plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->faces) kb_free(p->faces[i]);
        if (p->units) kb_free(p->units[i]);
        if (p->written) kb_free(p->written[i]);
    }
    kb_free(p->written);
    kb_free(p->faces);
    kb_free(p->units);
    kb_free(p->is_unnamed);
    kb_free(p->bare);
    kb_free(p->kinds);
    kb_free(p->is_left_out);
    kb_layout_clear(&p->layout);
    kb_sample_clear(&p->sample);
    kb_labels_clear(&p->labels);
    kb_buffer_clear(&p->note);
}

size_t kb_plan_column(const kb_plan *p, const char *name)
{
    const kb_roles all = {.n = p->n, .names = p->faces};
    size_t column = kb_roles_column(&all, name);
    for (size_t i = 0; column == p->n && p->written && i < p->n; i++)
        if (p->written[i] && kb_face_is(p->written[i], name)) return i;
    return column;
}

/* ---------------------------------------------------------------- --use and --ignore */

/* The columns that a list "x, y" names. */
static kbass_status mark_listed(kb_plan *p, const char *list, const char *option, bool *is_listed)
{
    kbass_status status = KBASS_OK;
    char *copy = kb_strdup(list);
    const kb_roles all = {.place = p->place, .n = p->n, .names = p->faces};
    if (!copy) return kb_out_of_memory(p->reading->error, "the columns");
    for (char *name = copy, *next; status == KBASS_OK && name; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = '\0';
        while (*name == ' ') name++;
        for (char *end = name + strlen(name); end > name && end[-1] == ' ';) *--end = '\0';
        size_t column = kb_plan_column(p, name);
        if (column == p->n) status = kb_roles_missing(&all, name, option, p->reading->error);
        else is_listed[column] = true;
    }
    kb_free(copy);
    return status;
}

/* ---------------------------------------------------------------- roles */

static bool is_axis(const kb_plan *p, size_t column)
{
    size_t axis;
    return kb_roles_axis(&p->roles, column, &axis);
}

/* Dates and times of day in columns of their own are one time. */
static void join_date_and_clock(kb_plan *p, const bool *is_used)
{
    size_t time = p->roles.axes[0], other = p->n;
    int kind = p->kinds[time], wanted = kind == KB_DATES ? KB_CLOCKS : KB_DATES;
    p->clock = p->n;
    if (p->roles.n_axes > 1 || (kind != KB_DATES && kind != KB_CLOCKS)) return;
    for (size_t i = p->n; i-- > 0;)
        if (p->kinds[i] == wanted && !p->is_left_out[i] && !is_used[i] && i != time) other = i;
    if (other == p->n) return;
    p->roles.axes[0] = kind == KB_DATES ? time : other;
    p->clock = kind == KB_DATES ? other : time;
    p->is_left_out[p->clock] = true;
    kb_plan_say(p, "time is \"%.60s\" and \"%.60s\" together", p->faces[p->roles.axes[0]], p->faces[p->clock]);
}

bool kb_plan_is_of_time(const kb_plan *p, size_t column)
{
    if (column == p->clock) return true;
    for (int i = 0; p->parts.is_there && i < KB_DATE_PARTS; i++)
        if (p->parts.columns[i] == column && i != KB_YEAR) return true;
    return false;
}

/* Year, month, day ... in columns of their own are one time, unless another column is it. */
static bool has_date_parts(kb_plan *p, const bool *is_used)
{
    const kb_reading *r = p->reading;
    kb_date_parts_find(p->n, p->faces, p->kinds, p->is_left_out, &p->parts);
    size_t year = p->parts.columns[KB_YEAR];
    if (!p->parts.is_there || r->axes || (r->time && kb_plan_column(p, r->time) != year)) return false;
    for (size_t i = 0; i < p->n; i++) {
        bool is_time = kb_time_likeness(p->faces[i]) > 0.5 && p->kinds[i] != KB_LABELS && i != year;
        bool is_part = kb_plan_is_of_time(p, i);
        if (is_part && is_used[i]) return false;
        if (!p->is_left_out[i] && !is_part && (is_time || p->kinds[i] == KB_DATES)) return false;
    }
    return true;
}

static void join_date_parts(kb_plan *p)
{
    char text[200] = "";
    size_t length = 0;
    for (int i = 0; i < KB_DATE_PARTS; i++) {
        size_t column = p->parts.columns[i];
        if (column == KB_NO_COLUMN) continue;
        if (length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s\"%.20s\"", length ? ", " : "",
                                       p->faces[column]);
        if (i != KB_YEAR) p->is_left_out[column] = true;
    }
    kb_plan_say(p, "time is %s together", text);
}

static kbass_status find_run(kb_plan *p)
{
    p->run = p->n;
    if (!p->reading->run) return KBASS_OK;
    const kb_roles all = {.place = p->place, .n = p->n, .names = p->faces};
    p->run = kb_plan_column(p, p->reading->run);
    if (p->run == p->n) return kb_roles_missing(&all, p->reading->run, "the runs", p->reading->error);
    p->is_left_out[p->run] = false;
    return KBASS_OK;
}

static bool is_state(const kb_plan *p, size_t column)
{
    return !is_axis(p, column) && !p->is_left_out[column] && column != p->run && p->kinds[column] == KB_NUMBERS;
}

/* A column of text that is called as programs do that write a row for each value, and one column of numbers. */
static void find_variable(kb_plan *p)
{
    static const char *const names[] = {"variable", "parameter", "quantity", "observable", "key", "name"};
    size_t n_values = 0;
    p->variable = p->n;
    for (size_t i = 0; i < p->n; i++) n_values += is_state(p, i);
    bool is_run_text = p->run < p->n && p->kinds[p->run] == KB_LABELS;
    for (size_t i = 0; n_values == 1 && !is_run_text && i < p->n; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (p->kinds[i] == KB_LABELS && !p->is_left_out[i] && i != p->run && !strcasecmp(p->faces[i], names[k]))
                p->variable = i;
    if (p->variable < p->n)
        kb_plan_say(p, "a row for each value: \"%.60s\" says of what (--ignore \"%.60s\" if not)",
                    p->faces[p->variable], p->faces[p->variable]);
}

/* Where text is all there is beside time, it was meant to be numbers: the row that is wrong will be told. */
static bool is_all_text(const kb_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (!is_axis(p, i) && !p->is_left_out[i] && i != p->run && p->kinds[i] != KB_LABELS) return false;
    return true;
}

/* Rows of several runs would be mixed if their names were left out in silence. */
static kbass_status leave_out_text(kb_plan *p, size_t column)
{
    bool restarts = false;
    const char *face = p->faces[column];
    size_t n_values = 0;
    for (size_t i = 0; i < p->n; i++) n_values += is_state(p, i);
    kb_reading *r = p->reading;
    kbass_status status = kb_sample_restarts(&p->layout, &p->form, p->roles.axes[0], column, &restarts, r->error);
    if (status != KBASS_OK) return status;
    if (restarts && p->run == p->n)
        return kb_fail(r->error, KBASS_ERROR_DATA,
                       "%s: time begins anew or stays where the text in column \"%.80s\" changes: --run \"%.80s\" if "
                       "it names runs, "
                       "%s%.80s%s--ignore \"%.80s\" if neither",
                       p->place, face, face, n_values == 1 ? "--rename \"" : "", n_values == 1 ? face : "",
                       n_values == 1 ? "=variable\" if it names what was measured, " : "", face);
    kb_plan_say(p, "left out: \"%.60s\", which has text such as \"%.20s\"", face, p->sample.columns[column].example);
    return KBASS_OK;
}

/* Text and dates are no states. */
static kbass_status leave_out_words(kb_plan *p, const bool *is_used)
{
    static const char *const kinds[] = {"numbers", "dates", "times of day", "text"};
    bool is_hopeless = is_all_text(p);
    for (size_t i = 0; i < p->n; i++) {
        if (i == p->variable) continue;
        if (is_hopeless && p->kinds[i] == KB_LABELS && i != p->run) p->kinds[i] = KB_NUMBERS;
        if (is_axis(p, i) || p->is_left_out[i] || i == p->run || p->kinds[i] == KB_NUMBERS) continue;
        if (is_used[i])
            return kb_fail(p->reading->error, KBASS_ERROR_DATA, "%s: column \"%.100s\" has %s, a state needs numbers",
                           p->place, p->faces[i], kinds[p->kinds[i]]);
        p->is_left_out[i] = true;
        kbass_status status = p->kinds[i] == KB_LABELS ? leave_out_text(p, i) : KBASS_OK;
        if (status != KBASS_OK) return status;
        if (p->kinds[i] != KB_LABELS)
            kb_plan_say(p, "left out: \"%.60s\", which has %s", p->faces[i], kinds[p->kinds[i]]);
    }
    return KBASS_OK;
}

/* Numbers under a name that says whose they are, and time begins anew where they change. */
static kbass_status refuse_numbered_runs(kb_plan *p, const bool *is_used)
{
    static const char *const names[] = {"id",         "subject",    "subject_id", "subjid", "patient",
                                        "run",        "trial",      "experiment", "exp",    "replicate",
                                        "individual", "rep",        "batch",      "animal", "series",
                                        "sim",        "simulation", "episode",    "traj",   "trajectory"};
    for (size_t i = 0; p->run == p->n && !p->reading->axes && !p->reading->is_plain && i < p->n; i++) {
        bool is_named_so = false, restarts = false;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) is_named_so |= !strcasecmp(p->faces[i], names[k]);
        if (!is_named_so || !is_state(p, i) || is_used[i]) continue;
        kbass_status status =
            kb_sample_restarts(&p->layout, &p->form, p->roles.axes[0], i, &restarts, p->reading->error);
        if (status == KBASS_OK && restarts)
            status =
                kb_fail(p->reading->error, KBASS_ERROR_DATA,
                        "%s: time begins anew or stays where \"%.80s\" changes: --run \"%.80s\" if it numbers runs, "
                        "--use names the states if it is one, --ignore \"%.80s\" if neither",
                        p->place, p->faces[i], p->faces[i], p->faces[i]);
        if (status != KBASS_OK) return status;
    }
    return KBASS_OK;
}

/* A column is called like time and no other is, but text is no time; or the times are the names. */
static kbass_status refuse_text_time(const kb_plan *p)
{
    size_t text = p->n, n_numbers = 0, n_dates = 0, last = 0;
    double value;
    if (p->reading->time || p->reading->axes) return KBASS_OK;
    for (size_t i = 0; i < p->n; i++) {
        n_numbers += kb_cell_number(p->faces[i], '.', 0, &value);
        bool is_date = kb_cell_type_of(p->faces[i], NULL) == KB_CELL_DATE;
        n_dates += is_date;
        if (is_date) last = i;
        if (p->kinds[i] != KB_LABELS && (kb_time_likeness(p->faces[i]) > 0 || p->kinds[i] != KB_NUMBERS))
            return KBASS_OK;
        if (kb_time_likeness(p->faces[i]) > 0.1) text = i;
    }
    if (n_numbers >= 2 && n_numbers + 1 >= p->n)
        return kb_fail(
            p->reading->error, KBASS_ERROR_DATA,
            "%s: the columns are called by numbers, %.20s, %.20s ...: if these are the times, the table lies "
            "on its side: write a column for each of its lines (transpose it)",
            p->place, p->faces[p->n - n_numbers], p->faces[p->n - n_numbers + 1]);
    if (n_dates >= FEWEST_DATES && 2 * n_dates > p->n)
        return kb_fail(
            p->reading->error, KBASS_ERROR_DATA,
            "%s: %zu columns are called by dates, %.40s the last: the table lies on its side: write a column "
            "for each of its lines (transpose it)",
            p->place, n_dates, p->faces[last]);
    if (text == p->n) return KBASS_OK;
    return kb_fail(p->reading->error, KBASS_ERROR_DATA,
                   "%s: column \"%.100s\" is time by its name but has text such as \"%s\": numbers, dates or times of "
                   "day are needed; --time NAME names another column",
                   p->place, p->faces[text], p->sample.columns[text].example);
}

/* Numbers as time beside a column of dates: 0800 may be a time of day. */
static kbass_status refuse_dates_beside(kb_plan *p, const bool *is_used)
{
    size_t time = p->roles.axes[0], dates = 0;
    const kb_reading *r = p->reading;
    if (r->time || r->axes || p->parts.is_there || p->kinds[time] != KB_NUMBERS) return KBASS_OK;
    while (dates < p->n && (p->kinds[dates] != KB_DATES || p->is_left_out[dates] || is_used[dates])) dates++;
    if (dates == p->n || !kb_sample_goes_back(&p->layout, &p->form, time)) return KBASS_OK;
    return kb_fail(r->error, KBASS_ERROR_DATA,
                   "%s: \"%.60s\" goes back where the dates in \"%.60s\" go on: if its numbers are times of day, write "
                   "them as 08:00; --time \"%.60s\" takes the dates alone",
                   p->place, p->faces[time], p->faces[dates], p->faces[dates]);
}

/* Dates as time beside 0800 under a name that says so. */
static kbass_status refuse_clock_numbers(kb_plan *p, const bool *is_used)
{
    if ((p->kinds[p->roles.axes[0]] != KB_DATES && !p->parts.is_there) || p->clock < p->n || p->reading->axes)
        return KBASS_OK;
    for (size_t i = 0; i < p->n; i++) {
        const char *face = p->faces[i];
        if (strncasecmp(face, "hhmm", 4) != 0 || !is_state(p, i) || is_used[i] || p->kinds[i] != KB_NUMBERS) continue;
        return kb_fail(p->reading->error, KBASS_ERROR_DATA,
                       "%s: \"%.60s\" has times of day by its name, beside the dates in \"%.60s\": write them as "
                       "08:00; --ignore \"%.60s\" takes the dates alone",
                       p->place, face, p->faces[p->roles.axes[0]], face);
    }
    return KBASS_OK;
}

static kbass_status find_roles(kb_plan *p, const bool *is_used)
{
    kb_reading *r = p->reading;
    p->roles = (kb_roles){.place = p->place, .n = p->n, .names = p->faces, .kinds = p->kinds, .units = p->units};
    kbass_status status = kb_roles_check(&p->roles, r->error);
    if (status == KBASS_OK) status = find_run(p);
    p->roles.is_left_out = p->is_left_out;
    p->clock = p->n;
    p->parts.is_there = status == KBASS_OK && has_date_parts(p, is_used);
    size_t time = p->parts.is_there ? p->parts.columns[KB_YEAR] : r->time ? kb_plan_column(p, r->time) : p->n;
    if (status == KBASS_OK && !p->parts.is_there) status = refuse_text_time(p);
    if (status == KBASS_OK)
        status = kb_roles_find(&p->roles, time < p->n ? p->faces[time] : r->time, r->axes, r->error);
    if (status != KBASS_OK) return status;
    for (size_t i = 0; i < p->roles.n_axes; i++) p->is_left_out[p->roles.axes[i]] = false;
    if (r->use)
        for (size_t i = 0; i < p->n; i++) p->is_left_out[i] |= !is_used[i] && !is_axis(p, i) && i != p->run;
    if (p->parts.is_there) join_date_parts(p);
    else join_date_and_clock(p, is_used);
    if ((status = refuse_dates_beside(p, is_used)) != KBASS_OK) return status;
    if ((status = refuse_clock_numbers(p, is_used)) != KBASS_OK) return status;
    time = p->roles.axes[0];
    if (p->kinds[time] == KB_LABELS)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: time, \"%.100s\", is neither numbers nor dates: found \"%s\"",
                       p->place, p->faces[time], p->sample.columns[time].example);
    find_variable(p);
    status = leave_out_words(p, is_used);
    return status == KBASS_OK ? refuse_numbered_runs(p, is_used) : status;
}

/* ---------------------------------------------------------------- the whole */

/* Numbers alone are read the quick way. */
static void choose_way(kb_plan *p)
{
    bool is_plain = true;
    for (size_t i = 0; i < p->n; i++) is_plain &= p->kinds[i] == KB_NUMBERS && !p->is_left_out[i];
    p->form.kinds = is_plain ? NULL : p->kinds;
    p->form.is_left_out = is_plain ? NULL : p->is_left_out;
    p->form.labels = &p->labels;
    for (size_t i = 0; i < p->n; i++)
        if (kb_plan_is_of_time(p, i)) p->is_left_out[i] = false; /* it is read, and no state */
}

static kbass_status choose_columns(kb_plan *p)
{
    bool *is_used = KB_NEW(bool, p->n);
    kbass_status status = is_used ? KBASS_OK : kb_out_of_memory(p->reading->error, "the columns");
    if (status == KBASS_OK && p->reading->use) status = mark_listed(p, p->reading->use, "--use", is_used);
    if (status == KBASS_OK && p->reading->ignore)
        status = mark_listed(p, p->reading->ignore, "--ignore", p->is_left_out);
    if (status == KBASS_OK) kb_plan_leave_out_idle(p, is_used);
    if (status == KBASS_OK) status = find_roles(p, is_used);
    kb_free(is_used);
    return status;
}

kbass_status kb_plan_make(kb_plan *p, kb_reading *reading, kbass_data *data, const char *begin, const char *end,
                          size_t line, const char *comment)
{
    *p = (kb_plan){.reading = reading, .data = data};
    p->form = (kb_row_form){.path = reading->file.path, .point = '.', .unit = 1, .missing = reading->missing};
    kbass_status status = kb_layout_find(begin, end, line, reading->missing, &p->layout, reading->error);
    if (status != KBASS_OK) return status;
    p->form.separator = p->layout.separator;
    snprintf(p->place, sizeof p->place, "%.480s:%zu", reading->file.path, p->layout.lines[p->layout.header].number);
    status = kb_plan_names(p, comment);
    p->form.n_columns = p->n;
    p->form.names = p->faces;
    if (status == KBASS_OK) status = kb_plan_cells(p);
    if (status == KBASS_OK) status = choose_columns(p);
    if (status == KBASS_OK) status = kb_roles_name(&p->roles, data, reading->error);
    if (status == KBASS_OK) kb_plan_say_layout(p);
    if (status == KBASS_OK) status = kb_plan_dates(p);
    if (status == KBASS_OK) kb_plan_say_names(p);
    if (status == KBASS_OK) kb_plan_say_units(p);
    if (status == KBASS_OK) choose_way(p);
    return status;
}
