/* What the engine that answered keeps of its fits, for solution, band and posterior: fields over one axis, fields over
 * several axes that were followed, or the kernel engine. A search hands it through and does not look inside.
 */
#ifndef KB_ENGINE_H
#define KB_ENGINE_H

#include "collocation/kernel_fit.h"
#include "collocation/ode_fields.h"
#include "evidence/pool.h"
#include "forward/pde1d/runs.h"
#include "forward/spectral/fourier_model.h"

typedef struct {
    kb_pde1d_setup *setups;       /* of fields, by run: the grid of the final fits and the prior of their profiles, */
    size_t *run_windows;          /* and how many windows it has */
    kb_fourier_settings *fourier; /* of fields over several axes that were followed: how; NULL otherwise */
    double **covariances;         /* likewise, by fit: of weights and start, as far as they were asked for */
    size_t n_covariances;
    kb_kernel_fit proposal; /* of the kernel engine, where it gives the answer: the chosen model, */
    kb_kernel_fit *rivals;  /* and those that come next in the pool */
    size_t n_rivals;
    kb_ode_state *state; /* likewise of states; NULL otherwise */
    kb_pool followed;    /* then: its best models, in the pool's order, fitted through the integrated equation */
    size_t n_patches;    /* of the kernel engine */
} kb_engine;

void kb_engine_clear(kb_engine *engine);

#endif
