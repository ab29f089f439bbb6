#include "forward/shoot.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "forward/shoot_noise.h"
#include "forward/shoot_normals.h"
#include "forward/shoot_share.h"

/* ---------------------------------------------------------------- workspace */

/* All arrays of doubles with their sizes; one list serves making and freeing. */
enum { SHOOTER_ARRAYS = 23 }; /* room */
static void list_arrays(kb_shooter *s, double **arrays[SHOOTER_ARRAYS], size_t sizes[SHOOTER_ARRAYS])
{
    size_t n = s->likelihood.n_start, k = s->max_columns, P = k + n, W = s->max_windows, g = s->likelihood.n_groups;
    size_t observations = s->dynamics->observation_start[s->dynamics->n_rows];
    size_t placed = observations + W * kb_dynamics_largest_row(s->dynamics);
    struct {
        double **array;
        size_t size;
    } list[SHOOTER_ARRAYS] = {{&s->predicted, placed},
                              {&s->tangents, placed * P},
                              {&s->normals, P * P},
                              {&s->weighted, observations * P},
                              {&s->Hww, k * k},
                              {&s->gw, k},
                              {&s->Hzw, W * n * k},
                              {&s->Hzz, W * n * n},
                              {&s->gz, W * n},
                              {&s->system, k * k},
                              {&s->dw, k},
                              {&s->dz, W * n},
                              {&s->trial_w, s->likelihood.columns->n},
                              {&s->trial_start, W * n},
                              {&s->squares, g},
                              {&s->counts, g},
                              {&s->before, g},
                              {&s->gradient, P},
                              {&s->inverse, n * n},
                              {&s->spread, 2 * n * k},
                              {&s->basis, s->likelihood.columns->constraints ? k * k : 0},
                              {&s->constrained_work, s->likelihood.columns->constraints ? 5 * k * k + 2 * k : 0},
                              {&s->placed_w, s->likelihood.columns->constraints ? k : 0}};
    for (int i = 0; i < SHOOTER_ARRAYS; i++) arrays[i] = list[i].array, sizes[i] = list[i].size;
}

kbass_status kb_shooter_create_on(kb_dynamics *dynamics, const kb_columns *columns, size_t max_windows,
                                  size_t max_columns, kb_shooter **out, kbass_error *error)
{
    double **arrays[SHOOTER_ARRAYS];
    size_t sizes[SHOOTER_ARRAYS];
    bool complete = true;
    kb_shooter *s = KB_NEW(kb_shooter, 1);
    if (!s) {
        dynamics->destroy(dynamics);
        return kb_out_of_memory(error, "shooting");
    }
    *s = (kb_shooter){.dynamics = dynamics, .max_columns = max_columns, .max_windows = max_windows};
    kb_shooter_implement(s, columns);
    list_arrays(s, arrays, sizes);
    for (int i = 0; i < SHOOTER_ARRAYS; i++) complete = (*arrays[i] = KB_NEW(double, sizes[i])) != NULL && complete;
    s->offset = KB_NEW(size_t, max_windows + 1);
    s->held = KB_NEW(bool, max_columns);
    if (!complete || !s->offset || !s->held || kb_comparison_create(dynamics, &s->comparison, NULL) != KBASS_OK) {
        kb_shooter_destroy(s);
        return kb_out_of_memory(error, "shooting");
    }
    *out = s;
    return KBASS_OK;
}

kbass_status kb_shooter_create(const kb_record *record, const kb_dictionary *dictionary, const kb_columns *columns,
                               size_t max_windows, size_t max_columns, kb_shooter **out, kbass_error *error)
{
    kb_trajectory *trajectory = NULL;
    kbass_status status = kb_trajectory_create(record, dictionary, columns, max_columns, &trajectory, error);
    if (status == KBASS_OK)
        status = kb_shooter_create_on(&trajectory->dynamics, columns, max_windows, max_columns, out, error);
    if (status == KBASS_OK) (*out)->flow = trajectory->flow;
    return status;
}

void kb_shooter_destroy(kb_shooter *s)
{
    double **arrays[SHOOTER_ARRAYS];
    size_t sizes[SHOOTER_ARRAYS];
    if (!s) return;
    list_arrays(s, arrays, sizes);
    for (int i = 0; i < SHOOTER_ARRAYS; i++) kb_free(*arrays[i]);
    kb_free(s->offset);
    kb_free(s->held);
    kb_free(s->blocks);
    kb_shooter_share(s, NULL, 0);
    kb_comparison_clear(&s->comparison);
    s->dynamics->destroy(s->dynamics);
    kb_free(s);
}

/* ---------------------------------------------------------------- at a fit */

bool kb_shooter_state(kb_shooter *s, const kb_fit *fit, size_t window, size_t row, double *state)
{
    kb_shooter_set_model(s, &fit->support, fit->w, NULL);
    return s->dynamics->carry(s->dynamics, s->likelihood.windows->first[window], row,
                              fit->start + window * s->likelihood.n_start, state);
}

/* [A^{-1}, -A^{-1} C'; -C A^{-1}, Hzz^{-1} + C A^{-1} C'],  C = Hzz^{-1} Hzw; s->system holds A^{-1} */
static bool window_covariance(kb_shooter *s, size_t window, size_t k, double *V)
{
    size_t n = s->likelihood.n_start, size = k + n;
    double *C = s->Hzw + window * n * k, *inverse = s->Hzz + window * n * n;
    kb_lower_transposed_solve(n, k, inverse, n, C, n);
    if (!kb_cholesky_inverse(n, inverse, n)) return false;
    for (size_t q = 0; q < k; q++) memcpy(V + q * size, s->system + q * k, k * sizeof *V);
    kb_gemm(KB_PLAIN, KB_PLAIN, n, k, k, -1, C, n, s->system, k, 0, V + k, size);
    for (size_t j = 0; j < n; j++) memcpy(V + k + (k + j) * size, inverse + j * n, n * sizeof *V);
    kb_gemm(KB_PLAIN, KB_TRANSPOSED, n, n, k, -1, V + k, size, C, n, 1, V + k + k * size, size);
    for (size_t q = 0; q < k; q++)
        for (size_t i = 0; i < n; i++) V[q + (k + i) * size] = V[k + i + q * size];
    for (size_t i = 0; i < n; i++) /* a known start has no spread */
        if (!(s->dynamics->start_variance[i] > 0)) V[k + i + (k + i) * size] = 0;
    return true;
}

bool kb_shooter_covariances(kb_shooter *s, const kb_fit *fit, double *covariances)
{
    size_t k = fit->support.n, size = k + s->likelihood.n_start;
    kb_shooter_count(s);
    if (!isfinite(kb_shooter_assemble_once(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance)))
        return false;
    if (!isfinite(kb_shooter_factorise(s, &fit->support, 0)) || !kb_shooter_invert(s, k)) return false;
    for (size_t window = 0; window < s->likelihood.windows->n; window++)
        if (!window_covariance(s, window, k, covariances + window * size * size)) return false;
    return true;
}

bool kb_shooter_linearise(kb_shooter *s, const kb_fit *fit, double *tangents, double *residuals)
{
    s->kept_tangents = tangents;
    s->kept_residuals = residuals;
    kb_shooter_count(s);
    bool done = isfinite(kb_shooter_assemble(s, &fit->support, fit->w, fit->start, &fit->support, fit->variance)) &&
                isfinite(kb_shooter_factorise(s, &fit->support, 0));
    s->kept_tangents = s->kept_residuals = NULL;
    return done;
}

bool kb_shooter_message(kb_shooter *s, const kb_fit *fit, const kb_support *all, kb_message *message)
{
    size_t k = all->n;
    if (!isfinite(kb_shooter_assemble_once(s, &fit->support, fit->w, fit->start, all, fit->variance))) return false;
    memcpy(message->G, s->Hww, k * k * sizeof *message->G);
    for (size_t q = 0; q < k; q++) message->b[q] = -s->gw[q];
    for (size_t q = 0; q < fit->support.n; q++)
        kb_axpy(k, fit->w[fit->support.column[q]], message->G + fit->support.column[q] * k, message->b);
    return true;
}

/* a <- a - Haa^{-1} Haw dw */
void kb_shooter_follow(kb_shooter *s, const double *dw, double *start)
{
    size_t n = s->likelihood.n_start, k = s->n_tangents;
    for (size_t window = 0; window < s->likelihood.windows->n; window++) {
        double *dz = s->dz + window * n;
        kb_gemv(KB_PLAIN, n, k, 1, s->Hzw + window * n * k, n, dw, 0, dz);
        kb_lower_transposed_solve(n, 1, s->Hzz + window * n * n, n, dz, n);
        for (size_t i = 0; i < n; i++)
            if (s->dynamics->start_variance[i] > 0) start[window * n + i] -= dz[i];
    }
}
