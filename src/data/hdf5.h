/* HDF5 files are read by a program of their own, kbass-hdf5: the library for them was not made for hostile files, and
 * what goes wrong there must not go wrong here. Its source is in helper/; hdf5_start.c finds and starts it, hdf5.c
 * talks to it.
 *
 * It is told a path, or - for a file of memory, and whether MATLAB wrote the file, says KB_HDF5_GREETING, then sends
 * one kb_hdf5_entry for each dataset and its name, then one with n_dims = KB_HDF5_END. After that it answers requests,
 * with all numbers of an entry or a box of them, as doubles in C order. Where it cannot, it ends.
 */
#ifndef KB_HDF5_H
#define KB_HDF5_H

#include <stdint.h>
#include <sys/types.h>

#include "data/source.h"

/* Changes with what is said. */
static const uint64_t KB_HDF5_GREETING = 0x6b62686466000005;

enum {
    KB_HDF5_END = 255,
    KB_HDF5_IMAGE = 3 /* the descriptor of a file that has no path */,
    KB_HDF5_PIECE = 1 << 19 /* numbers sent at once */
};

typedef struct {
    uint64_t dims[KB_MOST_DIMS];
    uint64_t stored; /* bytes in the file */
    uint32_t n_dims;
    uint32_t name_length;
    uint32_t trouble;     /* index into kb_hdf5_troubles */
    uint32_t width;       /* bytes of a number in the file */
    uint32_t is_filtered; /* stored smaller than it is */
    uint32_t portion;     /* of complex numbers: a kb_portion */
    uint32_t is_of_cell;  /* one of several in a cell of MATLAB's */
    uint32_t unused;
} kb_hdf5_entry;

/* The number of an entry, and unless all of it is wanted a box in the dimensions of the file. */
typedef struct {
    uint64_t index, is_box;
    uint64_t start[KB_MOST_DIMS], count[KB_MOST_DIMS];
} kb_hdf5_request;

extern const char *const kb_hdf5_troubles[];
enum {
    KB_FINE,
    KB_NO_NUMBERS,
    KB_TEXT,
    KB_ELSEWHERE,
    KB_FILTER,
    KB_DEEP,
    KB_EMPTY,
    KB_OBJECT,
    KB_RANGE,
    KB_BOUNDS,
    KB_N_TROUBLES
};

typedef struct {
    pid_t pid;
    int channel;
} kb_hdf5_helper;

typedef enum { KB_HDF5_ANSWERED, KB_HDF5_SILENT, KB_HDF5_GONE } kb_hdf5_answer;

kbass_status kb_hdf5_start(const kb_file *file, bool is_matlab, kb_hdf5_helper *helper, kbass_error *error);
kb_hdf5_answer kb_hdf5_receive(const kb_hdf5_helper *helper, void *to, size_t n);
void kb_hdf5_stop(kb_hdf5_helper *helper); /* also one that never started */

#endif
