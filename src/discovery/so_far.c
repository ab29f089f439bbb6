/* The answer that stands while a run is going on. */
#include "answer/judge.h"
#include "base/memory.h"
#include "base/status.h"
#include "search/standing.h"
#include "discovery/discovery.h"

/* Without what takes time: no solution, no posterior, no comparison with laws that there may not be. */
static kbass_status answer(kbass_discovery *own, kbass_error *error)
{
    kb_frame frame = kb_discovery_frame(own);
    kb_search_result *found = &own->found;
    frame.starts_with_states = frame.starts_with_states && found->windows->n % frame.n_runs == 0;
    kbass_status status = kb_answer_create(&frame, found, KBASS_CANCELLED, &own->answer, error);
    if (status != KBASS_OK) return status;
    own->answer->result.seconds_total = kb_clock() - own->began;
    return kb_judge_unfinished(found, own->answer, error);
}

kbass_status kbass_discovery_so_far(const kbass_discovery *d, int parts, char **json, char **text, kbass_error *error)
{
    kb_windows windows = {0};
    kbass_discovery own = {.data = d->data,
                           .settings = d->settings,
                           .dictionary = d->dictionary,
                           .ode = d->ode,
                           .pde1d = d->pde1d,
                           .pde_nd = d->pde_nd,
                           .began = d->began,
                           .found = {.windows = &windows},
                           .solved = {.parts = KBASS_KEEP_RESULT, .is_cut = true}};
    *json = *text = NULL;
    if (!d->standing) return kb_fail(error, KBASS_ERROR_ARGUMENT, "no run is going on that keeps its best answer");
    kbass_status status = kb_standing_take(d->standing, &own.found.pool, &own.found.n_models, error);
    if (status == KBASS_OK && !own.found.pool.n) status = kb_fail(error, KBASS_ERROR_TIME, "there is no model yet");
    own.solved.posteriors = KB_NEW(kbass_posterior *, kbass_data_runs(d->data)); /* all NULL: none */
    if (status == KBASS_OK && !own.solved.posteriors) status = kb_out_of_memory(error, "the answer");
    if (status == KBASS_OK) {
        windows.n = own.found.pool.fits[0]->n_windows;
        status = answer(&own, error);
    }
    if (status == KBASS_OK) status = kbass_discovery_json(&own, json, error);
    if (status == KBASS_OK) status = kbass_discovery_text(&own, parts, text, error);
    kb_answer_destroy(own.answer);
    kb_pool_clear(&own.found.pool);
    kb_free(own.solved.posteriors);
    return status;
}
