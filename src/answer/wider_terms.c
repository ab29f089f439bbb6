#include "answer/wider_terms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { TEXT_SIZE = 20000 };                /* room: a dictionary's text */
static const double largest_argument = 20; /* of functions that are tried: exp(20) is 5e8 */

static size_t append(char *text, size_t used, const char *format, const char *name, const char *other)
{
    char piece[300];
    int length = snprintf(piece, sizeof piece, format, name, other);
    if (length < 0 || (size_t)length >= sizeof piece || used + (size_t)length + 3 > TEXT_SIZE) return used;
    return used + (size_t)sprintf(text + used, "%s%s", used ? ", " : "", piece);
}

static size_t append_harmonics(char *text, size_t used, const char *axis, double span, int most)
{
    for (int k = 1; k <= most; k++) {
        char wave[40];
        snprintf(wave, sizeof wave, "%.6g", 2 * M_PI * k / span);
        used = append(text, used, "sin(%2$s*%1$s)", axis, wave);
        used = append(text, used, "cos(%2$s*%1$s)", axis, wave);
    }
    return used;
}

/* Functions ask for arguments of no unit and of ordinary size: no exp(T) of a temperature of 98. */
static bool is_function(const char *form)
{
    return !strstr(form, "abs") && (strstr(form, "(%1$s)") || strstr(form, "exp") || strstr(form, "1+"));
}

static bool has_no_scale(const kb_frame *frame, size_t state)
{
    return !frame->dictionary->units && fabs(frame->mean[state]) + 3 * frame->sd[state] <= largest_argument;
}

/* Powers, functions, quotients, products with the others and with time. */
static size_t append_state_terms(char *text, size_t used, const kb_dictionary *d, size_t state, bool functions)
{
    static const char *const forms[] = {"1",          "%1$s",       "%1$s^2",        "%1$s^3",    "%1$s^4",
                                        "%1$s^5",     "sin(%1$s)",  "cos(%1$s)",     "exp(%1$s)", "exp(-%1$s)",
                                        "tanh(%1$s)", "1/(1+%1$s)", "%1$s/(1+%1$s)", "abs(%1$s)", "%1$s*abs(%1$s)",
                                        "%1$s*%2$s"};
    static const char *const pairs[] = {"%1$s*%2$s", "%1$s^2*%2$s", "%1$s^3*%2$s", "%1$s*%2$s/(1+%1$s)"};
    const char *name = d->state_names[state];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (functions || !is_function(forms[i])) used = append(text, used, forms[i], name, d->time_name);
    for (size_t other = 0; other < d->n_states; other++)
        for (size_t i = 0; other != state && i < sizeof pairs / sizeof *pairs; i++)
            used = append(text, used, pairs[i], name, d->state_names[other]);
    return used;
}

static const char *axis_name(const kb_dictionary *d, size_t axis)
{
    return d->variable_names[d->n_variables - d->n_axes + axis];
}

/* Derivatives along one axis, and their products with the field and the place. */
static size_t append_axis_terms(char *text, size_t used, const kb_dictionary *d, size_t field, size_t axis, int highest)
{
    static const struct {
        const char *form;
        int order;
    } forms[] = {{"%1$s_%2$s", 1},
                 {"%1$s_%2$s%2$s", 2},
                 {"%1$s_%2$s%2$s%2$s", 3},
                 {"%1$s_%2$s%2$s%2$s%2$s", 4},
                 {"%1$s_%2$s%2$s%2$s%2$s%2$s", 5},
                 {"%1$s_%2$s%2$s%2$s%2$s%2$s%2$s", 6},
                 {"%1$s*%1$s_%2$s", 1},
                 {"%1$s^2*%1$s_%2$s", 1},
                 {"%1$s*%1$s_%2$s%2$s", 2},
                 {"%1$s_%2$s^2", 1},
                 {"%1$s_%2$s*%1$s_%2$s%2$s", 2},
                 {"%2$s*%1$s", 0},
                 {"%2$s*%1$s_%2$s", 1}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].order <= highest)
            used = append(text, used, forms[i].form, d->state_names[field], axis_name(d, axis));
    return used;
}

/* u_xy of every pair of axes along which derivatives are taken */
static size_t append_mixed(char *text, size_t used, const kb_dictionary *d, size_t field, const int *highest)
{
    for (size_t a = 1; a < d->n_axes; a++)
        for (size_t b = a + 1; b < d->n_axes; b++) {
            char form[80];
            snprintf(form, sizeof form, "%%s_%.30s%%s", axis_name(d, a));
            if (highest[a] && highest[b]) used = append(text, used, form, d->state_names[field], axis_name(d, b));
        }
    return used;
}

static size_t append_space(char *text, size_t used, const kb_dictionary *d, const double *span, const int *highest)
{
    for (size_t f = 0; f < d->n_states; f++) {
        for (size_t axis = 1; axis < d->n_axes; axis++) used = append_axis_terms(text, used, d, f, axis, highest[axis]);
        used = append_mixed(text, used, d, f, highest);
    }
    for (size_t axis = 1; axis < d->n_axes; axis++)
        used =
            append_harmonics(text, append(text, used, "%s", axis_name(d, axis), ""), axis_name(d, axis), span[axis], 3);
    return used;
}

kbass_status kb_wider_dictionary(const kb_frame *frame, const kb_fit *fit, const double *span, const int *highest,
                                 kb_dictionary **out, kbass_error *error)
{
    const kb_dictionary *d = frame->dictionary;
    const char *axes[KB_MAX_AXES] = {d->time_name};
    char *text = KB_NEW(char, TEXT_SIZE), lhs[200] = "";
    size_t used = 0;
    kbass_settings settings;
    if (!text) return kb_out_of_memory(error, "the wider dictionary");
    for (size_t i = 0; i < fit->support.n; i++)
        used = append(text, used, "%s", kb_dictionary_name(d, frame->columns->term[fit->support.column[i]]), "");
    for (size_t i = 0; i < d->n_states; i++) used = append_state_terms(text, used, d, i, has_no_scale(frame, i));
    if (d->n_axes > 1) used = append_space(text, used, d, span, highest);
    used = append(text, used, "1, %1$s, %1$s^2", d->time_name, "");
    append_harmonics(text, used, d->time_name, frame->span, d->n_axes > 1 ? 3 : 6);
    kb_settings_default(&settings);
    settings.terms = text;
    for (size_t axis = 1; axis < d->n_axes; axis++) axes[axis] = axis_name(d, axis);
    if (d->time_order > 1) /* one left-hand side tells the order of all */
        snprintf(lhs, sizeof lhs, "%.190s%s", d->state_names[0], kb_dictionary_suffix(d));
    settings.lhs = lhs;
    kbass_status status = kb_dictionary_create_fields(&settings, d->n_states, (const char *const *)d->state_names,
                                                      d->n_axes, axes, out, error);
    kb_free(text);
    return status;
}
