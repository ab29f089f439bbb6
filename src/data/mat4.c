/* MATLAB's files of version 4: matrices one behind another, each a head of five words, a name and its numbers. Octave,
 * Scilab, Dymola and old instruments still write them. */
#include <string.h>

#include "base/status.h"
#include "data/source.h"

enum { HEAD = 20, LONGEST = 64, FULL = 0, TEXT = 1, SPARSE = 2, N_PRECISIONS = 6, LITTLE = 0, BIG = 1 };

typedef struct {
    bool is_big;
    unsigned machine, precision, kind;
    size_t rows, columns, name_length;
    bool is_complex;
} head;

static uint32_t word(const unsigned char *bytes, bool is_big)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) value = value << 8 | bytes[is_big ? i : 3 - i];
    return value;
}

static size_t width_of(unsigned precision)
{
    static const size_t widths[N_PRECISIONS] = {8, 4, 4, 2, 2, 1};
    return widths[precision];
}

/* What the head's first word says: the machine, a zero, the precision, the kind. */
static bool read_head(const unsigned char *at, size_t room, bool is_big, head *h)
{
    if (room < HEAD) return false;
    uint32_t type = word(at, is_big), imaginary = word(at + 12, is_big);
    *h = (head){.is_big = is_big,
                .machine = type / 1000,
                .precision = type / 10 % 10,
                .kind = type % 10,
                .rows = word(at + 4, is_big),
                .columns = word(at + 8, is_big),
                .name_length = word(at + 16, is_big),
                .is_complex = imaginary == 1};
    return h->machine <= 4 && type / 100 % 10 == 0 && h->precision < N_PRECISIONS && h->kind <= SPARSE &&
           imaginary <= 1 && h->name_length > 1 && h->name_length <= LONGEST && h->name_length <= room - HEAD &&
           (h->machine == BIG) == is_big;
}

static bool is_name(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (!i || c < '0' || c > '9')) return false;
    }
    return n > 0;
}

/* The numbers behind the name; false where they are more than the file has. */
static bool count_bytes(const head *h, size_t room, size_t *bytes)
{
    size_t n = 0;
    return !__builtin_mul_overflow(h->rows, h->columns, &n) &&
           !__builtin_mul_overflow(n, width_of(h->precision) * (h->is_complex ? 2 : 1), bytes) &&
           *bytes <= room - HEAD - h->name_length;
}

/* Nothing but its head tells such a file: the name must be one, and the numbers must be there. */
static bool find_order(const kb_file *file, bool *is_big)
{
    head h;
    size_t bytes = 0;
    *is_big = file->size > 2 && !file->bytes[0] && (file->bytes[2] || file->bytes[3]); /* 1000 and more */
    if (!read_head(file->bytes, file->size, *is_big, &h)) return false;
    const char *name = (const char *)file->bytes + HEAD;
    size_t length = strnlen(name, h.name_length);
    return length + 1 == h.name_length && is_name(name, length) && h.rows && h.columns &&
           (count_bytes(&h, file->size, &bytes) || file->is_stream);
}

static bool recognise(const kb_file *file)
{
    bool is_big;
    return find_order(file, &is_big);
}

static kbass_status broken(const kb_source *s, size_t place, const char *what)
{
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: byte %zu: %s", s->reading->file.path, place, what);
}

static kbass_status add_part(kb_source *s, const head *h, const unsigned char *name, const unsigned char *numbers,
                             kb_portion portion)
{
    static const kb_kind kinds[N_PRECISIONS] = {KB_REAL, KB_REAL, KB_SIGNED, KB_SIGNED, KB_UNSIGNED, KB_UNSIGNED};
    kb_array *array = NULL;
    kbass_status status = kb_source_add(s, (const char *)name, strnlen((const char *)name, h->name_length), &array);
    if (status != KBASS_OK) return status;
    array->n_dims = 2;
    array->dims[0] = h->rows;
    array->dims[1] = h->columns;
    array->element =
        (kb_element){kinds[h->precision], (unsigned)width_of(h->precision), h->is_big == kb_machine_is_little()};
    kb_array_stride(array, array->element.width, true);
    array->portion = portion;
    array->bytes = numbers;
    if (h->kind == TEXT) array->trouble = "text";
    if (h->kind == SPARSE) array->trouble = "a sparse matrix: save it by full";
    return KBASS_OK;
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    kbass_status status = KBASS_OK;
    bool is_big = false;
    find_order(file, &is_big);
    for (size_t at = 0; status == KBASS_OK && at < file->size;) {
        head h;
        size_t room = file->size - at, bytes = 0;
        const unsigned char *begin = file->bytes + at;
        if (!read_head(begin, room, is_big, &h)) return broken(s, at, "no matrix of MATLAB's version 4");
        if (h.machine > BIG)
            return broken(s, at, "a matrix of a VAX or a Cray: save it on another machine, or by save -v7");
        if (!at && strncmp((const char *)begin + HEAD, "Aclass", h.name_length) == 0)
            return broken(s, at,
                          "a result file of Dymola or OpenModelica: export its variables as CSV (OpenModelica: "
                          "outputFormat=\"csv\")");
        if (!count_bytes(&h, room, &bytes)) return broken(s, at, "a matrix that breaks off");
        const unsigned char *name = begin + HEAD, *numbers = name + h.name_length;
        bool is_pair = h.is_complex && h.kind == FULL;
        status = add_part(s, &h, name, numbers, is_pair ? KB_REAL_PART : KB_WHOLE);
        if (status == KBASS_OK && is_pair) status = add_part(s, &h, name, numbers + bytes / 2, KB_IMAGINARY_PART);
        at += HEAD + h.name_length + bytes;
    }
    return status;
}

const kb_format kb_format_mat4 = {"MATLAB 4", recognise, list, NULL, NULL, NULL};
