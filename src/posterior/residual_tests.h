/* Examining the residuals of a fit: do they look like the noise that was assumed?
 *
 * For each state with enough values, three statistics of its standardised residuals (docs/math.md, eqs 50 to 52):
 * whether neighbours are alike, whether they are normal, whether their spread goes with the size of the prediction.
 * What the statistics would be if all were well is found by drawing noise and taking from it what the fit takes:
 * residuals are (I - H) e, H the fit's own projection, prior and starts included. So few data, and many parameters, are
 * no excuse.
 */
#ifndef KB_POSTERIOR_RESIDUAL_TESTS_H
#define KB_POSTERIOR_RESIDUAL_TESTS_H

#include "forward/shoot.h"

typedef enum { KB_TEST_WHITENESS, KB_TEST_NORMALITY, KB_TEST_SPREAD, KB_TESTS } kb_test_kind;

typedef struct {
    size_t group;
    kb_test_kind kind;
    double
        score; /* how many standard deviations from what is expected; of the spread: above 0 when it grows with size */
    double p_value; /* corrected for the number of tests */
} kb_test;

typedef struct {
    size_t n;
    kb_test *tests;
} kb_residual_tests;

/* A fit on the shooter's windows. No tests are made of states with few values or with noise at its floor, nor where
   observations times parameters would fill the memory. */
kbass_status kb_residual_tests_run(kb_shooter *shooter, const kb_fit *fit, kb_residual_tests *out, kbass_error *error);

#endif
