/* A field without names, as an NPY holds it, over even axes of which only the steps are told: --axes t=0.1,x=0.05. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/arrange.h"

bool kb_axes_have_steps(const char *axes) { return axes && strchr(axes, '='); }

static kbass_status refuse(const kb_arrangement *a, const char *text)
{
    return kb_fail(a->reading->error, KBASS_ERROR_ARGUMENT,
                   "axes: \"%.100s\" is not a name and a step of each dimension, as in t=0.1,x=0.05", text);
}

/* 0, step, 2 step, ... */
static kbass_status add_axis(kb_arrangement *a, size_t i, const char *name, double step, size_t n)
{
    kb_array *axis = &a->even[i];
    double *numbers = KB_NEW(double, n);
    *axis = (kb_array){.name = kb_strdup(name),
                       .owned = numbers,
                       .bytes = (const unsigned char *)numbers,
                       .element = {KB_REAL, sizeof(double), false},
                       .n_dims = 1,
                       .dims = {n},
                       .strides = {sizeof(double)}};
    if (!numbers || !axis->name) return kb_out_of_memory(a->reading->error, "the axes");
    for (size_t k = 0; k < n; k++) numbers[k] = (double)k * step;
    kb_view *view = &a->views[a->n_views++];
    *view = kb_view_of(axis);
    view->name = axis->name;
    return KBASS_OK;
}

/* The steps become arrays beside the field, and only the names are left of what was said. */
static kbass_status take_steps(kb_arrangement *a, size_t n, char *const *names)
{
    kb_view field = a->views[0];
    kbass_status status = KBASS_OK;
    size_t used = 0;
    if (n > field.n_dims) return refuse(a, a->reading->axes);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        char *equals = strchr(names[i], '=');
        double step = 0;
        if (!equals || !kb_number_parse(equals + 1, &step) || !(step > 0) || !isfinite(step))
            return refuse(a, names[i]);
        *equals = '\0';
        status = add_axis(a, i, names[i], step, field.dims[i]);
        used += (size_t)snprintf(a->even_names + used, used < sizeof a->even_names ? sizeof a->even_names - used : 0,
                                 "%s%s", i ? "," : "", names[i]);
        if (used >= sizeof a->even_names) return refuse(a, a->reading->axes);
    }
    a->reading->axes = a->even_names;
    return status;
}

kbass_status kb_arrange_even(kb_arrangement *a)
{
    static const char *const fields[] = {"u", "u_re", "u_im"};
    char *copy = NULL, *names[KBASS_MAX_AXES];
    size_t n = 0;
    kb_view *time = NULL;
    kb_view *grown = kb_reallocate(a->views, a->n_views, a->n_views + KBASS_MAX_AXES, sizeof *grown);
    if (!grown) return kb_out_of_memory(a->reading->error, "the axes");
    a->views = grown;
    for (size_t i = 0; i < a->n_views; i++) a->views[i].name = fields[a->n_views == 1 ? 0 : a->views[i].array->portion];
    kbass_status status = kb_axes_split(a->reading->axes, &copy, &n, names, a->reading->error);
    if (status == KBASS_OK) status = take_steps(a, n, names);
    if (status == KBASS_OK) status = kb_time_find(a, &time);
    kb_free(copy);
    return status == KBASS_OK ? kb_arrange_grid(a, time) : status;
}
