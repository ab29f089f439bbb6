/* Files that take their place when they are whole. What is written goes into a nameless file in the same folder; at the
 * end it is synced, checked, given the old file's mode and owner, and renamed over it, so that a full disk, a signal or
 * a power cut leave the old file or the new one. Links are followed. Devices, pipes and open descriptors (/dev/stdout,
 * /dev/fd/3) are no files to replace: they are written as they are.
 */
#ifndef KB_REPLACE_H
#define KB_REPLACE_H

#include <stdio.h>

#include "kbass/kbass.h"

typedef struct {
    FILE *file; /* to write into */
    const char *path;
    char *target; /* the file to replace, links followed; NULL where `file` is the place itself */
    char *beside; /* the new file's name before it takes the old one's */
    int is_named; /* whether that name is on the disk */
} kb_replacement;

kbass_status kb_replace_begin(const char *path, kb_replacement *replacement, kbass_error *error);
/* Puts the new file in place if `status` is KBASS_OK and all was written, else removes it. */
kbass_status kb_replace_end(kb_replacement *replacement, kbass_status status, kbass_error *error);

#endif
