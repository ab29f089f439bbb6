/* Periodic axes: said by the user, checked against the data. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "gp/field_samples.h"

static const double most_jump = 1.5; /* of the largest change over two spacings: between the ends of a period */
static const double same_end = 0.5;  /* of the mean change over a spacing: less, and the last line is the first again */

static kbass_status mark(kb_field_samples *samples, const kbass_data *data, const char *name, size_t length,
                         kbass_error *error)
{
    for (size_t axis = 0; axis < samples->n_axes; axis++) {
        const char *known = data->axis_names[axis];
        if (strlen(known) != length || strncmp(known, name, length)) continue;
        if (!axis) return kb_fail(error, KBASS_ERROR_ARGUMENT, "periodic: \"%s\" is time, needed axes of space", known);
        samples->periodic[axis] = true;
        return KBASS_OK;
    }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "periodic: there is no axis \"%.*s\"", (int)length, name);
}

/* rms change of a field from line i of an axis to line j, scaled; 0 when nothing can be compared. */
static double change(const kb_field_samples *c, size_t field, size_t axis, size_t i, size_t j)
{
    const double *value = c->value + field * c->n_points, *measured = c->measured + field * c->n_points;
    size_t stride = 1, lines = c->n_grid[axis];
    double squares = 0, n = 0;
    for (size_t a = axis + 1; a < c->n_axes; a++) stride *= c->n_grid[a];
    for (size_t p = 0; p < c->n_points; p++) {
        size_t q = p + (j - i) * stride;
        if (p / stride % lines != i || measured[p] == 0 || measured[q] == 0) continue;
        double a = kb_field_samples_root(c, p + field * c->n_points),
               b = kb_field_samples_root(c, q + field * c->n_points);
        double weight = 2 * a * a * b * b / (a * a + b * b); /* of the difference: 1 without error bars */
        squares += weight * (value[q] - value[p]) * (value[q] - value[p]);
        n += weight;
    }
    return n > 0 ? sqrt(squares / n) : 0;
}

static double largest_change(const kb_field_samples *c, size_t field, size_t axis, size_t lag)
{
    double largest = 0;
    for (size_t i = 0; i + lag < c->n_grid[axis]; i++) largest = fmax(largest, change(c, field, axis, i, i + lag));
    return largest;
}

static double mean_change(const kb_field_samples *c, size_t field, size_t axis)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < c->n_grid[axis]; i++) sum += change(c, field, axis, i, i + 1);
    return sum / (double)(c->n_grid[axis] - 1);
}

static kbass_status check_ends(const kb_field_samples *c, const kbass_data *data, size_t axis, kbass_error *error)
{
    double first = c->first[axis], last = first + c->span[axis];
    for (size_t f = 0; f < c->n_fields; f++) {
        double jump = change(c, f, axis, 0, c->n_grid[axis] - 1), usual = largest_change(c, f, axis, 2);
        if (jump <= most_jump * usual) continue;
        return kb_fail(
            error, KBASS_ERROR_DATA,
            "periodic: the ends of axis \"%s\" disagree: %s differs by %.3g between %g and %g, elsewhere by at "
            "most %.3g from one place to the next but one",
            data->axis_names[axis], data->state_names[f], c->sd[f] * jump, first, last, c->sd[f] * usual);
    }
    return KBASS_OK;
}

/* On a grid: the record when its last line is its first again, else one spacing more; scattered points leave a gap of
   their own spacing. */
static double find_period(const kb_field_samples *c, size_t axis)
{
    double jump = 0, usual = 0;
    for (size_t f = 0; c->gridded && f < c->n_fields; f++) {
        jump += change(c, f, axis, 0, c->n_grid[axis] - 1);
        usual += mean_change(c, f, axis);
    }
    if (c->gridded) return jump <= same_end * usual ? 1 : 1 + c->spacing[axis];
    return 1 + 1 / (double)c->n_grid[axis];
}

kbass_status kb_field_samples_read_periodic(kb_field_samples *samples, const kbass_data *data, const char *periodic,
                                            kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (!periodic || !*periodic) return KBASS_OK;
    for (size_t axis = 0; axis < KB_SAMPLE_AXES; axis++) samples->periodic[axis] = false;
    if (!strcmp(periodic, "none")) return KBASS_OK;
    for (const char *name = periodic, *end; status == KBASS_OK && *name; name = end + strspn(end, ", ")) {
        name += strspn(name, ", ");
        end = name + strcspn(name, ", ");
        if (end > name) status = mark(samples, data, name, (size_t)(end - name), error);
    }
    for (size_t axis = 1; status == KBASS_OK && axis < samples->n_axes; axis++) {
        if (!samples->periodic[axis]) continue;
        if (samples->gridded) status = check_ends(samples, data, axis, error);
        samples->period[axis] = find_period(samples, axis);
    }
    return status;
}
