/* Commands and their options. A command declares its own options in a table; where it takes the library's settings,
 * that table is merged in. Parsing, help, manual and docs/options.md all come from these tables.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "kbass/kbass.h"

typedef struct {
    const char *name;       /* "json", written --json */
    char letter;            /* 'o', written -o; or 0 */
    const char *value_name; /* "FILE"; NULL for a switch */
    const char *separator;  /* joins the values of an option given several times; NULL: the last one counts */
    const char *help;
} cli_option;

typedef struct cli_arguments cli_arguments;

typedef struct {
    const char *name;
    const char *usage;         /* "DATA.csv [options]" */
    const char *summary;       /* one line */
    const char *story;         /* a paragraph, the first sentence of which can stand alone */
    const char *example;       /* commands, one a line; those of all commands can be run in turn */
    const cli_option *options; /* the last has no name */
    bool has_settings;
    const char *common; /* the options of the short help, by name; NULL: all, and the help is short enough */
    int (*run)(const cli_arguments *arguments);
} cli_command;

/* The commands, in the order in which they are shown; the last has no name. */
extern const cli_command cli_commands[];

struct cli_arguments {
    const cli_command *command;
    size_t n_operands;
    const char **operands;
    char **values; /* by option, the command's own first, then the settings; NULL when not given */
    bool wants_help, wants_all_help;
};

/* Both return an exit code, EXIT_OK when all is well; messages are printed. */
int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments);
int cli_settings(const cli_arguments *arguments, kbass_settings **settings);
void cli_arguments_clear(cli_arguments *arguments);

/* The value of one of the command's own options: "" for a switch that was given, NULL when it was not. */
const char *cli_value(const cli_arguments *arguments, const char *name);
/* A number that must lie in [low, high]; `number` keeps its value when the option was not given. */
int cli_number(const cli_arguments *arguments, const char *name, double low, double high, double *number);
/* The same for whole numbers. */
int cli_count(const cli_arguments *arguments, const char *name, double low, double high, unsigned long *number);

/* One row of the merged table, with range, choices and default added to the help. */
typedef struct {
    const char *name;
    char letter;
    const char *value_name;
    const char *group;
    char help[640];
} cli_entry;

/* False after the last row. */
bool cli_entry_at(const cli_command *command, size_t index, cli_entry *entry);

void cli_help_overview(FILE *out);
/* Every word of the reports. */
void cli_help_words(FILE *out);
/* The common options in a few words, or all in full. */
void cli_help_command(FILE *out, const cli_command *command, bool in_full);
void cli_help_manual(FILE *out);   /* roff */
void cli_help_markdown(FILE *out); /* docs/options.md */

#endif
