/* Velocities that were not measured: --lhs x_tt makes x_t a state beside x, with an empty column. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/data.h"

/* Columns one wider, the new one NaN. */
static double *widen(const kbass_data *data, const double *values)
{
    size_t n = data->n_states;
    double *wide = KB_NEW(double, data->n_rows *(n + 1));
    for (size_t row = 0; wide && row < data->n_rows; row++) {
        memcpy(wide + row * (n + 1), values + row * n, n * sizeof *wide);
        wide[row * (n + 1) + n] = NAN;
    }
    return wide;
}

static kbass_status add_column(kbass_data *data, const char *name, kbass_error *error)
{
    size_t n = data->n_states;
    char **names = kb_reallocate(data->state_names, n, n + 1, sizeof *names);
    if (names) data->state_names = names;
    kb_caption *captions =
        data->state_captions ? kb_reallocate(data->state_captions, n, n + 1, sizeof *captions) : NULL;
    if (captions) data->state_captions = captions;
    double *values = widen(data, data->values), *sigma = data->sigma ? widen(data, data->sigma) : NULL;
    char *copy = kb_strdup(name);
    if (!names || (data->state_captions && !captions) || !values || (data->sigma && !sigma) || !copy) {
        kb_free(values);
        kb_free(sigma);
        kb_free(copy);
        return kb_out_of_memory(error, "the velocities");
    }
    kb_free(data->values);
    kb_free(data->sigma);
    data->values = values;
    data->sigma = sigma;
    data->state_names[n] = copy;
    if (captions) captions[n] = (kb_caption){0};
    data->n_states++;
    data->n_hidden++;
    return KBASS_OK;
}

/* "x_tt" wants the column x_t beside x. */
static kbass_status add_velocity(kbass_data *data, const char *lhs, size_t length, kbass_error *error)
{
    char name[256];
    if (length < 4 || length >= sizeof name || strncmp(lhs + length - 3, "_tt", 3)) return KBASS_OK;
    snprintf(name, sizeof name, "%.*s", (int)length - 3, lhs);
    if (kb_data_find_state(data, name) == data->n_states) return KBASS_OK; /* the dictionary refuses it by name */
    strcat(name, "_t");
    return kb_data_find_state(data, name) < data->n_states ? KBASS_OK : add_column(data, name, error);
}

kbass_status kb_data_add_velocities(kbass_data *data, const char *lhs, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (const char *c = lhs; c && *c && status == KBASS_OK;) {
        c += strspn(c, ", \t");
        size_t length = strcspn(c, ", \t");
        status = add_velocity(data, c, length, error);
        c += length;
    }
    return status;
}
