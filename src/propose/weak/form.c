/* Which terms are pure derivatives of products of powers; messages. */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "propose/weak/tile.h"

/* The place of a product of powers in the list, where it is put if it is new. */
static size_t list_monomial(kb_weak_form *f, const int *power)
{
    size_t i = 0;
    while (i < f->n_monomials && memcmp(f->power + i * f->n_fields, power, f->n_fields * sizeof *power)) i++;
    if (i == f->n_monomials) memcpy(f->power + f->n_monomials++ * f->n_fields, power, f->n_fields * sizeof *power);
    return i;
}

/* m(u), D^k u, and u^p u_x = (u^(p+1))_x / (p + 1) of one field; anything else is not pure. */
static bool is_pure(const kb_dictionary *d, size_t term, int *power, kb_weak_integral *out)
{
    size_t n = 0, field = 0;
    const kb_power *factors = NULL;
    const kb_variable *derivative = NULL;
    if (!kb_expression_powers(d->terms[term], &n, &factors)) return false;
    for (size_t i = 0; i < n; i++) {
        const kb_variable *variable = &d->variables[factors[i].variable];
        if (variable->axis >= 0) return false;
        if (kb_variable_order(variable) == 0) {
            power[variable->field] += (int)factors[i].power;
            continue;
        }
        if (derivative || factors[i].power > 1) return false;
        derivative = variable;
    }
    out->factor = 1;
    if (!derivative) return true;
    field = derivative->field;
    for (size_t i = 0; i < d->n_states; i++)
        if (power[i] > 0 && (i != field || kb_variable_order(derivative) > 1)) return false;
    memcpy(out->order, derivative->order, sizeof out->order);
    out->factor = 1 / (double)(++power[field]);
    return true;
}

static void list_integrals(kb_weak_form *f, int *power)
{
    const kb_dictionary *d = f->dictionary;
    for (size_t term = 0; term < d->n_terms; term++) {
        kb_weak_integral *integral = &f->integral[term];
        memset(power, 0, f->n_fields * sizeof *power);
        integral->is_pure = is_pure(d, term, power, integral);
        f->n_impure += !integral->is_pure;
        if (integral->is_pure) integral->monomial = list_monomial(f, power);
    }
    for (size_t field = 0; field < f->n_fields; field++) {
        memset(power, 0, f->n_fields * sizeof *power);
        power[field] = 1;
        kb_weak_integral *integral = &f->integral[d->n_terms + field];
        *integral = (kb_weak_integral){.is_pure = true, .monomial = list_monomial(f, power), .factor = 1};
        integral->order[0] = d->time_order;
    }
}

kbass_status kb_weak_form_create(const kb_dictionary *dictionary, kb_weak_form **out, kbass_error *error)
{
    kb_weak_form *f = KB_NEW(kb_weak_form, 1);
    if (!f) return kb_out_of_memory(error, "the weak form");
    *f = (kb_weak_form){.dictionary = dictionary,
                        .n_axes = dictionary->n_axes,
                        .n_fields = dictionary->n_states,
                        .n = dictionary->n_terms + dictionary->n_states};
    int *power = KB_NEW(int, f->n_fields);
    f->integral = KB_NEW(kb_weak_integral, f->n);
    f->power = KB_NEW(int, f->n * f->n_fields);
    kbass_status status = power && f->integral && f->power ? KBASS_OK : kb_out_of_memory(error, "the weak form");
    if (status == KBASS_OK) list_integrals(f, power);
    kb_free(power);
    if (status == KBASS_OK) *out = f;
    else kb_weak_form_destroy(f);
    return status;
}

void kb_weak_form_destroy(kb_weak_form *f)
{
    if (!f) return;
    kb_free(f->integral);
    kb_free(f->power);
    kb_free(f);
}

kbass_status kb_weak_message_create(const kb_weak_form *form, kb_weak_message **out, kbass_error *error)
{
    kb_weak_message *m = KB_NEW(kb_weak_message, 1);
    double *gram = KB_NEW(double, form->n * form->n);
    if (!m || !gram) {
        kb_free(m);
        kb_free(gram);
        return kb_out_of_memory(error, "the weak form");
    }
    *m = (kb_weak_message){form->n, gram, 0};
    *out = m;
    return KBASS_OK;
}

void kb_weak_message_destroy(kb_weak_message *m)
{
    if (!m) return;
    kb_free(m->gram);
    kb_free(m);
}

void kb_weak_message_add(kb_weak_message *m, const kb_weak_message *other)
{
    kb_axpy(m->n * m->n, 1, other->gram, m->gram);
    m->count += other->count;
}
