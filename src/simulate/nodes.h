/* Nodes along one axis: even ones for a periodic axis, Chebyshev's otherwise. */
#ifndef KB_NODES_H
#define KB_NODES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t n;
    bool is_periodic;
    double low, high;
    double *at;            /* n, ascending; a periodic axis leaves `high` out */
    double *sine, *cosine; /* of pi (at - low) / (high - low), for periodic axes */
} kb_nodes;

bool kb_nodes_create(kb_nodes *nodes, size_t n, bool is_periodic, double low, double high);
void kb_nodes_clear(kb_nodes *nodes);
/* f(x) = sum_j weight[j] f(at[j]) for the interpolant through all nodes. */
void kb_nodes_weights(const kb_nodes *nodes, double x, double *weight);
/* The n x n matrix of the interpolant's first derivative at the nodes, column-major; n is odd for a periodic axis. */
void kb_nodes_derivative(const kb_nodes *nodes, double *matrix);

#endif
