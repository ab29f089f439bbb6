#include "data/long_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* A long row; `slot` is the wide row that its value goes to. */
typedef struct {
    const kbass_data *data;
    double run;
    size_t row, word, slot;
} entry;

typedef struct {
    size_t n, n_slots, n_words; /* n_words: those that occur */
    entry *entries;             /* n */
    size_t *place;              /* by word: its state, in the order of the rows */
} widening;

/* ---------------------------------------------------------------- rows */

static int compare(double a, double b) { return (a > b) - (a < b); }

static int compare_places(const entry *a, const entry *b)
{
    int order = compare(a->run, b->run);
    for (size_t axis = 0; !order && axis < a->data->n_axes; axis++)
        order = compare(kb_data_coordinate(a->data, a->row, axis), kb_data_coordinate(b->data, b->row, axis));
    return order;
}

static int by_place(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    int order = compare_places(a, b);
    return order ? order : compare((double)a->row, (double)b->row);
}

/* The k-th value of a word at one place goes to the k-th wide row of that place. */
static bool assign_slots(widening *w)
{
    size_t *count = KB_NEW(size_t, w->n_words), *met = KB_NEW(size_t, w->n_words);
    for (size_t begin = 0, end; count && met && begin < w->n; begin = end) {
        size_t most = 0;
        for (end = begin; end < w->n && !compare_places(&w->entries[begin], &w->entries[end]); end++) {
            entry *e = &w->entries[end];
            size_t state = w->place[e->word];
            if (met[state] != begin + 1) count[state] = 0;
            met[state] = begin + 1;
            e->slot = w->n_slots + count[state]++;
            if (count[state] > most) most = count[state];
        }
        w->n_slots += most;
    }
    kb_free(met);
    kb_free(count);
    return count && met;
}

/* Rows without a name are left out. */
static bool collect(widening *w, const kb_long_form *form, const kbass_data *data)
{
    w->entries = KB_NEW(entry, data->n_rows);
    w->place = KB_NEW(size_t, form->n_words + 1);
    if (!w->entries || !w->place) return false;
    for (size_t i = 0; i < form->n_words; i++) w->place[i] = SIZE_MAX;
    for (size_t row = 0; row < data->n_rows; row++) {
        const double *values = data->values + row * data->n_states;
        if (isnan(values[form->variable])) continue;
        size_t word = (size_t)values[form->variable];
        if (w->place[word] == SIZE_MAX) w->place[word] = w->n_words++;
        w->entries[w->n++] = (entry){data, form->run == SIZE_MAX ? 0 : values[form->run], row, word, 0};
    }
    qsort(w->entries, w->n, sizeof *w->entries, by_place);
    return assign_slots(w);
}

/* ---------------------------------------------------------------- names */

/* Axes, the run, then the words; all names are different. */
static kbass_status name_states(const widening *w, const kb_long_form *form, kbass_data *data, kbass_error *error)
{
    bool has_run = form->run != SIZE_MAX;
    size_t first = data->n_axes + has_run, n = first + w->n_words;
    char **names = KB_NEW(char *, n);
    kbass_data *named = KB_NEW(kbass_data, 1);
    kbass_status status = names && named ? KBASS_OK : kb_out_of_memory(error, "the names");
    kb_roles roles = {.place = form->place, .n = n, .names = names, .n_axes = data->n_axes};
    for (size_t i = 0; i < data->n_axes; i++) roles.axes[i] = i;
    for (size_t i = 0; status == KBASS_OK && i < data->n_axes; i++) names[i] = data->axis_names[i];
    if (status == KBASS_OK && has_run) names[data->n_axes] = data->state_names[form->run];
    for (size_t i = 0; status == KBASS_OK && i < form->n_words; i++)
        if (w->place[i] != SIZE_MAX) names[first + w->place[i]] = form->words[i];
    if (status == KBASS_OK) status = kb_roles_check(&roles, error);
    if (status == KBASS_OK) status = kb_roles_name(&roles, named, error);
    if (status == KBASS_OK) {
        kbass_data old = *data;
        data->state_names = named->state_names;
        data->state_captions = named->state_captions;
        data->n_states = named->n_states;
        named->state_names = old.state_names;
        named->state_captions = old.state_captions;
        named->n_states = old.n_states;
    }
    kb_free(names);
    kbass_data_destroy(named);
    return status;
}

/* ---------------------------------------------------------------- values */

static void fill(const widening *w, const kb_long_form *form, const kbass_data *from, size_t n_states, kbass_data *to)
{
    size_t width = from->n_axes - 1, has_run = form->run != SIZE_MAX;
    for (size_t i = 0; i < w->n_slots * n_states; i++) to->values[i] = NAN;
    for (size_t i = 0; i < w->n; i++) {
        const entry *e = &w->entries[i];
        double *row = to->values + e->slot * n_states;
        if (has_run) row[0] = e->run;
        row[has_run + w->place[e->word]] = from->values[e->row * from->n_states + form->value];
        to->times[e->slot] = from->times[e->row];
        if (width)
            memcpy(to->positions + e->slot * width, from->positions + e->row * width, width * sizeof *to->positions);
    }
}

kbass_status kb_long_form_widen(const kb_long_form *form, kbass_data *data, kbass_error *error)
{
    widening w = {0};
    kbass_data wide = {0};
    size_t width = data->n_axes - 1;
    bool all = collect(&w, form, data);
    size_t n_states = w.n_words + (form->run != SIZE_MAX);
    if (all) {
        wide.times = KB_NEW(double, w.n_slots + 1);
        wide.values = KB_NEW(double, w.n_slots *n_states + 1);
        wide.positions = width ? KB_NEW(double, w.n_slots *width + 1) : NULL;
    }
    all = all && wide.times && wide.values && (!width || wide.positions);
    if (all) fill(&w, form, data, n_states, &wide);
    kbass_status status = all ? name_states(&w, form, data, error) : kb_out_of_memory(error, "the values");
    if (status == KBASS_OK) {
        kbass_data old = *data;
        data->times = wide.times;
        data->values = wide.values;
        data->positions = wide.positions;
        data->n_rows = w.n_slots;
        wide = old;
    }
    kb_free(wide.times);
    kb_free(wide.values);
    kb_free(wide.positions);
    kb_free(w.entries);
    kb_free(w.place);
    return status;
}
