/* Discovers the law of a damped oscillator from 25 samples made here.
 *
 *     cc discover.c $(pkg-config --cflags --libs kbass) -lm
 */
#include <math.h>
#include <stdio.h>

#include <kbass/kbass.h>

enum { N_ROWS = 25, N_STATES = 2 };

/* x = exp(-t/10) cos(t), y = x_t: so x_t = y and y_t = -1.01 x - 0.2 y */
static void make_samples(double *times, double *values)
{
    for (int i = 0; i < N_ROWS; i++) {
        double t = times[i] = 0.4 * i, decay = exp(-0.1 * t);
        values[N_STATES * i] = decay * cos(t);
        values[N_STATES * i + 1] = -decay * (sin(t) + 0.1 * cos(t));
    }
}

static void print_result(const kbass_result *result)
{
    for (size_t i = 0; i < result->n_equations; i++) {
        const kbass_equation *equation = &result->equations[i];
        printf("%s =", equation->lhs);
        for (size_t j = 0; j < equation->n_terms; j++)
            if (equation->terms[j].selected) printf(" %+.4f %s", equation->terms[j].weight, equation->terms[j].term);
        printf("\n");
    }
    printf("%s in %.2f s\n", kbass_outcome_name(result->outcome), result->seconds_total);
}

int main(void)
{
    static const char *const names[] = {"x", "y"};
    double times[N_ROWS], values[N_ROWS * N_STATES];
    kbass_data *data = NULL;
    kbass_discovery *discovery = NULL;
    kbass_settings *settings = NULL;
    kbass_error error;

    make_samples(times, values);
    kbass_status status = kbass_settings_create(&settings, &error);
    if (status == KBASS_OK) status = kbass_settings_set(settings, "degree", "2", &error);
    if (status == KBASS_OK) status = kbass_data_create(N_ROWS, N_STATES, times, values, NULL, names, &data, &error);
    if (status == KBASS_OK) status = kbass_discovery_create(data, settings, &discovery, &error);
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, NULL, NULL, &error);

    if (status == KBASS_OK) print_result(kbass_discovery_result(discovery));
    else fprintf(stderr, "%s\n", error.message);

    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
    kbass_settings_destroy(settings);
    return status == KBASS_OK ? 0 : 1;
}
