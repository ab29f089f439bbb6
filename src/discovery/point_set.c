#include "discovery/point_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static kb_point point_of(const kb_point_set *set, size_t i, const double *times, const double *positions)
{
    kb_point p = {{times[i]}};
    for (size_t a = 1; a < set->n_axes; a++) p.at[a] = positions[i * (set->n_axes - 1) + a - 1];
    return p;
}

kbass_status kb_point_set_add(kb_point_set *set, size_t n, const double *times, const double *positions,
                              kbass_error *error)
{
    kb_point *all = KB_NEW(kb_point, set->n + n);
    if (!all) return kb_out_of_memory(error, "the solution");
    if (set->n) memcpy(all, set->points, set->n * sizeof *all);
    for (size_t i = 0; i < n; i++) all[set->n + i] = point_of(set, i, times, positions);
    kb_free(set->points);
    set->points = all;
    set->n += n;
    return KBASS_OK;
}

static int ascending(const void *a, const void *b)
{
    const kb_point *p = a, *q = b;
    for (size_t axis = 0; axis < KBASS_MAX_AXES; axis++)
        if (p->at[axis] != q->at[axis]) return p->at[axis] < q->at[axis] ? -1 : 1;
    return 0;
}

void kb_point_set_sort(kb_point_set *set)
{
    size_t kept = 0;
    if (set->n) qsort(set->points, set->n, sizeof *set->points, ascending);
    for (size_t i = 0; i < set->n; i++)
        if (!kept || ascending(&set->points[i], &set->points[kept - 1])) set->points[kept++] = set->points[i];
    set->n = kept;
}

void kb_point_set_list(const kb_point_set *set, double *times, double *positions)
{
    for (size_t i = 0; i < set->n; i++) {
        times[i] = set->points[i].at[0];
        for (size_t a = 1; a < set->n_axes; a++) positions[i * (set->n_axes - 1) + a - 1] = set->points[i].at[a];
    }
}

bool kb_point_set_find(const kb_point_set *set, size_t n, const double *times, const double *positions, double *mean,
                       double *sd)
{
    size_t states = set->n_states;
    if (!set->mean || (sd && !set->sd)) return false;
    for (size_t i = 0; i < n; i++) {
        const kb_point wanted = point_of(set, i, times, positions),
                       *found = bsearch(&wanted, set->points, set->n, sizeof wanted, ascending);
        if (!found) return false;
        size_t from = (size_t)(found - set->points) * states;
        memcpy(mean + i * states, set->mean + from, states * sizeof *mean);
        if (sd) memcpy(sd + i * states, set->sd + from, states * sizeof *sd);
    }
    return true;
}

void kb_point_set_clear(kb_point_set *set)
{
    kb_free(set->points);
    kb_free(set->mean);
    kb_free(set->sd);
    set->points = NULL;
    set->mean = set->sd = NULL;
    set->n = 0;
}
