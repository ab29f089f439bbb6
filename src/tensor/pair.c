#include "tensor/pair.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_AXES = 8 };

/* P[x, (b, b')] = A[x, b] B[x, b'] */
static kb_mode pair_features(const kb_mode *A, const kb_mode *B, double *P)
{
    size_t rows = A->rows, rank = A->columns;
    for (size_t c = 0; c < rank; c++)
        for (size_t b = 0; b < rank; b++) {
            const double *left = A->entries + b * A->ld, *right = B->entries + c * B->ld;
            double *to = P + (b + c * rank) * rows;
            for (size_t x = 0; x < rows; x++) to[x] = left[x] * right[x];
        }
    return (kb_mode){rows, rank * rank, rows, P};
}

void kb_pair_product(size_t n_axes, const kb_mode *A, const kb_mode *B, const double *s, double *paired, double *work)
{
    kb_mode P[MOST_AXES];
    for (size_t a = 0; a < n_axes; a++) {
        P[a] = pair_features(&A[a], &B[a], work);
        work += P[a].rows * P[a].columns;
    }
    kb_modes_adjoint(n_axes, P, s, paired, work);
}

/* paired is at offset(row) + offset(column), where a column counts rank[a] times as much along axis a */
static size_t offset(size_t n_axes, const size_t *rank, size_t place, bool is_column)
{
    size_t at = 0, stride = 1;
    for (size_t a = 0; a < n_axes; a++) {
        at += stride * (is_column ? rank[a] : 1) * (place % rank[a]);
        stride *= rank[a] * rank[a];
        place /= rank[a];
    }
    return at;
}

void kb_pair_open(size_t n_axes, const size_t *rank, size_t n, const size_t *place, const double *paired, size_t *row,
                  double *G)
{
    for (size_t i = 0; i < n; i++) row[i] = offset(n_axes, rank, place[i], false);
    for (size_t j = 0; j < n; j++) {
        const double *column = paired + offset(n_axes, rank, place[j], true);
        for (size_t i = 0; i < n; i++) G[i + j * n] = column[row[i]];
    }
}

/* Largest product over axes of max(rows, columns^2): some axes have columns^2 <= rows, the others, a set, more. */
static double largest_tensor(size_t n_axes, const size_t *rows, size_t rank)
{
    double largest = 1;
    for (unsigned set = 0; set < 1u << n_axes; set++) {
        double squares = 1, others = 1;
        for (size_t a = 0; a < n_axes; a++) {
            double m = (double)rows[a];
            if (set >> a & 1u) squares *= m * m;
            else others *= m;
        }
        largest = fmax(largest, fmin(squares, (double)rank * (double)rank) * others);
    }
    return largest;
}

size_t kb_pair_work(size_t n_axes, const size_t *rows, size_t rank)
{
    size_t features = 0;
    for (size_t a = 0; a < n_axes; a++) {
        size_t columns = rows[a] < rank ? rows[a] : rank;
        features += rows[a] * columns * columns;
    }
    return features + 2 * (size_t)largest_tensor(n_axes, rows, rank);
}
