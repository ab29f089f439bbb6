/* Fits of a step of the search: in threads, shared out among ranks, and kept by the checkpoint. */
#ifndef KB_SEARCH_FITS_H
#define KB_SEARCH_FITS_H

#include <stdint.h>

#include "search/neighbours.h"

#define KB_NOT_KNOWN SIZE_MAX

typedef struct {
    kb_fit *fit;
    const kb_fit *parent; /* where a second try starts from, or NULL */
    size_t known;         /* place in the pool of an earlier fit that this one may replace, or KB_NOT_KNOWN */
} kb_fit_job;

kbass_status kb_search_fit_all(kb_search *search, size_t n_jobs, const kb_fit_job *jobs, int iterations,
                               kbass_error *error);
/* Do the ranks share the windows of the first worker's next fits and messages, about so many columns at most? Then all
   of them ask for the same, until they no longer do. */
bool kb_search_share_windows(const kb_search *search, size_t n_columns);
void kb_search_share_no_windows(const kb_search *search);

#endif
