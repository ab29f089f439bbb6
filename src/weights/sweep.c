#include "weights/sweep.h"

#include "base/linalg.h"
#include "base/memory.h"
#include "base/status.h"
#include "weights/subset.h"

/* Room for one equation's message. */
typedef struct {
    kb_support rest, own; /* the others' columns; the equation's, counted from its first */
    double *A, *x, *rows; /* G_RR + D, b_R; n_R x n_e */
    double *G, *b;        /* n_e x n_e, n_e */
    size_t most;          /* columns of the rest that there is room for */
} workspace;

static void clear(workspace *w)
{
    kb_support_clear(&w->rest);
    kb_support_clear(&w->own);
    kb_free(w->A);
    kb_free(w->x);
    kb_free(w->rows);
    kb_free(w->G);
    kb_free(w->b);
}

static kbass_status create(workspace *w, const kb_support *support, size_t n_columns, size_t most, kbass_error *error)
{
    size_t k = 2 * support->n + most; /* supports may grow on the way */
    if (k > n_columns) k = n_columns;
    *w = (workspace){0};
    kbass_status status = kb_support_create(n_columns, &w->rest, error);
    if (status == KBASS_OK) status = kb_support_create(most, &w->own, error);
    w->most = k;
    w->A = KB_NEW(double, k *k);
    w->x = KB_NEW(double, k);
    w->rows = KB_NEW(double, k *most);
    w->G = KB_NEW(double, most *most);
    w->b = KB_NEW(double, most);
    bool complete = w->A && w->x && w->rows && w->G && w->b;
    return complete ? status : kb_out_of_memory(error, "the search");
}

static void split(const kb_support *support, size_t first, size_t end, workspace *w)
{
    w->rest.n = w->own.n = 0;
    for (size_t q = 0; q < support->n; q++) {
        size_t column = support->column[q];
        if (column >= first && column < end) w->own.column[w->own.n++] = column - first;
        else w->rest.column[w->rest.n++] = column;
    }
}

/* The message about the columns first to end, those of the rest integrated out. */
static bool reduce(const kb_message *m, const kb_columns *columns, size_t first, size_t n, workspace *w)
{
    size_t k = w->rest.n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) w->G[i + j * n] = m->G[first + i + (first + j) * m->n];
        w->b[j] = m->b[first + j];
        for (size_t q = 0; q < k; q++) w->rows[q + j * k] = m->G[w->rest.column[q] + (first + j) * m->n];
    }
    if (!k) return true;
    kb_message_restrict(m, columns, &w->rest, w->A, w->x);
    if (!kb_cholesky(k, w->A, k)) return false;
    kb_lower_solve(k, n, w->A, k, w->rows, k);
    kb_lower_solve(k, 1, w->A, k, w->x, k);
    kb_gemm(KB_TRANSPOSED, KB_PLAIN, n, n, k, -1, w->rows, k, w->rows, k, 1, w->G, n);
    kb_gemv(KB_TRANSPOSED, k, n, -1, w->rows, k, w->x, 1, w->b);
    return true;
}

static kbass_status search_equation(const kb_message *m, const kb_columns *columns, size_t first, size_t end,
                                    workspace *w, kb_support *support, bool *changed, kbass_error *error)
{
    kb_subset *subset = NULL;
    size_t n = end - first;
    split(support, first, end, w);
    if (w->rest.n > w->most || !reduce(m, columns, first, n, w)) return KBASS_OK;
    kbass_status status = kb_subset_create(columns, first, n, &subset, error);
    if (status == KBASS_OK) {
        kb_subset_take(subset, w->G, w->b);
        if (kb_subset_improve(subset, &w->own)) {
            *changed = true;
            kb_support_copy(&w->rest, support);
            for (size_t q = 0; q < w->own.n; q++) kb_support_add(support, first + w->own.column[q]);
        }
    }
    kb_subset_destroy(subset);
    return status;
}

kbass_status kb_message_sweep(const kb_message *message, const kb_columns *columns, kb_support *support, bool *changed,
                              kbass_error *error)
{
    workspace w;
    size_t most = 0;
    for (size_t first = 0, end; first < columns->n; first = end) {
        end = kb_columns_end(columns, first);
        if (end - first > most) most = end - first;
    }
    kbass_status status = create(&w, support, columns->n, most, error);
    *changed = false;
    for (size_t first = 0, end; status == KBASS_OK && first < columns->n; first = end) {
        end = kb_columns_end(columns, first);
        status = search_equation(message, columns, first, end, &w, support, changed, error);
    }
    clear(&w);
    return status;
}
