#include "search/task.h"

#include "search/known_proposals.h"

kbass_status kb_propose(const kb_source *sources, unsigned when, kb_proposals *proposals, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (const kb_source *source = sources; status == KBASS_OK && source->name; source++)
        if (source->when & when) status = kb_source_ask(source, when, proposals, error);
    return status;
}

kbass_status kb_fit_guess(kb_dynamics *d, const kb_windows *windows, kb_fit *fit, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    fit->n_windows = windows->n;
    for (size_t window = 0; status == KBASS_OK && window < windows->n; window++)
        status = d->guess(d, windows->first[window], fit->start + window * d->n_start, error);
    return status;
}
