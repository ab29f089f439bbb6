#include "discover/paper_mesh.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "gp/mesh.h"
#include "collocation/gradient.h"
#include "collocation/refine_mesh.h"
#include "collocation/smoother.h"
#include "tensor/rows.h"

static const double spacings = 0.8; /* of the samples, to a length scale */

typedef struct {
    kb_canvas canvas; /* first, so that the loop's pointer is ours */
    kb_field_samples *samples;
    kb_patch *patch; /* the whole domain */
    kb_smoother *smoother;
    kb_columns *columns;
    kb_support all;
    kb_patch_workspace *workspace;
    kb_hyper hyper;
    double *slope_squares, *amplitude, *variance, *z, *w; /* slope_squares: of the bare field */
} sheet;

static sheet *sheet_of(kb_canvas *canvas) { return (sheet *)canvas; }

/* ---------------------------------------------------------------- what the loop asks for */

static bool regress(kb_canvas *canvas)
{
    sheet *s = sheet_of(canvas);
    for (size_t f = 0; f < s->samples->n_fields; f++) kb_smoother_regress(s->smoother, f, s->z + f * s->patch->n);
    return true;
}

static void listen(kb_canvas *canvas, const kb_support *support)
{
    sheet *s = sheet_of(canvas);
    kb_patch_plug_in(s->workspace, s->patch, &s->hyper, support, s->z, s->w);
}

static double descend(kb_canvas *canvas, const kb_support *support)
{
    sheet *s = sheet_of(canvas);
    return kb_patch_gradient(s->workspace, s->patch, &s->hyper, support, s->z, s->w);
}

static bool finish(kb_canvas *canvas, const kb_support *support)
{
    (void)canvas, (void)support;
    return true;
}

static double residual_rms(const kb_canvas *canvas, size_t field)
{
    const sheet *s = (const sheet *)canvas;
    const kb_patch *p = s->patch;
    double *r = s->workspace->data;
    kb_patch_residual(p, field, s->z + field * p->n, r, r + p->n_points);
    return s->samples->sd[field] * sqrt(kb_dot(p->n_points, r, r) / (double)p->count[field]);
}

static double initial(const kb_canvas *canvas, size_t field)
{
    (void)canvas, (void)field;
    return NAN;
}

/* ---------------------------------------------------------------- the solution */

typedef struct {
    double *scaled, *features[KB_SAMPLE_AXES], *work, *value;
} asker;

static void asker_clear(asker *a)
{
    for (size_t i = 0; i < KB_SAMPLE_AXES; i++) kb_free(a->features[i]);
    kb_free(a->scaled);
    kb_free(a->work);
    kb_free(a->value);
}

static bool asker_init(asker *a, const kb_patch *p)
{
    size_t n = KB_SMOOTHER_POINTS, mesh = 0;
    bool complete = true;
    for (size_t i = 0; i < p->n_axes; i++) {
        complete = (a->features[i] = KB_NEW(double, n * p->axis[i]->n_mesh)) != NULL && complete;
        if (p->axis[i]->n_mesh > mesh) mesh = p->axis[i]->n_mesh;
    }
    a->scaled = KB_NEW(double, n);
    a->work = KB_NEW(double, n *(mesh > p->kept.n_space ? mesh : p->kept.n_space));
    a->value = KB_NEW(double, 2 * n);
    return complete && a->scaled && a->work && a->value;
}

/* Features of at most KB_SMOOTHER_POINTS points. */
static void find_features(const sheet *s, asker *a, size_t n, const double *times, const double *positions,
                          kb_mode *modes)
{
    const kb_patch *p = s->patch;
    size_t space = p->n_axes - 1;
    for (size_t i = 0; i < p->n_axes; i++) {
        for (size_t k = 0; k < n; k++)
            a->scaled[k] = ((i ? positions[k * space + i - 1] : times[k]) - s->samples->first[i]) / s->samples->span[i];
        kb_basis_features(p->level[i]->basis, n, a->scaled, 0, a->features[i], a->work);
        modes[i] = (kb_mode){n, p->kept.rank[i], n, a->features[i]};
    }
}

/* The field, with the band that the measurements alone leave it: the equation does not narrow it. */
static kbass_status evaluate(kb_canvas *canvas, size_t n, const double *times, const double *positions, double *mean,
                             double *sd, kbass_error *error)
{
    sheet *s = sheet_of(canvas);
    size_t F = s->samples->n_fields;
    asker a = {0};
    kb_mode modes[KB_SAMPLE_AXES];
    bool complete = asker_init(&a, s->patch);
    for (size_t first = 0, m = 0; complete && first < n; first += m) {
        m = n - first < KB_SMOOTHER_POINTS ? n - first : KB_SMOOTHER_POINTS;
        find_features(s, &a, m, times + first, positions + first * (s->patch->n_axes - 1), modes);
        for (size_t f = 0; f < F; f++) {
            kb_rows_product(s->patch->n_axes, modes, s->z + f * s->patch->n, a.value, a.work);
            kb_smoother_variance(s->smoother, f, modes, a.value + m);
            for (size_t k = 0; k < m; k++) {
                mean[(first + k) * F + f] = s->samples->mean[f] + s->samples->sd[f] * a.value[k];
                sd[(first + k) * F + f] = s->samples->sd[f] * sqrt(fmax(a.value[m + k], 0));
            }
        }
    }
    asker_clear(&a);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the solution");
}

/* ---------------------------------------------------------------- life */

static void destroy(kb_canvas *canvas)
{
    sheet *s = sheet_of(canvas);
    kb_patch_workspace_destroy(s->workspace);
    kb_smoother_destroy(s->smoother);
    kb_patch_destroy(s->patch);
    kb_columns_destroy(s->columns);
    kb_support_clear(&s->all);
    kb_field_samples_destroy(s->samples);
    double *vectors[] = {s->slope_squares, s->hyper.slope_squares, s->amplitude, s->variance, s->z, s->w};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) kb_free(vectors[i]);
    kb_free(s);
}

static kbass_status read_data(sheet *s, const kbass_data *data, const kbass_settings *settings,
                              const kb_dictionary *dictionary, kbass_error *error)
{
    kbass_status status = kb_field_samples_create(data, settings->noise, &s->samples, error);
    if (status == KBASS_OK) status = kb_dictionary_check_points(dictionary, s->samples->n_grid, error);
    if (status == KBASS_OK) status = kb_field_samples_read_periodic(s->samples, data, settings->periodic, error);
    if (status == KBASS_OK) status = kb_mesh_lay(s->samples, data, settings, dictionary, error);
    for (size_t a = 0; status == KBASS_OK && a < data->n_axes; a++)
        status = kb_mesh_close(s->samples, a, kb_mesh_standard(data->n_axes), error);
    if (status == KBASS_OK)
        status = kb_mesh_check_memory(s->samples, kb_patch_workspace_doubles_per_point(dictionary), error);
    return status;
}

static kbass_status lay_mesh(sheet *s, const kbass_settings *settings, const kb_dictionary *dictionary,
                             kbass_error *error)
{
    static const double lo[KB_SAMPLE_AXES] = {0}, hi[KB_SAMPLE_AXES] = {1, 1, 1, 1};
    kb_patch_scales scales = {.kind = (kb_kernel_kind)settings->kernel, .whole = true, .most = 1};
    for (size_t a = 0; a < s->samples->n_axes; a++) {
        scales.unit[a] = scales.shortest[a] = kb_paper_length(settings, spacings * s->samples->spacing[a]);
        scales.most *= s->samples->n_mesh[a];
    }
    kbass_status status = kb_patch_create(s->samples, dictionary, lo, hi, &scales, &s->patch, error);
    if (status == KBASS_OK) status = kb_patch_set_level(s->patch, (kb_steps){0, 0}, error);
    return status;
}

static kbass_status allocate(sheet *s, size_t n_columns, kbass_error *error)
{
    size_t F = s->samples->n_fields;
    s->slope_squares = KB_NEW(double, F);
    s->hyper.slope_squares = KB_NEW(double, F);
    s->amplitude = KB_NEW(double, F);
    s->variance = KB_NEW(double, F);
    s->z = KB_NEW(double, F * s->patch->n);
    s->w = KB_NEW(double, n_columns);
    bool complete = s->slope_squares && s->hyper.slope_squares && s->amplitude && s->variance && s->z && s->w;
    return complete ? KBASS_OK : kb_out_of_memory(error, "the published method");
}

/* The bare field on the mesh, and the columns scaled on it. */
static kbass_status scale_columns(sheet *s, const kb_dictionary *dictionary, kbass_error *error)
{
    kb_columns none = {0};
    kb_patch_workspace *workspace = NULL;
    size_t m = s->patch->n_mesh;
    kbass_status status = kb_patch_workspace_create_light(s->patch, dictionary, &none, &workspace, error);
    if (status == KBASS_OK) {
        regress(&s->canvas);
        kb_collocation_evaluate(workspace, s->patch, s->z);
        for (size_t f = 0; f < s->samples->n_fields; f++)
            s->slope_squares[f] = kb_dot(m, workspace->slopes + f * m, workspace->slopes + f * m) / (double)m;
        status = kb_columns_create(dictionary, s->samples->sd, s->samples->span[0], m, workspace->points,
                                   s->slope_squares, &s->columns, error);
    }
    kb_patch_workspace_destroy(workspace);
    return status;
}

/* One pseudo-observation of the equation at each point of the mesh: kb_equation_weight counts the data instead. */
static void set_hyper(sheet *s)
{
    for (size_t f = 0; f < s->samples->n_fields; f++)
        s->hyper.slope_squares[f] = s->slope_squares[f] * (double)s->patch->count[f] / (double)s->patch->n_mesh;
    s->hyper.tau = s->canvas.settings->paper_equation_variance;
    s->hyper.variance = s->variance;
    s->hyper.amplitude = s->amplitude;
}

static kbass_status fill(sheet *s, const kbass_data *data, const kbass_settings *settings,
                         const kb_dictionary *dictionary, kbass_error *error)
{
    kbass_status status = read_data(s, data, settings, dictionary, error);
    if (status == KBASS_OK) status = lay_mesh(s, settings, dictionary, error);
    if (status == KBASS_OK) status = allocate(s, dictionary->n_terms * dictionary->n_states, error);
    for (size_t f = 0; status == KBASS_OK && f < data->n_states; f++) {
        s->variance[f] = kb_paper_noise(settings, s->samples->known_variance[f]);
        s->amplitude[f] = 1;
    }
    if (status == KBASS_OK) status = kb_smoother_create(s->patch, s->variance, &s->smoother, error);
    if (status == KBASS_OK) status = scale_columns(s, dictionary, error);
    if (status == KBASS_OK) status = kb_support_create(s->columns->n, &s->all, error);
    for (size_t q = 0; status == KBASS_OK && q < s->columns->n; q++) s->all.column[s->all.n++] = q;
    if (status == KBASS_OK)
        status = kb_patch_workspace_create_light(s->patch, dictionary, s->columns, &s->workspace, error);
    return status;
}

static kb_canvas describe(const sheet *s, const kbass_settings *settings, const kb_dictionary *dictionary)
{
    const kb_field_samples *c = s->samples;
    return (kb_canvas){.settings = settings,
                       .frame = {dictionary, s->columns, c->mean, c->sd, c->span[0], 1, false},
                       .all = &s->all,
                       .slope_squares = s->slope_squares,
                       .n = c->n_fields * s->patch->n,
                       .z = s->z,
                       .w = s->w,
                       .gradient = s->workspace->gz,
                       .G = s->workspace->Hww,
                       .gradient_w = s->workspace->gw,
                       .regress = regress,
                       .listen = listen,
                       .descend = descend,
                       .finish = finish,
                       .residual_rms = residual_rms,
                       .initial = initial,
                       .evaluate = evaluate,
                       .destroy = destroy};
}

kbass_status kb_paper_mesh_create(const kbass_data *data, const kbass_settings *settings,
                                  const kb_dictionary *dictionary, kb_canvas **out, kbass_error *error)
{
    sheet *s = KB_NEW(sheet, 1);
    if (!s) return kb_out_of_memory(error, "the published method");
    kbass_status status = fill(s, data, settings, dictionary, error);
    if (status == KBASS_OK) {
        s->canvas = describe(s, settings, dictionary);
        set_hyper(s);
        *out = &s->canvas;
    } else {
        destroy(&s->canvas);
    }
    return status;
}

const kb_field_samples *kb_paper_mesh_samples(const kb_canvas *canvas) { return ((const sheet *)canvas)->samples; }
