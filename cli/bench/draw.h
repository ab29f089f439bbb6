/* Random sparse polynomial systems, and records of them: what calibration is measured on. */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "kbass/kbass.h"

enum {
    DRAW_STATES = 3,
    DRAW_TERMS = 3,
    DRAW_DEGREE = 3,
    DRAW_TERM_SIZE = 24,
    DRAW_EQUATION_SIZE = 160,
    DRAW_SAMPLES = 60,
    DRAW_FINE = 101
};

typedef struct {
    size_t n_states, n_terms[DRAW_STATES];
    char term[DRAW_STATES][DRAW_TERMS][DRAW_TERM_SIZE]; /* "x^2*y" */
    double weight[DRAW_STATES][DRAW_TERMS];
    char equation[DRAW_STATES][DRAW_EQUATION_SIZE]; /* "x_t = 1.5*y - 0.7*x^2*y" */
    size_t n_samples;
    double span, noise;                            /* noise: percent of each state's standard deviation, */
    double sigma[DRAW_STATES], start[DRAW_STATES]; /* in the state's unit; where the solution begins */
    double clearness; /* the smallest weight over its sd, when the law's terms are known; NaN: not known */
    kbass_data *data, *clean;
    /* without noise, on DRAW_FINE times over the record, and as many over one more */
    double times[2 * DRAW_FINE], states[2 * DRAW_FINE * DRAW_STATES];
} bench_draw;

/* What is drawn: systems with a law, the same with 6 to 15 samples, noise about a constant, random walks, smooth random
   curves, growth and decay curves of one state, systems with a law whose last state was not measured, laws with a term
   that no polynomial has (sin, a quotient), and systems of 2 or 3 states with 6 to 15 samples and 30 to 100 candidates;
   systems of 1 or 2 states, growth and decay among them, with every weight above 6 sds; and fields over one closed axis
   of a law, of none, and of a law outside their dictionary. */
typedef enum {
    DRAW_LAW,
    DRAW_FEW,
    DRAW_NOISE,
    DRAW_WALK,
    DRAW_SMOOTH,
    DRAW_GROWTH,
    DRAW_HIDDEN,
    DRAW_OUTSIDE,
    DRAW_MANY,
    DRAW_DECIDABLE,
    DRAW_FIELD,
    DRAW_FIELD_NONE,
    DRAW_FIELD_OUTSIDE,
    DRAW_KINDS
} bench_draw_kind;
extern const char *const bench_draw_kinds[DRAW_KINDS];

/* 1 to 3 states; 1 to 3 of all monomials up to degree 3 in each equation, with weights from 0.3 to 2 of either sign;
   starts within 1.5; records of length 4 or 8 with 20 to 60 samples and 1 to 20 % noise. Systems whose states leave 20
   within two record lengths, or move by less than 0.02 in sd, are drawn anew. False when memory runs out. */
bool bench_draw_make(uint64_t seed, bench_draw_kind kind, bench_draw *draw);
void bench_draw_clear(bench_draw *draw);

bool bench_draw_has_terms(bench_draw_kind kind); /* the law is one of the dictionary, all of it was measured */
bool bench_draw_is_field(bench_draw_kind kind);
/* Keeps a copy of the data as they are, and adds the noise. */
kbass_status bench_draw_measure(bench_draw *draw, uint64_t seed, kbass_error *error);

/* The true weight of a term, 0 when it is not in the equation. */
double bench_draw_weight(const bench_draw *draw, size_t state, const char *term);

#endif
