#include "posterior/engine.h"

#include <string.h>

#include "base/memory.h"

void kb_engine_clear(kb_engine *engine)
{
    kb_kernel_fit_clear(&engine->proposal);
    kb_ode_state_destroy(engine->state);
    kb_pool_clear(&engine->followed);
    for (size_t i = 0; i < engine->n_rivals; i++) kb_kernel_fit_clear(&engine->rivals[i]);
    for (size_t i = 0; i < engine->n_covariances; i++) kb_free(engine->covariances[i]);
    kb_free(engine->rivals);
    kb_free(engine->covariances);
    kb_free(engine->setups);
    kb_free(engine->fourier);
    kb_free(engine->run_windows);
    memset(engine, 0, sizeof *engine);
}
