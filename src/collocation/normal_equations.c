#include "collocation/normal_equations.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "collocation/gradient.h"
#include "tensor/pair.h"

kbass_status kb_patch_message_create(const kb_columns *columns, const kb_patch *patch, kb_patch_message **out,
                                     kbass_error *error)
{
    size_t k = columns->n;
    kb_patch_message *m = KB_NEW(kb_patch_message, 1);
    if (m) {
        m->G = KB_NEW(double, k *k);
        m->b = KB_NEW(double, k);
        m->response = KB_NEW(double, patch->most * patch->n_fields * (k + 1));
        m->effective = KB_NEW(double, patch->n_fields);
    }
    if (!m || !m->G || !m->b || !m->response || !m->effective) {
        kb_patch_message_destroy(m);
        return kb_out_of_memory(error, "a patch's message");
    }
    *out = m;
    return KBASS_OK;
}

void kb_patch_message_destroy(kb_patch_message *m)
{
    if (!m) return;
    kb_free(m->G);
    kb_free(m->b);
    kb_free(m->response);
    kb_free(m->effective);
    kb_free(m);
}

/* ---------------------------------------------------------------- structured assembly */

/* Several space axes are paired, their products of features summed axis after axis. */
static bool is_paired(const kb_patch *p) { return p->n_axes > 2; }

static bool is_coupled(const kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t field)
{
    for (size_t v = 0; v < b->dictionary->n_variables; v++)
        if (b->dictionary->variables[v].axis < 0 && b->dictionary->variables[v].field == field &&
            b->depends[equation + v * p->n_fields])
            return true;
    return false;
}

/* Slot 0: sqrt(W) X; slot 1 + f: sqrt(W) E_t of field f */
static double *slice_at(const kb_patch_workspace *b, const kb_patch *p, size_t slot)
{
    return b->slice + slot * p->n_places * p->kept.n_space;
}

/* to[(x, y, ..), i] += factor[(x, y, ..)] phi_1[x, b] phi_2[y, c] ..., product i of space being (b, c, ..), with the
   derivative's orders */
static void add_rows(const kb_patch *p, const int *order, const double *factor, double *to)
{
    size_t places = p->n_places, lines = p->level[1]->n_inner;
    kb_mode modes[KB_SAMPLE_AXES];
    kb_patch_modes(p, order, modes);
    for (size_t i = 0; i < p->kept.n_space; i++, to += places) {
        const double *inner = modes[1].entries + kb_products_index(&p->kept, i, 1) * modes[1].ld;
        for (size_t place = 0; place < places; place += lines) {
            double outer = 1;
            for (size_t a = 2, rest = place / lines; a < p->n_axes; rest /= modes[a++].rows)
                outer *= modes[a].entries[rest % modes[a].rows + kb_products_index(&p->kept, i, a) * modes[a].ld];
            for (size_t x = 0; x < lines; x++) to[place + x] += factor[place + x] * outer * inner[x];
        }
    }
}

static void fill_slice(kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t t)
{
    static const int plain[KB_MAX_AXES] = {0};
    size_t times = p->level[0]->n_inner, m = p->n_mesh, places = p->n_places;
    const double *weight = b->weight + equation * m;
    double *root = b->column, *factor = b->column + places;
    memset(b->slice, 0, (p->n_fields + 1) * places * p->kept.n_space * sizeof *b->slice);
    for (size_t x = 0; x < places; x++) root[x] = sqrt(weight[t + x * times]);
    add_rows(p, plain, root, slice_at(b, p, 0));
    for (size_t v = 0; v < b->dictionary->n_variables; v++) {
        const double *slope = b->slope + (equation + v * p->n_fields) * m;
        if (b->dictionary->variables[v].axis >= 0 || !b->depends[equation + v * p->n_fields]) continue;
        for (size_t x = 0; x < places; x++) factor[x] = root[x] * slope[t + x * times];
        add_rows(p, b->dictionary->variables[v].order, factor, slice_at(b, p, 1 + b->dictionary->variables[v].field));
    }
}

/* Products waiting for the large GEMM:  C[(a, a'), (b, b')] = sum_k left[(a, a'), k] right[(b, b'), k],  a part of the
   block (f, g) of H; of a symmetric block half, to be added to its transpose. */
typedef struct {
    kb_patch_workspace *workspace;
    const kb_patch *patch;
    size_t equation, f, g, n, capacity;
} stack;

/* H[(i, c), (j, d)] += C[c + d r] for the times c, d that are kept; of a symmetric block the transpose, too. H's lower
   triangle counts. */
static void place_product(const stack *s, size_t i, size_t j, const double *C)
{
    const kb_products *kept = &s->patch->kept;
    size_t r = kept->rank[0], nz = s->workspace->nz;
    size_t n_rows = kept->first[i + 1] - kept->first[i], n_columns = kept->first[j + 1] - kept->first[j];
    size_t row = s->f * kept->n + kept->first[i], column = s->g * kept->n + kept->first[j];
    double *block = s->workspace->H + row + column * nz, *transposed = s->workspace->H + column + row * nz;
    for (size_t d = 0; (s->f != s->g || i >= j) && d < n_columns; d++)
        for (size_t c = 0; c < n_rows; c++) block[c + d * nz] += C[c + d * r];
    for (size_t c = 0; s->f == s->g && i <= j && c < n_rows; c++)
        for (size_t d = 0; d < n_columns; d++) transposed[d + c * nz] += C[c + d * r];
}

/* As many columns of space at a time as the spare matrix holds. */
static void stack_flush(stack *s)
{
    kb_patch_workspace *b = s->workspace;
    size_t n = s->patch->kept.n_space, time = s->patch->kept.rank[0] * s->patch->kept.rank[0];
    size_t at_once = b->spare_size / (time * n);
    for (size_t first = 0, m; s->n && first < n; first += m) {
        m = n - first < at_once ? n - first : at_once;
        kb_gemm(KB_PLAIN, KB_TRANSPOSED, time, n * m, s->n, 1, b->left, time, b->right + first * n, n * n, 0, b->spare,
                time);
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++) place_product(s, i, first + j, b->spare + (i + j * n) * time);
    }
    s->n = 0;
}

/* right = A'B from the slice's rows */
static void multiply_slots(kb_patch_workspace *b, const kb_patch *p, size_t A, size_t B, double *right)
{
    size_t n = p->kept.n_space;
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, p->n_places, 1, slice_at(b, p, A), p->n_places, slice_at(b, p, B),
            p->n_places, 0, right, n);
}

/* Variables in a slot: the field itself for X, for E_t those of its field that the equation depends on. */
static bool is_in_slot(const kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t slot, size_t v)
{
    const kb_variable *variable = &b->dictionary->variables[v];
    if (variable->axis >= 0) return false;
    return slot ? variable->field == slot - 1 && b->depends[equation + v * p->n_fields] : v == equation;
}

/* NULL: 1 everywhere */
static const double *slope_in(const kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t slot, size_t v)
{
    return slot ? b->slope + (equation + v * p->n_fields) * p->n_mesh : NULL;
}

/* s[x] = factor * W * the slopes of the slots' variables, at time t */
static void weigh_pair(const kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t t, double factor,
                       const double *slope_v, const double *slope_w, double *s)
{
    size_t times = p->level[0]->n_inner;
    const double *weight = b->weight + equation * p->n_mesh;
    for (size_t x = 0; x < p->n_places; x++) {
        size_t at = t + x * times;
        s[x] = factor * weight[at] * (slope_v ? slope_v[at] : 1) * (slope_w ? slope_w[at] : 1);
    }
}

/* The same by pairs of variables, their features factor by factor. Of A'A, which meets its transpose later, the pairs
   (v, w) and (w, v) are one. */
static void pair_slots(kb_patch_workspace *b, const kb_patch *p, size_t equation, size_t t, size_t A, size_t B,
                       double *right)
{
    size_t n = p->kept.n_tensor / p->kept.rank[0], variables = b->dictionary->n_variables;
    double *sum = b->slice, *paired = sum + n * n;
    kb_mode left_modes[KB_SAMPLE_AXES], right_modes[KB_SAMPLE_AXES];
    memset(sum, 0, n * n * sizeof *sum);
    for (size_t v = 0; v < variables; v++) {
        if (!is_in_slot(b, p, equation, A, v)) continue;
        kb_patch_modes(p, b->dictionary->variables[v].order, left_modes);
        for (size_t w = A == B ? v : 0; w < variables; w++) {
            if (!is_in_slot(b, p, equation, B, w)) continue;
            kb_patch_modes(p, b->dictionary->variables[w].order, right_modes);
            weigh_pair(b, p, equation, t, A == B && v != w ? 2 : 1, slope_in(b, p, equation, A, v),
                       slope_in(b, p, equation, B, w), b->column);
            kb_pair_product(p->n_axes - 1, left_modes + 1, right_modes + 1, b->column, paired, b->pairs);
            kb_axpy(n * n, 1, paired, sum);
        }
    }
    kb_pair_open(p->n_axes - 1, p->kept.rank + 1, p->kept.n_space, p->kept.place, sum, b->place, right);
}

/* left = scale phi^(row)(t) phi^(column)(t)', right = A'B with A, B slots of the slice */
static void stack_push(stack *s, size_t t, double scale, int row_order, int column_order, size_t A, size_t B)
{
    const kb_patch *p = s->patch;
    const kb_axis_level *level = p->level[0];
    size_t r = p->kept.rank[0], n = p->kept.n_space, m = p->axis[0]->n_mesh;
    const double *row = level->mesh[row_order] + level->first + t;
    const double *column = level->mesh[column_order] + level->first + t;
    if (s->n == s->capacity) stack_flush(s);
    double *left = s->workspace->left + s->n * r * r, *right = s->workspace->right + s->n * n * n;
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) left[i + j * r] = scale * row[i * m] * column[j * m];
    if (is_paired(p)) pair_slots(s->workspace, p, s->equation, t, A, B, right);
    else multiply_slots(s->workspace, p, A, B, right);
    s->n++;
}

/* The part of J_f' W J_g that comes from one equation; of a symmetric block only half, to be added to its transpose. */
static void add_products(kb_patch_workspace *b, const kb_patch *p, size_t equation, double weight, size_t f, size_t g)
{
    bool on_f = is_coupled(b, p, equation, f), on_g = is_coupled(b, p, equation, g);
    double half = f == g ? 0.5 * weight : weight;
    int order = b->dictionary->time_order;
    size_t largest = p->kept.rank[0] > p->kept.n_space ? p->kept.rank[0] : p->kept.n_space;
    stack s = {b, p, equation, f, g, 0, b->stack / (largest * largest)};
    if ((equation != f && !on_f) || (equation != g && !on_g)) return;
    for (size_t t = 0; t < p->level[0]->n_inner; t++) {
        if (!is_paired(p)) fill_slice(b, p, equation, t);
        if (on_f && on_g) stack_push(&s, t, half, 0, 0, 1 + f, 1 + g);
        if (equation == f && on_g) stack_push(&s, t, -weight, order, 0, 0, 1 + g);
        if (equation == g && on_f && f != g) stack_push(&s, t, -weight, 0, order, 1 + f, 0);
        if (equation == f && equation == g) stack_push(&s, t, half, order, order, 0, 0);
    }
    stack_flush(&s);
}

static void assemble_field(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper)
{
    memset(b->H, 0, b->nz * b->nz * sizeof *b->H);
    for (size_t g = 0; g < p->n_fields; g++)
        for (size_t f = g; f < p->n_fields; f++)
            for (size_t i = 0; i < p->n_fields; i++)
                if (b->dictionary->has_equation[i]) add_products(b, p, i, kb_equation_weight(p, hyper, i), f, g);
    for (size_t i = 0; i < b->nz; i++) b->H[i + i * b->nz] += 1 / hyper->amplitude[i / p->n];
}

void kb_normal_assemble(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const kb_support *support,
                        const double *z, const double *w)
{
    b->nz = p->n_fields * p->n;
    b->k = support->n;
    memset(b->Hzw, 0, b->nz * b->k * sizeof *b->Hzw);
    kb_collocation_residuals(b, p, support, z, w);
    kb_collocation_slopes(b, p, support, w);
    kb_collocation_weigh(b, p, hyper);
    assemble_field(b, p, hyper);
    for (size_t i = 0; i < b->nz; i++) b->gz[i] = z[i] / hyper->amplitude[i / p->n];
    for (size_t i = 0; i < p->n_fields; i++)
        if (b->dictionary->has_equation[i]) kb_equation_gradient(b, p, hyper, i);
    for (size_t q = 0; q < support->n; q++) {
        kb_equation_column(b, p, hyper, support, q);
        kb_equation_pull(b, p, b->columns->equation[support->column[q]], b->column, b->Hzw + q * b->nz);
    }
}

/* ---------------------------------------------------------------- the data's part */

/* gram[i, j] of the products of space */
static void space_gram(const kb_patch *p, size_t *row, double *gram)
{
    size_t n = p->kept.n_space;
    for (size_t i = 0; i < n * n; i++) gram[i] = 1;
    for (size_t a = 1; a < p->n_axes; a++) {
        for (size_t i = 0; i < n; i++) row[i] = kb_products_index(&p->kept, i, a);
        for (size_t j = 0; j < n; j++) {
            const double *column = p->level[a]->gram + row[j] * p->level[a]->rank;
            for (size_t i = 0; i < n; i++) gram[i + j * n] *= column[row[i]];
        }
    }
}

/* H += gram_time (x) gram_space / v */
static void add_grid(kb_patch_workspace *b, const kb_patch *p, double variance, double *H)
{
    size_t n = p->kept.n_space, nz = b->nz, ld = p->level[0]->rank;
    const size_t *first = p->kept.first;
    const double *time = p->level[0]->gram;
    space_gram(p, b->place, b->right);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double factor = b->right[i + j * n] / variance, *to = H + first[i] + first[j] * nz;
            for (size_t d = 0; d < first[j + 1] - first[j]; d++)
                kb_axpy(first[i + 1] - first[i], factor, time + d * ld, to + d * nz);
        }
}

static void add_scattered(kb_patch_workspace *b, const kb_patch *p, size_t field, double variance, double *H)
{
    const double *measured = p->measured + field * p->n_points;
    kb_patch_rows(p, b->data);
    for (size_t q = 0; q < p->n; q++)
        for (size_t i = 0; i < p->n_points; i++) b->data[i + q * p->n_points] *= measured[i];
    kb_gram(p->n, p->n_points, 1 / variance, b->data, p->n_points, 1, H, b->nz);
}

void kb_normal_add_data(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const double *z)
{
    double *r = b->data, *work = r + p->n_points;
    for (size_t i = 0; i < p->n_fields; i++) {
        double variance = hyper->variance[i], *block = b->H + i * p->n * (b->nz + 1);
        kb_patch_residual(p, i, z + i * p->n, r, work);
        for (size_t j = 0; j < p->n_points; j++) r[j] *= p->measured[j + i * p->n_points];
        kb_patch_pull(p, r, b->tensor, work);
        kb_axpy(p->n, 1 / variance, b->tensor, b->gz + i * p->n);
        if (p->gridded) add_grid(b, p, variance, block);
        else add_scattered(b, p, i, variance, block);
    }
}

bool kb_normal_regress(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, double *z)
{
    size_t nz = b->nz = p->n_fields * p->n;
    memset(b->H, 0, nz * nz * sizeof *b->H);
    memset(b->gz, 0, nz * sizeof *b->gz);
    memset(z, 0, nz * sizeof *z);
    for (size_t i = 0; i < nz; i++) b->H[i + i * nz] = 1 / hyper->amplitude[i / p->n];
    kb_normal_add_data(b, p, hyper, z);
    if (!kb_cholesky(nz, b->H, nz)) return false;
    kb_axpy(nz, -1, b->gz, z);
    kb_cholesky_solve(nz, 1, b->H, nz, z, nz);
    return true;
}

/* ---------------------------------------------------------------- integrating the field out */

/* trace(Hzz^{-1} R'R) / v by random signs at the data; H holds its Cholesky factor */
static void count_effective(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, double *effective)
{
    size_t nz = b->nz;
    kb_random random;
    kb_random_seed(&random, 1);
    for (size_t i = 0; i < p->n_fields; i++) {
        memset(b->spare, 0, nz * KB_NORMAL_PROBES * sizeof *b->spare);
        for (size_t q = 0; q < KB_NORMAL_PROBES; q++) {
            double *sign = b->data;
            for (size_t j = 0; j < p->n_points; j++)
                sign[j] = p->measured[j + i * p->n_points] * (kb_random_uniform(&random) < 0.5 ? -1 : 1);
            kb_patch_pull(p, sign, b->spare + q * nz + i * p->n, sign + p->n_points);
        }
        kb_lower_solve(nz, KB_NORMAL_PROBES, b->H, nz, b->spare, nz);
        double trace = kb_dot(nz * KB_NORMAL_PROBES, b->spare, b->spare) / (KB_NORMAL_PROBES * hyper->variance[i]);
        effective[i] = fmin(trace, p->count[i]);
    }
}

static bool prior_logdet(kb_patch_workspace *b, double *logdet)
{
    memcpy(b->spare, b->H, b->nz * b->nz * sizeof *b->H);
    if (!kb_cholesky(b->nz, b->spare, b->nz)) return false;
    *logdet = kb_cholesky_logdet(b->nz, b->spare, b->nz);
    return true;
}

/* G = Hww - Hwz Hzz^{-1} Hzw,  b = -(gw - Hwz Hzz^{-1} gz); G w is added by the caller, who sums over patches */
bool kb_normal_marginalise(kb_patch_workspace *b, const kb_patch *p, const kb_hyper *hyper, const kb_support *support,
                           const double *z, const double *w, bool evidence, bool noise, kb_patch_message *out)
{
    size_t k = support->n;
    kb_normal_assemble(b, p, hyper, support, z, w);
    if (evidence && !prior_logdet(b, &out->logdet_prior)) return false;
    kb_normal_add_data(b, p, hyper, z);
    size_t nz = b->nz;
    if (!kb_cholesky(nz, b->H, nz)) return false;
    out->logdet = kb_cholesky_logdet(nz, b->H, nz);
    if (noise) count_effective(b, p, hyper, out->effective);
    memcpy(out->response, b->Hzw, nz * k * sizeof *b->Hzw);
    memcpy(out->response + nz * k, b->gz, nz * sizeof *b->gz);
    kb_cholesky_solve(nz, k + 1, b->H, nz, out->response, nz);
    memcpy(out->G, b->Hww, k * k * sizeof *b->Hww);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, k, k, nz, -1, b->Hzw, nz, out->response, nz, 1, out->G, k);
    for (size_t q = 0; q < k; q++) out->b[q] = -b->gw[q];
    kb_gemv(KB_TRANSPOSED, nz, k, 1, b->Hzw, nz, out->response + nz * k, 1, out->b);
    return true;
}

void kb_normal_step(const kb_patch *p, const kb_patch_message *m, size_t k, const double *dw, double *step)
{
    size_t nz = p->n_fields * p->n;
    for (size_t i = 0; i < nz; i++) step[i] = -m->response[i + nz * k];
    kb_gemv(KB_PLAIN, nz, k, -1, m->response, nz, dw, 1, step);
}
