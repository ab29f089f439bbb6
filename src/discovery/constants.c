/* Constants inside terms: the search at a place of theirs, and what their profile is fitted with. */
#include "base/memory.h"
#include "base/status.h"
#include "constants/scan.h"
#include "constants/starts.h"
#include "discovery/discovery.h"

typedef struct {
    kbass_discovery *discovery;
    kb_run *run;
} constants_search;

static const kb_columns *columns_of(const void *context)
{
    const kbass_discovery *d = ((const constants_search *)context)->discovery;
    return d->ode ? d->ode->columns : d->pde1d->columns;
}

/* Of fields, where no regression is at hand: the middle, and both sides of it. */
static kbass_status scan_constants(void *context, size_t n_wanted, double *values, double *steps, size_t *n,
                                   kbass_error *error)
{
    static const double shares[] = {0.5, 0.2, 0.8};
    kbass_discovery *d = ((constants_search *)context)->discovery;
    size_t constants = d->dictionary->n_constants;
    if (d->ode) return kb_constants_scan(d->ode, d->dictionary, n_wanted, values, steps, n, error);
    *n = n_wanted < 3 ? n_wanted : 3;
    for (size_t i = 0; i < *n * constants; i++) {
        double share = shares[i / constants] + 0.01 * (double)(i % constants);
        values[i] = kb_constant_at(&d->dictionary->constants[i % constants], share);
        steps[i] = 0.15;
    }
    return KBASS_OK;
}

/* Fits at other values of the constants are other pieces of work. */
static void tell_checkpoint(const constants_search *c, double shift)
{
    const kb_dictionary *dictionary = c->discovery->dictionary;
    kb_work_key key = kb_work_key_begin("constants");
    kb_work_key_add(&key, &shift, sizeof shift);
    for (size_t i = 0; i < dictionary->n_constants; i++)
        kb_work_key_add(&key, &dictionary->constants[i].value, sizeof dictionary->constants[i].value);
    kb_checkpoint_context(c->run->checkpoint, key);
}

/* The problem at the constants' present values in place of the one before, which stays where this fails. */
static kbass_status renew_problem(kbass_discovery *d, kbass_error *error)
{
    kb_ode_problem *ode = NULL;
    kb_pde1d_problem *pde1d = NULL;
    kbass_status status = d->ode ? kb_ode_problem_create(d->data, &d->settings, d->dictionary, &ode, error)
                                 : kb_pde1d_problem_create(d->data, &d->settings, d->dictionary, &pde1d, error);
    if (status != KBASS_OK) return status;
    kb_ode_problem_destroy(d->ode);
    kb_pde1d_problem_destroy(d->pde1d);
    d->ode = ode;
    d->pde1d = pde1d;
    return KBASS_OK;
}

static kbass_status search_at(void *context, double shift, kbass_error *error)
{
    constants_search *c = context;
    kbass_discovery *d = c->discovery;
    kb_search_result_clear(&d->found);
    kbass_status status = renew_problem(d, error);
    if (status != KBASS_OK) return status;
    kb_columns *columns = d->ode ? d->ode->columns : d->pde1d->columns;
    for (size_t i = 0; i < columns->n; i++)
        if (!columns->required[i] && kb_dictionary_has_constant(d->dictionary, columns->term[i]))
            columns->log_odds[i] += shift;
    tell_checkpoint(c, shift);
    return kb_discovery_search(d, c->run, error);
}

/* On the windows and grids of the final fits, under the floor that the noise had there. */
static kbass_status make_shooter(const void *context, size_t n, kb_shooter **out, kbass_error *error)
{
    const kbass_discovery *d = ((const constants_search *)context)->discovery;
    const kb_search_result *found = &d->found;
    kb_pde1d_runs *all_runs = NULL;
    kbass_status status = KBASS_OK;
    if (d->ode) {
        if (d->ode->record->inputs) kb_inputs_set_delays(d->ode->record->inputs, d->dictionary->input_delay);
        status = kb_shooter_create(d->ode->record, d->dictionary, d->ode->columns, found->windows->n, n, out, error);
    } else {
        const kb_columns *columns = d->pde1d->columns;
        status =
            kb_pde1d_runs_create(d->pde1d->n_runs, found->engine.setups, d->dictionary, columns, n, &all_runs, error);
        if (status == KBASS_OK)
            status = kb_shooter_create_on(&all_runs->dynamics, columns, found->windows->n, n, out, error);
    }
    if (status != KBASS_OK) return status;
    if (d->ode) (*out)->flow->follow = kb_ode_problem_follow(d->ode);
    (*out)->dynamics->noise_floor = found->noise_floor;
    (*out)->likelihood.windows = found->windows;
    return KBASS_OK;
}

kbass_status kb_discovery_search_constants(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    constants_search context = {d, run};
    kb_constants_task task = {.context = &context,
                              .dictionary = d->dictionary,
                              .found = &d->found,
                              .run = run,
                              .starts_are_blind = !d->ode,
                              .scan = scan_constants,
                              .search = search_at,
                              .make = make_shooter,
                              .columns = columns_of};
    if (!d->dictionary->n_constants) return kb_discovery_search(d, run, error);
    kbass_status status =
        kb_constants_search(&task, d->constants, &d->constant_correlation, &d->constants_spread, error);
    if (d->ode && d->ode->record->inputs) kb_inputs_set_delays(d->ode->record->inputs, d->dictionary->input_delay);
    return status;
}
