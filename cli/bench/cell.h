/* A cell of the paper's tables: its name, and what the rows of a document say about it. */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

#include <jansson.h>

#include "cases.h"

enum { BENCH_CELL_SIZE = 48, BENCH_MOST_CELLS = 64 };

/* Medians over the seeds; NaN where there is nothing to tell. */
typedef struct {
    const bench_case *of;
    const bench_level *level;
    char name[BENCH_CELL_SIZE]; /* "vdp-10-20" */
    size_t n_seeds, n_exact, n_failed;
    const char *failure; /* of the last row that failed, or NULL */
    double rmse, recall, precision, seconds, cpu;
    double probability; /* of the chosen model among those compared */
    double oracle, oracle_seconds;
    double error[BENCH_MOST_TERMS], oracle_error[BENCH_MOST_TERMS]; /* absolute value of each term's relative error */
    double sigmas[BENCH_MOST_TERMS];                                /* detectability; infinite: no fit without it */
    double linear_sigmas[BENCH_MOST_TERMS];                         /* the same linearised */
    size_t weakest;                                                 /* term */
    double seconds_per_iteration;                                   /* of the published loop */
} bench_cell;

size_t bench_cell_count(void); /* of the paper's tables */
void bench_cell_name(const bench_case *c, size_t level, char name[BENCH_CELL_SIZE]);
/* Methods of kbass_settings, ours first, NULL at the end; and how rows of a cell by one of them are called. */
enum { BENCH_METHODS = 3 };
extern const char *const bench_methods[];
void bench_row_name(const char *cell, const char *method, char name[BENCH_CELL_SIZE]);
bool bench_is_method(const char *asked, const char *method); /* asked NULL: ours alone */
int bench_check_methods(const char *asked);                  /* an exit code */
/* Are all of these names of cells, or how they begin? Returns an exit code. */
int bench_check_cells(const char *cases);
/* The next row of a cell's seeds from *at on, or NULL; *at moves behind it. */
const json_t *bench_next_row(const json_t *rows, const char *cell, size_t *at);
/* False when the document has no row of it. */
bool bench_cell_read(const json_t *document, const bench_case *c, size_t level, bench_cell *cell);
bool bench_cell_read_method(const json_t *document, const bench_case *c, size_t level, const char *method,
                            bench_cell *cell);

/* The bar: where the weakest true term moves the samples by 6 standard deviations or more, exact support for 90 % of
   the seeds, and a median error of at most 1.25 times the oracle's (plus 1e-4, the accuracy of clean samples). */
typedef enum { BENCH_MET, BENCH_TOO_WEAK, BENCH_WRONG_TERMS, BENCH_TOO_FAR, BENCH_UNKNOWN } bench_verdict;

bench_verdict bench_cell_verdict(const bench_cell *cell);
const char *bench_verdict_name(bench_verdict verdict);

#endif
