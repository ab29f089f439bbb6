/* What the parts of kbass-hdf5 share. Sizes that a file declares are held against limits; whatever goes wrong ends the
 * process, which is why it is one of its own. */
#ifndef KB_HDF5_CHILD_H
#define KB_HDF5_CHILD_H

#define H5_USE_110_API /* the oldest interface that is met: Debian 12 has 1.10, Debian 13 has 1.14 */
#include <hdf5.h>

#include "data/hdf5.h"

typedef struct {
    int channel;
    hid_t file;
    bool is_matlab;
    size_t n, capacity;
    char **paths;   /* of the datasets sent */
    char **members; /* of compound ones, else NULL */
} kb_child;

/* To the library; without it the process ends. */
void kb_send_bytes(int channel, const void *bytes, size_t n);
bool kb_is_number(hid_t type);
/* Lists an object for the library (H5Ovisit2): every one once, however the links go round. */
herr_t kb_visit(hid_t root, const char *path, const H5O_info_t *info, void *user);
/* All numbers of a dataset that was listed. */
void kb_send_numbers(const kb_child *c, size_t index);
/* A box of a dataset, which stays open with its chunks until another one is asked for. */
void kb_send_box(const kb_child *c, const kb_hdf5_request *asked);

#endif
