#include "doctor/doctor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "gp/noise.h"

/* ---------------------------------------------------------------- findings */

void *kb_doctor_own(kb_doctor *doctor, size_t count, size_t size)
{
    void *memory = kb_allocate(count, size);
    if (memory && doctor->n_owned == doctor->owned_capacity) {
        size_t capacity = 2 * doctor->owned_capacity + 32;
        void **owned = kb_reallocate(doctor->owned, doctor->n_owned, capacity, sizeof *owned);
        if (owned) {
            doctor->owned = owned;
            doctor->owned_capacity = capacity;
        } else {
            kb_free(memory);
            memory = NULL;
        }
    }
    if (memory) doctor->owned[doctor->n_owned++] = memory;
    else doctor->lacks_memory = true;
    return memory;
}

static const char *own_text(kb_doctor *doctor, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 1;
    char *copy = kb_doctor_own(doctor, size, 1);
    if (copy && text) memcpy(copy, text, size);
    return copy;
}

static bool make_room(kb_doctor *doctor)
{
    if (doctor->n_findings < doctor->capacity) return true;
    size_t capacity = 2 * doctor->capacity + 16;
    kbass_finding *findings = kb_reallocate(doctor->findings, doctor->n_findings, capacity, sizeof *findings);
    if (!findings) return false;
    doctor->findings = findings;
    doctor->capacity = capacity;
    return true;
}

kbass_finding *kb_doctor_say(kb_doctor *doctor, kbass_finding finding, const char *suggestion, const char *format, ...)
{
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    finding.subject = own_text(doctor, finding.subject);
    finding.sentence = own_text(doctor, sentence);
    finding.suggestion = own_text(doctor, finding.severity == KBASS_FINE ? NULL : suggestion);
    if (!make_room(doctor)) doctor->lacks_memory = true;
    if (doctor->lacks_memory) return NULL;
    doctor->findings[doctor->n_findings] = finding;
    return &doctor->findings[doctor->n_findings++];
}

/* ---------------------------------------------------------------- the examination */

/* Noise known beforehand, as a share of each state's variance. */
static kbass_status read_noise(const kbass_data *data, const char *noise, double *variance, kbass_error *error)
{
    double *sd = KB_NEW(double, data->n_states);
    if (!sd) return kb_out_of_memory(error, "the examination");
    for (size_t i = 0; i < data->n_states; i++) {
        double sum = 0, squares = 0, n = 0;
        for (size_t row = 0; row < data->n_rows; row++) {
            double u = data->values[row * data->n_states + i];
            if (isnan(u)) continue;
            n++;
            squares += (u - sum) * (u - sum) * (n - 1) / n; /* Welford: `sum` is the mean so far */
            sum += (u - sum) / n;
        }
        sd[i] = squares > 0 ? sqrt(squares / n) : 1;
    }
    kbass_status status = noise && *noise ? kb_noise_read(data, noise, sd, variance, error) : KBASS_OK;
    kb_free(sd);
    return status;
}

static kbass_status examine(kb_doctor *doctor, const kbass_settings *settings, kbass_error *error)
{
    const kbass_data *data = doctor->data;
    double *known = KB_NEW(double, data->n_states);
    doctor->patients = KB_NEW(kb_patient, data->n_states);
    kbass_status status = known && doctor->patients ? KBASS_OK : kb_out_of_memory(error, "the examination");
    if (status == KBASS_OK) status = read_noise(data, settings->noise, known, error);
    if (status == KBASS_OK) kb_doctor_examine_values(doctor);
    for (size_t i = 0; status == KBASS_OK && i < data->n_states; i++)
        if (kb_doctor_is_usable(data, i)) status = kb_doctor_admit(doctor, i, known[i], error);
    if (status == KBASS_OK) kb_doctor_examine_signal(doctor);
    if (status == KBASS_OK) kb_doctor_examine_turning(doctor);
    if (status == KBASS_OK) status = kb_doctor_examine_terms(doctor, error);
    if (status == KBASS_OK && doctor->lacks_memory) status = kb_out_of_memory(error, "the findings");
    kb_free(known);
    return status;
}

kbass_status kb_doctor_create(const kbass_data *data, const kbass_settings *settings, const kb_dictionary *dictionary,
                              kb_doctor **out, kbass_error *error)
{
    kb_doctor *doctor = KB_NEW(kb_doctor, 1);
    if (!doctor) return kb_out_of_memory(error, "the examination");
    doctor->data = data;
    doctor->dictionary = dictionary;
    kbass_status status = examine(doctor, settings, error);
    if (status == KBASS_OK) *out = doctor;
    else kb_doctor_destroy(doctor);
    return status;
}

void kb_doctor_destroy(kb_doctor *doctor)
{
    if (!doctor) return;
    for (size_t i = 0; doctor->patients && i < doctor->data->n_states; i++) {
        kb_patient *patient = &doctor->patients[i];
        kb_field_samples_destroy(patient->cloud);
        kb_bare_field_destroy(patient->gp);
        kb_local_destroy(patient->local);
        kb_free(patient->row);
        kb_free(patient->is_outlier);
    }
    for (size_t i = 0; i < doctor->n_owned; i++) kb_free(doctor->owned[i]);
    kb_free(doctor->patients);
    kb_free(doctor->findings);
    kb_free(doctor->owned);
    kb_free(doctor);
}
