/* What is said of a table whose columns were understood: names that had to change, units, lines that were left out. */
#include <stdio.h>

#include "data/plan.h"

enum { LISTED = 12 };

/* The i-th axis, or state behind them. */
static const kb_caption *caption_at(const kbass_data *d, size_t i, const char **name)
{
    *name = i < d->n_axes ? d->axis_names[i] : d->state_names[i - d->n_axes];
    return i < d->n_axes ? &d->axis_captions[i] : &d->state_captions[i - d->n_axes];
}

/* Columns whose names had to change: Biomass is "Biomass [g/L]". */
void kb_plan_say_names(kb_plan *p)
{
    const kbass_data *d = p->data;
    char text[400];
    size_t length = 0, n = 0;
    for (size_t i = p->says_time ? 1 : 0; i < d->n_axes + d->n_states && length < sizeof text; i++) {
        const char *name;
        const kb_caption *c = caption_at(d, i, &name);
        if (!c->face || n++ > LISTED) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, n > LISTED ? "%s..." : "%s%s is \"%.80s\"",
                                   n > 1 ? ", " : "", name, c->face);
    }
    if (n) kb_plan_say(p, "%s (--rename \"old=new\")", text);
}

void kb_plan_say_units(kb_plan *p)
{
    const kbass_data *d = p->data;
    char text[300];
    size_t length = 0, n = 0;
    for (size_t i = 0; i < d->n_axes + d->n_states && length < sizeof text; i++) {
        const char *name;
        const kb_caption *c = caption_at(d, i, &name);
        if (!c->unit || n++ > LISTED) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, n > LISTED ? "%s..." : "%s%s:%s",
                                   n > 1 ? ", " : "", name, c->unit);
    }
    if (n) kb_plan_say(p, "units (--units \"%s\")", text);
}

void kb_plan_say_layout(kb_plan *p)
{
    const kb_layout *l = &p->layout;
    const char *time = p->faces[p->roles.axes[0]];
    size_t skipped = l->header - (l->has_directive ? 1 : 0) - (p->has_groups ? 1 : 0);
    if (l->has_directive) kb_plan_say(p, "cells between \"%c\", as its first line says", l->separator);
    if (l->header < l->n && skipped)
        kb_plan_say(p, "%zu line%s before the header left out", skipped, skipped == 1 ? "" : "s");
    p->says_time =
        p->roles.n_axes == 1 && !p->reading->time && !kb_is_time_name(time) && p->clock == p->n && !p->parts.is_there;
    if (p->says_time) kb_plan_say(p, "%s is time (--time \"%.80s\")", p->data->time_name, time);
}
