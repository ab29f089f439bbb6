/* A discovery problem: everything that is fixed before the search and shared, read-only, by its threads. */
#ifndef KB_PROBLEM_H
#define KB_PROBLEM_H

#include "base/run.h"
#include "solve/field.h"

enum { KB_MAX_LEVELS = 40 };

typedef struct {
    const kbass_settings *settings;
    const kb_dictionary *dictionary;
    kb_record *record;
    kb_columns *columns;
    kb_support all;          /* every column */
    size_t n_mesh;
    size_t n_levels;
    kb_level *levels[KB_MAX_LEVELS]; /* length scales, descending */
    size_t max_rank;
    size_t best_level;       /* of the field's own marginal likelihood */
    double best_variance;
    double *reference;       /* n_mesh x n_variables: the field without any equation, in the data's units */
    double *follow;          /* n_mesh x n_states: the same in scaled units, for states that are only followed */
    double *reference_slope; /* n_mesh x n_states: its dq/ds */
    double *slope_squares;   /* n_states */
    int threads;
} kb_problem;

/* Scales the data, finds length scale and noise of the bare field, scales the dictionary on it. */
kbass_status kb_problem_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                               kb_problem **out, kbass_error *error);
void kb_problem_destroy(kb_problem *problem);
/* The level whose length is nearest to the one asked for. */
size_t kb_problem_level(const kb_problem *problem, double length);

#endif
