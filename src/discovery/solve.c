/* What a run leaves besides its answer: posterior and solution, made once. All points where the solution will be asked
 * for are gathered first (by asking for it), then solved together.
 */
#include "base/memory.h"
#include "base/status.h"
#include "discovery/discovery.h"

/* ---------------------------------------------------------------- gathering */

static kb_point_set *shown_of(const kbass_discovery *d, size_t run) { return &d->solved.shown[run]; }

/* States need no place apart for measured rows: their solution is cheap. */
static kb_point_set *set_of(const kbass_discovery *d, size_t run, bool has_band)
{
    return has_band || d->ode ? shown_of(d, run) : &d->solved.rows[run];
}

static kbass_status gather(const void *context, size_t run, size_t n, const double *times, const double *positions,
                           double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = context;
    for (size_t i = 0; i < n * d->data->n_states; i++) mean[i] = 0;
    return kb_point_set_add(set_of(d, run, sd != NULL), n, times, positions, error);
}

static kbass_status gather_at(const void *context, size_t n, const double *times, const double *positions,
                              double *values, kbass_error *error)
{
    const kb_discovery_run_of *of = context;
    return gather(of->discovery, of->run, n, times, positions, values, NULL, error);
}

/* The points of a sketch. */
static kbass_status gather_sketch(const kbass_discovery *d, kbass_error *error)
{
    kb_sketch *sketch = NULL;
    kbass_status status = kb_sketch_create(d->data, gather, d, &sketch, error);
    kb_sketch_destroy(sketch);
    return status;
}

/* Those of a run that show its solution, and before: those that their mesh is made of. */
static kbass_status gather_points(const kbass_discovery *d, size_t run, bool is_mesh_known, kbass_error *error)
{
    const kb_discovery_run_of its = {d, run};
    size_t counts[KBASS_MAX_AXES], n = 1, n_axes = d->data->n_axes;
    kb_solution_at *solution = is_mesh_known ? kb_discovery_solution_at : gather_at;
    kbass_status status = kb_discovery_points(d, run, solution, &its, counts, NULL, NULL, error);
    if (status != KBASS_OK) return status;
    for (size_t a = 0; a < n_axes; a++) n *= counts[a];
    double *times = KB_NEW(double, n), *positions = KB_NEW(double, n *n_axes);
    if (!times || !positions) status = kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) status = kb_discovery_points(d, run, solution, &its, counts, times, positions, error);
    if (status == KBASS_OK && is_mesh_known) status = kb_point_set_add(shown_of(d, run), n, times, positions, error);
    kb_free(times);
    kb_free(positions);
    return status;
}

static kbass_status gather_rows(const kbass_discovery *d, size_t run, kbass_error *error)
{
    const kbass_data own = kb_data_run(d->data, run);
    return kb_point_set_add(set_of(d, run, false), own.n_rows, own.times, own.positions, error);
}

/* ---------------------------------------------------------------- solving */

static kbass_status solve_set(const kbass_discovery *d, size_t run, kb_point_set *set, bool has_band, kb_run *clock,
                              kbass_error *error)
{
    size_t values = set->n * set->n_states;
    kb_point_set_sort(set);
    if (!set->n) return KBASS_OK;
    double *times = KB_NEW(double, set->n), *positions = KB_NEW(double, set->n * set->n_axes),
           *mean = KB_NEW(double, values), *sd = has_band ? KB_NEW(double, values) : NULL;
    kbass_status status =
        times && positions && mean && (sd || !has_band) ? KBASS_OK : kb_out_of_memory(error, "the solution");
    if (status == KBASS_OK) {
        kb_point_set_list(set, times, positions);
        status =
            kb_discovery_solve_at(d, run, set->n, times, set->n_axes > 1 ? positions : NULL, mean, sd, clock, error);
    }
    kb_free(times);
    kb_free(positions);
    if (status == KBASS_OK) {
        set->mean = mean;
        set->sd = sd;
    } else {
        kb_free(mean);
        kb_free(sd);
    }
    return status;
}

/* Rows and the points that a mesh is made of first. */
static kbass_status solve_run(const kbass_discovery *d, size_t run, int parts, kb_run *clock, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (parts & KBASS_KEEP_ROWS) status = gather_rows(d, run, error);
    if (status == KBASS_OK && (parts & KBASS_KEEP_SOLUTION)) status = gather_points(d, run, false, error);
    if (status == KBASS_OK) status = solve_set(d, run, &d->solved.rows[run], false, clock, error);
    if (status == KBASS_OK && (parts & KBASS_KEEP_SOLUTION)) status = gather_points(d, run, true, error);
    return status == KBASS_OK ? solve_set(d, run, shown_of(d, run), true, clock, error) : status;
}

static kbass_status allocate(kbass_discovery *d, kbass_error *error)
{
    kb_solved *s = &d->solved;
    size_t runs = kbass_data_runs(d->data);
    const kb_point_set empty = {.n_axes = d->data->n_axes, .n_states = d->data->n_states};
    s->posteriors = KB_NEW(kbass_posterior *, runs);
    s->shown = KB_NEW(kb_point_set, runs);
    s->rows = KB_NEW(kb_point_set, runs);
    if (!s->posteriors || !s->shown || !s->rows) return kb_out_of_memory(error, "the solution");
    for (size_t run = 0; run < runs; run++) s->shown[run] = s->rows[run] = empty;
    return KBASS_OK;
}

static kbass_status take_sketch(const void *context, size_t run, size_t n, const double *times, const double *positions,
                                double *mean, double *sd, kbass_error *error)
{
    return kbass_discovery_solution(context, run, n, times, positions, mean, sd, error);
}

static kbass_status solve_runs(kbass_discovery *d, int parts, kb_run *clock, kbass_error *error)
{
    kbass_status status = parts & KBASS_KEEP_RESULT ? gather_sketch(d, error) : KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && run < kbass_data_runs(d->data); run++)
        status = solve_run(d, run, parts, clock, error);
    if (status == KBASS_OK && (parts & KBASS_KEEP_RESULT))
        status = kb_sketch_create(d->data, take_sketch, d, &d->solved.sketch, error);
    return status;
}

/* Where there is a model. */
static kbass_status solve_all(kbass_discovery *d, int parts, kb_run *clock, kbass_error *error)
{
    kbass_status status = allocate(d, error);
    if (clock) clock->stage = "solution";
    if (status == KBASS_OK && !kb_run_spares(clock)) return kb_run_cut(error);
    if (status == KBASS_OK && (parts & KBASS_KEEP_RESULT))
        status = kb_discovery_posteriors(d, d->solved.posteriors, error);
    return status == KBASS_OK && d->answer->result.n_equations ? solve_runs(d, parts, clock, error) : status;
}

kbass_status kb_discovery_solve(kbass_discovery *d, int parts, kb_run *clock, kbass_error *error)
{
    double start = kb_clock();
    kb_discovery_forget_solved(d);
    kbass_status status = solve_all(d, parts, clock, error);
    d->solved.parts = parts;
    d->solved.is_cut = status == KBASS_ERROR_TIME;
    d->answer->result.seconds[KBASS_STAGE_POLISH] += kb_clock() - start;
    d->answer->result.seconds_total += kb_clock() - start;
    return status == KBASS_ERROR_MEMORY ? status : KBASS_OK; /* an answer without its solution is one */
}

bool kb_discovery_find(const kbass_discovery *d, size_t run, size_t n, const double *times, const double *positions,
                       double *mean, double *sd)
{
    if (!d->solved.shown) return false;
    return kb_point_set_find(shown_of(d, run), n, times, positions, mean, sd) ||
           kb_point_set_find(&d->solved.rows[run], n, times, positions, mean, sd);
}

void kb_discovery_forget_solved(kbass_discovery *d)
{
    kb_solved *s = &d->solved;
    for (size_t run = 0; s->posteriors && run < kbass_data_runs(d->data); run++) {
        kbass_posterior_destroy(s->posteriors[run]);
        if (s->shown) kb_point_set_clear(&s->shown[run]);
        if (s->rows) kb_point_set_clear(&s->rows[run]);
    }
    kb_free(s->posteriors);
    kb_free(s->shown);
    kb_free(s->rows);
    kb_sketch_destroy(s->sketch);
    *s = (kb_solved){0};
}

void kbass_discovery_keep(kbass_discovery *d, int parts) { d->keeps = parts; }
