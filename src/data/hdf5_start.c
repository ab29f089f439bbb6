/* Finds the program that reads HDF5 files and starts it. It is executed, not merely forked: a host may have threads. */
#define _GNU_SOURCE /* dladdr, memfd_create */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/array_file.h"
#include "data/hdf5.h"

enum { PATIENCE = 20000 /* ms without a byte */ };

static const char program[] = "kbass-hdf5";

/* ---------------------------------------------------------------- where it is */

/* The folder of the library, or of the program that it is linked into; "" when that cannot be told. */
static void own_folder(char folder[PATH_MAX])
{
    Dl_info info;
    bool is_found =
        dladdr(program, &info) && info.dli_fname && *info.dli_fname == '/' && realpath(info.dli_fname, folder);
    ssize_t length = is_found ? 0 : readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (!is_found) folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
}

/* Beside the library, as in a build folder or a wheel; in libexec of the tree it is installed in, or of the one it was
   built for; where the user says. */
static bool find_program(char path[PATH_MAX])
{
    char own[PATH_MAX] = "";
    own_folder(own);
    const char *folders[][2] = {{own, ""},
                                {own, "/../libexec/kbass"},
                                {own, "/../../libexec/kbass"}, /* from lib/x86_64-linux-gnu */
                                {KBASS_LIBEXEC_FOLDER, ""},
                                {secure_getenv("KBASS_LIBEXEC"), ""}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *folder = folders[i][0];
        if (!folder || !*folder) continue;
        int length = snprintf(path, PATH_MAX, "%s%s/%s", folder, folders[i][1], program);
        if (length > 0 && length < PATH_MAX && access(path, X_OK) == 0) return true;
    }
    return false;
}

/* ---------------------------------------------------------------- how it starts */

/* A file of memory with the bytes of what is not on disk; below 0 when there is none. */
static int make_image(const kb_file *file)
{
    int image = memfd_create("kbass", MFD_CLOEXEC);
    for (size_t done = 0; image >= 0 && done < file->size;) {
        ssize_t n = write(image, file->bytes + done, file->size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(image);
            return -1;
        }
        done += (size_t)n;
    }
    return image;
}

/* Standard input is the channel both ways, so the file's path must not mean it; the image, if there is one, comes after
   standard error. */
static int spawn(const char *path, int channel, int image, const char *const *arguments, pid_t *pid)
{
    sigset_t none, all;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    if (image >= 0) posix_spawn_file_actions_adddup2(&actions, image, KB_HDF5_IMAGE);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawn(pid, path, &actions, &attributes, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* What is moved to the first descriptors must not be among them. */
static int lift(int descriptor)
{
    int lifted = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, KB_HDF5_IMAGE + 1);
    if (descriptor >= 0) close(descriptor);
    return lifted;
}

static kbass_status greet(const kb_file *file, const char *path, const kb_hdf5_helper *helper, kbass_error *error)
{
    uint64_t greeting = 0;
    kb_hdf5_answer answer = kb_hdf5_receive(helper, &greeting, sizeof greeting);
    if (answer != KB_HDF5_ANSWERED)
        return kb_fail(error, KBASS_ERROR_FILE,
                       "%s: %.200s, which reads HDF5 files, does not start: is the HDF5 library there?", file->path,
                       path);
    if (greeting != KB_HDF5_GREETING)
        return kb_fail(error, KBASS_ERROR_FILE, "%s: %.200s, which reads HDF5 files, is of another version of kbass",
                       file->path, path);
    return KBASS_OK;
}

static kbass_status not_found(const char *path, kbass_error *error)
{
    return kb_fail(
        error, KBASS_ERROR_FILE,
        "%s: HDF5 files are read and written by the program %s, which is neither beside the library nor in %s "
        "nor in $KBASS_LIBEXEC",
        path, program, KBASS_LIBEXEC_FOLDER);
}

kbass_status kb_hdf5_start(const kb_file *file, bool is_matlab, kb_hdf5_helper *helper, kbass_error *error)
{
    char path[PATH_MAX];
    int ends[2] = {-1, -1};
    *helper = (kb_hdf5_helper){.channel = -1};
    if (!find_program(path)) return not_found(file->path, error);
    int image = file->is_mapped ? -1 : lift(make_image(file));
    bool is_ready = (file->is_mapped || image >= 0) && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    int failure = is_ready ? 0 : errno, channel = lift(ends[1]);
    char resolved[PATH_MAX];
    const char *name = image >= 0 ? "-" : realpath(file->path, resolved) ? resolved : file->path;
    const char *arguments[] = {program, name, is_matlab ? "matlab" : "plain", NULL};
    if (is_ready) failure = spawn(path, channel, image, arguments, &helper->pid);
    helper->channel = ends[0];
    if (image >= 0) close(image);
    if (channel >= 0) close(channel);
    if (!failure) return greet(file, path, helper, error);
    helper->pid = 0;
    kb_hdf5_stop(helper);
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be read: %.200s does not start: %s", file->path, path,
                   strerror(failure));
}

/* ---------------------------------------------------------------- what it says, and how it ends */

kb_hdf5_answer kb_hdf5_receive(const kb_hdf5_helper *helper, void *to, size_t n)
{
    char *next = to;
    while (n) {
        struct pollfd wait = {helper->channel, POLLIN, 0};
        int ready = poll(&wait, 1, PATIENCE);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return KB_HDF5_SILENT;
        ssize_t got = recv(helper->channel, next, n, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return KB_HDF5_GONE;
        next += got;
        n -= (size_t)got;
    }
    return KB_HDF5_ANSWERED;
}

void kb_hdf5_stop(kb_hdf5_helper *helper)
{
    if (helper->channel >= 0) close(helper->channel);
    helper->channel = -1;
    if (helper->pid <= 0) return;
    kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR) {}
    helper->pid = 0;
}

/* ---------------------------------------------------------------- layout of new files */

enum { MOST_LAID_OUT = 64, LONGEST_TEXT = KB_LONGEST_NAME + 24 * KB_MOST_DIMS };

static void describe(const kb_stored_array *array, char *text, size_t size)
{
    int used = snprintf(text, size, "%.*s=", KB_LONGEST_NAME, array->name);
    for (size_t i = 0; i < array->n_dims; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%zu", i ? "x" : "", array->dims[i]);
}

static kbass_status receive_offsets(const kb_file *file, const char *path, const kb_hdf5_helper *helper, size_t n,
                                    kb_stored_array *arrays, kbass_error *error)
{
    uint64_t done = 1;
    kbass_status status = greet(file, path, helper, error);
    bool is_heard = status == KBASS_OK;
    for (size_t i = 0; is_heard && i < n; i++)
        is_heard = kb_hdf5_receive(helper, &arrays[i].offset, sizeof arrays[i].offset) == KB_HDF5_ANSWERED;
    is_heard = is_heard && kb_hdf5_receive(helper, &done, sizeof done) == KB_HDF5_ANSWERED && !done;
    if (status != KBASS_OK || is_heard) return status;
    return kb_fail(error, KBASS_ERROR_FILE, "%s: the HDF5 library cannot write it", file->path);
}

/* What the library has written beside the arrays' numbers, of which nothing is there yet. */
static bool copy_frame(int from, int to, size_t n, const kb_stored_array *arrays)
{
    char piece[4096];
    off_t size = lseek(from, 0, SEEK_END);
    bool is_done = size >= 0 && ftruncate(to, size) == 0;
    for (off_t at = 0; is_done && at < size;) {
        off_t end = size;
        for (size_t i = 0; i < n; i++) {
            off_t first = (off_t)arrays[i].offset, last = first + (off_t)(kb_stored_count(&arrays[i]) * sizeof(double));
            if (at >= first && at < last) at = last;
            else if (first > at && first < end) end = first;
        }
        if (end <= at) end = size;
        size_t part = end - at < (off_t)sizeof piece ? (size_t)(end > at ? end - at : 0) : sizeof piece;
        ssize_t got = part ? pread(from, piece, part, at) : 0;
        is_done = got >= 0 && (got > 0 || at >= size) && pwrite(to, piece, (size_t)got, at) == got;
        at += got;
    }
    return is_done;
}

/* Made beside the target by the helper, and copied into its place. */
static kbass_status take_layout(int descriptor, const char *target, const char *layout, size_t n,
                                const kb_stored_array *arrays, kbass_error *error)
{
    int from = open(layout, O_RDONLY | O_CLOEXEC);
    bool is_done = from >= 0 && copy_frame(from, descriptor, n, arrays);
    if (from >= 0) close(from);
    return is_done ? KBASS_OK : kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be written: %s", target, strerror(errno));
}

kbass_status kb_hdf5_lay_out(int descriptor, const char *target, size_t n, kb_stored_array *arrays, kbass_error *error)
{
    char path[PATH_MAX], layout[PATH_MAX], (*texts)[LONGEST_TEXT] = kb_allocate(n, sizeof *texts);
    const char *arguments[MOST_LAID_OUT + 4] = {program, layout, "create"};
    const kb_file file = {.path = target};
    kb_hdf5_helper helper = {.channel = -1};
    int ends[2] = {-1, -1};
    if (!texts || n > MOST_LAID_OUT) {
        kb_free(texts);
        return kb_out_of_memory(error, "writing");
    }
    snprintf(layout, sizeof layout, "%.4000s.layout%ld", target, (long)getpid());
    for (size_t i = 0; i < n; i++) {
        describe(&arrays[i], texts[i], sizeof *texts);
        arguments[3 + i] = texts[i];
    }
    kbass_status status = find_program(path) ? KBASS_OK : not_found(target, error);
    bool is_ready = status == KBASS_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    int channel = lift(ends[1]);
    helper.channel = ends[0];
    int failure = is_ready ? spawn(path, channel, -1, arguments, &helper.pid) : errno;
    if (channel >= 0) close(channel);
    if (status == KBASS_OK && failure)
        status = kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be written: %.200s does not start: %s", target, path,
                         strerror(failure));
    if (status == KBASS_OK) status = receive_offsets(&file, path, &helper, n, arrays, error);
    if (status == KBASS_OK) status = take_layout(descriptor, target, layout, n, arrays, error);
    unlink(layout);
    kb_hdf5_stop(&helper);
    kb_free(texts);
    return status;
}
