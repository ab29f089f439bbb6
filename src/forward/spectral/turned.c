/* Tangents of a row in other directions, L' t (docs/math.md, eqs 25 and 62). There are fewer coefficients than points
 * to be seen, and points on a grid are seen axis after axis. */
#include <string.h>

#include "base/linalg.h"
#include "forward/spectral/fourier_model.h"

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

/* A field's turned tangents at the row's points, to the observations of that field. */
static void see_field(const kb_fourier_model *p, size_t row, size_t field, const double *R, double *turned,
                      double *work)
{
    size_t first = p->row_point[row], n = p->row_point[row + 1] - first, m = p->n_coefficients, P = p->n_parameters,
           o = 0;
    const double *seen = work;
    if (p->n_points_of_row) seen = kb_fourier_model_see(p, P, R + field * m * P, work);
    else kb_gemm(KB_PLAIN, KB_PLAIN, P, n, m, 1, R + field * m * P, P, p->features, m, 0, work, P);
    for (size_t j = 0; j < n; j++)
        for (size_t f = 0; f < p->n_fields; f++) {
            if (p->samples->measured[first + j + f * p->samples->n_points] == 0 || !p->dictionary->has_equation[f])
                continue;
            if (f == field) memcpy(turned + o * P, seen + kb_fourier_model_place(p, j) * P, P * sizeof *turned);
            o++;
        }
}

size_t kb_fourier_model_turn_work(const kb_fourier_model *p)
{
    size_t most = 2 * p->sight_size;
    for (size_t row = 0; !p->n_points_of_row && row < p->dynamics.n_rows; row++)
        if (p->row_point[row + 1] - p->row_point[row] > most) most = p->row_point[row + 1] - p->row_point[row];
    return p->n_parameters * (2 * p->size + most);
}

void kb_fourier_model_turn(const kb_fourier_model *p, size_t row, const double *L, double *turned, double *work)
{
    size_t P = p->n_parameters;
    double *T = work, *R = work + P * p->size, *rest = R + P * p->size;
    gather(p, T);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, P, p->size, P, 1, L, P, T, P, 0, R, P);
    for (size_t f = 0; f < p->n_fields; f++) see_field(p, row, f, R, turned, rest);
}
