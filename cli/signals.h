/* Signals that ask the program to end: Ctrl-C, SIGTERM, SIGHUP. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* From the first catch to the last release, such a signal is a wish that runs hear of at their next step: one that
   comes between two runs is not lost. A second Ctrl-C ends the program at once; the others may come as often as they
   like, and once one has come they stay caught, so that the best answer so far is written. */
void cli_interrupts_catch(void);
void cli_interrupts_release(void);
/* What was found is being written: the signals still wait for it, but Ctrl-C ends the program at once. */
void cli_interrupts_key_ends(void);
/* And so do all of them. */
void cli_interrupts_all_end(void);
/* The signal that has come since the first catch, or 0. */
int cli_interrupted(void);
/* The exit code it makes: 130 after Ctrl-C. */
int cli_interrupted_code(void);

/* While a file is written they wait: they come when it is there, or removed. */
void cli_signals_hold(void);
void cli_signals_release(void);

#endif
