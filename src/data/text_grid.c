#include "data/text_grid.h"

#include "base/memory.h"

static bool append(kb_text_grid *g, size_t axis, double at)
{
    enum { FIRST = 1024 };
    if (g->n[axis] == g->room[axis]) {
        size_t room = 2 * g->room[axis] + FIRST;
        double *grown = kb_resize(g->at[axis], room, sizeof *grown);
        if (!grown) return false;
        g->at[axis] = grown;
        g->room[axis] = room;
    }
    g->now[axis] = g->n[axis];
    g->at[axis][g->n[axis]++] = at;
    return true;
}

static bool take_first(kb_text_grid *g, const double *at)
{
    bool all = true;
    for (size_t a = 0; a < g->n_axes; a++) all = all && append(g, a, at[a]);
    return all;
}

/* One step of the k-th axis in the file's order; *has_wrapped: it begins anew, and the next one moves. */
static bool step(kb_text_grid *g, size_t k, double to, bool *has_wrapped)
{
    size_t a = g->order[k];
    bool is_at_end = g->now[a] + 1 == g->n[a];
    *has_wrapped = is_at_end && to == g->at[a][0];
    if (*has_wrapped) g->now[a] = 0;
    else if (is_at_end) return k + 1 == g->n_known && to > g->at[a][g->now[a]] && append(g, a, to);
    else g->now[a]++;
    return true;
}

/* All known axes begin anew: the one that has not moved so far and does now is the next. */
static bool begin_axis(kb_text_grid *g, const double *at)
{
    for (size_t a = 0; a < g->n_axes; a++) {
        if (at[a] == g->at[a][g->now[a]]) continue;
        if (g->n[a] > 1 || !(at[a] > g->at[a][0])) return false;
        g->order[g->n_known++] = a;
        return append(g, a, at[a]);
    }
    return false;
}

static bool move(kb_text_grid *g, const double *at)
{
    bool has_wrapped = true;
    for (size_t k = 0; has_wrapped && k < g->n_known; k++)
        if (!step(g, k, at[g->order[k]], &has_wrapped)) return false;
    if (has_wrapped && !begin_axis(g, at)) return false;
    for (size_t a = 0; a < g->n_axes; a++)
        if (at[a] != g->at[a][g->now[a]]) return false;
    return true;
}

void kb_text_grid_take(kb_text_grid *g, const double *at)
{
    if (g->is_broken) return;
    g->is_broken = !(g->n_rows ? move(g, at) : take_first(g, at));
    g->n_rows++;
}

void kb_text_grid_mark(kb_text_grid *g, size_t at)
{
    enum { FIRST = 1024 };
    if (g->is_broken) return;
    if (g->n_marks == g->marks_room) {
        kb_mark *grown = kb_resize(g->marks, 2 * g->marks_room + FIRST, sizeof *grown);
        g->is_broken = !grown;
        if (!grown) return;
        g->marks = grown;
        g->marks_room = 2 * g->marks_room + FIRST;
    }
    g->marks[g->n_marks++] = (kb_mark){g->n_rows, at};
}

bool kb_text_grid_is_full(const kb_text_grid *g)
{
    bool is_full = !g->is_broken && g->n_known == g->n_axes && g->n_axes > 1;
    for (size_t a = 0; a < g->n_axes; a++) is_full = is_full && g->now[a] + 1 == g->n[a];
    return is_full;
}

void kb_text_grid_clear(kb_text_grid *g)
{
    for (size_t a = 0; a < KBASS_MAX_AXES; a++) kb_free(g->at[a]);
    kb_free(g->marks);
    *g = (kb_text_grid){0};
}
