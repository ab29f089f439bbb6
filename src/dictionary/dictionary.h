/* The dictionary: the candidate operators P_j of u_t = sum_j w_j P_j[u], and the role each plays in each equation.
 *
 * Terms are expressions in `n_variables` variables: the fields, their space derivatives, then the axes, time first;
 * for ODE systems the states, then t. Everything that loops over terms loops over this table; nothing else knows what
 * a term looks like.
 */
#ifndef KB_DICTIONARY_H
#define KB_DICTIONARY_H

#include "base/settings.h"
#include "dictionary/expression.h"

typedef enum {
    KB_ABSENT = 0, /* not considered in this equation */
    KB_CANDIDATE,
    KB_REQUIRED, /* known to be in, weight unknown */
    KB_FIXED     /* weight known: part of an equation given by --fix */
} kb_role;

enum { KB_MAX_AXES = KBASS_MAX_AXES, KB_HIGHEST_ORDER = 6 };

/* What a variable stands for: a field, one of its space derivatives, or an axis. */
typedef struct {
    int axis; /* 0: time, 1 and up: space; -1: a field or a derivative of one */
    size_t field;
    int order[KB_MAX_AXES]; /* derivative order along each axis (order[0] is 0); all 0: the field itself */
} kb_variable;

/* Its order in all: 2 for u_xy, 0 for a field or an axis. */
int kb_variable_order(const kb_variable *variable);

/* One factor of a monomial, and where its value stands in the table of powers. */
typedef struct {
    unsigned variable, power, position;
} kb_table_power;

/* An unknown constant inside terms (dictionary/constants.h). */
typedef struct {
    char *name;
    double low, high, value;
    bool is_pattern; /* only the range of K1, K2, ..., which K[*] stands for; or of terms that were left out */
    size_t range_of; /* of --family: the state whose measurements make its range, n_states for the time; else
                        KB_NO_VARIABLE */
} kb_constant;

#define KB_NO_CONSTANT ((size_t)-1)
#define KB_NO_VARIABLE ((size_t)-1)

/* sum of factor * weight over (equation, term) pairs, related to `right`, in the data's units (--constraint). */
typedef struct {
    size_t state, term;
    double factor;
} kb_constraint_part;

typedef struct {
    size_t n;
    kb_constraint_part *parts;
    char relation; /* '=', or of a single part with factor 1 '<' and '>' */
    double right;
} kb_constraint;

/* A term that was added since a constant of another went to an end of its range, where that becomes this one. */
typedef struct {
    size_t term, of, constant;
    bool is_high;
} kb_limit;
enum { KB_MOST_LIMITS = 16 };

typedef struct kb_units kb_units; /* dictionary/dimensions.h */

typedef struct {
    size_t n_states;        /* fields, for PDEs */
    size_t n_axes;          /* 1: time only */
    size_t n_variables;     /* fields, all their derivatives up to the highest order in use, axes */
    kb_variable *variables; /* n_variables: fields; derivatives, lower orders first; axes, time first */
    char **variable_names;  /* n_variables */
    int time_order;         /* of the left-hand side: 1 for u_t, 2 for u_tt */
    size_t n_terms;
    kb_expression **terms;
    char **forms; /* n_terms: "x/(K+x)" of terms with unknown constants, else NULL; NULL: there are none */
    size_t n_constants;
    kb_constant *constants;
    size_t n_limits;
    kb_limit limits[KB_MOST_LIMITS];
    size_t n_constraints;
    kb_constraint *constraints; /* none of them contradicts or repeats the others */
    kb_role *roles;             /* n_terms x n_states: roles[term + state * n_terms] */
    double *fixed_weights;      /* likewise; in the units of the data */
    bool *explained;            /* likewise: --explain asks about it */
    bool *varied;               /* likewise: its weight may differ between runs (--vary) */
    bool *has_equation;         /* n_states: false for states that are only followed (--equation-for) */
    bool *is_known;             /* n_states: equation given by --fix */
    bool *is_input;             /* n_states: a known function of time (--input), without an equation */
    double *input_delay;        /* n_states: by how much it acts late (--input-delay) */
    size_t *delay_constant;     /* n_states: the unknown constant that this is; KB_NO_CONSTANT: none */
    size_t *velocity;   /* n_states: the state x_t whose equation is x_tt = ..., x_t = x_t being known; or n_states */
    char **state_names; /* n_states: the first of variable_names */
    const char *time_name; /* the first axis of variable_names */
    kb_units *units;       /* NULL without --units */
    size_t capacity;       /* of terms */
    /* For kb_dictionary_at_point: powers 0, 1, ... of variable v from table_start[v] on; the factors of term j are
       factors[factor_start[j]] and up to the next term's. */
    size_t *table_start;  /* n_variables + 1 */
    bool *is_monomial;    /* n_terms */
    size_t *factor_start; /* n_terms + 1 */
    kb_table_power *factors;
} kb_dictionary;

kbass_status kb_dictionary_create(const kbass_settings *settings, size_t n_states, const char *const *state_names,
                                  const char *time_name, kb_dictionary **out, kbass_error *error);
/* For fields over time (axis 0) and space. */
kbass_status kb_dictionary_create_fields(const kbass_settings *settings, size_t n_fields,
                                         const char *const *field_names, size_t n_axes, const char *const *axis_names,
                                         kb_dictionary **out, kbass_error *error);
/* Are there enough distinct coordinates, n_points[axis], for the derivatives in use? Order k needs k + 2 of them. */
kbass_status kb_dictionary_check_points(const kb_dictionary *dictionary, const size_t *n_points, kbass_error *error);
void kb_dictionary_destroy(kb_dictionary *dictionary);

kb_variables kb_dictionary_variables(const kb_dictionary *dictionary);
/* What follows the field's name on the left-hand side: "_t" or "_tt". */
const char *kb_dictionary_suffix(const kb_dictionary *dictionary);
/* The same of one state: "t" where it is the velocity x_t of another, whose equation is that of x_tt. */
const char *kb_dictionary_tail(const kb_dictionary *dictionary, size_t state);
/* The state whose velocity this one is; n_states: none. */
size_t kb_dictionary_position(const kb_dictionary *dictionary, size_t state);
/* The term of this canonical name; n_terms when there is none. */
size_t kb_dictionary_find(const kb_dictionary *dictionary, const char *name);
const char *kb_dictionary_name(const kb_dictionary *dictionary, size_t term);
/* Its name with unknown constants by theirs; NULL where it has none. */
const char *kb_dictionary_form(const kb_dictionary *dictionary, size_t term);
/* The term of a form; n_terms when there is none. */
size_t kb_dictionary_find_form(const kb_dictionary *dictionary, const char *form);
/* Factors, and half of every derivative order beyond the first: u_xx 1.5, u*u_x 2, u^2*u_xxx 4. */
double kb_dictionary_degree(const kb_dictionary *dictionary, size_t term);
/* Prior probability of inclusion: 0.2 * 0.5^(degree - 1), the constant as degree 1 (docs/math.md, eq. 7). */
double kb_dictionary_prior(const kb_dictionary *dictionary, size_t term);
double kb_dictionary_log_odds(const kb_dictionary *dictionary, size_t term);
bool kb_dictionary_depends(const kb_dictionary *dictionary, size_t term, size_t variable);

/* Doubles of workspace that the three evaluations below need for n_points points. */
size_t kb_dictionary_work(const kb_dictionary *dictionary, size_t n_points);
/* values[p + q * n_points] = P_{terms[q]} at point p; points: n_points x n_variables, column-major, leading dimension
   ld. */
void kb_dictionary_values(const kb_dictionary *dictionary, size_t n_terms, const size_t *terms, size_t n_points,
                          const double *points, size_t ld, double *values, double *work);
/* slope[p] = d P_term / d variable at point p */
void kb_dictionary_slopes(const kb_dictionary *dictionary, size_t term, size_t variable, size_t n_points,
                          const double *points, size_t ld, double *slope, double *work);
/* One point x (n_variables), for integrators: values[q], and unless NULL slopes[q * n_states + j] =
   d P_{terms[q]} / d x_j where the term depends on x_j, as it was elsewhere; `work` as kb_dictionary_work(dictionary,
   1). Monomials take a fast path through a table of powers. */
void kb_dictionary_at_point(const kb_dictionary *dictionary, size_t n_terms, const size_t *terms, const double *x,
                            double *values, double *slopes, double *work);

#endif
