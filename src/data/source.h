/* Files with named arrays: one interface, one reader for each format.
 *
 * A reader lists the arrays of a file, checked against what the file can hold, and loads those that are asked for:
 * where the numbers lie in the file as they are, nothing is copied. arrange.c makes axes and fields of them.
 */
#ifndef KB_SOURCE_H
#define KB_SOURCE_H

#include <stdint.h>

#include "data/read.h"

enum { KB_MOST_DIMS = 8, KB_MOST_ARRAYS = 65536, KB_LONGEST_NAME = 1000 };

typedef enum { KB_SIGNED, KB_UNSIGNED, KB_REAL } kb_kind;

/* Complex numbers are listed as two arrays of one name and shape, the real part before the imaginary one; select.c
   decides whether both are needed. */
typedef enum { KB_WHOLE, KB_REAL_PART, KB_IMAGINARY_PART } kb_portion;

typedef struct {
    kb_kind kind;
    unsigned width;  /* bytes: 1, 2, 4, 8 */
    bool is_swapped; /* not this machine's byte order */
} kb_element;

/* n numbers that are `stride` bytes apart. */
void kb_elements_read(kb_element element, const unsigned char *bytes, size_t stride, size_t n, double *to);
bool kb_machine_is_little(void);
/* A signed whole number. */
int64_t kb_element_whole(kb_element element, const unsigned char *bytes);

typedef struct {
    char *name; /* "u", "run3/u"; "" for the one of an NPY */
    size_t n_dims, dims[KB_MOST_DIMS];
    size_t strides[KB_MOST_DIMS]; /* bytes from one number to the next along each dimension */
    kb_element element;
    const unsigned char *bytes; /* NULL until it is loaded */
    void *owned;                /* they, where they had to be copied */
    const char *trouble;        /* why it is of no use: "text"; NULL when it is */
    double tick;                /* dates and spans: seconds of one count, until they are loaded; 0: numbers */
    double time_unit;           /* dates and spans that are loaded: seconds of 1; 0: numbers */
    int64_t origin;             /* seconds since 1970 of the first date */
    bool is_span;               /* counted from nowhere */
    kb_portion portion;
    bool is_of_cell;      /* one of several in a cell of MATLAB's: u_2 */
    bool is_dropped;      /* an imaginary part that is nil */
    bool is_unread;       /* of the group that was asked for, but with trouble */
    size_t place, offset; /* where the reader finds it again */
} kb_array;

typedef struct kb_source kb_source;

typedef struct {
    const char *name;
    bool (*recognise)(const kb_file *file); /* NULL: whoever parsed the file says so */
    kbass_status (*list)(kb_source *source);
    kbass_status (*load)(kb_source *source, kb_array *array); /* NULL: listed arrays have their bytes */
    /* A box of an array that was not loaded, as doubles, with the dimensions in the array's order of strides; NULL:
       arrays are loaded whole. */
    kbass_status (*load_box)(kb_source *source, const kb_array *array, const size_t *first, const size_t *n,
                             double *to);
    void (*close)(kb_source *source); /* NULL: nothing to do */
} kb_format;

extern const kb_format kb_format_npy, kb_format_npz, kb_format_mat, kb_format_mat4, kb_format_hdf5, kb_format_netcdf,
    kb_format_octave, kb_format_json;

struct kb_source {
    const kb_reading *reading;
    const kb_format *format;
    size_t n_arrays, capacity;
    kb_array *arrays;
    void *state; /* the reader's */
};

kbass_status kb_source_open(const kb_reading *reading, kb_source *source);
void kb_source_close(kb_source *source);
kbass_status kb_source_load(kb_source *source, kb_array *array);

/* For readers. The new array has its name; fails when there are too many. */
kbass_status kb_source_add(kb_source *source, const char *name, size_t length, kb_array **array);
/* It belongs to no measurement: text, or the ends of an axis' cells. */
#define KB_TROUBLE_BOUNDS "bounds of the cells of an axis"
bool kb_array_is_aside(const kb_array *array);
/* Numbers in the array; false when they are more than memory can count. */
bool kb_array_count(const kb_array *array, size_t *n);
/* Strides of numbers `step` bytes apart, last dimension fastest or, in Fortran's order, first. */
void kb_array_stride(kb_array *array, size_t step, bool is_fortran);
/* "3 x 4", or "1 number". */
void kb_array_shape(const kb_array *array, char *text, size_t size);

/* Dates that were loaded become numbers: days since the first where they are an hour or more apart, else seconds. */
kbass_status kb_array_settle_dates(kb_array *array, kbass_error *error);

/* An NPY file within bytes: its arrays, several for a table of records. `size` bytes of `total` are there to see. */
kbass_status kb_npy_list(kb_source *source, const char *name, const unsigned char *bytes, size_t size, size_t total,
                         size_t place);

#endif
