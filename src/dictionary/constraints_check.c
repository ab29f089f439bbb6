/* Equalities are compared by elimination; bounds go through equalities as intervals do: a weight of a sum is what the
 * others leave of it.
 */
#include "dictionary/constraints.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

enum { MOST = KB_MOST_TIED, ROUNDS = 40 };
static const double vanishing = 1e-12; /* share of a row's largest entry that is rounding */

/* The weights that equalities tie to those of a constraint, and all that is said of them. */
typedef struct {
    const kb_dictionary *dictionary;
    size_t n, n_rows;
    kb_constraint_part weight[MOST]; /* their factors are of no use */
    double row[MOST][MOST + 1];      /* factors, and the right side */
    double low[MOST], high[MOST];
} tied;

static size_t place_of(const tied *t, const kb_constraint_part *part)
{
    size_t i = 0;
    while (i < t->n && !(t->weight[i].state == part->state && t->weight[i].term == part->term)) i++;
    return i;
}

static bool touches(const tied *t, const kb_constraint *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (place_of(t, &c->parts[i]) < t->n) return true;
    return false;
}

/* False when there is no room. */
static bool take_weights(tied *t, const kb_constraint *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (place_of(t, &c->parts[i]) < t->n) continue;
        if (t->n == MOST) return false;
        t->weight[t->n++] = c->parts[i];
    }
    return true;
}

static bool gather_weights(tied *t, const kb_constraint *more)
{
    const kb_dictionary *d = t->dictionary;
    bool fits = take_weights(t, more);
    for (size_t before = 0; fits && before < t->n;) {
        before = t->n;
        for (size_t i = 0; fits && i < d->n_constraints; i++)
            if (d->constraints[i].relation == '=' && touches(t, &d->constraints[i]))
                fits = take_weights(t, &d->constraints[i]);
    }
    return fits;
}

/* Adds an equality less what the rows so far say; false when nothing but the right side is left, which goes to *rest.
 */
static bool add_row(tied *t, const kb_constraint *c, double *rest)
{
    double *row = t->row[t->n_rows], largest = 0, scale = 0;
    memset(row, 0, sizeof t->row[0]);
    for (size_t i = 0; i < c->n; i++) row[place_of(t, &c->parts[i])] = c->parts[i].factor;
    row[MOST] = c->right;
    for (size_t j = 0; j < t->n; j++) scale = fmax(scale, fabs(row[j]));
    for (size_t i = 0; i < t->n_rows; i++) {
        size_t pivot = 0;
        while (t->row[i][pivot] == 0) pivot++;
        double factor = row[pivot] / t->row[i][pivot];
        for (size_t j = 0; j <= MOST; j++) row[j] -= factor * t->row[i][j];
        row[pivot] = 0;
    }
    for (size_t j = 0; j < t->n; j++) {
        if (fabs(row[j]) < vanishing * scale) row[j] = 0;
        largest = fmax(largest, fabs(row[j]));
    }
    *rest = row[MOST];
    t->n_rows += largest > 0;
    return largest > 0;
}

/* A weight that the rows leave nothing but 0; t->n when there is none. Rows before the last are cleared of each pivot.
 */
static size_t find_nil(tied *t)
{
    for (size_t i = t->n_rows; i-- > 0;) {
        size_t pivot = 0;
        while (t->row[i][pivot] == 0) pivot++;
        for (size_t r = 0; r < i; r++) {
            double factor = t->row[r][pivot] / t->row[i][pivot], largest = 0;
            for (size_t j = 0; j < t->n; j++) largest = fmax(largest, fabs(t->row[r][j]));
            for (size_t j = 0; j <= MOST; j++) t->row[r][j] -= factor * t->row[i][j];
            for (size_t j = 0; j < t->n; j++)
                if (fabs(t->row[r][j]) < vanishing * largest) t->row[r][j] = 0;
        }
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        size_t n = 0, last = 0;
        for (size_t j = 0; j < t->n; j++)
            if (t->row[i][j] != 0) n++, last = j;
        if (n == 1 && t->row[i][MOST] == 0) return last;
    }
    return t->n;
}

static void take_bound(tied *t, const kb_constraint *c)
{
    size_t i = place_of(t, &c->parts[0]);
    if (i == t->n || c->relation == '=') return;
    if (c->relation == '<') t->high[i] = fmin(t->high[i], c->right);
    else t->low[i] = fmax(t->low[i], c->right);
}

/* What the other weights of an equality leave for each of them. */
static void narrow(tied *t, const kb_constraint *c)
{
    for (size_t i = 0; i < c->n; i++) {
        double low = c->right, high = c->right, factor = c->parts[i].factor;
        size_t own = place_of(t, &c->parts[i]);
        for (size_t j = 0; j < c->n; j++) {
            size_t place = place_of(t, &c->parts[j]);
            double f = c->parts[j].factor;
            if (j == i) continue;
            low -= f > 0 ? f * t->high[place] : f * t->low[place];
            high -= f > 0 ? f * t->low[place] : f * t->high[place];
        }
        t->low[own] = fmax(t->low[own], factor > 0 ? low / factor : high / factor);
        t->high[own] = fmin(t->high[own], factor > 0 ? high / factor : low / factor);
    }
}

static void find_ranges(tied *t, const kb_constraint *more)
{
    const kb_dictionary *d = t->dictionary;
    for (size_t i = 0; i < t->n; i++) t->low[i] = -INFINITY, t->high[i] = INFINITY;
    for (size_t i = 0; i < d->n_constraints; i++) take_bound(t, &d->constraints[i]);
    if (more) take_bound(t, more);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < d->n_constraints; i++)
            if (d->constraints[i].relation == '=' && touches(t, &d->constraints[i])) narrow(t, &d->constraints[i]);
        if (more && more->relation == '=') narrow(t, more);
    }
}

/* A weight without a value, or with none but 0; t->n when there is none. */
static size_t find_empty(const tied *t, bool *is_zero)
{
    for (size_t i = 0; i < t->n; i++) {
        double slack = vanishing * (1 + fabs(t->low[i]));
        *is_zero = t->low[i] == t->high[i] && t->low[i] == 0;
        if (t->low[i] > t->high[i] + slack || *is_zero) return i;
    }
    return t->n;
}

static kbass_status refuse_nil(const tied *t, size_t place, bool is_zero, const char *text, kbass_error *error)
{
    const kb_dictionary *d = t->dictionary;
    const kb_constraint_part *weight = &t->weight[place];
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\" beside those before it leaves %s for \"%.60s\" in %.60s%s",
                   text, is_zero ? "only 0" : "no value", kb_dictionary_name(d, weight->term),
                   d->state_names[weight->state], kb_dictionary_tail(d, weight->state));
}

static kbass_status check_equality(tied *t, const kb_constraint *c, const char *text, kbass_error *error)
{
    const kb_dictionary *d = t->dictionary;
    double rest = 0, size = fabs(c->right);
    for (size_t i = 0; i < d->n_constraints; i++)
        if (d->constraints[i].relation == '=' && touches(t, &d->constraints[i])) {
            add_row(t, &d->constraints[i], &rest);
            size = fmax(size, fabs(d->constraints[i].right));
        }
    if (add_row(t, c, &rest)) {
        size_t nil = find_nil(t);
        return nil == t->n ? KBASS_OK : refuse_nil(t, nil, true, text, error);
    }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\" %s", text,
                   fabs(rest) > vanishing * (1 + size) ? "contradicts the equalities before it"
                                                       : "says what those before it say: leave it out");
}

static kbass_status check_bound(tied *t, const kb_constraint *c, const char *text, kbass_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < t->dictionary->n_constraints; i++) n += t->dictionary->constraints[i].relation != '=';
    if (n == MOST) return kb_fail(error, KBASS_ERROR_ARGUMENT, "found more than %d bounds", MOST);
    find_ranges(t, NULL);
    bool is_upper = c->relation == '<';
    if (is_upper ? t->high[0] <= c->right : t->low[0] >= c->right)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\" follows from those before it: leave it out", text);
    if (is_upper ? t->low[0] >= c->right : t->high[0] <= c->right)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\" contradicts those before it: the weight is %s %g", text,
                       is_upper ? "at least" : "at most", is_upper ? t->low[0] : t->high[0]);
    return KBASS_OK;
}

kbass_status kb_constraints_check(const kb_dictionary *d, const kb_constraint *c, const char *text, kbass_error *error)
{
    tied t = {.dictionary = d};
    bool is_zero = false;
    if (!gather_weights(&t, c))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "\"%.100s\": more than %d weights hang together", text, MOST);
    kbass_status status = c->relation == '=' ? check_equality(&t, c, text, error) : check_bound(&t, c, text, error);
    if (status != KBASS_OK) return status;
    find_ranges(&t, c);
    size_t empty = find_empty(&t, &is_zero);
    return empty == t.n ? KBASS_OK : refuse_nil(&t, empty, is_zero, text, error);
}
