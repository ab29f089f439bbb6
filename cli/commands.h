/* The commands; each returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

int cli_discover(const cli_arguments *arguments);
int cli_simulate(const cli_arguments *arguments);
int cli_simulate_pde(const cli_arguments *arguments); /* the part of simulate for PDEs */
int cli_data(const cli_arguments *arguments);

#endif
