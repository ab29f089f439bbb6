/* Arrays in JSON, lists within lists: {"t": [...], "x": [...], "u": [[...], ...]}. json_table.c has parsed them. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/source.h"

/* The sizes along the first elements, which all others must have. */
static size_t measure(const json_t *list, size_t dims[KB_MOST_DIMS])
{
    size_t n = 0;
    for (; json_is_array(list) && n < KB_MOST_DIMS; list = json_array_get(list, 0)) dims[n++] = json_array_size(list);
    return json_is_array(list) ? 0 : n;
}

/* The numbers, last dimension fastest; what follows them, NULL where lists are not alike or hold something else. */
static double *fill(const json_t *list, const size_t *dims, size_t n_dims, double *to)
{
    if (!n_dims) {
        bool is_missing = json_is_null(list) || (json_is_string(list) && !*json_string_value(list));
        if (!json_is_number(list) && !is_missing) return NULL;
        *to = is_missing ? (double)NAN : json_number_value(list);
        return to + 1;
    }
    if (!json_is_array(list) || json_array_size(list) != dims[0]) return NULL;
    for (size_t i = 0; to && i < dims[0]; i++) to = fill(json_array_get(list, i), dims + 1, n_dims - 1, to);
    return to;
}

static kbass_status add_list(kb_source *s, const char *name, const json_t *list)
{
    kb_array *array = NULL;
    size_t n = 0;
    kbass_status status = kb_source_add(s, name, strnlen(name, KB_LONGEST_NAME), &array);
    if (status != KBASS_OK) return status;
    array->n_dims = measure(list, array->dims);
    array->element = (kb_element){KB_REAL, sizeof(double), false};
    kb_array_stride(array, sizeof(double), false);
    bool is_sound = array->n_dims && kb_array_count(array, &n) && n <= s->reading->file.size; /* a byte for each */
    double *numbers = is_sound ? KB_NEW(double, n + 1) : NULL;
    if (is_sound && !numbers) return kb_out_of_memory(s->reading->error, array->name);
    array->owned = numbers;
    array->bytes = (const unsigned char *)numbers;
    if (!is_sound || !fill(list, array->dims, array->n_dims, numbers))
        array->trouble = "lists of different lengths, or of something else than numbers";
    return KBASS_OK;
}

static kbass_status list(kb_source *s)
{
    const char *name;
    json_t *member;
    kbass_status status = KBASS_OK;
    json_object_foreach((json_t *)s->reading->parsed, name, member) if (status == KBASS_OK && json_array_size(member))
        status = add_list(s, name, member);
    return status;
}

const kb_format kb_format_json = {"JSON", NULL, list, NULL, NULL, NULL};
