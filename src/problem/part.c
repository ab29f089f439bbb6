#include "problem/part.h"

#include "base/memory.h"
#include "base/status.h"

/* Arrays of one stretch, its own. */
static bool allocate(const kb_field_samples *from, kb_field_samples *c)
{
    size_t points = c->n_points, fields = from->n_fields;
    bool done = true;
    c->mean = KB_NEW(double, fields);
    c->sd = KB_NEW(double, fields);
    c->known_variance = KB_NEW(double, fields);
    c->count = KB_NEW(size_t, fields);
    c->point = KB_NEW(double, points * c->n_axes);
    c->value = KB_NEW(double, points *fields);
    c->measured = KB_NEW(double, points *fields);
    c->relative = from->relative ? KB_NEW(double, points *fields) : NULL;
    for (size_t a = 0; a < KB_SAMPLE_AXES; a++) {
        c->mesh[a] = NULL;
        c->n_mesh[a] = 0;
        c->grid[a] = a < c->n_axes ? KB_NEW(double, c->n_grid[a]) : NULL;
        done = done && (c->grid[a] || a >= c->n_axes);
    }
    return done && c->mean && c->sd && c->known_variance && c->count && c->point && c->value && c->measured &&
           (c->relative || !from->relative);
}

/* Time counts from the first line. */
static void copy_axes(const kb_field_samples *from, const kb_stretch *s, kb_field_samples *c)
{
    double start = from->grid[0][s->first];
    for (size_t i = 0; i < c->n_grid[0]; i++) c->grid[0][i] = from->grid[0][s->first + i * s->every_line] - start;
    for (size_t i = 0; i < c->n_grid[1]; i++) c->grid[1][i] = from->grid[1][i * s->every_point];
    c->first[0] = from->first[0] + from->span[0] * start;
    c->extent[0] = c->grid[0][c->n_grid[0] - 1];
    c->spacing[0] *= (double)s->every_line;
    c->spacing[1] *= (double)s->every_point;
    for (size_t p = 0; p < c->n_points; p++) {
        c->point[p] = c->grid[0][p / c->n_grid[1]];
        c->point[p + c->n_points] = c->grid[1][p % c->n_grid[1]];
    }
}

static void copy_values(const kb_field_samples *from, const kb_stretch *s, kb_field_samples *c)
{
    c->n_values = 0;
    for (size_t f = 0; f < c->n_fields; f++) {
        c->mean[f] = from->mean[f];
        c->sd[f] = from->sd[f];
        c->known_variance[f] = from->known_variance[f];
        for (size_t p = 0; p < c->n_points; p++) {
            size_t line = s->first + p / c->n_grid[1] * s->every_line, place = p % c->n_grid[1] * s->every_point,
                   at = f * from->n_points + line * from->n_grid[1] + place, to = f * c->n_points + p;
            c->value[to] = from->value[at];
            c->measured[to] = from->measured[at];
            if (c->relative) c->relative[to] = from->relative[at];
            c->count[f] += from->measured[at] > 0;
        }
        c->n_values += c->count[f];
    }
}

static kbass_status cut(const kb_field_samples *from, const kb_stretch *s, kb_field_samples **out, kbass_error *error)
{
    kb_field_samples *c = *out = KB_NEW(kb_field_samples, 1);
    if (!c) return kb_out_of_memory(error, "a part of the data");
    *c = *from;
    c->n_grid[0] = (s->rows - 1) / s->every_line + 1;
    c->n_grid[1] = (from->n_grid[1] - 1) / s->every_point + 1;
    c->n_points = c->n_grid[0] * c->n_grid[1];
    if (!allocate(from, c)) return kb_out_of_memory(error, "a part of the data");
    copy_axes(from, s, c);
    copy_values(from, s, c);
    return KBASS_OK;
}

kbass_status kb_pde1d_part_create(const kb_pde1d_problem *l, size_t n, const kb_stretch *stretches,
                                  kb_pde1d_problem **out, kbass_error *error)
{
    kb_pde1d_problem *part = KB_NEW(kb_pde1d_problem, 1);
    if (!part) return kb_out_of_memory(error, "a part of the data");
    *part = *l;
    part->n_runs = n;
    part->run_samples = KB_NEW(kb_field_samples *, n);
    part->setups = KB_NEW(kb_pde1d_setup, n);
    kbass_status status = part->run_samples && part->setups ? KBASS_OK : kb_out_of_memory(error, "a part of the data");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        status = cut(l->run_samples[stretches[i].run], &stretches[i], &part->run_samples[i], error);
        part->setups[i] = l->setups[stretches[i].run];
        part->setups[i].samples = part->run_samples[i];
        if (status == KBASS_OK)
            part->setups[i].line.steps = kb_pde1d_problem_steps(part->run_samples[i], part->setups[i].profile.noise, 1);
    }
    if (status == KBASS_OK) *out = part;
    else kb_pde1d_part_destroy(part);
    return status;
}

void kb_pde1d_part_destroy(kb_pde1d_problem *part)
{
    if (!part) return;
    for (size_t i = 0; part->run_samples && i < part->n_runs; i++) kb_field_samples_destroy(part->run_samples[i]);
    kb_free(part->run_samples);
    kb_free(part->setups);
    kb_free(part);
}
