#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "output.h"

static bool is_device(const char *path)
{
    struct stat there;
    return cli_output_is_standard(path) || (stat(path, &there) == 0 && !S_ISREG(there.st_mode));
}

/* Whoever dropped the lock may have removed the file just after it was opened here. */
static bool is_still_there(int descriptor, const char *path)
{
    struct stat held, there;
    return fstat(descriptor, &held) == 0 && stat(path, &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

static int refuse(const char *path, int descriptor)
{
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK && holder.l_pid > 0)
        return cli_fail("%s: another kbass bench keeps its rows there, process %ld: wait for it, or give another file",
                        path, (long)holder.l_pid);
    return cli_fail("%s: another kbass bench keeps its rows there: wait for it, or give another file", path);
}

int bench_lock_take(const char *path, bench_lock *lock)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *lock = (bench_lock){.descriptor = -1};
    if (!path || is_device(path)) return EXIT_OK;
    lock->path = malloc(strlen(path) + sizeof ".lock");
    if (!lock->path) return cli_fail("%s: out of memory", path);
    sprintf(lock->path, "%s.lock", path);
    for (;;) {
        lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->descriptor < 0) return cli_fail("%s: cannot be written: %s", lock->path, strerror(errno));
        bool is_taken = fcntl(lock->descriptor, F_SETLK, &whole) != 0;
        if (!is_taken && is_still_there(lock->descriptor, lock->path)) return EXIT_OK;
        int code = is_taken && (errno == EACCES || errno == EAGAIN) ? refuse(path, lock->descriptor) : EXIT_OK;
        if (is_taken && code == EXIT_OK) code = cli_fail("%s: cannot be locked: %s", lock->path, strerror(errno));
        close(lock->descriptor);
        lock->descriptor = -1;
        if (code != EXIT_OK) return code;
    }
}

void bench_lock_drop(bench_lock *lock)
{
    if (lock->descriptor >= 0) {
        unlink(lock->path);
        close(lock->descriptor);
    }
    free(lock->path);
    *lock = (bench_lock){.descriptor = -1};
}
