/* Fields without a law: the bare field, a profile that stays and one that drifts, in the units of kb_fit.log_evidence
 * (docs/math.md, section 10). Large records are judged on patches of 100 neighbouring points that stand for all.
 */
#ifndef KB_EVIDENCE_WITHOUT_LAW_FIELDS_H
#define KB_EVIDENCE_WITHOUT_LAW_FIELDS_H

#include "base/run.h"
#include "evidence/without_law.h"
#include "gp/field_samples.h"

/* Additive noise only. clock: of the run that is answered, KBASS_ERROR_TIME when it has no time left; NULL: none. */
kbass_status kb_without_law_of_fields(size_t n_runs, kb_field_samples *const *samples, kb_kernel_kind kind,
                                      double noise_floor, kb_run *clock, kb_without_law *out, kbass_error *error);

#endif
