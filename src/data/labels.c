#include "data/labels.h"

#include <string.h>

#include "base/memory.h"

static bool is_word(const char *known, const char *word, size_t length)
{
    return strncmp(known, word, length) == 0 && !known[length];
}

static bool add_word(kb_labels *labels, const char *word, size_t length)
{
    if (labels->n == KB_MOST_LABELS) return false;
    if (labels->n == labels->capacity) {
        size_t capacity = labels->capacity ? 2 * labels->capacity : 16;
        char **grown = kb_reallocate(labels->words, labels->n, capacity, sizeof *grown);
        if (!grown) return false;
        labels->words = grown;
        labels->capacity = capacity;
    }
    char *copy = KB_NEW(char, length + 1);
    if (!copy) return false;
    memcpy(copy, word, length);
    labels->words[labels->n++] = copy;
    return true;
}

bool kb_labels_find(kb_labels *labels, const char *word, size_t length, size_t *last, double *number)
{
    bool is_found = true;
#pragma omp critical(kb_labels)
    {
        size_t i = *last;
        if (i >= labels->n || !is_word(labels->words[i], word, length))
            for (i = 0; i < labels->n && !is_word(labels->words[i], word, length);) i++;
        is_found = i < labels->n || add_word(labels, word, length);
        *last = i;
    }
    *number = (double)*last;
    return is_found;
}

void kb_labels_clear(kb_labels *labels)
{
    for (size_t i = 0; i < labels->n; i++) kb_free(labels->words[i]);
    kb_free(labels->words);
    *labels = (kb_labels){0};
}
