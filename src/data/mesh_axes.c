/* Axes that were saved as meshes: X (64 x 41) that only changes along one dimension is an axis of 64. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "data/arrange.h"

static double number_at(const kb_view *v, size_t first)
{
    double number = 0;
    kb_view_read(v, first, 1, &number);
    return number;
}

/* The numbers repeat along every dimension but this one, along which they ascend or descend. */
static bool changes_only_along(const kb_view *v, size_t dim)
{
    size_t inner = 1, n = 1;
    for (size_t i = 0; i < v->n_dims; i++) n *= v->dims[i];
    for (size_t i = dim + 1; i < v->n_dims; i++) inner *= v->dims[i];
    for (size_t i = 0; i < n; i++) {
        size_t along = i / inner % v->dims[dim];
        if (number_at(v, i) != number_at(v, along * inner)) return false;
    }
    double direction = number_at(v, inner) - number_at(v, 0);
    for (size_t i = 1; i < v->dims[dim]; i++)
        if (!((number_at(v, i * inner) - number_at(v, (i - 1) * inner)) * direction > 0)) return false;
    return true;
}

static bool reduce(kb_arrangement *a, kb_view *v)
{
    char shape[100];
    if (kb_source_load(&a->source, v->array) != KBASS_OK) return false;
    for (size_t dim = 0; dim < v->n_dims; dim++) {
        if (!changes_only_along(v, dim)) continue;
        kb_array_shape(v->array, shape, sizeof shape);
        kb_arrangement_note(a, "%s%s (%s) is a mesh: taken as an axis of %zu", *a->note ? "; " : "", v->name, shape,
                            v->dims[dim]);
        v->strides[0] = v->strides[dim];
        v->dims[0] = v->dims[dim];
        v->n_dims = 1;
        return true;
    }
    return false;
}

/* Another array runs along all its dimensions, in any order. */
static bool lies_under(const kb_view *mesh, const kb_view *field)
{
    bool is_used[KB_MOST_DIMS] = {false};
    if (field == mesh || field->n_dims < mesh->n_dims) return false;
    for (size_t i = 0; i < mesh->n_dims; i++) {
        size_t k = 0;
        while (k < field->n_dims && (is_used[k] || field->dims[k] != mesh->dims[i])) k++;
        if (k == field->n_dims) return false;
        is_used[k] = true;
    }
    return true;
}

/* Where time is an axis, meshes of space become axes too; where it is a mesh and space is none, time does. */
void kb_meshes_reduce(kb_arrangement *a, kb_view *time)
{
    bool has_space_axis = false;
    for (size_t i = 0; i < a->n_views; i++)
        for (size_t k = 0; k < time->n_dims; k++)
            has_space_axis |= time->n_dims > 1 && a->views[i].n_dims == 1 && kb_is_space_name(a->views[i].name) &&
                              a->views[i].dims[0] == time->dims[k];
    if (has_space_axis) reduce(a, time);
    for (size_t i = 0; time->n_dims == 1 && i < a->n_views; i++) {
        kb_view *v = &a->views[i];
        bool is_mesh = v->n_dims > 1 && kb_is_space_name(v->name) && (!a->field || !kb_view_is_asked(a, v));
        for (size_t k = 0; is_mesh && k < a->n_views; k++)
            if (lies_under(v, &a->views[k])) {
                reduce(a, v);
                break;
            }
    }
}
