/* Tangents of a row in other directions, L' t (docs/math.md, eqs 25 and 62). There are fewer coefficients than points
 * to be seen, and points on a grid are seen axis after axis. */
#include <string.h>

#include "base/linalg.h"
#include "forward/spectral/fourier_model.h"

/* Points of a row as a grid, the last axis running fastest; counts of 0: they are none. */
typedef struct {
    size_t count[KB_FOURIER_AXES], stride[KB_FOURIER_AXES];
} row_grid;

static double place(const kb_fourier_model *p, size_t point, size_t axis)
{
    return p->samples->point[point + (axis + 1) * p->samples->n_points];
}

static bool is_grid(const kb_fourier_model *p, size_t first, size_t n, const row_grid *g)
{
    for (size_t j = 0; j < n; j++)
        for (size_t a = 0; a < p->n_axes; a++)
            if (place(p, first + j, a) != place(p, first + j / g->stride[a] % g->count[a] * g->stride[a], a))
                return false;
    return true;
}

static row_grid find_grid(const kb_fourier_model *p, size_t first, size_t n)
{
    row_grid g = {{0}, {0}};
    size_t stride = 1;
    for (size_t a = p->n_axes; a-- > 0; stride *= g.count[a]) {
        g.stride[a] = stride;
        g.count[a] = 1;
        while ((g.count[a] + 1) * stride <= n && place(p, first + g.count[a] * stride, a) != place(p, first, a))
            g.count[a]++;
    }
    if (stride != n || !is_grid(p, first, n, &g)) memset(&g, 0, sizeof g);
    return g;
}

/* Most numbers of a tensor on its way from coefficients to points. */
static size_t largest_shape(const kb_fourier_model *p, const row_grid *g)
{
    size_t most = 0;
    for (size_t a = 0; a <= p->n_axes; a++) {
        size_t size = 1;
        for (size_t b = 0; b < p->n_axes; b++) size *= b < a ? g->count[b] : p->m[b];
        if (size > most) most = size;
    }
    return most;
}

/* tangents (parameters x coefficients of all fields) out of their chunks */
static void gather(const kb_fourier_model *p, double *T)
{
    size_t lanes = KB_FOURIER_LANES, P = p->n_parameters;
    for (size_t i = 0; i < p->size; i++)
        for (size_t chunk = 0; chunk < p->n_chunks; chunk++) {
            size_t done = chunk * lanes, n = P - done < lanes ? P - done : lanes;
            memcpy(T + i * P + done, p->tangent + (chunk * p->size + i) * lanes, n * sizeof *T);
        }
}

/* seen (P x points, axis 0 fastest) of one field, axis after axis; work: two tensors and a matrix */
static const double *see_grid(const kb_fourier_model *p, size_t first, const row_grid *g, const double *R, double *work)
{
    size_t P = p->n_parameters, left = P, right = p->n_coefficients, most = P * largest_shape(p, g);
    double *basis = work + 2 * most;
    const double *from = R;
    for (size_t a = 0; a < p->n_axes; a++) {
        size_t n = g->count[a], m = p->m[a];
        double *to = work + (a % 2) * most;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < m; k++) basis[i + k * n] = p->where[a][(first + i * g->stride[a]) * m + k];
        right /= m;
        kb_mode_product(&(kb_mode){n, m, n, basis}, left, right, from, to);
        left *= n;
        from = to;
    }
    return from;
}

/* Where point j of a grid stands with axis 0 fastest. */
static size_t place_of(const kb_fourier_model *p, const row_grid *g, size_t j)
{
    size_t at = 0, stride = 1;
    for (size_t a = 0; a < p->n_axes; stride *= g->count[a++]) at += j / g->stride[a] % g->count[a] * stride;
    return at;
}

/* A field's turned tangents at the row's points, to the observations of that field. */
static void see_field(const kb_fourier_model *p, size_t row, size_t field, const row_grid *g, const double *R,
                      double *turned, double *work)
{
    size_t first = p->row_point[row], n = p->row_point[row + 1] - first, m = p->n_coefficients, P = p->n_parameters,
           o = 0;
    bool has_grid = g->count[0] > 0;
    const double *seen = work;
    if (has_grid) seen = see_grid(p, first, g, R + field * m * P, work);
    else kb_gemm(KB_PLAIN, KB_PLAIN, P, n, m, 1, R + field * m * P, P, p->features, m, 0, work, P);
    for (size_t j = 0; j < n; j++)
        for (size_t f = 0; f < p->n_fields; f++) {
            if (p->samples->measured[first + j + f * p->samples->n_points] == 0 || !p->dictionary->has_equation[f])
                continue;
            if (f == field) memcpy(turned + o * P, seen + (has_grid ? place_of(p, g, j) : j) * P, P * sizeof *turned);
            o++;
        }
}

size_t kb_fourier_model_turn_work(const kb_fourier_model *p)
{
    size_t most = 0, widest = 0;
    for (size_t row = 0; row < p->dynamics.n_rows; row++) {
        size_t first = p->row_point[row], n = p->row_point[row + 1] - first;
        row_grid g = find_grid(p, first, n);
        size_t shape = 2 * largest_shape(p, &g);
        if (shape > most) most = shape;
        if (n > most) most = n;
        for (size_t a = 0; a < p->n_axes; a++)
            if (g.count[a] * p->m[a] > widest) widest = g.count[a] * p->m[a];
    }
    return p->n_parameters * (2 * p->size + most) + widest;
}

void kb_fourier_model_turn(const kb_fourier_model *p, size_t row, const double *L, double *turned, double *work)
{
    size_t first = p->row_point[row], P = p->n_parameters;
    row_grid g = find_grid(p, first, p->row_point[row + 1] - first);
    double *T = work, *R = work + P * p->size, *rest = R + P * p->size;
    gather(p, T);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, P, p->size, P, 1, L, P, T, P, 0, R, P);
    for (size_t f = 0; f < p->n_fields; f++) see_field(p, row, f, &g, R, turned, rest);
}
