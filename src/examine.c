/* The public functions of the doctor. */
#include <math.h>

#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "doctor/doctor.h"
#include "report/findings.h"

struct kbass_doctor {
    kbass_data *data;
    kb_dictionary *dictionary;
    kb_doctor *doctor;
};

static kbass_status build(kbass_doctor *d, const kbass_data *data, const kbass_settings *settings, kbass_error *error)
{
    kbass_status status = kb_settings_check(settings, error);
    if (status == KBASS_OK) status = kb_data_copy(data, &d->data, error);
    if (status == KBASS_OK && kbass_data_runs(data) > 1)
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "the doctor takes one run, found %zu: ask about each alone",
                         kbass_data_runs(data));
    if (status == KBASS_OK) status = kb_data_check_scale(d->data, error);
    if (status != KBASS_OK) return status;
    const char *const *names = (const char *const *)d->data->state_names, *const *axes =
                                                                              (const char *const *)d->data->axis_names;
    if (d->data->n_axes > 1)
        status = kb_dictionary_create_fields(settings, d->data->n_states, names, d->data->n_axes, axes, &d->dictionary,
                                             error);
    else status = kb_dictionary_create(settings, d->data->n_states, names, d->data->time_name, &d->dictionary, error);
    return status == KBASS_OK ? kb_doctor_create(d->data, settings, d->dictionary, &d->doctor, error) : status;
}

kbass_status kbass_doctor_create(const kbass_data *data, const kbass_settings *settings, kbass_doctor **doctor,
                                 kbass_error *error)
{
    kbass_doctor *d = KB_NEW(kbass_doctor, 1);
    if (!d) return kb_out_of_memory(error, "the doctor");
    kbass_settings defaults;
    kb_settings_default(&defaults);
    kbass_status status = build(d, data, settings ? settings : &defaults, error);
    if (status == KBASS_OK) *doctor = d;
    else kbass_doctor_destroy(d);
    return status;
}

const kbass_finding *kbass_doctor_finding(const kbass_doctor *d, size_t index)
{
    return index < d->doctor->n_findings ? &d->doctor->findings[index] : NULL;
}

kbass_severity kbass_doctor_severity(const kbass_doctor *d)
{
    kbass_severity worst = KBASS_FINE;
    for (size_t i = 0; i < d->doctor->n_findings; i++)
        if (d->doctor->findings[i].severity > worst) worst = d->doctor->findings[i].severity;
    return worst;
}

/* One state at one point, in the data's units. */
static void smooth(const kb_patient *patient, double time, const double *position, double *mean, double *sd)
{
    static const int value[KB_SAMPLE_AXES] = {0};
    const kb_field_samples *cloud = patient->cloud;
    double at[KB_SAMPLE_AXES];
    *mean = *sd = NAN;
    if (!kb_patient_is_fit(patient)) return;
    for (size_t a = 0; a < cloud->n_axes; a++)
        at[a] = ((a ? position[a - 1] : time) - cloud->first[a]) / cloud->span[a];
    if (!kb_local_go(patient->local, at, patient->local->n_cells)) return;
    *mean = cloud->mean[0] + cloud->sd[0] * kb_local_mean(patient->local, value);
    *sd = cloud->sd[0] * sqrt(kb_local_variance(patient->local, value));
}

kbass_status kbass_doctor_smooth(const kbass_doctor *d, size_t n, const double *times, const double *positions,
                                 double *mean, double *sd, kbass_error *error)
{
    size_t states = d->data->n_states, space = d->data->n_axes - 1;
    if (!positions != !space)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < states; i++)
            smooth(&d->doctor->patients[i], times[k], space ? positions + k * space : NULL, &mean[k * states + i],
                   &sd[k * states + i]);
    return KBASS_OK;
}

kbass_status kbass_doctor_json(const kbass_doctor *d, char **json, kbass_error *error)
{
    return kb_report_findings(d->data, kbass_doctor_severity(d), d->doctor->n_findings, d->doctor->findings, json,
                              error);
}

void kbass_doctor_destroy(kbass_doctor *d)
{
    if (!d) return;
    kb_doctor_destroy(d->doctor);
    kb_dictionary_destroy(d->dictionary);
    kbass_data_destroy(d->data);
    kb_free(d);
}
