/* A pass over a grid that stays in its file: tile in, message out, messages add (docs/math.md, section 40).
 *
 * Tiles are boxes of bumps, cut by the sizes of the grid and of the bumps alone. Consecutive ones make a group, whose
 * messages one thread of one rank adds in their order; then the groups' sums are added in theirs. So the sum is the
 * same to the bit, whoever had which group.
 */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/weak/grid_run.h"

enum { CENTRES = 16 };          /* bumps: of a tile along the axis that the file is cut by */
enum { CENTRES_ACROSS = 32 };   /* bumps: along the others */
enum { FEWEST_CENTRES = 4 };    /* bumps: to which both fall where a tile would hold too much */
enum { MOST_POINTS = 1 << 20 }; /* points: of a tile; memory */
enum { MOST_GROUPS = 256 };     /* room: messages that are summed apart */

typedef struct {
    const kb_weak_form *form;
    const kb_weak_grid_run *run;
    const double *half;
    kb_run *progress;
    size_t n_centres[KB_MAX_AXES], per[KB_MAX_AXES], along[KB_MAX_AXES]; /* centres: in all, of a tile; tiles */
    double *centres[KB_MAX_AXES];
    size_t n_tiles, n_groups;
    size_t numbers;      /* of one message */
    double *sums;        /* n_groups x numbers: the count last */
    kbass_status status; /* the first failure of any thread */
    kbass_error error;
} stream;

/* ---------------------------------------------------------------- tiles */

static double points_of_tile(const stream *s)
{
    double points = 1;
    for (size_t a = 0; a < s->run->n_axes; a++)
        points *= fmin((double)s->run->n[a], ((double)(s->per[a] - 1) / 2 + 2) * s->half[a] / s->run->spacing[a] + 4);
    return points;
}

static void cut(stream *s)
{
    size_t n = s->run->n_axes, slowest = s->run->tiles->slowest;
    for (size_t a = 0; a < n; a++) {
        size_t wanted = a == slowest ? CENTRES : CENTRES_ACROSS;
        s->per[a] = s->n_centres[a] < wanted ? s->n_centres[a] : wanted;
    }
    for (size_t a = n; a-- > 0;)
        while (points_of_tile(s) > MOST_POINTS && s->per[a] > FEWEST_CENTRES) s->per[a] = (s->per[a] + 1) / 2;
    s->n_tiles = 1;
    for (size_t a = 0; a < n; a++) {
        s->along[a] = (s->n_centres[a] + s->per[a] - 1) / s->per[a];
        s->n_tiles *= s->along[a];
    }
    s->n_groups = s->n_tiles < MOST_GROUPS ? s->n_tiles : MOST_GROUPS;
}

/* The box of a tile: its bumps and the points under them. The axis that the file is cut by runs slowest. */
static void place(const stream *s, size_t index, kb_weak_tile *tile, size_t *first)
{
    const kb_weak_grid_run *r = s->run;
    size_t slowest = r->tiles->slowest;
    *tile = (kb_weak_tile){.n_axes = r->n_axes, .n_fields = r->n_fields, .noise = r->noise};
    for (size_t i = r->n_axes; i-- > 0;) {
        size_t a = i == 0 ? slowest : i <= slowest ? i - 1 : i, at = index % s->along[a] * s->per[a];
        double slack = 1e-9 * r->extent[a];
        index /= s->along[a];
        tile->n_centres[a] = s->n_centres[a] - at < s->per[a] ? s->n_centres[a] - at : s->per[a];
        tile->centre[a] = s->centres[a] + at;
        tile->half[a] = s->half[a];
        first[a] = kb_weak_first_after(r, a, tile->centre[a][0] - s->half[a] - slack);
        size_t end = kb_weak_first_after(r, a, tile->centre[a][tile->n_centres[a] - 1] + s->half[a] + slack);
        if (first[a] > 0)
            first[a]--; /* beyond the bumps on both sides: the first and last weights are of half a step */
        if (end < r->n[a]) end++;
        tile->n[a] = end - first[a];
        tile->at[a] = r->at[a] + first[a];
    }
}

/* ---------------------------------------------------------------- groups */

typedef struct {
    double *value;
    size_t capacity;
    kb_weak_message *message;
} workspace;

static void fail(stream *s, kbass_status status, const kbass_error *error)
{
#pragma omp critical(kb_stream)
    if (s->status == KBASS_OK) {
        s->status = status;
        s->error = *error;
    }
}

static kbass_status read_tile(stream *s, const kb_weak_tile *tile, const size_t *first, workspace *w,
                              kbass_error *error)
{
    size_t points = s->run->n_fields;
    kbass_status status = KBASS_OK;
    for (size_t a = 0; a < tile->n_axes; a++) points *= tile->n[a];
    if (points > w->capacity) {
        kb_free(w->value);
        w->value = KB_NEW(double, points);
        w->capacity = w->value ? points : 0;
    }
    if (!w->value) return kb_out_of_memory(error, "a tile");
    kb_tiled *tiles = s->run->tiles;
    if (tiles->is_for_all) return tiles->read(tiles, first, tile->n, w->value, error);
#pragma omp critical(kb_stream_read)
    status = tiles->read(tiles, first, tile->n, w->value, error);
    return status;
}

static bool add_tile(stream *s, size_t index, workspace *w)
{
    kb_weak_tile tile;
    size_t first[KB_MAX_AXES];
    kbass_error error = {0};
    place(s, index, &tile, first);
    kbass_status status = read_tile(s, &tile, first, w, &error);
    tile.value = w->value;
    if (status == KBASS_OK) status = kb_weak_tile_integrate(s->form, &tile, w->message, &error);
    if (status != KBASS_OK) fail(s, status, &error);
    return status == KBASS_OK && s->status == KBASS_OK && kb_run_continue(s->progress, 0);
}

static void add_group(stream *s, size_t group, workspace *w)
{
    size_t first = group * s->n_tiles / s->n_groups, end = (group + 1) * s->n_tiles / s->n_groups, n = w->message->n;
    memset(w->message->gram, 0, n * n * sizeof *w->message->gram);
    w->message->count = 0;
    for (size_t i = first; i < end; i++)
        if (!add_tile(s, i, w)) break;
    double *sum = s->sums + group * s->numbers;
    memcpy(sum, w->message->gram, n * n * sizeof *sum);
    sum[n * n] = w->message->count;
}

static bool is_own(const stream *s, size_t group)
{
    const kbass_reduce *r = s->progress->reduce;
    return !r || (int)(group % (size_t)r->n_ranks) == r->rank;
}

static void add_groups(stream *s, int threads)
{
#pragma omp parallel num_threads(threads > 0 ? threads : 1)
    {
        workspace w = {0};
        kbass_error error = {0};
        kbass_status status = kb_weak_message_create(s->form, &w.message, &error);
        if (status != KBASS_OK) fail(s, status, &error);
#pragma omp for schedule(dynamic)
        for (size_t group = 0; group < s->n_groups; group++)
            if (w.message && s->status == KBASS_OK && is_own(s, group) && !kb_run_stopped(s->progress))
                add_group(s, group, &w);
        kb_weak_message_destroy(w.message);
        kb_free(w.value);
    }
}

/* ---------------------------------------------------------------- ranks */

/* The sums of every rank's groups to all of them. */
static kbass_status exchange(stream *s, kbass_error *error)
{
    const kbass_reduce *r = s->progress->reduce;
    size_t ranks = (size_t)r->n_ranks, each = (s->n_groups + ranks - 1) / ranks, n = s->numbers;
    double *own = KB_NEW(double, each *n), *all = KB_NEW(double, ranks *each *n);
    kbass_status status = own && all ? KBASS_OK : kb_out_of_memory(error, "the messages of other ranks");
    for (size_t g = (size_t)r->rank; status == KBASS_OK && g < s->n_groups; g += ranks)
        memcpy(own + g / ranks * n, s->sums + g * n, n * sizeof *own);
    if (status == KBASS_OK) r->gather(r->user, each * n * sizeof *own, own, all);
    for (size_t g = 0; status == KBASS_OK && g < s->n_groups; g++)
        memcpy(s->sums + g * n, all + (g % ranks * each + g / ranks) * n, n * sizeof *own);
    kb_free(own);
    kb_free(all);
    kb_run_agree(s->progress);
    return status;
}

static void sum_up(const stream *s, kb_weak_message *message)
{
    size_t n = message->n * message->n;
    for (size_t g = 0; g < s->n_groups; g++) {
        const double *sum = s->sums + g * s->numbers;
        for (size_t i = 0; i < n; i++) message->gram[i] += sum[i];
        message->count += sum[n];
    }
}

kbass_status kb_weak_grid_run_stream(const kb_weak_form *form, const kb_weak_grid_run *run, const double *half,
                                     kb_run *progress, int threads, kb_weak_message *message, kbass_error *error)
{
    stream s = {.form = form, .run = run, .half = half, .progress = progress, .numbers = form->n * form->n + 1};
    bool done = true;
    for (size_t a = 0; a < run->n_axes; a++) {
        s.n_centres[a] = kb_weak_place_centres(run, a, half[a], NULL);
        s.centres[a] = KB_NEW(double, s.n_centres[a]);
        done = done && s.centres[a];
        if (s.centres[a]) kb_weak_place_centres(run, a, half[a], s.centres[a]);
    }
    bool has_room = kb_weak_has_room(run, half, s.n_centres);
    if (has_room) cut(&s);
    s.sums = KB_NEW(double, s.n_groups *s.numbers);
    kbass_status status = done && s.sums ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    if (status == KBASS_OK && has_room) {
        add_groups(&s, threads);
        status = s.status;
        if (status != KBASS_OK && error) *error = s.error;
        if (status == KBASS_OK && progress->reduce && !kb_run_stopped(progress)) status = exchange(&s, error);
        if (status == KBASS_OK) sum_up(&s, message);
    }
    for (size_t a = 0; a < run->n_axes; a++) kb_free(s.centres[a]);
    kb_free(s.sums);
    return status;
}
