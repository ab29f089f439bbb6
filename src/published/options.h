/* How the published method is run: its settings (paper_*), read once, or those of a case of its authors' scripts
 * (--paper-preset) wherever a setting stands at its default.
 *
 * Variances are shares: of a state's variance (v) and of the mean squared slope of the regressed field (tau); with
 * --paper-units data they are in the data's units, fields are not centred, terms not scaled.
 */
#ifndef KB_PUBLISHED_OPTIONS_H
#define KB_PUBLISHED_OPTIONS_H

#include <stdbool.h>

#include "gp/field_samples.h"
#include "published/schedule.h"

typedef struct {
    bool in_data_units, is_expected, prunes_least, finishes;
    bool starts_at_zero; /* the first regression is Adam's, as in the scripts, not solved */
    bool is_whole; /* Adam moves the coefficients of the whole mesh, as the scripts do, not those of nodes that say
                      as much: its path depends on them */
    kb_schedule noise_variance, m_variance, e_variance, alpha, rate, length_rate,
        bound; /* empty: left to the loop, the noise's to cross-validation */
    double slab_variance, inclusion, jitter, tolerance;
    double length[KB_SAMPLE_AXES];       /* of the kernels at the start; 0: one spacing of the samples */
    double noisy_length[KB_SAMPLE_AXES]; /* likewise, where the data are noisy; 0: the same */
    long first, interval, limit;         /* steps: before the first E step, between two, in all */
    const char *mesh;                    /* of the preset, where the user said nothing; or NULL */
    const char *trace;                   /* file, or NULL */
    const char *const *notes; /* what a reader of the preset's result has to know, NULL at the end; or NULL */
} kb_published_options;

kbass_status kb_published_options_read(const kbass_settings *settings, size_t n_axes, kb_published_options *out,
                                       kbass_error *error);

#endif
