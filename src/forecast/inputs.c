/* The inputs of a law beyond the record that it was found in. */
#include "base/status.h"
#include "posterior/posterior.h"

const char *kbass_posterior_input_name(const kbass_posterior *p, size_t input)
{
    return input < p->inputs.n ? p->inputs.names[input] : NULL;
}

kbass_status kbass_posterior_set_inputs(kbass_posterior *p, const kbass_data *data, size_t run, kbass_error *error)
{
    if (run >= kbass_data_runs(data))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "run %zu: there are %zu, counted from 0", run,
                       kbass_data_runs(data));
    if (!p->inputs.n) return kb_fail(error, KBASS_ERROR_ARGUMENT, "the law has no inputs");
    return kb_input_curves_take(&p->inputs, data, run, p->last[0], error);
}
