#include "gp/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* The state of "x = ..."; moves the text behind the sign. n_states when no state is named. */
static kbass_status read_state(const kbass_data *data, const char **text, size_t *state, kbass_error *error)
{
    const char *name = *text + strspn(*text, " "), *end = *text + strcspn(*text, "=,");
    *state = data->n_states;
    if (*end != '=') return KBASS_OK;
    *text = end + 1;
    while (end > name && end[-1] == ' ') end--;
    size_t length = (size_t)(end - name);
    for (*state = 0; *state < data->n_states; ++*state) {
        const char *known = data->state_names[*state];
        if (strlen(known) == length && !strncmp(known, name, length)) return KBASS_OK;
    }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise: there is no %s \"%.*s\"", data->n_axes > 1 ? "field" : "state",
                   (int)length, name);
}

kbass_status kb_noise_read(const kbass_data *data, const char *noise, const double *sd, double *variance,
                           kbass_error *error)
{
    for (const char *rest = noise; *rest;) {
        size_t only = 0;
        char *end = NULL;
        kbass_status status = read_state(data, &rest, &only, error);
        if (status != KBASS_OK) return status;
        double known = strtod(rest, &end);
        if (end == rest || !(known > 0) || !isfinite(known))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "noise: \"%s\" is not a standard deviation above 0 (0.1, 5%%, or x=0.1, y=2%%)", noise);
        bool is_share = *end == '%';
        for (size_t i = 0; i < data->n_states; i++)
            if (only == data->n_states || only == i) variance[i] = pow(is_share ? known / 100 : known / sd[i], 2);
        rest = end + is_share;
        rest += strspn(rest, " ,");
    }
    return KBASS_OK;
}
