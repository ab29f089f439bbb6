/* The thresholds of the verdict and of what is told alike: every number by which words are chosen, in one place, with
 * its unit, meaning and reason (thresholds.c). docs/constants.md is made of it.
 */
#ifndef KB_EVIDENCE_THRESHOLDS_H
#define KB_EVIDENCE_THRESHOLDS_H

/* X(name, unit, meaning) */
#define KB_THRESHOLD_FIELDS(X)                                                                                         \
    X(sure, "probability", "P(law) from which a law is found")                                                         \
    X(clearly, "odds", "at which the bare field leads")                                                                \
    X(no_rival, "odds", "up to which the bare field is no rival, where the law leaves nothing to it")                  \
    X(rival, "odds", "against the chosen law, from which another one is counted as a rival")                           \
    X(missing, "probability", "of a term outside the law, above which the law is not called found")                    \
    X(more_noise, "ratio of sds", "above which the law leaves more noise than the bare field")                         \
    X(by_chance, "probability", "share of such ratios that chance makes smaller")                                      \
    X(by_less_chance, "probability", "likewise, above which a law is not called found")                                \
    X(not_white, "p-value", "of the test of whiteness, below which residuals are not white")                           \
    X(nearly_all, "share of what changes", "that an approximate law explains")                                         \
    X(long_record, "measurements", "from which a law can be approximate")                                              \
    X(used_up, "share of the data", "that a law's numbers may use before laws count that nobody sought")               \
    X(one_of_many, "probability",                                                                                      \
      "of the chosen right-hand side, below which scant data leave laws that nobody sought")                           \
    X(far_above, "ratio of sds", "of noise left, at which no term of a stopped search is in")                          \
    X(within_noise, "nats", "lost when others stand for a term, up to which they are the same")                        \
    X(hardly_any, "share", "of what the term explains, lost then, up to which they are the same")                      \
    X(collinear, "share", "of a column that others leave: less is rounding")                                           \
    X(clearly_moves, "times the noise variance", "of a combination of states that is not constant")                    \
    X(only_noise, "share of the variance", "that is noise beside the bare field: the state is at rest")                \
    X(small_part, "share", "of a constant combination, below which a state is left out of it")                         \
    X(near_whole, "relative difference", "from a whole number, up to which a coefficient is one")

typedef struct {
#define KB_THRESHOLD_VALUE(name, unit, meaning) double name;
    KB_THRESHOLD_FIELDS(KB_THRESHOLD_VALUE)
#undef KB_THRESHOLD_VALUE
} kb_threshold_values;

typedef struct {
#define KB_THRESHOLD_REASON(name, unit, meaning) const char *name;
    KB_THRESHOLD_FIELDS(KB_THRESHOLD_REASON)
#undef KB_THRESHOLD_REASON
} kb_threshold_texts;

extern const kb_threshold_values kb_threshold;
extern const kb_threshold_texts kb_threshold_reasons;

#endif
