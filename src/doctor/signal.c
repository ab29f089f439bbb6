/* What the bare field says of the data: sampling, noise, derivatives, what the record excites. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "doctor/doctor.h"

enum { TARGETS = 120, MOST_TIMES = 4000, ORDERS = KB_HIGHEST_ORDER };
static const double times_of_scale = 4;    /* at which a state is followed, for each of its length scales */
static const double floor_of_scales = 0.6; /* spacings: shorter scales are not looked for */
static const double coarse = 1;            /* samples along a length scale */
static const double wide_gap = 3;          /* length scales */
static const double much_noise = 0.5;      /* of a state's standard deviation */
static const double vague = 2;             /* times the noise beside the curve that predictions are off */
static const double predictable = 0.1;     /* share of the variance that neighbours have to foresee */
static const double determined = 0.75;     /* share of a derivative's variance that samples have to fix */
static const double stillness = 0.2;       /* standard deviations, */
static const double at_rest = 0.2;         /* and for fields in the time of the whole record */
static const double mostly = 0.5;

/* ---------------------------------------------------------------- sampling */

/* The state with the shortest scale along an axis; n_states when none can be used. */
static size_t fastest(const kb_doctor *doctor, size_t axis)
{
    size_t best = doctor->data->n_states;
    for (size_t i = 0; i < doctor->data->n_states; i++) {
        const kb_patient *patient = &doctor->patients[i];
        if (!kb_patient_is_fit(patient)) continue;
        if (best == doctor->data->n_states || patient->gp->length[axis] < doctor->patients[best].gp->length[axis])
            best = i;
    }
    return best;
}

static void examine_sampling(kb_doctor *doctor, size_t axis)
{
    const kbass_data *data = doctor->data;
    size_t i = fastest(doctor, axis);
    if (i == data->n_states) return;
    const kb_field_samples *cloud = doctor->patients[i].cloud;
    double length = doctor->patients[i].gp->length[axis], samples = length / cloud->spacing[axis];
    bool is_lost = samples < floor_of_scales, is_coarse = samples < coarse;
    kbass_finding finding = {.severity = is_coarse ? KBASS_WARNING : KBASS_FINE,
                             .check = "sampling",
                             .subject = data->axis_names[axis],
                             .number = samples,
                             .measure = "samples along the fastest scale"};
    if (is_lost)
        kb_doctor_say(doctor, finding,
                      "sample more densely along this axis; with sparse samples only a short dictionary can be "
                      "told apart",
                      "along %s the samples of %s look unrelated: any scale below the spacing of %.4g would "
                      "explain them",
                      data->axis_names[axis], data->state_names[i], cloud->spacing[axis] * cloud->span[axis]);
    else
        kb_doctor_say(
            doctor, finding, "sample more densely along this axis, or shorten the dictionary",
            "along %s the fastest change is that of %s: it takes about %.4g, a part of a wave, and has %.2g samples",
            data->axis_names[axis], data->state_names[i], length * cloud->span[axis], samples);
}

/* The longest stretch of time without a measurement. */
static void examine_gap(kb_doctor *doctor, size_t state)
{
    const kbass_data *data = doctor->data;
    const kb_patient *patient = &doctor->patients[state];
    const kb_field_samples *cloud = patient->cloud;
    size_t last = SIZE_MAX, from = 0, to = 0;
    double widest = 0, scale = fmax(patient->gp->length[0], cloud->spacing[0]);
    for (size_t p = 0; p < cloud->n_points; p++) {
        if (cloud->measured[p] == 0) continue;
        double gap = last == SIZE_MAX ? 0 : cloud->point[p] - cloud->point[last];
        if (gap > widest) widest = gap, from = last, to = p;
        last = p;
    }
    if (!(widest > wide_gap * scale)) return;
    size_t *rows = kb_doctor_own(doctor, 2, sizeof *rows);
    if (!rows) return;
    rows[0] = patient->row[from];
    rows[1] = patient->row[to];
    kbass_finding finding = {.severity = KBASS_WARNING,
                             .check = "gap",
                             .subject = data->state_names[state],
                             .number = widest / scale,
                             .measure = "length scales",
                             .n_rows = 2,
                             .rows = rows};
    kb_doctor_say(doctor, finding, "measure there; what happens inside is not seen",
                  "%s is not measured from %s = %.6g to %.6g, %.2g times its fastest scale", data->state_names[state],
                  data->time_name, data->times[rows[0]], data->times[rows[1]], widest / scale);
}

/* ---------------------------------------------------------------- targets */

/* The index-th of the measured points that are looked at, in no order that a grid could have; true while there are. */
static bool target(const kb_patient *patient, size_t index, size_t without_own, double *at, size_t *cell)
{
    const kb_local *local = patient->local;
    size_t n = local->n_cells < TARGETS ? local->n_cells : TARGETS;
    if (index >= n) return false;
    size_t c =
        n == local->n_cells ? index : (size_t)(fmod((double)index * 0.6180339887498949, 1) * (double)local->n_cells);
    for (size_t a = 0; a < local->n_axes; a++) at[a] = local->point[c * local->n_axes + a];
    *cell = without_own ? c : local->n_cells;
    return true;
}

/* ---------------------------------------------------------------- noise */

/* Share of the variance that the cells around foresee of each. */
static double foresight(const kb_patient *patient)
{
    static const int value[KB_SAMPLE_AXES] = {0};
    double at[KB_SAMPLE_AXES], off = 0, sum = 0, squares = 0, n = 0;
    size_t cell;
    for (size_t k = 0; target(patient, k, true, at, &cell); k++) {
        double u = patient->local->value[cell];
        if (!kb_local_go(patient->local, at, cell)) continue;
        double d = u - kb_local_mean(patient->local, value);
        off += d * d, sum += u, squares += u * u, n++;
    }
    return 1 - off / fmax(squares - sum * sum / n, 1e-300);
}

/* Few samples along a scale, or a curve that goes through values which their neighbours do not predict: noise may pass
   for signal, and signal for noise. */
static bool is_vague(const kb_patient *patient, double share, double unforeseen)
{
    bool is_sparse = false;
    for (size_t a = 0; a < patient->cloud->n_axes; a++)
        is_sparse = is_sparse || patient->gp->length[a] < 1.5 * patient->cloud->spacing[a];
    return is_sparse ? unforeseen > share : unforeseen > vague * share;
}

/* Does another state tell more than noise? What only carries noise is then at rest beside it. */
static bool is_beside_signal(const kb_doctor *doctor, size_t state)
{
    for (size_t i = 0; i < doctor->data->n_states; i++) {
        const kb_patient *other = &doctor->patients[i];
        if (i != state && kb_patient_is_fit(other) && sqrt(other->gp->variance[0]) <= much_noise &&
            foresight(other) > predictable)
            return true;
    }
    return false;
}

static void examine_noise(kb_doctor *doctor, size_t state)
{
    const kbass_data *data = doctor->data;
    const kb_patient *patient = &doctor->patients[state];
    const char *name = data->state_names[state];
    double share = sqrt(patient->gp->variance[0]), known = foresight(patient), sd = share * patient->cloud->sd[0];
    bool is_given = patient->cloud->known_variance[0] > 0, is_lost = !(known > predictable);
    kbass_finding finding = {
        .check = "noise", .subject = name, .number = share, .measure = "share of the standard deviation"};
    bool is_noise = is_lost && share > much_noise, is_beside = is_noise && is_beside_signal(doctor, state);
    finding.severity = is_noise && !is_beside          ? KBASS_HOPELESS
                       : is_lost || share > much_noise ? KBASS_WARNING
                                                       : KBASS_FINE;
    const char *advice = is_beside
                             ? "its equation will be 0; to learn one, record a run in which it moves; to leave it "
                               "out, --ignore it"
                         : is_lost ? "a law needs values that follow from one another: sample more densely, or measure "
                                     "better"
                                   : "average repeated measurements, or sample more: few terms will stand out";
    double unforeseen = sqrt(fmin(fmax(1 - known, 0), 1));
    char percent[KB_NUMBER_SIZE];
    kb_number_round(100 * share, 2, percent);
    if (!is_given && is_vague(patient, share, unforeseen))
        kb_doctor_say(doctor, finding, advice,
                      "%s has noise of %.*f to %.*f %% of its standard deviation: samples are too sparse to tell it "
                      "from what moves between them; neighbours predict %.0f %% of its variance",
                      name, share < 0.1 ? 1 : 0, 100 * share, unforeseen < 0.1 ? 1 : 0, 100 * unforeseen,
                      100 * fmax(known, 0));
    else
        kb_doctor_say(doctor, finding, advice,
                      "%s has noise of %.2g, %s %% of its standard deviation (%s); neighbours predict %.0f %% of its "
                      "variance",
                      name, sd, percent, is_given ? "as --noise says" : "beside a smooth curve", 100 * fmax(known, 0));
}

/* ---------------------------------------------------------------- derivatives */

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median over the record of 1 - posterior / prior variance of the derivative of this order (docs/math.md, eq. 56).
 */
static double share_determined(const kb_patient *patient, size_t axis, int order)
{
    double at[KB_SAMPLE_AXES], shares[TARGETS];
    int orders[KB_SAMPLE_AXES] = {0};
    size_t cell, n = 0;
    orders[axis] = order;
    for (size_t k = 0; target(patient, k, false, at, &cell); k++)
        if (kb_local_go(patient->local, at, cell))
            shares[n++] = 1 - kb_local_variance(patient->local, orders) / kb_local_prior(patient->local, orders);
    qsort(shares, n, sizeof *shares, ascending);
    return n ? shares[n / 2] : 0;
}

static int order_needed(const kb_dictionary *dictionary, size_t axis)
{
    int highest = axis ? 0 : dictionary->time_order;
    for (size_t v = 0; axis && v < dictionary->n_variables; v++)
        if (dictionary->variables[v].axis < 0 && dictionary->variables[v].order[axis] > highest)
            highest = dictionary->variables[v].order[axis];
    return highest;
}

static void examine_derivatives(kb_doctor *doctor, size_t axis)
{
    const kbass_data *data = doctor->data;
    int needed = order_needed(doctor->dictionary, axis), supported = ORDERS;
    double share = 1; /* of the first order that is not supported */
    size_t worst = data->n_states;
    char advice[160];
    for (size_t i = 0; i < data->n_states; i++)
        for (int order = 1; kb_patient_is_fit(&doctor->patients[i]) && order <= supported; order++) {
            double found = share_determined(&doctor->patients[i], axis, order);
            if (found >= determined) continue;
            supported = order - 1, share = found, worst = i;
        }
    kbass_finding finding = {.severity = supported < needed ? KBASS_WARNING : KBASS_FINE,
                             .check = "derivatives",
                             .subject = data->axis_names[axis],
                             .number = supported,
                             .measure = "highest order"};
    if (axis && supported) snprintf(advice, sizeof advice, "--derivatives %d, or sample more densely", supported);
    else snprintf(advice, sizeof advice, "sample more densely or with less noise; until then expect wide intervals");
    if (worst == data->n_states)
        kb_doctor_say(doctor, finding, "", "along %s these samples support derivatives of all orders up to %d",
                      data->axis_names[axis], ORDERS);
    else
        kb_doctor_say(
            doctor, finding, advice,
            "along %s these samples support derivatives up to order %d (the dictionary needs %d); of order %d they fix "
            "%.0f %% (%s)",
            data->axis_names[axis], supported, needed, supported + 1, 100 * fmax(share, 0), data->state_names[worst]);
}

/* ---------------------------------------------------------------- excitation */

/* The smoothed state at even times, dense enough for its fastest scale. */
static void smooth(const kb_patient *patient, size_t n, double *q)
{
    static const int value[KB_SAMPLE_AXES] = {0};
    for (size_t k = 0; k < n; k++) {
        double at = ((double)k + 0.5) / (double)n;
        q[k] = kb_local_go(patient->local, &at, patient->local->n_cells) ? kb_local_mean(patient->local, value) : 0;
    }
}

static double count_turns(size_t n, const double *q)
{
    double turns = 0;
    for (size_t k = 1; k < n; k++) turns += q[k] * q[k - 1] < 0;
    return turns;
}

/* The longest stretch within which it moves by no more than the tolerance, as a share of the record. */
static double longest_rest(size_t n, const double *q, double tolerance)
{
    size_t longest = 0;
    for (size_t first = 0; first + longest < n; first++) {
        double low = q[first], high = q[first];
        for (size_t k = first; k < n; k++) {
            low = fmin(low, q[k]);
            high = fmax(high, q[k]);
            if (!(high - low <= tolerance)) break;
            if (k - first + 1 > longest) longest = k - first + 1;
        }
    }
    return (double)longest / (double)n;
}

/* It never comes back by more than the tolerance: upwards (sign 1) or downwards (-1). */
static bool goes_one_way(size_t n, const double *q, double sign, double tolerance)
{
    double highest = -INFINITY, back = 0;
    for (size_t k = 0; k < n; k++) {
        highest = fmax(highest, sign * q[k]);
        back = fmax(back, highest - sign * q[k]);
    }
    return back <= tolerance;
}

static void follow(kb_doctor *doctor, const kb_patient *patient, double *turns, double *rest, bool *is_monotone)
{
    double tolerance = fmax(stillness, 2 * sqrt(patient->gp->variance[0]));
    size_t n = (size_t)fmin(fmax(times_of_scale / patient->gp->length[0], TARGETS), MOST_TIMES);
    double *q = KB_NEW(double, n);
    if (!q) {
        doctor->lacks_memory = true;
        return;
    }
    smooth(patient, n, q);
    *turns = count_turns(n, q);
    *rest = longest_rest(n, q, tolerance);
    *is_monotone = goes_one_way(n, q, 1, tolerance) || goes_one_way(n, q, -1, tolerance);
    kb_free(q);
}

/* Where its slope is too small to move it within the record. */
static void rest_of_field(const kb_patient *patient, double *rest)
{
    static const int slope[KB_SAMPLE_AXES] = {1};
    double at[KB_SAMPLE_AXES], n = 0;
    size_t cell;
    *rest = 0;
    for (size_t k = 0; target(patient, k, false, at, &cell); k++) {
        if (!kb_local_go(patient->local, at, cell)) continue;
        *rest += fabs(kb_local_mean(patient->local, slope)) < at_rest;
        n++;
    }
    *rest /= fmax(n, 1);
}

static void examine_excitation(kb_doctor *doctor, size_t state)
{
    const kb_patient *patient = &doctor->patients[state];
    const char *name = doctor->data->state_names[state], *time = doctor->data->time_name;
    double turns = 0, rest = 0;
    bool is_monotone = false;
    if (doctor->data->n_axes == 1) follow(doctor, patient, &turns, &rest, &is_monotone);
    else rest_of_field(patient, &rest);
    kbass_finding finding = {.severity = rest > mostly || is_monotone ? KBASS_WARNING : KBASS_FINE,
                             .check = "excitation",
                             .subject = name,
                             .number = rest,
                             .measure = "share of the record at rest"};
    if (doctor->data->n_axes > 1)
        kb_doctor_say(doctor, finding, "sample where and when it still moves", "%s is at rest in %.0f %% of the record",
                      name, 100 * rest);
    else if (rest > mostly)
        kb_doctor_say(doctor, finding, "cut the record where nothing moves any more, or start farther from equilibrium",
                      "%s hardly moves for %.0f %% of the record: an equilibrium says little about a law", name,
                      100 * rest);
    else if (is_monotone)
        kb_doctor_say(doctor, finding, "record longer, or several runs from different starts",
                      "%s runs one way through the whole record: as a function of %s many laws look alike there", name,
                      time);
    else
        kb_doctor_say(doctor, finding, "",
                      "%s passes its mean %.0f time%s (%.4g periods), and rests at most %.0f %% of the record", name,
                      turns, turns == 1 ? "" : "s", turns / 2, 100 * rest);
}

static size_t count_candidates(const kb_dictionary *d, size_t state)
{
    size_t n = 0;
    for (size_t j = 0; j < d->n_terms; j++)
        n += d->roles[j + state * d->n_terms] == KB_CANDIDATE || d->roles[j + state * d->n_terms] == KB_REQUIRED;
    return n;
}

/* One value per length scale is free. */
static void examine_candidates(kb_doctor *doctor, size_t state)
{
    const kb_patient *patient = &doctor->patients[state];
    double free_values = 1, candidates = (double)count_candidates(doctor->dictionary, state);
    for (size_t a = 0; a < patient->cloud->n_axes; a++) free_values *= 1 + 1 / patient->gp->length[a];
    free_values = fmin(free_values, (double)patient->cloud->count[0]);
    kbass_finding finding = {.severity = free_values < candidates ? KBASS_WARNING : KBASS_FINE,
                             .check = "candidates",
                             .subject = doctor->data->state_names[state],
                             .number = free_values,
                             .measure = "independent values"};
    char suggestion[200];
    snprintf(
        suggestion, sizeof suggestion,
        "record about %.0f values at this spacing (now %zu), or shorten the dictionary (--degree, --terms) to %.0f "
        "terms",
        ceil((double)patient->cloud->count[0] * candidates / free_values), patient->cloud->count[0],
        floor(free_values));
    if (candidates > 0)
        kb_doctor_say(doctor, finding, suggestion,
                      "%s carries about %.0f independent values, against %.0f candidate terms in its equation%s",
                      doctor->data->state_names[state], free_values, candidates,
                      free_values < candidates ? ": too few to tell them apart" : "");
}

void kb_doctor_examine_signal(kb_doctor *doctor)
{
    size_t n_fit = 0;
    for (size_t i = 0; i < doctor->data->n_states; i++) n_fit += kb_patient_is_fit(&doctor->patients[i]);
    for (size_t a = 0; n_fit && a < doctor->data->n_axes; a++) {
        examine_sampling(doctor, a);
        examine_derivatives(doctor, a);
    }
    for (size_t i = 0; i < doctor->data->n_states; i++) {
        if (!kb_patient_is_fit(&doctor->patients[i])) continue;
        examine_noise(doctor, i);
        if (doctor->data->n_axes == 1) examine_gap(doctor, i);
        examine_excitation(doctor, i);
        examine_candidates(doctor, i);
    }
}
