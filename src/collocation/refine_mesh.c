#include "collocation/refine_mesh.h"

#include "base/linalg.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "gp/bare_field.h"
#include "gp/mesh.h"
#include "gp/monitor.h"
#include "collocation/smoother.h"

/* ---------------------------------------------------------------- the bare field */

/* The whole domain at the length scales of the bare field, on even points where an axis is open. */
static kbass_status span_domain(const kb_field_samples *samples, const kb_dictionary *dictionary, kb_kernel_kind kind,
                                const kb_bare_field *gp, kb_patch **patch, kbass_error *error)
{
    static const double lo[KB_SAMPLE_AXES] = {0};
    kb_patch_scales scales = {.kind = kind, .whole = true, .most = 1};
    for (size_t a = 0; a < samples->n_axes; a++) {
        scales.unit[a] = scales.shortest[a] = gp->length[a];
        scales.most *= kb_mesh_standard(samples->n_axes);
    }
    kbass_status status = kb_patch_create(samples, dictionary, lo, samples->extent, &scales, patch, error);
    return status == KBASS_OK ? kb_patch_set_level(*patch, (kb_steps){0, 0}, error) : status;
}

/* The fields on the patch's mesh, n_mesh x n_fields, axis 0 fastest. */
static kbass_status regress(const kb_patch *p, const kb_bare_field *gp, double *values, kbass_error *error)
{
    static const int plain[KB_SAMPLE_AXES] = {0};
    kb_smoother *smoother = NULL;
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_modes(p, plain, modes);
    double *ratio = KB_NEW(double, p->n_fields), *z = KB_NEW(double, p->n);
    double *work = KB_NEW(double, kb_modes_work(p->n_axes, modes));
    kbass_status status = ratio && z && work ? KBASS_OK : kb_out_of_memory(error, "the mesh");
    for (size_t f = 0; status == KBASS_OK && f < p->n_fields; f++) ratio[f] = gp->variance[f] / gp->amplitude[f];
    if (status == KBASS_OK) status = kb_smoother_create(p, ratio, &smoother, error);
    for (size_t f = 0; status == KBASS_OK && f < p->n_fields; f++) {
        kb_smoother_regress(smoother, f, z);
        kb_modes_product(p->n_axes, modes, z, values + f * p->n_mesh, work);
    }
    kb_smoother_destroy(smoother);
    kb_free(ratio);
    kb_free(z);
    kb_free(work);
    return status;
}

/* ---------------------------------------------------------------- the nodes */

static kbass_status refine_axis(kb_field_samples *samples, const kb_patch *p, const double *values, size_t axis,
                                kbass_error *error)
{
    size_t n = p->axis[axis]->n_mesh, left = 1, n_nodes = kb_mesh_standard(samples->n_axes);
    double period = samples->period[axis];
    kb_even_axis even = {n, period > 0 ? period : samples->extent[axis], period > 0};
    for (size_t a = 0; a < axis; a++) left *= p->axis[a]->n_mesh;
    double *M = KB_NEW(double, n), *nodes = KB_NEW(double, n_nodes);
    if (M && nodes) {
        kb_monitor_measure(&even, left, p->n_mesh / left / n * p->n_fields, values, M);
        kb_monitor_limit(&even, n_nodes, M);
        kb_monitor_spread(&even, M, n_nodes, nodes);
        samples->n_mesh[axis] = n_nodes;
        samples->mesh[axis] = nodes;
    }
    kb_free(M);
    if (samples->mesh[axis]) return KBASS_OK;
    kb_free(nodes);
    return kb_out_of_memory(error, "the mesh");
}

static kbass_status refine(kb_field_samples *samples, const kb_dictionary *dictionary, kb_kernel_kind kind,
                           kbass_error *error)
{
    kb_bare_field *gp = NULL;
    kb_patch *patch = NULL;
    double *values = NULL;
    kbass_status status = kb_bare_field_fit(samples, kind, &gp, error);
    if (status == KBASS_OK) status = span_domain(samples, dictionary, kind, gp, &patch, error);
    if (status == KBASS_OK) {
        values = KB_NEW(double, patch->n_mesh * patch->n_fields);
        status = values ? regress(patch, gp, values, error) : kb_out_of_memory(error, "the mesh");
    }
    for (size_t a = 0; status == KBASS_OK && a < samples->n_axes; a++)
        if (!samples->mesh[a]) status = refine_axis(samples, patch, values, a, error);
    kb_free(values);
    kb_patch_destroy(patch);
    kb_bare_field_destroy(gp);
    return status;
}

kbass_status kb_mesh_lay(kb_field_samples *samples, const kbass_data *data, const kbass_settings *settings,
                         const kb_dictionary *dictionary, kbass_error *error)
{
    kbass_status status = kb_mesh_read(samples, data, settings, error);
    if (status != KBASS_OK || !kb_mesh_is_auto(settings->mesh)) return status;
    return refine(samples, dictionary, (kb_kernel_kind)settings->kernel, error);
}
