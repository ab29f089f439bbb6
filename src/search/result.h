/* What a search found: the pool of fitted models and how it was reached. */
#ifndef KB_SEARCH_RESULT_H
#define KB_SEARCH_RESULT_H

#include "evidence/average.h"
#include "evidence/substitutes.h"
#include "posterior/engine.h"
#include "posterior/residual_tests.h"

typedef struct {
    kb_pool pool;        /* sorted, best first */
    kb_windows *windows; /* of the final fits */
    kb_engine engine;    /* that answered: what solution and posterior need of it */
    size_t part;         /* values on which structures were compared, where that was not all; else 0 */
    size_t n_starts, n_lost;
    size_t n_models;
    bool settled;
    bool follows_longer;   /* its best model follows the data on windows twice as long, too */
    double *noise_unit;    /* per state: what a noise variance of 1 is, kb_comparison_unit; NULL: its sd squared */
    double *noise_freedom; /* likewise: degrees of freedom behind it */
    double noise_floor;    /* of the final fits, scaled */
    bool noise_is_relative;
    kb_neighbour *neighbours;   /* per column; NULL when the run was stopped before */
    double *shifts;             /* of those that count, one after the other; NULL: not known */
    kb_substitute *substitutes; /* terms of the chosen model that could be others */
    size_t n_substitutes;
    kb_substitute *twins; /* columns of its rivals that one other could stand for, likewise */
    size_t n_twins;
    kb_residual_tests residual_tests; /* of the chosen model's residuals */
    kb_pool explained;                /* the chosen model without a column, or with it, as --explain asks; */
    size_t *explained_column;         /* that column */
    double seconds[KBASS_STAGE_COUNT];
} kb_search_result;

bool kb_has_model(const kb_search_result *result);
void kb_search_result_clear(kb_search_result *result);
/* Fills neighbours from the message about all columns at the chosen model. work: kb_message_work(n) */
kbass_status kb_search_result_measure(kb_search_result *result, const kb_message *message, const kb_columns *columns,
                                      double *work, kbass_error *error);

#endif
