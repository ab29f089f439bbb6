/* The discrete Fourier transform of tables with 2^a 3^b values along each axis. */
#ifndef KB_FFT_H
#define KB_FFT_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

typedef double _Complex kb_complex;

static inline kb_complex kb_complex_of(double real, double imaginary)
{
    union {
        double parts[2];
        kb_complex whole;
    } z = {{real, imaginary}};
    return z.whole;
}

/* Without the detours that C prescribes for infinities. */
static inline kb_complex kb_times(kb_complex a, kb_complex b)
{
    double x = creal(a), y = cimag(a), u = creal(b), v = cimag(b);
    return kb_complex_of(x * u - y * v, x * v + y * u);
}

/* Of tables n x n x ..., n_axes of them. */
typedef struct {
    size_t n, n_axes, total;
    kb_complex *roots; /* exp(-2 pi i k / n) */
    kb_complex *spare; /* total */
} kb_fft;

bool kb_fft_create(kb_fft *fft, size_t n, size_t n_axes);
void kb_fft_clear(kb_fft *fft);

/* In place. Forward: X_k = 1/total sum_j x_j exp(-2 pi i j k / n), along every axis; backward is its inverse. */
void kb_fft_forward(kb_fft *fft, kb_complex *table);
void kb_fft_backward(kb_fft *fft, kb_complex *table);

#endif
