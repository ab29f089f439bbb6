/* One level of length scale: the kernel's features at the measured rows and on the mesh, made once and shared.
 *
 * rows: phi(t_n), mesh: phi(g), slope: phi'(g), each points x rank, column-major. On the mesh phi' phi = L, the
 * eigenvalues (`eigenvalue`), which makes projecting a field from one level to another a diagonal solve.
 */
#ifndef KB_LEVEL_H
#define KB_LEVEL_H

#include "gp/record.h"
#include "kernel/basis.h"

typedef struct {
    double length;
    size_t rank, n_rows, n_mesh;
    kb_basis *basis;
    double *rows, *mesh, *slope;
    double *eigenvalue; /* rank */
    bool shares;        /* all but `rows` belongs to another level */
} kb_level;

kbass_status kb_level_create(const kb_record *record, kb_kernel_kind kind, double length, size_t n_mesh, kb_level **out,
                             kbass_error *error);
/* The same level for another part of the record, on a mesh of its own: only the rows differ. `level` must outlive it.
 */
kbass_status kb_level_share(const kb_level *level, const kb_record *slice, kb_level **out, kbass_error *error);
void kb_level_destroy(kb_level *level);
/* z (rank) of the field nearest to `values` on the mesh. */
void kb_level_project(const kb_level *level, const double *values, double *z);

/* R' diag(1/h) R of one state: rank x rank, lower triangle. */
void kb_level_gram(const kb_level *level, const kb_record *record, size_t state, double *gram);
/* Gaussian-process regression of one state at noise variance v: z = (R'R/v + I)^{-1} R'y/v. work: rank^2. */
bool kb_level_regress(const kb_level *level, const kb_record *record, size_t state, double v, double *z, double *work);
/* log p(y | length, v) summed over states, v common to all (docs/math.md, eq. 6); unless NULL each state's is added to
   each[state]. work: 2 rank^2 + 2 rank. */
double kb_level_evidence(const kb_level *level, const kb_record *record, double v, double *each, double *work);

#endif
