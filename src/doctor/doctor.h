/* The doctor: what data can carry, before any fit.
 *
 * Each state that can be used gets a bare field: length scales and noise by marginal likelihood (gp), values and
 * derivatives by local regression. `values` looks at the numbers as they stand, `signal` at what the bare field says
 * about them, `terms` at the dictionary on the bare field. What they find are findings: a number, a sentence, a
 * suggestion.
 */
#ifndef KB_DOCTOR_H
#define KB_DOCTOR_H

#include "data/data.h"
#include "dictionary/dictionary.h"
#include "doctor/local.h"

/* One state's bare field; local is NULL when the state cannot be used. */
typedef struct {
    kb_field_samples *cloud;
    kb_bare_field *gp;
    kb_local *local;
    size_t *row;      /* of each of the cloud's points: the data's row */
    bool *is_outlier; /* n_points of the cloud */
} kb_patient;

typedef struct {
    const kbass_data *data;
    const kb_dictionary *dictionary;
    kb_patient *patients; /* n_states */
    size_t n_findings, capacity;
    kbass_finding *findings;
    size_t n_owned, owned_capacity;
    void **owned; /* texts and lists of the findings */
    bool lacks_memory;
} kb_doctor;

kbass_status kb_doctor_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                              kb_doctor **out, kbass_error *error);
void kb_doctor_destroy(kb_doctor *doctor);

/* For the examinations. A finding's texts are copied; `format` and what follows make its sentence. */
__attribute__((format(printf, 4, 5))) kbass_finding *kb_doctor_say(kb_doctor *doctor, kbass_finding finding,
                                                                   const char *suggestion, const char *format, ...);
void *kb_doctor_own(kb_doctor *doctor, size_t count, size_t size);

/* Constant and saturated states, copies, axes that were taken for states. */
void kb_doctor_examine_values(kb_doctor *doctor);
/* The bare field of a state, and outliers. */
kbass_status kb_doctor_admit(kb_doctor *doctor, size_t state, double known_variance, kbass_error *error);
/* Sampling, noise, derivatives, what the record excites. */
void kb_doctor_examine_signal(kb_doctor *doctor);
/* One state alone that rises and falls, which no law of first order does. */
void kb_doctor_examine_turning(kb_doctor *doctor);
/* Terms that are alike on these data. */
kbass_status kb_doctor_examine_terms(kb_doctor *doctor, kbass_error *error);

static inline bool kb_patient_is_fit(const kb_patient *patient) { return patient->local != NULL; }
/* Is the state constant, or measured less than four times? Its finding is made elsewhere. */
bool kb_doctor_is_usable(const kbass_data *data, size_t state);

#endif
