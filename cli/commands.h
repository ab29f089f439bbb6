/* The commands; each returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

int cli_discover(const cli_arguments *arguments);
int cli_simulate(const cli_arguments *arguments);
int cli_simulate_fields(const cli_arguments *arguments, kbass_model *model); /* the part of simulate for PDEs */
/* Splits "x_t = y; y_t = -x" in place, for both parts of simulate. Returns the exit code. */
enum { CLI_MOST_EQUATIONS = 256 };
int cli_export(const cli_arguments *arguments);
int cli_completion(const cli_arguments *arguments);
int cli_data(const cli_arguments *arguments);
int cli_forecast(const cli_arguments *arguments);
int cli_score(const cli_arguments *arguments);
int cli_next(const cli_arguments *arguments);
int cli_report(const cli_arguments *arguments);
int cli_plot(const cli_arguments *arguments);
int cli_doctor(const cli_arguments *arguments);
int cli_bench(const cli_arguments *arguments);

#endif
