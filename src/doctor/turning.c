/* One state alone whose law is x_t = f(x) only rises or only falls: does the record? */
#include <math.h>

#include "base/memory.h"
#include "base/monotone.h"
#include "doctor/doctor.h"

static const double clearly = 3.8; /* nats: odds of 10, with the caution of the verdict (docs/math.md, section 10) */

/* One state of first order whose candidates know neither time nor an input. */
static bool stands_alone(const kb_dictionary *d)
{
    if (d->n_states != 1 || d->n_axes != 1 || d->time_order != 1) return false;
    for (size_t i = 0; i < d->n_terms; i++)
        if (kb_dictionary_depends(d, i, d->n_variables - 1)) return false;
    return true;
}

/* Sum of squares of all runs beside the best curve that only rises or only falls in each; work: 5 times the rows. */
static double squares_beside_monotone(const kbass_data *data, double *work)
{
    size_t runs = data->n_runs ? data->n_runs : 1;
    double squares = 0;
    for (size_t run = 0; run < runs; run++) {
        size_t n = 0, end = kb_data_run_start(data, run + 1);
        double *y = work, *weight = work + data->n_rows;
        for (size_t row = kb_data_run_start(data, run); row < end; row++) {
            if (isnan(data->values[row])) continue;
            y[n] = data->values[row];
            weight[n++] = 1;
        }
        squares += fmin(kb_monotone_squares(n, y, weight, 1, work + 2 * data->n_rows),
                        kb_monotone_squares(n, y, weight, -1, work + 2 * data->n_rows));
    }
    return squares;
}

/* The smooth curve pays 1/2 log N for each of its free values, one in every length scale. */
void kb_doctor_examine_turning(kb_doctor *doctor)
{
    const kbass_data *data = doctor->data;
    const kb_patient *patient = &doctor->patients[0];
    if (!stands_alone(doctor->dictionary) || !kb_patient_is_fit(patient)) return;
    double *work = kb_doctor_own(doctor, 5 * data->n_rows, sizeof *work);
    if (!work) return;
    double n = (double)patient->cloud->count[0], noise = patient->gp->variance[0] * pow(patient->cloud->sd[0], 2);
    double left = squares_beside_monotone(data, work) / n, ratio = sqrt(left / noise);
    double gain = n * log(ratio) - 0.5 * (1 + 1 / patient->gp->length[0]) * log(n);
    if (!(gain >= clearly)) return;
    const char *name = data->state_names[0];
    kbass_finding finding = {
        .severity = KBASS_HOPELESS, .check = "turning", .subject = name, .number = ratio, .measure = "times the noise"};
    kb_doctor_say(doctor, finding,
                  "measure a second quantity, or give the second derivative a law (--lhs NAME_tt), or "
                  "add a term of time (--terms)",
                  "%s rises and falls through the same values, %.2g times the noise off any curve that only rises or "
                  "only falls: no law %s_t = f(%s) does that",
                  name, ratio, name, name);
}
