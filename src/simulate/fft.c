/* Stockham's self-sorting transform: stages of radix 4, 2 and 3, each from one table to the other. */
#include "simulate/fft.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double TURN = 6.283185307179586476925, SINE_THIRD = 0.866025403784438646764;

bool kb_fft_create(kb_fft *fft, size_t n, size_t n_axes)
{
    *fft = (kb_fft){.n = n, .n_axes = n_axes, .total = 1};
    for (size_t d = 0; d < n_axes; d++) fft->total *= n;
    fft->roots = KB_NEW(kb_complex, n);
    fft->spare = KB_NEW(kb_complex, fft->total);
    if (!fft->roots || !fft->spare) return false;
    for (size_t k = 0; k < n; k++) {
        double angle = TURN * (double)k / (double)n;
        fft->roots[k] = kb_complex_of(cos(angle), -sin(angle));
    }
    return true;
}

void kb_fft_clear(kb_fft *fft)
{
    kb_free(fft->roots);
    kb_free(fft->spare);
    *fft = (kb_fft){0};
}

/* ---------------------------------------------------------------- stages */

static kb_complex times_i(kb_complex a) { return kb_complex_of(-cimag(a), creal(a)); }

/* One butterfly: y_r = root^r sum_j x_j exp(-2 pi i j r / radix), s columns at once. */
static void butterfly2(size_t s, size_t skip, kb_complex w1, const kb_complex *x, kb_complex *y)
{
    for (size_t q = 0; q < s; q++) {
        kb_complex a = x[q], b = x[q + skip];
        y[q] = a + b;
        y[q + s] = kb_times(w1, a - b);
    }
}

static void butterfly3(size_t s, size_t skip, const kb_complex w[3], const kb_complex *x, kb_complex *y)
{
    for (size_t q = 0; q < s; q++) {
        kb_complex a = x[q], sum = x[q + skip] + x[q + 2 * skip];
        kb_complex middle = a - 0.5 * sum, side = SINE_THIRD * times_i(x[q + skip] - x[q + 2 * skip]);
        y[q] = a + sum;
        y[q + s] = kb_times(w[1], middle - side);
        y[q + 2 * s] = kb_times(w[2], middle + side);
    }
}

static void butterfly4(size_t s, size_t skip, const kb_complex w[4], const kb_complex *x, kb_complex *y)
{
    for (size_t q = 0; q < s; q++) {
        kb_complex even = x[q] + x[q + 2 * skip], odd = x[q + skip] + x[q + 3 * skip];
        kb_complex low = x[q] - x[q + 2 * skip], high = times_i(x[q + skip] - x[q + 3 * skip]);
        y[q] = even + odd;
        y[q + s] = kb_times(w[1], low - high);
        y[q + 2 * s] = kb_times(w[2], even - odd);
        y[q + 3 * s] = kb_times(w[3], low + high);
    }
}

static size_t radix_of(size_t n) { return n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : 2; }

/* x holds s interleaved lines of length n; y gets radix * s lines of length n / radix. */
static void stage(const kb_fft *fft, size_t n, size_t s, const kb_complex *x, kb_complex *y)
{
    size_t radix = radix_of(n), m = n / radix, turns = fft->n / n;
    for (size_t p = 0; p < m; p++) {
        kb_complex w[4];
        for (size_t r = 0; r < radix; r++) w[r] = fft->roots[r * p * turns];
        const kb_complex *from = x + s * p;
        kb_complex *to = y + s * radix * p;
        if (radix == 4) butterfly4(s, s * m, w, from, to);
        else if (radix == 3) butterfly3(s, s * m, w, from, to);
        else butterfly2(s, s * m, w[1], from, to);
    }
}

/* Transforms `stride` interleaved lines in place. */
static void transform(kb_fft *fft, size_t stride, kb_complex *lines)
{
    kb_complex *x = lines, *y = fft->spare;
    for (size_t n = fft->n, s = stride; n > 1;) {
        size_t radix = radix_of(n);
        stage(fft, n, s, x, y);
        n /= radix;
        s *= radix;
        kb_complex *swap = x;
        x = y;
        y = swap;
    }
    if (x != lines) memcpy(lines, x, fft->n * stride * sizeof *lines);
}

/* ---------------------------------------------------------------- tables */

static void along_all(kb_fft *fft, kb_complex *table)
{
    for (size_t d = 0, stride = 1; d < fft->n_axes; d++, stride *= fft->n)
        for (size_t first = 0; first < fft->total; first += stride * fft->n) transform(fft, stride, table + first);
}

void kb_fft_forward(kb_fft *fft, kb_complex *table)
{
    along_all(fft, table);
    for (size_t i = 0; i < fft->total; i++) table[i] *= 1 / (double)fft->total;
}

/* The conjugate of the transform of the conjugate. */
void kb_fft_backward(kb_fft *fft, kb_complex *table)
{
    for (size_t i = 0; i < fft->total; i++) table[i] = conj(table[i]);
    along_all(fft, table);
    for (size_t i = 0; i < fft->total; i++) table[i] = conj(table[i]);
}
