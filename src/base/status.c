#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(kbass_error *error, const char *source, size_t column, const char *format, va_list arguments)
{
    if (!error) return;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    snprintf(error->source, sizeof error->source, "%s", source);
    error->column = (int)column;
}

kbass_status kb_fail(kbass_error *error, kbass_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, "", 0, format, arguments);
    va_end(arguments);
    return status;
}

kbass_status kb_fail_at(kbass_error *error, const char *source, size_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, source, column, format, arguments);
    va_end(arguments);
    return KBASS_ERROR_SYNTAX;
}

kbass_status kb_out_of_memory(kbass_error *error, const char *what)
{
    return kb_fail(error, KBASS_ERROR_MEMORY, "out of memory for %s", what);
}

const char *kbass_status_name(kbass_status status)
{
    static const char *const names[] = {"ok", "argument", "file", "data", "syntax", "memory", "numerical"};
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
