/* Both sides of the law along the solution. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "discovery/discovery.h"

/* The selected terms' weights: n_terms x n_states. */
static void gather_weights(const kbass_discovery *d, double *weights)
{
    const kb_dictionary *dictionary = d->dictionary;
    for (size_t i = 0, e = 0; i < dictionary->n_states; i++) {
        const kbass_equation *equation = &d->answer->result.equations[e];
        if (!dictionary->has_equation[i]) continue;
        for (size_t q = 0; q < equation->n_terms; q++)
            if (equation->terms[q].selected)
                weights[kb_dictionary_find(dictionary, equation->terms[q].term) + i * dictionary->n_terms] =
                    equation->terms[q].weight;
        e++;
    }
}

/* Differences at a sixteenth of the samples' distance in time, at two of the integrator's nodes in space. */
static void set_box(const kbass_discovery *d, size_t run, kb_law *law)
{
    const kb_field_samples *samples = d->ode ? NULL : kb_discovery_samples(d, run);
    const kb_record *record = samples ? NULL : d->ode->record;
    double span = samples ? samples->span[0] : record->span,
           duration = samples ? samples->extent[0] : record->duration[run];
    law->low[0] = samples ? samples->first[0] : record->origin[run];
    law->high[0] = law->low[0] + span * duration;
    law->step[0] = span * fmin(samples ? samples->spacing[0] : record->spacing, 0.1 * duration) / 16;
    for (size_t a = 1; samples && a < samples->n_axes; a++) {
        double nodes =
            d->found.engine.setups ? (double)d->found.engine.setups[run].line.n_nodes / 2 : 8 / samples->spacing[a];
        law->low[a] = samples->first[a];
        law->high[a] = samples->first[a] + samples->span[a] * kb_discovery_reach(d, run, a);
        law->step[a] = samples->span[a] / nodes;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where inputs jump the solution has kinks; the input has its new value there, so that the border is just before. */
static void add_jumps(const kb_record *record, size_t run, double *borders, kb_law *law)
{
    double at = record ? kb_record_next_jump(record, run, 0) : INFINITY;
    if (!(at < INFINITY)) return;
    for (; at < record->duration[run]; at = kb_record_next_jump(record, run, at + 1e-12))
        borders[law->n_borders++] = law->low[0] + record->span * (at - 2e-9);
    qsort(borders, law->n_borders, sizeof *borders, ascending);
}

static void set_borders(const kbass_discovery *d, size_t run, double *borders, kb_law *law)
{
    const kb_windows *windows = d->found.windows;
    const kb_record *record = d->pde1d ? NULL : d->ode ? d->ode->record : NULL;
    const kb_field_samples *samples = d->pde1d ? d->pde1d->run_samples[run] : NULL;
    const double *rows = samples ? samples->grid[0] : record ? record->time : NULL;
    double span = samples ? samples->span[0] : record ? record->span : 0;
    size_t begin = kb_discovery_first_window(d, run), end = kb_discovery_first_window(d, run + 1),
           first = samples && windows ? windows->first[begin] : 0;
    for (size_t i = begin; i + 1 < end; i++)
        borders[law->n_borders++] = law->low[0] + span * rows[windows->last[i] - first];
    add_jumps(record, run, borders, law);
    law->borders = borders;
}

kbass_status kbass_discovery_law(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                 const double *positions, double *lhs, double *rhs, kbass_error *error)
{
    if (!d->answer || !d->answer->result.n_equations)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no law yet: no run has found a model");
    if (!positions != (d->data->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    kbass_status status = kb_discovery_check_run(d, run, error);
    if (status != KBASS_OK) return status;
    const kb_dictionary *dictionary = d->dictionary;
    const kb_discovery_run_of context = {d, run};
    double *weights = KB_NEW(double, dictionary->n_terms * dictionary->n_states);
    size_t jumps = d->ode && d->ode->record->inputs ? d->data->n_rows * d->data->n_states : 0;
    double *borders = KB_NEW(double, (d->found.windows ? d->found.windows->n : 1) + jumps);
    kb_law law = {
        .dictionary = dictionary, .weights = weights, .solution = kb_discovery_solution_at, .context = &context};
    status = weights && borders ? KBASS_OK : kb_out_of_memory(error, "the law");
    if (status == KBASS_OK) {
        gather_weights(d, weights);
        set_box(d, run, &law);
        set_borders(d, run, borders, &law);
        status = kb_law_sides(&law, n, times, positions, lhs, rhs, error);
    }
    kb_free(weights);
    kb_free(borders);
    return status;
}
