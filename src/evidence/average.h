/* Averages over models: every model compared has a share of the posterior, pi_m. Compared are the models
 * fitted and, for columns in none of their neighbours, the chosen model with the column added as its own message judges
 * it (docs/math.md, eqs 24, 36 and 37).
 */
#ifndef KB_EVIDENCE_AVERAGE_H
#define KB_EVIDENCE_AVERAGE_H

#include "evidence/pool.h"

/* The chosen model with one column added, by its own message: what a candidate left out would weigh. */
typedef struct {
    double gain;           /* of log evidence over the chosen model; -INFINITY when the pool has this model, fitted */
    double mean, variance; /* of the weight, scaled; NaN when unknown */
    size_t with;           /* the column that constraints tie to it, which comes in too; else KB_NO_COLUMN */
    const double *shift;   /* what a weight of 1 of it takes from each weight of the chosen model; NULL: not known */
} kb_neighbour;

/* Columns that are one on this record: which stands for each, itself mostly, and what a weight of 1 of it is of that
   one's, scaled. */
typedef struct {
    size_t *column;
    double *ratio;
} kb_same;

/* A weight as some models have it, and their share. */
typedef struct {
    double share, mean, square; /* square: of the scale */
} kb_component;

typedef struct {
    const kb_columns *columns;
    const kb_pool *pool;            /* sorted, best first */
    const kb_neighbour *neighbours; /* per column, or NULL: none are compared */
    size_t n;                       /* models */
    size_t equations;
    double unseen;            /* share of laws that nobody compared */
    double *share;            /* n: of each model; the first is the chosen model's */
    double *marginal;         /* n x equations: of a model's right-hand side, marginal[equation + model *
                                 equations]; an equation's sum to 1, or less by the share of what was not compared */
    size_t *fit;              /* n: place in the pool, */
    size_t *added;            /* n: and the column added to it, or KB_NO_COLUMN */
    bool *has;                /* n x columns: has[column + model * columns] */
    const double *freedom;    /* per state: degrees of freedom behind the noise, so that a weight of its equation
                                 has Student's distribution; NULL or not finite: the noise is known */
    const kb_same *same;      /* NULL: every column stands for itself */
    kb_component *components; /* workspace for one column: n, */
    size_t *place;            /* and where those of each fit of the pool are */
} kb_average;

kbass_status kb_average_create(const kb_columns *columns, const kb_pool *pool, const kb_neighbour *neighbours,
                               const double *freedom, const kb_same *same, kb_average **out, kbass_error *error);
void kb_average_destroy(kb_average *average);

/* Does a model have a column, and what is the share of its right-hand side of that column's equation? */
bool kb_average_has(const kb_average *average, size_t model, size_t column);
double kb_average_share(const kb_average *average, size_t model, size_t column);

/* P(column is in). */
double kb_average_inclusion(const kb_average *average, size_t column);
/* Mean and variance of a weight over models, scaled: 0 where the column is not in. */
void kb_average_weight(const kb_average *average, size_t column, double *mean, double *variance);

/* A weight given that its column is in: the mixture over the models that have it, its sd and 95 % quantiles, scaled.
   NaN where none has it. */
void kb_average_interval(const kb_average *average, size_t column, double *sd, double *low, double *high);

#endif
