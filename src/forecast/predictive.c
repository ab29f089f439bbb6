#include "forecast/predictive.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/status.h"

static const double out_of_band = 0.005; /* of either side: the 99 % band that is left */
static const double low_band = 0.05, low_half = 0.25;

/* The predictor at hand. */
typedef struct {
    const kbass_score *score;
    double *tail; /* n_points x n_states: P(below the measured value); NaN: not scored */
    double *r2, *log_score, *within_50, *within_90, *mean, *low, *high; /* of kbass_predictor, to be filled */
} judgement;

/* ---------------------------------------------------------------- one value */

/* P(value < y) = mean_d Phi((y - draw_d) / sd) */
static double share_below(const kb_prediction *p, double y)
{
    double sum = 0;
    for (size_t d = 0; d < p->n; d++) sum += 0.5 * erfc((p->draws[d] - y) / (p->sd * sqrt(2)));
    return sum / (double)p->n;
}

static void moments(const kb_prediction *p, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (size_t d = 0; d < p->n; d++) sum += p->draws[d];
    *mean = sum / (double)p->n;
    for (size_t d = 0; d < p->n; d++) squares += (p->draws[d] - *mean) * (p->draws[d] - *mean);
    *variance = squares / (double)p->n + p->sd * p->sd;
}

/* The value below which a share lies, by bisection. */
static double quantile_of(const kb_prediction *p, double mean, double variance, double share)
{
    double low = mean - sqrt(variance), high = mean + sqrt(variance), step = sqrt(variance);
    while (share_below(p, low) > share) low -= step *= 2;
    for (step = sqrt(variance); share_below(p, high) < share;) high += step *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (share_below(p, middle) < share) low = middle;
        else high = middle;
    }
    return 0.5 * (low + high);
}

/* ---------------------------------------------------------------- all values of a predictor */

typedef struct {
    double errors, spread, log_score; /* sums: squared errors, squares about the mean, log densities */
    double in_50, in_90, n, n_reached;
} sums;

static double mean_of(const kbass_score *s, size_t state)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->n_points; i++)
        if (isfinite(s->values[i * s->n_states + state])) sum += s->values[i * s->n_states + state], n++;
    return sum / n;
}

/* The first of two neighbouring values of one state that are both outside the 99 % band. */
static double leaving_time(const judgement *t, size_t state)
{
    const kbass_score *s = t->score;
    double before = NAN;
    for (size_t i = 0; i < s->n_points; i++) {
        double tail = t->tail[i * s->n_states + state];
        if (isnan(tail)) continue;
        bool is_out = !(tail >= out_of_band && tail <= 1 - out_of_band);
        if (is_out && !isnan(before)) return before;
        before = is_out ? s->times[i] : NAN;
    }
    return NAN;
}

static void add_value(const judgement *t, size_t at, const kb_prediction *p, double middle, sums *sum)
{
    double y = t->score->values[at], mean = NAN, variance = NAN;
    t->tail[at] = t->mean[at] = t->low[at] = t->high[at] = NAN;
    if (p->n) {
        moments(p, &mean, &variance);
        t->mean[at] = mean;
        t->low[at] = quantile_of(p, mean, variance, low_band);
        t->high[at] = quantile_of(p, mean, variance, 1 - low_band);
    }
    if (!isfinite(y)) return;
    sum->n++;
    t->tail[at] = p->n ? share_below(p, y) : 0;
    if (!p->n) return;
    sum->n_reached++;
    sum->in_90 += t->tail[at] >= low_band && t->tail[at] <= 1 - low_band;
    sum->in_50 += t->tail[at] >= low_half && t->tail[at] <= 1 - low_half;
    sum->errors += (y - mean) * (y - mean);
    sum->spread += (y - middle) * (y - middle);
    sum->log_score -= 0.5 * (log(2 * M_PI * variance) + (y - mean) * (y - mean) / variance);
}

static void conclude(const judgement *t, const sums *sum, kbass_predictor *out)
{
    size_t F = t->score->n_states;
    sums all = {0};
    out->leaves = NAN;
    for (size_t i = 0; i < F; i++) {
        const sums *s = &sum[i];
        double left = leaving_time(t, i);
        t->r2[i] = 1 - s->errors / s->spread;
        t->log_score[i] = s->log_score / s->n_reached;
        t->within_50[i] = s->in_50 / s->n;
        t->within_90[i] = s->in_90 / s->n;
        out->n_lost += (size_t)(s->n - s->n_reached);
        if (isfinite(left) && !(out->leaves <= left)) out->leaves = left;
        if (!(s->spread > 0)) continue;
        all.errors += s->errors / s->spread * s->n_reached;
        all.spread += s->n_reached;
        all.log_score += s->log_score;
        all.n_reached += s->n_reached;
        all.in_50 += s->in_50;
        all.in_90 += s->in_90;
        all.n += s->n;
    }
    t->r2[F] = 1 - all.errors / all.spread;
    t->log_score[F] = all.log_score / all.n_reached;
    t->within_50[F] = all.in_50 / all.n;
    t->within_90[F] = all.in_90 / all.n;
}

static bool judgement_allocate(judgement *j, size_t F, size_t n)
{
    j->tail = KB_NEW(double, n);
    j->r2 = KB_NEW(double, F + 1);
    j->log_score = KB_NEW(double, F + 1);
    j->within_50 = KB_NEW(double, F + 1);
    j->within_90 = KB_NEW(double, F + 1);
    j->mean = KB_NEW(double, n);
    j->low = KB_NEW(double, n);
    j->high = KB_NEW(double, n);
    return j->tail && j->r2 && j->log_score && j->within_50 && j->within_90 && j->mean && j->low && j->high;
}

kbass_status kb_score_add(kbass_score *s, const char *name, size_t most_draws, kb_predict predict, const void *context,
                          kbass_error *error)
{
    size_t F = s->n_states;
    judgement j = {.score = s};
    sums *sum = KB_NEW(sums, F);
    double *draws = KB_NEW(double, most_draws);
    bool complete = judgement_allocate(&j, F, s->n_points * F) && sum && draws;
    kbass_predictor *out = (kbass_predictor *)&s->predictors[s->n_predictors++];
    *out = (kbass_predictor){name, j.r2, j.log_score, j.within_50, j.within_90, NAN, 0, j.mean, j.low, j.high};
    for (size_t i = 0; complete && i < F; i++) {
        double middle = mean_of(s, i);
        for (size_t point = 0; point < s->n_points; point++) {
            kb_prediction p = predict(context, point, i, draws);
            add_value(&j, point * F + i, &p, middle, &sum[i]);
        }
    }
    if (complete) conclude(&j, sum, out);
    kb_free(j.tail);
    kb_free(sum);
    kb_free(draws);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the score");
}
