/* Right-hand sides of each equation along the field that knows no equation, by the integral form, and every one of them
 * with every one of the other equations: laws far from each other, which no single move connects.
 */
#ifndef KB_PROPOSE_ODE_PRODUCTS_H
#define KB_PROPOSE_ODE_PRODUCTS_H

#include "search/task.h"

kbass_status kb_propose_products(kb_proposals *proposals, kbass_error *error);

#endif
