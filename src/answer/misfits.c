#include "answer/misfits.h"

#include <math.h>

#include "base/status.h"

enum { TILES = KB_TIME_TILES * KB_SPACE_TILES }; /* room: as there */
enum { LEAST_IN_TILE = 3 };                      /* values: of a tile that is tested */

static size_t tile_of(double s, size_t n) { return (size_t)fmin(fmax(s * (double)n, 0), (double)(n - 1)); }

void kb_tiles_add(kb_tiles *t, double time, double place, double residual)
{
    size_t at = tile_of(time, KB_TIME_TILES) * KB_SPACE_TILES + tile_of(place, KB_SPACE_TILES);
    t->sum[at] += residual;
    t->count[at]++;
}

double kb_two_sided(double z, size_t n_tries) { return fmin(erfc(fabs(z) / sqrt(2)) * (double)n_tries, 1); }

kbass_status kb_misfits_list(size_t n_states, const kb_tiles *t, const kb_tile_frame *frame, kb_answer *answer,
                             kbass_error *error)
{
    size_t n_tried = 0;
    double step = frame->time_span / KB_TIME_TILES, width = frame->place_span / KB_SPACE_TILES;
    kbass_misfit *best = kb_answer_own(answer, 1, sizeof *best);
    if (!best) return kb_out_of_memory(error, "the answer");
    *best = (kbass_misfit){.p_value = 1};
    for (size_t i = 0; i < n_states; i++)
        for (size_t k = 0; k < TILES; k++) n_tried += t[i].count[k] >= LEAST_IN_TILE;
    for (size_t i = 0; i < n_states; i++)
        for (size_t k = 0; k < TILES; k++) {
            double z = t[i].sum[k] / sqrt(t[i].count[k]), p = kb_two_sided(z, n_tried);
            if (!(t[i].count[k] >= LEAST_IN_TILE) || !(p < best->p_value)) continue;
            double from = frame->time + step * (double)(k / KB_SPACE_TILES),
                   low = frame->place + width * (double)(k % KB_SPACE_TILES);
            *best = (kbass_misfit){i, from, from + step, low, low + width, z, p};
        }
    answer->result.misfits = best;
    answer->result.n_misfits = best->p_value < KB_BY_CHANCE;
    return KBASS_OK;
}
