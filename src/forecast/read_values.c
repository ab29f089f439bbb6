/* Values out of a result file, each with the path of the field at fault. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"
#include "forecast/reader.h"

kbass_status kb_read_wrong(const kb_reader *r, const char *field, const char *format, ...)
{
    char reason[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return kb_fail(r->error, KBASS_ERROR_DATA, "%.150s: \"%s\" %s", r->path, field, reason);
}

kbass_status kb_read_number(const kb_reader *r, json_t *value, const char *field, double *out)
{
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return kb_read_wrong(r, field, "is missing or not a finite number");
    *out = json_number_value(value);
    return KBASS_OK;
}

kbass_status kb_read_number_at(const kb_reader *r, json_t *object, const char *where, const char *key, double *out)
{
    char field[KB_FIELD_SIZE];
    snprintf(field, sizeof field, "%.120s.%.30s", where, key);
    return kb_read_number(r, json_object_get(object, key), field, out);
}

kbass_status kb_read_count_at(const kb_reader *r, json_t *object, const char *where, const char *key, size_t low,
                              size_t high, size_t *out)
{
    char field[KB_FIELD_SIZE];
    json_t *value = json_object_get(object, key);
    json_int_t found = json_integer_value(value);
    snprintf(field, sizeof field, "%.120s.%.30s", where, key);
    if (!json_is_integer(value) || found < (json_int_t)low || found > (json_int_t)high)
        return kb_read_wrong(r, field, "is missing or not a whole number from %zu to %zu", low, high);
    *out = (size_t)found;
    return KBASS_OK;
}

/* A list of exactly n numbers, each at least `low`. */
kbass_status kb_read_numbers(const kb_reader *r, json_t *array, const char *field, size_t n, double low, double *out)
{
    kbass_status status = KBASS_OK;
    char item[KB_FIELD_SIZE];
    if (!json_is_array(array)) return kb_read_wrong(r, field, "is missing or not a list");
    if (json_array_size(array) != n)
        return kb_read_wrong(r, field, "has %zu items, needed %zu", json_array_size(array), n);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        snprintf(item, sizeof item, "%.130s[%zu]", field, i);
        status = kb_read_number(r, json_array_get(array, i), item, &out[i]);
        if (status == KBASS_OK && !(out[i] >= low))
            status = kb_read_wrong(r, item, "is %g, needed at least %g", out[i], low);
    }
    return status;
}

kbass_status kb_read_numbers_at(const kb_reader *r, json_t *object, const char *where, const char *key, size_t n,
                                double low, double *out)
{
    char field[KB_FIELD_SIZE];
    snprintf(field, sizeof field, "%.120s.%.30s", where, key);
    return kb_read_numbers(r, json_object_get(object, key), field, n, low, out);
}
