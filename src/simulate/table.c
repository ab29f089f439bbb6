/* Fields at nodes, and the polynomials through them: trigonometric along closed axes, Chebyshev's along open ones. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "simulate/pde.h"

void kb_pde_table_destroy(kb_pde_table *t)
{
    if (!t) return;
    for (size_t d = 0; d < KB_MOST_SPACE; d++) kb_nodes_clear(&t->axes[d]);
    kb_free(t->times);
    kb_free(t->values);
    kb_free(t->rates);
    kb_free(t);
}

kbass_status kb_pde_table_create(const kb_pde_box *box, const size_t *counts, size_t n_fields, size_t n_slices,
                                 bool has_rates, kb_pde_table **out, kbass_error *error)
{
    kb_pde_table *t = KB_NEW(kb_pde_table, 1);
    if (!t) return kb_out_of_memory(error, "the fields at nodes");
    *t = (kb_pde_table){.n_space = box->n_axes - 1, .n_fields = n_fields, .n = 1, .n_slices = n_slices};
    bool complete = true;
    for (size_t d = 0; d < t->n_space; d++) {
        t->n *= counts[d];
        complete = kb_nodes_create(&t->axes[d], counts[d], box->boundary[d] == KB_PERIODIC, box->low[d + 1],
                                   box->high[d + 1]) &&
                   complete;
    }
    t->times = KB_NEW(double, n_slices);
    t->values = KB_NEW(double, n_slices *n_fields * t->n);
    t->rates = has_rates ? KB_NEW(double, n_fields * t->n) : NULL;
    if (complete && t->times && t->values && (t->rates || !has_rates)) {
        *out = t;
        return KBASS_OK;
    }
    kb_pde_table_destroy(t);
    return kb_out_of_memory(error, "the fields at nodes");
}

void kb_pde_table_node(const kb_pde_table *t, size_t node, double *place)
{
    for (size_t d = 0; d < t->n_space; d++) {
        place[d] = t->axes[d].at[node % t->axes[d].n];
        node /= t->axes[d].n;
    }
}

/* sum over nodes of the value times the product of the axes' weights; `room` has as many numbers as nodes. */
static double contract(const kb_pde_table *t, const double *values, double *const *weights, double *room)
{
    size_t n = t->n;
    const double *from = values;
    for (size_t d = 0; d < t->n_space; d++) {
        size_t along = t->axes[d].n;
        n /= along;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < along; k++) sum += weights[d][k] * from[i * along + k];
            room[i] = sum;
        }
        from = room;
    }
    return from[0];
}

kbass_status kb_pde_table_slice(const kb_pde_table *t, size_t slice, size_t state, size_t n_points,
                                const double *const *places, double *value, kbass_error *error)
{
    const double *values = t->values + (slice * t->n_fields + state) * t->n;
    double *weights[KB_MOST_SPACE] = {0}, *room = KB_NEW(double, t->n);
    bool complete = room != NULL;
    if (state >= t->n_fields && !t->rates) {
        memset(value, 0, n_points * sizeof *value);
        kb_free(room);
        return KBASS_OK;
    }
    if (state >= t->n_fields) values = t->rates + (state - t->n_fields) * t->n;
    for (size_t d = 0; d < t->n_space; d++) complete = (weights[d] = KB_NEW(double, t->axes[d].n)) && complete;
    for (size_t p = 0; complete && p < n_points; p++) {
        for (size_t d = 0; d < t->n_space; d++)
            if (p == 0 || places[d][p] != places[d][p - 1]) kb_nodes_weights(&t->axes[d], places[d][p], weights[d]);
        value[p] = contract(t, values, weights, room);
    }
    for (size_t d = 0; d < t->n_space; d++) kb_free(weights[d]);
    kb_free(room);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the fields at nodes");
}

size_t kb_pde_table_at(const kb_pde_table *t, double time, size_t *first, double weights[KB_TABLE_SLICES])
{
    size_t n = t->n_slices < KB_TABLE_SLICES ? t->n_slices : KB_TABLE_SLICES, at = 0;
    while (at + 1 < t->n_slices && t->times[at + 1] < time) at++;
    if (at + 1 == t->n_slices && n > 2) n = 2; /* beyond the last: a straight line */
    *first = at < n / 2 - (n > 1) ? 0 : at - (n / 2 - (n > 1));
    if (*first + n > t->n_slices) *first = t->n_slices - n;
    for (size_t i = 0; i < n; i++) {
        weights[i] = 1;
        for (size_t j = 0; j < n; j++)
            if (j != i) weights[i] *= (time - t->times[*first + j]) / (t->times[*first + i] - t->times[*first + j]);
    }
    return n;
}
