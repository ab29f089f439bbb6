#include "data/roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/status.h"
#include "base/suggest.h"

#define FAIL_AT(r, error, format, ...) kb_fail(error, KBASS_ERROR_DATA, "%s: " format, (r)->place, __VA_ARGS__)

bool kb_is_time_name(const char *name) { return strcasecmp(name, "t") == 0 || strcasecmp(name, "time") == 0; }

/* ---------------------------------------------------------------- names of time */

/* Those that mean it for sure, the surest first; then those that count time by what its units are called. */
static const char *const time_words[] = {"t",
                                         "time",
                                         "timestamp",
                                         "datetime",
                                         "date",
                                         "zeit",
                                         "zeitstempel",
                                         "zeitpunkt",
                                         "datum",
                                         "uhrzeit",
                                         "temps",
                                         "tiempo",
                                         "tempo",
                                         "fecha",
                                         "tijd",
                                         "elapsed",
                                         "\xe6\x97\xb6\xe9\x97\xb4",
                                         "\xe6\x97\xa5\xe6\x9c\x9f",
                                         "\xd0\xb2\xd1\x80\xd0\xb5\xd0\xbc\xd1\x8f",
                                         "\xd0\xb4\xd0\xb0\xd1\x82\xd0\xb0",
                                         "\xe6\x97\xa5\xe4\xbb\x98", /* Japanese: date; date and time; time of day */
                                         "\xe6\x97\xa5\xe6\x99\x82",
                                         "\xe6\x99\x82\xe5\x88\xbb",
                                         "\xe6\x99\x82\xe9\x96\x93",
                                         "\xec\x8b\x9c\xea\xb0\x84", /* Korean: time, date */
                                         "\xeb\x82\xa0\xec\xa7\x9c",
                                         "mjd", /* of astronomers: days */
                                         "jd",
                                         "hjd",
                                         "bjd",
                                         "datenum",
                                         "year",
                                         "years",
                                         "jahr",
                                         "month",
                                         "day",
                                         "days",
                                         "tag",
                                         "hour",
                                         "hours",
                                         "minute",
                                         "minutes",
                                         "second",
                                         "seconds",
                                         "sec"};
enum { N_TIME_WORDS = sizeof time_words / sizeof *time_words, N_SURE_WORDS = 31 };

/* As sure as "zeit": Polish, Czech, Danish, Finnish, Turkish, Hungarian, Spanish, Russian with a capital; of databases.
 */
static const char *const other_words[] = {"czas",
                                          "\xc4\x8d\x61s",
                                          "tid",
                                          "tidspunkt",
                                          "aika",
                                          "zaman",
                                          "id\xc5\x91",
                                          "hora",
                                          "\xd0\x92\xd1\x80\xd0\xb5\xd0\xbc\xd1\x8f",
                                          "\xd0\x94\xd0\xb0\xd1\x82\xd0\xb0",
                                          "ts"};
enum { N_OTHER_WORDS = sizeof other_words / sizeof *other_words, ZEIT = 5 };

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static size_t time_word(const char *text, size_t length)
{
    size_t i = 0;
    for (size_t k = 0; k < N_OTHER_WORDS; k++)
        if (is_word(other_words[k], text, length)) return ZEIT;
    while (i < N_TIME_WORDS && !is_word(time_words[i], text, length)) i++;
    return i;
}

/* "Sample time", "time_s", "measurement date": a word that means time for sure stands first or last. */
static bool has_time_word(const char *face, size_t length)
{
    static const char apart[] = " _-.:#";
    size_t first = 0, last = length;
    while (first < length && !strchr(apart, face[first])) first++;
    while (last > 0 && !strchr(apart, face[last - 1])) last--;
    size_t word = time_word(face, first), final = time_word(face + last, length - last);
    return (word > 0 && word < N_SURE_WORDS) || (final > 0 && final < N_SURE_WORDS);
}

/* "t_1", "time2", "time.1": of several times side by side. */
static bool is_numbered_time(const char *face, size_t length)
{
    while (length && strchr("0123456789._ ", face[length - 1])) length--;
    return face[length] && time_word(face, length) < N_SURE_WORDS && face[0] != 'T';
}

/* "time/s", "Time/sec", "t_ms": a unit glued to it. */
static bool has_glued_unit(const char *face)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "sec", "min", "h", "hr", "hours", "d", "days", "yr"};
    size_t length = strcspn(face, "/_");
    size_t word = face[length] ? time_word(face, length) : N_TIME_WORDS;
    bool is_time = word < N_SURE_WORDS && !(face[0] == 'T' && length == 1);
    for (size_t i = 0; is_time && i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(face + length + 1, units[i])) return true;
    return false;
}

double kb_time_likeness(const char *face)
{
    static const double capital_t = 0.05; /* temperature as often as time */
    const char *unit;
    size_t unit_length, length = kb_face_length(face, &unit, &unit_length), word = time_word(face, length);
    if (word == N_TIME_WORDS && has_glued_unit(face)) return 0.2;
    if (word == N_TIME_WORDS) return has_time_word(face, length) ? 0.1 : is_numbered_time(face, length) ? 0.01 : 0;
    if (word == 0 && face[0] == 'T') return capital_t;
    bool is_lower = face[0] >= 'a' && face[0] <= 'z';
    return 1 - 0.02 * (double)word + (is_lower ? 0.001 : 0) + (face[length] ? 0 : 0.002);
}

void kb_list_names(size_t n, char *const *names, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (size_t i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "", names[i]);
    if (length >= size) memcpy(list + size - 4, "...", 4);
}

kbass_status kb_roles_check(const kb_roles *r, kbass_error *error)
{
    if (r->n > KB_MOST_COLUMNS)
        return FAIL_AT(r, error, "found %zu columns, at most %d are read", r->n, KB_MOST_COLUMNS);
    if (r->n == 1)
        return FAIL_AT(r, error, "only one column, \"%.100s\": time and at least one state are needed", r->names[0]);
    return KBASS_OK;
}

size_t kb_roles_column(const kb_roles *r, const char *name)
{
    size_t column = 0;
    while (column < r->n && strcmp(r->names[column], name) != 0) column++;
    if (column < r->n) return column;
    for (column = 0; column < r->n && !kb_face_is(r->names[column], name);) column++;
    return column;
}

/* ---------------------------------------------------------------- axes */

kbass_status kb_roles_missing(const kb_roles *r, const char *name, const char *use, kbass_error *error)
{
    char list[KB_LIST_SIZE], advice[KB_LIST_SIZE] = "";
    const char *nearest = kb_nearest(name, r->n, (const char *const *)r->names);
    kb_list_names(r->n, r->names, list, sizeof list);
    if (nearest) snprintf(advice, sizeof advice, " (did you mean \"%.100s\"?)", nearest);
    return FAIL_AT(r, error, "no column \"%s\" for %s%s; there are: %s", name, use, advice, list);
}

/* Text is no time, and what is left out is not asked. */
static bool may_be_time(const kb_roles *r, size_t column)
{
    return !kb_roles_leave_out(r, column) && (!r->kinds || r->kinds[column] != KB_LABELS);
}

/* The name that means time most; where none does, the only column of dates, or of times of day. */
static size_t guess_time(const kb_roles *r)
{
    size_t best = r->n;
    double most = 0;
    for (size_t i = 0; i < r->n; i++) {
        double likeness = may_be_time(r, i) ? kb_time_likeness(r->names[i]) : 0;
        if (likeness <= most) continue;
        most = likeness;
        best = i;
    }
    for (int kind = KB_DATES; r->kinds && best == r->n && kind <= KB_CLOCKS; kind++) {
        size_t n = 0, last = r->n;
        for (size_t i = 0; i < r->n; i++)
            if (r->kinds[i] == kind && !kb_roles_leave_out(r, i)) n++, last = i;
        if (n == 1) best = last;
    }
    return best;
}

static kbass_status find_time(kb_roles *r, const char *name, kbass_error *error)
{
    char list[KB_LIST_SIZE];
    size_t column = name ? kb_roles_column(r, name) : guess_time(r);
    r->axes[0] = column;
    r->n_axes = 1;
    if (column < r->n) return KBASS_OK;
    if (name) return kb_roles_missing(r, name, "time", error);
    kb_list_names(r->n, r->names, list, sizeof list);
    return FAIL_AT(r, error, "no time column \"t\" or \"time\" (name it with --time NAME); there are: %s", list);
}

kbass_status kb_axes_split(const char *axes, char **copy, size_t *n, char *names[KBASS_MAX_AXES], kbass_error *error)
{
    char *name = *copy = kb_strdup(axes);
    if (!name) return kb_out_of_memory(error, "the axes");
    for (*n = 0; name; ++*n) {
        char *comma = strchr(name, ','), *end = comma ? comma : name + strlen(name);
        while (*name == ' ') name++;
        while (end > name && end[-1] == ' ') end--;
        *end = '\0';
        if (*n == KBASS_MAX_AXES)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: found more than %d, needed time and up to %d of space",
                           KBASS_MAX_AXES, KBASS_MAX_AXES - 1);
        if (!*name)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: found a name missing in \"%s\", needed \"t,x\"", axes);
        for (size_t i = 0; i < *n; i++)
            if (strcmp(names[i], name) == 0)
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "axes: \"%s\" is named twice", name);
        names[*n] = name;
        name = comma ? comma + 1 : NULL;
    }
    return KBASS_OK;
}

/* The one that is said to be time, else the one whose name means it most, else the first. */
static void put_time_first(kb_roles *r, const char *said)
{
    size_t time = r->n_axes;
    double most = 0;
    for (size_t i = 0; i < r->n_axes; i++) {
        const char *face = r->names[r->axes[i]];
        double likeness = said ? kb_face_is(face, said) : kb_time_likeness(face);
        if (likeness <= most) continue;
        most = likeness;
        time = i;
    }
    if (time == r->n_axes) return;
    size_t column = r->axes[time];
    memmove(r->axes + 1, r->axes, time * sizeof *r->axes);
    r->axes[0] = column;
}

static kbass_status find_axes(kb_roles *r, const char *time, const char *axes, kbass_error *error)
{
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0;
    kbass_status status = kb_axes_split(axes, &copy, &n, names, error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        size_t column = kb_roles_column(r, names[i]), axis;
        if (column == r->n) status = kb_roles_missing(r, names[i], "an axis", error);
        else if (kb_roles_axis(r, column, &axis))
            status = FAIL_AT(r, error, "axes: column \"%s\" is named twice", r->names[column]);
        else r->axes[r->n_axes++] = column;
    }
    if (status == KBASS_OK && r->n_axes == r->n)
        status = FAIL_AT(r, error, "all %zu columns are axes: at least one field is needed", r->n);
    size_t said = time ? kb_roles_column(r, time) : r->n, i = 0;
    if (status == KBASS_OK && time && (said == r->n || !kb_roles_axis(r, said, &i)))
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: --time %s is not among --axes %s", r->place, time, axes);
    put_time_first(r, time);
    kb_free(copy);
    return status;
}

kbass_status kb_roles_find(kb_roles *roles, const char *time, const char *axes, kbass_error *error)
{
    roles->n_axes = 0;
    return axes ? find_axes(roles, time, axes, error) : find_time(roles, time, error);
}

bool kb_roles_axis(const kb_roles *roles, size_t column, size_t *axis)
{
    for (*axis = 0; *axis < roles->n_axes; ++*axis)
        if (roles->axes[*axis] == column) return true;
    return false;
}
