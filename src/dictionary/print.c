/* The canonical text of a poly: no blanks, as few parentheses as read back to the same. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "dictionary/algebra.h"

typedef struct {
    kb_arena *arena;
    kb_variables variables;
    char *text; /* NULL once memory ran out */
    size_t length, size;
} writer;

static void put_poly(writer *w, const kb_poly *a);

static void put(writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->text && w->length + n + 1 > w->size) {
        size_t size = 2 * (w->length + n + 1);
        char *grown = kb_arena_allocate(w->arena, size);
        if (grown) memcpy(grown, w->text, w->length);
        w->text = grown;
        w->size = size;
    }
    if (!w->text) return;
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

static void put_number(writer *w, double number)
{
    char text[KB_NUMBER_SIZE];
    kb_number_print(number, text);
    put(w, text);
}

static void put_bracketed(writer *w, const kb_poly *a, bool needed)
{
    if (needed) put(w, "(");
    put_poly(w, a);
    if (needed) put(w, ")");
}

/* The only factor of a poly that is just that, or NULL. */
static const kb_factor *only_factor(const kb_poly *a)
{
    return a->n == 1 && a->terms[0].n == 1 && a->terms[0].coefficient == 1 ? a->terms[0].factors : NULL;
}

static void put_base(writer *w, const kb_poly *a)
{
    double number;
    const kb_factor *only = only_factor(a);
    bool plain = only && only->exponent == 1 && only->atom->kind != KB_GROUP && only->atom->kind != KB_POWER;
    put_bracketed(w, a, !plain && !(kb_poly_is_number(a, &number) && number >= 0));
}

static void put_power(writer *w, const kb_atom *atom)
{
    const kb_factor *only = only_factor(atom->exponent);
    put_base(w, atom->inside);
    put(w, "^");
    put_bracketed(w, atom->exponent, !(only && only->exponent > 0));
}

static void put_atom(writer *w, const kb_atom *atom)
{
    switch (atom->kind) {
    case KB_VARIABLE: put(w, w->variables.names[atom->index]); break;
    case KB_FUNCTION:
        put(w, kb_function_names[atom->index]);
        put_bracketed(w, atom->inside, true);
        break;
    case KB_GROUP: put_bracketed(w, atom->inside, true); break;
    case KB_POWER: put_power(w, atom); break;
    case KB_PAIR:
        put(w, kb_pair_names[atom->index]);
        put(w, "(");
        put_poly(w, atom->inside);
        put(w, ",");
        put_poly(w, atom->exponent);
        put(w, ")");
        break;
    }
}

static void put_factor(writer *w, const kb_factor *factor)
{
    double power = fabs(factor->exponent);
    bool bracketed = factor->atom->kind == KB_POWER && power != 1;
    if (bracketed) put(w, "(");
    put_atom(w, factor->atom);
    if (bracketed) put(w, ")");
    if (power == 1) return;
    put(w, "^");
    put_number(w, power);
}

static void put_factors(writer *w, const kb_product *a, bool below, const char *separator)
{
    size_t written = 0;
    for (size_t i = 0; i < a->n; i++) {
        if ((a->factors[i].exponent < 0) != below) continue;
        if (written++) put(w, "*");
        else put(w, separator);
        put_factor(w, &a->factors[i]);
    }
}

/* The product without its sign. */
static void put_product(writer *w, const kb_product *a)
{
    size_t n_below = 0;
    for (size_t i = 0; i < a->n; i++) n_below += a->factors[i].exponent < 0;
    bool has_number = fabs(a->coefficient) != 1 || n_below == a->n;
    if (has_number) put_number(w, fabs(a->coefficient));
    put_factors(w, a, false, has_number ? "*" : "");
    put_factors(w, a, true, n_below > 1 ? "/(" : "/");
    if (n_below > 1) put(w, ")");
}

static void put_poly(writer *w, const kb_poly *a)
{
    if (!a->n) put(w, "0");
    for (size_t i = 0; i < a->n; i++) {
        if (a->terms[i].coefficient < 0) put(w, "-");
        else if (i) put(w, "+");
        put_product(w, &a->terms[i]);
    }
}

const char *kb_poly_print(kb_arena *arena, const kb_poly *a, kb_variables variables)
{
    enum { USUAL = 64 };
    writer w = {arena, variables, kb_arena_allocate(arena, USUAL), 0, USUAL};
    put_poly(&w, a);
    return w.text;
}
