#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "choose.h"
#include "harness.h"

json_t *bench_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

void bench_label(const bench_term *term, char label[BENCH_LABEL_SIZE])
{
    snprintf(label, BENCH_LABEL_SIZE, "%s: %s", term->lhs, term->term);
}

static double cpu_seconds(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* ---------------------------------------------------------------- a result beside the law */

typedef struct {
    size_t n_found, n_true, n_right;
    double squares, norm;
} score;

static const bench_term *find_true(const bench_law *law, const char *lhs, const char *term)
{
    for (size_t i = 0; i < law->n; i++)
        if (!strcmp(law->terms[i].lhs, lhs) && !strcmp(law->terms[i].term, term)) return &law->terms[i];
    return NULL;
}

static const kbass_term *find_selected(const kbass_result *result, const bench_term *wanted)
{
    for (size_t e = 0; e < result->n_equations; e++) {
        const kbass_equation *equation = &result->equations[e];
        if (strcmp(equation->lhs, wanted->lhs) != 0) continue;
        for (size_t k = 0; k < equation->n_terms; k++)
            if (equation->terms[k].selected && !strcmp(equation->terms[k].term, wanted->term))
                return &equation->terms[k];
    }
    return NULL;
}

/* The true terms, found or not. */
static json_t *count_true(const kbass_result *result, const bench_law *law, score *s)
{
    json_t *errors = json_object();
    for (size_t i = 0; i < law->n; i++) {
        char label[BENCH_LABEL_SIZE];
        const kbass_term *found = find_selected(result, &law->terms[i]);
        double error = (found ? found->weight : 0) / law->terms[i].weight - 1;
        s->n_true++;
        s->n_right += found != NULL;
        s->norm += pow(law->terms[i].weight, 2);
        s->squares += pow(error * law->terms[i].weight, 2);
        bench_label(&law->terms[i], label);
        json_object_set_new(errors, label, bench_real(error));
    }
    return errors;
}

static void append_term(json_t *equations, const char *lhs, const kbass_term *term)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %.5g %.100s", lhs, term->weight, term->term);
    json_array_append_new(equations, json_string(text));
}

/* The found terms, true or not. */
static json_t *count_found(const kbass_result *result, const bench_law *law, score *s)
{
    json_t *found = json_array();
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t k = 0; k < result->equations[e].n_terms; k++) {
            const kbass_term *term = &result->equations[e].terms[k];
            if (!term->selected) continue;
            s->n_found++;
            if (!find_true(law, result->equations[e].lhs, term->term)) s->squares += pow(term->weight, 2);
            append_term(found, result->equations[e].lhs, term);
        }
    return found;
}

static json_t *judge(const kbass_result *result, const bench_law *law, double cpu)
{
    score s = {0};
    json_t *errors = count_true(result, law, &s), *found = count_found(result, law, &s);
    bool is_exact = s.n_right == s.n_true && s.n_found == s.n_true;
    double precision = s.n_found ? (double)s.n_right / (double)s.n_found : 0;
    return json_pack("{s:s, s:b, s:o, s:f, s:f, s:f, s:f, s:i, s:o, s:o, s:o}", "outcome",
                     kbass_outcome_name(result->outcome), "exact", is_exact, "rmse",
                     bench_real(sqrt(s.squares / s.norm)), "recall", (double)s.n_right / (double)s.n_true, "precision",
                     precision, "seconds", result->seconds_total, "cpu", cpu, "models", (int)result->n_models,
                     "probability", bench_real(result->probability), "terms", found, "errors", errors);
}

json_t *bench_fit(const kbass_data *data, const kbass_settings *settings, const bench_law *law)
{
    kbass_discovery *discovery = NULL;
    kbass_error error = {0};
    double before = cpu_seconds();
    kbass_status status = kbass_discovery_create(data, settings, &discovery, &error);
    if (status == KBASS_OK) status = kbass_discovery_run(discovery, NULL, NULL, &error);
    json_t *row = status == KBASS_OK ? judge(kbass_discovery_result(discovery), law, cpu_seconds() - before)
                                     : bench_failed("%s", error.message);
    kbass_discovery_destroy(discovery);
    return row;
}

/* ---------------------------------------------------------------- told the terms */

enum { LIST_SIZE = 4096, NOBODY = -1 };

/* The settings' texts. */
typedef struct {
    char terms[LIST_SIZE], require[LIST_SIZE], forbid[LIST_SIZE], fix[LIST_SIZE];
} told;

__attribute__((format(printf, 2, 3))) static void append(char *list, const char *format, ...)
{
    size_t used = strlen(list);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list + used, LIST_SIZE - used, format, arguments);
    va_end(arguments);
}

static bool is_first_of_its_kind(const bench_law *law, size_t i, bool by_equation)
{
    const bench_term *a = &law->terms[i];
    for (size_t k = 0; k < i; k++)
        if (!strcmp(by_equation ? law->terms[k].lhs : law->terms[k].term, by_equation ? a->lhs : a->term)) return false;
    return true;
}

/* "x_t: y, x*y; y_t: x" */
static void append_item(char *list, const char *lhs, size_t *n, const char *term)
{
    if (*n) append(list, ", %s", term);
    else append(list, "%s%s: %s", list[0] ? "; " : "", lhs, term);
    ++*n;
}

/* One equation: its true terms are required, save the absent one; all other terms are forbidden in it. */
static void tell_equation(const bench_law *law, const char *lhs, long absent, told *t)
{
    size_t n_required = 0, n_forbidden = 0;
    for (size_t i = 0; i < law->n; i++)
        if (!strcmp(law->terms[i].lhs, lhs) && (long)i != absent)
            append_item(t->require, lhs, &n_required, law->terms[i].term);
    if (!n_required) append(t->fix, "%s%s = 0", t->fix[0] ? "; " : "", lhs);
    for (size_t i = 0; i < law->n && n_required; i++) {
        const bench_term *own = find_true(law, lhs, law->terms[i].term);
        bool is_required = own && own - law->terms != absent;
        if (!is_required && is_first_of_its_kind(law, i, false))
            append_item(t->forbid, lhs, &n_forbidden, law->terms[i].term);
    }
}

static void tell(const bench_law *law, long absent, kbass_settings *settings)
{
    told t = {0};
    for (size_t i = 0; i < law->n; i++) {
        if (is_first_of_its_kind(law, i, false)) append(t.terms, "%s%s", t.terms[0] ? ", " : "", law->terms[i].term);
        if (is_first_of_its_kind(law, i, true)) tell_equation(law, law->terms[i].lhs, absent, &t);
    }
    static const char *const families[] = {"degree", "box-degree", "derivatives", "constant"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) bench_choose(settings, families[i], NULL);
    bench_choose(settings, "terms", t.terms);
    bench_choose(settings, "require", t.require);
    bench_choose(settings, "forbid", t.forbid);
    bench_choose(settings, "fix", t.fix);
}

json_t *bench_oracle(const kbass_data *data, const kbass_settings *settings, const bench_law *law)
{
    kbass_settings *copy = bench_settings(settings);
    tell(law, NOBODY, copy);
    json_t *row = bench_fit(data, copy, law);
    kbass_settings_destroy(copy);
    return row;
}

/* ---------------------------------------------------------------- without one of them */

static kbass_status fitted_values(const kbass_discovery *discovery, const kbass_data *data, double *mean, double *sd,
                                  kbass_error *error)
{
    size_t n = kbass_data_rows(data);
    const double *times = kbass_data_times(data), *positions = kbass_data_positions(data);
    return positions ? kbass_discovery_solution(discovery, 0, n, times, positions, mean, sd, error)
                     : kbass_discovery_solution(discovery, 0, n, times, NULL, mean, sd, error);
}

static kbass_status distance(const kbass_discovery *discovery, const kbass_data *data, const double *sd, double *sigmas,
                             kbass_error *error)
{
    size_t n = kbass_data_rows(data), n_states = kbass_data_states(data);
    double *mean = calloc(n * n_states, sizeof *mean), *band = calloc(n * n_states, sizeof *band), squares = 0;
    kbass_status status = KBASS_ERROR_MEMORY;
    snprintf(error->message, sizeof error->message, "out of memory for the residuals");
    if (mean && band) status = fitted_values(discovery, data, mean, band, error);
    for (size_t k = 0; status == KBASS_OK && k < n * n_states; k++)
        squares += pow((kbass_data_values(data)[k] - mean[k]) / sd[k % n_states], 2);
    *sigmas = sqrt(squares);
    free(band);
    free(mean);
    return status;
}

/* The fit weighs by the noise that the samples would have had. */
static void tell_noise(const kbass_data *data, const double *sd, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < kbass_data_states(data) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%.10g", i ? ", " : "", kbass_data_state_name(data, i),
                                 sd[i]);
}

/* Fits the clean samples told the terms, save the absent one, and the noise. */
static kbass_status fit_told(const kbass_data *clean, const double *sd, const kbass_settings *settings,
                             const bench_law *law, long absent, kbass_discovery **discovery, kbass_error *error)
{
    char noise[300];
    kbass_settings *copy = bench_settings(settings);
    tell(law, absent, copy);
    tell_noise(clean, sd, noise, sizeof noise);
    bench_choose(copy, "noise", noise);
    kbass_status status = kbass_discovery_create(clean, copy, discovery, error);
    kbass_settings_destroy(copy);
    return status == KBASS_OK ? kbass_discovery_run(*discovery, NULL, NULL, error) : status;
}

kbass_status bench_detectability(const kbass_data *clean, const double *sd, const kbass_settings *settings,
                                 const bench_law *law, size_t absent, double *sigmas, kbass_error *error)
{
    kbass_discovery *discovery = NULL;
    kbass_status status = fit_told(clean, sd, settings, law, (long)absent, &discovery, error);
    *sigmas = INFINITY;
    if (status == KBASS_OK && kbass_discovery_result(discovery)->n_equations)
        status = distance(discovery, clean, sd, sigmas, error);
    kbass_discovery_destroy(discovery);
    return status;
}

kbass_status bench_linear_detectability(const kbass_data *clean, const double *sd, const kbass_settings *settings,
                                        const bench_law *law, double *sigmas, kbass_error *error)
{
    kbass_discovery *discovery = NULL;
    kbass_status status = fit_told(clean, sd, settings, law, NOBODY, &discovery, error);
    for (size_t i = 0; i < law->n; i++) {
        const kbass_term *term =
            status == KBASS_OK ? find_selected(kbass_discovery_result(discovery), &law->terms[i]) : NULL;
        sigmas[i] = term ? fabs(term->weight) / term->sd : NAN;
    }
    kbass_discovery_destroy(discovery);
    return status;
}
