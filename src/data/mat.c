/* MATLAB's files of version 5 (-v6 and -v7): elements with a type and a size, matrices among them, often compressed.
 * Those of version 7.3 are HDF5.
 *
 * A struct is a group, s/u; what is alone in a cell has the cell's name; several in a cell are numbered, c_1, c_2, and
 * so are the structs of an array, s_1/u, s_2/u. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/inflate.h"
#include "data/source.h"

enum {
    HEADER = 128,
    TAG = 8,
    HEAD_BYTES = 1 << 13, /* of a compressed matrix: all before its numbers, unless names are absurd */
    DEEPEST = 8,          /* structs and cells in one another */
    TYPE_INT32 = 5,
    TYPE_UINT32 = 6,
    TYPE_MATRIX = 14,
    TYPE_COMPRESSED = 15,
    CLASS_CELL = 1,
    CLASS_STRUCT = 2,
    CLASS_OBJECT = 3,
    CLASS_CHAR = 4,
    CLASS_SPARSE = 5,
    CLASS_DOUBLE = 6,
    CLASS_UINT64 = 15,
    CLASS_OPAQUE = 17, /* objects, without dimensions here */
    FLAG_COMPLEX = 0x800
};

typedef struct {
    kb_source *source;
    bool is_swapped;
    size_t place;               /* of the top element in the file */
    bool is_whole;              /* all of the element can be seen, not only its head */
    const unsigned char *first; /* of the element */
} walk;

typedef struct {
    unsigned type;
    const unsigned char *data;
    size_t size;               /* declared: where only a head is seen there may be less */
    const unsigned char *next; /* NULL when it lies beyond what is seen */
} element;

/* What was inflated to be looked into stays until the source is closed. */
typedef struct kept {
    struct kept *next;
    void *bytes;
} kept;

/* ---------------------------------------------------------------- elements */

static uint32_t word(const walk *w, const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return w->is_swapped ? __builtin_bswap32(value) : value;
}

static kbass_status broken(const walk *w, const char *what)
{
    return kb_fail(w->source->reading->error, KBASS_ERROR_DATA, "%s: byte %zu: %s", w->source->reading->file.path,
                   w->place, what);
}

/* Small ones have size and type in one word and their data in the other. */
static bool read_element(const walk *w, const unsigned char *at, const unsigned char *end, element *e)
{
    if (!at || end - at < TAG) return false;
    uint32_t first = word(w, at);
    if (first >> 16) {
        *e = (element){first & 0xffff, at + 4, first >> 16, at + TAG};
        return e->size <= 4;
    }
    size_t size = word(w, at + 4), room = (size_t)(end - at) - TAG;
    size_t padded = first == TYPE_COMPRESSED ? size : (size + 7) / 8 * 8;
    *e = (element){first, at + TAG, size, NULL};
    if (size <= room) e->next = padded <= room ? e->data + padded : end;
    return size <= room || !w->is_whole;
}

static bool read_number_type(unsigned type, bool is_swapped, kb_element *number)
{
    static const kb_element types[] = {
        [1] = {KB_SIGNED, 1, 0},  [2] = {KB_UNSIGNED, 1, 0}, [3] = {KB_SIGNED, 2, 0}, [4] = {KB_UNSIGNED, 2, 0},
        [5] = {KB_SIGNED, 4, 0},  [6] = {KB_UNSIGNED, 4, 0}, [7] = {KB_REAL, 4, 0},   [9] = {KB_REAL, 8, 0},
        [12] = {KB_SIGNED, 8, 0}, [13] = {KB_UNSIGNED, 8, 0}};
    if (type >= sizeof types / sizeof *types || !types[type].width) return false;
    *number = types[type];
    number->is_swapped = is_swapped;
    return true;
}

/* ---------------------------------------------------------------- matrices */

typedef struct {
    unsigned class, flags;
    size_t n_dims, dims[KB_MOST_DIMS];
    char name[KB_LONGEST_NAME + 1];
    const unsigned char *rest, *end; /* what follows the name */
} matrix;

static const char *trouble_of(const matrix *m)
{
    if (m->class == CLASS_CHAR) return "text";
    if (m->class == CLASS_CELL) return "a cell array without arrays of numbers";
    if (m->class == CLASS_SPARSE) return "a sparse matrix: save it by full";
    if (m->class == CLASS_STRUCT) return "a struct without arrays of numbers";
    if (m->class < CLASS_DOUBLE || m->class > CLASS_UINT64)
        return "an object such as a table: save its columns as arrays";
    return NULL;
}

static bool read_dims(const walk *w, const element *e, matrix *m)
{
    m->n_dims = e->size / 4;
    if (e->type != TYPE_INT32 || m->n_dims < 1 || m->n_dims > KB_MOST_DIMS || !e->next) return false;
    for (size_t i = 0; i < m->n_dims; i++) {
        m->dims[i] = word(w, e->data + 4 * i);
        if (m->dims[i] > INT32_MAX) return false;
    }
    return true;
}

/* Flags, dimensions, name. `name` NULL: its own. False when it cannot be followed. */
static bool read_front(const walk *w, const unsigned char *at, const unsigned char *end, const char *name, matrix *m)
{
    element e;
    if (!read_element(w, at, end, &e) || e.type != TYPE_UINT32 || e.size != 8 || !e.next) return false;
    m->class = word(w, e.data) & 0xff;
    m->flags = word(w, e.data) & 0xff00;
    m->n_dims = 0;
    m->end = end;
    m->rest = NULL;
    m->name[0] = '\0';
    bool has_dims = m->class != CLASS_OPAQUE;
    if (has_dims && (!read_element(w, e.next, end, &e) || !read_dims(w, &e, m))) return false;
    if (!read_element(w, e.next, end, &e) || !e.next || e.size > KB_LONGEST_NAME) return false;
    if (name) snprintf(m->name, sizeof m->name, "%s", name);
    else memcpy(m->name, e.data, e.size), m->name[e.size] = '\0';
    m->rest = e.next;
    return true;
}

static size_t count_of(const matrix *m)
{
    kb_array shape = {.n_dims = m->n_dims};
    size_t n = 0;
    memcpy(shape.dims, m->dims, sizeof m->dims);
    return kb_array_count(&shape, &n) ? n : SIZE_MAX;
}

static kbass_status add_array(const walk *w, const matrix *m, kb_array **array)
{
    kbass_status status = kb_source_add(w->source, m->name, strlen(m->name), array);
    if (status != KBASS_OK) return status;
    (*array)->n_dims = m->n_dims;
    memcpy((*array)->dims, m->dims, sizeof m->dims);
    (*array)->place = w->place;
    (*array)->trouble = trouble_of(m);
    return KBASS_OK;
}

/* The numbers in the element fill it exactly; real and imaginary parts may have different types. */
static kbass_status add_numbers(const walk *w, const matrix *m, const element *e, kb_portion portion)
{
    kb_array *array = NULL;
    char shape[200];
    kbass_status status = add_array(w, m, &array);
    if (status != KBASS_OK) return status;
    if (!read_number_type(e->type, w->is_swapped, &array->element))
        return broken(w, "a matrix whose numbers cannot be found");
    kb_array_shape(array, shape, sizeof shape);
    if (count_of(m) != e->size / array->element.width || e->size % array->element.width)
        return kb_fail(w->source->reading->error, KBASS_ERROR_DATA,
                       "%s: %.200s: found %zu bytes of numbers, its shape %s needs %u for each of them",
                       w->source->reading->file.path, m->name, e->size, shape, array->element.width);
    kb_array_stride(array, array->element.width, true);
    array->portion = portion;
    array->offset = (size_t)(e->data - w->first);
    if (w->is_whole) array->bytes = e->data;
    return KBASS_OK;
}

static kbass_status add_matrix(const walk *w, const matrix *m)
{
    kb_array *array = NULL;
    element real, imaginary;
    bool is_complex = m->flags & FLAG_COMPLEX;
    if (trouble_of(m)) return *m->name ? add_array(w, m, &array) : KBASS_OK; /* without name: the objects' contents */
    if (!read_element(w, m->rest, m->end, &real)) return broken(w, "a matrix whose numbers cannot be found");
    kbass_status status = add_numbers(w, m, &real, is_complex ? KB_REAL_PART : KB_WHOLE);
    if (status != KBASS_OK || !is_complex) return status;
    if (!read_element(w, real.next, m->end, &imaginary)) return broken(w, "a matrix without its imaginary part");
    return add_numbers(w, m, &imaginary, KB_IMAGINARY_PART);
}

/* ---------------------------------------------------------------- structs and cells */

static kbass_status add_anything(const walk *w, const matrix *m, int depth);

static kbass_status add_value(const walk *w, const element *value, const char *name, int depth)
{
    matrix m;
    if (!value->size) return KBASS_OK;
    if (depth == DEEPEST) return broken(w, "structs and cells within one another, deeper than 8");
    if (!read_front(w, value->data, value->data + value->size, name, &m))
        return broken(w, "a matrix that cannot be followed");
    return add_anything(w, &m, depth + 1);
}

static bool next_value(const walk *w, const unsigned char **at, const unsigned char *end, element *value)
{
    bool is_sound = read_element(w, *at, end, value) && value->type == TYPE_MATRIX && value->next;
    *at = is_sound ? value->next : NULL;
    return is_sound;
}

/* "c", or "c_2" where there are several. */
static void number_name(const char *name, size_t n, size_t index, char *text, size_t size)
{
    if (n == 1) snprintf(text, size, "%.*s", KB_LONGEST_NAME, name);
    else snprintf(text, size, "%.*s_%zu", KB_LONGEST_NAME - 24, name, index + 1);
}

/* Field names of one length each, then a matrix for each, struct by struct. */
static kbass_status add_structs(const walk *w, const matrix *m, int depth)
{
    element width, names, value;
    bool is_sound = read_element(w, m->rest, m->end, &width) && width.type == TYPE_INT32 && width.size == 4 &&
                    width.next && read_element(w, width.next, m->end, &names) && names.next;
    size_t length = is_sound ? word(w, width.data) : 0, n = count_of(m);
    if (!is_sound || length < 1 || length > KB_LONGEST_NAME || names.size % length)
        return broken(w, "a struct that cannot be followed");
    kbass_status status = KBASS_OK;
    const unsigned char *at = names.next;
    size_t n_fields = names.size / length, n_before = w->source->n_arrays;
    for (size_t i = 0; n_fields && status == KBASS_OK && i < n; i++)
        for (size_t k = 0; status == KBASS_OK && k < n_fields; k++) {
            char name[KB_LONGEST_NAME + 1], full[2 * KB_LONGEST_NAME + 2];
            const char *field = (const char *)names.data + k * length;
            if (!next_value(w, &at, m->end, &value)) return broken(w, "a struct that breaks off");
            number_name(m->name, n, i, name, sizeof name);
            snprintf(full, sizeof full, "%s/%.*s", name, (int)strnlen(field, length), field);
            status = add_value(w, &value, full, depth);
        }
    if (status == KBASS_OK && w->source->n_arrays == n_before) status = add_matrix(w, m);
    return status;
}

/* Of several in a cell, texts and single numbers are not worth a word each. */
static bool is_worth_listing(const walk *w, const element *value)
{
    matrix m;
    bool is_known = value->size && read_front(w, value->data, value->data + value->size, NULL, &m);
    return value->size && (!is_known || (m.class != CLASS_CHAR && (m.class < CLASS_DOUBLE || count_of(&m) > 1)));
}

static kbass_status add_cells(const walk *w, const matrix *m, int depth)
{
    kbass_status status = KBASS_OK;
    size_t n = count_of(m), n_before = w->source->n_arrays;
    const unsigned char *at = m->rest;
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        char name[KB_LONGEST_NAME + 1];
        element value;
        if (!next_value(w, &at, m->end, &value)) return broken(w, "a cell array that breaks off");
        number_name(m->name, n, i, name, sizeof name);
        if (n == 1 || is_worth_listing(w, &value)) status = add_value(w, &value, name, depth);
    }
    for (size_t i = n_before; n > 1 && i < w->source->n_arrays; i++) w->source->arrays[i].is_of_cell = true;
    if (status == KBASS_OK && w->source->n_arrays == n_before) status = add_matrix(w, m);
    return status;
}

static kbass_status add_anything(const walk *w, const matrix *m, int depth)
{
    if (m->class == CLASS_STRUCT) return add_structs(w, m, depth);
    if (m->class == CLASS_CELL) return add_cells(w, m, depth);
    return add_matrix(w, m);
}

/* ---------------------------------------------------------------- compressed ones */

static kbass_status cannot_inflate(const walk *w, const char *trouble)
{
    return kb_fail(w->source->reading->error, KBASS_ERROR_DATA, "%s: byte %zu: what is compressed %s",
                   w->source->reading->file.path, w->place, trouble ? trouble : "breaks off");
}

/* The first `most` bytes of the matrix in a compressed element, without its tag. */
static kbass_status inflate_matrix(const walk *w, const element *e, size_t most, unsigned char **out, size_t *n,
                                   size_t *size)
{
    kb_inflater z;
    unsigned char tag[TAG];
    size_t got = 0;
    bool is_sound = kb_inflater_open(&z, e->data, e->size, KB_ZLIB) && kb_inflater_read(&z, tag, TAG, &got);
    kbass_status status = is_sound && got == TAG ? KBASS_OK : cannot_inflate(w, z.trouble);
    *size = *n = 0;
    if (status == KBASS_OK && word(w, tag) == TYPE_MATRIX) {
        *size = word(w, tag + 4);
        *n = *size < most ? *size : most;
        if (*size / KB_BEST_RATIO > e->size) status = cannot_inflate(w, "claims to be more than it can hold");
        else if (kb_is_bomb(*size, e->size)) status = cannot_inflate(w, "inflates to more than 200 times its size");
        else if (!(*out = KB_NEW(unsigned char, *n))) status = kb_out_of_memory(w->source->reading->error, "a matrix");
        else if (!kb_inflater_read(&z, *out, *n, &got) || got < *n) status = cannot_inflate(w, z.trouble);
    }
    kb_inflater_close(&z);
    return status;
}

/* Takes the bytes, or frees them. */
static kbass_status keep(const walk *w, unsigned char **bytes)
{
    kept *k = KB_NEW(kept, 1);
    if (!k) {
        kb_free(*bytes);
        *bytes = NULL;
        return kb_out_of_memory(w->source->reading->error, "a matrix");
    }
    *k = (kept){w->source->state, *bytes};
    w->source->state = k;
    return KBASS_OK;
}

/* Of real numbers the head is enough for now; everything else is inflated and walked. */
static kbass_status add_compressed(walk *w, const element *e)
{
    unsigned char *head = NULL, *all = NULL;
    size_t n = 0, size = 0;
    matrix m;
    kbass_status status = inflate_matrix(w, e, HEAD_BYTES, &head, &n, &size);
    if (status != KBASS_OK || !size) {
        kb_free(head);
        return status;
    }
    w->first = head;
    w->is_whole = false;
    bool is_known = read_front(w, head, head + n, NULL, &m);
    bool is_enough = is_known && m.class != CLASS_STRUCT && m.class != CLASS_CELL && !(m.flags & FLAG_COMPLEX);
    if (!is_known) status = broken(w, "a matrix that cannot be followed");
    else if (is_enough) status = add_matrix(w, &m);
    else status = inflate_matrix(w, e, SIZE_MAX, &all, &n, &size);
    kb_free(head);
    if (all) status = status == KBASS_OK ? keep(w, &all) : (kb_free(all), status);
    if (all && status == KBASS_OK) {
        w->first = all;
        w->is_whole = true;
        status = read_front(w, all, all + n, NULL, &m) ? add_anything(w, &m, 0)
                                                       : broken(w, "a matrix that cannot be followed");
    }
    return status;
}

/* ---------------------------------------------------------------- file */

static bool recognise(const kb_file *file)
{
    return file->size >= HEADER && (!memcmp(file->bytes + 124, "\0\1IM", 4) || !memcmp(file->bytes + 124, "\1\0MI", 4));
}

static walk begin_walk(kb_source *s, size_t place)
{
    bool is_little = s->reading->file.bytes[126] == 'I';
    return (walk){.source = s, .is_swapped = is_little != kb_machine_is_little(), .place = place, .is_whole = true};
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    const unsigned char *at = file->bytes + HEADER, *end = file->bytes + file->size;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && at < end) {
        element e;
        walk w = begin_walk(s, (size_t)(at - file->bytes));
        if (!read_element(&w, at, end, &e)) return broken(&w, "an element that breaks off");
        w.first = e.data;
        if (e.type == TYPE_COMPRESSED) status = add_compressed(&w, &e);
        else if (e.type == TYPE_MATRIX) status = add_value(&w, &e, NULL, 0);
        else if (e.type > 18 || !e.type) status = broken(&w, "no element of MATLAB's");
        at = e.next;
    }
    return status;
}

static kbass_status load(kb_source *s, kb_array *array)
{
    const kb_file *file = &s->reading->file;
    walk w = begin_walk(s, array->place);
    element e;
    unsigned char *all = NULL;
    size_t n = 0, size = 0, count = 0;
    read_element(&w, file->bytes + array->place, file->bytes + file->size, &e);
    kbass_status status = inflate_matrix(&w, &e, SIZE_MAX, &all, &n, &size);
    array->owned = all;
    bool fits =
        kb_array_count(array, &count) && array->offset <= n && count <= (n - array->offset) / array->element.width;
    if (status == KBASS_OK && !fits) status = broken(&w, "a matrix that breaks off");
    if (status == KBASS_OK) array->bytes = all + array->offset;
    return status;
}

static void close_source(kb_source *s)
{
    for (kept *k = s->state, *next = NULL; k; k = next) {
        next = k->next;
        kb_free(k->bytes);
        kb_free(k);
    }
}

const kb_format kb_format_mat = {"MATLAB", recognise, list, load, NULL, close_source};
