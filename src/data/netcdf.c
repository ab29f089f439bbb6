/* netCDF's classic files: CDF-1, CDF-2 with offsets of 64 bits, CDF-5 with counts of 64 bits. Those of version 4 are
 * HDF5. Everything has its most significant byte first; records of all variables that grow stand one behind another.
 */
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/source.h"

enum {
    TAG_DIMENSION = 10,
    TAG_VARIABLE = 11,
    TAG_ATTRIBUTE = 12,
    TYPE_CHAR = 2,
    TYPE_FLOAT = 5,
    TYPE_DOUBLE = 6,
    N_TYPES = 12,
    MOST_DIMENSIONS = 4096
};
static const float default_fill =
    9.9692099683868690e36F; /* of numbers that were never written, in floats and doubles */

/* What attributes make of a number: fill is missing, the others scale * number + offset. */
typedef struct {
    bool has_fill, has_missing, is_scaled;
    double fill, missing, scale, offset;
} packing;

/* How the numbers of an array lie in the file. */
typedef struct {
    packing packing;
    kb_element element;
    size_t strides[KB_MOST_DIMS];
} layout;

typedef struct {
    kb_source *source;
    const unsigned char *at, *end;
    size_t width;        /* of a count: 4, or 8 bytes in CDF-5 */
    size_t offset_width; /* of a place in the file */
    bool is_bad;
    size_t n_dims;
    uint64_t *dims; /* 0: the one that grows */
    uint64_t n_records, record_size;
    size_t n_growing;
    kb_buffer bounds; /* names of arrays with the ends of cells, a NUL behind each */
} header;

static kbass_status broken(const header *h, const char *what)
{
    const kb_reading *r = h->source->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: netCDF: %s", r->file.path, what);
}

/* ---------------------------------------------------------------- words */

static uint64_t take(header *h, size_t width)
{
    uint64_t value = 0;
    if (h->is_bad || (size_t)(h->end - h->at) < width) {
        h->is_bad = true;
        return 0;
    }
    for (size_t i = 0; i < width; i++) value = value << 8 | *h->at++;
    return value;
}

static uint64_t take_count(header *h) { return take(h, h->width); }

/* Bytes, filled up to words of four. */
static const unsigned char *take_bytes(header *h, uint64_t n)
{
    const unsigned char *begin = h->at;
    uint64_t room = (uint64_t)(h->end - h->at), padded = n + (4 - n % 4) % 4;
    if (h->is_bad || n > room) {
        h->is_bad = true;
        return NULL;
    }
    h->at += padded < room ? padded : room;
    return begin;
}

/* A list's length behind its tag; a list that is not there is two zeros. */
static uint64_t take_list(header *h, unsigned tag)
{
    uint64_t found = take(h, 4), n = take_count(h);
    h->is_bad |= found ? found != tag : n != 0;
    return h->is_bad ? 0 : n;
}

static bool find_type(uint64_t type, kb_element *element)
{
    static const kb_element types[N_TYPES] = {
        [1] = {KB_SIGNED, 1, 0},        [3] = {KB_SIGNED, 2, 0},         [4] = {KB_SIGNED, 4, 0},
        [TYPE_FLOAT] = {KB_REAL, 4, 0}, [TYPE_DOUBLE] = {KB_REAL, 8, 0}, [7] = {KB_UNSIGNED, 1, 0},
        [8] = {KB_UNSIGNED, 2, 0},      [9] = {KB_UNSIGNED, 4, 0},       [10] = {KB_SIGNED, 8, 0},
        [11] = {KB_UNSIGNED, 8, 0}};
    if (type >= N_TYPES || !types[type].width) return false;
    *element = types[type];
    element->is_swapped = kb_machine_is_little();
    return true;
}

/* ---------------------------------------------------------------- attributes */

typedef struct {
    const unsigned char *name, *values;
    uint64_t name_length, n, type;
} attribute;

static attribute take_attribute(header *h)
{
    attribute a = {.name_length = take_count(h)};
    kb_element element = {KB_UNSIGNED, 1, 0};
    a.name = take_bytes(h, a.name_length);
    a.type = take(h, 4);
    a.n = take_count(h);
    if (a.type != TYPE_CHAR && !find_type(a.type, &element)) h->is_bad = true;
    if (a.n > SIZE_MAX / 8) h->is_bad = true;
    a.values = take_bytes(h, h->is_bad ? 0 : a.n * element.width);
    return a;
}

static bool is_called(const attribute *a, const char *name)
{
    return a->name_length == strlen(name) && memcmp(a->name, name, a->name_length) == 0;
}

static bool take_number(const attribute *a, const char *name, double *number)
{
    kb_element element;
    if (!is_called(a, name) || a->n != 1 || !find_type(a->type, &element)) return false;
    kb_elements_read(element, a->values, element.width, 1, number);
    return true;
}

static void read_attributes(header *h, packing *p)
{
    uint64_t n = take_list(h, TAG_ATTRIBUTE);
    *p = (packing){.scale = 1};
    for (uint64_t i = 0; i < n && !h->is_bad; i++) {
        attribute a = take_attribute(h);
        if (h->is_bad) return;
        p->has_fill |= take_number(&a, "_FillValue", &p->fill);
        p->has_missing |= take_number(&a, "missing_value", &p->missing);
        p->is_scaled |= take_number(&a, "scale_factor", &p->scale);
        p->is_scaled |= take_number(&a, "add_offset", &p->offset);
        if (a.type != TYPE_CHAR || (!is_called(&a, "bounds") && !is_called(&a, "climatology"))) continue;
        kb_buffer_add(&h->bounds, (const char *)a.values, a.n);
        kb_buffer_add(&h->bounds, "", 1);
    }
}

/* ---------------------------------------------------------------- dimensions and variables */

static kbass_status read_dimensions(header *h)
{
    uint64_t n = take_list(h, TAG_DIMENSION);
    if (n > MOST_DIMENSIONS) return broken(h, "more than 4096 dimensions");
    h->dims = KB_NEW(uint64_t, n + 1);
    if (!h->dims) return kb_out_of_memory(h->source->reading->error, "the dimensions");
    for (h->n_dims = 0; h->n_dims < n && !h->is_bad; h->n_dims++) {
        take_bytes(h, take_count(h));
        h->dims[h->n_dims] = take_count(h);
    }
    return KBASS_OK;
}

typedef struct {
    const unsigned char *name;
    uint64_t name_length, type, begin;
    size_t n_dims;
    uint64_t dims[KB_MOST_DIMS];
    bool is_growing, is_deep;
    packing packing;
} variable;

static void take_variable(header *h, variable *v)
{
    *v = (variable){.name_length = take_count(h)};
    v->name = take_bytes(h, v->name_length);
    uint64_t n = take_count(h);
    for (uint64_t i = 0; i < n && !h->is_bad; i++) {
        uint64_t dim = take_count(h);
        if (dim >= h->n_dims) h->is_bad = true;
        else if (i == 0) v->is_growing = !h->dims[dim];
        if (i < KB_MOST_DIMS && !h->is_bad) v->dims[i] = h->dims[dim];
    }
    v->is_deep = n > KB_MOST_DIMS;
    v->n_dims = v->is_deep ? 0 : (size_t)n;
    read_attributes(h, &v->packing);
    v->type = take(h, 4);
    take_count(h); /* the size, which follows from the rest and need not be right */
    v->begin = take(h, h->offset_width);
    h->is_bad |= v->name_length > KB_LONGEST_NAME;
}

/* Bytes of a record, or of all of a variable that does not grow; false when they cannot be counted. */
static bool count_bytes(const variable *v, uint64_t *bytes)
{
    kb_element element = {KB_UNSIGNED, 1, 0};
    find_type(v->type, &element);
    *bytes = element.width;
    for (size_t i = v->is_growing; i < v->n_dims; i++)
        if (__builtin_mul_overflow(*bytes, v->dims[i], bytes)) return false;
    return *bytes <= SIZE_MAX / 16;
}

/* Records are filled up to words, unless one variable alone grows. */
static kbass_status measure_records(header *h, const unsigned char *first, uint64_t n)
{
    uint64_t only = 0;
    h->at = first;
    for (uint64_t i = 0; i < n && !h->is_bad; i++) {
        variable v;
        uint64_t bytes = 0;
        take_variable(h, &v);
        if (h->is_bad || !v.is_growing) continue;
        if (v.is_deep || !count_bytes(&v, &bytes)) return broken(h, "records of a size that cannot be counted");
        only = bytes;
        h->n_growing++;
        h->record_size += bytes + (4 - bytes % 4) % 4;
        if (h->record_size > SIZE_MAX / 16) return broken(h, "records of a size that cannot be counted");
    }
    if (h->n_growing == 1) h->record_size = only;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- arrays */

static bool is_bounds(const header *h, const variable *v)
{
    const char *next = h->bounds.length ? h->bounds.text : "", *end = next + h->bounds.length;
    for (; next < end; next += strlen(next) + 1)
        if (strlen(next) == v->name_length && memcmp(next, v->name, v->name_length) == 0) return true;
    return false;
}

/* All its numbers lie in the file. */
static bool lies_within(const header *h, const variable *v, uint64_t bytes)
{
    uint64_t size = h->source->reading->file.size, steps = 0;
    if (v->is_growing && (!h->n_records || !bytes)) return true;
    if (v->is_growing && __builtin_mul_overflow(h->n_records - 1, h->record_size, &steps)) return false;
    return v->begin <= size && bytes <= size - v->begin && steps <= size - v->begin - bytes;
}

static kbass_status add_variable(header *h, const variable *v)
{
    kb_array *array = NULL;
    uint64_t bytes = 0;
    kbass_status status = kb_source_add(h->source, (const char *)v->name, (size_t)v->name_length, &array);
    if (status != KBASS_OK) return status;
    array->n_dims = v->n_dims;
    for (size_t i = 0; i < v->n_dims; i++)
        array->dims[i] = (size_t)(i == 0 && v->is_growing ? h->n_records : v->dims[i]);
    if (v->is_deep) array->trouble = "more than 8 dimensions";
    else if (v->type == TYPE_CHAR) array->trouble = "text";
    else if (is_bounds(h, v)) array->trouble = KB_TROUBLE_BOUNDS;
    else if (!find_type(v->type, &array->element)) return broken(h, "numbers of a type that is not known");
    else if (!count_bytes(v, &bytes) || !lies_within(h, v, bytes))
        return kb_fail(h->source->reading->error, KBASS_ERROR_DATA,
                       "%s: netCDF: the numbers of \"%.60s\" lie outside of the file: it was cut off",
                       h->source->reading->file.path, array->name);
    if (array->trouble) return KBASS_OK;
    kb_array_stride(array, array->element.width, false);
    if (v->is_growing) array->strides[0] = (size_t)h->record_size;
    array->place = h->source->n_arrays - 1;
    array->offset = (size_t)v->begin;
    return KBASS_OK;
}

/* Numbers that need no attributes are read where they lie. */
static bool is_plain(const kb_array *array, const packing *p)
{
    bool has_mark = (p->has_fill && !isnan(p->fill)) || (p->has_missing && !isnan(p->missing));
    return !has_mark && !p->is_scaled && (p->has_fill || array->element.kind != KB_REAL);
}

static void lay_out(const header *h, kb_array *array, const packing *p)
{
    if (is_plain(array, p)) {
        array->bytes = h->source->reading->file.bytes + array->offset;
        return;
    }
    array->element = (kb_element){KB_REAL, sizeof(double), false};
    kb_array_stride(array, sizeof(double), false);
}

static kbass_status read_variables(header *h)
{
    uint64_t n = take_list(h, TAG_VARIABLE);
    const unsigned char *first = h->at;
    layout *all = NULL;
    if (n > KB_MOST_ARRAYS) return broken(h, "more than 65536 variables");
    kbass_status status = measure_records(h, first, n);
    if (status == KBASS_OK && h->n_records == UINT64_MAX)
        return broken(h, "the number of its records was never written: it was not closed");
    h->source->state = all = KB_NEW(layout, n + 1);
    if (!all) return kb_out_of_memory(h->source->reading->error, "the variables");
    h->at = first;
    for (uint64_t i = 0; i < n && !h->is_bad && status == KBASS_OK; i++) {
        variable v;
        take_variable(h, &v);
        if (h->is_bad) break;
        status = add_variable(h, &v);
        if (status != KBASS_OK) break;
        kb_array *array = &h->source->arrays[h->source->n_arrays - 1];
        if (array->trouble) continue;
        all[i] = (layout){.packing = v.packing, .element = array->element};
        memcpy(all[i].strides, array->strides, sizeof array->strides);
        lay_out(h, array, &v.packing);
    }
    return status;
}

/* ---------------------------------------------------------------- numbers */

static void unpack(const packing *p, kb_kind kind, size_t n, double *numbers)
{
    for (size_t i = 0; i < n; i++) {
        bool is_missing = (p->has_fill && numbers[i] == p->fill) || (p->has_missing && numbers[i] == p->missing) ||
                          (!p->has_fill && kind == KB_REAL && (float)numbers[i] == default_fill);
        numbers[i] = is_missing ? (double)NAN : p->is_scaled ? p->scale * numbers[i] + p->offset : numbers[i];
    }
}

static kbass_status load_box(kb_source *s, const kb_array *array, const size_t *first, const size_t *n, double *to)
{
    const layout *l = (const layout *)s->state + array->place;
    size_t at[KB_MOST_DIMS] = {0}, last = array->n_dims ? array->n_dims - 1 : 0;
    size_t length = array->n_dims ? n[last] : 1, stride = array->n_dims ? l->strides[last] : 0;
    for (size_t i = 0; i < array->n_dims; i++)
        if (!n[i]) return KBASS_OK;
    for (bool is_over = false; !is_over; to += length) {
        const unsigned char *bytes = s->reading->file.bytes + array->offset;
        for (size_t i = 0; i < array->n_dims; i++) bytes += (first[i] + at[i]) * l->strides[i];
        kb_elements_read(l->element, bytes, stride, length, to);
        unpack(&l->packing, l->element.kind, length, to);
        is_over = true;
        for (size_t i = last; i-- > 0 && is_over;) {
            is_over = ++at[i] == n[i];
            if (is_over) at[i] = 0;
        }
    }
    return KBASS_OK;
}

static kbass_status load(kb_source *s, kb_array *array)
{
    static const size_t origin[KB_MOST_DIMS];
    size_t n = 0;
    kb_array_count(array, &n);
    double *numbers = KB_NEW(double, n);
    if (!numbers) return kb_out_of_memory(s->reading->error, array->name);
    array->owned = numbers;
    array->bytes = (const unsigned char *)numbers;
    return load_box(s, array, origin, array->dims, numbers);
}

/* ---------------------------------------------------------------- file */

static bool recognise(const kb_file *file)
{
    return file->size >= 8 && memcmp(file->bytes, "CDF", 3) == 0 &&
           (file->bytes[3] == 1 || file->bytes[3] == 2 || file->bytes[3] == 5);
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    unsigned version = file->bytes[3];
    packing ignored;
    header h = {.source = s,
                .at = file->bytes + 4,
                .end = file->bytes + file->size,
                .width = version == 5 ? 8 : 4,
                .offset_width = version == 1 ? 4 : 8};
    h.n_records = take_count(&h);
    if (version != 5 && h.n_records == UINT32_MAX) h.n_records = UINT64_MAX;
    kbass_status status = read_dimensions(&h);
    read_attributes(&h, &ignored);
    if (status == KBASS_OK) status = read_variables(&h);
    if (status == KBASS_OK && h.is_bad) status = broken(&h, "its header breaks off, or is damaged");
    if (status == KBASS_OK && h.bounds.is_lost) status = kb_out_of_memory(s->reading->error, "the variables");
    kb_buffer_clear(&h.bounds);
    kb_free(h.dims);
    return status;
}

static void close_source(kb_source *s) { kb_free(s->state); }

const kb_format kb_format_netcdf = {"netCDF", recognise, list, load, load_box, close_source};
