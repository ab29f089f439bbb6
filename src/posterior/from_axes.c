/* The posterior of fields over several axes, or of second order in time: the last row at nodes, from which forecasts
 * go on, and predictions on a mesh, by which one more sample is weighed.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "posterior/band.h"
#include "posterior/posterior.h"

/* Nodes of the last row along an axis, by the number of space axes: at most. Closed axes need powers of 2 and 3; with
   open ones the forecast solves for all nodes at once. */
static const size_t most_closed[] = {64, 24, 12};                 /* nodes: along closed axes, by their number */
static const size_t most_open[] = {48, 16, 9};                    /* nodes: along open axes, by their number */
static const size_t closed_nodes[] = {8, 12, 16, 24, 32, 48, 64}; /* nodes: that a transform likes */
static const size_t mesh_times = 11;                              /* times: at which a law is looked at */
static const size_t mesh_places[] = {31, 11, 7};                  /* places: along an axis, by their number */
enum { MOST_RANK = 40 };   /* directions: of the start's covariance that are kept */
enum { FEWEST_NODES = 8 }; /* nodes: along an axis */

typedef struct {
    const kb_frame *frame;
    const double *noise_unit;
    kb_spread_source *source;
    const void *context;
    kbass_posterior *posterior;
} maker;

/* ---------------------------------------------------------------- nodes and mesh */

static size_t closed_count(size_t wanted, size_t most)
{
    size_t n = closed_nodes[0];
    for (size_t i = 0; i < sizeof closed_nodes / sizeof *closed_nodes; i++)
        if (closed_nodes[i] <= most && n < wanted) n = closed_nodes[i];
    return n;
}

/* As many nodes as the data have distinct places, and half as many again; all closed axes have the same number. */
static void lay_row(const kb_field_samples *samples, int time_order, kbass_posterior *p)
{
    kb_last_row *row = &p->row;
    size_t space = p->n_axes - 1, most = most_open[space - 1], nodes = 1, closed = 0;
    row->time_order = time_order;
    row->has_rates = time_order > 1;
    for (size_t a = 1; a <= space; a++)
        if (samples->period[a] > 0 && samples->n_grid[a] > closed) closed = samples->n_grid[a];
    for (size_t d = 0; d < space; d++) {
        size_t wanted = samples->n_grid[d + 1] + samples->n_grid[d + 1] / 2;
        row->is_closed[d] = samples->period[d + 1] > 0;
        row->has_rates = row->has_rates || !row->is_closed[d];
        row->low[d] = samples->first[d + 1];
        row->high[d] = row->low[d] + samples->span[d + 1] * (row->is_closed[d] ? samples->period[d + 1] : 1);
        row->n_nodes[d] = wanted < FEWEST_NODES ? FEWEST_NODES : wanted > most ? most : wanted;
        if (row->is_closed[d]) row->n_nodes[d] = closed_count(closed + closed / 2, most_closed[space - 1]);
        nodes *= row->n_nodes[d];
    }
    row->n_last = nodes * p->n_states * (row->has_rates ? 2 : 1);
    row->n_points = 1;
    for (size_t a = 0; a <= space; a++) {
        row->n_mesh[a] = a ? mesh_places[space - 1] : mesh_times;
        row->n_points *= row->n_mesh[a];
    }
}

void kb_last_row_node(const kb_last_row *row, size_t n_space, size_t node, double *place)
{
    for (size_t d = 0; d < n_space; d++) {
        size_t n = row->n_nodes[d], k = node % n;
        double share = row->is_closed[d] ? (double)k / (double)n : 0.5 - 0.5 * cos(M_PI * (double)k / (double)(n - 1));
        place[d] = row->low[d] + (row->high[d] - row->low[d]) * share;
        node /= n;
    }
}

void kb_last_row_point(const kbass_posterior *p, size_t point, double *at)
{
    for (size_t a = p->n_axes; a-- > 0;) {
        size_t n = p->row.n_mesh[a], k = point % n;
        at[a] = k + 1 == n ? p->last[a] : p->first[a] + (p->last[a] - p->first[a]) * (double)k / (double)(n - 1);
        point /= n;
    }
}

/* Times and positions of all nodes at the record's end, or of all points of the mesh. */
static void list_points(const kbass_posterior *p, bool is_mesh, size_t n, double *times, double *positions)
{
    size_t space = p->n_axes - 1;
    for (size_t i = 0; i < n; i++) {
        double at[KB_MAX_AXES] = {p->last[0]};
        if (is_mesh) kb_last_row_point(p, i, at);
        else kb_last_row_node(&p->row, space, i, at + 1);
        times[i] = at[0];
        memcpy(positions + i * space, at + 1, space * sizeof *positions);
    }
}

/* ---------------------------------------------------------------- one model */

/* The joint factor: rows of the weights, then of the last row; columns of the weights' e, then of the rest. */
static kbass_status take_last(const maker *m, const kb_fit *fit, kb_field_spread *s, kb_belief *b, kbass_error *error)
{
    const kb_columns *c = m->frame->columns;
    size_t k = s->k, fixed = c->n_fixed, n = s->n;
    double *F = KB_NEW(double, n *MOST_RANK);
    if (!F) return kb_out_of_memory(error, "the posterior");
    size_t own = kb_low_rank(n, s->covariance, MOST_RANK, F), rank = k + own;
    kbass_status status = kb_belief_allocate_row(m->posterior, rank, b, error);
    if (status == KBASS_OK) {
        memcpy(b->last, s->mean, n * sizeof *b->last);
        for (size_t q = 0; q < k; q++)
            for (size_t j = 0; j < k; j++)
                b->factor[(fixed + q) * rank + j] = c->unit[fit->support.column[q]] * s->weights[q * k + j];
        for (size_t i = 0; i < n; i++) {
            double *row = b->factor + (fixed + k + i) * rank;
            memcpy(row, s->by_weights + i * k, k * sizeof *row);
            for (size_t j = 0; j < own; j++) row[k + j] = F[i + j * n];
        }
        for (size_t j = 0; j < k; j++) /* the weights' covariance, as windows have it */
            for (size_t i = 0; i < k; i++) {
                double sum = 0;
                for (size_t e = 0; e < k; e++)
                    sum += b->factor[(fixed + i) * rank + e] * b->factor[(fixed + j) * rank + e];
                b->windows[0].covariance[fixed + i + (fixed + j) * b->n_terms] = sum;
            }
    }
    kb_free(F);
    return status;
}

static void take_predictions(const kbass_posterior *p, const kb_field_spread *s, kb_belief *b)
{
    size_t n = p->row.n_points * p->n_states;
    for (size_t i = 0; i < n; i++) {
        const double *own = s->by_weights + i * s->k;
        double by_weights = 0;
        for (size_t q = 0; q < s->k; q++) by_weights += own[q] * own[q];
        b->predicted[i] = s->mean[i];
        b->predicted[n + i] = s->variance[i] + by_weights;
        b->predicted[2 * n + i] = s->variance[i];
    }
}

/* The source's answer on the mesh or at the nodes of the last row. */
static kbass_status ask(const maker *m, size_t index, const kb_fit *fit, bool is_mesh, kb_field_spread *s,
                        kbass_error *error)
{
    const kbass_posterior *p = m->posterior;
    const kb_last_row *row = &p->row;
    bool has_rates = row->has_rates && !is_mesh;
    size_t n = is_mesh ? row->n_points : row->n_last / p->n_states / (row->has_rates ? 2 : 1);
    double *times = KB_NEW(double, n), *positions = KB_NEW(double, n *(p->n_axes - 1));
    kbass_status status = times && positions ? KBASS_OK : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK)
        status = kb_field_spread_create(n * p->n_states * (has_rates ? 2 : 1), fit->support.n, has_rates, !is_mesh, s,
                                        error);
    if (status == KBASS_OK) {
        list_points(p, is_mesh, n, times, positions);
        status = m->source(m->context, index, n, times, positions, s, error);
        if (status != KBASS_OK) kb_field_spread_clear(s);
    }
    kb_free(times);
    kb_free(positions);
    return status;
}

static kbass_status describe(const maker *m, const kb_fit *fit, double log_odds, kb_belief *b, kbass_error *error)
{
    const kbass_posterior *p = m->posterior;
    b->log_odds = log_odds;
    b->windows[0].first = p->first[0];
    b->windows[0].last = p->last[0];
    for (size_t i = 0; i < p->n_states; i++) b->noise[i] = sqrt(fit->variance[i]) * m->noise_unit[i];
    return kb_belief_name_terms(m->frame, fit, b, error);
}

static kbass_status add_model(const maker *m, size_t index, const kb_fit *fit, double log_odds, kbass_error *error)
{
    kb_field_spread last = {0}, mesh = {0};
    kbass_posterior *p = m->posterior;
    kbass_status status = ask(m, index, fit, false, &last, error);
    if (status == KBASS_OK) status = ask(m, index, fit, true, &mesh, error);
    kb_belief *b = &p->models[p->n_models];
    if (status == KBASS_OK) status = kb_belief_allocate(p, m->frame->columns->n_fixed + fit->support.n, 1, b, error);
    if (status == KBASS_OK) {
        p->n_models++;
        status = describe(m, fit, log_odds, b, error);
    }
    if (status == KBASS_OK) status = take_last(m, fit, &last, b, error);
    if (status == KBASS_OK) take_predictions(p, &mesh, b);
    kb_field_spread_clear(&last);
    kb_field_spread_clear(&mesh);
    return status;
}

static size_t count_nodes(const kbass_posterior *p) { return p->row.n_last / p->n_states / (p->row.has_rates ? 2 : 1); }

/* The chosen fit's fields at the nodes at a time of the record; with rates these follow. */
static kbass_status ask_row(const maker *m, const kb_fit *fit, double time, bool has_rates, double *values,
                            kbass_error *error)
{
    const kbass_posterior *p = m->posterior;
    size_t n = count_nodes(p), size = n * p->n_states * (has_rates ? 2 : 1);
    double *times = KB_NEW(double, n), *positions = KB_NEW(double, n *(p->n_axes - 1));
    kb_field_spread spread = {0};
    kbass_status status = times && positions
                              ? kb_field_spread_create(size, fit->support.n, has_rates, false, &spread, error)
                              : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) {
        list_points(p, false, n, times, positions);
        for (size_t i = 0; i < n; i++) times[i] = time;
        status = m->source(m->context, 0, n, times, positions, &spread, error);
    }
    if (status == KBASS_OK) memcpy(values, spread.mean, size * sizeof *values);
    kb_field_spread_clear(&spread);
    kb_free(times);
    kb_free(positions);
    return status;
}

/* Where simulate begins, and what open ends do. */
static kbass_status take_start(const maker *m, const kb_fit *fit, kbass_error *error)
{
    kbass_posterior *p = m->posterior;
    size_t size = count_nodes(p) * p->n_states, n = 1;
    for (size_t d = 0; d + 1 < p->n_axes; d++)
        if (!p->row.is_closed[d]) n = mesh_times;
    kb_first_rows *s = &p->start;
    *s = (kb_first_rows){.times = KB_NEW(double, n), .values = KB_NEW(double, (n + 1) * size)};
    if (p->row.time_order > 1) s->rates = KB_NEW(double, size);
    if (!s->times || !s->values || (p->row.time_order > 1 && !s->rates))
        return kb_out_of_memory(error, "the posterior");
    kbass_status status = ask_row(m, fit, p->first[0], s->rates != NULL, s->values, error);
    if (status == KBASS_OK && s->rates) memcpy(s->rates, s->values + size, size * sizeof *s->rates);
    for (size_t i = 0; i < n; i++)
        s->times[i] = p->first[0] + (p->last[0] - p->first[0]) * (double)i / (double)(n > 1 ? n - 1 : 1);
    for (size_t i = 1; status == KBASS_OK && i < n; i++)
        status = ask_row(m, fit, s->times[i], false, s->values + i * size, error);
    s->n = status == KBASS_OK ? n : 0;
    return status == KBASS_ERROR_MEMORY ? status : KBASS_OK;
}

kbass_status kb_posterior_of_axes(const kbass_data *data, size_t run, const kb_frame *frame,
                                  const kb_field_samples *samples, const double *noise_unit, size_t n_fits,
                                  kb_fit *const *fits, kb_spread_source *source, const void *context,
                                  kbass_posterior **out, kbass_error *error)
{
    maker m = {frame, noise_unit, source, context, NULL};
    size_t near = kb_count_near(n_fits, fits);
    for (size_t i = 0; i < frame->dictionary->n_states; i++)
        if (!frame->dictionary->has_equation[i]) return KBASS_OK; /* its future is nobody's to tell */
    kbass_status status = kb_posterior_create(data, run, 0, KB_RIVALS_OF_FIELDS, &m.posterior, error);
    if (status == KBASS_OK) lay_row(samples, frame->dictionary->time_order, m.posterior);
    for (size_t i = 0; status == KBASS_OK && i < near && i < KB_RIVALS_OF_FIELDS; i++) {
        kbass_status added = add_model(&m, i, fits[i], kb_fit_log_odds(fits[i], fits[0]), error);
        if (added == KBASS_ERROR_MEMORY) status = added;
        if (added != KBASS_OK && i == 0) break;
    }
    if (status == KBASS_OK && m.posterior->n_models) status = take_start(&m, fits[0], error);
    if (status == KBASS_OK && m.posterior->n_models) *out = m.posterior;
    else kbass_posterior_destroy(m.posterior);
    return status;
}
