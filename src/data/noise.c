/* Noise that is added to measurements. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "data/data.h"

/* Over the measured values, divided by their number. */
static double standard_deviation(const kbass_data *data, size_t state)
{
    double n = 0, mean = 0, squares = 0;
    for (size_t row = 0; row < data->n_rows; row++) {
        double value = data->values[row * data->n_states + state];
        if (isnan(value)) continue;
        double step = value - mean;
        mean += step / ++n;
        squares += step * (value - mean);
    }
    return n > 0 ? sqrt(squares / n) : 0;
}

/* Every cell draws its number, measured or not: a gap does not change the noise of the others. */
static void noisy_copy(const kbass_data *data, const double *sd, uint64_t seed, double *noisy)
{
    kb_random random;
    kb_random_seed(&random, seed);
    for (size_t k = 0; k < data->n_rows * data->n_states; k++)
        noisy[k] = data->values[k] + sd[k % data->n_states] * kb_random_normal(&random);
}

kbass_status kbass_data_disturb(kbass_data *data, const double *sd, uint64_t seed, kbass_error *error)
{
    for (size_t i = 0; i < data->n_states; i++)
        if (!(sd[i] >= 0 && isfinite(sd[i])))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise of %s: found %g, needed a standard deviation",
                           data->state_names[i], sd[i]);
    double *noisy = KB_NEW(double, data->n_rows * data->n_states), *clean = data->values;
    if (!noisy) return kb_out_of_memory(error, "adding noise");

    noisy_copy(data, sd, seed, noisy);
    data->values = noisy;
    kbass_status status = kb_data_hash(data, error);
    if (status != KBASS_OK) data->values = clean;
    kb_free(status == KBASS_OK ? clean : noisy);
    return status;
}

kbass_status kbass_data_add_noise(kbass_data *data, double percent, uint64_t seed, kbass_error *error)
{
    if (!(percent >= 0 && percent <= 1000))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise of %g percent: a number from 0 to 1000 is needed", percent);
    double *sd = KB_NEW(double, data->n_states);
    if (!sd) return kb_out_of_memory(error, "adding noise");

    for (size_t i = 0; i < data->n_states; i++) sd[i] = percent / 100 * standard_deviation(data, i);
    kbass_status status = kbass_data_disturb(data, sd, seed, error);
    kb_free(sd);
    return status;
}
