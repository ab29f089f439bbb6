/* The public door to solutions: an engine, and its resolution raised until the samples stand still. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "simulate/pde.h"

static const kb_resolution accurate = {.wanted = 1e-7, .tolerated = 1e-6};
/* What starts from a result's rows is known to fewer digits. */
static const kb_resolution from_rows = {.wanted = 1e-4, .tolerated = 1e-2, .is_rough = true};
static const double finer = 1e-3;    /* than the movement that is wanted: the integrator's tolerance */
static const double RUNAWAY = 100;   /* growth that a loss is put down to */
static const double MOST_WORK = 1e8; /* nodes times steps of one run */
enum { MOST_NODES = 1 << 18, MOST_ON_LINE = 1 << 14, MOST_UNKNOWNS = 600, MOST_OF_ROUGH = 300, LOSSES = 14 };

typedef struct {
    const kb_pde *pde;
    size_t n_points;
    kb_samples samples; /* those after the first time */
    kb_resolution *resolution;
    size_t n, n_steps;
    double *coarse, *fine, *spare; /* samples: n_points x n_fields */
    kb_journey journey;
    kbass_error *error;
} search;

/* The largest difference as a share of the field's largest sample. */
static double movement(const search *s, const double *a, const double *b)
{
    double worst = 0;
    size_t n_fields = s->pde->n_fields;
    for (size_t f = 0; f < n_fields; f++) {
        double largest = 0, difference = 0;
        for (size_t i = f; i < s->n_points * n_fields; i += n_fields) {
            largest = fmax(largest, fabs(b[i]));
            difference = !(fabs(a[i] - b[i]) <= difference) ? fabs(a[i] - b[i]) : difference;
        }
        double share = difference > 0 || isnan(difference) ? difference / largest : 0;
        worst = !(share <= worst) ? share : worst;
    }
    return worst;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* ---------------------------------------------------------------- refusals */

static kbass_status lost(const search *s)
{
    const char *name = s->pde->names[s->journey.state];
    if (s->journey.growth > RUNAWAY)
        return kb_fail(s->error, KBASS_ERROR_NUMERICAL, "the solution %s leaves every bound near t = %.4g", name,
                       s->journey.t);
    return kb_fail(s->error, KBASS_ERROR_NUMERICAL, "the solution %s cannot be followed beyond t = %.4g", name,
                   s->journey.t);
}

static kbass_status unresolved(const search *s, double moved)
{
    if (!isfinite(moved))
        return kb_fail(s->error, KBASS_ERROR_NUMERICAL,
                       "%zu nodes along each axis do not resolve the solution; is it smooth until the end?", s->n);
    return kb_fail(s->error, KBASS_ERROR_NUMERICAL,
                   "with %zu nodes along each axis the solution still moves by %.1g of its size, needed %.0g; a "
                   "shorter time or a smoother problem may help",
                   s->n, moved, s->resolution->tolerated);
}

static const double little = 1e-3; /* movement above which steps need not be accurate yet; jump that counts */

/* The largest jump of the fields' profiles where the first axis closes, as a share of their size along it; 0: not
   known. */
static double jump_of_start(const search *s, size_t *state)
{
    enum { N = 33 };
    double places[KB_MOST_SPACE][N], value[N], worst = 0;
    const double *columns[KB_MOST_SPACE];
    for (size_t d = 0; d < s->pde->n_space; d++) {
        const kbass_axis *axis = &s->pde->axes[1 + d];
        for (size_t i = 0; i < N; i++)
            places[d][i] = axis->low + (axis->high - axis->low) * (d ? 0.5 : (double)i / (N - 1));
        columns[d] = places[d];
    }
    for (size_t f = 0; f < s->pde->n_fields && !s->pde->table && s->pde->boundary[0] == KB_PERIODIC; f++) {
        double size = 0;
        if (kb_pde_initial(s->pde, f, N, columns, value, NULL) != KBASS_OK) continue;
        for (size_t i = 0; i < N; i++) size = fmax(size, fabs(value[i]));
        double jump = fabs(value[N - 1] - value[0]);
        if (!(jump > worst * size)) continue;
        worst = jump / size;
        *state = f;
    }
    return worst;
}

/* A profile with a jump, whose waves nothing damps, is resolved by no number of nodes. `n_slow` counts refinements that
   hardly helped; fails at the second, where the profile does not close. */
static kbass_status check_start(const search *s, double before, double moved, int *n_slow)
{
    const double slow = 0.5; /* what a method of second order leaves, whose nodes grow by sqrt(2) */
    size_t state = 0;
    *n_slow = moved > fmax(little, slow * before) && isfinite(moved) ? *n_slow + 1 : 0;
    if (*n_slow < 2) return KBASS_OK;
    double jump = jump_of_start(s, &state);
    if (!(jump > little)) return KBASS_OK;
    return kb_fail(s->error, KBASS_ERROR_NUMERICAL,
                   "the initial condition of %s does not close: its ends differ by %.1g of its size, and with %zu "
                   "nodes the solution still moves by %.1g; take a profile that closes, or --boundary dirichlet or "
                   "neumann",
                   s->pde->names[state], jump, s->n, moved);
}

/* ---------------------------------------------------------------- Fourier series */

static size_t total_nodes(const search *s, size_t n)
{
    size_t total = 1;
    for (size_t d = 0; d < s->pde->n_space; d++) total *= n;
    return total;
}

/* 64, 96, 128, 192, ... */
static size_t next_even(size_t n) { return n & (n - 1) ? n / 3 * 4 : n / 2 * 3; }

static bool is_affordable(const search *s, size_t n, size_t n_steps)
{
    size_t total = total_nodes(s, n), most = s->pde->n_space == 1 ? MOST_ON_LINE : MOST_NODES;
    return total <= most && (double)(total * s->pde->n_states) * (double)n_steps <= MOST_WORK;
}

/* Intervals from the start that meet all sample times when they are even, else 64; at least 64 either way. */
static size_t first_steps(const search *s)
{
    double start = s->pde->axes[0].low, before = start, gap = INFINITY;
    double last = s->samples.list[s->samples.n - 1].t;
    size_t n = 64;
    for (size_t i = 0; i < s->samples.n; i++) {
        double t = s->samples.list[i].t;
        if (t - before > 1e-9 * (last - start)) gap = fmin(gap, t - before);
        before = t;
    }
    double intervals = round((last - start) / gap);
    bool is_even = intervals >= 1 && intervals <= 1e5;
    for (size_t i = 0; i < s->samples.n && is_even; i++) {
        double share = (s->samples.list[i].t - start) / (last - start) * intervals;
        is_even = fabs(share - round(share)) < 1e-6;
    }
    if (is_even)
        for (n = (size_t)intervals; n < 64; n *= 2) {}
    return n;
}

/* Runs, with shorter steps as long as the state is lost, unless that stays at its time: then journey.is_lost. */
static kbass_status run_fourier(search *s, double *values)
{
    double start = s->pde->axes[0].low, before = INFINITY;
    for (int losses = 0, stays = 0;; losses++) {
        kbass_status status = kb_fourier_run(s->pde, &s->samples, s->n, s->n_steps, values, &s->journey, s->error);
        if (status != KBASS_OK || !s->journey.is_lost) return status;
        stays = fabs(s->journey.t - before) <= 0.1 * (s->journey.t - start) ? stays + 1 : 0;
        before = s->journey.t;
        if (stays == 2 || losses == LOSSES || !is_affordable(s, s->n, 2 * s->n_steps)) return KBASS_OK;
        s->n_steps *= 2;
    }
}

/* More nodes and fresh steps until the solution goes through; lost at about one time with ever more nodes, it is. */
static kbass_status find_passage(search *s)
{
    double start = s->pde->axes[0].low, before = INFINITY;
    size_t n_steps = s->n_steps;
    for (int stays = 0;;) {
        kbass_status status = run_fourier(s, s->fine);
        if (status != KBASS_OK || !s->journey.is_lost) return status;
        stays = fabs(s->journey.t - before) <= 0.1 * (s->journey.t - start) ? stays + 1 : 0;
        before = s->journey.t;
        if (stays == 3 || !is_affordable(s, next_even(s->n), n_steps)) return lost(s);
        s->n = next_even(s->n);
        s->n_steps = n_steps;
    }
}

/* What the next refinement would move, by the rate at which movements shrink once they are small. */
static double next_movement(const search *s, double before, double moved)
{
    return isfinite(before) && moved <= s->resolution->tolerated ? moved * fmin(moved / before, 1) : moved;
}

/* Whether to do with what there is, where no finer resolution can be afforded. */
static bool is_enough(const search *s, double moved)
{
    return moved <= s->resolution->tolerated || s->resolution->is_rough;
}

/* Samples with s->n nodes and with the next number of them, at the same steps. */
static kbass_status compare_nodes(search *s, double *moved)
{
    size_t n = s->n, n_steps = s->n_steps;
    swap(&s->coarse, &s->fine);
    s->n = next_even(n);
    kbass_status status = run_fourier(s, s->fine);
    if (status == KBASS_OK && s->n_steps > n_steps) {
        s->n = n;
        status = run_fourier(s, s->coarse);
        s->n = next_even(n);
    }
    *moved = s->journey.is_lost ? INFINITY : movement(s, s->coarse, s->fine);
    return status;
}

/* More nodes; when they change little but not less and less, the steps are too long for the fine waves. On return
   `fine` holds the samples. */
static kbass_status refine_space(search *s)
{
    double moved = INFINITY, before = INFINITY;
    int n_slow = 0;
    kbass_status status = find_passage(s);
    while (status == KBASS_OK && !(next_movement(s, before, moved) <= s->resolution->wanted / 3)) {
        if (moved <= little && moved > before / 2) {
            s->n_steps *= 2;
            moved = INFINITY;
            if (is_affordable(s, s->n, s->n_steps)) status = run_fourier(s, s->fine);
            if (status != KBASS_OK) break;
        }
        if (!is_affordable(s, next_even(s->n), s->n_steps))
            return is_enough(s, moved) ? KBASS_OK : unresolved(s, moved);
        before = moved;
        status = compare_nodes(s, &moved);
        if (status == KBASS_OK && s->n >= 512) status = check_start(s, before, moved, &n_slow);
    }
    return status;
}

/* Removes the error's leading part, which shrinks by 2^4 when the step is halved: a <- fine + (fine - a)/15. */
static void extrapolate(const search *s, double *a, const double *fine)
{
    for (size_t i = 0; i < s->n_points * s->pde->n_fields; i++) a[i] = fine[i] + (fine[i] - a[i]) / 15;
}

/* Shorter steps, until the extrapolated samples would move no more. `fine` holds them then. */
static kbass_status refine_time(search *s)
{
    double before = INFINITY, moved = INFINITY;
    kbass_status status = KBASS_OK;
    for (int n_answers = 0; status == KBASS_OK && !(next_movement(s, before, moved) <= s->resolution->wanted / 3);
         n_answers++) {
        if (!is_affordable(s, s->n, 2 * s->n_steps)) {
            status = is_enough(s, moved) ? KBASS_OK : unresolved(s, moved);
            break;
        }
        s->n_steps *= 2;
        status = run_fourier(s, s->spare);
        if (status == KBASS_OK && s->journey.is_lost) status = lost(s);
        extrapolate(s, s->fine, s->spare); /* the old run becomes the new answer */
        before = moved;
        if (n_answers) moved = movement(s, s->coarse, s->fine);
        swap(&s->coarse, &s->fine); /* coarse: the answer; fine: the new run */
        swap(&s->fine, &s->spare);
    }
    swap(&s->coarse, &s->fine);
    return status;
}

static kbass_status solve_fourier(search *s)
{
    s->n = s->pde->n_space == 1 ? 64 : s->pde->n_space == 2 ? 24 : 16;
    s->n_steps = first_steps(s);
    kbass_status status = refine_space(s);
    if (status == KBASS_OK) status = refine_time(s);
    return status;
}

/* ---------------------------------------------------------------- collocation */

/* A table needs as many nodes as it has. */
static size_t first_nodes(const search *s)
{
    size_t n = s->pde->n_space == 1 ? 24 : 12;
    if (!s->resolution->is_rough) return n;
    n = s->pde->n_space == 1 ? 16 : 8;
    for (size_t d = 0; s->pde->table && d < s->pde->n_space; d++)
        if (s->pde->table->axes[d].n > n) n = s->pde->table->axes[d].n;
    return n;
}

static kbass_status solve_collocation(search *s)
{
    double moved = INFINITY, last = INFINITY;
    int n_slow = 0;
    size_t state = 0;
    kbass_status status = KBASS_OK;
    double wanted = s->resolution->wanted, rough = jump_of_start(s, &state) > little ? finer * little : 0;
    size_t before = s->n = first_nodes(s);
    while (status == KBASS_OK && !(moved <= wanted)) {
        swap(&s->coarse, &s->fine);
        double tolerance = moved > little ? fmax(rough, finer * wanted) : finer * wanted;
        status = kb_collocate_run(s->pde, &s->samples, s->n, tolerance, s->fine, &s->journey, s->error);
        if (status != KBASS_OK) return status;
        if (s->journey.is_lost && isinf(moved) && s->n > 48) return lost(s);
        moved = s->journey.is_lost ? INFINITY : movement(s, s->coarse, s->fine);
        if (moved <= wanted) break;
        status = check_start(s, last, moved, &n_slow);
        if (status != KBASS_OK) return status;
        last = moved;
        size_t next = next_even(s->n);
        if (total_nodes(s, next) * s->pde->n_states > (s->resolution->is_rough ? MOST_OF_ROUGH : MOST_UNKNOWNS)) {
            if (s->journey.is_lost) return lost(s);
            if (!is_enough(s, moved)) return unresolved(s, moved);
            if (!(moved <= s->resolution->tolerated)) before = s->n;
            break;
        }
        before = s->n;
        s->n = next;
    }
    if (s->resolution->is_rough) s->n = before; /* its error is what the next moved */
    return status;
}

/* ---------------------------------------------------------------- a resolution that is known */

static kbass_status run_once(search *s)
{
    s->n = s->resolution->n;
    s->n_steps = s->resolution->n_steps;
    kbass_status status = kb_fourier_suits(s->pde)
                              ? run_fourier(s, s->fine)
                              : kb_collocate_run(s->pde, &s->samples, s->n, finer * s->resolution->wanted, s->fine,
                                                 &s->journey, s->error);
    return status == KBASS_OK && s->journey.is_lost ? lost(s) : status;
}

/* ---------------------------------------------------------------- the door */

static kbass_status check_points(const kb_pde *pde, size_t n, const double *points, kbass_error *error)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < pde->n_axes; d++) {
            double x = points[i * pde->n_axes + d];
            if (!(pde->axes[d].low <= x && x <= pde->axes[d].high))
                return kb_fail(error, KBASS_ERROR_ARGUMENT, "point %zu has %s = %.10g, outside the domain, %g to %g",
                               i + 1, pde->axes[d].name, x, pde->axes[d].low, pde->axes[d].high);
        }
    return KBASS_OK;
}

static int by_time(const void *a, const void *b)
{
    const kb_sample *first = a, *second = b;
    if (first->t != second->t) return first->t > second->t ? 1 : -1;
    return (first->row > second->row) - (first->row < second->row);
}

/* At the first time the initial condition itself answers. */
static kbass_status take_initial(const search *s, double *values)
{
    const kb_pde *pde = s->pde;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; i < s->n_points && status == KBASS_OK; i++) {
        const double *point = s->samples.points + i * pde->n_axes;
        const double *places[KB_MOST_SPACE] = {0};
        for (size_t d = 0; d < pde->n_space; d++) places[d] = point + 1 + d;
        if (point[0] > pde->axes[0].low) continue;
        for (size_t f = 0; f < pde->n_fields && status == KBASS_OK; f++)
            status = kb_pde_initial(pde, f, 1, places, &values[i * pde->n_fields + f], s->error);
    }
    return status;
}

/* The points after the first time, by time. */
static void list_later(search *s)
{
    kb_samples *later = &s->samples;
    later->n = 0;
    for (size_t row = 0; row < s->n_points; row++) {
        double t = later->points[row * s->pde->n_axes];
        if (t > s->pde->axes[0].low) later->list[later->n++] = (kb_sample){t, row};
    }
    qsort(later->list, later->n, sizeof *later->list, by_time);
}

static kbass_status solve(search *s, double *values)
{
    size_t size = s->n_points * s->pde->n_fields;
    kbass_status status = KBASS_OK;
    s->coarse = KB_NEW(double, size);
    s->fine = KB_NEW(double, size);
    s->spare = KB_NEW(double, size);
    s->samples.list = KB_NEW(kb_sample, s->n_points);
    if (!s->coarse || !s->fine || !s->spare || !s->samples.list) return kb_out_of_memory(s->error, "the samples");
    list_later(s);
    if (s->samples.n && s->resolution->n) status = run_once(s);
    else if (s->samples.n) status = kb_fourier_suits(s->pde) ? solve_fourier(s) : solve_collocation(s);
    if (status != KBASS_OK) return status;
    s->resolution->n = s->n;
    s->resolution->n_steps = s->n_steps;
    memcpy(values, s->fine, size * sizeof *values);
    return take_initial(s, values);
}

kbass_status kb_pde_follow(const kb_pde *pde, kb_resolution *resolution, size_t n_points, const double *points,
                           double *values, kbass_error *error)
{
    search s = {
        .pde = pde, .n_points = n_points, .samples = {.points = points}, .resolution = resolution, .error = error};
    kbass_status status = check_points(pde, n_points, points, error);
    if (status == KBASS_OK && n_points) status = solve(&s, values);
    kb_free(s.samples.list);
    kb_free(s.coarse);
    kb_free(s.fine);
    kb_free(s.spare);
    return status;
}

kbass_status kb_pde_sample(const kb_pde *pde, size_t n_points, const double *points, double *values, kbass_error *error)
{
    kb_resolution resolution = pde->table ? from_rows : accurate;
    return kb_pde_follow(pde, &resolution, n_points, points, values, error);
}
