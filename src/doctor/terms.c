/* The dictionary on the bare field: terms that are alike there, and sums of terms that nearly vanish. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "doctor/doctor.h"

enum { POINTS = 240, MOST_TERMS = 1000, MOST_NAMED = 8 };
static const double alike = 0.995;     /* correlation */
static const double dependent = 1e-6;  /* share of its terms' size that a sum keeps, squared */
static const double taking_part = 0.2; /* weight of a term in such a sum of unit length */

typedef struct {
    size_t n_points, n_terms;
    size_t *term;   /* n_terms: of the dictionary */
    double *points; /* n_points x n_variables: the bare field, in the data's units */
    double *values; /* n_points x n_terms, of unit length */
    double *gram;   /* n_terms x n_terms: correlations */
    double *work;
} stage;

/* ---------------------------------------------------------------- the bare field */

/* Points of the record, scaled: even times, or measured places in no order that a grid could have. */
static void choose_point(const kb_doctor *doctor, size_t k, double *at)
{
    const kbass_data *data = doctor->data;
    if (data->n_axes == 1) {
        at[0] = data->times[0] + (data->times[data->n_rows - 1] - data->times[0]) * ((double)k + 0.5) / POINTS;
        return;
    }
    size_t row = (size_t)(fmod((double)(k + 1) * 0.6180339887498949, 1) * (double)data->n_rows);
    for (size_t a = 0; a < data->n_axes; a++) at[a] = kb_data_coordinate(data, row, a);
}

/* A field and its derivatives at a point, in the data's units. */
static void fill_field(const kb_doctor *doctor, stage *s, size_t k, const double *at, size_t field)
{
    const kb_dictionary *d = doctor->dictionary;
    const kb_patient *patient = &doctor->patients[field];
    double scaled[KB_SAMPLE_AXES];
    bool is_fit = kb_patient_is_fit(patient);
    for (size_t a = 0; is_fit && a < d->n_axes; a++)
        scaled[a] = (at[a] - patient->cloud->first[a]) / patient->cloud->span[a];
    is_fit = is_fit && kb_local_go(patient->local, scaled, patient->local->n_cells);
    for (size_t v = 0; is_fit && v < d->n_variables; v++) {
        const kb_variable *variable = &d->variables[v];
        if (variable->axis >= 0 || variable->field != field) continue;
        double value = kb_local_mean(patient->local, variable->order) * patient->cloud->sd[0];
        for (size_t a = 1; a < d->n_axes; a++) value /= pow(patient->cloud->span[a], variable->order[a]);
        s->points[k + v * POINTS] = value + (kb_variable_order(variable) ? 0 : patient->cloud->mean[0]);
    }
}

static void fill_points(const kb_doctor *doctor, stage *s)
{
    const kb_dictionary *d = doctor->dictionary;
    for (size_t k = 0; k < POINTS; k++) {
        double at[KB_SAMPLE_AXES];
        choose_point(doctor, k, at);
        for (size_t i = 0; i < d->n_states; i++) fill_field(doctor, s, k, at, i);
        for (size_t v = 0; v < d->n_variables; v++)
            if (d->variables[v].axis >= 0) s->points[k + v * POINTS] = at[d->variables[v].axis];
    }
}

/* ---------------------------------------------------------------- correlations */

static bool is_asked(const kb_dictionary *d, size_t term)
{
    bool is_candidate = false;
    for (size_t i = 0; i < d->n_states; i++)
        is_candidate = is_candidate || d->roles[term + i * d->n_terms] == KB_CANDIDATE;
    return is_candidate;
}

/* Beside the constant only what differs from it counts. Terms that have no length left, or no value, are dropped. */
static void normalise(const kb_dictionary *d, stage *s)
{
    bool has_constant = kb_dictionary_find(d, "1") < d->n_terms;
    size_t n = 0;
    for (size_t q = 0; q < s->n_terms; q++) {
        double *from = s->values + q * POINTS, *to = s->values + n * POINTS, mean = 0;
        double before = sqrt(kb_dot(POINTS, from, from));
        for (size_t k = 0; has_constant && k < POINTS; k++) mean += from[k] / POINTS;
        for (size_t k = 0; k < POINTS; k++) to[k] = from[k] - mean;
        double length = sqrt(kb_dot(POINTS, to, to));
        if (!(length > 1e-9 * before) || !isfinite(length)) continue;
        for (size_t k = 0; k < POINTS; k++) to[k] /= length;
        s->term[n++] = s->term[q];
    }
    s->n_terms = n;
    kb_gram(n, POINTS, 1, s->values, POINTS, 0, s->gram, n);
    kb_symmetrise(n, s->gram, n);
}

static const char **name_terms(kb_doctor *doctor, const stage *s, size_t n, const size_t *members, char *text,
                               size_t size)
{
    const char **names = kb_doctor_own(doctor, n, sizeof *names);
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; names && i < n; i++) {
        names[i] = kb_dictionary_name(doctor->dictionary, s->term[members[i]]);
        if (i > MOST_NAMED || used + strlen(names[i]) + 24 > size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? i + 1 == n ? " and " : ", " : "",
                                 i == MOST_NAMED ? "others" : names[i]);
    }
    return names;
}

static void report_group(kb_doctor *doctor, const stage *s, size_t n, const size_t *members, double highest)
{
    char text[400];
    const char **names = name_terms(doctor, s, n, members, text, sizeof text);
    kbass_finding finding = {.severity = KBASS_WARNING,
                             .check = "collinear",
                             .subject = text,
                             .number = highest,
                             .measure = "correlation",
                             .n_terms = n,
                             .terms = names};
    if (names)
        kb_doctor_say(doctor, finding, "keep one of them (--forbid the others), or record a wider range of states",
                      "%s are alike on these data, correlation up to %.5f: which of them acts cannot be told well",
                      text, highest);
}

/* Groups: terms joined by correlations above `alike`, one after the other. */
static void examine_pairs(kb_doctor *doctor, const stage *s, size_t *members, bool *is_taken)
{
    size_t n = s->n_terms;
    for (size_t q = 0; q < n; q++) {
        size_t n_members = 0;
        double highest = 0;
        if (is_taken[q]) continue;
        members[n_members++] = q;
        is_taken[q] = true;
        for (size_t i = 0; i < n_members; i++)
            for (size_t r = 0; r < n; r++) {
                double c = fabs(s->gram[r + members[i] * n]);
                if (r == members[i] || !(c > alike)) continue;
                highest = fmax(highest, fmin(c, 1));
                if (!is_taken[r]) members[n_members++] = r;
                is_taken[r] = true;
            }
        if (n_members > 1) report_group(doctor, s, n_members, members, highest);
    }
}

/* The sum of terms that vanishes most nearly: the eigenvector of the smallest eigenvalue. Overwrites the correlations.
 */
static void examine_sum(kb_doctor *doctor, stage *s, size_t *members)
{
    size_t n = s->n_terms, n_members = 0;
    char text[400];
    if (n < 2 || !kb_eigen_symmetric(n, s->gram, n, s->work)) return;
    double share = sqrt(fmax(s->work[0], 0));
    for (size_t q = 0; q < n; q++)
        if (fabs(s->gram[q]) > taking_part) members[n_members++] = q;
    bool is_dependent = !(s->work[0] > dependent);
    const char **names = name_terms(doctor, s, n_members, members, text, sizeof text);
    kbass_finding finding = {.severity = is_dependent ? KBASS_WARNING : KBASS_FINE,
                             .check = "dependent",
                             .subject = text,
                             .number = share,
                             .measure = "size of the smallest sum of terms",
                             .n_terms = n_members,
                             .terms = names};
    if (!names) return;
    if (is_dependent)
        kb_doctor_say(doctor, finding,
                      "more of the same will not do: start elsewhere, off the curve they share, or shorten the "
                      "dictionary (--forbid, "
                      "--degree)",
                      "on these data a sum of %s vanishes up to %.1e of its terms: their weights cannot be told apart",
                      text, share);
    else
        kb_doctor_say(doctor, finding, "",
                      "the %zu candidate terms differ on these data: the sum that vanishes most nearly keeps %.1e "
                      "of its terms",
                      n, share);
}

/* ---------------------------------------------------------------- the whole */

static bool allocate(stage *s, const kb_dictionary *d, size_t n)
{
    size_t work = kb_dictionary_work(d, POINTS);
    s->term = KB_NEW(size_t, n);
    s->points = KB_NEW(double, POINTS * d->n_variables);
    s->values = KB_NEW(double, POINTS *n);
    s->gram = KB_NEW(double, n *n);
    s->work = KB_NEW(double, work > n ? work : n);
    return s->term && s->points && s->values && s->gram && s->work;
}

kbass_status kb_doctor_examine_terms(kb_doctor *doctor, kbass_error *error)
{
    const kb_dictionary *d = doctor->dictionary;
    stage s = {0};
    size_t n = 0, n_fit = 0;
    for (size_t j = 0; j < d->n_terms; j++) n += is_asked(d, j);
    for (size_t i = 0; i < d->n_states; i++) n_fit += kb_patient_is_fit(&doctor->patients[i]);
    if (n < 2 || n > MOST_TERMS || n_fit < d->n_states) return KBASS_OK;
    size_t *members = KB_NEW(size_t, n);
    bool *is_taken = KB_NEW(bool, n), complete = allocate(&s, d, n) && members && is_taken;
    if (complete) {
        for (size_t j = 0; j < d->n_terms; j++)
            if (is_asked(d, j)) s.term[s.n_terms++] = j;
        fill_points(doctor, &s);
        kb_dictionary_values(d, n, s.term, POINTS, s.points, POINTS, s.values, s.work);
        normalise(d, &s);
        examine_pairs(doctor, &s, members, is_taken);
        examine_sum(doctor, &s, members);
    }
    kb_free(members);
    kb_free(is_taken);
    kb_free(s.term);
    kb_free(s.points);
    kb_free(s.values);
    kb_free(s.gram);
    kb_free(s.work);
    return complete ? KBASS_OK : kb_out_of_memory(error, "the dictionary on these data");
}
