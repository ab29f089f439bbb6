#include "posterior/band.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

static const double least_log_odds = -4; /* of a rival: 1 : 55 */

size_t kb_count_near(size_t n_fits, kb_fit *const *fits)
{
    size_t n = 0;
    while (n < n_fits && fits[n]->valid && kb_fit_log_odds(fits[n], fits[0]) > least_log_odds) n++;
    return n;
}

/* squares += odds (sd^2 + (mean - chosen)^2) */
static void add_rival(size_t n, double odds, const double *chosen, const double *mean, const double *sd,
                      double *squares)
{
    for (size_t i = 0; i < n; i++) squares[i] += odds * (sd[i] * sd[i] + pow(mean[i] - chosen[i], 2));
}

kbass_status kb_band(size_t n_fits, kb_fit *const *fits, size_t most, size_t n, kb_solution_of *solution,
                     const void *context, double *mean, double *sd, kbass_error *error)
{
    size_t near = kb_count_near(n_fits, fits);
    double total = 1, *rival = NULL, *squares = NULL;
    kbass_status status = solution(context, fits[0], mean, sd, error);
    if (status != KBASS_OK || near < 2) return status;
    rival = KB_NEW(double, 2 * n);
    squares = KB_NEW(double, n);
    if (!rival || !squares) status = kb_out_of_memory(error, "the band");
    else add_rival(n, 1, mean, mean, sd, squares);
    for (size_t i = 1; status == KBASS_OK && i < near && i < most; i++) {
        double odds = exp(kb_fit_log_odds(fits[i], fits[0]));
        if (fits[i]->n_windows != fits[0]->n_windows || solution(context, fits[i], rival, rival + n, NULL) != KBASS_OK)
            continue;
        add_rival(n, odds, mean, rival, rival + n, squares);
        total += odds;
    }
    for (size_t i = 0; status == KBASS_OK && i < n; i++) sd[i] = sqrt(squares[i] / total);
    kb_free(rival);
    kb_free(squares);
    return status;
}
