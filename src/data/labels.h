/* Words that stand in cells, numbered as threads meet them. */
#ifndef KB_LABELS_H
#define KB_LABELS_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_MOST_LABELS = 100000 };

typedef struct {
    size_t n, capacity;
    char **words;
} kb_labels;

/* The word's number, which is tried first at *last; false when there are too many, or no memory. */
bool kb_labels_find(kb_labels *labels, const char *word, size_t length, size_t *last, double *number);
void kb_labels_clear(kb_labels *labels);

#endif
