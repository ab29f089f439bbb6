#include "gp/axes.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"

/* Of an axis, by the number of axes. */
static const double smallest_mesh[] = {0, 40, 40, 18, 12};  /* points */
static const double largest_mesh[] = {0, 400, 160, 48, 20}; /* points: seconds and memory */
static const double points_per_rank[] = {0, 1.7, 1.7, 1.7,
                                         1.3}; /* points for each function of the basis; not measured */
static const double rounding = 1e-9;           /* of an axis: ends that are no farther off are inside */

double kb_axis_rank_estimate(double stretch, double length)
{
    return sqrt(2 * log(1 / KB_AXIS_CUT)) * stretch / (M_PI * length) + 3;
}

double kb_ball_share(size_t n_axes)
{
    return pow(M_PI, 0.5 * (double)n_axes) / (tgamma(0.5 * (double)n_axes + 1) * pow(2, (double)n_axes));
}

double kb_axis_cut(size_t n_axes) { return n_axes == 3 ? KB_PRODUCT_CUT : KB_AXIS_CUT; }

static size_t mesh_size(const kb_axis_plan *plan)
{
    double stretch = plan->period > 0 ? plan->period : plan->hi - plan->lo;
    double size = points_per_rank[plan->n_axes] * (kb_axis_rank_estimate(stretch, plan->shortest) + 1);
    return (size_t)fmin(fmax(size, smallest_mesh[plan->n_axes]), largest_mesh[plan->n_axes]);
}

/* The given mesh within the axis' ends. */
static size_t cut_mesh(const kb_axis_plan *plan, const double **first)
{
    size_t begin = 0, end = plan->n_given;
    double slack = rounding * (plan->hi - plan->lo), hi = plan->period > 0 ? plan->lo + plan->period : plan->hi;
    while (begin < end && plan->given[begin] < plan->lo - slack) begin++;
    while (end > begin && plan->given[end - 1] > hi + slack) end--;
    if (plan->period > 0 && end > begin && plan->given[end - 1] > hi - slack) end--; /* the first point once more */
    *first = plan->given + begin;
    return end - begin;
}

/* An even mesh; of a periodic axis one period without its end. */
static void spread_mesh(const kb_axis_plan *plan, size_t n, double *mesh)
{
    double step = plan->period > 0 ? plan->period / (double)n : (plan->hi - plan->lo) / (double)(n - 1);
    for (size_t i = 0; i < n; i++) mesh[i] = plan->lo + step * (double)i;
}

kbass_status kb_axis_create(const kb_axis_plan *plan, size_t n_data, const double *data, kb_axis **out,
                            kbass_error *error)
{
    const double *given = NULL;
    kb_axis *axis = KB_NEW(kb_axis, 1);
    if (!axis) return kb_out_of_memory(error, "an axis");
    *axis = (kb_axis){.kind = plan->period > 0 ? KB_KERNEL_PERIODIC : plan->kind,
                      .lo = plan->lo,
                      .hi = plan->hi,
                      .unit = plan->unit,
                      .period = plan->period,
                      .margin = plan->margin,
                      .highest = plan->highest,
                      .cut = kb_axis_cut(plan->n_axes),
                      .shares_lo = plan->shares_lo,
                      .shares_hi = plan->shares_hi,
                      .n_data = n_data};
    axis->n_mesh = plan->given ? cut_mesh(plan, &given) : mesh_size(plan);
    axis->mesh = KB_NEW(double, axis->n_mesh);
    axis->data = KB_NEW(double, n_data);
    if (!axis->mesh || !axis->data) {
        kb_axis_destroy(axis);
        return kb_out_of_memory(error, "an axis");
    }
    if (given) memcpy(axis->mesh, given, axis->n_mesh * sizeof *given);
    else spread_mesh(plan, axis->n_mesh, axis->mesh);
    memcpy(axis->data, data, n_data * sizeof *data);
    *out = axis;
    return KBASS_OK;
}

static void level_destroy(kb_axis_level *level)
{
    if (!level) return;
    kb_basis_destroy(level->basis);
    kb_free(level->eigenvalue);
    kb_free(level->data);
    kb_free(level->gram);
    for (int q = 0; q < KB_AXIS_ORDERS; q++) kb_free(level->mesh[q]);
    kb_free(level);
}

void kb_axis_destroy(kb_axis *axis)
{
    if (!axis) return;
    for (size_t i = 0; i < KB_LADDER_LEVELS; i++) level_destroy(axis->levels[i]);
    kb_free(axis->mesh);
    kb_free(axis->data);
    kb_free(axis);
}

/* Drops the columns below the cut; needs the features of order 0 on the mesh. */
static void truncate_rank(kb_axis_level *level, size_t n_mesh, double cut)
{
    for (size_t q = 0; q < level->rank; q++) {
        const double *column = level->mesh[0] + q * n_mesh;
        level->eigenvalue[q] = kb_dot(n_mesh, column, column);
    }
    level->rank = level->basis->rank = kb_axis_rank(level, cut);
}

static void choose_inner(const kb_axis *axis, kb_axis_level *level)
{
    double stretch = axis->hi - axis->lo, slack = rounding * stretch;
    double margin = axis->period > 0 ? 0 : fmin(level->length, axis->margin * stretch);
    size_t first = 0, end = axis->n_mesh;
    while (first + 1 < end && axis->mesh[first] < axis->lo + margin - slack) first++;
    while (axis->period == 0 && end > first + 1 && axis->mesh[end - 1] > axis->hi - margin + slack) end--;
    level->first = first;
    level->n_inner = end - first;
}

double kb_axis_root(const kb_axis *axis, double s)
{
    bool is_shared = (axis->shares_lo && s < axis->lo + 1e-9) || (axis->shares_hi && s > axis->hi - 1e-9);
    return is_shared ? sqrt(0.5) : 1;
}

/* phi at the data and its Gram matrix */
static void fill_data(const kb_axis *axis, kb_axis_level *level, double *work)
{
    size_t n = axis->n_data;
    kb_basis_features(level->basis, n, axis->data, 0, level->data, work);
    for (size_t i = 0; i < n; i++) {
        double root = kb_axis_root(axis, axis->data[i]);
        for (size_t q = 0; root < 1 && q < level->rank; q++) level->data[i + q * n] *= root;
    }
    kb_gram(level->rank, n, 1, level->data, n, 0, level->gram, level->rank);
    kb_symmetrise(level->rank, level->gram, level->rank);
}

static kbass_status fill_level(const kb_axis *axis, kb_axis_level *level, kbass_error *error)
{
    size_t m = axis->n_mesh, n = axis->n_data;
    kb_kernel kernel = {axis->kind, level->length, axis->period > 0 ? axis->period : 1};
    kbass_status status = kb_basis_create(&kernel, m, axis->mesh, &level->basis, error);
    if (status != KBASS_OK) return status;
    level->rank = level->basis->rank;
    double *work = KB_NEW(double, kb_basis_work(level->basis, m > n ? m : n));
    level->eigenvalue = KB_NEW(double, level->rank);
    level->data = KB_NEW(double, n * level->rank);
    level->gram = KB_NEW(double, level->rank * level->rank);
    bool complete = work && level->eigenvalue && level->data && level->gram;
    for (int q = 0; q <= axis->highest; q++)
        complete = (level->mesh[q] = KB_NEW(double, m * level->rank)) != NULL && complete;
    if (complete) {
        kb_basis_features(level->basis, m, axis->mesh, 0, level->mesh[0], work);
        truncate_rank(level, m, axis->cut);
        for (int q = 1; q <= axis->highest; q++)
            kb_basis_features(level->basis, m, axis->mesh, q, level->mesh[q], work);
        fill_data(axis, level, work);
        choose_inner(axis, level);
    }
    kb_free(work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the kernel's features");
}

kbass_status kb_axis_level_at(kb_axis *axis, int step, const kb_axis_level **out, kbass_error *error)
{
    int index = step - KB_LADDER_FIRST;
    if (index < 0) index = 0;
    if (index >= KB_LADDER_LEVELS) index = KB_LADDER_LEVELS - 1;
    if (!axis->levels[index]) {
        kb_axis_level *level = KB_NEW(kb_axis_level, 1);
        if (!level) return kb_out_of_memory(error, "a length scale");
        level->length = axis->unit * pow(KB_LADDER_RATIO, index + KB_LADDER_FIRST);
        kbass_status status = fill_level(axis, level, error);
        if (status != KBASS_OK) {
            level_destroy(level);
            return status;
        }
        axis->levels[index] = level;
    }
    *out = axis->levels[index];
    return KBASS_OK;
}

size_t kb_axis_rank(const kb_axis_level *level, double relative)
{
    size_t rank = 1;
    while (rank < level->rank && level->eigenvalue[rank] > relative * level->eigenvalue[0]) rank++;
    return rank;
}

/* phi_to' phi_from / (L_to + ridge) */
void kb_axis_transfer(const kb_axis *axis, const kb_axis_level *from, size_t rank_from, const kb_axis_level *to,
                      size_t rank_to, double *T)
{
    static const double ridge = 1e-9; /* per mesh point */
    size_t m = axis->n_mesh;
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, rank_to, rank_from, m, 1, to->mesh[0], m, from->mesh[0], m, 0, T, rank_to);
    for (size_t q = 0; q < rank_from; q++)
        for (size_t p = 0; p < rank_to; p++) T[p + q * rank_to] /= to->eigenvalue[p] + ridge * (double)m;
}
