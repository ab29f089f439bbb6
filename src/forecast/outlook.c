#include "forecast/outlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

bool kb_forecast_is_own(const kbass_reduce *reduce, size_t draw)
{
    return !reduce || (int)(draw % (size_t)reduce->n_ranks) == reduce->rank;
}

/* One draw of each rank at a time: its values, then its flags. */
kbass_status kb_forecast_exchange(kbass_forecast *f, const kbass_reduce *reduce, kbass_error *error)
{
    size_t ranks = reduce ? (size_t)reduce->n_ranks : 1, n = f->n_times * f->n_values, each = n + 2;
    if (ranks < 2) return KBASS_OK;
    double *own = KB_NEW(double, each), *all = KB_NEW(double, each *ranks);
    kbass_status status = own && all ? KBASS_OK : kb_out_of_memory(error, "the draws of other ranks");
    for (size_t first = 0; status == KBASS_OK && first < f->n_draws; first += ranks) {
        size_t mine = first + (size_t)reduce->rank;
        own[n] = mine < f->n_draws && f->is_done[mine];
        own[n + 1] = mine < f->n_draws && f->is_too_far[mine];
        if (mine < f->n_draws) memcpy(own, f->values + mine * n, n * sizeof *own);
        reduce->gather(reduce->user, each * sizeof *own, own, all);
        for (size_t draw = first; draw < first + ranks && draw < f->n_draws; draw++) {
            const double *its = all + (draw - first) * each;
            memcpy(f->values + draw * n, its, n * sizeof *its);
            f->is_done[draw] = its[n] > 0;
            f->is_too_far[draw] = its[n + 1] > 0;
        }
    }
    kb_free(own);
    kb_free(all);
    return status;
}

void kbass_forecast_destroy(kbass_forecast *f)
{
    if (!f) return;
    kb_free(f->times);
    kb_free(f->values);
    kb_free(f->is_done);
    kb_free(f->is_too_far);
    kb_free(f);
}

size_t kbass_forecast_draws(const kbass_forecast *f) { return f->n_draws; }

const double *kbass_forecast_values(const kbass_forecast *f, size_t draw)
{
    return draw < f->n_draws ? f->values + draw * f->n_times * f->n_values : NULL;
}

static bool reaches(const kbass_forecast *f, size_t draw, size_t time)
{
    const double *values = f->values + (draw * f->n_times + time) * f->n_values;
    for (size_t i = 0; i < f->n_values; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

size_t kbass_forecast_lost(const kbass_forecast *f, double *first, size_t *too_far)
{
    size_t lost = 0, earliest = f->n_times;
    if (too_far) *too_far = 0;
    for (size_t draw = 0; draw < f->n_draws; draw++) {
        size_t time = 0;
        while (time < f->n_times && reaches(f, draw, time)) time++;
        lost += time < f->n_times;
        if (time < earliest) earliest = time;
    }
    for (size_t draw = 0; too_far && draw < f->n_draws; draw++) *too_far += f->is_too_far[draw];
    if (first) *first = earliest < f->n_times ? f->times[earliest] : NAN;
    return lost;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the order statistics around 1 + (n - 1) p. */
static double quantile(size_t n, const double *sorted, double p)
{
    double at = p * (double)(n - 1), below = floor(at);
    size_t i = (size_t)below;
    return i + 1 < n ? sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* The draws that reach a time; returns how many. */
static size_t list_reached(const kbass_forecast *f, size_t time, size_t *draws)
{
    size_t n = 0;
    for (size_t draw = 0; draw < f->n_draws; draw++)
        if (reaches(f, draw, time)) draws[n++] = draw;
    return n;
}

kbass_status kbass_forecast_summary(const kbass_forecast *f, size_t n_quantiles, const double *probabilities,
                                    double *mean, double *quantiles, size_t *reached, kbass_error *error)
{
    size_t each = f->n_times * f->n_values, *draws = KB_NEW(size_t, f->n_draws);
    double *sorted = KB_NEW(double, f->n_draws);
    kbass_status status = draws && sorted ? KBASS_OK : kb_out_of_memory(error, "the summary of the forecast");
    for (size_t time = 0; status == KBASS_OK && time < f->n_times; time++) {
        size_t n = list_reached(f, time, draws);
        if (reached) reached[time] = n;
        for (size_t at = time * f->n_values; at < (time + 1) * f->n_values; at++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += sorted[k] = f->values[draws[k] * each + at];
            if (n_quantiles) qsort(sorted, n, sizeof *sorted, ascending);
            if (mean) mean[at] = n ? sum / (double)n : NAN;
            for (size_t k = 0; k < n_quantiles; k++)
                quantiles[k * each + at] = n ? quantile(n, sorted, probabilities[k]) : NAN;
        }
    }
    kb_free(draws);
    kb_free(sorted);
    return status;
}
