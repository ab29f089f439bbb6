/* Last rows and predictions of fields over several axes (docs/schema.md), read as strictly as the rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "forecast/reader.h"

enum { MOST_NODES = 1000, MOST_NUMBERS = 1000000, MOST_RANK = 1000 };

static kbass_status read_counts(const kb_reader *r, json_t *list, const char *field, size_t n, size_t low, size_t *out)
{
    if (json_array_size(list) != n) return kb_read_wrong(r, field, "is missing or has not %zu items", n);
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_array_get(list, i);
        json_int_t found = json_integer_value(item);
        if (!json_is_integer(item) || found < (json_int_t)low || found > MOST_NODES)
            return kb_read_wrong(r, field, "has an item that is not a whole number from %zu to %d", low, MOST_NODES);
        out[i] = (size_t)found;
    }
    return KBASS_OK;
}

static kbass_status read_closed(const kb_reader *r, json_t *list, const char *field, size_t n, bool *out)
{
    if (json_array_size(list) != n) return kb_read_wrong(r, field, "is missing or has not %zu items", n);
    for (size_t i = 0; i < n; i++) {
        if (!json_is_boolean(json_array_get(list, i)))
            return kb_read_wrong(r, field, "is not true or false everywhere");
        out[i] = json_is_true(json_array_get(list, i));
    }
    return KBASS_OK;
}

static kbass_status check_box(const kb_reader *r, const char *where)
{
    kbass_posterior *p = r->posterior;
    kb_last_row *row = &p->row;
    size_t nodes = 1, size = 1;
    for (size_t d = 0; d + 1 < p->n_axes; d++) {
        if (!(row->low[d] < row->high[d])) return kb_read_wrong(r, where, "has an axis that does not ascend");
        if (row->is_closed[d] && row->n_nodes[d] != row->n_nodes[0] && row->is_closed[0])
            return kb_read_wrong(r, where, "has closed axes with different numbers of nodes");
        nodes *= row->n_nodes[d];
    }
    row->n_last = nodes * p->n_states * (row->has_rates ? 2 : 1);
    for (size_t a = 0; a < p->n_axes; a++) size *= row->n_mesh[a];
    row->n_points = size;
    if (row->n_last > MOST_NUMBERS || size * p->n_states > MOST_NUMBERS)
        return kb_read_wrong(r, where, "has %zu numbers in a row and %zu points, needed %d at most", row->n_last, size,
                             MOST_NUMBERS);
    return KBASS_OK;
}

kbass_status kb_read_row_grid(const kb_reader *r, json_t *grid, const char *where)
{
    char field[KB_FIELD_SIZE];
    kbass_posterior *p = r->posterior;
    kb_last_row *row = &p->row;
    size_t space = p->n_axes - 1, order = 0;
    json_t *rates = json_object_get(grid, "rates");
    kbass_status status = kb_read_count_at(r, grid, where, "time_order", 1, 2, &order);
    row->time_order = (int)order;
    snprintf(field, sizeof field, "%.120s.nodes", where);
    if (status == KBASS_OK) status = read_counts(r, json_object_get(grid, "nodes"), field, space, 4, row->n_nodes);
    snprintf(field, sizeof field, "%.120s.mesh", where);
    if (status == KBASS_OK) status = read_counts(r, json_object_get(grid, "mesh"), field, p->n_axes, 2, row->n_mesh);
    snprintf(field, sizeof field, "%.120s.closed", where);
    if (status == KBASS_OK) status = read_closed(r, json_object_get(grid, "closed"), field, space, row->is_closed);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "low", space, -INFINITY, row->low);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, grid, where, "high", space, -INFINITY, row->high);
    snprintf(field, sizeof field, "%.120s.rates", where);
    if (status == KBASS_OK && !json_is_boolean(rates)) status = kb_read_wrong(r, field, "is not true or false");
    row->has_rates = json_is_true(rates);
    if (status == KBASS_OK && order > 1 && !row->has_rates)
        status = kb_read_wrong(r, field, "is false, and the equations are of second order in time");
    return status == KBASS_OK ? check_box(r, where) : status;
}

kbass_status kb_read_row(const kb_reader *r, json_t *model, const char *where, kb_belief *b)
{
    char field[KB_FIELD_SIZE], row[KB_FIELD_SIZE];
    const kbass_posterior *p = r->posterior;
    json_t *factor = json_object_get(model, "factor");
    size_t n = p->row.n_points * p->n_states, rows = b->n_terms + p->row.n_last;
    size_t rank = json_array_size(json_array_get(factor, 0));
    snprintf(field, sizeof field, "%.120s.factor", where);
    if (json_array_size(factor) != rows || rank > MOST_RANK)
        return kb_read_wrong(r, field, "has not %zu rows of %d numbers at most", rows, MOST_RANK);
    kbass_status status = kb_belief_allocate_row(p, rank, b, r->error);
    for (size_t i = 0; status == KBASS_OK && i < rows; i++) {
        snprintf(row, sizeof row, "%.130s[%zu]", field, i);
        status = kb_read_numbers(r, json_array_get(factor, i), row, rank, -INFINITY, b->factor + i * rank);
    }
    if (status == KBASS_OK) status = kb_read_numbers_at(r, model, where, "last", p->row.n_last, -INFINITY, b->last);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, model, where, "predicted", n, -INFINITY, b->predicted);
    if (status == KBASS_OK) status = kb_read_numbers_at(r, model, where, "variance", n, 0, b->predicted + n);
    if (status == KBASS_OK)
        status = kb_read_numbers_at(r, model, where, "variance_given_weights", n, 0, b->predicted + 2 * n);
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        if (!(b->predicted[n + i] >= b->predicted[2 * n + i] * (1 - 1e-9)))
            status = kb_read_wrong(r, where, "has a variance below that of known weights");
    return status;
}
