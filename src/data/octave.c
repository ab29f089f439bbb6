/* Octave's own text (save FILE): variables one behind another, each with lines "# name: u", "# type: matrix", its size
 * and its numbers. Structs are groups and cells are numbered as in MATLAB's files (mat.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/source.h"

enum {
    DEEPEST = 8,        /* structs and cells in one another */
    LONGEST_TYPE = 100, /* "float complex matrix" */
    LONGEST_LINE = 256, /* of those that begin with # */
    LONGEST_NUMBER = 64
};
static const double most_in_range = 1 << 24; /* numbers: three words may stand for any number of them */

typedef struct {
    kb_source *source;
    const char *at, *end;
} walk;

static kbass_status broken(const walk *w, const char *name, const char *what)
{
    const kb_reading *r = w->source->reading;
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: Octave's \"%.60s\" %s", r->file.path, name, what);
}

/* ---------------------------------------------------------------- lines */

static void skip_line(walk *w)
{
    const char *newline = memchr(w->at, '\n', (size_t)(w->end - w->at));
    w->at = newline ? newline + 1 : w->end;
}

static void skip_blanks(walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at)) w->at++;
}

/* The value of a line "# key: value" that stands next. */
static bool take_entry(walk *w, const char *key, char *value, size_t size)
{
    char line[LONGEST_LINE];
    skip_blanks(w);
    const char *newline = memchr(w->at, '\n', (size_t)(w->end - w->at)), *stop = newline ? newline : w->end;
    size_t length = (size_t)(stop - w->at), n = strlen(key);
    if (length < 2 || length >= sizeof line || (*w->at != '#' && *w->at != '%')) return false;
    memcpy(line, w->at, length);
    line[length] = '\0';
    char *text = line + 1 + strspn(line + 1, " ");
    if (strncmp(text, key, n) != 0 || text[n] != ':') return false;
    text += n + 1;
    text += strspn(text, " ");
    text[strcspn(text, "\r")] = '\0';
    snprintf(value, size, "%s", text);
    w->at = stop;
    return strlen(text) < size;
}

static bool take_count(walk *w, const char *key, size_t *n)
{
    char text[LONGEST_NUMBER], *end = NULL;
    if (!take_entry(w, key, text, sizeof text)) return false;
    *n = strtoull(text, &end, 10);
    return end > text && !*end && *text != '-';
}

static bool take_number(walk *w, char last, double *number)
{
    char word[LONGEST_NUMBER];
    size_t n = 0;
    while (w->at < w->end && n < sizeof word - 1 && !strchr(" \t\r\n,()", *w->at)) word[n++] = *w->at++;
    word[n] = '\0';
    bool is_number = n && (kb_number_parse(word, number) || strcmp(word, "NA") == 0);
    if (strcmp(word, "NA") == 0) *number = (double)NAN;
    if (is_number && last && w->at < w->end && *w->at++ != last) return false;
    return is_number;
}

/* A number, or (real,imaginary). */
static bool take_pair(walk *w, bool is_complex, double *real, double *imaginary)
{
    skip_blanks(w);
    if (!is_complex) return take_number(w, 0, real);
    return w->at < w->end && *w->at++ == '(' && take_number(w, ',', real) && take_number(w, ')', imaginary);
}

/* ---------------------------------------------------------------- arrays */

typedef struct {
    const char *name;
    char type[LONGEST_TYPE];
    size_t n_dims, dims[KB_MOST_DIMS];
    bool is_by_rows; /* the last dimension is fastest */
} variable;

static bool has_word(const char *type, const char *word)
{
    const char *at = strstr(type, word);
    size_t n = strlen(word);
    return at && (at == type || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

/* "# rows: 3" and "# columns: 2", or "# ndims: 3" and a line with so many sizes; a scalar has neither. */
static bool take_dims(walk *w, variable *v)
{
    const char *begin = w->at;
    v->is_by_rows = take_count(w, "rows", &v->dims[0]);
    if (v->is_by_rows) {
        v->n_dims = 2;
        return take_count(w, "columns", &v->dims[1]);
    }
    w->at = begin;
    if (!take_count(w, "ndims", &v->n_dims)) {
        w->at = begin;
        v->n_dims = 0;
        return !has_word(v->type, "matrix");
    }
    if (v->n_dims > KB_MOST_DIMS) return false;
    for (size_t i = 0; i < v->n_dims; i++) {
        double number = 0;
        skip_blanks(w);
        if (!take_number(w, 0, &number) || !(number >= 0 && number < (double)INT32_MAX) || number != floor(number))
            return false;
        v->dims[i] = (size_t)number;
    }
    return true;
}

static kbass_status add_array(const walk *w, const variable *v, kb_portion portion, double *numbers)
{
    kb_array *array = NULL;
    kbass_status status = kb_source_add(w->source, v->name, strlen(v->name), &array);
    if (status != KBASS_OK) {
        kb_free(numbers);
        return status;
    }
    array->n_dims = v->n_dims;
    memcpy(array->dims, v->dims, sizeof v->dims);
    array->element = (kb_element){KB_REAL, sizeof *numbers, false};
    kb_array_stride(array, sizeof *numbers, !v->is_by_rows);
    array->portion = portion;
    array->owned = numbers;
    array->bytes = (const unsigned char *)numbers;
    return KBASS_OK;
}

static kbass_status add_numbers(walk *w, variable *v)
{
    kb_array shape = {.n_dims = 0};
    size_t n = 0;
    bool is_complex = has_word(v->type, "complex");
    if (!take_dims(w, v)) return broken(w, v->name, "has a size that cannot be read");
    shape.n_dims = v->n_dims;
    memcpy(shape.dims, v->dims, sizeof shape.dims);
    size_t room = (size_t)(w->end - w->at) / 2 + 1; /* a number takes a byte and a blank */
    if (!kb_array_count(&shape, &n) || n > room) return broken(w, v->name, "breaks off");
    double *real = KB_NEW(double, n + 1), *imaginary = is_complex ? KB_NEW(double, n + 1) : NULL;
    if (!real || (is_complex && !imaginary)) {
        kb_free(real);
        return kb_out_of_memory(w->source->reading->error, v->name);
    }
    bool is_sound = true;
    for (size_t i = 0; is_sound && i < n; i++)
        is_sound = take_pair(w, is_complex, &real[i], is_complex ? &imaginary[i] : NULL);
    if (!is_sound) {
        kb_free(real);
        kb_free(imaginary);
        return broken(w, v->name, "breaks off, or has a number that cannot be read");
    }
    kbass_status status = add_array(w, v, is_complex ? KB_REAL_PART : KB_WHOLE, real);
    if (is_complex && status == KBASS_OK) return add_array(w, v, KB_IMAGINARY_PART, imaginary);
    kb_free(imaginary);
    return status;
}

/* What cannot be used is listed with its reason, and passed over up to the next name. */
static kbass_status add_trouble(walk *w, const variable *v, const char *trouble)
{
    char name[KB_LONGEST_NAME + 1];
    kbass_status status = add_array(w, v, KB_WHOLE, NULL);
    if (status == KBASS_OK) w->source->arrays[w->source->n_arrays - 1].trouble = trouble;
    while (w->at < w->end) {
        const char *line = w->at;
        if (take_entry(w, "name", name, sizeof name)) {
            w->at = line;
            break;
        }
        skip_line(w);
    }
    return status;
}

/* "# base, limit, increment" and a line with these. */
static kbass_status add_range(walk *w, variable *v)
{
    double base = 0, limit = 0, step = 0;
    skip_blanks(w);
    if (w->at < w->end && *w->at == '#') skip_line(w);
    bool is_sound =
        take_pair(w, false, &base, NULL) && take_pair(w, false, &limit, NULL) && take_pair(w, false, &step, NULL);
    double n = floor((limit - base) / step * (1 + 1e-15) + 1e-9) + 1;
    if (!is_sound || !(n >= 1)) return broken(w, v->name, "has a range that cannot be read");
    if (!(n <= most_in_range)) return broken(w, v->name, "is a range of more than 16 million numbers");
    double *numbers = KB_NEW(double, (size_t)n);
    if (!numbers) return kb_out_of_memory(w->source->reading->error, v->name);
    for (size_t i = 0; i < (size_t)n; i++) numbers[i] = base + (double)i * step;
    v->n_dims = 1;
    v->dims[0] = (size_t)n;
    return add_array(w, v, KB_WHOLE, numbers);
}

/* "# elements: 1", then for each "# length: 5" and the text. */
static kbass_status add_text(walk *w, variable *v)
{
    size_t n = 0, length = 0;
    if (take_count(w, "elements", &n))
        while (n-- && take_count(w, "length", &length)) {
            skip_line(w);
            w->at += length < (size_t)(w->end - w->at) ? length : (size_t)(w->end - w->at);
        }
    return add_trouble(w, v, "text");
}

/* ---------------------------------------------------------------- structs and cells */

static kbass_status add_variable(walk *w, const char *name, int depth);

static kbass_status add_member(walk *w, const char *own, const char *group, bool is_field, size_t n, size_t index,
                               int depth)
{
    char full[2 * KB_LONGEST_NAME + 40];
    if (n == 1) snprintf(full, sizeof full, "%s%s%s", group, is_field ? "/" : "", own);
    else snprintf(full, sizeof full, "%s_%zu%s%s", group, index + 1, is_field ? "/" : "", own);
    if (strlen(full) > KB_LONGEST_NAME || depth == DEEPEST)
        return broken(w, group, "has structs and cells within one another, deeper than 8");
    return add_variable(w, full, depth + 1);
}

/* The elements of a cell, or of a field of an array of structs, first dimension fastest. */
static kbass_status add_cells(walk *w, const char *name, const char *field, int depth)
{
    variable v = {.name = name};
    char element[KB_LONGEST_NAME + 1];
    kb_array shape = {.n_dims = 0};
    size_t n = 0, n_before = w->source->n_arrays;
    kbass_status status = KBASS_OK;
    if (!take_dims(w, &v)) return broken(w, name, "has a size that cannot be read");
    shape.n_dims = v.n_dims;
    memcpy(shape.dims, v.dims, sizeof shape.dims);
    if (!kb_array_count(&shape, &n) || n > (size_t)(w->end - w->at)) return broken(w, name, "breaks off");
    for (size_t i = 0; i < n && status == KBASS_OK; i++) {
        if (!take_entry(w, "name", element, sizeof element)) return broken(w, name, "breaks off");
        status = add_member(w, field, name, *field, n, i, depth);
    }
    for (size_t i = n_before; n > 1 && !*field && i < w->source->n_arrays; i++) w->source->arrays[i].is_of_cell = true;
    return status;
}

/* "# length: 3", then so many fields; those of an array of structs are cells. */
static kbass_status add_struct(walk *w, variable *v, int depth)
{
    size_t n = 0;
    char field[KB_LONGEST_NAME + 1], type[LONGEST_TYPE];
    kbass_status status = KBASS_OK;
    if (!take_dims(w, v) || !take_count(w, "length", &n)) return broken(w, v->name, "has a size that cannot be read");
    for (size_t i = 0; i < n && status == KBASS_OK; i++) {
        if (!take_entry(w, "name", field, sizeof field)) return broken(w, v->name, "breaks off");
        if (strcmp(v->type, "scalar struct") == 0) status = add_member(w, field, v->name, true, 1, 0, depth);
        else if (!take_entry(w, "type", type, sizeof type) || strcmp(type, "cell") != 0)
            status = broken(w, v->name, "is an array of structs that cannot be read");
        else status = add_cells(w, v->name, field, depth);
    }
    return status;
}

static kbass_status add_variable(walk *w, const char *name, int depth)
{
    variable v = {.name = name};
    char type[LONGEST_TYPE];
    if (!take_entry(w, "type", type, sizeof type)) return broken(w, name, "has no type");
    snprintf(v.type, sizeof v.type, "%s", type + (strncmp(type, "global ", 7) == 0 ? 7 : 0));
    if (strcmp(v.type, "cell") == 0) return add_cells(w, name, "", depth);
    if (has_word(v.type, "struct")) return add_struct(w, &v, depth);
    if (has_word(v.type, "string") || strcmp(v.type, "sq_string") == 0) return add_text(w, &v);
    if (strcmp(v.type, "range") == 0 || strcmp(v.type, "double_range") == 0) return add_range(w, &v);
    if (has_word(v.type, "sparse")) return add_trouble(w, &v, "a sparse matrix: save it by full");
    if (has_word(v.type, "diagonal") || has_word(v.type, "permutation"))
        return add_trouble(w, &v, "a diagonal matrix: save it by full");
    if (has_word(v.type, "matrix") || has_word(v.type, "scalar") || strcmp(v.type, "bool") == 0)
        return add_numbers(w, &v);
    return add_trouble(w, &v, "neither numbers nor text");
}

/* ---------------------------------------------------------------- file */

static bool recognise(const kb_file *file)
{
    walk w = {.at = (const char *)file->bytes, .end = (const char *)file->bytes + file->size};
    char text[KB_LONGEST_NAME + 1];
    if (file->size > 19 && memcmp(file->bytes, "# Created by Octave", 19) == 0) return true;
    return take_entry(&w, "name", text, sizeof text) && take_entry(&w, "type", text, sizeof text);
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    walk w = {.source = s, .at = (const char *)file->bytes, .end = (const char *)file->bytes + file->size};
    char name[KB_LONGEST_NAME + 1];
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && w.at < w.end) {
        if (take_entry(&w, "name", name, sizeof name)) status = add_variable(&w, name, 0);
        else skip_line(&w);
        skip_blanks(&w);
    }
    return status;
}

const kb_format kb_format_octave = {"Octave", recognise, list, NULL, NULL, NULL};
