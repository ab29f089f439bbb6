/* A few of many columns by least squares: taken one by one, exchanged and left out while that pays.
 *
 * The score of k columns is n log(rss / n + floor) + 2.5 k log n, twice a log likelihood with a price for each.
 */
#ifndef KB_CONSTANTS_STEPWISE_H
#define KB_CONSTANTS_STEPWISE_H

#include <stdbool.h>
#include <stddef.h>

enum { KB_STEPWISE_MOST = 6 }; /* terms: of an equation at most */

typedef struct {
    size_t n_rows, n; /* columns */
    const double *G;  /* n x n: X'X */
    const double *c;  /* n: X'y */
    double yy, floor; /* y'y; variance that no column explains */
    const bool *may;  /* n: may be taken */
} kb_stepwise;

/* The least score that is found. */
double kb_stepwise_score(const kb_stepwise *problem);

#endif
