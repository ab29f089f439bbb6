#include "simulate/pde_domain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/text.h"

/* ---------------------------------------------------------------- ranges: "x=0:32*pi, t=0:150" */

typedef struct {
    char name[64];
    double low, high;
} range;

static kbass_status read_number(const char *text, double *value, kbass_error *error)
{
    const char *const names[] = {"pi"};
    const double pi = M_PI;
    kb_expression *expression = NULL;
    kbass_status status = kb_expression_parse(text, (kb_variables){1, names}, &expression, error);
    double *work = status == KBASS_OK ? KB_NEW(double, kb_expression_work(expression, 1)) : NULL;
    if (status == KBASS_OK && !work) status = kb_out_of_memory(error, "a number");
    if (status == KBASS_OK) kb_expression_values(expression, 1, &pi, 1, value, work);
    kb_free(work);
    kb_expression_destroy(expression);
    return status;
}

static kbass_status read_range(char *piece, range *out, kbass_error *error)
{
    char *equals = strchr(piece, '='), *colon = equals ? strchr(equals, ':') : NULL;
    if (!colon) return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.60s\" is not a range: write x=0:10", piece);
    *equals = *colon = '\0';
    snprintf(out->name, sizeof out->name, "%s", kb_trim(piece));
    kbass_status status = read_number(equals + 1, &out->low, error);
    if (status == KBASS_OK) status = read_number(colon + 1, &out->high, error);
    if (status == KBASS_OK && !(isfinite(out->low) && isfinite(out->high) && out->low < out->high))
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "the range of %s is %g to %g, it must ascend", out->name,
                         out->low, out->high);
    return status;
}

static kbass_status read_ranges(const char *text, size_t *n, range ranges[KBASS_MAX_AXES], kbass_error *error)
{
    char *copy = kb_strdup(text), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the ranges");
    *n = 0;
    for (char *piece; status == KBASS_OK && (piece = kb_piece_next(&rest, ','));) {
        if (*n == KBASS_MAX_AXES)
            status = kb_fail(error, KBASS_ERROR_ARGUMENT, "more than %d axes in \"%.100s\"", KBASS_MAX_AXES, text);
        else status = read_range(piece, &ranges[(*n)++], error);
    }
    for (size_t i = 0; i < *n && status == KBASS_OK; i++)
        for (size_t k = 0; k < i && status == KBASS_OK; k++)
            if (!strcmp(ranges[i].name, ranges[k].name))
                status = kb_fail(error, KBASS_ERROR_ARGUMENT, "the axis %s has two ranges in \"%.100s\"",
                                 ranges[i].name, text);
    kb_free(copy);
    return status;
}

/* ---------------------------------------------------------------- the domain */

static void set_axis(kb_pde *pde, size_t axis, const range *from)
{
    snprintf(pde->axis_names[axis], sizeof pde->axis_names[axis], "%.63s", from->name);
    pde->axes[axis] = (kbass_axis){
        .name = pde->axis_names[axis], .low = from->low, .high = from->high, .first = from->low, .last = from->high};
}

kbass_status kb_pde_read_domain(kb_pde *pde, const char *domain, kbass_error *error)
{
    range ranges[KBASS_MAX_AXES];
    size_t n = 0, next = 1, time = KBASS_MAX_AXES;
    kbass_status status = read_ranges(domain, &n, ranges, error);
    if (status != KBASS_OK) return status;
    for (size_t i = 0; i < n; i++) {
        const char *name = ranges[i].name;
        if (strlen(name) != 1 || !kb_is_letter(name[0]) || name[0] == '_')
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "the axis \"%s\" must be one letter, as in u_x", name);
        if (!strcmp(name, "t")) time = i;
    }
    if (time == KBASS_MAX_AXES || n < 2)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "the domain \"%.100s\" needs ranges of t and of space: x=0:10, t=0:8", domain);
    set_axis(pde, 0, &ranges[time]);
    for (size_t i = 0; i < n; i++)
        if (i != time) set_axis(pde, next++, &ranges[i]);
    pde->n_axes = n;
    pde->n_space = n - 1;
    for (size_t d = 0; d < n; d++) pde->axes[d].n_samples = n == 2 ? 40 : n == 3 ? 15 : 8;
    return KBASS_OK;
}

static kbass_status find_axis(const kb_pde *pde, const char *name, size_t first, size_t *axis, kbass_error *error)
{
    char known[32] = "";
    for (size_t d = first; d < pde->n_axes; d++) {
        if (!strcmp(name, pde->axes[d].name)) {
            *axis = d;
            return KBASS_OK;
        }
        snprintf(known + strlen(known), sizeof known - strlen(known), d > first ? ", %s" : "%s", pde->axes[d].name);
    }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no axis \"%.40s\"; there are: %s", name, known);
}

kbass_status kb_pde_within(kb_pde *pde, const char *text, kbass_error *error)
{
    range ranges[KBASS_MAX_AXES];
    size_t n = 0, axis = 0;
    kbass_status status = read_ranges(text, &n, ranges, error);
    for (size_t i = 0; i < n && status == KBASS_OK; i++) {
        status = find_axis(pde, ranges[i].name, 0, &axis, error);
        if (status != KBASS_OK) break;
        kbass_axis *own = &pde->axes[axis];
        if (!(own->low <= ranges[i].low && ranges[i].high <= own->high))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s from %g to %g leaves the domain, %g to %g", own->name,
                           ranges[i].low, ranges[i].high, own->low, own->high);
        own->first = ranges[i].low;
        own->last = ranges[i].high;
    }
    return status;
}

/* ---------------------------------------------------------------- boundaries */

static kbass_status read_kind(const char *text, kb_boundary *kind, kbass_error *error)
{
    const char *const names[] = {"periodic", "dirichlet", "neumann"};
    char advice[200];
    for (int i = KB_PERIODIC; i <= KB_NEUMANN; i++) {
        if (strcmp(text, names[i])) continue;
        *kind = (kb_boundary)i;
        return KBASS_OK;
    }
    kb_name_advice(text, 3, names, advice, sizeof advice);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown boundary \"%.40s\"%s", text, advice);
}

static kbass_status read_boundary_piece(kb_pde *pde, char *piece, kbass_error *error)
{
    kb_boundary kind = KB_PERIODIC;
    char *equals = strchr(piece, '=');
    size_t axis = 0;
    kbass_status status = read_kind(equals ? kb_trim(equals + 1) : piece, &kind, error);
    if (status != KBASS_OK) return status;
    if (!equals) {
        for (size_t d = 0; d < pde->n_space; d++) pde->boundary[d] = kind;
        return KBASS_OK;
    }
    *equals = '\0';
    status = find_axis(pde, kb_trim(piece), 1, &axis, error);
    if (status == KBASS_OK) pde->boundary[axis - 1] = kind;
    return status;
}

kbass_status kb_pde_read_boundary(kb_pde *pde, const char *text, kbass_error *error)
{
    if (!text) return KBASS_OK;
    char *copy = kb_strdup(text), *rest = copy;
    kbass_status status = copy ? KBASS_OK : kb_out_of_memory(error, "the boundaries");
    for (char *piece; status == KBASS_OK && (piece = kb_piece_next(&rest, ','));)
        status = read_boundary_piece(pde, piece, error);
    kb_free(copy);
    return status;
}

void kb_pde_take_box(kb_pde *pde, const kb_pde_box *box)
{
    pde->n_axes = box->n_axes;
    pde->n_space = box->n_axes - 1;
    for (size_t d = 0; d < box->n_axes; d++) {
        range own = {.low = box->low[d], .high = box->high[d]};
        snprintf(own.name, sizeof own.name, "%s", box->name[d]);
        set_axis(pde, d, &own);
        pde->axes[d].n_samples = box->n_axes == 2 ? 40 : box->n_axes == 3 ? 15 : 8;
        if (d) pde->boundary[d - 1] = box->boundary[d - 1];
    }
}
