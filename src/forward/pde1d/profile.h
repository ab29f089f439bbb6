/* The prior of a profile along one axis: Fourier modes with a Matern-5/2 spectrum. Its length scale and the noise come
 * from the marginal likelihood of the first data lines (docs/math.md, eqs 31 and 32). */
#ifndef KB_FORWARD_PDE1D_PROFILE_H
#define KB_FORWARD_PDE1D_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#define KB_OPEN_PERIOD 1.3 /* of the modes along an axis that does not close: they never meet themselves */

typedef struct {
    double period; /* of the modes, in scaled units of the axis */
    double length; /* of the Matern kernel, likewise */
    double
        cutoff; /* above 0: a flat spectrum up to about this many waves instead, for lines sampled near their limit */
    double amplitude; /* standard deviation */
    double noise;     /* variance */
    size_t n_modes;   /* 1 + 2 * frequencies */
    double loss;      /* minus the log likelihood of the fit, up to a constant */
} kb_profile;

/* One data line: values (scaled) at coordinates (scaled), the roots of their relative precisions (NULL: 1). */
typedef struct {
    size_t n;
    const double *coordinate, *value, *root;
} kb_data_line;

/* Modes (n_modes) at a coordinate. */
void kb_profile_modes(const kb_profile *profile, double coordinate, double *modes);
/* Fits length, amplitude and noise; shortest: the smallest length allowed; most_modes bounds n_modes. Allocates its
   workspace; false when memory runs out or nothing finite is found. */
/* A flat spectrum that lets everything through that `n` even samples can show; amplitude 1, in scaled units. */
kb_profile kb_profile_flat(double period, size_t n, size_t most_modes);
bool kb_profile_fit(kb_profile *profile, size_t n_lines, const kb_data_line *lines, double shortest, size_t most_modes);
/* The same with as few modes as the lines allow: where those beyond are noise they are left out. */
bool kb_profile_fit_few(kb_profile *profile, size_t n_lines, const kb_data_line *lines, double shortest,
                        size_t most_modes);

#endif
