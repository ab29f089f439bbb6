#include "evidence/thresholds.h"

/* X(name, value, reason) */
#define TABLE(X)                                                                                                       \
    X(sure, 0.9, "as for terms; said probabilities of 0.9 and more were true in 94.6 % (docs/math.md, section 10)")    \
    X(clearly, 10, "the odds at which rivals are counted, too")                                                        \
    X(no_rival, 100,                                                                                                   \
      "logistic growth, its terms known, loses by 0.4 to 6.4 nats in 10 of 10 sets: odds up to 46, with the power "    \
      "0.6")                                                                                                           \
    X(rival, 0.1, "1 : 10, what a term that is in allows to all laws without it")                                      \
    X(missing, 0.3,                                                                                                    \
      "of 162 laws of states called found, 157 were exact and had up to 0.19 outside; of five that were not, one had " \
      "0.43, the others 0.06 to 0.24")                                                                                 \
    X(more_noise, 1.2, "the law's own parameters and the field's flexibility make less; by judgement")                 \
    X(by_chance, 0.99, "one false alarm in a hundred")                                                                 \
    X(by_less_chance, 0.9,                                                                                             \
      "of 36 exact laws from 20 samples on one left more than 1.2 times the noise; laws outside leave 1.5 and more")   \
    X(not_white, 0.01, "one false alarm in a hundred")                                                                 \
    X(nearly_all, 0.99, "by judgement: what is left cannot be seen in a plot")                                         \
    X(long_record, 100, "fewer measurements do not tell an approximate law from a wrong one; by judgement")            \
    X(used_up, 1.0 / 3,                                                                                                \
      "of 81 records of 6 to 15 samples, 13 of the 18 terms that were wrong at 0.9 and more were of two laws above "   \
      "0.45, and 7 of the 64 right ones")                                                                              \
    X(one_of_many, 0.4,                                                                                                \
      "of 33 records of 6 to 15 samples, four of the five terms that were wrong at 0.9 and more were of laws with "    \
      "0.20 to 0.34 an equation")                                                                                      \
    X(far_above, 2, "by judgement")                                                                                    \
    X(within_noise, 2, "two sds of one measured quantity: 2^2 / 2 nats")                                               \
    X(hardly_any, 1e-3,                                                                                                \
      "so that sameness is seen, and not lack of data: together the two ask that the term explains 2000 nats")         \
    X(collinear, 1e-12, "well above the rounding of sums of squares")                                                  \
    X(clearly_moves, 50, "seven sds; by judgement")                                                                    \
    X(only_noise, 0.75, "what moves is less than 0.6 of the noise; by judgement")                                      \
    X(small_part, 0.02, "by judgement: a coefficient so small is its own error at usual noise")                        \
    X(near_whole, 0.03, "likewise")

#define VALUE(name, value, reason)  .name = (value),
#define REASON(name, value, reason) .name = (reason),
const kb_threshold_values kb_threshold = {TABLE(VALUE)};
const kb_threshold_texts kb_threshold_reasons = {TABLE(REASON)};
