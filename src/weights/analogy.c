#include "weights/analogy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "weights/message.h"

enum { FEWEST_ALIKE = 3 }; /* equations of a family with one right-hand side: two may be so by chance */

/* ---------------------------------------------------------------- places */

/* How much of a name comes before its number. */
static size_t stem_of(const char *name)
{
    size_t n = strlen(name);
    while (n && isdigit((unsigned char)name[n - 1])) n--;
    return n;
}

static bool are_kin(const char *a, const char *b)
{
    size_t n = stem_of(a);
    return a[n] && b[n] && n == stem_of(b) && !strncmp(a, b, n);
}

static void find_places(const kb_dictionary *d, kb_analogy *a)
{
    for (size_t i = 0; i < d->n_states; i++) {
        const char *own = d->state_names[i];
        double number = strtod(own + stem_of(own), NULL);
        a->family[i] = i;
        a->size[i] = 1;
        for (size_t j = 0; j < d->n_states; j++) {
            const char *other = d->state_names[j];
            if (j == i || !are_kin(own, other)) continue;
            if (j < a->family[i]) a->family[i] = j;
            a->place[i] += strtod(other + stem_of(other), NULL) < number;
            a->size[i]++;
        }
    }
}

/* ---------------------------------------------------------------- kinds of columns */

static uint64_t scatter(uint64_t x) { return kb_splitmix(&x); }

static uint64_t join(uint64_t key, uint64_t number) { return scatter(key ^ scatter(number)); }

/* Places from the equation's to the factor's; of a family with more or fewer, the factor's own: all see the same. */
static uint64_t distance(const kb_analogy *a, size_t equation, size_t state, bool is_ring)
{
    size_t n = a->size[state], from = a->place[equation], to = a->place[state];
    if (n != a->size[equation]) return to;
    return is_ring ? (to + n - from) % n : (uint64_t)to - from;
}

/* Factors come in any order: their keys are added. */
static uint64_t kind_of(const kb_analogy *a, const kb_dictionary *d, size_t equation, size_t term, bool is_ring)
{
    uint64_t sum = 0;
    if (!d->is_monomial[term] || a->size[equation] < FEWEST_ALIKE) return 0;
    for (size_t f = d->factor_start[term]; f < d->factor_start[term + 1]; f++) {
        size_t variable = d->factors[f].variable;
        bool is_state = variable < d->n_states;
        uint64_t key = join(d->factors[f].power, is_state ? a->family[variable] : variable);
        sum += join(key, is_state ? distance(a, equation, variable, is_ring) : 0);
    }
    uint64_t kind = join(scatter(a->family[equation]), sum);
    return kind ? kind : 1;
}

kbass_status kb_analogy_create(const kb_columns *columns, const kb_dictionary *d, bool is_ring, kb_analogy **out,
                               kbass_error *error)
{
    kb_analogy *a = KB_NEW(kb_analogy, 1);
    if (!a) return kb_out_of_memory(error, "the search");
    a->n_states = d->n_states;
    a->family = KB_NEW(size_t, d->n_states);
    a->place = KB_NEW(size_t, d->n_states);
    a->size = KB_NEW(size_t, d->n_states);
    a->kind = KB_NEW(uint64_t, columns->n);
    if (!a->family || !a->place || !a->size || !a->kind) {
        kb_analogy_destroy(a);
        return kb_out_of_memory(error, "the search");
    }
    find_places(d, a);
    for (size_t c = 0; c < columns->n; c++) a->kind[c] = kind_of(a, d, columns->equation[c], columns->term[c], is_ring);
    *out = a;
    return KBASS_OK;
}

void kb_analogy_destroy(kb_analogy *a)
{
    if (!a) return;
    kb_free(a->family);
    kb_free(a->place);
    kb_free(a->size);
    kb_free(a->kind);
    kb_free(a);
}

/* ---------------------------------------------------------------- right-hand sides */

/* The columns of an equation, and those of a support among them. */
typedef struct {
    size_t first, end;
    size_t n, *column; /* of the support */
    uint64_t key;      /* of the right-hand side; 0: like no other */
} side;

static side next_side(const kb_analogy *a, const kb_columns *columns, const kb_support *support, size_t first)
{
    side s = {.first = first, .end = kb_columns_end(columns, first), .key = 1};
    size_t from = 0;
    while (from < support->n && support->column[from] < first) from++;
    s.column = support->column + from;
    while (from + s.n < support->n && s.column[s.n] < s.end) s.n++;
    for (size_t q = 0; q < s.n; q++) {
        uint64_t kind = a->kind[s.column[q]];
        s.key = kind && s.key ? s.key + scatter(kind) : 0;
    }
    if (!s.n) s.key = 0;
    return s;
}

/* How many equations of a family have a right-hand side. */
static size_t count_like(const kb_analogy *a, const kb_columns *columns, const kb_support *support, size_t family,
                         uint64_t key)
{
    size_t n = 0;
    for (size_t first = 0; first < columns->n;) {
        side s = next_side(a, columns, support, first);
        n += a->family[columns->equation[first]] == family && s.key == key;
        first = s.end;
    }
    return n;
}

/* The most frequent right-hand side of a family but for one; where equally many have two, the first. */
static size_t most_frequent(const kb_analogy *a, const kb_columns *columns, const kb_support *support, size_t family,
                            uint64_t except, side *best)
{
    size_t most = 0;
    for (size_t first = 0; first < columns->n;) {
        side s = next_side(a, columns, support, first);
        first = s.end;
        if (!s.key || s.key == except || a->family[columns->equation[s.first]] != family) continue;
        size_t n = count_like(a, columns, support, family, s.key);
        if (n > most) most = n, *best = s;
    }
    return most;
}

static size_t find_kind(const kb_analogy *a, const side *s, uint64_t kind)
{
    for (size_t c = s->first; c < s->end; c++)
        if (a->kind[c] == kind) return c;
    return KB_NO_COLUMN;
}

/* Does an equation have all columns of a model right-hand side, and does that have all that are required of it? */
static bool can_take(const kb_analogy *a, const kb_columns *columns, const side *s, const side *model)
{
    size_t n_required = 0, n_met = 0;
    for (size_t c = s->first; c < s->end; c++) n_required += columns->required[c];
    for (size_t q = 0; q < model->n; q++) {
        size_t column = find_kind(a, s, a->kind[model->column[q]]);
        if (column == KB_NO_COLUMN) return false;
        n_met += columns->required[column];
    }
    return n_met == n_required;
}

/* Mean weight of a kind of column over the equations that have the right-hand side `key`, in the data's units. */
static double mean_weight(const kb_analogy *a, const kb_columns *columns, const kb_support *support, const double *w,
                          uint64_t key, uint64_t kind)
{
    double sum = 0, n = 0;
    for (size_t first = 0; first < columns->n;) {
        side s = next_side(a, columns, support, first);
        first = s.end;
        for (size_t q = 0; s.key == key && q < s.n; q++) {
            if (a->kind[s.column[q]] != kind) continue;
            sum += w[s.column[q]] * columns->unit[s.column[q]];
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

static void take(const kb_analogy *a, const kb_columns *columns, const kb_support *support, const double *w,
                 const side *s, const side *model, kb_support *out, double *out_w)
{
    for (size_t q = 0; q < s->n; q++) {
        kb_support_remove(out, s->column[q]);
        out_w[s->column[q]] = 0;
    }
    for (size_t q = 0; q < model->n; q++) {
        uint64_t kind = a->kind[model->column[q]];
        size_t column = find_kind(a, s, kind);
        kb_support_add(out, column);
        out_w[column] = mean_weight(a, columns, support, w, model->key, kind) / columns->unit[column];
    }
}

/* One family; the number of its equations that have the model right-hand side, 0 when none changes. */
static size_t apply_to_family(const kb_analogy *a, const kb_columns *columns, const kb_support *support,
                              const double *w, size_t family, size_t rank, kb_support *out, double *out_w)
{
    side model = {0};
    bool is_changed = false;
    size_t n = most_frequent(a, columns, support, family, 0, &model);
    if (rank && n) n = most_frequent(a, columns, support, family, model.key, &model);
    if (n < FEWEST_ALIKE) return 0;
    for (size_t first = 0; first < columns->n;) {
        side s = next_side(a, columns, support, first);
        first = s.end;
        if (a->family[columns->equation[s.first]] != family || s.key == model.key) continue;
        if (!can_take(a, columns, &s, &model)) continue;
        take(a, columns, support, w, &s, &model, out, out_w);
        is_changed = true;
    }
    return is_changed ? n : 0;
}

size_t kb_analogy_apply(const kb_analogy *a, const kb_columns *columns, const kb_support *support, const double *w,
                        size_t rank, kb_support *out, double *out_w)
{
    size_t n = 0;
    kb_support_copy(support, out);
    memset(out_w, 0, columns->n * sizeof *out_w);
    for (size_t q = 0; q < support->n; q++) out_w[support->column[q]] = w[support->column[q]];
    for (size_t family = 0; family < a->n_states; family++)
        if (a->family[family] == family && a->size[family] >= FEWEST_ALIKE)
            n += apply_to_family(a, columns, support, w, family, rank, out, out_w);
    return n;
}

/* ---------------------------------------------------------------- columns that stay */

static int by_kind(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* How many of n ascending kinds are less than one. */
static size_t count_below(size_t n, const uint64_t *kinds, uint64_t kind)
{
    size_t low = 0;
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (kinds[middle] < kind) low = middle + 1;
        else high = middle;
    }
    return low;
}

kbass_status kb_analogy_spread(const kb_analogy *a, const kb_columns *columns, bool *stays, kbass_error *error)
{
    size_t n = 0;
    uint64_t *kinds = KB_NEW(uint64_t, columns->n);
    if (!kinds) return kb_out_of_memory(error, "the search");
    for (size_t c = 0; c < columns->n; c++)
        if (stays[c] && a->kind[c]) kinds[n++] = a->kind[c];
    qsort(kinds, n, sizeof *kinds, by_kind);
    for (size_t c = 0; c < columns->n; c++) {
        if (stays[c] || !a->kind[c]) continue;
        size_t stay = count_below(n, kinds, a->kind[c] + 1) - count_below(n, kinds, a->kind[c]);
        stays[c] = 2 * stay >= a->size[columns->equation[c]];
    }
    kb_free(kinds);
    return KBASS_OK;
}
