#include "constants/profile.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "constants/quadrature.h"
#include "constants/ridge.h"

enum { ITERATIONS = 40 };          /* iterations: of a fit at given constants */
enum { MOST_EVALUATIONS = 60 };    /* fits: a constant, of the search for the best */
enum { LEAST_SWEEPS = 3 };         /* sweeps: over several constants */
enum { MOST_SWEEPS = 8 };          /* sweeps: while each gains */
static const double worth = 0.1;   /* nats: of a sweep that another one follows */
enum { SIDE = KB_NODES_OF_SIDE };  /* room: as there */
static const double finest = 2e-4; /* steps of the search, shares of what one standard deviation will be at most */
static const double far_below = 7; /* nats, where the quadrature ends */
static const double as_good = 1.5; /* nats: an end of the range that is hardly worse */

typedef kb_profile profile;

static void copy_fit(const profile *p, const kb_fit *from, kb_fit *to)
{
    kb_fit_copy(from, to, p->setting->columns->n, p->setting->n_start);
}

/* L at the shares, in p->trial, from the best fit so far; -INFINITY outside of the ranges or where nothing fits. */
double kb_profile_evidence(kb_profile *p, const double *share)
{
    const kb_profile_setting *s = p->setting;
    double values[KB_MOST_CONSTANTS];
    kb_shooter *shooter = NULL;
    for (size_t i = 0; i < s->dictionary->n_constants; i++) {
        if (!(share[i] >= 0 && share[i] <= 1)) return -INFINITY;
        values[i] = kb_constant_at(&s->dictionary->constants[i], share[i]);
    }
    p->n_evaluations++;
    if (s->run && kb_run_stopped(s->run)) return -INFINITY;
    if (kb_dictionary_set_constants(s->dictionary, values, NULL) != KBASS_OK) return -INFINITY;
    if (s->make(s->context, s->columns->n, &shooter, NULL) != KBASS_OK) return -INFINITY;
    copy_fit(p, p->best, p->trial);
    shooter->likelihood.run = s->run && !s->run->reduce ? s->run : NULL; /* ranks stop together, between fits */
    kb_shooter_fit(shooter, p->trial, ITERATIONS, -INFINITY);
    kb_shooter_destroy(shooter);
    return p->trial->valid ? p->trial->log_evidence : -INFINITY;
}

bool kb_profile_improve(kb_profile *p, const double *share, double *best)
{
    double found = kb_profile_evidence(p, share);
    if (!(found > *best)) return false;
    *best = found;
    memcpy(p->share, share, sizeof p->share);
    copy_fit(p, p->trial, p->best);
    return true;
}

static bool improve(profile *p, size_t constant, double share, double *best)
{
    double trial[KB_MOST_CONSTANTS];
    memcpy(trial, p->share, sizeof trial);
    trial[constant] = share;
    return kb_profile_improve(p, trial, best);
}

static double within(double share) { return fmin(fmax(share, 0), 1); }

/* Steps along one constant: on while it gets better, shorter when it does not. */
static void climb(profile *p, size_t constant, double step, double shortest, double *best)
{
    double direction = 1;
    while (step > shortest && p->n_evaluations < MOST_EVALUATIONS * p->n) {
        double from = p->share[constant], ahead = within(from + direction * step),
               behind = within(from - direction * step);
        if (ahead != from && improve(p, constant, ahead, best)) step *= 1.6;
        else if (behind != from && improve(p, constant, behind, best)) direction = -direction;
        else step /= 3;
    }
}

static double drop_at(profile *p, size_t constant, double share, double best)
{
    double trial[KB_MOST_CONSTANTS];
    memcpy(trial, p->share, sizeof trial);
    trial[constant] = share;
    return kb_profile_evidence(p, trial) - best;
}

/* The distance at which L is about half a nat lower, to one side; beyond the end of the range where it never is. */
static double width_to(profile *p, size_t constant, double sign, double guess, double best)
{
    double distance = guess;
    for (int i = 0; i < 8; i++) {
        double share = p->share[constant] + sign * distance;
        if (!(share >= 0 && share <= 1)) return distance;
        double drop = -drop_at(p, constant, share, best);
        if (!isfinite(drop)) distance /= 3;
        else if (drop < 0.15) distance *= 2.2;
        else if (drop > 2) distance *= fmax(sqrt(0.5 / drop), 0.1);
        else return distance * sqrt(0.5 / drop);
    }
    return distance;
}

/* ---------------------------------------------------------------- the density along one constant */

/* From the best outwards until L is far below, in steps of the constant's share that grow; `along`: how far the others'
   go with it. */
static void add_side(profile *p, size_t a, const double *along, double step, double best, kb_nodes *side)
{
    size_t constant = p->active[a];
    double share = p->share[constant], trial[KB_MOST_CONSTANTS];
    for (side->n = 0; side->n < SIDE;) {
        share = within(share + step);
        memcpy(trial, p->share, sizeof trial);
        for (size_t b = 0; b < p->n; b++)
            trial[p->active[b]] = within(trial[p->active[b]] + along[b] * (share - p->share[constant]));
        double drop = kb_profile_evidence(p, trial) - best;
        side->share[side->n] = share;
        side->density[side->n++] = isfinite(drop) ? exp(fmin(drop, 0)) : 0;
        if (!(drop > -far_below) || share <= 0 || share >= 1) break;
        if (side->n >= 4) step *= 1.45;
    }
}

static void join_sides(const kb_nodes *low, const kb_nodes *high, double best, kb_nodes *all)
{
    all->n = 0;
    for (size_t i = low->n; i-- > 0;)
        if (low->share[i] < best) all->share[all->n] = low->share[i], all->density[all->n++] = low->density[i];
    all->share[all->n] = best;
    all->density[all->n++] = 1;
    for (size_t i = 0; i < high->n; i++)
        if (high->share[i] > best) all->share[all->n] = high->share[i], all->density[all->n++] = high->density[i];
}

/* Interval, ends, and the integral along the whole of a constant's range that matters; the others where they are
   expected, given it. */
static double integrate_along(profile *p, size_t a, const double *along, double sd_low, double sd_high, double best,
                              kb_constant_estimate *e)
{
    const kb_constant *c = &p->setting->dictionary->constants[p->active[a]];
    kb_nodes low, high, all;
    add_side(p, a, along, -0.6 * sd_low, best, &low);
    add_side(p, a, along, 0.6 * sd_high, best, &high);
    join_sides(&low, &high, p->share[p->active[a]], &all);
    e->at_low = all.share[0] <= 0 && all.density[0] > exp(-as_good);
    e->at_high = all.share[all.n - 1] >= 1 && all.density[all.n - 1] > exp(-as_good);
    double outside = e->at_low || e->at_high ? 0.05 : 0.025; /* to one side where the other is the end of the range */
    e->low = e->at_low ? c->low : kb_constant_at(c, kb_nodes_quantile(&all, outside));
    e->high = e->at_high ? c->high : kb_constant_at(c, kb_nodes_quantile(&all, 1 - outside));
    return log(fmax(kb_nodes_mass(&all), 1e-12));
}

/* ---------------------------------------------------------------- what the weights owe to the constants */

/* d w / d share and d start / d share of every active constant by two fits. */
static void differentiate(profile *p, const double *width, kb_constants_spread *s)
{
    const kb_fit *best = p->best;
    for (size_t a = 0; a < p->n; a++) {
        double share = p->share[p->active[a]], low = within(share - 0.5 * width[a]),
               high = within(share + 0.5 * width[a]), trial[KB_MOST_CONSTANTS];
        s->constant[a] = p->active[a];
        s->share[a] = share;
        for (int side = 0; side < 2; side++) {
            memcpy(trial, p->share, sizeof trial);
            trial[p->active[a]] = side ? high : low;
            const kb_fit *fit = isfinite(kb_profile_evidence(p, trial)) ? p->trial : best;
            double factor = (side ? 1 : -1) / (high - low);
            for (size_t q = 0; q < s->n_weights; q++)
                s->weights[q + a * s->n_weights] += factor * fit->w[best->support.column[q]];
            kb_axpy(s->n_starts, factor, fit->start, s->starts + a * s->n_starts);
        }
    }
}

/* Cov(w) += sum dw/da C_ab dw/db', and correlations of each constant with each weight. */
static void widen(profile *p, const kb_constants_spread *s, double *correlation)
{
    size_t n = p->n, k = s->n_weights;
    const double *J = s->weights, *C = s->C;
    for (size_t q = 0; q < k; q++)
        for (size_t r = 0; r < k; r++)
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                    p->best->covariance[q + r * k] += J[q + a * k] * C[a + b * n] * J[r + b * k];
    for (size_t a = 0; correlation && a < n; a++)
        for (size_t q = 0; q < k; q++) {
            double sum = 0;
            for (size_t b = 0; b < n; b++) sum += C[a + b * n] * J[q + b * k];
            correlation[p->active[a] * k + q] = sum / sqrt(C[a + a * n] * p->best->covariance[q + q * k]);
        }
}

/* C: the covariance of the active constants' shares. */
static kbass_status carry_on(profile *p, const double *C, const double *width, double *correlation,
                             kb_constants_spread *out, kbass_error *error)
{
    kb_constants_spread s;
    size_t n_starts = p->best->n_windows * p->setting->n_start;
    kbass_status status = kb_constants_spread_create(p->n, p->best->support.n, n_starts, &s, error);
    if (status != KBASS_OK) return status;
    memcpy(s.C, C, p->n * p->n * sizeof *C);
    differentiate(p, width, &s);
    widen(p, &s, correlation);
    if (out) *out = s;
    else kb_constants_spread_clear(&s);
    return KBASS_OK;
}

static void estimate(const profile *p, size_t a, double variance, kb_constant_estimate *e)
{
    const kb_constant *c = &p->setting->dictionary->constants[p->active[a]];
    double share = p->share[p->active[a]], sd = sqrt(variance);
    double above = kb_constant_at(c, within(share + 0.5 * sd)), below = kb_constant_at(c, within(share - 0.5 * sd));
    e->is_used = true;
    e->value = kb_constant_at(c, share);
    e->sd = (above - below) / (within(share + 0.5 * sd) - within(share - 0.5 * sd)) * sd;
}

/* ---------------------------------------------------------------- all of it */

static double measure_width(profile *p, size_t a, double guess, double best, double *low, double *high)
{
    *low = width_to(p, p->active[a], -1, guess, best);
    *high = width_to(p, p->active[a], 1, guess, best);
    return 0.5 * (fmin(*low, 1) + fmin(*high, 1));
}

/* C: covariance of the shares. */
static double finish_one(profile *p, double *width, double *C, double best, double low, double high,
                         kb_constant_estimate *estimates)
{
    const double along = 1;
    climb(p, p->active[0], 0.3 * *width, 0.05 * *width, &best);
    *C = *width * *width;
    return integrate_along(p, 0, &along, low, high, best, &estimates[p->active[0]]);
}

static double finish_several(profile *p, const double *width, double *C, double best, kb_constant_estimate *estimates,
                             double *work)
{
    size_t n = p->n;
    double log_mass = kb_ridge_measure(p, width, &best, C, work), along[KB_MOST_CONSTANTS];
    for (size_t a = 0; a < n; a++) {
        double sd = sqrt(C[a + a * n]);
        for (size_t b = 0; b < n; b++) along[b] = C[b + a * n] / C[a + a * n]; /* E(b | a) */
        integrate_along(p, a, along, sd, sd, best, &estimates[p->active[a]]);
    }
    return log_mass;
}

/* On in the direction in which a sweep went, in longer and longer steps: constants trade against each other along
   narrow ridges, where steps along one of them are short. */
static void climb_along(profile *p, const double *from, double *best)
{
    double along[KB_MOST_CONSTANTS], trial[KB_MOST_CONSTANTS];
    memcpy(trial, p->share, sizeof trial);
    for (size_t a = 0; a < p->n; a++) along[a] = p->share[p->active[a]] - from[p->active[a]];
    for (bool is_better = true; is_better && p->n_evaluations < MOST_EVALUATIONS * p->n;) {
        for (size_t a = 0; a < p->n; a++) {
            trial[p->active[a]] = within(p->share[p->active[a]] + along[a]);
            along[a] *= 2;
        }
        is_better = kb_profile_improve(p, trial, best);
    }
}

/* To where L is highest; its value there, in p->best. */
static double climb_all(profile *p, const double *step)
{
    double best = kb_profile_evidence(p, p->share), gain = INFINITY, from[KB_MOST_CONSTANTS];
    if (!isfinite(best)) return best;
    copy_fit(p, p->trial, p->best);
    for (int sweep = 0; sweep < (p->n > 1 ? MOST_SWEEPS : 1) && (sweep < LEAST_SWEEPS || gain > worth); sweep++) {
        double before = best;
        memcpy(from, p->share, sizeof from);
        for (size_t a = 0; a < p->n; a++) {
            double first = step[p->active[a]];
            climb(p, p->active[a], first / (sweep + 2), fmax(finest, 0.02 * first), &best);
        }
        if (p->n > 1 && best > before) climb_along(p, from, &best);
        gain = best - before;
    }
    return best;
}

static kbass_status run_profile(profile *p, const double *step, kb_constant_estimate *estimates, double *correlation,
                                kb_constants_spread *spread, double *log_mass, kbass_error *error)
{
    double width[KB_MOST_CONSTANTS], low[KB_MOST_CONSTANTS], high[KB_MOST_CONSTANTS], best = climb_all(p, step);
    size_t n = p->n;
    if (!isfinite(best)) return KBASS_OK;
    for (size_t a = 0; a < n; a++) width[a] = measure_width(p, a, 0.1 * step[p->active[a]], best, &low[a], &high[a]);
    double *C = KB_NEW(double, n *n), *work = KB_NEW(double, kb_ridge_work(n));
    kbass_status status = C && work ? KBASS_OK : kb_out_of_memory(error, "the constants");
    if (status == KBASS_OK) {
        *log_mass = n == 1 ? finish_one(p, width, C, best, low[0], high[0], estimates)
                           : finish_several(p, width, C, best, estimates, work);
        *log_mass = fmin(*log_mass, 0);
        for (size_t a = 0; a < n; a++) estimate(p, a, C[a + a * n], &estimates[p->active[a]]);
        status = carry_on(p, C, width, correlation, spread, error);
    }
    kb_free(C);
    kb_free(work);
    return status;
}

static void list_active(profile *p, const kb_fit *fit)
{
    const kb_dictionary *d = p->setting->dictionary;
    for (size_t i = 0; i < d->n_constants; i++) {
        bool is_named = false;
        for (size_t q = 0; q < fit->support.n; q++)
            is_named =
                is_named || kb_dictionary_names_constant(d, p->setting->columns->term[fit->support.column[q]], i);
        if (is_named) p->active[p->n++] = i;
        p->share[i] = within(kb_constant_share(&d->constants[i], d->constants[i].value));
    }
}

static void profile_clear(profile *p)
{
    kb_fit_destroy(p->trial);
    kb_fit_destroy(p->best);
    kb_free(p->active);
}

/* From the fit, at the dictionary's present constants. */
static kbass_status profile_begin(profile *p, const kb_profile_setting *setting, const kb_fit *fit, kbass_error *error)
{
    size_t columns = setting->columns->n;
    *p = (profile){.setting = setting, .active = KB_NEW(size_t, setting->dictionary->n_constants)};
    kbass_status status = p->active ? KBASS_OK : kb_out_of_memory(error, "the constants");
    if (status == KBASS_OK)
        status = kb_fit_create(columns, setting->n_start, fit->n_windows, fit->support.n, &p->trial, error);
    if (status == KBASS_OK)
        status = kb_fit_create(columns, setting->n_start, fit->n_windows, fit->support.n, &p->best, error);
    if (status != KBASS_OK) return status;
    copy_fit(p, fit, p->best);
    list_active(p, fit);
    return KBASS_OK;
}

/* Fit and dictionary to the best that was found. */
static kbass_status profile_end(profile *p, kb_fit *fit, kbass_error *error)
{
    kb_dictionary *d = p->setting->dictionary;
    double values[KB_MOST_CONSTANTS];
    copy_fit(p, p->best, fit);
    for (size_t i = 0; i < d->n_constants; i++) values[i] = kb_constant_at(&d->constants[i], p->share[i]);
    return kb_dictionary_set_constants(d, values, error);
}

kbass_status kb_constants_climb(const kb_profile_setting *setting, const double *step, kb_fit *fit, kbass_error *error)
{
    profile p;
    kbass_status status = profile_begin(&p, setting, fit, error);
    if (status == KBASS_OK) {
        p.best->log_evidence = climb_all(&p, step);
        status = profile_end(&p, fit, error);
    }
    profile_clear(&p);
    return status;
}

kbass_status kb_constants_profile(const kb_profile_setting *setting, const double *step, kb_fit *fit,
                                  kb_constant_estimate *estimates, double *correlation, kb_constants_spread *spread,
                                  double *log_mass, kbass_error *error)
{
    profile p;
    *log_mass = 0;
    for (size_t i = 0; i < setting->dictionary->n_constants; i++)
        estimates[i] =
            (kb_constant_estimate){.value = NAN, .low = NAN, .high = NAN, .sd = NAN, .other = NAN, .odds = NAN};
    kbass_status status = profile_begin(&p, setting, fit, error);
    if (status == KBASS_OK && p.n) status = run_profile(&p, step, estimates, correlation, spread, log_mass, error);
    if (status == KBASS_OK) status = profile_end(&p, fit, error);
    profile_clear(&p);
    return status;
}
