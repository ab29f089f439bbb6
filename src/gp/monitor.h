/* Where a mesh should be dense: nodes that share out a monitor function M evenly (docs/math.md, eq. 53).
 *
 *     M(s) = 1/L + b(s) / int b,    b(s) = mean over lines of |d2q/ds2|^{1/2},      int_{s_i}^{s_i+1} M ds = const
 *
 * The root makes the error of interpolation the same between all nodes. One half of M is spread evenly, the other goes
 * where the field bends; the distance from node to node changes slowly.
 */
#ifndef KB_MONITOR_H
#define KB_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#define KB_MONITOR_GROWTH 0.2 /* of the distance between nodes, from one to the next, at most */

/* Even points of an axis from 0 to `end`; of a periodic axis `end` is the period, and its own point is left out. */
typedef struct {
    size_t n;
    double end;
    bool is_periodic;
} kb_even_axis;

/* M on the even points (n at least 3) from scaled fields there: v[a,j,c], a < left, j < n, c < right, as in
   tensor/mode.h. What is not finite counts for nothing. */
void kb_monitor_measure(const kb_even_axis *axis, size_t left, size_t right, const double *v, double *M);
/* Raises M until n_nodes nodes keep to KB_MONITOR_GROWTH. */
void kb_monitor_limit(const kb_even_axis *axis, size_t n_nodes, double *M);
/* The nodes: ascending, the first 0; the last `end`, or of a periodic axis one node before it. */
void kb_monitor_spread(const kb_even_axis *axis, const double *M, size_t n_nodes, double *nodes);

#endif
