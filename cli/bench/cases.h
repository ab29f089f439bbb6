/* The systems of the paper's result tables: how their data are made, their laws, their dictionaries, the published
 * figures. Sampling follows the data that the paper's authors released where their text and data differ; `note` says
 * so.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "kbass/kbass.h"

enum { BENCH_MOST_TERMS = 24, BENCH_MOST_LEVELS = 3, BENCH_MOST_STATES = 6 };

typedef struct {
    char lhs[12], term[20]; /* "y_t", "x^2*y" */
    double weight;
} bench_term;

typedef struct {
    size_t n;
    bench_term terms[BENCH_MOST_TERMS];
} bench_law;

/* A column of the paper's tables: noise, and what it reports of its own method. */
typedef struct {
    double noise;                   /* percent */
    double rmse, recall, precision; /* NaN: not reported */
} bench_level;

typedef struct {
    const char *key, *title; /* "vdp-10", "van der Pol, 10 samples" */
    const char *system;      /* of `kbass simulate`, or of `kbass data` when it is not simulated */
    bool is_field, is_measured;
    double start[BENCH_MOST_STATES]; /* all 0: the system's own */
    double first, step;              /* samples over time, from the system's start at 0 */
    size_t n;
    size_t grid[2];          /* fields: samples over time, space */
    bool has_absolute_noise; /* p percent is a standard deviation of p/100, not a share of the states' own */
    int degree, box_degree, derivatives, constant; /* the dictionary, as the settings have it */
    const char *law;                               /* "x_t: 1 y; y_t: -1 x, 2.5 y" */
    const char *note;                              /* where it differs from the paper's text, or NULL */
    size_t n_levels;
    bench_level levels[BENCH_MOST_LEVELS];
    double published_seconds; /* of the paper, at 0 % noise on an RTX 3090; 0: not reported */
} bench_case;

extern const bench_case bench_cases[]; /* the last has no key */

/* Samples with `noise` percent; measured data come as they are. */
kbass_status bench_case_data(const bench_case *c, double noise, uint64_t seed, kbass_data **data, kbass_error *error);
/* The standard deviation of that noise in each state of the clean samples. */
void bench_case_noise(const bench_case *c, double noise, const kbass_data *clean, double *sd);
void bench_case_dictionary(const bench_case *c, kbass_settings *settings);

/* Reads "x_t: 1 y; y_t: -1 x, 2.5 y"; the texts are ours, so nothing is checked. */
bench_law bench_law_read(const char *text);

#endif
