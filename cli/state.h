/* A state as the user types it: "1, 0" in the order of the states, or "x=1, y=0". */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include "kbass/kbass.h"
#include "numbers.h"

/* Returns an exit code; `what` names the option in messages. */
int cli_state_read(const char *what, const char *text, size_t n, const char *const *names, cli_numbers *state);
/* --from of a law that a result holds: refused for fields. */
int cli_state_from(const kbass_posterior *posterior, const char *text, cli_numbers *state);

#endif
