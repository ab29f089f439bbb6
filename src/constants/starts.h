/* What the constants of a search turn out to be, and how it goes about it:
 *
 *     scan the ranges by regression; search with the best constants; profile them in the structure found;
 *     search again at what they are, the odds of their terms lowered by what not knowing them costs; profile once more
 */
#ifndef KB_CONSTANTS_STARTS_H
#define KB_CONSTANTS_STARTS_H

#include "constants/profile.h"
#include "search/result.h"

/* The problem behind a search, of any kind of data. */
typedef struct {
    void *context;
    kb_dictionary *dictionary;
    kb_search_result *found;
    kb_run *run;
    bool starts_are_blind; /* they come from no look at the data: one that leads to the inside of the ranges will do */
    /* Starting values and first steps, as kb_constants_scan. */
    kbass_status (*scan)(void *context, size_t n_wanted, double *values, double *steps, size_t *n, kbass_error *error);
    /* Everything anew at the dictionary's constants, prior log-odds of terms with constants changed by `shift`. */
    kbass_status (*search)(void *context, double shift, kbass_error *error);
    kb_shooter_maker make;
    const kb_columns *(*columns)(const void *context);
} kb_constants_task;

/* estimates: n_constants; *correlation: n_constants x support of the chosen model, or NULL, and *spread: owned by the
   caller. */
kbass_status kb_constants_search(const kb_constants_task *task, kb_constant_estimate *estimates, double **correlation,
                                 kb_constants_spread *spread, kbass_error *error);

#endif
