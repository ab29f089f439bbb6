/* Made and destroyed. */
#include "base/apart.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "discovery/discovery.h"

typedef struct {
    kbass_discovery *discovery;
    const kbass_data *data;
    const kbass_settings *settings;
    kbass_status status;
    kbass_error *error;
} building;

static void build_apart(void *context)
{
    building *b = context;
    kbass_discovery *d = b->discovery;
    b->status = kb_budget_begin(&d->budget, b->settings ? b->settings->memory : NULL,
                                b->settings ? b->settings->time_limit : 0, b->error);
    kb_budget *before = kb_budget_enter(&d->budget);
    if (b->status == KBASS_OK) b->status = kb_discovery_build(d, b->data, b->settings, b->error);
    kb_budget_enter(before);
}

kbass_status kbass_discovery_create(const kbass_data *data, const kbass_settings *settings, kbass_discovery **discovery,
                                    kbass_error *error)
{
    double start = kb_clock();
    kbass_discovery *d = KB_NEW(kbass_discovery, 1);
    if (!d) return kb_out_of_memory(error, "the discovery");
    building b = {d, data, settings, KBASS_OK, error};
    kb_apart(build_apart, &b);
    if (b.status == KBASS_OK) b.status = kb_discovery_open_checkpoint(d, error);
    d->seconds_to_create = kb_clock() - start;
    if (b.status == KBASS_OK) *discovery = d;
    else kbass_discovery_destroy(d);
    return b.status;
}

size_t kbass_discovery_candidates(const kbass_discovery *d) { return d->dictionary->n_terms; }

const char *kbass_discovery_candidate(const kbass_discovery *d, size_t index)
{
    const kb_dictionary *dictionary = d->dictionary;
    if (index >= dictionary->n_terms) return NULL;
    const char *form = kb_dictionary_form(dictionary, index);
    return form ? form : kb_dictionary_name(dictionary, index);
}

void kb_discovery_forget(kbass_discovery *d)
{
    kb_discovery_forget_solved(d);
    kb_search_result_clear(&d->found);
    kb_answer_destroy(d->answer);
    d->answer = NULL;
    kb_constants_spread_clear(&d->constants_spread);
    kb_free(d->constant_correlation);
    d->constant_correlation = NULL;
    kb_standing_destroy(d->standing);
    d->standing = NULL;
}

void kbass_discovery_destroy(kbass_discovery *d)
{
    if (!d) return;
    kb_discovery_forget(d);
    kb_published_destroy(d->paper);
    kb_ode_problem_destroy(d->ode);
    kb_pde1d_problem_destroy(d->pde1d);
    kb_pde_nd_problem_destroy(d->pde_nd);
    kb_dictionary_destroy(d->dictionary);
    kb_settings_clear(&d->settings);
    kb_checkpoint_close(d->checkpoint);
    kbass_data_destroy(d->data);
    kb_free(d);
}
