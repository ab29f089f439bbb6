/* NumPy's arrays: a header in Python's own notation, then the numbers as they lay in memory. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/source.h"

enum { MAGIC = 6, MOST_FIELDS = 1024 };

static const char pickled[] = "Python objects, pickled, which only Python reads: save it as numbers, by .astype(float)";

typedef struct {
    const char *c, *end; /* what is left of the header's text */
    const char *trouble; /* what is wrong with it, once something is */
} cursor;

typedef struct {
    const char *name;
    size_t name_length;
    kb_element element;
    const char *trouble;
    double tick; /* seconds of one count of dates and spans; 0: numbers */
    bool is_span;
    bool is_object, is_complex; /* pickled, of unknown width; two numbers each */
    size_t offset, width;
} field;

typedef struct {
    const char *name; /* of the array, for messages and as the front of its fields' names */
    size_t begin;     /* of the numbers */
    size_t n_fields;
    field *fields;
    bool has_names; /* a table of records */
    bool is_fortran;
    size_t step; /* bytes of one record */
    size_t n_dims, dims[KB_MOST_DIMS];
} header;

/* ---------------------------------------------------------------- Python's notation */

static char peek(cursor *t)
{
    while (t->c < t->end && strchr(" \t\n\r", *t->c)) t->c++;
    return t->c < t->end ? *t->c : '\0';
}

static bool take(cursor *t, char what)
{
    if (peek(t) != what) return false;
    t->c++;
    return true;
}

static bool take_word(cursor *t, const char *word)
{
    size_t length = strlen(word);
    if (!peek(t) || (size_t)(t->end - t->c) < length || memcmp(t->c, word, length) != 0) return false;
    t->c += length;
    return true;
}

/* 'text' or "text" without escapes. */
static bool take_text(cursor *t, const char **text, size_t *length)
{
    char quote = peek(t);
    if (quote != '\'' && quote != '"') return false;
    const char *close = memchr(t->c + 1, quote, (size_t)(t->end - t->c - 1));
    if (!close) return false;
    *text = t->c + 1;
    *length = (size_t)(close - *text);
    t->c = close + 1;
    return !memchr(*text, '\\', *length);
}

static bool take_size(cursor *t, size_t *size)
{
    char first = peek(t);
    if (first < '0' || first > '9') return false;
    for (*size = 0; t->c < t->end && *t->c >= '0' && *t->c <= '9'; t->c++)
        if (__builtin_mul_overflow(*size, (size_t)10, size) ||
            __builtin_add_overflow(*size, (size_t)(*t->c - '0'), size))
            return false;
    take(t, 'L'); /* Python 2 */
    return true;
}

/* ---------------------------------------------------------------- header */

/* "[ns]", "[25s]" behind M8 and m8. */
static void read_tick(cursor *rest, field *f)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"D]", 86400}, {"h]", 3600},  {"m]", 60},    {"s]", 1},
                 {"ms]", 1e-3}, {"us]", 1e-6}, {"ns]", 1e-9}, {"W]", 604800}};
    size_t n = 1;
    f->trouble = "dates in months, years or no unit: save them by .astype('datetime64[s]')";
    if (f->width != 8 || !take(rest, '[') || !(take_size(rest, &n) || (n = 1)) || !n || n > 1000000) return;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (take_word(rest, units[i].name)) {
            f->tick = (double)n * units[i].seconds;
            f->trouble = NULL;
            return;
        }
}

/* "<f8": byte order, kind, bytes. */
static bool read_type(const char *text, size_t length, field *f)
{
    size_t width = 0;
    if (length < 2) return false;
    char order = strchr("<>|=", *text) ? *text : '=', kind = order == *text ? text[1] : text[0];
    cursor rest = {text + (order == *text ? 2 : 1), text + length, NULL};
    if (kind == 'O') f->is_object = true;
    else if (!take_size(&rest, &width)) return false;
    if (width > 1 << 20) return false;
    f->width = kind == 'U' ? 4 * width : width;
    f->is_complex = kind == 'c' && width % 2 == 0;
    if (f->is_complex) width /= 2;
    bool is_number = (kind == 'i' || kind == 'u' || kind == 'f' || kind == 'b' || f->is_complex);
    bool is_width = width == 1 || width == 2 || width == 4 || width == 8;
    if (kind == 'M' || kind == 'm') {
        read_tick(&rest, f);
        is_number = is_width = f->tick > 0;
        f->is_span = kind == 'm';
        kind = 'i';
    }
    if (f->trouble) return true;
    if (!is_number) f->trouble = kind == 'U' || kind == 'S' ? "text" : "no numbers";
    else if (!is_width || ((kind == 'f' || kind == 'c') && width < 2))
        f->trouble = "numbers of a width that is not read: save it by .astype(float)";
    f->element = (kb_element){kind == 'f' || kind == 'c' ? KB_REAL
                              : kind == 'i'              ? KB_SIGNED
                                                         : KB_UNSIGNED,
                              (unsigned)width, kb_machine_is_little() ? order == '>' : order == '<'};
    return true;
}

static field *add_field(header *h)
{
    if (h->n_fields == MOST_FIELDS) return NULL;
    field *grown = kb_reallocate(h->fields, h->n_fields, h->n_fields + 1, sizeof *grown);
    if (!grown) return NULL;
    h->fields = grown;
    h->fields[h->n_fields] = (field){.name = "", .offset = h->step};
    return &h->fields[h->n_fields++];
}

static bool read_plain_type(cursor *t, header *h)
{
    const char *text = NULL;
    size_t length = 0;
    field *f = add_field(h);
    if (!f || !take_text(t, &text, &length) || !read_type(text, length, f)) return false;
    h->step += f->width;
    return true;
}

/* ('t', '<f8') */
static bool read_record_field(cursor *t, header *h)
{
    const char *name = NULL;
    size_t length = 0;
    if (!take(t, '(') || !take_text(t, &name, &length) || !take(t, ',')) return false;
    if (!read_plain_type(t, h)) return false;
    take(t, ',');
    h->fields[h->n_fields - 1].name = name;
    h->fields[h->n_fields - 1].name_length = length;
    return take(t, ')');
}

static bool read_descr(cursor *t, header *h)
{
    h->n_fields = h->step = 0;
    h->has_names = peek(t) == '[';
    if (!h->has_names) return read_plain_type(t, h);
    take(t, '[');
    while (peek(t) == '(') {
        if (!read_record_field(t, h)) return false;
        take(t, ',');
    }
    return take(t, ']') && h->n_fields;
}

static bool read_shape(cursor *t, header *h)
{
    if (!take(t, '(')) return false;
    for (h->n_dims = 0; peek(t) != ')'; h->n_dims++) {
        if (h->n_dims == KB_MOST_DIMS) {
            t->trouble = "more than 8 dimensions";
            return false;
        }
        if (!take_size(t, &h->dims[h->n_dims])) return false;
        if (!take(t, ',') && peek(t) != ')') return false;
    }
    return take(t, ')');
}

static bool read_order(cursor *t, header *h)
{
    h->is_fortran = take_word(t, "True");
    return h->is_fortran || take_word(t, "False");
}

static bool read_dictionary(cursor *t, header *h)
{
    static const struct {
        const char *name;
        bool (*read)(cursor *, header *);
    } entries[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    unsigned seen = 0;
    if (!take(t, '{')) return false;
    while (peek(t) != '}') {
        const char *key = NULL;
        size_t length = 0, i = 0;
        if (!take_text(t, &key, &length) || !take(t, ':')) return false;
        while (i < 3 && (strlen(entries[i].name) != length || memcmp(entries[i].name, key, length) != 0)) i++;
        if (i == 3 || (seen >> i & 1) || !entries[i].read(t, h)) return false;
        seen |= 1u << i;
        take(t, ',');
    }
    return seen == 7;
}

static size_t little(const unsigned char *bytes, int n)
{
    size_t value = 0;
    while (n--) value = value << 8 | bytes[n];
    return value;
}

/* Magic, version, length of the text in 2 or 4 bytes, text. */
static const char *read_header(const unsigned char *bytes, size_t size, header *h)
{
    if (size < MAGIC + 4) return "it breaks off in the header";
    int major = bytes[MAGIC], n_length = major == 1 ? 2 : 4;
    size_t text = (size_t)(MAGIC + 2 + n_length);
    if (memcmp(bytes, "\x93NUMPY", MAGIC) != 0) return "it does not begin as an NPY does";
    if (major < 1 || major > 3) return "its version is not 1, 2 or 3";
    if (size < text) return "it breaks off in the header";
    size_t length = little(bytes + MAGIC + 2, n_length);
    if (length > size - text) return "it breaks off in the header, or the header is very long";
    cursor t = {(const char *)bytes + text, (const char *)bytes + text + length, NULL};
    h->begin = text + length;
    if (read_dictionary(&t, h)) return NULL;
    return t.trouble ? t.trouble : "its header cannot be understood";
}

/* ---------------------------------------------------------------- arrays */

static kbass_status fail(const kb_source *s, const header *h, const char *why)
{
    const char *space = *h->name ? ": " : "";
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s%s%s", s->reading->file.path, h->name, space, why);
}

static kbass_status add_array(kb_source *s, const header *h, const field *f, kb_portion portion, size_t place)
{
    kb_array *array = NULL;
    const char *name = h->has_names ? f->name : h->name;
    size_t length = h->has_names ? f->name_length : strlen(h->name);
    kbass_status status = kb_source_add(s, name, length, &array);
    if (status != KBASS_OK) return status;
    array->n_dims = h->n_dims;
    memcpy(array->dims, h->dims, sizeof h->dims);
    array->element = f->element;
    array->trouble = f->trouble;
    array->tick = f->tick;
    array->is_span = f->is_span;
    if (f->tick > 0 && h->n_dims != 1) array->trouble = "dates in several dimensions";
    if (f->tick > 0 && h->n_dims == 1 && h->dims[0] > SIZE_MAX / 4 / (h->step + 1)) array->trouble = "too many dates";
    array->portion = portion;
    array->place = place;
    array->offset = h->begin + f->offset + (portion == KB_IMAGINARY_PART ? f->element.width : 0);
    kb_array_stride(array, h->step, h->is_fortran);
    return KBASS_OK;
}

static kbass_status add_field_array(kb_source *s, const header *h, const field *f, size_t place)
{
    if (!f->is_complex || f->trouble) return add_array(s, h, f, KB_WHOLE, place);
    kbass_status status = add_array(s, h, f, KB_REAL_PART, place);
    return status == KBASS_OK ? add_array(s, h, f, KB_IMAGINARY_PART, place) : status;
}

/* The numbers fill exactly what follows the header. */
static kbass_status check_size(const kb_source *s, const header *h, size_t total)
{
    kb_array shape = {.n_dims = h->n_dims};
    size_t n = 0, bytes = 0;
    char text[200];
    memcpy(shape.dims, h->dims, sizeof h->dims);
    kb_array_shape(&shape, text, sizeof text);
    bool is_sound = kb_array_count(&shape, &n) && !__builtin_mul_overflow(n, h->step, &bytes);
    if (is_sound && bytes == total - h->begin) return KBASS_OK;
    const char *space = *h->name ? ": " : "";
    return kb_fail(s->reading->error, KBASS_ERROR_DATA,
                   "%s: %.200s%sfound %zu bytes of numbers, its shape %s needs %zu for each of them",
                   s->reading->file.path, h->name, space, total - h->begin, text, h->step);
}

kbass_status kb_npy_list(kb_source *s, const char *name, const unsigned char *bytes, size_t size, size_t total,
                         size_t place)
{
    header h = {.name = name};
    const char *why = read_header(bytes, size, &h);
    bool has_objects = false;
    for (size_t i = 0; !why && i < h.n_fields; i++) has_objects |= h.fields[i].is_object;
    for (size_t i = 0; has_objects && i < h.n_fields; i++) h.fields[i].trouble = pickled;
    kbass_status status = why ? fail(s, &h, why) : KBASS_OK;
    if (status == KBASS_OK && !has_objects) status = check_size(s, &h, total);
    for (size_t i = 0; status == KBASS_OK && i < h.n_fields; i++)
        if (!h.has_names || h.fields[i].name_length) status = add_field_array(s, &h, &h.fields[i], place);
    kb_free(h.fields);
    return status;
}

/* ---------------------------------------------------------------- a file of one array */

static bool recognise(const kb_file *file) { return file->size >= MAGIC && !memcmp(file->bytes, "\x93NUMPY", MAGIC); }

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    return kb_npy_list(s, "", file->bytes, file->size, file->size, 0);
}

static kbass_status load(kb_source *s, kb_array *array)
{
    array->bytes = s->reading->file.bytes + array->offset;
    return KBASS_OK;
}

const kb_format kb_format_npy = {"NPY", recognise, list, load, NULL, NULL};
