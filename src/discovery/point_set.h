/* Points of a run with the solution there: gathered, solved together, looked up. */
#ifndef KB_DISCOVERY_POINT_SET_H
#define KB_DISCOVERY_POINT_SET_H

#include <stdbool.h>

#include "kbass/kbass.h"

typedef struct {
    double at[KBASS_MAX_AXES]; /* 0 along axes that there are not */
} kb_point;

typedef struct {
    size_t n, n_axes, n_states;
    kb_point *points;  /* ascending, time first, each once, after kb_point_set_sort */
    double *mean, *sd; /* n x n_states; NULL before they are solved, sd also where it was not asked for */
} kb_point_set;

/* More points; positions n x (n_axes - 1), NULL without space. */
kbass_status kb_point_set_add(kb_point_set *set, size_t n, const double *times, const double *positions,
                              kbass_error *error);
void kb_point_set_sort(kb_point_set *set);
/* Its coordinates as kbass_discovery_solution takes them. */
void kb_point_set_list(const kb_point_set *set, double *times, double *positions);
/* The solution at points that are all in the set; false: one is not, or there is no sd and it is asked for. */
bool kb_point_set_find(const kb_point_set *set, size_t n, const double *times, const double *positions, double *mean,
                       double *sd);
void kb_point_set_clear(kb_point_set *set);

#endif
