#include "simulate/pde.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void kb_pde_destroy(kb_pde *pde)
{
    if (!pde) return;
    for (size_t f = 0; pde->equations && f < pde->n_fields; f++) kb_free(pde->equations[f]);
    for (size_t v = 0; pde->names && v < pde->n_variables; v++) kb_free(pde->names[v]);
    for (size_t s = 0; pde->rates && s < pde->n_states; s++) kb_sum_clear(&pde->rates[s]);
    for (size_t s = 0; pde->initial && s < pde->n_states; s++) kb_expression_destroy(pde->initial[s]);
    kb_pde_table_destroy(pde->table);
    kb_free(pde->equations);
    kb_free(pde->is_second);
    kb_free(pde->names);
    kb_free(pde->derivatives);
    kb_free(pde->rates);
    kb_free(pde->initial);
    kb_free(pde);
}

/* ---------------------------------------------------------------- what the engines ask */

kbass_status kb_pde_initial(const kb_pde *pde, size_t state, size_t n_points, const double *const *places,
                            double *value, kbass_error *error)
{
    const kb_expression *expression = pde->initial[state];
    if (pde->table) return kb_pde_table_slice(pde->table, 0, state, n_points, places, value, error);
    if (!expression) {
        memset(value, 0, n_points * sizeof *value);
        return KBASS_OK;
    }
    double *table = KB_NEW(double, n_points *(pde->n_space + 1));
    double *work = KB_NEW(double, kb_expression_work(expression, n_points));
    kbass_status status = table && work ? KBASS_OK : kb_out_of_memory(error, "the initial condition");
    if (status == KBASS_OK) {
        for (size_t d = 0; d < pde->n_space; d++) memcpy(table + d * n_points, places[d], n_points * sizeof *table);
        for (size_t p = 0; p < n_points; p++) table[p + pde->n_space * n_points] = M_PI;
        kb_expression_values(expression, n_points, table, n_points, value, work);
    }
    for (size_t p = 0; p < n_points && status == KBASS_OK; p++)
        if (!isfinite(value[p]))
            status = kb_fail(error, KBASS_ERROR_NUMERICAL, "the initial condition of %s is %g at %s = %.6g",
                             pde->names[state], value[p], pde->axes[1].name, places[0][p]);
    kb_free(work);
    kb_free(table);
    return status;
}

size_t kb_pde_work(const kb_pde *pde, size_t n_points)
{
    size_t largest = 0;
    for (size_t s = 0; s < pde->n_states; s++)
        for (size_t j = 0; j < pde->rates[s].n; j++) {
            size_t work = kb_expression_work(pde->rates[s].terms[j], n_points);
            if (work > largest) largest = work;
        }
    return largest;
}

bool kb_pde_is_plain(const kb_pde *pde, size_t state, const kb_expression *term, size_t *derivative)
{
    size_t n = 0;
    const kb_power *powers = NULL;
    if (!kb_expression_powers(term, &n, &powers) || n != 1 || powers[0].power != 1) return false;
    *derivative = powers[0].variable;
    return *derivative < pde->n_derivatives && pde->derivatives[*derivative].state == state;
}
