/* Named arrays of doubles written for programs: NPZ, NPY or JSON, by the file's ending. */
#ifndef CLI_ARRAYS_H
#define CLI_ARRAYS_H

#include <stdbool.h>

#include "kbass/kbass.h"

enum { CLI_ARRAY_DIMENSIONS = KBASS_MAX_AXES + 1 };

typedef struct {
    const char *name;
    size_t n_dimensions, shape[CLI_ARRAY_DIMENSIONS];
    const double *values; /* row-major */
} cli_array;

typedef enum { CLI_CSV, CLI_NPY, CLI_NPZ, CLI_JSON } cli_format;

/* ".npy", ".npz" and ".json" say what they are; everything else is CSV. */
cli_format cli_format_of(const char *path);
/* Returns an exit code, EXIT_NO_RESULT when writing fails. NPY has room for one array only. */
int cli_arrays_write(const char *path, size_t n, const cli_array *arrays);

#endif
