/* Several processes on one call: kbass-mpi, whose ranks work together and of which the first one speaks. In kbass
 * itself there is one.
 */
#ifndef CLI_SHARE_H
#define CLI_SHARE_H

#include <stdbool.h>

#include "kbass/kbass.h"

/* First and last of the program; the end takes the exit code, and returns it. */
void cli_share_begin(int *count, char ***words);
int cli_share_end(int code);
/* What a discovery shares its fits by; NULL: it is alone. */
const kbass_reduce *cli_share(void);
/* The plan, unless quiet: "4 ranks share out ...". */
void cli_share_say(bool is_quiet, const char *what);
/* Does this process write files? */
bool cli_share_writes(void);
/* Texts from rank to rank. What has come, and from which; NULL: nothing yet. To be freed. */
void cli_share_tell(int to, const char *text);
char *cli_share_hear(int *from);

#endif
