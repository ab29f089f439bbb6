#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/name.h"

static void fill(kbass_error *error, const char *source, size_t column, const char *format, va_list arguments)
{
    if (!error) return;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    snprintf(error->source, sizeof error->source, "%s", source);
    kb_text_disarm(error->message, true); /* what a file holds is quoted, and no terminal shall obey it */
    kb_text_disarm(error->source, true);
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
    static const double mega = 1e6;
    const kb_budget *budget = kb_budget_current();
    size_t refused = budget ? atomic_load(&budget->refused) : 0;
    if (!refused) return kb_fail(error, KBASS_ERROR_MEMORY, "out of memory for %s", what);
    return kb_fail(error, KBASS_ERROR_MEMORY,
                   "%s: needed %.4g MB beside the %.4g MB in use, found a limit of %.4g MB (--memory raises it; fewer "
                   "terms, rows or threads need less)",
                   what, (double)refused / mega, (double)atomic_load(&budget->used_then) / mega, budget->limit / mega);
}

const char *kbass_status_name(kbass_status status)
{
    static const char *const names[] = {"ok", "argument", "file", "data", "syntax", "memory", "numerical", "time"};
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
