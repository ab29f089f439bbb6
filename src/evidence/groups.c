#include "evidence/groups.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_PRESENT = 2 };                   /* terms: of a group that may be in at once */
static const double together = 0.9;          /* probability at which columns are a group */
static const double doubtful[] = {0.1, 0.9}; /* inclusion of a column that a group is sought for */
static const double least_member = 0.005;    /* what a column has to add to its group */

/* P(exactly `present` of the group's columns, and of one more unless it is KB_NO_COLUMN, are in); 0: one or more */
static double probability_of(const kb_average *a, const kb_group *group, size_t more)
{
    double sum = 0;
    for (size_t m = 0; m < a->n; m++) {
        size_t count = more != KB_NO_COLUMN && kb_average_has(a, m, more);
        for (size_t i = 0; i < group->n; i++) count += kb_average_has(a, m, group->column[i]);
        if (group->n_present ? count == group->n_present : count > 0) sum += kb_average_share(a, m, group->column[0]);
    }
    return sum;
}

/* The column of the same equation that adds most to the group, unless it is too little. */
static size_t next_member(const kb_average *a, const kb_group *group, const bool *taken, const double *inclusion)
{
    size_t best = KB_NO_COLUMN, equation = a->columns->equation[group->column[0]];
    double most = group->probability + least_member;
    for (size_t column = 0; column < a->columns->n; column++) {
        if (taken[column] || a->columns->equation[column] != equation) continue;
        if (!(inclusion[column] > least_member && inclusion[column] < doubtful[1])) continue;
        double probability = probability_of(a, group, column);
        if (probability > most) most = probability, best = column;
    }
    return best;
}

/* Grows a group from its seed; columns of a group that does not come together are given back. */
static bool grow(const kb_average *a, kb_group *group, bool *taken, const double *inclusion)
{
    size_t next = group->column[0];
    group->n = 0;
    do {
        group->column[group->n++] = next;
        taken[next] = true;
        group->probability = probability_of(a, group, KB_NO_COLUMN);
        next = next_member(a, group, taken, inclusion);
    } while (next != KB_NO_COLUMN);
    bool is_group = group->n > group->n_present && group->probability >= together;
    for (size_t i = 0; !is_group && i < group->n; i++) taken[group->column[i]] = false;
    return is_group;
}

static bool is_doubtful(double inclusion) { return inclusion > doubtful[0] && inclusion < doubtful[1]; }

static kbass_status keep_group(const kb_group *group, kb_group *kept, kbass_error *error)
{
    *kept = *group;
    kept->column = KB_NEW(size_t, group->n);
    if (!kept->column) return kb_out_of_memory(error, "groups of terms");
    memcpy(kept->column, group->column, group->n * sizeof *group->column);
    return KBASS_OK;
}

kbass_status kb_average_groups(const kb_average *a, kb_group **groups, size_t *n, kbass_error *error)
{
    size_t columns = a->columns->n;
    kb_group *found = KB_NEW(kb_group, columns), trial = {.column = KB_NEW(size_t, columns)};
    double *inclusion = KB_NEW(double, columns);
    bool *taken = KB_NEW(bool, columns), complete = found && trial.column && inclusion && taken;
    kbass_status status = complete ? KBASS_OK : kb_out_of_memory(error, "groups of terms");
    *n = 0;
    for (size_t c = 0; complete && c < columns; c++) inclusion[c] = kb_average_inclusion(a, c);
    for (int pass = 1; pass <= MOST_PRESENT + 1; pass++)
        for (size_t seed = 0; status == KBASS_OK && seed < columns; seed++) {
            if (taken[seed] || !is_doubtful(inclusion[seed])) continue;
            trial.column[0] = seed;
            trial.n_present = pass <= MOST_PRESENT ? (size_t)pass : 0; /* what neither one nor two explain */
            if (grow(a, &trial, taken, inclusion)) status = keep_group(&trial, &found[(*n)++], error);
        }
    kb_free(trial.column);
    kb_free(inclusion);
    kb_free(taken);
    if (status == KBASS_OK) *groups = found;
    else kb_groups_free(found, *n);
    return status;
}

void kb_groups_free(kb_group *groups, size_t n)
{
    for (size_t i = 0; groups && i < n; i++) kb_free(groups[i].column);
    kb_free(groups);
}
