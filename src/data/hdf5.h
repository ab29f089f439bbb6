/* HDF5 files are read by a child process: the library for them was not made for hostile files, and what goes wrong
 * there must not go wrong here. hdf5.c is the parent, hdf5_child.c the child.
 *
 * The child sends one kb_hdf5_entry for each dataset and its name, then one with n_dims = KB_HDF5_END. After that it
 * answers requests, the number of an entry each, with all its numbers as doubles in C order. Where it cannot, it ends.
 */
#ifndef KB_HDF5_H
#define KB_HDF5_H

#include <stdint.h>

#include "data/source.h"

enum { KB_HDF5_END = 255, KB_HDF5_PIECE = 1 << 19 /* numbers sent at once */ };

typedef struct {
    uint64_t dims[KB_MOST_DIMS];
    uint64_t stored; /* bytes in the file */
    uint32_t n_dims;
    uint32_t name_length;
    uint32_t trouble;     /* index into kb_hdf5_troubles */
    uint32_t width;       /* bytes of a number in the file */
    uint32_t is_filtered; /* stored smaller than it is */
    uint32_t portion;     /* of complex numbers: a kb_portion */
} kb_hdf5_entry;

extern const char *const kb_hdf5_troubles[];
enum { KB_FINE, KB_NO_NUMBERS, KB_TEXT, KB_ELSEWHERE, KB_FILTER, KB_DEEP, KB_EMPTY, KB_OBJECT, KB_N_TROUBLES };

/* Never returns. A file that is not on disk is read from its bytes. */
_Noreturn void kb_hdf5_child(int channel, const kb_file *file);

#endif
