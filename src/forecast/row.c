#include "forecast/row.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "forecast/spread.h"

/* Movement at the next resolution, of the largest value: draws differ by more. */
static const kb_resolution rough = {.wanted = 2e-3, .tolerated = 1e-2, .is_rough = true};

/* ---------------------------------------------------------------- the solver's problem */

static kb_pde_box box_of(const kb_row_course *c)
{
    const kbass_posterior *p = c->posterior;
    kb_pde_box box = {.n_axes = p->n_axes};
    box.name[0] = p->axis_names[0];
    box.low[0] = p->last[0];
    box.high[0] = fmax(c->points[(c->n - 1) * p->n_axes], nextafter(p->last[0], INFINITY));
    for (size_t d = 0; d + 1 < p->n_axes; d++) {
        box.name[d + 1] = p->axis_names[d + 1];
        box.low[d + 1] = p->row.low[d];
        box.high[d + 1] = p->row.high[d];
        box.boundary[d] = p->row.is_closed[d] ? KB_PERIODIC : c->ends == KB_ENDS_MIRRORED ? KB_NEUMANN : KB_DIRICHLET;
    }
    return box;
}

/* The last row, and where its rates lead by the last time: fields by node to nodes by field. */
static void fill_table(const kb_row_course *c, const double *last, double time, kb_pde_table *t)
{
    size_t F = t->n_fields, n = t->n;
    for (size_t f = 0; f < F; f++)
        for (size_t i = 0; i < n; i++) {
            double rate = c->posterior->row.has_rates ? last[(n + i) * F + f] : 0;
            for (size_t s = 0; s < t->n_slices; s++)
                t->values[(s * F + f) * n + i] = last[i * F + f] + (s ? time - t->times[0] : 0) * rate;
            if (t->rates) t->rates[f * n + i] = rate;
        }
}

static kbass_status make_pde(const kb_row_course *c, const double *weights, const double *last, kb_pde **out,
                             kbass_error *error)
{
    const kbass_posterior *p = c->posterior;
    kb_pde_box box = box_of(c);
    char **equations = NULL;
    kb_pde_table *table = NULL;
    bool moves = c->ends == KB_ENDS_FITTED && p->row.has_rates;
    kbass_status status =
        kb_pde_table_create(&box, p->row.n_nodes, p->n_states, moves ? 2 : 1, p->row.time_order > 1, &table, error);
    if (status != KBASS_OK) return status;
    table->times[0] = box.low[0];
    if (moves) table->times[1] = box.high[0];
    fill_table(c, last, box.high[0], table);
    status = kb_belief_equations(p, c->belief, weights, &equations, error);
    if (status == KBASS_OK)
        status = kb_pde_create(p->n_states, (const char *const *)equations, &box, table, out, error);
    else kb_pde_table_destroy(table);
    kb_belief_equations_free(p, equations);
    return status;
}

kbass_status kb_row_course_follow(const kb_row_course *c, const double *weights, const double *last, double *values,
                                  kbass_error *error)
{
    kb_pde *pde = NULL;
    kb_resolution own = c->resolution;
    kbass_status status = make_pde(c, weights, last, &pde, error);
    if (status == KBASS_OK) status = kb_pde_follow(pde, &own, c->n, c->points, values, error);
    kb_pde_destroy(pde);
    return status;
}

kbass_status kb_row_course_begin(kb_row_course *c, kbass_error *error)
{
    kb_pde *pde = NULL;
    double *values = KB_NEW(double, c->n * c->posterior->n_states);
    kbass_status status =
        values ? make_pde(c, c->belief->weight, c->belief->last, &pde, error) : kb_out_of_memory(error, "the forecast");
    c->resolution = rough;
    if (status == KBASS_OK) status = kb_pde_follow(pde, &c->resolution, c->n, c->points, values, error);
    kb_pde_destroy(pde);
    kb_free(values);
    return status;
}

/* ---------------------------------------------------------------- within the record */

/* Between the mesh's points, linearly along each axis. */
void kb_row_predict(const kbass_posterior *p, const kb_belief *b, double time, const double *position, double *mean,
                    double *variance, double *given_weights)
{
    size_t F = p->n_states, n = p->row.n_points * F, below[KB_MAX_AXES];
    double share[KB_MAX_AXES];
    for (size_t a = 0; a < p->n_axes; a++) {
        double x = a ? position[a - 1] : time, steps = (double)(p->row.n_mesh[a] - 1);
        double at = fmin(fmax((x - p->first[a]) / (p->last[a] - p->first[a]) * steps, 0), steps);
        below[a] = (size_t)fmin(floor(at), steps - 1);
        share[a] = at - (double)below[a];
    }
    memset(mean, 0, F * sizeof *mean);
    memset(variance, 0, F * sizeof *variance);
    if (given_weights) memset(given_weights, 0, F * sizeof *given_weights);
    for (size_t corner = 0; corner < (size_t)1 << p->n_axes; corner++) {
        size_t point = 0;
        double weight = 1;
        for (size_t a = 0; a < p->n_axes; a++) {
            size_t is_above = corner >> a & 1;
            point = point * p->row.n_mesh[a] + below[a] + is_above;
            weight *= is_above ? share[a] : 1 - share[a];
        }
        for (size_t f = 0; f < F; f++) {
            mean[f] += weight * b->predicted[point * F + f];
            variance[f] += weight * b->predicted[n + point * F + f];
            if (given_weights) given_weights[f] += weight * b->predicted[2 * n + point * F + f];
        }
    }
}
