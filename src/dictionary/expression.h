/* Expressions in named variables: parse, print canonically, evaluate, differentiate.
 *
 * Language: numbers, variables, + - * / ^, parentheses, functions of one argument (sin cos tan exp log sqrt abs
 * tanh sinh cosh asin acos atan sign step erf floor), min and max of two; hill(x,K,n) stands for x^n/(K^n+x^n) and
 * monod(x,K) for x/(K+x). `^` binds tightest and to the right, unary minus below it (-x^2 = -(x^2)). Products of powers
 * are kept in canonical order (variables as listed), so that y*x*x and x^2*y are one term with one name.
 */
#ifndef KB_EXPRESSION_H
#define KB_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "kbass/kbass.h"

typedef struct kb_expression kb_expression;

/* The names an expression may use; borrowed by the call only. */
typedef struct {
    size_t n;
    const char *const *names;
} kb_variables;

/* variable^power of a monomial */
typedef struct {
    unsigned variable, power;
} kb_power;

kbass_status kb_expression_parse(const char *text, kb_variables variables, kb_expression **out, kbass_error *error);
/* The same without its numeric factor, which a weight absorbs: 2*x gives x, any number but 0 gives 1. */
kbass_status kb_expression_term(const char *text, kb_variables variables, kb_expression **out, kbass_error *error);
/* The product of variables[i]^powers[i]. */
kbass_status kb_expression_monomial(const int *powers, kb_variables variables, kb_expression **out, kbass_error *error);
void kb_expression_destroy(kb_expression *expression);

/* Canonical name; belongs to the expression. parse(name) gives the same expression. */
const char *kb_expression_name(const kb_expression *expression);
/* Factors counted mildly: total degree of a monomial; functions and quotients count as one more than their inside. */
int kb_expression_degree(const kb_expression *expression);
bool kb_expression_depends(const kb_expression *expression, size_t variable);
/* Does it contain sign, step or floor of something with one of the first n variables in it? */
bool kb_expression_jumps(const kb_expression *expression, size_t n);

/* The powers, at least 1 each, of a product of variables without numeric factor; false for any other expression. */
bool kb_expression_powers(const kb_expression *expression, size_t *n, const kb_power **powers);

/* A sum split into coefficient * term pairs, for equations typed by the user: 2.5*(1-x^2)*y - x gives
   2.5 y, -2.5 x^2*y, -1 x. Terms are canonical expressions owned by the caller. */
typedef struct {
    size_t n;
    double *coefficients;
    kb_expression **terms;
} kb_sum;
kbass_status kb_sum_parse(const char *text, kb_variables variables, kb_sum *out, kbass_error *error);
void kb_sum_clear(kb_sum *sum);

/* Leaves out variables that the expression does not use: variable v becomes number[v] <= v, n are left. */
void kb_expression_renumber(kb_expression *expression, size_t n, const size_t *number);

/* Evaluation needs `kb_expression_work` doubles; nothing is allocated. points: n_points x n_variables, column-major
   with leading dimension ld. value: n_points. */
size_t kb_expression_work(const kb_expression *expression, size_t n_points);
void kb_expression_values(const kb_expression *expression, size_t n_points, const double *points, size_t ld,
                          double *value, double *work);
/* d expression / d variable at each point. */
void kb_expression_slopes(const kb_expression *expression, size_t variable, size_t n_points, const double *points,
                          size_t ld, double *slope, double *work);

#endif
