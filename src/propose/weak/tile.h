/* The weak form of fields on a grid: tile in, message out, messages add (docs/math.md, section 35).
 *
 * A tile is a box of the grid with all fields on it. Against bumps phi, products over the axes of (1 - s^2)^p, a term
 * that is a derivative of a product of powers needs no derivative of the data,
 *
 *     int phi u_t = - int phi_t u,      int phi D^k m(u) = (-1)^|k| int (D^k phi) m(u)
 *
 * and noise of known variance leaves no bias where powers are Hermite's polynomials. Other terms are evaluated on the
 * bare field and its derivatives (`bare`) and integrated against the same bumps. What a tile says is the Gram matrix of
 * all integrals over its bumps: of the terms and of the left-hand sides. Tiles of one width add, whoever has them: a
 * tile is read, integrated and forgotten.
 */
#ifndef KB_PROPOSE_WEAK_TILE_H
#define KB_PROPOSE_WEAK_TILE_H

#include "dictionary/dictionary.h"

/* factor D^order m(u): a pure derivative, or else a term to be evaluated on the bare field. */
typedef struct {
    bool is_pure;
    size_t monomial;
    int order[KB_MAX_AXES]; /* time first */
    double factor;
} kb_weak_integral;

/* What is integrated: the dictionary's terms, then the left-hand side of each field. */
typedef struct {
    const kb_dictionary *dictionary;
    size_t n_axes, n_fields, n; /* n: integrals, n_terms + n_fields */
    kb_weak_integral *integral;
    size_t n_monomials, n_impure;
    int *power; /* n_monomials x n_fields, the field fastest */
} kb_weak_form;

typedef struct {
    size_t n_axes, n_fields;
    size_t n[KB_MAX_AXES];         /* points along each axis, time first */
    const double *at[KB_MAX_AXES]; /* coordinates, ascending */
    size_t n_centres[KB_MAX_AXES];
    const double *centre[KB_MAX_AXES]; /* of the bumps, which lie within the tile */
    double half[KB_MAX_AXES];          /* their half widths */
    const double *value;               /* fields one after another, the last axis fastest; NaN: not measured */
    const double *bare;                /* points x variables of the dictionary, column-major; NULL: pure terms only */
    const double *noise;               /* n_fields: variance */
} kb_weak_tile;

/* Sums over bumps. */
typedef struct {
    size_t n;
    double *gram; /* n x n, both triangles: integrals of the form */
    double count; /* bumps */
} kb_weak_message;

kbass_status kb_weak_form_create(const kb_dictionary *dictionary, kb_weak_form **out, kbass_error *error);
void kb_weak_form_destroy(kb_weak_form *form);

kbass_status kb_weak_message_create(const kb_weak_form *form, kb_weak_message **out, kbass_error *error);
void kb_weak_message_destroy(kb_weak_message *message);
void kb_weak_message_add(kb_weak_message *message, const kb_weak_message *other);

/* Adds what a tile says. Bumps that touch a value that was not measured are left out. */
kbass_status kb_weak_tile_integrate(const kb_weak_form *form, const kb_weak_tile *tile, kb_weak_message *message,
                                    kbass_error *error);

#endif
