/* Posterior, JSON and text of a discovery. */
#include "answer/axes_solution.h"
#include "base/apart.h"
#include "base/memory.h"
#include "base/status.h"
#include "em/states.h"
#include "report/json.h"
#include "report/text.h"
#include "discovery/discovery.h"

typedef struct {
    const kbass_discovery *discovery;
    kbass_posterior **out;
    kbass_status status;
    kbass_error *error;
} gathering;

static void axes_posteriors_apart(void *context)
{
    gathering *g = context;
    const kbass_discovery *d = g->discovery;
    for (size_t run = 0; g->status == KBASS_OK && run < kbass_data_runs(d->data); run++)
        g->status = kb_axes_posterior(d->pde_nd, &d->found, d->data, run, &g->out[run], g->error);
}

static kbass_status gather_axes_posteriors(const kbass_discovery *d, kbass_posterior **out, kbass_error *error)
{
    gathering g = {d, out, KBASS_OK, error};
    kb_apart(axes_posteriors_apart, &g);
    return g.status;
}

/* The kernel engine's weights are as certain as its own evidence has them. */
static kbass_status gather_states(const kbass_discovery *d, const size_t *starts, kbass_posterior **out,
                                  kbass_error *error)
{
    const kb_search_result *f = &d->found;
    kbass_status status = kb_posterior_of_states(d->data, d->ode->record, d->dictionary, d->ode->columns, f->windows,
                                                 starts, f->pool.n, f->pool.fits, out, error);
    for (size_t run = 0; status == KBASS_OK && f->engine.state && run < kbass_data_runs(d->data); run++)
        if (out[run]) status = kb_em_states_widen(d->ode, f, out[run], error);
    return status;
}

/* Constants inside terms are uncertain, too. */
static kbass_status add_constants(const kbass_discovery *d, const size_t *starts, kbass_posterior **out,
                                  kbass_error *error)
{
    const kb_frame frame = kb_discovery_frame(d);
    kbass_status status = KBASS_OK;
    for (size_t run = 0; status == KBASS_OK && d->constants_spread.n && run < kbass_data_runs(d->data); run++)
        if (out[run])
            status = kb_posterior_add_constants(out[run], &frame, d->found.pool.fits[0], d->found.pool.n_start,
                                                starts[run], &d->constants_spread, error);
    return status;
}

kbass_status kb_discovery_posteriors(const kbass_discovery *d, kbass_posterior **out, kbass_error *error)
{
    const kb_search_result *f = &d->found;
    const kb_pde1d_problem *l = d->pde1d;
    size_t runs = kbass_data_runs(d->data);
    if (d->paper || !kb_has_model(f)) return KBASS_OK;
    if (d->pde_nd) return gather_axes_posteriors(d, out, error);
    size_t *starts = KB_NEW(size_t, runs + 1);
    if (!starts) return kb_out_of_memory(error, "the posterior");
    for (size_t run = 0; run <= runs; run++) starts[run] = kb_discovery_first_window(d, run);
    kbass_status status = l ? kb_posterior_of_fields(d->data, f->engine.setups, l->dictionary, l->columns, f->windows,
                                                     starts, f->pool.n, f->pool.fits, out, error)
                            : gather_states(d, starts, out, error);
    if (status == KBASS_OK) status = add_constants(d, starts, out, error);
    kb_free(starts);
    return status;
}

static void forget_posteriors(const kbass_discovery *d, kbass_posterior **posteriors)
{
    for (size_t run = 0; posteriors && run < kbass_data_runs(d->data); run++) kbass_posterior_destroy(posteriors[run]);
    kb_free(posteriors);
}

kbass_status kbass_discovery_posterior(const kbass_discovery *d, size_t run, kbass_posterior **posterior,
                                       kbass_error *error)
{
    *posterior = NULL;
    if (!d->answer) return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    kbass_posterior **all = KB_NEW(kbass_posterior *, kbass_data_runs(d->data));
    kbass_status status = all ? kb_discovery_check_run(d, run, error) : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) status = kb_discovery_posteriors(d, all, error);
    if (status == KBASS_OK && !all[run])
        status = kb_fail(error, KBASS_ERROR_DATA,
                         "this run leaves no joint posterior of weights and state: it needs our "
                         "method, a model, and an equation for every state");
    if (status == KBASS_OK) {
        *posterior = all[run];
        all[run] = NULL;
    }
    forget_posteriors(d, all);
    return status;
}

kbass_status kbass_discovery_json(const kbass_discovery *d, char **json, kbass_error *error)
{
    if (!d->answer) return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    kbass_discovery *own = (kbass_discovery *)d; /* what it has not kept is made now, once */
    kbass_status status = d->solved.parts & KBASS_KEEP_RESULT
                              ? KBASS_OK
                              : kb_discovery_solve(own, d->solved.parts | KBASS_KEEP_RESULT, NULL, error);
    if (status != KBASS_OK) return status;
    return kb_report_json(d->data, &d->settings, &d->answer->result, d->solved.posteriors, d->solved.sketch, json,
                          error);
}

kbass_status kbass_discovery_text(const kbass_discovery *d, int parts, char **text, kbass_error *error)
{
    if ((parts & KBASS_TEXT_RESULT) && !d->answer)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    return kb_report_text(d->data, d, parts, text, error);
}
