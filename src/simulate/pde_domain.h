/* Where a PDE holds, from text: ranges of its axes and what happens at their ends. */
#ifndef KB_SIMULATE_PDE_DOMAIN_H
#define KB_SIMULATE_PDE_DOMAIN_H

#include "simulate/pde.h"

/* "x=0:32*pi, t=0:150" */
kbass_status kb_pde_read_domain(kb_pde *pde, const char *domain, kbass_error *error);
/* "x=periodic, y=dirichlet", or one kind for all axes */
kbass_status kb_pde_read_boundary(kb_pde *pde, const char *text, kbass_error *error);
/* Both as they are. */
void kb_pde_take_box(kb_pde *pde, const kb_pde_box *box);

#endif
