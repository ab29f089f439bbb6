#include "dictionary/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/suggest.h"

bool kb_is_given(const char *text) { return text && *text; }

bool kb_is_digit(char c) { return c >= '0' && c <= '9'; }

bool kb_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool kb_is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool kb_is_sum(const char *term)
{
    int depth = 0;
    for (; *term; term++) {
        depth += (*term == '(') - (*term == ')');
        if (depth == 0 && (*term == '+' || *term == '-')) return true;
    }
    return false;
}

static size_t append(char *text, size_t size, size_t used, const char *format, const char *value)
{
    int written = used < size ? snprintf(text + used, size - used, format, value) : 0;
    return written > 0 ? used + (size_t)written : used;
}

void kb_name_advice(const char *word, size_t n, const char *const *names, char *text, size_t size)
{
    const char *nearest = kb_nearest(word, n, names);
    size_t used = 0;
    text[0] = '\0';
    if (nearest) used = append(text, size, used, "; did you mean \"%s\"?", nearest);
    used = append(text, size, used, " (known: %s", n ? "" : "none");
    for (size_t i = 0; i < n; i++) {
        bool fits = used + strlen(names[i]) + sizeof ", , ...)" < size;
        used = append(text, size, used, i ? ", %s" : "%s", fits ? names[i] : "...");
        if (!fits) break;
    }
    append(text, size, used, "%s", ")");
}

char *kb_trim(char *text)
{
    while (kb_is_blank(*text)) text++;
    size_t length = strlen(text);
    while (length && kb_is_blank(text[length - 1])) text[--length] = '\0';
    return text;
}

char *kb_piece_next(char **cursor, char separator)
{
    char *piece = *cursor, *end = piece;
    if (!piece) return NULL;
    for (long depth = 0; *end && !(*end == separator && depth <= 0); end++) {
        if (*end == '(') depth++;
        if (*end == ')') depth--;
    }
    *cursor = *end ? end + 1 : NULL;
    *end = '\0';
    return kb_trim(piece);
}

kbass_status kb_text_fail(kbass_error *error, const char *text, size_t position, const char *format, ...)
{
    enum { BEFORE = 100, WINDOW = sizeof error->source - 1 };
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t start = position >= WINDOW ? position - BEFORE : 0;
    return kb_fail_at(error, text + start, position - start + 1, "%s", message);
}

void kb_error_prefix(kbass_error *error, const char *format, ...)
{
    if (!error) return;
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (used < 0 || (size_t)used >= sizeof message) return;
    snprintf(message + used, sizeof message - (size_t)used, "%s", error->message);
    memcpy(error->message, message, sizeof message);
}
