#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

int cli_output_check(const char *path, const char *input)
{
    struct stat before;
    if (!path) return EXIT_OK;
    if (input && is_same_file(path, input)) return cli_fail("%s: cannot write over the file it is made from", path);
    bool existed = stat(path, &before) == 0;
    FILE *file = fopen(path, "a");
    if (!file) return cli_fail("%s: cannot be written: %s", path, strerror(errno));
    fclose(file);
    if (!existed) remove(path);
    return EXIT_OK;
}

static int lost(const char *path)
{
    cli_fail("%s: cannot be written: %s", path, strerror(errno));
    return EXIT_NO_RESULT;
}

int cli_output_text(const char *path, const char *text)
{
    if (!path) {
        fputs(text, stdout);
        return EXIT_OK;
    }
    FILE *file = fopen(path, "w");
    if (!file) return lost(path);
    bool is_written = fputs(text, file) >= 0;
    is_written = fclose(file) == 0 && is_written;
    return is_written ? EXIT_OK : lost(path);
}

static int write_data(const char *path, const kbass_data *data)
{
    kbass_error error;
    kbass_status status = kbass_data_write(data, path, &error);
    if (status == KBASS_OK) return EXIT_OK;
    cli_fail_with(status, &error);
    return EXIT_NO_RESULT;
}

static int copy_to_stdout(const char *path)
{
    int c = EOF;
    FILE *file = fopen(path, "r");
    if (!file) return lost("standard output");
    while ((c = getc(file)) != EOF) putchar(c);
    fclose(file);
    return EXIT_OK;
}

/* The library writes files; opening /dev/stdout as one would cut short what the shell appends to. */
int cli_output_data(const char *path, const kbass_data *data)
{
    char temporary[] = "/tmp/kbass-XXXXXX";
    if (path) return write_data(path, data);
    int descriptor = mkstemp(temporary);
    if (descriptor < 0) return lost(temporary);
    close(descriptor);
    int code = write_data(temporary, data);
    if (code == EXIT_OK) code = copy_to_stdout(temporary);
    unlink(temporary);
    return code;
}
