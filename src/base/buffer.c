#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static bool has_room(kb_buffer *buffer, size_t more)
{
    enum { USUAL = 256 };
    size_t needed = buffer->length + more + 1;
    if (buffer->is_lost) return false;
    if (needed <= buffer->size) return true;
    size_t size = 2 * needed > USUAL ? 2 * needed : USUAL;
    char *grown = kb_reallocate(buffer->text, buffer->size, size, 1);
    buffer->is_lost = !grown;
    if (!grown) return false;
    buffer->text = grown;
    buffer->size = size;
    return true;
}

void kb_buffer_put(kb_buffer *buffer, const char *text) { kb_buffer_add(buffer, text, strlen(text)); }

void kb_buffer_add(kb_buffer *buffer, const char *bytes, size_t length)
{
    if (!has_room(buffer, length)) return;
    memcpy(buffer->text + buffer->length, bytes, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}

void kb_buffer_print(kb_buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && has_room(buffer, (size_t)length)) {
        vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void kb_buffer_number(kb_buffer *buffer, double number)
{
    char text[KB_NUMBER_SIZE];
    kb_number_print(number, text);
    kb_buffer_put(buffer, text);
}

void kb_buffer_clear(kb_buffer *buffer)
{
    kb_free(buffer->text);
    *buffer = (kb_buffer){0};
}

char *kb_buffer_take(kb_buffer *buffer)
{
    kb_buffer_put(buffer, ""); /* so that an empty text is one */
    char *text = buffer->is_lost ? NULL : buffer->text;
    if (buffer->is_lost) kb_free(buffer->text);
    *buffer = (kb_buffer){0};
    return text;
}
