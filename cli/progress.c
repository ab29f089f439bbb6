#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

enum { BAR_WIDTH = 12 };

void cli_progress_begin(cli_progress *progress, bool is_quiet)
{
    bool is_terminal = isatty(STDERR_FILENO);
    *progress = (cli_progress){.is_quiet = is_quiet, .is_terminal = is_terminal, .stage = "", .shown = -INFINITY};
    cli_interrupts_catch();
}

/* Worth saying once the share that is done means something. */
static void guess_end(const kbass_progress *now, char *text, size_t size)
{
    double left = now->seconds * (1 - now->fraction) / now->fraction;
    text[0] = '\0';
    if (now->fraction >= 0.25 && now->fraction < 1 && now->seconds >= 1)
        snprintf(text, size, ", about %.0f s left", left);
}

static void describe(const kbass_progress *now, char *text, size_t size)
{
    char evidence[40] = "", left[40];
    guess_end(now, left, sizeof left);
    if (isfinite(now->log_evidence)) snprintf(evidence, sizeof evidence, ", evidence %.1f", now->log_evidence);
    if (!strcmp(now->stage, "read") || !strcmp(now->stage, "draws")) {
        snprintf(text, size, "%3.0f %% %s  %.1f s%s", 100 * now->fraction, now->stage, now->seconds, left);
        return;
    }
    snprintf(text, size, "%3.0f %% %s  step %zu, %zu term%s%s  %.1f s%s", 100 * now->fraction, now->stage,
             now->n_iterations, now->n_active, now->n_active == 1 ? "" : "s", evidence, now->seconds, left);
}

static void draw(const kbass_progress *now, const char *text)
{
    char bar[BAR_WIDTH + 1];
    int full = (int)(BAR_WIDTH * fmin(fmax(now->fraction, 0), 1));
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)full);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %s", bar, text);
    fflush(stderr);
}

int cli_progress_show(const kbass_progress *now, void *user)
{
    cli_progress *progress = user;
    double pause = progress->is_terminal ? 0.1 : 2.0;
    bool is_new_stage = strcmp(progress->stage, now->stage) != 0;
    if (!progress->is_quiet && (is_new_stage || now->seconds - progress->shown >= pause)) {
        char text[160];
        describe(now, text, sizeof text);
        if (progress->is_terminal) draw(now, text);
        else fprintf(stderr, "kbass: %s\n", text);
        progress->stage = now->stage;
        progress->shown = now->seconds;
    }
    return cli_interrupted();
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->is_terminal && !progress->is_quiet) fputs("\r\033[K", stderr);
    cli_interrupts_release();
}
