/* Fields over several closed axes: the Fourier modes and time steps by which they are followed, as fine as the best
 * model at hand needs (docs/math.md, section 27).
 */
#ifndef KB_TASKS_AXES_RESOLUTION_H
#define KB_TASKS_AXES_RESOLUTION_H

#include "forward/spectral/fourier_model.h"
#include "problem/pde_nd.h"
#include "tasks/shooting.h"
#include "tasks/tasks.h"

typedef struct {
    const kb_pde_nd_problem *problem;
    kb_fourier_settings fourier, fitted; /* of the present stage; of the pool's fits */
    double tolerance; /* of sums of squares, over the noise variance: what two resolutions may differ by */
    double noise;     /* variance, by the bare field: the mean over fields, and not less than the schedule's least */
    kb_support all;
    kb_pool waiting;  /* proposals that are fitted where the first does not follow */
    size_t n_rows;    /* of the present stage; 0: none yet */
    size_t all_modes; /* of a start, at most; it begins with those that the first row shows */
} kb_axes;

/* Noise, modes, and waves as the samples show them; one step from row to row. */
void kb_axes_plan(kb_axes *axes);
kbass_status kb_axes_translate(const kb_axes *axes, const kb_fourier_settings *from, const double *start,
                               const kb_fourier_settings *to, double *translated, kbass_error *error);
kbass_status kb_axes_make_model(const kb_axes *axes, const kb_fourier_settings *settings, size_t max_tangents,
                                kb_fourier_model **out, kbass_error *error);
/* The coarsest steps and, if asked for, waves at which a model's predictions up to a row are those of finer ones, into
   axes->fourier; false in *found when there are none. tolerance: mean square over the noise variance. */
kbass_status kb_axes_resolve(kb_axes *axes, const kb_fit *fit, const double *start, size_t last, double tolerance,
                             bool with_waves, bool *found, kbass_error *error);
/* The steps and waves that a proposal needs, from the start that the first row suggests, and the modes that it shows.
 */
kbass_status kb_axes_resolve_first(kb_axes *axes, const kb_fit *proposal, size_t last, double tolerance, bool *found,
                                   kbass_error *error);

#endif
