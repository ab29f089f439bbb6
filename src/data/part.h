/* A part of a file, taken while it is read: ranges along the axes, every so many times. */
#ifndef KB_PART_H
#define KB_PART_H

#include "data/data.h"

typedef struct {
    bool is_whole; /* everything is taken */
    size_t n_axes, every;
    double low[KBASS_MAX_AXES], high[KBASS_MAX_AXES]; /* both included */
} kb_part;

/* Where times are counted: those within the ranges, anew where time goes back. */
typedef struct {
    bool is_begun;
    double time;
    size_t count;
} kb_pace;

/* `within` is "t=0:10, x=-1:", or NULL; `every` 0 is 1. The data have the names of their axes; they get the part's. */
kbass_status kb_part_read(const char *within, size_t every, kbass_data *data, kb_part *part, kbass_error *error);
/* Of rows in the file's order: is the next, with its coordinates, part of it? */
bool kb_part_takes(const kb_part *part, kb_pace *pace, const double *at);
kbass_status kb_part_empty(const kbass_data *data, const char *path, kbass_error *error);

#endif
