/* Tables made from a finished run. Each returns an exit code. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "kbass/kbass.h"

/* The solution and its standard deviation: at 200 even times and the measured ones, or on a mesh over time and
   space: the discovery's own where one was given, else an even one. */
int cli_table_solution(const kbass_data *data, const kbass_discovery *discovery, const char *path);
/* Measured, fitted, and the difference, at the measured points. */
int cli_table_residuals(const kbass_data *data, const kbass_discovery *discovery, const char *path);
/* Both sides of the law along the solution and their difference, at the points of the solution. */
int cli_table_law(const kbass_data *data, const kbass_discovery *discovery, const char *path);

#endif
