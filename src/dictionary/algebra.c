#include "dictionary/algebra.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define FUNCTION_NAME(name, value, slope) #name,
const char *const kb_function_names[KB_FUNCTION_COUNT] = {KB_FUNCTION_TABLE(FUNCTION_NAME)};

#define PAIR_NAME(name, value, is_first) #name,
const char *const kb_pair_names[KB_PAIR_COUNT] = {KB_PAIR_TABLE(PAIR_NAME)};

bool kb_function_jumps(size_t function)
{
    return function == KB_FUNCTION_sign || function == KB_FUNCTION_step || function == KB_FUNCTION_floor;
}

enum { DEGREE_LIMIT = 1000, EXPANSION_WORK = 1 << 20 };

/* ---------------------------------------------------------------- order */

int kb_poly_degree(const kb_poly *a)
{
    int degree = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->terms[i].degree > degree) degree = a->terms[i].degree;
    return degree;
}

static int bounded(double degree) { return degree < DEGREE_LIMIT ? (int)degree : DEGREE_LIMIT; }

static int product_degree(size_t n, const kb_factor *factors)
{
    double degree = 0;
    bool is_quotient = false;
    for (size_t i = 0; i < n; i++) {
        degree += ceil(fabs(factors[i].exponent) * factors[i].atom->degree);
        is_quotient |= factors[i].exponent < 0;
    }
    return bounded(degree + is_quotient);
}

static int order(double a, double b) { return (a > b) - (a < b); }

/* Lower degrees first, then earlier atoms, then higher powers: 1, x, y, x^2, x*y, y^2. */
int kb_product_compare(const kb_product *a, const kb_product *b)
{
    int result = order(a->degree, b->degree);
    for (size_t i = 0; !result && i < a->n && i < b->n; i++) {
        result = kb_atom_compare(a->factors[i].atom, b->factors[i].atom);
        if (!result) result = order(b->factors[i].exponent, a->factors[i].exponent);
    }
    return result ? result : order((double)b->n, (double)a->n);
}

static int poly_compare(const kb_poly *a, const kb_poly *b)
{
    int result = 0;
    for (size_t i = 0; !result && i < a->n && i < b->n; i++) {
        result = kb_product_compare(&a->terms[i], &b->terms[i]);
        if (!result) result = order(a->terms[i].coefficient, b->terms[i].coefficient);
    }
    return result ? result : order((double)a->n, (double)b->n);
}

int kb_atom_compare(const kb_atom *a, const kb_atom *b)
{
    if (a == b) return 0;
    int result = order(a->kind, b->kind);
    if (!result) result = order((double)a->index, (double)b->index);
    if (!result && a->inside) result = poly_compare(a->inside, b->inside);
    if (!result && a->exponent) result = poly_compare(a->exponent, b->exponent);
    return result;
}

/* ---------------------------------------------------------------- building blocks */

static const kb_poly *poly_of(kb_arena *arena, size_t n, const kb_product *terms)
{
    kb_poly *poly = kb_arena_allocate(arena, sizeof *poly);
    if (poly) *poly = (kb_poly){n, terms};
    return poly;
}

static const kb_poly *poly_of_product(kb_arena *arena, kb_product product)
{
    kb_product *term = kb_arena_allocate(arena, sizeof *term);
    if (!term) return NULL;
    *term = product;
    return poly_of(arena, 1, term);
}

static const kb_poly *not_finite(kb_arena *arena)
{
    arena->problem = KB_NOT_FINITE;
    return NULL;
}

static bool product_of_atom(kb_arena *arena, kb_atom atom, double exponent, kb_product *out)
{
    kb_atom *kept = kb_arena_allocate(arena, sizeof *kept);
    kb_factor *factor = kb_arena_allocate(arena, sizeof *factor);
    if (!kept || !factor) return false;
    *kept = atom;
    *factor = (kb_factor){kept, exponent};
    *out = (kb_product){1, 1, factor, product_degree(1, factor)};
    return true;
}

static const kb_poly *poly_of_atom(kb_arena *arena, kb_atom atom, double exponent)
{
    kb_product product;
    return product_of_atom(arena, atom, exponent, &product) ? poly_of_product(arena, product) : NULL;
}

static kb_atom group_of(const kb_poly *inside)
{
    return (kb_atom){.kind = KB_GROUP, .degree = kb_poly_degree(inside), .inside = inside};
}

/* Each coefficient times numerator / denominator, the division last so that whole quotients are exact. */
static const kb_poly *poly_times(kb_arena *arena, const kb_poly *a, double numerator, double denominator)
{
    kb_product *terms = kb_arena_allocate(arena, a->n * sizeof *terms);
    if (!terms) return NULL;
    for (size_t i = 0; i < a->n; i++) {
        terms[i] = a->terms[i];
        terms[i].coefficient = terms[i].coefficient * numerator / denominator;
        if (!isfinite(terms[i].coefficient)) return not_finite(arena);
    }
    return poly_of(arena, a->n, terms);
}

/* a + b, zero when only rounding is left of it. */
static double sum_or_zero(double a, double b)
{
    double sum = a + b;
    return fabs(sum) <= 4 * DBL_EPSILON * fmax(fabs(a), fabs(b)) ? 0 : sum;
}

/* What a group gives to the coefficient before it: its sign, and the divisor of whole coefficients. */
static double content(const kb_poly *a)
{
    double divisor = 0;
    for (size_t i = 0; i < a->n; i++) {
        double rest = fabs(a->terms[i].coefficient);
        if (!(rest <= 0x1p53) || rest != floor(rest)) {
            divisor = 1;
            break;
        }
        while (rest > 0) {
            double remainder = fmod(divisor, rest);
            divisor = rest;
            rest = remainder;
        }
    }
    return a->terms[0].coefficient < 0 ? -divisor : divisor;
}

/* A nonzero poly as one product: its only term, or a group. */
static bool as_product(kb_arena *arena, const kb_poly *a, kb_product *out)
{
    *out = a->terms[0];
    if (a->n == 1) return true;
    double outside = content(a);
    const kb_poly *inside = outside == 1 ? a : poly_times(arena, a, 1, outside);
    if (!inside || !product_of_atom(arena, group_of(inside), 1, out)) return false;
    out->coefficient = outside;
    return true;
}

static bool is_lone_group(const kb_product *a)
{
    return a->n == 1 && a->factors[0].atom->kind == KB_GROUP && a->factors[0].exponent == 1;
}

static bool is_whole(double number) { return number == floor(number); }

/* ---------------------------------------------------------------- products */

/* out = a * b^power, for whole powers */
static bool product_merge(kb_arena *arena, const kb_product *a, const kb_product *b, double power, kb_product *out)
{
    kb_factor *factors = kb_arena_allocate(arena, (a->n + b->n) * sizeof *factors);
    if (!factors) return false;
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        int side = i == a->n ? 1 : j == b->n ? -1 : kb_atom_compare(a->factors[i].atom, b->factors[j].atom);
        kb_factor factor = side <= 0 ? a->factors[i] : (kb_factor){b->factors[j].atom, 0};
        if (side >= 0) factor.exponent = sum_or_zero(factor.exponent, b->factors[j].exponent * power);
        if (!isfinite(factor.exponent)) return not_finite(arena), false;
        if (factor.exponent != 0) factors[n++] = factor;
        i += side <= 0;
        j += side >= 0;
    }
    *out = (kb_product){a->coefficient * pow(b->coefficient, power), n, factors, product_degree(n, factors)};
    return true;
}

/* Does merging leave a group to open: a whole power of one term, or of a sum with content? */
static bool can_open(const kb_factor *factor)
{
    const kb_atom *atom = factor->atom;
    return atom->kind == KB_GROUP && is_whole(factor->exponent) && (atom->inside->n == 1 || content(atom->inside) != 1);
}

static bool open_groups(kb_arena *arena, kb_product *product)
{
    for (size_t i = 0; i < product->n;) {
        kb_factor factor = product->factors[i];
        if (!can_open(&factor)) {
            i++;
            continue;
        }
        kb_product one = {1, 1, &factor, 0}, without, inside;
        if (!product_merge(arena, product, &one, -1, &without)) return false;
        if (!as_product(arena, factor.atom->inside, &inside)) return false;
        if (!product_merge(arena, &without, &inside, factor.exponent, product)) return false;
        i = 0;
    }
    return true;
}

static const kb_poly *poly_settle(kb_arena *arena, kb_product product)
{
    if (!open_groups(arena, &product)) return NULL;
    if (!isfinite(product.coefficient)) return not_finite(arena);
    if (product.coefficient == 0) return poly_of(arena, 0, NULL);
    if (is_lone_group(&product) && fabs(product.coefficient) == 1)
        return poly_times(arena, product.factors[0].atom->inside, product.coefficient, 1);
    return poly_of_product(arena, product);
}

/* ---------------------------------------------------------------- operations */

bool kb_poly_is_number(const kb_poly *a, double *number)
{
    *number = a->n ? a->terms[0].coefficient : 0;
    return a->n == 0 || (a->n == 1 && a->terms[0].n == 0);
}

const kb_poly *kb_poly_number(kb_arena *arena, double number)
{
    if (!isfinite(number)) return not_finite(arena);
    return number == 0 ? poly_of(arena, 0, NULL) : poly_of_product(arena, (kb_product){.coefficient = number});
}

const kb_poly *kb_poly_variable(kb_arena *arena, size_t index)
{
    return poly_of_atom(arena, (kb_atom){.kind = KB_VARIABLE, .degree = 1, .index = index}, 1);
}

#define FUNCTION_FOLD(name, value, slope)                                                                              \
    case KB_FUNCTION_##name: return value;

static double function_value(size_t function, double v)
{
    switch (function) {
        KB_FUNCTION_TABLE(FUNCTION_FOLD)
    }
    return NAN;
}

const kb_poly *kb_poly_function(kb_arena *arena, size_t function, const kb_poly *argument)
{
    double number;
    if (!argument) return NULL;
    if (kb_poly_is_number(argument, &number)) return kb_poly_number(arena, function_value(function, number));
    int degree = bounded(1.0 + kb_poly_degree(argument));
    return poly_of_atom(arena, (kb_atom){KB_FUNCTION, degree, function, argument, NULL}, 1);
}

#define PAIR_FOLD(name, value, is_first)                                                                               \
    case KB_PAIR_##name: return value;

static double pair_value(size_t pair, double a, double b)
{
    switch (pair) {
        KB_PAIR_TABLE(PAIR_FOLD)
    }
    return NAN;
}

/* min and max do not mind the order of their arguments: the lower one comes first. */
const kb_poly *kb_poly_pair(kb_arena *arena, size_t pair, const kb_poly *a, const kb_poly *b)
{
    double left, right;
    if (!a || !b) return NULL;
    if (kb_poly_is_number(a, &left) && kb_poly_is_number(b, &right))
        return kb_poly_number(arena, pair_value(pair, left, right));
    int side = poly_compare(a, b), degree = bounded(1.0 + fmax(kb_poly_degree(a), kb_poly_degree(b)));
    if (!side) return a;
    return poly_of_atom(arena, (kb_atom){KB_PAIR, degree, pair, side < 0 ? a : b, side < 0 ? b : a}, 1);
}

static const kb_poly *poly_flatten(kb_arena *arena, const kb_poly *a)
{
    if (a->n != 1 || !is_lone_group(&a->terms[0])) return a;
    return poly_times(arena, a->terms[0].factors[0].atom->inside, a->terms[0].coefficient, 1);
}

const kb_poly *kb_poly_add(kb_arena *arena, const kb_poly *a, const kb_poly *b)
{
    if (!a || !b) return NULL;
    if (!a->n || !b->n) return a->n ? a : b;
    if (!(a = poly_flatten(arena, a)) || !(b = poly_flatten(arena, b))) return NULL;
    kb_product *terms = kb_arena_allocate(arena, (a->n + b->n) * sizeof *terms);
    if (!terms) return NULL;
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        int side = i == a->n ? 1 : j == b->n ? -1 : kb_product_compare(&a->terms[i], &b->terms[j]);
        terms[n] = side <= 0 ? a->terms[i] : b->terms[j];
        if (side == 0) terms[n].coefficient = sum_or_zero(a->terms[i].coefficient, b->terms[j].coefficient);
        if (!isfinite(terms[n].coefficient)) return not_finite(arena);
        n += terms[n].coefficient != 0;
        i += side <= 0;
        j += side >= 0;
    }
    return poly_of(arena, n, terms);
}

const kb_poly *kb_poly_scale(kb_arena *arena, const kb_poly *a, double number)
{
    kb_product product;
    if (!a || !a->n || number == 1) return a;
    if (number == -1 && a->n > 1) return poly_times(arena, a, -1, 1);
    if (!as_product(arena, a, &product)) return NULL;
    product.coefficient *= number;
    return poly_settle(arena, product);
}

const kb_poly *kb_poly_multiply(kb_arena *arena, const kb_poly *a, const kb_poly *b)
{
    double number;
    kb_product left, right, product;
    if (!a || !b) return NULL;
    if (kb_poly_is_number(a, &number)) return kb_poly_scale(arena, b, number);
    if (kb_poly_is_number(b, &number)) return kb_poly_scale(arena, a, number);
    if (!as_product(arena, a, &left) || !as_product(arena, b, &right)) return NULL;
    return product_merge(arena, &left, &right, 1, &product) ? poly_settle(arena, product) : NULL;
}

const kb_poly *kb_poly_divide(kb_arena *arena, const kb_poly *a, const kb_poly *b)
{
    double numerator, denominator;
    if (!a || !b) return NULL;
    if (kb_poly_is_number(a, &numerator) && kb_poly_is_number(b, &denominator))
        return kb_poly_number(arena, numerator / denominator);
    return kb_poly_multiply(arena, a, kb_poly_power(arena, b, kb_poly_number(arena, -1)));
}

static const kb_poly *poly_number_power(kb_arena *arena, const kb_poly *a, double exponent)
{
    double base;
    kb_product inside, unit = {.coefficient = 1}, product;
    if (kb_poly_is_number(a, &base)) return kb_poly_number(arena, pow(base, exponent));
    if (exponent == 0) return kb_poly_number(arena, 1);
    if (exponent == 1) return a;
    if (is_whole(exponent)) {
        if (!as_product(arena, a, &inside) || !product_merge(arena, &unit, &inside, exponent, &product)) return NULL;
        return poly_settle(arena, product);
    }
    const kb_product *only = a->terms;
    bool is_atom = a->n == 1 && only->n == 1 && only->coefficient == 1 && only->factors[0].exponent == 1;
    return poly_of_atom(arena, is_atom ? *only->factors[0].atom : group_of(a), exponent);
}

const kb_poly *kb_poly_power(kb_arena *arena, const kb_poly *a, const kb_poly *b)
{
    double exponent;
    if (!a || !b) return NULL;
    if (kb_poly_is_number(b, &exponent)) return poly_number_power(arena, a, exponent);
    int degree = bounded(1.0 + kb_poly_degree(a) + kb_poly_degree(b));
    return poly_of_atom(arena, (kb_atom){KB_POWER, degree, 0, a, b}, 1);
}

const kb_poly *kb_poly_bare(kb_arena *arena, const kb_poly *a)
{
    kb_product product;
    if (!a || !as_product(arena, a, &product)) return NULL;
    product.coefficient = 1;
    return poly_settle(arena, product);
}

/* ---------------------------------------------------------------- expansion */

static bool can_expand(const kb_factor *factor)
{
    return factor->atom->kind == KB_GROUP && factor->exponent > 0 && is_whole(factor->exponent);
}

static const kb_poly *too_large(kb_arena *arena)
{
    arena->problem = KB_TOO_LARGE;
    return NULL;
}

static const kb_poly *poly_limited(kb_arena *arena, const kb_poly *a)
{
    return a && a->n > KB_EXPANSION_LIMIT ? too_large(arena) : a;
}

static int by_product(const void *a, const void *b) { return kb_product_compare(a, b); }

/* Sorts the terms and adds up equal ones. */
static const kb_poly *poly_collect(kb_arena *arena, size_t n, kb_product *terms)
{
    size_t kept = 0;
    qsort(terms, n, sizeof *terms, by_product);
    for (size_t i = 0, next = 0; i < n; i = next) {
        kb_product sum = terms[i];
        for (next = i + 1; next < n && !kb_product_compare(&sum, &terms[next]); next++)
            sum.coefficient = sum_or_zero(sum.coefficient, terms[next].coefficient);
        if (!isfinite(sum.coefficient)) return not_finite(arena);
        if (sum.coefficient != 0) terms[kept++] = sum;
    }
    return poly_limited(arena, poly_of(arena, kept, terms));
}

/* sum_ij a_i b_j */
static const kb_poly *poly_distribute(kb_arena *arena, const kb_poly *a, const kb_poly *b)
{
    if (a->n * b->n > EXPANSION_WORK) return too_large(arena);
    kb_product *products = kb_arena_allocate(arena, a->n * b->n * sizeof *products);
    if (!products) return NULL;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            kb_product *product = &products[i * b->n + j];
            if (!product_merge(arena, &a->terms[i], &b->terms[j], 1, product)) return NULL;
            if (!open_groups(arena, product)) return NULL;
        }
    return poly_collect(arena, a->n * b->n, products);
}

static const kb_poly *product_expand(kb_arena *arena, const kb_product *a)
{
    const kb_poly *result = kb_poly_number(arena, a->coefficient);
    for (size_t i = 0; result && i < a->n; i++) {
        const kb_factor *factor = &a->factors[i];
        const kb_poly *single = poly_of_atom(arena, *factor->atom, factor->exponent);
        if (!can_expand(factor)) {
            result = single ? poly_distribute(arena, result, single) : NULL;
        } else if (factor->exponent > KB_EXPANSION_POWER) {
            result = too_large(arena);
        } else {
            for (double power = 0; result && power < factor->exponent; power++)
                result = poly_distribute(arena, result, factor->atom->inside);
        }
    }
    return result;
}

static bool is_expanded(const kb_poly *a)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->terms[i].n; k++)
            if (can_expand(&a->terms[i].factors[k])) return false;
    return true;
}

/* By halves, so that long sums are not copied for each term. */
static const kb_poly *expand_terms(kb_arena *arena, size_t n, const kb_product *terms)
{
    if (n < 2) return n ? product_expand(arena, terms) : poly_of(arena, 0, NULL);
    const kb_poly *left = expand_terms(arena, n / 2, terms);
    const kb_poly *right = left ? expand_terms(arena, n - n / 2, terms + n / 2) : NULL;
    return poly_limited(arena, kb_poly_add(arena, left, right));
}

/* Opened groups may hold groups, or meet and make whole powers; each round goes one level down. */
const kb_poly *kb_poly_expand(kb_arena *arena, const kb_poly *a)
{
    while (a && !is_expanded(a)) a = expand_terms(arena, a->n, a->terms);
    return a;
}
