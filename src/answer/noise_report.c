#include "answer/noise_report.h"

#include <math.h>
#include <stdio.h>

#include "answer/misfits.h"
#include "base/statistics.h"
#include "base/status.h"

enum { WARNING_SIZE = 400 }; /* room: a sentence */

/* v f / chi2: the posterior of a variance from f degrees of freedom */
static void add_interval(double noise, double freedom, double *low, double *high)
{
    *low = *high = noise;
    if (!isfinite(freedom)) return;
    *low = noise * sqrt(freedom / kb_chi2_quantile(0.975, freedom));
    *high = noise * sqrt(freedom / kb_chi2_quantile(0.025, freedom));
}

/* A velocity that was not measured has no noise. */
static bool is_hidden(const kb_search_result *found, size_t state)
{
    return found->noise_freedom && isnan(found->noise_freedom[state]);
}

static kbass_status add_noise(kb_answer *answer, const kb_frame *p, const kb_search_result *found, kbass_error *error)
{
    size_t n = p->dictionary->n_states;
    double *noise = (double *)answer->result.noise;
    double *low = kb_answer_own(answer, n, sizeof *low), *high = kb_answer_own(answer, n, sizeof *high);
    if (!low || !high) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; i < n; i++) {
        low[i] = high[i] = NAN;
        if (!p->dictionary->has_equation[i] || is_hidden(found, i)) continue;
        noise[i] = sqrt(found->pool.fits[0]->variance[i]) * (found->noise_unit ? found->noise_unit[i] : p->sd[i]);
        if (found->noise_freedom) add_interval(noise[i], found->noise_freedom[i], &low[i], &high[i]);
    }
    answer->result.noise_low = low;
    answer->result.noise_high = high;
    answer->result.noise_is_relative = found->noise_is_relative;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- warnings */

static const char *spread_warning(bool grows, bool is_relative)
{
    if (grows && !is_relative)
        return "the scatter of %s grows with its size (p = %.2g): try --noise-model multiplicative, or log if it is "
               "always positive";
    if (grows) return "the scatter of %s grows faster than its size (p = %.2g): sds are not to be trusted";
    if (is_relative)
        return "relative to its size, %s scatters most where it is small (p = %.2g): try --noise-model additive";
    return "%s scatters most where it is small (p = %.2g): its noise is not the same everywhere";
}

static const char *warning_of(const kb_test *test, bool is_relative)
{
    if (test->kind == KB_TEST_SPREAD) return spread_warning(test->score > 0, is_relative);
    if (test->kind == KB_TEST_NORMALITY)
        return "the residuals of %s are not normal (p = %.2g): look for outliers, or for another kind of noise";
    return "neighbouring residuals of %s are alike (p = %.2g): the law, or the noise model, misses something, and sds "
           "are too small";
}

static kbass_status warn_of(kb_answer *answer, const kb_frame *p, const kb_test *test, kbass_error *error)
{
    char text[WARNING_SIZE];
    const char *format = warning_of(test, answer->result.noise_is_relative),
               *name = p->dictionary->state_names[test->group];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, name, test->p_value);
#pragma GCC diagnostic pop
    return kb_answer_warn(answer, text, error);
}

/* A mixture of small and large noise is not normal either; one warning will do. */
static bool spread_varies(const kb_residual_tests *residual_tests)
{
    for (size_t i = 0; i < residual_tests->n; i++)
        if (residual_tests->tests[i].kind == KB_TEST_SPREAD && residual_tests->tests[i].p_value < KB_BY_CHANCE)
            return true;
    return false;
}

static kbass_status add_tests(kb_answer *answer, const kb_frame *p, const kb_residual_tests *residual_tests,
                              kbass_error *error)
{
    size_t n = residual_tests->n;
    kbass_status status = KBASS_OK;
    kbass_residual_test *tests = kb_answer_own(answer, n, sizeof *tests);
    if (!tests) return kb_out_of_memory(error, "the answer");
    for (size_t i = 0; status == KBASS_OK && i < n; i++) {
        const kb_test *test = &residual_tests->tests[i];
        bool is_explained = test->kind == KB_TEST_NORMALITY && spread_varies(residual_tests);
        tests[i] = (kbass_residual_test){test->group, (kbass_test_kind)test->kind, test->score, test->p_value};
        if (test->p_value < KB_BY_CHANCE && !is_explained) status = warn_of(answer, p, test, error);
    }
    answer->result.tests = tests;
    answer->result.n_tests = n;
    return status;
}

kbass_status kb_answer_noise(kb_answer *answer, const kb_frame *p, const kb_search_result *found, kbass_error *error)
{
    kbass_status status = add_noise(answer, p, found, error);
    return status == KBASS_OK ? add_tests(answer, p, &found->residual_tests, error) : status;
}
