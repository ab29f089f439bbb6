/* The chi-square distribution. */
#ifndef KB_STATISTICS_H
#define KB_STATISTICS_H

/* P(X <= x) for X with `freedom` degrees of freedom, which need not be whole. */
double kb_chi2_below(double x, double freedom);
/* The x below which a share of X lies, 0 < share < 1. */
double kb_chi2_quantile(double share, double freedom);

#endif
