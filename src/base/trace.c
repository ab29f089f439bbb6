#include "base/trace.h"

#include <stdarg.h>
#include <stdio.h>

void kb_trace_line(const kb_trace *trace, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    if (!trace) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    trace->take(trace->context, line);
}
