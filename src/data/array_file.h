/* Files of named arrays that are written in pieces, in any order: NPY, NPZ (stored, not compressed), HDF5. Where each
 * array's numbers lie is known before the first of them is there.
 */
#ifndef KB_ARRAY_FILE_H
#define KB_ARRAY_FILE_H

#include <stdint.h>

#include "base/replace.h"
#include "data/source.h"

typedef enum { KB_TABLE_FILE, KB_NPY_FILE, KB_NPZ_FILE, KB_HDF5_FILE } kb_file_kind;

/* By the name's ending: .npy, .npz, .h5 or .hdf5; anything else is text. */
kb_file_kind kb_file_kind_of(const char *path);

typedef struct {
    const char *name;
    size_t n_dims, dims[KB_MOST_DIMS]; /* last fastest */
    uint64_t offset, header;           /* of the numbers; of what stands before them (NPZ) */
} kb_stored_array;

typedef struct {
    kb_file_kind kind;
    kb_replacement part;
    int descriptor;
    size_t n;
    kb_stored_array *arrays;
    uint64_t size;
} kb_array_file;

/* Numbers in it. */
uint64_t kb_stored_count(const kb_stored_array *array);

/* Names are borrowed. An NPY holds one array. */
kbass_status kb_array_file_create(const char *path, size_t n, const kb_stored_array *arrays, kb_array_file *file,
                                  kbass_error *error);
/* n numbers of an array, from the first-th on; and back again. */
kbass_status kb_array_file_put(const kb_array_file *file, size_t array, size_t first, size_t n, const double *values,
                               kbass_error *error);
kbass_status kb_array_file_get(const kb_array_file *file, size_t array, size_t first, size_t n, double *values,
                               kbass_error *error);
/* Puts the file in place if `status` is KBASS_OK, else removes it. */
kbass_status kb_array_file_end(kb_array_file *file, kbass_status status, kbass_error *error);

/* The helper program lays out an HDF5 file in an open descriptor: contiguous arrays of doubles at these offsets. */
kbass_status kb_hdf5_lay_out(int descriptor, const char *path, size_t n, kb_stored_array *arrays, kbass_error *error);

#endif
