/* What the command says when something is wrong: one line on stderr, and the exit code that goes with it. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "kbass/kbass.h"

enum { EXIT_OK = 0, EXIT_NO_RESULT = 1, EXIT_BAD_INPUT = 2, EXIT_NO_LAW = 3, EXIT_NO_READER = 141 };

/* Prints "kbass: ..." and returns EXIT_BAD_INPUT. */
__attribute__((format(printf, 1, 2))) int cli_fail(const char *format, ...);

/* Prints the library's message, with a caret under the column at fault if it names one, and returns the exit code. */
int cli_fail_with(kbass_status status, const kbass_error *error);

/* Flushes stdout: EXIT_OK, or EXIT_NO_RESULT with a message, said once, when the output was lost; EXIT_NO_READER
   without one when who read it has left. */
int cli_finish_output(void);

/* The candidate nearest to `word` by spelling, or NULL when none is near; candidates end with NULL. */
const char *cli_nearest(const char *word, const char *const *candidates);

#endif
