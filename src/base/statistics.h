/* The distributions of chi-square, Student and Fisher. */
#ifndef KB_STATISTICS_H
#define KB_STATISTICS_H

/* P(X <= x) for X with `freedom` degrees of freedom, which need not be whole. */
double kb_chi2_below(double x, double freedom);
/* The x below which a share of X lies, 0 < share < 1. */
double kb_chi2_quantile(double share, double freedom);

/* P(T <= t) of Student's distribution; infinite freedom: the normal one. */
double kb_student_below(double t, double freedom);
/* How much wider Student's distribution is than the normal one of its scale: the ratio of what 95 % lie within. Unlike
   its sd it exists for any freedom. 1 where the freedom is not known. */
double kb_student_width(double freedom);
/* The ratio of two mean squares with so many degrees of freedom each, below which a share of them lies. */
double kb_fisher_quantile(double share, double above, double below);

#endif
