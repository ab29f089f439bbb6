/* PDEs from text: equations and initial conditions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "dictionary/text.h"
#include "simulate/pde_domain.h"

enum { HIGHEST_ON_LINE = 6, HIGHEST = 4 }; /* orders of derivatives: one axis of space, several */

/* What one condition at each end can carry. */
static kbass_status check_orders(const kb_pde *pde, kbass_error *error)
{
    for (size_t v = 0; v < pde->n_derivatives; v++)
        for (size_t d = 0; d < pde->n_space; d++)
            if (pde->derivatives[v].is_used && pde->boundary[d] != KB_PERIODIC && pde->derivatives[v].order[d] > 2)
                return kb_fail(error, KBASS_ERROR_ARGUMENT,
                               "%s needs a periodic boundary: dirichlet and neumann carry second derivatives at most",
                               pde->names[v]);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- left-hand sides and variables */

/* The field of "u_t = ..." or "u_tt = ..."; its name stands in `left` then. */
static kbass_status read_left(const char *equation, char left[64], bool *is_second, kbass_error *error)
{
    const char *equals = strchr(equation, '=');
    if (!equals)
        return kb_text_fail(error, equation, strlen(equation), "\"%.100s\" has no \"=\": write u_t = u_xx", equation);
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(equals - equation), equation);
    const char *name = kb_trim(copy);
    size_t length = strlen(name), tail = 0;
    if (length > 3 && !strcmp(name + length - 3, "_tt")) tail = 3;
    else if (length > 2 && !strcmp(name + length - 2, "_t")) tail = 2;
    snprintf(left, 64, "%.*s", (int)(length - tail), name);
    *is_second = tail == 3;
    if (tail && kb_is_identifier(left)) return KBASS_OK;
    return kb_text_fail(error, equation, 0, "the left-hand side is \"%s\", it must be a field's u_t or u_tt", name);
}

static kbass_status read_lefts(kb_pde *pde, size_t n, const char *const *equations, kbass_error *error)
{
    char left[64];
    kbass_status status = KBASS_OK;
    pde->equations = KB_NEW(char *, n);
    pde->is_second = KB_NEW(bool, n);
    if (!pde->equations || !pde->is_second) return kb_out_of_memory(error, "the equations");
    pde->n_fields = pde->n_states = n;
    for (size_t f = 0; f < n && status == KBASS_OK; f++) {
        const char *text = equations[f];
        while (kb_is_blank(*text)) text++;
        pde->equations[f] = kb_strdup(text);
        if (!pde->equations[f]) return kb_out_of_memory(error, "the equations");
        status = read_left(text, left, &pde->is_second[f], error);
        pde->n_states += pde->is_second[f];
    }
    return status;
}

/* The next multi-index of total order at most `highest`, or false after the last. */
static bool next_order(size_t n, int order[KB_MOST_SPACE], int highest)
{
    for (size_t d = 0; d < n; d++) {
        int total = 0;
        order[d]++;
        for (size_t k = 0; k < n; k++) total += order[k];
        if (total <= highest) return true;
        order[d] = 0;
    }
    return false;
}

static int highest_order(const kb_pde *pde) { return pde->n_space == 1 ? HIGHEST_ON_LINE : HIGHEST; }

static size_t count_derivatives(const kb_pde *pde)
{
    size_t n = 0;
    int order[KB_MOST_SPACE] = {0};
    while (next_order(pde->n_space, order, highest_order(pde))) n++;
    return n;
}

static bool name_derivative(kb_pde *pde, size_t variable, size_t field, const int order[KB_MOST_SPACE])
{
    char name[512];
    kb_derivative *own = &pde->derivatives[variable];
    own->state = field;
    int length = snprintf(name, 100, "%s_", pde->names[field]);
    for (size_t d = 0; d < pde->n_space; d++) {
        own->order[d] = order[d];
        own->total += order[d];
        for (int i = 0; i < order[d]; i++)
            length += snprintf(name + length, sizeof name - (size_t)length, "%s", pde->axes[d + 1].name);
        if ((size_t)length >= sizeof name) return false;
    }
    return (pde->names[variable] = kb_strdup(name)) != NULL;
}

static bool name_states(kb_pde *pde)
{
    size_t next = pde->n_fields;
    char name[80];
    bool ignored = false;
    for (size_t f = 0; f < pde->n_fields; f++) {
        read_left(pde->equations[f], name, &ignored, NULL);
        pde->names[f] = kb_strdup(name);
        if (!pde->names[f]) return false;
        if (!pde->is_second[f]) continue;
        strcat(name, "_t");
        pde->names[next++] = kb_strdup(name);
        if (!pde->names[next - 1]) return false;
    }
    for (size_t s = 0; s < pde->n_states; s++) pde->derivatives[s].state = s;
    return true;
}

static bool name_others(kb_pde *pde)
{
    size_t next = pde->n_states;
    bool all = true;
    for (size_t f = 0; f < pde->n_fields && all; f++) {
        int order[KB_MOST_SPACE] = {0};
        while (all && next_order(pde->n_space, order, highest_order(pde))) all = name_derivative(pde, next++, f, order);
    }
    for (size_t d = 0; d < pde->n_axes && all; d++) all = (pde->names[next++] = kb_strdup(pde->axes[d].name)) != NULL;
    return all && (pde->names[next] = kb_strdup("pi")) != NULL;
}

static kbass_status name_variables(kb_pde *pde, kbass_error *error)
{
    pde->n_derivatives = pde->n_states + pde->n_fields * count_derivatives(pde);
    pde->n_variables = pde->n_derivatives + pde->n_axes + 1;
    pde->names = KB_NEW(char *, pde->n_variables);
    pde->derivatives = KB_NEW(kb_derivative, pde->n_derivatives);
    if (!pde->names || !pde->derivatives || !name_states(pde) || !name_others(pde))
        return kb_out_of_memory(error, "the variables");
    for (size_t f = 0; f < pde->n_fields; f++)
        for (size_t v = 0; v < pde->n_variables; v++)
            if (v != f && !strcmp(pde->names[f], pde->names[v]))
                return kb_fail(error, KBASS_ERROR_ARGUMENT,
                               v < pde->n_fields ? "%s has two equations"
                                                 : "the field %s has the name of another variable",
                               pde->names[f]);
    return KBASS_OK;
}

/* ---------------------------------------------------------------- right-hand sides and initial conditions */

static kb_variables all_variables(const kb_pde *pde)
{
    return (kb_variables){pde->n_variables, (const char *const *)pde->names};
}

static kbass_status read_rates(kb_pde *pde, kbass_error *error)
{
    size_t velocity = pde->n_fields;
    kbass_status status = KBASS_OK;
    pde->rates = KB_NEW(kb_sum, pde->n_states);
    if (!pde->rates) return kb_out_of_memory(error, "the equations");
    for (size_t f = 0; f < pde->n_fields && status == KBASS_OK; f++) {
        const char *right = strchr(pde->equations[f], '=') + 1;
        size_t state = pde->is_second[f] ? velocity++ : f;
        right += strspn(right, " \t");
        status = kb_sum_parse(right, all_variables(pde), &pde->rates[state], error);
        if (status != KBASS_OK) kb_error_prefix(error, "the equation of %s: ", pde->names[f]);
        else if (state != f) status = kb_sum_parse(pde->names[state], all_variables(pde), &pde->rates[f], error);
    }
    for (size_t s = 0; s < pde->n_states && status == KBASS_OK; s++)
        for (size_t j = 0; j < pde->rates[s].n; j++)
            for (size_t v = 0; v < pde->n_derivatives; v++)
                pde->derivatives[v].is_used |= kb_expression_depends(pde->rates[s].terms[j], v);
    return status;
}

static kbass_status find_state(const kb_pde *pde, const char *name, size_t *state, kbass_error *error)
{
    char advice[200];
    for (*state = 0; *state < pde->n_states; (*state)++)
        if (!strcmp(name, pde->names[*state])) return KBASS_OK;
    kb_name_advice(name, pde->n_states, (const char *const *)pde->names, advice, sizeof advice);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "the initial condition names \"%.40s\"%s", name, advice);
}

static kbass_status read_initial_piece(kb_pde *pde, char *piece, kbass_error *error)
{
    const char *names[KBASS_MAX_AXES];
    char *equals = strchr(piece, '=');
    size_t state = 0;
    kbass_status status = KBASS_OK;
    for (size_t d = 0; d < pde->n_space; d++) names[d] = pde->axes[d + 1].name;
    names[pde->n_space] = "pi";
    if (equals) {
        *equals = '\0';
        status = find_state(pde, kb_trim(piece), &state, error);
    } else if (pde->n_fields > 1) {
        status = kb_fail(error, KBASS_ERROR_ARGUMENT,
                         "the initial condition \"%.100s\" does not say of which field: "
                         "write %s=...; %s=...",
                         piece, pde->names[0], pde->names[1]);
    }
    if (status == KBASS_OK && pde->initial[state])
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "%s has two initial conditions", pde->names[state]);
    if (status != KBASS_OK) return status;
    status = kb_expression_parse(equals ? equals + 1 + strspn(equals + 1, " \t") : piece,
                                 (kb_variables){pde->n_space + 1, names}, &pde->initial[state], error);
    if (status != KBASS_OK) kb_error_prefix(error, "the initial condition of %s: ", pde->names[state]);
    return status;
}

static kbass_status read_initial(kb_pde *pde, const char *text, kbass_error *error)
{
    if (pde->table) {
        pde->initial = KB_NEW(kb_expression *, pde->n_states);
        return pde->initial ? KBASS_OK : kb_out_of_memory(error, "the initial condition");
    }
    char *copy = kb_strdup(text ? text : ""), *rest = copy;
    pde->initial = KB_NEW(kb_expression *, pde->n_states);
    kbass_status status = copy && pde->initial ? KBASS_OK : kb_out_of_memory(error, "the initial condition");
    for (char *piece; status == KBASS_OK && (piece = kb_piece_next(&rest, ';'));)
        if (*piece) status = read_initial_piece(pde, piece, error);
    for (size_t f = 0; f < pde->n_fields && status == KBASS_OK; f++)
        if (!pde->initial[f])
            status =
                kb_fail(error, KBASS_ERROR_ARGUMENT, "the initial condition of %s is missing: an expression in %s%s",
                        pde->names[f], pde->axes[1].name, pde->n_space > 1 ? ", ..." : "");
    kb_free(copy);
    return status;
}

/* Equations and initial condition of a PDE that has its box. */
static kbass_status read_equations(kb_pde *pde, size_t n, const char *const *equations, const char *initial,
                                   kbass_error *error)
{
    kbass_status status = read_lefts(pde, n, equations, error);
    if (status == KBASS_OK) status = name_variables(pde, error);
    if (status == KBASS_OK) status = read_rates(pde, error);
    if (status == KBASS_OK) status = check_orders(pde, error);
    return status == KBASS_OK ? read_initial(pde, initial, error) : status;
}

kbass_status kb_pde_create(size_t n_equations, const char *const *equations, const kb_pde_box *box, kb_pde_table *table,
                           kb_pde **out, kbass_error *error)
{
    kb_pde *pde = KB_NEW(kb_pde, 1);
    if (!pde) {
        kb_pde_table_destroy(table);
        return kb_out_of_memory(error, "a PDE");
    }
    pde->table = table;
    kb_pde_take_box(pde, box);
    kbass_status status = read_equations(pde, n_equations, equations, NULL, error);
    if (status == KBASS_OK) *out = pde;
    else kb_pde_destroy(pde);
    return status;
}

kbass_status kb_pde_parse(size_t n_equations, const char *const *equations, const char *domain, const char *initial,
                          const char *boundary, kb_pde **out, kbass_error *error)
{
    if (!n_equations) return kb_fail(error, KBASS_ERROR_ARGUMENT, "a PDE needs an equation, such as u_t = u_xx");
    kb_pde *pde = KB_NEW(kb_pde, 1);
    kbass_status status = pde ? KBASS_OK : kb_out_of_memory(error, "a PDE");

    if (status == KBASS_OK) status = kb_pde_read_domain(pde, domain, error);
    if (status == KBASS_OK) status = kb_pde_read_boundary(pde, boundary, error);
    if (status == KBASS_OK) status = read_equations(pde, n_equations, equations, initial, error);

    if (status == KBASS_OK) *out = pde;
    else kb_pde_destroy(pde);
    return status;
}
