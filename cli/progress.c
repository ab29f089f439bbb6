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

static void put_left(const kbass_progress *now, char *text, size_t size)
{
    double left = now->seconds_left;
    const char *how = now->is_bound ? "at most" : "about";
    text[0] = '\0';
    if (!isfinite(left) || now->seconds < 1) return;
    if (left < 90) snprintf(text, size, ", %s %.0f s left", how, left);
    else snprintf(text, size, ", %s %.0f min left", how, left / 60);
}

/* Of reading and draws the share that is done is known; of a search nobody knows it, but what was tried. */
static bool is_share_known(const kbass_progress *now)
{
    return !strcmp(now->stage, "read") || !strcmp(now->stage, "draws");
}

static void describe(const kbass_progress *now, char *text, size_t size)
{
    char evidence[40] = "", models[40] = "", left[60];
    put_left(now, left, sizeof left);
    if (isfinite(now->log_evidence)) snprintf(evidence, sizeof evidence, ", evidence %.1f", now->log_evidence);
    if (now->n_models) snprintf(models, sizeof models, ", %zu fit%s", now->n_models, now->n_models == 1 ? "" : "s");
    if (is_share_known(now)) {
        snprintf(text, size, "%3.0f %% %s  %.1f s%s", 100 * now->fraction, now->stage, now->seconds, left);
        return;
    }
    snprintf(text, size, "%s  step %zu%s, %zu term%s%s  %.1f s%s", now->stage, now->n_iterations, models, now->n_active,
             now->n_active == 1 ? "" : "s", evidence, now->seconds, left);
}

static void draw(const kbass_progress *now, const char *text)
{
    char bar[BAR_WIDTH + 1];
    int full = (int)(BAR_WIDTH * fmin(fmax(now->fraction, 0), 1));
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)full);
    bar[BAR_WIDTH] = '\0';
    if (is_share_known(now)) fprintf(stderr, "\r\033[K[%s] %s", bar, text);
    else fprintf(stderr, "\r\033[K%s", text);
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
