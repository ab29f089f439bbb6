/* Where a job is killed soon after a signal, an orderly end may come too late: then the best answer by now is written
 * while the run still goes on, and the process ends.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

/* From now on, at SIGTERM, SIGINT and SIGHUP, unless cli_guard_end comes first: calls `write` from a thread of its own,
   and exits with what it returns, or leaves the run alone where that is negative. */
void cli_guard_begin(int (*write)(void *context), void *context);
/* The run has ended; when the guard is already writing this does not return. */
void cli_guard_end(void);

#endif
