#include "answer/missing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"

enum { MOST_STATES = 4, MOST_TERMS = 3, TEXT_SIZE = 20000, TIME_TILES = 12, SPACE_TILES = 6, LEAST_IN_TILE = 3 };
static const double chance = 0.01;
static const double largest_argument = 20; /* of functions that are tried: exp(20) is 5e8 */

/* The chosen model in a wider dictionary: its terms first, every pair of equation and term a column of scale 1. */
typedef struct {
    const kb_dictionary *narrow;
    kb_dictionary *wide;
    kb_columns columns;
    size_t n_own; /* columns of the model */
    kb_fit *fit;
    kb_shooter *shooter;
    kb_message *message;
    kb_support all;
    double *scores; /* by column; NaN where there is none */
} probe;

/* ---------------------------------------------------------------- the wider list */

static size_t append(char *text, size_t used, const char *format, const char *name, const char *other)
{
    char piece[300];
    int length = snprintf(piece, sizeof piece, format, name, other);
    if (length < 0 || (size_t)length >= sizeof piece || used + (size_t)length + 3 > TEXT_SIZE) return used;
    return used + (size_t)sprintf(text + used, "%s%s", used ? ", " : "", piece);
}

static size_t append_harmonics(char *text, size_t used, const char *axis, double span, int most)
{
    for (int k = 1; k <= most; k++) {
        char wave[40];
        snprintf(wave, sizeof wave, "%.6g", 2 * M_PI * k / span);
        used = append(text, used, "sin(%2$s*%1$s)", axis, wave);
        used = append(text, used, "cos(%2$s*%1$s)", axis, wave);
    }
    return used;
}

/* Functions ask for arguments of no unit and of ordinary size: no exp(T) of a temperature of 98. */
static bool is_function(const char *form)
{
    return !strstr(form, "abs") && (strstr(form, "(%1$s)") || strstr(form, "exp") || strstr(form, "1+"));
}

static bool has_no_scale(const kb_frame *frame, size_t state)
{
    return !frame->dictionary->units && fabs(frame->mean[state]) + 3 * frame->sd[state] <= largest_argument;
}

/* Powers, functions, quotients, products with the others and with time. */
static size_t append_state_terms(char *text, size_t used, const kb_dictionary *d, size_t state, bool functions)
{
    static const char *const forms[] = {"%1$s",       "%1$s^2",        "%1$s^3",    "%1$s^4",         "%1$s^5",
                                        "sin(%1$s)",  "cos(%1$s)",     "exp(%1$s)", "exp(-%1$s)",     "tanh(%1$s)",
                                        "1/(1+%1$s)", "%1$s/(1+%1$s)", "abs(%1$s)", "%1$s*abs(%1$s)", "%1$s*%2$s"};
    static const char *const pairs[] = {"%1$s*%2$s", "%1$s^2*%2$s", "%1$s^3*%2$s", "%1$s*%2$s/(1+%1$s)"};
    const char *name = d->state_names[state];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (functions || !is_function(forms[i])) used = append(text, used, forms[i], name, d->time_name);
    for (size_t other = 0; other < d->n_states; other++)
        for (size_t i = 0; other != state && i < sizeof pairs / sizeof *pairs; i++)
            used = append(text, used, pairs[i], name, d->state_names[other]);
    return used;
}

static size_t append_field_terms(char *text, size_t used, const kb_dictionary *d, size_t field, bool functions)
{
    static const char *const forms[] = {"%1$s_%2$s",
                                        "%1$s_%2$s%2$s",
                                        "%1$s_%2$s%2$s%2$s",
                                        "%1$s_%2$s%2$s%2$s%2$s",
                                        "%1$s_%2$s%2$s%2$s%2$s%2$s",
                                        "%1$s_%2$s%2$s%2$s%2$s%2$s%2$s",
                                        "%1$s*%1$s_%2$s",
                                        "%1$s^2*%1$s_%2$s",
                                        "%1$s*%1$s_%2$s%2$s",
                                        "%1$s_%2$s^2",
                                        "%1$s_%2$s*%1$s_%2$s%2$s",
                                        "%2$s*%1$s",
                                        "%2$s*%1$s_%2$s"};
    used = append_state_terms(text, used, d, field, functions);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        used = append(text, used, forms[i], d->state_names[field], d->variable_names[d->n_variables - 1]);
    return used;
}

static kbass_status make_dictionary(probe *q, const kb_frame *frame, const kb_fit *fit, double x_span,
                                    kbass_error *error)
{
    const kb_dictionary *d = frame->dictionary;
    const char *axes[2] = {d->time_name, d->variable_names[d->n_variables - 1]};
    char *text = KB_NEW(char, TEXT_SIZE);
    size_t used = 0;
    kbass_settings settings;
    if (!text) return kb_out_of_memory(error, "the wider dictionary");
    for (size_t i = 0; i < fit->support.n; i++)
        used = append(text, used, "%s", kb_dictionary_name(d, frame->columns->term[fit->support.column[i]]), "");
    for (size_t i = 0; i < d->n_states; i++)
        used = d->n_axes > 1 ? append_field_terms(text, used, d, i, has_no_scale(frame, i))
                             : append_state_terms(text, used, d, i, has_no_scale(frame, i));
    used = append(text, used, "1, %1$s, %1$s^2", d->time_name, "");
    used = append_harmonics(text, used, d->time_name, frame->span, d->n_axes > 1 ? 3 : 6);
    if (d->n_axes > 1) append_harmonics(text, append(text, used, "%s", axes[1], ""), axes[1], x_span, 3);
    kb_settings_default(&settings);
    settings.terms = text;
    kbass_status status = kb_dictionary_create_fields(&settings, d->n_states, (const char *const *)d->state_names,
                                                      d->n_axes, axes, &q->wide, error);
    kb_free(text);
    return status;
}

/* ---------------------------------------------------------------- the chosen model in it */

static void add_column(probe *q, size_t equation, size_t term)
{
    kb_columns *c = &q->columns;
    c->equation[c->n] = equation;
    c->term[c->n] = term;
    c->scale[c->n++] = 1;
}

/* The model's columns in its order, then all that the narrow dictionary has not. */
static kbass_status make_columns(probe *q, const kb_frame *frame, const kb_fit *fit, kbass_error *error)
{
    size_t n_states = q->wide->n_states, room = fit->support.n + q->wide->n_terms * n_states;
    q->columns.equation = KB_NEW(size_t, room);
    q->columns.term = KB_NEW(size_t, room);
    q->columns.scale = KB_NEW(double, room);
    kbass_status status = kb_support_create(room, &q->all, error);
    if (status == KBASS_OK && (!q->columns.equation || !q->columns.term || !q->columns.scale))
        status = kb_out_of_memory(error, "the wider dictionary");
    for (size_t i = 0; status == KBASS_OK && i < fit->support.n; i++) {
        size_t column = fit->support.column[i];
        const char *name = kb_dictionary_name(q->narrow, frame->columns->term[column]);
        add_column(q, frame->columns->equation[column], kb_dictionary_find(q->wide, name));
    }
    q->n_own = q->columns.n;
    for (size_t state = 0; status == KBASS_OK && state < n_states; state++)
        for (size_t term = 0; term < q->wide->n_terms; term++)
            if (kb_dictionary_find(q->narrow, kb_dictionary_name(q->wide, term)) == q->narrow->n_terms)
                add_column(q, state, term);
    for (size_t i = 0; status == KBASS_OK && i < q->columns.n; i++) kb_support_add(&q->all, i);
    return status;
}

static kbass_status make_fit(probe *q, const kb_frame *frame, const kb_fit *from, size_t n_start, kbass_error *error)
{
    kbass_status status = kb_fit_create(q->columns.n, n_start, from->n_windows, q->n_own, &q->fit, error);
    if (status != KBASS_OK) return status;
    q->fit->n_windows = from->n_windows;
    q->fit->support.n = 0;
    for (size_t i = 0; i < q->n_own; i++) {
        size_t column = from->support.column[i], state = frame->columns->equation[column];
        kb_support_add(&q->fit->support, i);
        q->fit->w[i] = from->w[column] * frame->columns->unit[column] * frame->span / frame->sd[state];
    }
    memcpy(q->fit->start, from->start, from->n_windows * n_start * sizeof *q->fit->start);
    memcpy(q->fit->variance, from->variance, q->wide->n_states * sizeof *q->fit->variance);
    return KBASS_OK;
}

static void probe_clear(probe *q)
{
    kb_shooter_destroy(q->shooter);
    kb_message_destroy(q->message);
    kb_fit_destroy(q->fit);
    kb_support_clear(&q->all);
    kb_dictionary_destroy(q->wide);
    kb_free(q->columns.equation);
    kb_free(q->columns.term);
    kb_free(q->columns.scale);
    kb_free(q->scores);
}

/* ---------------------------------------------------------------- scores */

/* z_c = (g_c - G_cS G_SS^{-1} g_S) / sqrt(G_cc - G_cS G_SS^{-1} G_Sc), g = b - G w, S the model */
static bool score(const probe *q, double *factor, double *g, double *row)
{
    static const double collinear = 1e-6; /* of a column's own precision: the model has it already */
    size_t n = q->columns.n, k = q->n_own;
    const double *G = q->message->G;
    for (size_t j = 0; j < k; j++) memcpy(factor + j * k, G + j * n, k * sizeof *factor);
    if (!kb_cholesky(k, factor, k)) return false;
    for (size_t c = 0; c < n; c++) {
        g[c] = q->message->b[c];
        for (size_t j = 0; j < k; j++) g[c] -= G[c + j * n] * q->fit->w[j];
    }
    kb_lower_solve(k, 1, factor, k, g, k); /* of the model: L^{-1} g_S */
    for (size_t c = k; c < n; c++) {
        memcpy(row, G + c * n, k * sizeof *row);
        kb_lower_solve(k, 1, factor, k, row, k);
        double precision = G[c + c * n] - kb_dot(k, row, row);
        q->scores[c] = precision > collinear * G[c + c * n] ? (g[c] - kb_dot(k, row, g)) / sqrt(precision) : NAN;
    }
    return true;
}

static double two_sided(double z, size_t n_tries) { return fmin(erfc(fabs(z) / sqrt(2)) * (double)n_tries, 1); }

static kbass_status list_terms(const probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, n_tried = 0, n_listed = 0;
    kbass_missing_term *list = kb_answer_own(answer, MOST_TERMS, sizeof *list);
    if (!list) return kb_out_of_memory(error, "the answer");
    for (size_t c = q->n_own; c < n; c++) n_tried += isfinite(q->scores[c]);
    while (n_listed < MOST_TERMS) {
        size_t best = n;
        for (size_t c = q->n_own; c < n; c++)
            if (fabs(q->scores[c]) > (best < n ? fabs(q->scores[best]) : 0)) best = c;
        if (best == n || !(two_sided(q->scores[best], n_tried) < chance)) break;
        const char *name = kb_dictionary_name(q->wide, q->columns.term[best]);
        char *term = kb_answer_own(answer, strlen(name) + 1, 1);
        if (!term) return kb_out_of_memory(error, "the answer");
        strcpy(term, name);
        list[n_listed++] =
            (kbass_missing_term){q->columns.equation[best], term, q->scores[best], two_sided(q->scores[best], n_tried)};
        q->scores[best] = NAN;
    }
    answer->result.missing = list;
    answer->result.n_missing = n_listed;
    return KBASS_OK;
}

static kbass_status try_terms(probe *q, kb_answer *answer, kbass_error *error)
{
    size_t n = q->columns.n, k = q->n_own;
    double *factor = KB_NEW(double, k *k), *g = KB_NEW(double, n), *row = KB_NEW(double, k);
    q->scores = KB_NEW(double, n);
    kbass_status status = factor && g && row && q->scores ? KBASS_OK : kb_out_of_memory(error, "the wider dictionary");
    if (status == KBASS_OK && kb_shooter_message(q->shooter, q->fit, &q->all, q->message) && score(q, factor, g, row))
        status = list_terms(q, answer, error);
    kb_free(factor);
    kb_free(g);
    kb_free(row);
    return status;
}

/* ---------------------------------------------------------------- tiles */

typedef struct {
    double sum[TIME_TILES * SPACE_TILES], count[TIME_TILES * SPACE_TILES];
} tiles;

static size_t tile_of(double s, size_t n) { return (size_t)fmin(fmax(s * (double)n, 0), (double)(n - 1)); }

/* Sums of standardised residuals; time and x (scaled) by observation, x NULL without space. */
static bool sum_tiles(const probe *q, const double *time, const double *x, tiles *t)
{
    kb_shooter *s = q->shooter;
    kb_dynamics *d = s->dynamics;
    d->set_model(d, &q->fit->support, q->fit->w, NULL);
    for (size_t w = 0; w < s->likelihood.windows->n; w++) {
        size_t first = s->likelihood.windows->first[w], last = s->likelihood.windows->last[w],
               begin = d->observation_start[first];
        if (!d->predict(d, first, last, q->fit->start + w * s->likelihood.n_start, s->predicted, NULL)) return false;
        bool is_shared = w + 1 < s->likelihood.windows->n && s->likelihood.windows->first[w + 1] == last;
        size_t end = d->observation_start[is_shared ? last : last + 1]; /* border rows once */
        for (size_t o = begin; o < end; o++) {
            size_t at = tile_of(time[o], TIME_TILES) * SPACE_TILES + (x ? tile_of(x[o], SPACE_TILES) : 0);
            tiles *own = &t[d->group[o]];
            double variance = q->fit->variance[d->group[o]] * s->comparison.relative[o];
            own->sum[at] += (d->observed[o] - s->predicted[o - begin]) / sqrt(variance);
            own->count[at]++;
        }
    }
    return true;
}

static kbass_status list_tiles(const probe *q, const kb_frame *frame, const tiles *t, double first, double x_first,
                               double x_span, kb_answer *answer, kbass_error *error)
{
    size_t n_states = q->wide->n_states, n_tried = 0;
    kbass_misfit *list = kb_answer_own(answer, MOST_TERMS, sizeof *list), best = {.p_value = 1};
    if (!list) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < n_states; i++)
        for (size_t k = 0; k < TIME_TILES * SPACE_TILES; k++) n_tried += t[i].count[k] >= LEAST_IN_TILE;
    for (size_t i = 0; i < n_states; i++)
        for (size_t k = 0; k < TIME_TILES * SPACE_TILES; k++) {
            double z = t[i].sum[k] / sqrt(t[i].count[k]), p = two_sided(z, n_tried), step = frame->span / TIME_TILES;
            if (!(t[i].count[k] >= LEAST_IN_TILE) || !(p < best.p_value)) continue;
            double from = first + step * (double)(k / SPACE_TILES),
                   low = x_first + x_span / SPACE_TILES * (double)(k % SPACE_TILES);
            best = (kbass_misfit){i, from, from + step, low, low + x_span / SPACE_TILES, z, p};
        }
    list[0] = best;
    answer->result.misfits = list;
    answer->result.n_misfits = best.p_value < chance;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- states and fields */

static bool can_probe(const kb_frame *frame, const kb_search_result *found)
{
    if (!kb_has_model(found) || found->noise_is_relative || frame->dictionary->n_states > MOST_STATES) return false;
    for (size_t i = 0; i < frame->dictionary->n_states; i++)
        if (!frame->dictionary->has_equation[i]) return false;
    return frame->columns->n_fixed == 0 && found->pool.fits[0]->support.n > 0;
}

static kbass_status begin(probe *q, const kb_frame *frame, const kb_fit *fit, double x_span, size_t n_start,
                          kbass_error *error)
{
    q->narrow = frame->dictionary;
    kbass_status status = make_dictionary(q, frame, fit, x_span, error);
    if (status == KBASS_OK) status = make_columns(q, frame, fit, error);
    if (status == KBASS_OK) status = make_fit(q, frame, fit, n_start, error);
    if (status == KBASS_OK) status = kb_message_create(q->columns.n, &q->message, error);
    return status;
}

/* A name that cannot stand in some of the wider terms, or a model that cannot be followed again: nothing is said. */
static kbass_status say_nothing(kbass_status status) { return status == KBASS_ERROR_MEMORY ? status : KBASS_OK; }

kbass_status kb_missing_of_states(const kb_ode_problem *p, const kb_search_result *found, kb_answer *answer,
                                  kbass_error *error)
{
    probe q = {0};
    kb_frame frame = kb_ode_problem_frame(p);
    const kb_record *record = p->record;
    if (!can_probe(&frame, found)) return KBASS_OK;
    tiles *t = KB_NEW(tiles, record->n_states);
    double *time = KB_NEW(double, record->n_rows * record->n_states);
    kbass_status status = t && time ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = begin(&q, &frame, found->pool.fits[0], 0, record->n_states, error);
    if (status == KBASS_OK)
        status = kb_shooter_create(record, q.wide, &q.columns, found->windows->n, q.columns.n, &q.shooter, error);
    if (status == KBASS_OK) {
        const kb_dynamics *d = q.shooter->dynamics;
        q.shooter->likelihood.windows = found->windows;
        for (size_t row = 0; row < d->n_rows; row++)
            for (size_t o = d->observation_start[row]; o < d->observation_start[row + 1]; o++)
                time[o] = record->time[row];
        status = try_terms(&q, answer, error);
    }
    if (status == KBASS_OK && q.shooter && sum_tiles(&q, time, NULL, t))
        status = list_tiles(&q, &frame, t, record->first, NAN, NAN, answer, error);
    kb_free(t);
    kb_free(time);
    probe_clear(&q);
    return say_nothing(status);
}

/* A line lists the observations in the order of its samples' points, field by field at each. */
static void place_observations(const kb_pde1d_problem *l, double *time, double *x)
{
    size_t o = 0;
    for (size_t run = 0; run < l->n_runs; run++) {
        const kb_field_samples *c = l->run_samples[run];
        for (size_t p = 0; p < c->n_points; p++)
            for (size_t f = 0; f < c->n_fields; f++) {
                if (c->measured[p + f * c->n_points] == 0) continue;
                time[o] = c->point[p];
                x[o++] = c->point[p + c->n_points];
            }
    }
}

kbass_status kb_missing_of_fields(const kb_pde1d_problem *l, const kb_search_result *found, kb_answer *answer,
                                  kbass_error *error)
{
    probe q = {0};
    kb_frame frame = kb_pde1d_problem_frame(l);
    kb_pde1d_runs *all_runs = NULL;
    const kb_field_samples *c = l->run_samples[0];
    if (!can_probe(&frame, found)) return KBASS_OK;
    size_t n_start = found->pool.n_start, n_values = 0;
    for (size_t run = 0; run < l->n_runs; run++) n_values += l->run_samples[run]->n_values;
    tiles *t = KB_NEW(tiles, c->n_fields);
    double *time = KB_NEW(double, n_values), *x = KB_NEW(double, n_values);
    kbass_status status = t && time && x ? KBASS_OK : kb_out_of_memory(error, "the residuals");
    if (status == KBASS_OK) status = begin(&q, &frame, found->pool.fits[0], c->span[1], n_start, error);
    if (status == KBASS_OK)
        status = kb_pde1d_runs_create(l->n_runs, found->setups, q.wide, &q.columns, q.columns.n, &all_runs, error);
    if (status == KBASS_OK)
        status =
            kb_shooter_create_on(&all_runs->dynamics, &q.columns, found->windows->n, q.columns.n, &q.shooter, error);
    if (status == KBASS_OK && q.shooter->likelihood.n_start == n_start) {
        q.shooter->likelihood.windows = found->windows;
        place_observations(l, time, x);
        status = try_terms(&q, answer, error);
        bool have_places = l->has_one_domain; /* else one place has as many meanings as there are runs */
        if (status == KBASS_OK && have_places && sum_tiles(&q, time, x, t))
            status = list_tiles(&q, &frame, t, c->first[0], c->first[1], c->span[1], answer, error);
    }
    kb_free(t);
    kb_free(time);
    kb_free(x);
    probe_clear(&q);
    return say_nothing(status);
}
