/* Terms of which some are in, whichever: what an average over models says of columns together. */
#ifndef KB_EVIDENCE_GROUPS_H
#define KB_EVIDENCE_GROUPS_H

#include "evidence/average.h"

/* Columns of one equation that the data cannot tell apart: `n_present` of them are in, whichever;
   0: one or more. */
typedef struct {
    size_t n, *column;
    size_t n_present;
    double probability; /* that exactly so many are in */
} kb_group;

/* Groups without common columns; the caller frees them with kb_groups_free. */
kbass_status kb_average_groups(const kb_average *average, kb_group **groups, size_t *n, kbass_error *error);
void kb_groups_free(kb_group *groups, size_t n);

#endif
