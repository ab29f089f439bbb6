/* Whether a file that is there holds an answer: then one without does not take its place. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stdbool.h>

/* A result file with equations in it. */
bool cli_result_holds_answer(const char *path);
/* One line on stderr where the verdict of a result file is that there is no law, or nothing to explain. */
void cli_result_repeat_verdict(const char *path);
/* On stdout, what its record cannot tell apart, and what measurement would. */
void cli_result_print_alike(const char *path);
/* A page of one. */
bool cli_page_holds_answer(const char *path);

#endif
