#include "output.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "share.h"
#include "signals.h"

bool cli_output_is_standard(const char *path) { return !path || !strcmp(path, "-"); }

/* Devices and pipes may block for ever: there signals come at once. */
static bool is_replaced(const char *path)
{
    struct stat there;
    return stat(path, &there) != 0 || S_ISREG(there.st_mode);
}

static int finish(kbass_status status, const kbass_error *error)
{
    if (status == KBASS_OK) return EXIT_OK;
    cli_fail_with(status, error);
    return EXIT_NO_RESULT;
}

int cli_output_bytes(const char *path, size_t size, const void *bytes)
{
    kbass_error error;
    if (!cli_share_writes()) return EXIT_OK;
    if (cli_output_is_standard(path)) {
        fwrite(bytes, 1, size, stdout); /* a failure is seen at the end of the command */
        return EXIT_OK;
    }
    bool waits = is_replaced(path);
    fflush(stdout); /* the path may be /dev/stdout */
    if (waits) cli_signals_hold();
    kbass_status status = kbass_file_write(path, size, bytes, &error);
    if (waits) cli_signals_release();
    return finish(status, &error);
}

int cli_output_text(const char *path, const char *text) { return cli_output_bytes(path, strlen(text), text); }

/* A reader of standard output who has seen enough ends the command without a word. */
static int print_data(const kbass_data *data)
{
    kbass_error error;
    fflush(stdout);
    signal(SIGPIPE, SIG_DFL);
    kbass_status status = kbass_data_write(data, "/dev/stdout", &error);
    signal(SIGPIPE, SIG_IGN);
    return finish(status, &error);
}

int cli_output_data(const char *path, const kbass_data *data)
{
    kbass_error error;
    if (!cli_share_writes()) return EXIT_OK;
    if (cli_output_is_standard(path)) return print_data(data);
    bool waits = is_replaced(path);
    fflush(stdout);
    if (waits) cli_signals_hold();
    kbass_status status = kbass_data_write(data, path, &error);
    if (waits) cli_signals_release();
    return finish(status, &error);
}
