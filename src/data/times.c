/* Which of several arrays is time; and time of which only the step is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/roles.h"

enum { MOST_COMPONENTS = 64 };

/* ---------------------------------------------------------------- names */

static bool is_one_of(const char *name, size_t n, const char *const *known)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(name, known[i]) == 0) return true;
    return false;
}

/* Names that other programs give to time beside t and time: tt, t_span, time_s, t-coordinate. */
static bool is_like_time(const char *name)
{
    static const char *const known[] = {"tt",    "ts",    "tspan", "tvec", "tout",       "tgrid", "tstar",
                                        "tdata", "taxis", "teval", "tsim", "timestamps", "T"};
    bool has_front = (name[0] == 't' || name[0] == 'T') && (name[1] == '_' || name[1] == '-');
    return kb_is_time_name(name) || has_front || strncasecmp(name, "time", 4) == 0 ||
           is_one_of(name, sizeof known / sizeof *known, known);
}

bool kb_is_space_name(const char *name)
{
    static const char *const known[] = {"lon", "lat", "longitude", "latitude", "depth", "height", "r", "theta"};
    return (name[0] && strchr("xyzXYZ", name[0])) || is_one_of(name, sizeof known / sizeof *known, known);
}

static bool ascends(const kb_arrangement *a, const kb_view *v)
{
    double before = 0, now = 0;
    if (kb_source_load((kb_source *)&a->source, v->array) != KBASS_OK) return false;
    for (size_t i = 0; i < v->dims[0]; i++, before = now) {
        kb_view_read(v, i, 1, &now);
        if (!isfinite(now) || (i && !(now > before))) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- steps */

static bool read_single(kb_arrangement *a, kb_array *array, double *number)
{
    size_t n = 0;
    bool is_single = !array->trouble && kb_array_count(array, &n) && n == 1;
    if (!is_single || kb_source_load(&a->source, array) != KBASS_OK) return false;
    kb_elements_read(array->element, array->bytes, 0, 1, number);
    return isfinite(*number) && *number > 0;
}

/* The single number called dt or the like. */
static kb_array *find_step(kb_arrangement *a, double *step)
{
    static const char *const known[] = {"dt",       "delta_t",   "deltat",    "t_step",
                                        "timestep", "time_step", "timedelta", "sampling_interval"};
    for (size_t i = 0; i < a->source.n_arrays; i++) {
        const char *slash = strrchr(a->source.arrays[i].name, '/'), *name = a->source.arrays[i].name;
        bool is_step = is_one_of(slash ? slash + 1 : name, sizeof known / sizeof *known, known);
        if (is_step && read_single(a, &a->source.arrays[i], step)) return &a->source.arrays[i];
    }
    return NULL;
}

static bool is_axis_of(const kb_arrangement *a, const kb_view *field, size_t length)
{
    for (size_t i = 0; i < a->n_views; i++)
        if (&a->views[i] != field && a->views[i].n_dims == 1 && a->views[i].dims[0] == length) return true;
    return false;
}

/* The field's only dimension that has no axis; without any axes the longer of two, the other being components. */
static size_t free_dimension(const kb_arrangement *a, const kb_view *field)
{
    size_t n_free = 0, found = 0;
    for (size_t i = 0; i < field->n_dims; i++)
        if (!is_axis_of(a, field, field->dims[i])) {
            n_free++;
            found = field->dims[i];
        }
    if (n_free == 1 || field->n_dims == 1) return n_free ? found : field->dims[0];
    size_t first = field->dims[0], second = field->dims[1], longer = first > second ? first : second;
    bool is_table = n_free == 2 && field->n_dims == 2 && first != second && first + second - longer <= MOST_COMPONENTS;
    return is_table ? longer : 0;
}

/* With axes the place of time among them is its dimension's. */
static size_t length_of_time(const kb_arrangement *a, const kb_view *field, size_t n_axes, size_t place)
{
    if (n_axes && field->n_dims == n_axes) return field->dims[place];
    return free_dimension(a, field);
}

static kbass_status refuse_steps(const kb_arrangement *a, const kb_view *field)
{
    char list[KB_VIEWS_SIZE];
    kb_list_views(a, list, sizeof list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: no array for time, and its step alone does not tell which dimension of \"%.60s\" it runs "
                   "along: name the axes in the order of the dimensions, as in --axes x,t; there are: %s",
                   a->reading->file.path, field ? field->name : "", list);
}

/* An array of 0, step, 2 step, ... under the name that time is given. */
static kbass_status make_steps(kb_arrangement *a, double step, const char *name, size_t n_axes, size_t place,
                               kb_view **time)
{
    kb_view *field = kb_leading_view(a);
    size_t n = field ? length_of_time(a, field, n_axes, place) : 0;
    char text[KB_NUMBER_SIZE];
    if (!n) return refuse_steps(a, field);
    double *numbers = kb_resize(NULL, n, sizeof *numbers);
    if (!numbers || !(a->steps.name = kb_strdup(name))) {
        kb_free(numbers);
        return kb_out_of_memory(a->reading->error, "the times");
    }
    for (size_t i = 0; i < n; i++) numbers[i] = (double)i * step;
    a->steps.owned = numbers;
    a->steps.bytes = (const unsigned char *)numbers;
    a->steps.element = (kb_element){KB_REAL, sizeof(double), false};
    a->steps.n_dims = 1;
    a->steps.dims[0] = n;
    a->steps.strides[0] = sizeof(double);
    *time = &a->views[a->n_views++];
    **time = kb_view_of(&a->steps);
    (*time)->name = a->steps.name;
    kb_number_round(step, 6, text);
    kb_arrangement_note(a, "%stime is not there: %s counts %zu steps of %s", *a->note ? "; " : "", name, n, text);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- by name */

static kbass_status no_time(const kb_arrangement *a, const char *name)
{
    char list[KB_VIEWS_SIZE];
    kb_list_views(a, list, sizeof list);
    if (name)
        return kb_fail(a->reading->error, KBASS_ERROR_DATA, "%s: no array \"%.100s\" for time; there are: %s",
                       a->reading->file.path, name, list);
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: no array \"t\" or \"time\": name it with --time NAME, or where there is none its step, as in "
                   "--time 0.1; there are: %s",
                   a->reading->file.path, list);
}

/* By the name that was given, which may be a number: the step. */
static kbass_status take_named(kb_arrangement *a, const char *name, size_t n_axes, size_t place, kb_view **time)
{
    double step = 0;
    *time = kb_find_view(a, name);
    if (*time) return KBASS_OK;
    if (kb_number_parse(name, &step) && step > 0 && isfinite(step))
        return make_steps(a, step, n_axes ? a->time_name : "t", n_axes, place, time);
    kb_array *dt = find_step(a, &step);
    return n_axes && dt ? make_steps(a, step, name, n_axes, place, time) : no_time(a, name);
}

static kbass_status ask_which(const kb_arrangement *a, const kb_view *one, const kb_view *other)
{
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: \"%.60s\" and \"%.60s\" may both be time: name it, as in --time %.60s", a->reading->file.path,
                   one->name, other->name, one->name);
}

static kb_view *find_exact(const kb_arrangement *a, const char *name)
{
    for (size_t i = 0; i < a->n_views; i++)
        if (strcmp(a->views[i].name, name) == 0) return &a->views[i];
    return NULL;
}

static bool has_dates(const kb_array *array) { return array->tick > 0 || array->time_unit > 0; }

static kb_view *only_dates(const kb_arrangement *a)
{
    kb_view *found = NULL;
    for (size_t i = 0; i < a->n_views; i++) {
        if (a->views[i].n_dims != 1 || !has_dates(a->views[i].array)) continue;
        if (found) return NULL;
        found = &a->views[i];
    }
    return found;
}

/* Dates are counted from the first, which is said. */
static kbass_status settle_dates(kb_arrangement *a, const kb_view *time)
{
    char origin[KB_MOMENT_SIZE];
    kb_array *array = (kb_array *)time->array;
    if (!has_dates(array)) return KBASS_OK;
    kbass_status status = kb_source_load(&a->source, array);
    if (status != KBASS_OK) return status;
    const char *unit = array->time_unit == KB_DAY ? "days" : "seconds";
    kb_moment_print(array->origin, origin);
    kb_arrangement_note(a, "%s%s is %s%s%s", *a->note ? "; " : "", time->name, unit, array->is_span ? "" : " since ",
                        array->is_span ? "" : origin);
    if (!array->is_span) a->data->time_origin = kb_strdup(origin);
    kb_free(a->data->axis_captions[0].unit);
    a->data->axis_captions[0].unit = kb_strdup(array->time_unit == KB_DAY ? "d" : "s");
    bool all = a->data->axis_captions[0].unit && (array->is_span || a->data->time_origin);
    return all ? KBASS_OK : kb_out_of_memory(a->reading->error, "the dates");
}

/* t or time; else the only array that is called like it and ascends; else a mesh T; else steps of dt. */
static kbass_status infer_time(kb_arrangement *a, kb_view **time)
{
    double step = 0;
    *time = find_exact(a, "t");
    if (!*time) *time = find_exact(a, "time");
    if (!*time) *time = kb_find_view(a, "time");
    if (*time) return KBASS_OK;
    for (size_t i = 0; i < a->n_views; i++) {
        kb_view *v = &a->views[i];
        if (v->n_dims != 1 || !is_like_time(v->name) || !ascends(a, v)) continue;
        if (*time && strcasecmp(v->name, "t") != 0 && strcasecmp((*time)->name, "t") != 0)
            return ask_which(a, *time, v);
        if (!*time || strcasecmp((*time)->name, "t") == 0) *time = v;
    }
    if (*time && strcasecmp((*time)->name, "t") != 0)
        kb_arrangement_note(a, "%s%s is taken for time", *a->note ? "; " : "", (*time)->name);
    if (!*time) *time = kb_find_view(a, "t");
    if (!*time) *time = only_dates(a);
    if (*time) return KBASS_OK;
    return find_step(a, &step) ? make_steps(a, step, "t", 0, 0, time) : no_time(a, NULL);
}

/* ---------------------------------------------------------------- among the axes */

static kbass_status ask_for_time(const kb_arrangement *a, size_t n, char *const *names)
{
    return kb_fail(a->reading->error, KBASS_ERROR_DATA,
                   "%s: --axes %s: none of them is called t or time, so which one is it? Say --time %s",
                   a->reading->file.path, a->reading->axes, names[n - 1]);
}

static size_t place_of(size_t n, char *const *names, bool (*is_it)(const char *))
{
    size_t i = 0;
    while (i < n && !is_it(names[i])) i++;
    return i;
}

/* The one that was said to be time, is called t or time, or like it; the first where it does not sound like space. */
static kbass_status time_among_axes(kb_arrangement *a, size_t n, char *const *names, size_t *place)
{
    const char *said = a->reading->time;
    double step = 0;
    bool is_step = said && !kb_find_view(a, said) && kb_number_parse(said, &step);
    for (*place = 0; said && !is_step && *place < n; ++*place)
        if (strcmp(names[*place], said) == 0) return KBASS_OK;
    if (said && !is_step)
        return kb_fail(a->reading->error, KBASS_ERROR_ARGUMENT, "%s: --time %s is not among --axes %s",
                       a->reading->file.path, said, a->reading->axes);
    *place = place_of(n, names, kb_is_time_name);
    if (*place == n) *place = place_of(n, names, is_like_time);
    if (*place == n && n > 1 && kb_is_space_name(names[0])) return ask_for_time(a, n, names);
    if (*place < n) return KBASS_OK;
    *place = 0;
    kb_arrangement_note(a, "%s%s, the first of the axes, is taken for time", *a->note ? "; " : "", names[0]);
    return KBASS_OK;
}

static kbass_status take_from_axes(kb_arrangement *a, kb_view **time)
{
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0, place = 0;
    kbass_status status = kb_axes_split(a->reading->axes, &copy, &n, names, a->reading->error);
    if (status == KBASS_OK) status = time_among_axes(a, n, names, &place);
    if (status == KBASS_OK) {
        const char *said = a->reading->time;
        bool is_step = said && strcmp(said, names[place]) != 0;
        a->time_name = names[place];
        status = take_named(a, is_step && !kb_find_view(a, names[place]) ? said : names[place], n, place, time);
        a->time_name = NULL;
    }
    kb_free(copy);
    return status;
}

kbass_status kb_time_find(kb_arrangement *a, kb_view **time)
{
    kbass_status status = a->reading->axes   ? take_from_axes(a, time)
                          : a->reading->time ? take_named(a, a->reading->time, 0, 0, time)
                                             : infer_time(a, time);
    return status == KBASS_OK ? settle_dates(a, *time) : status;
}
