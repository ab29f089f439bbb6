/* Text that grows while it is written. Once memory runs out nothing more is added, and taking it fails. */
#ifndef KB_BUFFER_H
#define KB_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *text;
    size_t length, size;
    bool is_lost; /* memory ran out */
} kb_buffer;

void kb_buffer_put(kb_buffer *buffer, const char *text);
/* The same for `length` bytes. */
void kb_buffer_add(kb_buffer *buffer, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void kb_buffer_print(kb_buffer *buffer, const char *format, ...);
/* The shortest text that reads back as the same number. */
void kb_buffer_number(kb_buffer *buffer, double number);
/* Hands the text over; NULL when memory ran out. The buffer is empty again. */
char *kb_buffer_take(kb_buffer *buffer);
void kb_buffer_clear(kb_buffer *buffer);

#endif
