/* Progress on stderr: a bar on a terminal, now and then a line otherwise, nothing when quiet. Ctrl-C, SIGTERM and
   SIGHUP stop the run. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

#include "kbass/kbass.h"

typedef struct {
    bool is_quiet, is_terminal;
    const char *stage; /* shown last */
    double shown;      /* seconds into the run when it was */
} cli_progress;

/* Catches interrupts until the end. */
void cli_progress_begin(cli_progress *progress, bool is_quiet);
/* A kbass_progress_callback; `user` is the cli_progress. */
int cli_progress_show(const kbass_progress *now, void *user);
/* Removes the bar and releases them. */
void cli_progress_end(cli_progress *progress);

#endif
