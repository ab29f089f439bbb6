#include "collocation/products.h"

#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

static const double cut_step = 3; /* ratio: by which the cut rises until the products fit */

kbass_status kb_products_create(size_t most, kb_products *p, kbass_error *error)
{
    p->place = KB_NEW(size_t, most);
    p->first = KB_NEW(size_t, most + 1);
    return p->place && p->first ? KBASS_OK : kb_out_of_memory(error, "a patch");
}

void kb_products_clear(kb_products *p)
{
    kb_free(p->place);
    kb_free(p->first);
}

size_t kb_products_index(const kb_products *p, size_t i, size_t axis)
{
    size_t rest = p->place[i];
    for (size_t a = 1; a < axis; a++) rest /= p->rank[a];
    return rest % p->rank[axis];
}

/* ---------------------------------------------------------------- choosing */

static double share(const kb_axis_level *level, size_t feature)
{
    return level->eigenvalue[feature] / level->eigenvalue[0];
}

/* Features of time that stay beside a product of space, the axes' indices in `index`. */
static size_t count_times(const kb_products *p, size_t n_axes, const kb_axis_level *const *level, const size_t *index,
                          double cut)
{
    double space = 1;
    size_t n = 0, bent = 0, farthest = 0;
    for (size_t a = 1; a < n_axes; a++) {
        space *= share(level[a], index[a]);
        bent += index[a] > 0;
        if (index[a] > farthest) farthest = index[a];
    }
    if (bent <= 1 && farthest < KB_LEAST_RANK) n = bent ? 1 : KB_LEAST_RANK;
    if (n > p->rank[0]) n = p->rank[0];
    while (n < p->rank[0] && space * share(level[0], n) >= cut) n++;
    return n;
}

/* False when there would be more than `most`. */
static bool keep_above(kb_products *p, size_t n_axes, const kb_axis_level *const *level, double cut, size_t most)
{
    size_t all = p->n_tensor / p->rank[0];
    p->n = p->n_space = 0;
    for (size_t i = 0; i < all; i++) {
        size_t index[KB_SAMPLE_AXES];
        for (size_t a = 1, rest = i; a < n_axes; rest /= p->rank[a++]) index[a] = rest % p->rank[a];
        size_t times = count_times(p, n_axes, level, index, cut);
        if (!times) continue;
        if (p->n + times > most) return false;
        p->place[p->n_space] = i;
        p->first[p->n_space++] = p->n;
        p->n += times;
    }
    p->first[p->n_space] = p->n;
    return true;
}

static void choose_ranks(kb_products *p, size_t n_axes, const kb_axis_level *const *level, double cut)
{
    p->n_tensor = 1;
    for (size_t a = 0; a < n_axes; a++) {
        p->rank[a] = kb_axis_rank(level[a], cut);
        if (p->rank[a] < KB_LEAST_RANK && level[a]->rank >= KB_LEAST_RANK) p->rank[a] = KB_LEAST_RANK;
        p->n_tensor *= p->rank[a];
    }
}

/* A full tensor has to fit itself; of a cut one the tensor of space may have half as many entries as are kept at most:
   workspaces count on it. */
void kb_products_choose(kb_products *p, size_t n_axes, const kb_axis_level *const *level, size_t most, bool whole)
{
    for (double cut = whole ? KB_AXIS_CUT : kb_axis_cut(n_axes);; cut *= cut_step) {
        choose_ranks(p, n_axes, level, cut);
        bool fits = whole ? p->n_tensor <= most : p->n_tensor / p->rank[0] <= most / 2;
        if (!fits && cut <= 1) continue;
        if (keep_above(p, n_axes, level, whole ? 0 : cut, most) || cut > 1) return;
    }
}

/* ---------------------------------------------------------------- between the two forms */

const double *kb_products_open(const kb_products *p, const double *z, double *tensor)
{
    if (p->n == p->n_tensor) return z;
    memset(tensor, 0, p->n_tensor * sizeof *tensor);
    for (size_t i = 0; i < p->n_space; i++)
        memcpy(tensor + p->place[i] * p->rank[0], z + p->first[i], (p->first[i + 1] - p->first[i]) * sizeof *z);
    return tensor;
}

void kb_products_gather(const kb_products *p, double factor, const double *tensor, double *z)
{
    if (p->n == p->n_tensor) {
        kb_axpy(p->n, factor, tensor, z);
        return;
    }
    for (size_t i = 0; i < p->n_space; i++) {
        const double *from = tensor + p->place[i] * p->rank[0];
        double *to = z + p->first[i];
        for (size_t c = 0; c < p->first[i + 1] - p->first[i]; c++) to[c] += factor * from[c];
    }
}
