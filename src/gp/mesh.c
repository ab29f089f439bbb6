#include "gp/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/settings.h"
#include "base/status.h"

enum { FEWEST = 8 };              /* points: of a mesh that is given */
enum { FIRST_ROOM = 64 };         /* room: points at first */
enum { WORD_SIZE = 64 };          /* room: a number's text */
static const double slack = 1e-9; /* of an axis */
static const char blanks[] = " \t\r\n,;";

static kbass_status no_memory(kbass_error *error) { return kb_out_of_memory(error, "the mesh"); }

static double end_of(const kb_field_samples *samples, size_t axis)
{
    return samples->period[axis] > 0 ? samples->period[axis] : samples->extent[axis];
}

/* ---------------------------------------------------------------- the file */

typedef struct {
    const char *path;
    size_t line;
    const kbass_data *data;
    kb_field_samples *samples;
    kbass_error *error;
} reader;

#define FAIL_AT_LINE(r, format, ...)                                                                                   \
    kb_fail((r)->error, KBASS_ERROR_DATA, "%.200s:%zu: " format, (r)->path, (r)->line, __VA_ARGS__)

static kbass_status find_axis(const reader *r, const char *name, size_t *axis)
{
    for (*axis = 0; *axis < r->data->n_axes; ++*axis)
        if (!strcmp(r->data->axis_names[*axis], name)) break;
    if (*axis == r->data->n_axes)
        return FAIL_AT_LINE(r, "\"%.60s\" is no axis of the data (a line is an axis and its coordinates: t 0 0.1 0.2)",
                            name);
    if (r->samples->mesh[*axis]) return FAIL_AT_LINE(r, "axis \"%s\" comes twice", name);
    return KBASS_OK;
}

/* One more coordinate of an axis, scaled. */
static kbass_status take_coordinate(const reader *r, size_t axis, const char *word)
{
    double value = 0, first = r->samples->first[axis], span = r->samples->span[axis];
    size_t n = r->samples->n_mesh[axis];
    const char *name = r->data->axis_names[axis];
    if (!kb_number_parse(word, &value) || !isfinite(value))
        return FAIL_AT_LINE(r, "axis \"%s\": \"%.60s\" is not a number", name, word);
    double s = (value - first) / span;
    if (!(s >= -slack && s <= end_of(r->samples, axis) + slack))
        return FAIL_AT_LINE(r, "axis \"%s\": %g is outside the domain, %g to %g", name, value, first,
                            first + span * end_of(r->samples, axis));
    if (n && !(s > r->samples->mesh[axis][n - 1] + slack))
        return FAIL_AT_LINE(r, "axis \"%s\": %g does not follow %g, coordinates must ascend", name, value,
                            first + span * r->samples->mesh[axis][n - 1]);
    if (n >= FIRST_ROOM && !(n & (n - 1))) {
        double *grown = kb_reallocate(r->samples->mesh[axis], n, 2 * n, sizeof *grown);
        if (!grown) return no_memory(r->error);
        r->samples->mesh[axis] = grown;
    }
    r->samples->mesh[axis][r->samples->n_mesh[axis]++] = s;
    return KBASS_OK;
}

/* The next word of the line at hand; "" at the line's end. False at the file's. */
static bool next_word(FILE *file, char word[WORD_SIZE])
{
    int c = getc(file);
    size_t n = 0;
    while (c != EOF && c != '\n' && strchr(blanks, c)) c = getc(file);
    if (c == '#')
        while (c != EOF && c != '\n') c = getc(file);
    if (c == EOF) return false;
    for (; c != EOF && c != '#' && !strchr(blanks, c); c = getc(file))
        if (n + 1 < WORD_SIZE) word[n++] = (char)c;
    word[n] = '\0';
    if (n && c != EOF) ungetc(c, file);
    return true;
}

/* The rest of an axis' line. */
static kbass_status read_axis(const reader *r, FILE *file, const char *name)
{
    char word[WORD_SIZE];
    size_t axis = 0;
    kbass_status status = find_axis(r, name, &axis);
    if (status != KBASS_OK) return status;
    r->samples->mesh[axis] = KB_NEW(double, FIRST_ROOM);
    if (!r->samples->mesh[axis]) return no_memory(r->error);
    while (status == KBASS_OK && next_word(file, word) && *word) status = take_coordinate(r, axis, word);
    if (status == KBASS_OK && r->samples->n_mesh[axis] < FEWEST)
        return FAIL_AT_LINE(r, "axis \"%s\" has %zu points, needed %d", r->data->axis_names[axis],
                            r->samples->n_mesh[axis], FEWEST);
    return status;
}

static kbass_status read_file(reader *r)
{
    kbass_status status = KBASS_OK;
    char word[WORD_SIZE];
    size_t n_axes = 0;
    FILE *file = fopen(r->path, "r");
    if (!file) return kb_fail(r->error, KBASS_ERROR_FILE, "%.200s: cannot be opened: %s", r->path, strerror(errno));
    for (r->line = 1; status == KBASS_OK && next_word(file, word); r->line++)
        if (*word) {
            status = read_axis(r, file, word);
            n_axes++;
        }
    if (status == KBASS_OK && ferror(file))
        status = kb_fail(r->error, KBASS_ERROR_FILE, "%.200s: cannot be read", r->path);
    if (status == KBASS_OK && !n_axes)
        status = kb_fail(r->error, KBASS_ERROR_DATA,
                         "%.200s: found nothing, needed a line for each axis: its name and its coordinates", r->path);
    fclose(file);
    return status;
}

/* ---------------------------------------------------------------- numbers of points */

static kbass_status read_counts(kb_field_samples *samples, const kbass_settings *settings, kbass_error *error)
{
    size_t counts[KB_SAMPLE_AXES] = {0};
    kbass_status status = kb_mesh_parse(settings->mesh, samples->n_axes, counts, error);
    for (size_t a = 0; status == KBASS_OK && a < samples->n_axes; a++)
        if (counts[a]) status = kb_mesh_close(samples, a, counts[a], error);
    return status;
}

kbass_status kb_mesh_read(kb_field_samples *samples, const kbass_data *data, const kbass_settings *settings,
                          kbass_error *error)
{
    reader r = {settings->mesh_file, 0, data, samples, error};
    kbass_status status = r.path && *r.path ? read_file(&r) : KBASS_OK;
    return status == KBASS_OK ? read_counts(samples, settings, error) : status;
}

/* ---------------------------------------------------------------- open axes */

size_t kb_mesh_standard(size_t n_axes)
{
    static const size_t points[] = {0, 200, 160, 48, 20};
    return points[n_axes];
}

/* Of a periodic axis the end is left out: it is the beginning. */
kbass_status kb_mesh_close(kb_field_samples *samples, size_t axis, size_t n, kbass_error *error)
{
    double end = end_of(samples, axis), step = end / (double)(samples->period[axis] > 0 ? n : n - 1);
    if (samples->mesh[axis]) return KBASS_OK;
    double *at = KB_NEW(double, n);
    if (!at) return no_memory(error);
    for (size_t i = 0; i < n; i++) at[i] = fmin(step * (double)i, end);
    samples->n_mesh[axis] = n;
    samples->mesh[axis] = at;
    return KBASS_OK;
}

kbass_status kb_mesh_check_memory(const kb_field_samples *samples, size_t doubles_per_point, kbass_error *error)
{
    static const double giga = 1e9;
    char points[80] = "";
    double bytes = (double)(doubles_per_point * sizeof(double)), there = kb_memory_available();
    for (size_t a = 0, used = 0; a < samples->n_axes; a++) {
        size_t n = samples->mesh[a] ? samples->n_mesh[a] : 1;
        bytes *= (double)n;
        used += (size_t)snprintf(points + used, sizeof points - used, "%s%zu", a ? " x " : "", n);
    }
    if (bytes <= there) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_ARGUMENT,
                   "mesh: %s points take %.3g GB of memory, %.3g GB are there: choose fewer points", points,
                   bytes / giga, there / giga);
}
