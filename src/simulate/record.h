/* Long records of a PDE, in pieces. */
#ifndef KB_SIMULATE_RECORD_H
#define KB_SIMULATE_RECORD_H

#include "simulate/pde.h"

/* n rows from the first-th on: n x points of space x fields, the last fastest. */
typedef kbass_status (*kb_rows_taker)(void *user, size_t first, size_t n, const double *values, kbass_error *error);

kbass_status kb_pde_record(const kb_pde *pde, const size_t *counts, kb_rows_taker take, void *user, kbass_error *error);

#endif
