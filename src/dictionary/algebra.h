/* The algebra behind expressions: a sum of products of powers of atoms, kept in canonical order while it is built.
 *
 *     poly    = c1 * product1 + c2 * product2 + ...     sorted by degree, then by factors
 *     product = atom1^e1 * atom2^e2 * ...               sorted by atom, each once, e a number other than 0
 *     atom    = variable | function(poly) | (poly) | poly^poly | min(poly,poly) | max(poly,poly)
 *
 * A sum inside a product stays a group, (poly); only kb_poly_expand multiplies out. A group raised to an integer has at
 * least two terms, integer coefficients without common divisor or any others, and a positive first coefficient.
 * Everything is immutable and lives in an arena, which goes as a whole. A function that fails returns NULL and leaves
 * the reason in arena->problem; one that is handed NULL returns NULL.
 */
#ifndef KB_ALGEBRA_H
#define KB_ALGEBRA_H

#include "dictionary/expression.h"

/* name, value, slope; of the argument v. A slope is that beside a jump: sign, step and floor have 0. */
#define KB_FUNCTION_TABLE(X)                                                                                           \
    X(sin, sin(v), cos(v))                                                                                             \
    X(cos, cos(v), -sin(v))                                                                                            \
    X(tan, tan(v), 1 + tan(v) * tan(v))                                                                                \
    X(exp, exp(v), exp(v))                                                                                             \
    X(log, log(v), 1 / v)                                                                                              \
    X(sqrt, sqrt(v), 0.5 / sqrt(v))                                                                                    \
    X(abs, fabs(v), v > 0 ? 1 : v < 0 ? -1 : 0 * v)                                                                    \
    X(tanh, tanh(v), 1 - tanh(v) * tanh(v))                                                                            \
    X(sinh, sinh(v), cosh(v))                                                                                          \
    X(cosh, cosh(v), sinh(v))                                                                                          \
    X(asin, asin(v), 1 / sqrt(1 - v * v))                                                                              \
    X(acos, acos(v), -1 / sqrt(1 - v * v))                                                                             \
    X(atan, atan(v), 1 / (1 + v * v))                                                                                  \
    X(sign, v > 0 ? 1 : v < 0 ? -1 : 0 * v, 0)                                                                         \
    X(step, v >= 0 ? 1 : v < 0 ? 0 : v, 0)                                                                             \
    X(erf, erf(v), M_2_SQRTPI *exp(-v *v))                                                                             \
    X(floor, floor(v), 0)

/* name, value, whether the slope is that of a (else of b); of two arguments. NaN in either stays NaN. */
#define KB_PAIR_TABLE(X)                                                                                               \
    X(min, a <= b ? a : b < a ? b : NAN, a <= b)                                                                       \
    X(max, a >= b ? a : b > a ? b : NAN, a >= b)

#define KB_FUNCTION_ENUM(name, value, slope) KB_FUNCTION_##name,
enum { KB_FUNCTION_TABLE(KB_FUNCTION_ENUM) KB_FUNCTION_COUNT };
extern const char *const kb_function_names[KB_FUNCTION_COUNT];

#define KB_PAIR_ENUM(name, value, is_first) KB_PAIR_##name,
enum { KB_PAIR_TABLE(KB_PAIR_ENUM) KB_PAIR_COUNT };
extern const char *const kb_pair_names[KB_PAIR_COUNT];

/* Does the function jump? */
bool kb_function_jumps(size_t function);

enum { KB_EXPANSION_LIMIT = 4096, KB_EXPANSION_POWER = 64 };

typedef enum { KB_FINE = 0, KB_NO_MEMORY, KB_TOO_LARGE, KB_NOT_FINITE } kb_algebra_problem;
typedef struct kb_block kb_block;
typedef struct {
    kb_block *blocks;
    size_t total;
    kb_algebra_problem problem;
} kb_arena;

typedef enum { KB_VARIABLE, KB_FUNCTION, KB_GROUP, KB_POWER, KB_PAIR } kb_atom_kind;
typedef struct kb_atom kb_atom;
typedef struct {
    const kb_atom *atom;
    double exponent;
} kb_factor;
typedef struct {
    double coefficient;
    size_t n;
    const kb_factor *factors;
    int degree;
} kb_product;
typedef struct {
    size_t n;
    const kb_product *terms;
} kb_poly;
struct kb_atom {
    kb_atom_kind kind;
    int degree;
    size_t index;            /* of the variable or function */
    const kb_poly *inside;   /* argument, group or base */
    const kb_poly *exponent; /* of a power; the second argument of a pair */
};

void *kb_arena_allocate(kb_arena *arena, size_t bytes);
void kb_arena_clear(kb_arena *arena);

const kb_poly *kb_poly_number(kb_arena *arena, double number);
const kb_poly *kb_poly_variable(kb_arena *arena, size_t index);
const kb_poly *kb_poly_function(kb_arena *arena, size_t function, const kb_poly *argument);
const kb_poly *kb_poly_pair(kb_arena *arena, size_t pair, const kb_poly *a, const kb_poly *b);
const kb_poly *kb_poly_add(kb_arena *arena, const kb_poly *a, const kb_poly *b);
const kb_poly *kb_poly_scale(kb_arena *arena, const kb_poly *a, double number);
const kb_poly *kb_poly_multiply(kb_arena *arena, const kb_poly *a, const kb_poly *b);
const kb_poly *kb_poly_divide(kb_arena *arena, const kb_poly *a, const kb_poly *b);
const kb_poly *kb_poly_power(kb_arena *arena, const kb_poly *a, const kb_poly *b);

/* Without its numeric factor: 2*x -> x, 2+2*y -> 1+y, 7 -> 1. `a` is not zero. */
const kb_poly *kb_poly_bare(kb_arena *arena, const kb_poly *a);
/* Products of sums and their whole powers multiplied out; at most KB_EXPANSION_LIMIT terms. */
const kb_poly *kb_poly_expand(kb_arena *arena, const kb_poly *a);

bool kb_poly_is_number(const kb_poly *a, double *number);
int kb_poly_degree(const kb_poly *a);
int kb_atom_compare(const kb_atom *a, const kb_atom *b);
int kb_product_compare(const kb_product *a, const kb_product *b); /* coefficients left aside */

/* The text lives in the arena. */
const char *kb_poly_print(kb_arena *arena, const kb_poly *a, kb_variables variables);
kbass_status kb_poly_parse(kb_arena *arena, const char *text, kb_variables variables, const kb_poly **out,
                           kbass_error *error);
/* The arena's problem in words, pointing at the position of the text. */
kbass_status kb_arena_fail(const kb_arena *arena, const char *text, size_t position, kbass_error *error);

#endif
