#include "data/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/sha256.h"

static const kb_format *const formats[] = {&kb_format_npy,  &kb_format_npz,    &kb_format_hdf5,  &kb_format_mat,
                                           &kb_format_mat4, &kb_format_netcdf, &kb_format_octave};

static const kb_format *recognise(const kb_file *file)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->recognise(file)) return formats[i];
    return NULL;
}

const char *kb_format_name(const kb_file *file)
{
    const kb_format *format = recognise(file);
    return format ? format->name : NULL;
}

kbass_status kb_source_open(const kb_reading *reading, kb_source *source)
{
    *source = (kb_source){.reading = reading, .format = reading->parsed ? &kb_format_json : recognise(&reading->file)};
    return source->format->list(source);
}

kbass_status kb_source_load(kb_source *source, kb_array *array)
{
    kbass_status status = array->bytes ? KBASS_OK : source->format->load(source, array);
    return status == KBASS_OK && array->tick > 0 ? kb_array_settle_dates(array, source->reading->error) : status;
}

void kb_source_close(kb_source *source)
{
    if (source->format && source->format->close) source->format->close(source);
    for (size_t i = 0; i < source->n_arrays; i++) {
        kb_free(source->arrays[i].name);
        kb_free(source->arrays[i].owned);
    }
    kb_free(source->arrays);
}

kbass_status kb_source_add(kb_source *source, const char *name, size_t length, kb_array **array)
{
    const kb_reading *r = source->reading;
    if (source->n_arrays == KB_MOST_ARRAYS)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: more than %d arrays", r->file.path, KB_MOST_ARRAYS);
    if (source->n_arrays == source->capacity) {
        size_t capacity = source->capacity ? 2 * source->capacity : 8;
        kb_array *grown = kb_reallocate(source->arrays, source->n_arrays, capacity, sizeof *grown);
        if (!grown) return kb_out_of_memory(r->error, "the arrays");
        source->arrays = grown;
        source->capacity = capacity;
    }
    char *copy = KB_NEW(char, length + 1);
    if (!copy) return kb_out_of_memory(r->error, "the arrays");
    memcpy(copy, name, length);
    *array = &source->arrays[source->n_arrays++];
    **array = (kb_array){.name = copy};
    return KBASS_OK;
}

/* ---------------------------------------------------------------- arrays */

bool kb_array_is_aside(const kb_array *array)
{
    return array->trouble && (!strcmp(array->trouble, "text") || !strcmp(array->trouble, KB_TROUBLE_BOUNDS));
}

bool kb_array_count(const kb_array *array, size_t *n)
{
    *n = 1;
    for (size_t i = 0; i < array->n_dims; i++)
        if (__builtin_mul_overflow(*n, array->dims[i], n) || *n > SIZE_MAX / 16) return false;
    return true;
}

void kb_array_stride(kb_array *array, size_t step, bool is_fortran)
{
    for (size_t i = 0; i < array->n_dims; i++) {
        size_t dim = is_fortran ? i : array->n_dims - 1 - i;
        array->strides[dim] = step;
        step *= array->dims[dim];
    }
}

void kb_array_shape(const kb_array *array, char *text, size_t size)
{
    size_t length = 0, n = 0;
    bool is_one = kb_array_count(array, &n) && n == 1;
    if (is_one) snprintf(text, size, "1 number");
    for (size_t i = 0; !is_one && i < array->n_dims && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%zu", i ? " x " : "", array->dims[i]);
}

/* ---------------------------------------------------------------- numbers */

bool kb_machine_is_little(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Sign, 5 bits of exponent, 10 of fraction. */
static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static uint64_t load_word(kb_element element, const unsigned char *bytes)
{
    uint64_t word = 0;
    bool is_little = kb_machine_is_little() != element.is_swapped;
    for (unsigned i = 0; i < element.width; i++) word = word << 8 | bytes[is_little ? element.width - 1 - i : i];
    return word;
}

static double real(unsigned width, uint64_t word)
{
    uint32_t narrow = (uint32_t)word;
    float single;
    double number;
    if (width == 2) return half((uint16_t)word);
    memcpy(&single, &narrow, sizeof single);
    memcpy(&number, &word, sizeof number);
    return width == 4 ? (double)single : number;
}

int64_t kb_element_whole(kb_element element, const unsigned char *bytes)
{
    int unused = 64 - 8 * (int)element.width;
    return (int64_t)(load_word(element, bytes) << unused) >> unused;
}

static double read_element(kb_element element, const unsigned char *bytes)
{
    uint64_t word = load_word(element, bytes);
    if (element.kind == KB_REAL) return real(element.width, word);
    if (element.kind == KB_UNSIGNED) return (double)word;
    return (double)kb_element_whole(element, bytes);
}

static void copy_doubles(const unsigned char *bytes, size_t stride, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++) memcpy(&to[i], bytes + i * stride, sizeof *to);
}

static void widen_floats(const unsigned char *bytes, size_t stride, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++) {
        float number;
        memcpy(&number, bytes + i * stride, sizeof number);
        to[i] = (double)number;
    }
}

void kb_elements_read(kb_element element, const unsigned char *bytes, size_t stride, size_t n, double *to)
{
    bool is_native = element.kind == KB_REAL && !element.is_swapped;
    if (is_native && element.width == 8) copy_doubles(bytes, stride, n, to);
    else if (is_native && element.width == 4) widen_floats(bytes, stride, n, to);
    else
        for (size_t i = 0; i < n; i++) to[i] = read_element(element, bytes + i * stride);
}
