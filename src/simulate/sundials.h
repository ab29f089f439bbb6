/* CVODES that prints nothing, whatever happens. Versions of SUNDIALS differ in how they are made silent: CMake compiles
 * sundials_6.c or sundials_7.c.
 */
#ifndef KB_SUNDIALS_H
#define KB_SUNDIALS_H

#include <cvodes/cvodes.h>
#include <stdbool.h>

/* A context, and an integrator in it by CV_BDF or CV_ADAMS. When it fails, the caller still frees what is not NULL. */
bool kb_sundials_create(int method, SUNContext *context, void **cvodes);

#endif
