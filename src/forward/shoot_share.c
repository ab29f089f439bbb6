#include "forward/shoot_share.h"

#include <string.h>

#include "base/memory.h"
#include "forward/shoot_normals.h"

static const double fewest_tangents = 5e5; /* numbers: integrated in 5 ms, an exchange takes 0.1 ms */

/* Room for what a fit exchanges. */
struct kb_shooter_ranks {
    const kbass_reduce *reduce;
    double *own, *all, *blocks; /* of this rank, of all ranks in their order, of all windows in theirs */
    size_t *offset;             /* where a window's block begins */
    bool *done;
};

bool kb_shooter_owns(const kb_shooter *s, size_t window)
{
    const kbass_reduce *r = s->ranks ? s->ranks->reduce : NULL;
    return !r || (int)(window % (size_t)r->n_ranks) == r->rank;
}

static void clear(struct kb_shooter_ranks *r)
{
    if (!r) return;
    kb_free(r->own);
    kb_free(r->all);
    kb_free(r->blocks);
    kb_free(r->offset);
    kb_free(r->done);
    kb_free(r);
}

/* Numbers that the rank with most of them hands over: blocks, and whether each is there. */
static size_t largest_share(size_t n_windows, size_t ranks, const size_t *offset)
{
    size_t most = 0;
    for (size_t rank = 0; rank < ranks; rank++) {
        size_t sum = 0;
        for (size_t w = rank; w < n_windows; w += ranks) sum += 1 + offset[w + 1] - offset[w];
        most = sum > most ? sum : most;
    }
    return most;
}

static void place_blocks(struct kb_shooter_ranks *r, size_t n_windows, size_t size)
{
    for (size_t w = 0; w <= n_windows; w++) r->offset[w] = w * size;
}

bool kb_shooter_share(kb_shooter *s, const kbass_reduce *reduce, size_t n_columns)
{
    clear(s->ranks);
    s->ranks = NULL;
    if (!reduce) return false;
    size_t W = s->likelihood.windows->n, P = n_columns + s->likelihood.n_start, ranks = (size_t)reduce->n_ranks;
    kb_shooter_place_windows(s);
    if (W < ranks || (double)s->offset[W] * (double)P < fewest_tangents) return false;
    struct kb_shooter_ranks *r = KB_NEW(struct kb_shooter_ranks, 1);
    bool has_room = r && (r->offset = KB_NEW(size_t, W + 1)) && (r->done = KB_NEW(bool, W)) &&
                    (r->blocks = KB_NEW(double, W *P *(P + 1)));
    if (has_room) {
        place_blocks(r, W, P * (P + 1));
        size_t normals = largest_share(W, ranks, r->offset), predictions = largest_share(W, ranks, s->offset),
               each = normals > predictions ? normals : predictions;
        has_room = (r->own = KB_NEW(double, each)) && (r->all = KB_NEW(double, each *ranks));
        r->reduce = reduce;
    }
    if (reduce->agree(reduce->user, !has_room)) { /* where one has no room every rank does all */
        clear(r);
        return false;
    }
    s->ranks = r;
    return true;
}

/* Every rank's blocks to all; done[window]: it is there, as its rank says. */
static void exchange(struct kb_shooter_ranks *r, size_t n_windows, const size_t *offset, double *array, bool *done)
{
    size_t ranks = (size_t)r->reduce->n_ranks, each = largest_share(n_windows, ranks, offset);
    double *to = r->own;
    for (size_t w = (size_t)r->reduce->rank; w < n_windows; w += ranks) {
        *to++ = done[w];
        memcpy(to, array + offset[w], (offset[w + 1] - offset[w]) * sizeof *to);
        to += offset[w + 1] - offset[w];
    }
    r->reduce->gather(r->reduce->user, each * sizeof *r->own, r->own, r->all);
    for (size_t rank = 0; rank < ranks; rank++) {
        const double *from = r->all + rank * each;
        for (size_t w = rank; w < n_windows; w += ranks) {
            done[w] = *from++ > 0;
            memcpy(array + offset[w], from, (offset[w + 1] - offset[w]) * sizeof *array);
            from += offset[w + 1] - offset[w];
        }
    }
}

size_t kb_shooter_exchange_predictions(kb_shooter *s, size_t n_done)
{
    size_t W = s->likelihood.windows->n, n = 0;
    struct kb_shooter_ranks *r = s->ranks;
    for (size_t w = 0; w < W; w++) r->done[w] = w < n_done;
    exchange(r, W, s->offset, s->predicted, r->done);
    while (n < W && r->done[n]) n++;
    return n;
}

bool kb_shooter_exchange_normals(kb_shooter *s, bool (*make)(kb_shooter *, size_t, const void *), const void *context)
{
    size_t W = s->likelihood.windows->n, P = s->n_tangents + s->likelihood.n_start;
    struct kb_shooter_ranks *r = s->ranks;
    bool are_there = true;
    place_blocks(r, W, P * (P + 1));
    for (size_t w = 0; w < W; w++) {
        if (!kb_shooter_owns(s, w)) continue;
        r->done[w] = make(s, w, context);
        memcpy(r->blocks + r->offset[w], s->normals, P * P * sizeof *r->blocks);
        memcpy(r->blocks + r->offset[w] + P * P, s->gradient, P * sizeof *r->blocks);
    }
    exchange(r, W, r->offset, r->blocks, r->done);
    for (size_t w = 0; w < W; w++) are_there = are_there && r->done[w];
    return are_there;
}

void kb_shooter_take_normals(kb_shooter *s, size_t window)
{
    size_t P = s->n_tangents + s->likelihood.n_start;
    const double *block = s->ranks->blocks + s->ranks->offset[window];
    memcpy(s->normals, block, P * P * sizeof *block);
    memcpy(s->gradient, block + P * P, P * sizeof *block);
}

void kb_shooter_exchange_gradients(kb_shooter *s, size_t P, void (*make)(kb_shooter *, size_t, const void *),
                                   const void *context)
{
    size_t W = s->likelihood.windows->n;
    struct kb_shooter_ranks *r = s->ranks;
    place_blocks(r, W, P);
    for (size_t w = 0; w < W; w++) {
        if (!kb_shooter_owns(s, w)) continue;
        make(s, w, context);
        memcpy(r->blocks + r->offset[w], s->gradient, P * sizeof *r->blocks);
    }
    exchange(r, W, r->offset, r->blocks, r->done);
}

void kb_shooter_take_gradient(kb_shooter *s, size_t P, size_t window)
{
    memcpy(s->gradient, s->ranks->blocks + s->ranks->offset[window], P * sizeof *s->gradient);
}
