/* Tiles of arrays in a file: read where they lie, or box by box through the format's reader. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/arrange.h"

typedef struct {
    kb_reading reading; /* the file is its own */
    char *path;
    kb_source source;
    kb_view *fields; /* each over all axes */
    double *buffer;  /* of a box as the format's reader hands it over */
    size_t capacity;
} tiles_file;

/* ---------------------------------------------------------------- boxes */

/* Lines along the last axis, from bytes whose strides along the axes are these. */
static void copy_lines(kb_element element, const unsigned char *bytes, const size_t *strides, size_t n_axes,
                       const size_t *n, double *to)
{
    size_t last = n_axes - 1, lines = 1;
    for (size_t a = 0; a < last; a++) lines *= n[a];
    for (size_t line = 0; line < lines; line++) {
        size_t rest = line, at = 0;
        for (size_t a = last; a-- > 0; rest /= n[a]) at += rest % n[a] * strides[a];
        kb_elements_read(element, bytes + at, strides[last], n[last], to + line * n[last]);
    }
}

static bool reserve(tiles_file *file, size_t n)
{
    if (n <= file->capacity) return true;
    kb_free(file->buffer);
    file->buffer = KB_NEW(double, n);
    file->capacity = file->buffer ? n : 0;
    return file->buffer != NULL;
}

/* The array's dimension that an axis runs along. */
static bool is_along(const kb_view *v, const kb_array *array, size_t dim, size_t axis)
{
    return array->dims[dim] > 1 && v->strides[axis] == array->strides[dim] && v->dims[axis] == array->dims[dim];
}

static kbass_status read_through(tiles_file *file, const kb_view *v, size_t n_axes, const size_t *first,
                                 const size_t *n, double *to)
{
    const kb_array *array = v->array;
    kb_array box = {.n_dims = array->n_dims, .element = array->element};
    size_t start[KB_MOST_DIMS], strides[KBASS_MAX_AXES] = {0}, total = 1;
    for (size_t dim = 0; dim < array->n_dims; dim++) {
        start[dim] = v->shift / array->strides[dim] % array->dims[dim];
        box.dims[dim] = 1;
        for (size_t a = 0; a < n_axes; a++)
            if (is_along(v, array, dim, a)) {
                start[dim] = first[a];
                box.dims[dim] = n[a];
            }
        total *= box.dims[dim];
    }
    if (!reserve(file, total)) return kb_out_of_memory(file->reading.error, "a part of the grid");
    kb_array_stride(&box, sizeof(double), array->strides[0] < array->strides[array->n_dims - 1]);
    for (size_t dim = 0; dim < array->n_dims; dim++)
        for (size_t a = 0; a < n_axes; a++)
            if (is_along(v, array, dim, a)) strides[a] = box.strides[dim];
    kbass_status status = file->source.format->load_box(&file->source, array, start, box.dims, file->buffer);
    if (status == KBASS_OK) copy_lines(array->element, (const unsigned char *)file->buffer, strides, n_axes, n, to);
    return status;
}

static void read_in_place(const kb_view *v, size_t n_axes, const size_t *first, const size_t *n, double *to)
{
    const unsigned char *bytes = v->array->bytes + v->shift;
    for (size_t a = 0; a < n_axes; a++) bytes += first[a] * v->strides[a];
    copy_lines(v->array->element, bytes, v->strides, n_axes, n, to);
}

static kbass_status refuse_infinite(const kb_tiled *t, const tiles_file *file, const size_t *first, const size_t *n,
                                    size_t point, kbass_error *error)
{
    char at[KB_NUMBER_SIZE];
    for (size_t a = t->n_axes; a-- > 1;) point /= n[a];
    kb_number_round(t->at[0][first[0] + point], 10, at);
    return kb_fail(error, KBASS_ERROR_DATA, "%s: a value is infinite at time %s (use NaN for missing)", file->path, at);
}

static kbass_status read_box(kb_tiled *t, const size_t *first, const size_t *n, double *value, kbass_error *error)
{
    tiles_file *file = t->state;
    kbass_status status = KBASS_OK;
    size_t points = 1;
    file->reading.error = error;
    for (size_t a = 0; a < t->n_axes; a++) points *= n[a];
    for (size_t f = 0; status == KBASS_OK && f < t->n_fields; f++) {
        const kb_view *v = &file->fields[f];
        if (v->array->bytes) read_in_place(v, t->n_axes, first, n, value + f * points);
        else status = read_through(file, v, t->n_axes, first, n, value + f * points);
        for (size_t i = 0; status == KBASS_OK && i < points; i++)
            if (isinf(value[f * points + i])) status = refuse_infinite(t, file, first, n, i, error);
    }
    kb_file_forget(&file->reading.file);
    return status;
}

/* ---------------------------------------------------------------- life */

static void close_file(kb_tiled *t)
{
    tiles_file *file = t->state;
    if (!file) return;
    kb_source_close(&file->source);
    kb_file_close(&file->reading.file);
    kb_free(file->fields);
    kb_free(file->buffer);
    kb_free(file->path);
    kb_free(file);
}

static bool ascends(size_t n, const double *at)
{
    for (size_t i = 1; i < n; i++)
        if (!(at[i] > at[i - 1])) return false;
    return true;
}

static bool take_axes(kb_tiled *t, kb_view *const *axes)
{
    bool all = true;
    for (size_t a = 0; a < t->n_axes; a++) {
        kb_view_read(axes[a], 0, t->n[a], t->at[a]);
        all = all && ascends(t->n[a], t->at[a]);
    }
    return all;
}

/* Arrays whose format hands over no boxes are loaded. */
static kbass_status load_fields(kb_arrangement *a, size_t n_fields, const kb_view *fields)
{
    kbass_status status = KBASS_OK;
    for (size_t f = 0; status == KBASS_OK && f < n_fields; f++)
        if (!a->source.format->load_box) status = kb_source_load(&a->source, fields[f].array);
    return status;
}

static kbass_status take_file(kb_arrangement *a, kb_tiled *t, const kb_view *fields)
{
    tiles_file *file = KB_NEW(tiles_file, 1);
    char *path = kb_strdup(a->reading->file.path);
    kb_view *own = KB_NEW(kb_view, t->n_fields);
    if (!file || !path || !own) {
        kb_free(file);
        kb_free(path);
        kb_free(own);
        return kb_out_of_memory(a->reading->error, "the grid");
    }
    memcpy(own, fields, t->n_fields * sizeof *own);
    *file = (tiles_file){.reading = *a->reading, .path = path, .source = a->source, .fields = own};
    file->reading.file.path = path;
    file->source.reading = &file->reading;
    for (size_t axis = 0; axis < t->n_axes; axis++)
        if (fields[0].strides[axis] > fields[0].strides[t->slowest]) t->slowest = axis;
    a->source = (kb_source){.reading = a->reading};
    t->state = file;
    t->read = read_box;
    t->close = close_file;
    return KBASS_OK;
}

kbass_status kb_tiles_of_arrays(kb_arrangement *a, size_t n_axes, kb_view *const *axes, size_t n_fields,
                                const kb_view *fields, bool *is_done)
{
    kb_tiled *t = NULL;
    size_t n[KBASS_MAX_AXES];
    for (size_t i = 0; i < n_axes; i++) n[i] = axes[i]->dims[0];
    kbass_status status = kb_tiles_create(n_axes, n, n_fields, &t, a->reading->error);
    if (status != KBASS_OK) return status;
    *is_done = take_axes(t, axes);
    if (*is_done) status = load_fields(a, n_fields, fields);
    if (*is_done && status == KBASS_OK) status = take_file(a, t, fields);
    if (*is_done && status == KBASS_OK) a->data->tiles = t;
    else kb_tiles_release(t);
    return status;
}
