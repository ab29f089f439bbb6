#include "forward/fit.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

kbass_status kb_windows_divide(size_t n_rows, size_t n, kb_windows **out, kbass_error *error)
{
    kb_windows *windows = KB_NEW(kb_windows, 1);
    if (windows) {
        windows->n = n;
        windows->first = KB_NEW(size_t, n);
        windows->last = KB_NEW(size_t, n);
    }
    if (!windows || !windows->first || !windows->last) {
        kb_windows_destroy(windows);
        return kb_out_of_memory(error, "the windows");
    }
    for (size_t i = 0; i < n; i++) {
        windows->first[i] = i * (n_rows - 1) / n;
        windows->last[i] = (i + 1) * (n_rows - 1) / n;
    }
    *out = windows;
    return KBASS_OK;
}

void kb_windows_destroy(kb_windows *windows)
{
    if (!windows) return;
    kb_free(windows->first);
    kb_free(windows->last);
    kb_free(windows);
}

kbass_status kb_fit_create(size_t n_columns, size_t n_states, size_t max_windows, size_t n_support, kb_fit **out,
                           kbass_error *error)
{
    kb_fit *fit = KB_NEW(kb_fit, 1);
    if (!fit) return kb_out_of_memory(error, "a fit");
    fit->w = KB_NEW(double, n_columns);
    fit->start = KB_NEW(double, max_windows * n_states);
    fit->variance = KB_NEW(double, n_states);
    fit->covariance = KB_NEW(double, n_support * n_support);
    fit->support.column = KB_NEW(size_t, n_columns);
    if (!fit->w || !fit->start || !fit->variance || !fit->covariance || !fit->support.column) {
        kb_fit_destroy(fit);
        return kb_out_of_memory(error, "a fit");
    }
    *out = fit;
    return KBASS_OK;
}

void kb_fit_destroy(kb_fit *fit)
{
    if (!fit) return;
    kb_support_clear(&fit->support);
    kb_free(fit->w);
    kb_free(fit->start);
    kb_free(fit->variance);
    kb_free(fit->covariance);
    kb_free(fit);
}

double kb_fit_variance(const kb_fit *fit, size_t column)
{
    size_t q = 0;
    while (fit->support.column[q] != column) q++;
    return fit->covariance[q + q * fit->support.n];
}

void kb_fit_copy(const kb_fit *from, kb_fit *to, size_t n_columns, size_t n_states)
{
    kb_fit kept = *to;
    size_t size = from->support.n;
    *to = *from;
    to->support = kept.support;
    to->w = kept.w;
    to->start = kept.start;
    to->variance = kept.variance;
    to->covariance = kept.covariance;
    kb_support_copy(&from->support, &to->support);
    memcpy(to->w, from->w, n_columns * sizeof *to->w);
    memcpy(to->start, from->start, from->n_windows * n_states * sizeof *to->start);
    memcpy(to->variance, from->variance, n_states * sizeof *to->variance);
    memcpy(to->covariance, from->covariance, size * size * sizeof *to->covariance);
}
