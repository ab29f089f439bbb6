#include "dictionary/expression.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/program.h"
#include "dictionary/text.h"

/* ---------------------------------------------------------------- from poly to program */

/* Counts on a first walk, writes on a second. */
typedef struct {
    kb_expression *expression;
    size_t n, depth;
} compiler;

static void compile_poly(compiler *c, const kb_poly *a);

static void emit(compiler *c, kb_operation operation, size_t index, double number)
{
    kb_expression *e = c->expression;
    if (e->instructions) e->instructions[c->n] = (kb_instruction){operation, (unsigned)index, number};
    c->n++;
    if (kb_is_push(operation)) c->depth++;
    if (kb_is_binary(operation)) c->depth--;
    if (c->depth > e->stack_size) e->stack_size = c->depth;
}

static void compile_atom(compiler *c, const kb_atom *atom)
{
    if (atom->kind == KB_VARIABLE) {
        c->expression->depends[atom->index] = true;
        emit(c, KB_PUSH_VARIABLE, atom->index, 0);
    } else {
        compile_poly(c, atom->inside);
    }
    if (atom->kind == KB_FUNCTION) emit(c, KB_CALL, atom->index, 0);
    if (atom->kind == KB_POWER || atom->kind == KB_PAIR) {
        compile_poly(c, atom->exponent);
        emit(c, atom->kind == KB_POWER ? KB_RAISE_BY : KB_CALL_PAIR, atom->index, 0);
    }
}

static void compile_product(compiler *c, const kb_product *a)
{
    if (!a->n) emit(c, KB_PUSH_NUMBER, 0, a->coefficient);
    for (size_t i = 0; i < a->n; i++) {
        double exponent = a->factors[i].exponent;
        bool divides = i && exponent < 0;
        if (divides) exponent = -exponent;
        compile_atom(c, a->factors[i].atom);
        if (exponent != 1) emit(c, KB_RAISE, 0, exponent);
        if (i) emit(c, divides ? KB_DIVIDE : KB_MULTIPLY, 0, 0);
    }
    if (a->n && a->coefficient != 1) emit(c, KB_SCALE, 0, a->coefficient);
}

static void compile_poly(compiler *c, const kb_poly *a)
{
    if (!a->n) emit(c, KB_PUSH_NUMBER, 0, 0);
    for (size_t i = 0; i < a->n; i++) {
        compile_product(c, &a->terms[i]);
        if (i) emit(c, KB_ADD, 0, 0);
    }
}

static bool is_monomial(const kb_poly *a)
{
    enum { HIGHEST = 16 }; /* higher powers are left to pow */
    if (a->n != 1 || a->terms[0].coefficient != 1) return false;
    for (size_t i = 0; i < a->terms[0].n; i++) {
        const kb_factor *factor = &a->terms[0].factors[i];
        if (factor->atom->kind != KB_VARIABLE) return false;
        if (!(factor->exponent >= 1 && factor->exponent <= HIGHEST)) return false;
        if (factor->exponent != floor(factor->exponent)) return false;
    }
    return true;
}

static bool list_powers(kb_expression *e, const kb_product *a)
{
    e->is_monomial = true;
    e->n_powers = a->n;
    e->powers = KB_NEW(kb_power, a->n);
    if (!e->powers) return false;
    for (size_t i = 0; i < a->n; i++)
        e->powers[i] = (kb_power){(unsigned)a->factors[i].atom->index, (unsigned)a->factors[i].exponent};
    return true;
}

static bool compile(kb_expression *e, const kb_poly *a)
{
    compiler count = {e, 0, 0}, write = {e, 0, 0};
    compile_poly(&count, a);
    e->n_instructions = count.n;
    e->instructions = KB_NEW(kb_instruction, count.n);
    if (!e->instructions) return false;
    compile_poly(&write, a);
    return true;
}

static kbass_status expression_create(kb_arena *arena, const kb_poly *a, kb_variables variables, kb_expression **out,
                                      kbass_error *error)
{
    kb_expression *e = KB_NEW(kb_expression, 1);
    const char *name = kb_poly_print(arena, a, variables);
    bool is_done = e && name && (e->name = kb_strdup(name)) && (e->depends = KB_NEW(bool, variables.n));
    if (is_done) {
        e->degree = kb_poly_degree(a);
        e->n_variables = variables.n;
        is_done = compile(e, a) && (!is_monomial(a) || list_powers(e, a->terms));
    }
    if (is_done) {
        *out = e;
        return KBASS_OK;
    }
    kb_expression_destroy(e);
    return kb_out_of_memory(error, "an expression");
}

/* ---------------------------------------------------------------- expressions */

/* A canonical name has brackets where the text had none, and may be nested deeper than can be read: names have to be.
 */
static kbass_status check_name(kb_arena *arena, const char *name, kb_variables variables, kbass_error *error)
{
    enum { SURELY_READABLE = 30 };
    size_t nested = 0;
    const kb_poly *again = NULL;
    for (const char *c = name; *c; c++) nested += *c == '(' || *c == '^';
    return nested > SURELY_READABLE ? kb_poly_parse(arena, name, variables, &again, error) : KBASS_OK;
}

kbass_status kb_expression_parse(const char *text, kb_variables variables, kb_expression **out, kbass_error *error)
{
    kb_arena arena = {0};
    const kb_poly *poly = NULL;
    kb_expression *e = NULL;
    kbass_status status = kb_poly_parse(&arena, text, variables, &poly, error);
    if (status == KBASS_OK) status = expression_create(&arena, poly, variables, &e, error);
    if (status == KBASS_OK) status = check_name(&arena, e->name, variables, error);
    if (status == KBASS_OK) *out = e;
    else kb_expression_destroy(e);
    kb_arena_clear(&arena);
    return status;
}

kbass_status kb_expression_term(const char *text, kb_variables variables, kb_expression **out, kbass_error *error)
{
    kb_arena arena = {0};
    const kb_poly *poly = NULL, *bare = NULL;
    kbass_status status = kb_poly_parse(&arena, text, variables, &poly, error);
    if (status == KBASS_OK && !poly->n) status = kb_text_fail(error, text, 0, "the term \"%.60s\" is zero", text);
    if (status == KBASS_OK) bare = kb_poly_bare(&arena, poly);
    if (status == KBASS_OK && !bare) status = kb_arena_fail(&arena, text, 0, error);
    if (status == KBASS_OK) status = expression_create(&arena, bare, variables, out, error);
    kb_arena_clear(&arena);
    return status;
}

kbass_status kb_expression_monomial(const int *powers, kb_variables variables, kb_expression **out, kbass_error *error)
{
    kb_arena arena = {0};
    const kb_poly *poly = kb_poly_number(&arena, 1);
    for (size_t i = 0; poly && i < variables.n; i++) {
        if (!powers[i]) continue;
        const kb_poly *power = kb_poly_power(&arena, kb_poly_variable(&arena, i), kb_poly_number(&arena, powers[i]));
        poly = kb_poly_multiply(&arena, poly, power);
    }
    kbass_status status =
        poly ? expression_create(&arena, poly, variables, out, error) : kb_out_of_memory(error, "an expression");
    kb_arena_clear(&arena);
    return status;
}

void kb_expression_destroy(kb_expression *e)
{
    if (!e) return;
    kb_free(e->name);
    kb_free(e->depends);
    kb_free(e->powers);
    kb_free(e->instructions);
    kb_free(e);
}

const char *kb_expression_name(const kb_expression *e) { return e->name; }

int kb_expression_degree(const kb_expression *e) { return e->degree; }

bool kb_expression_depends(const kb_expression *e, size_t variable)
{
    return variable < e->n_variables && e->depends[variable];
}

/* The program, run on whether a value depends on one of the first n variables. */
bool kb_expression_jumps(const kb_expression *e, size_t n)
{
    enum { DEEPEST = 64 };
    bool stack[DEEPEST] = {false}, jumps = false;
    size_t depth = 0;
    for (size_t k = 0; e->stack_size <= DEEPEST && k < e->n_instructions && !jumps; k++) {
        const kb_instruction *step = &e->instructions[k];
        if (kb_is_push(step->operation)) {
            stack[depth++] = step->operation == KB_PUSH_VARIABLE && step->index < n;
        } else if (kb_is_binary(step->operation)) {
            depth--;
            stack[depth - 1] = stack[depth - 1] || stack[depth];
        } else {
            jumps = step->operation == KB_CALL && kb_function_jumps(step->index) && stack[depth - 1];
        }
    }
    return jumps;
}

bool kb_expression_powers(const kb_expression *e, size_t *n, const kb_power **powers)
{
    *n = e->n_powers;
    *powers = e->powers;
    return e->is_monomial;
}

void kb_expression_renumber(kb_expression *e, size_t n, const size_t *number)
{
    for (size_t v = 0; v < e->n_variables; v++) {
        bool is_used = e->depends[v];
        e->depends[v] = false;
        if (is_used) e->depends[number[v]] = true;
    }
    e->n_variables = n;
    for (size_t i = 0; i < e->n_powers; i++) e->powers[i].variable = (unsigned)number[e->powers[i].variable];
    for (size_t k = 0; k < e->n_instructions; k++) {
        kb_instruction *step = &e->instructions[k];
        if (step->operation == KB_PUSH_VARIABLE) step->index = (unsigned)number[step->index];
    }
}

/* ---------------------------------------------------------------- sums */

static kbass_status sum_fill(kb_arena *arena, const kb_poly *poly, kb_variables variables, kb_sum *sum,
                             kbass_error *error)
{
    sum->coefficients = KB_NEW(double, poly->n);
    sum->terms = KB_NEW(kb_expression *, poly->n);
    if (!sum->coefficients || !sum->terms) return kb_out_of_memory(error, "an equation");
    sum->n = poly->n;
    for (size_t i = 0; i < poly->n; i++) {
        kb_product term = poly->terms[i];
        sum->coefficients[i] = term.coefficient;
        term.coefficient = 1;
        kbass_status status = expression_create(arena, &(kb_poly){1, &term}, variables, &sum->terms[i], error);
        if (status != KBASS_OK) return status;
    }
    return KBASS_OK;
}

kbass_status kb_sum_parse(const char *text, kb_variables variables, kb_sum *out, kbass_error *error)
{
    kb_arena arena = {0};
    kb_sum sum = {0};
    const kb_poly *poly = NULL, *expanded = NULL;
    kbass_status status = kb_poly_parse(&arena, text, variables, &poly, error);
    if (status == KBASS_OK) expanded = kb_poly_expand(&arena, poly);
    if (status == KBASS_OK && !expanded) status = kb_arena_fail(&arena, text, 0, error);
    if (status == KBASS_OK) status = sum_fill(&arena, expanded, variables, &sum, error);
    if (status == KBASS_OK) *out = sum;
    else kb_sum_clear(&sum);
    kb_arena_clear(&arena);
    return status;
}

void kb_sum_clear(kb_sum *sum)
{
    if (!sum) return;
    for (size_t i = 0; i < sum->n; i++) kb_expression_destroy(sum->terms[i]);
    kb_free(sum->coefficients);
    kb_free(sum->terms);
    *sum = (kb_sum){0};
}
