#include <math.h>

#include "base/number.h"
#include "base/status.h"
#include "data/data.h"

/* Squares of products of two values, and of a value over a time, stay within a double's 1e-308 to 1e308. */
static const double smallest = 1e-70, largest = 1e70;

static kbass_status refuse(const char *name, const char *what, double found, kbass_error *error)
{
    char text[KB_NUMBER_SIZE];
    kb_number_round(found, 3, text);
    return kb_fail(error, KBASS_ERROR_DATA, "%.100s: %s %s, needed 1e-70 to 1e70: choose %s unit", name, what, text,
                   found < smallest ? "a smaller" : "a larger");
}

static kbass_status check_axis(const kbass_data *data, size_t axis, kbass_error *error)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t row = 0; row < data->n_rows; row++) {
        low = fmin(low, kb_data_coordinate(data, row, axis));
        high = fmax(high, kb_data_coordinate(data, row, axis));
    }
    double span = high - low;
    if (span == 0 || (span >= smallest && span <= largest)) return KBASS_OK;
    return refuse(data->axis_names[axis], "spans", span, error);
}

/* A column of zeros is another matter. */
static kbass_status check_state(const kbass_data *data, size_t state, kbass_error *error)
{
    double size = 0;
    for (size_t row = 0; row < data->n_rows; row++) size = fmax(size, fabs(data->values[row * data->n_states + state]));
    if (size == 0 || (size >= smallest && size <= largest)) return KBASS_OK;
    return refuse(data->state_names[state], "reaches", size, error);
}

kbass_status kb_data_check_scale(const kbass_data *data, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t axis = 0; status == KBASS_OK && axis < data->n_axes; axis++) status = check_axis(data, axis, error);
    for (size_t j = 0; status == KBASS_OK && j < data->n_states; j++) status = check_state(data, j, error);
    return status;
}
