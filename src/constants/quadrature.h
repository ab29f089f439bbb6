/* A density over the share of a constant's range, linear between nodes. */
#ifndef KB_CONSTANTS_QUADRATURE_H
#define KB_CONSTANTS_QUADRATURE_H

#include <stddef.h>

enum { KB_NODES_OF_SIDE = 14 };                    /* points: on each side of the best */
enum { KB_MOST_NODES = 2 * KB_NODES_OF_SIDE + 1 }; /* room: both sides */

typedef struct {
    size_t n;
    double share[KB_MOST_NODES], density[KB_MOST_NODES]; /* ascending shares */
} kb_nodes;

double kb_nodes_mass(const kb_nodes *nodes);
double kb_nodes_quantile(const kb_nodes *nodes, double level);

#endif
