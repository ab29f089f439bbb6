#include "forward/rhs.h"

#include "base/memory.h"
#include "base/status.h"

kbass_status kb_rhs_create(const kb_dictionary *dictionary, const kb_columns *columns, size_t max_tangents, kb_rhs *out,
                           kbass_error *error)
{
    size_t n = dictionary->n_terms, entries = columns->n + columns->n_fixed;
    *out = (kb_rhs){.columns = columns, .n_dictionary = n};
    out->terms = KB_NEW(size_t, n);
    out->slot = KB_NEW(size_t, n);
    out->entry_equation = KB_NEW(size_t, entries);
    out->entry_slot = KB_NEW(size_t, entries);
    out->entry_run = KB_NEW(size_t, entries);
    out->entry_coefficient = KB_NEW(double, entries);
    out->tangent_equation = KB_NEW(size_t, max_tangents);
    out->tangent_slot = KB_NEW(size_t, max_tangents);
    out->tangent_run = KB_NEW(size_t, max_tangents);
    out->tangent_scale = KB_NEW(double, max_tangents);
    if (out->terms && out->slot && out->entry_equation && out->entry_slot && out->entry_coefficient &&
        out->tangent_equation && out->tangent_slot && out->tangent_scale && out->entry_run && out->tangent_run)
        return KBASS_OK;
    kb_rhs_clear(out);
    return kb_out_of_memory(error, "the right-hand side");
}

void kb_rhs_clear(kb_rhs *rhs)
{
    kb_free(rhs->terms);
    kb_free(rhs->slot);
    kb_free(rhs->entry_equation);
    kb_free(rhs->entry_slot);
    kb_free(rhs->entry_run);
    kb_free(rhs->entry_coefficient);
    kb_free(rhs->tangent_equation);
    kb_free(rhs->tangent_slot);
    kb_free(rhs->tangent_run);
    kb_free(rhs->tangent_scale);
    *rhs = (kb_rhs){0};
}

static size_t slot_of(kb_rhs *rhs, size_t term)
{
    if (rhs->slot[term] == KB_NO_SLOT) {
        rhs->slot[term] = rhs->n_terms;
        rhs->terms[rhs->n_terms++] = term;
    }
    return rhs->slot[term];
}

static void add_entry(kb_rhs *rhs, size_t equation, size_t term, size_t run, double coefficient)
{
    rhs->entry_run[rhs->n_entries] = run;
    rhs->entry_equation[rhs->n_entries] = equation;
    rhs->entry_slot[rhs->n_entries] = slot_of(rhs, term);
    rhs->entry_coefficient[rhs->n_entries++] = coefficient;
}

void kb_rhs_set(kb_rhs *rhs, const kb_support *support, const double *w, const kb_support *tangents)
{
    const kb_columns *c = rhs->columns;
    for (size_t term = 0; term < rhs->n_dictionary; term++) rhs->slot[term] = KB_NO_SLOT;
    rhs->n_terms = rhs->n_entries = rhs->n_tangents = 0;
    for (size_t q = 0; q < c->n_fixed; q++)
        add_entry(rhs, c->fixed_equation[q], c->fixed_term[q], KB_ALL_RUNS, c->fixed_weight[q]);
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (w[column] != 0)
            add_entry(rhs, c->equation[column], c->term[column], kb_column_run(c, column),
                      w[column] / c->scale[column]);
    }
    rhs->n_model_terms = rhs->n_terms;
    for (size_t q = 0; tangents && q < tangents->n; q++) {
        size_t column = tangents->column[q];
        rhs->tangent_equation[q] = c->equation[column];
        rhs->tangent_slot[q] = slot_of(rhs, c->term[column]);
        rhs->tangent_scale[q] = 1 / c->scale[column];
        rhs->tangent_run[q] = kb_column_run(c, column);
        rhs->n_tangents++;
    }
}

static bool holds(size_t its, size_t run) { return its == KB_ALL_RUNS || its == run; }

void kb_rhs_keep_run(kb_rhs *rhs, size_t run)
{
    size_t n = 0;
    for (size_t e = 0; e < rhs->n_entries; e++) {
        if (!holds(rhs->entry_run[e], run)) continue;
        rhs->entry_run[n] = rhs->entry_run[e];
        rhs->entry_equation[n] = rhs->entry_equation[e];
        rhs->entry_slot[n] = rhs->entry_slot[e];
        rhs->entry_coefficient[n++] = rhs->entry_coefficient[e];
    }
    rhs->n_entries = n;
    for (size_t q = 0; q < rhs->n_tangents; q++)
        if (!holds(rhs->tangent_run[q], run)) rhs->tangent_scale[q] = 0;
}
