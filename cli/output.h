/* Files the command writes, all of them here: whole or not at all (kbass_file_write). They are tried before any work
 * begins, so that no result is lost for a misspelt path, and no file is both read and written.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "options.h"

/* A file of this call, and what the user calls it: "--json", or "" for one that has no option. */
typedef struct {
    const char *option, *path;
    bool is_written;
} cli_file;

/* Can those that are written be, and is none of them another of these? EXIT_OK, or EXIT_BAD_INPUT with a message. */
int cli_files_check(size_t n, const cli_file *files);
/* The same for all files that the command line names. */
int cli_arguments_check_files(const cli_arguments *arguments);

/* "-", or no path at all. */
bool cli_output_is_standard(const char *path);

/* Each returns an exit code, EXIT_NO_RESULT with a message when writing fails. */
int cli_output_bytes(const char *path, size_t size, const void *bytes);
int cli_output_text(const char *path, const char *text);
int cli_output_data(const char *path, const kbass_data *data);

#endif
