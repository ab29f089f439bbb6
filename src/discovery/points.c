/* The points that show a solution. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "posterior/solution_mesh.h"
#include "discovery/discovery.h"

enum { EVEN_TIMES = 200 };

/* Of fields, along each axis, unless the settings have a mesh. */
static const size_t standard[KBASS_MAX_AXES][KBASS_MAX_AXES] = {{0}, {60, 100}, {20, 40, 40}, {10, 20, 20, 20}};

/* The mesh along an axis as --mesh or --mesh-file gave it: how many points, and unless NULL their coordinates; 0 when
   it was left open and of several runs. */
static size_t given_mesh(const kbass_discovery *d, size_t axis, double *coordinates)
{
    const kb_field_samples *samples = kbass_data_runs(d->data) == 1 ? kb_discovery_samples(d, 0) : NULL;
    bool is_given = (d->settings.mesh && *d->settings.mesh) || (d->settings.mesh_file && *d->settings.mesh_file);
    if (!samples || !is_given || axis >= samples->n_axes || !samples->mesh[axis]) return 0;
    for (size_t i = 0; coordinates && i < samples->n_mesh[axis]; i++)
        coordinates[i] = samples->first[axis] + samples->span[axis] * samples->mesh[axis][i];
    return samples->n_mesh[axis];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Even times over a run and the measured ones, each once; room for both. Returns how many. */
static size_t list_times(const kbass_data *data, size_t run, double *times)
{
    size_t begin = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1), n = EVEN_TIMES, kept = 0;
    double first = data->times[begin], last = data->times[end - 1];
    for (size_t i = 0; i < n; i++) times[i] = first + (last - first) * (double)i / (EVEN_TIMES - 1);
    times[n - 1] = last;
    memcpy(times + n, data->times + begin, (end - begin) * sizeof *times);
    n += end - begin;
    qsort(times, n, sizeof *times, ascending);
    for (size_t i = 0; i < n; i++)
        if (!kept || times[i] != times[kept - 1]) times[kept++] = times[i];
    return kept;
}

static kbass_status points_of_states(const kbass_discovery *d, size_t run, size_t *counts, double *times,
                                     kbass_error *error)
{
    size_t measured = kb_data_run_start(d->data, run + 1) - kb_data_run_start(d->data, run);
    double *list = KB_NEW(double, EVEN_TIMES + measured);
    if (!list) return kb_out_of_memory(error, "the solution");
    counts[0] = list_times(d->data, run, list);
    if (times) memcpy(times, list, counts[0] * sizeof *times);
    kb_free(list);
    return KBASS_OK;
}

/* All points of a mesh, time slowest. */
static void spread_mesh(size_t n_axes, const size_t *counts, double *const *at, double *times, double *positions)
{
    size_t n = 1;
    for (size_t a = 0; a < n_axes; a++) n *= counts[a];
    for (size_t i = 0; i < n; i++) {
        size_t stride = n;
        for (size_t a = 0; a < n_axes; a++) {
            stride /= counts[a];
            double here = at[a][i / stride % counts[a]];
            if (a) positions[i * (n_axes - 1) + a - 1] = here;
            else times[i] = here;
        }
    }
}

/* Along axes that the settings leave open: where the solution bends. */
static kbass_status find_mesh(const kbass_discovery *d, size_t run, kb_solution_at *solution, const void *context,
                              const size_t *counts, double *const *at, kbass_error *error)
{
    size_t n_axes = d->data->n_axes;
    bool is_given = true;
    kbass_status status = KBASS_OK;
    for (size_t a = 0; a < n_axes; a++) is_given = is_given && given_mesh(d, a, NULL);
    if (!is_given) status = kb_solution_mesh(kb_discovery_samples(d, run), solution, context, counts, at, error);
    for (size_t a = 0; a < n_axes; a++) given_mesh(d, a, at[a]);
    return status;
}

kbass_status kb_discovery_points(const kbass_discovery *d, size_t run, kb_solution_at *solution, const void *context,
                                 size_t *counts, double *times, double *positions, kbass_error *error)
{
    size_t n_axes = d->data->n_axes, sum = 0;
    double *at[KBASS_MAX_AXES];
    if (n_axes == 1) return points_of_states(d, run, counts, times, error);
    for (size_t a = 0; a < n_axes; sum += counts[a++]) {
        size_t given = given_mesh(d, a, NULL);
        counts[a] = given ? given : standard[n_axes - 1][a];
    }
    if (!times) return KBASS_OK;
    double *room = KB_NEW(double, sum);
    kbass_status status = room ? KBASS_OK : kb_out_of_memory(error, "the mesh");
    for (size_t a = 0, used = 0; status == KBASS_OK && a < n_axes; used += counts[a++]) at[a] = room + used;
    if (status == KBASS_OK) status = find_mesh(d, run, solution, context, counts, at, error);
    if (status == KBASS_OK) spread_mesh(n_axes, counts, at, times, positions);
    kb_free(room);
    return status;
}

kbass_status kbass_discovery_points(const kbass_discovery *d, size_t run, size_t *counts, double *times,
                                    double *positions, kbass_error *error)
{
    const kb_discovery_run_of its = {d, run};
    kbass_status status = kb_discovery_check_run(d, run, error);
    if (status != KBASS_OK) return status;
    if (d->solved.is_cut) return kb_run_cut(error);
    return kb_discovery_points(d, run, kb_discovery_solution_at, &its, counts, times, positions, error);
}
