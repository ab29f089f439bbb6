#include "data/tiles.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/grid.h"

/* ---------------------------------------------------------------- life */

kbass_status kb_tiles_create(size_t n_axes, const size_t *n, size_t n_fields, kb_tiled **out, kbass_error *error)
{
    kb_tiled *t = *out = KB_NEW(kb_tiled, 1);
    bool done = t != NULL;
    if (!t) return kb_out_of_memory(error, "the grid");
    *t = (kb_tiled){.n_axes = n_axes, .n_fields = n_fields, .n_points = 1, .n_users = 1};
    for (size_t a = 0; a < n_axes; a++) {
        t->n[a] = n[a];
        t->n_points *= n[a];
        t->at[a] = KB_NEW(double, n[a]);
        done = done && t->at[a];
    }
    if (done) return KBASS_OK;
    kb_tiles_release(t);
    *out = NULL;
    return kb_out_of_memory(error, "the grid");
}

kb_tiled *kb_tiles_hold(kb_tiled *tiles)
{
    if (tiles) tiles->n_users++;
    return tiles;
}

void kb_tiles_release(kb_tiled *t)
{
    if (!t || --t->n_users > 0) return;
    if (t->close) t->close(t);
    for (size_t a = 0; a < t->n_axes; a++) kb_free(t->at[a]);
    kb_free(t);
}

/* ---------------------------------------------------------------- every so many */

/* The points of a box, whose axis `slow` has one, that are taken: of each field into its place. */
static void pick(const kb_tiled *t, const double *box, const size_t *size, const size_t *count, const size_t *stride,
                 size_t slow, size_t at, double *value)
{
    size_t n = 1, points = 1, whole = 1;
    for (size_t a = 0; a < t->n_axes; a++) {
        n *= a == slow ? 1 : count[a];
        points *= size[a];
        whole *= count[a];
    }
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, from = 0, to = 0, from_step = 1, to_step = 1;
        for (size_t a = t->n_axes; a-- > 0;) {
            size_t index = a == slow ? 0 : rest % count[a];
            from += index * stride[a] * from_step;
            to += (a == slow ? at : index) * to_step;
            if (a != slow) rest /= count[a];
            from_step *= size[a];
            to_step *= count[a];
        }
        for (size_t f = 0; f < t->n_fields; f++) value[f * whole + to] = box[f * points + from];
    }
}

kbass_status kb_tiles_thin(kb_tiled *t, const size_t *first, const size_t *count, const size_t *stride, double *value,
                           kbass_error *error)
{
    size_t from[KBASS_MAX_AXES], size[KBASS_MAX_AXES], points = t->n_fields, slow = t->slowest;
    for (size_t a = 0; a < t->n_axes; a++) {
        from[a] = first[a];
        size[a] = a == slow ? 1 : (count[a] - 1) * stride[a] + 1;
        points *= size[a];
    }
    double *box = KB_NEW(double, points);
    kbass_status status = box ? KBASS_OK : kb_out_of_memory(error, "a part of the grid");
    for (size_t i = 0; status == KBASS_OK && i < count[slow]; i++) {
        from[slow] = first[slow] + i * stride[slow];
        status = t->read(t, from, size, box, error);
        if (status == KBASS_OK) pick(t, box, size, count, stride, slow, i, value);
    }
    kb_free(box);
    return status;
}

/* ---------------------------------------------------------------- tables */

/* The rows' values, row-major, as the table had them. */
static kbass_status read_table(kb_tiled *t, const size_t *first, const size_t *n, double *value, kbass_error *error)
{
    const double *values = t->state;
    size_t points = 1, last = t->n_axes - 1;
    (void)error;
    for (size_t a = 0; a < t->n_axes; a++) points *= n[a];
    for (size_t line = 0; line < points / n[last]; line++) {
        size_t rest = line, row = first[last], step = t->n[last];
        for (size_t a = last; a-- > 0; rest /= n[a]) {
            row += (first[a] + rest % n[a]) * step;
            step *= t->n[a];
        }
        for (size_t f = 0; f < t->n_fields; f++)
            for (size_t i = 0; i < n[last]; i++)
                value[f * points + line * n[last] + i] = values[(row + i) * t->n_fields + f];
    }
    return KBASS_OK;
}

static void close_table(kb_tiled *t) { kb_free(t->state); }

kbass_status kb_tiles_of_table(kbass_data *data, size_t most, kbass_error *error)
{
    kb_grid grid;
    bool is_plain = data->n_axes > 1 && data->n_runs <= 1 && !data->sigma && !data->n_hidden;
    if (!is_plain || data->tiles || data->n_rows * data->n_states <= most) return KBASS_OK;
    kbass_status status = kb_grid_create(data, &grid, error);
    bool is_full = status == KBASS_OK && grid.is_grid && grid.n_cells == data->n_rows && grid.n_taken == data->n_rows;
    if (is_full) status = kb_tiles_create(data->n_axes, grid.n, data->n_states, &data->tiles, error);
    if (is_full && status == KBASS_OK) {
        for (size_t a = 0; a < data->n_axes; a++) memcpy(data->tiles->at[a], grid.at[a], grid.n[a] * sizeof(double));
        data->tiles->read = read_table;
        data->tiles->close = close_table;
        data->tiles->state = data->values;
        data->values = NULL;
    }
    kb_grid_clear(&grid);
    return status;
}
