#include "weights/constants_spread.h"

#include "base/memory.h"
#include "base/status.h"

kbass_status kb_constants_spread_create(size_t n, size_t n_weights, size_t n_starts, kb_constants_spread *out,
                                        kbass_error *error)
{
    *out = (kb_constants_spread){.n = n,
                                 .constant = KB_NEW(size_t, n),
                                 .share = KB_NEW(double, n),
                                 .C = KB_NEW(double, n *n),
                                 .n_weights = n_weights,
                                 .n_starts = n_starts,
                                 .weights = KB_NEW(double, n *n_weights),
                                 .starts = KB_NEW(double, n *n_starts)};
    if (out->constant && out->share && out->C && out->weights && out->starts) return KBASS_OK;
    kb_constants_spread_clear(out);
    return kb_out_of_memory(error, "the constants");
}

void kb_constants_spread_clear(kb_constants_spread *s)
{
    kb_free(s->constant);
    kb_free(s->share);
    kb_free(s->C);
    kb_free(s->weights);
    kb_free(s->starts);
    *s = (kb_constants_spread){0};
}
