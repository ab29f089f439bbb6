/* What kbass score has computed, and how it is written. */
#ifndef CLI_SCORE_H
#define CLI_SCORE_H

#include <stdbool.h>

#include "kbass/kbass.h"
#include "numbers.h"
#include "progress.h"

typedef struct {
    kbass_posterior *posterior;
    kbass_data *data, *inputs; /* inputs: --input-data, or NULL */
    kbass_score *score;
    kbass_score_options options;
    cli_numbers state; /* --from */
    cli_progress progress;
    bool is_quiet;
} score_job;

/* Each returns an exit code. */
int score_write(const score_job *job, const char *path); /* scored values and predictions, as CSV */
int score_draw(const score_job *job, const char *path);

#endif
