#define _GNU_SOURCE /* O_TMPFILE */
#include "base/replace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

enum { MOST_LINKS = 40, BESIDE_SIZE = 64 };

static kbass_status cannot_write(const char *path, kbass_error *error)
{
    if (errno == ENOMEM) return kb_out_of_memory(error, "a file name");
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

/* ---------------------------------------------------------------- where a path leads */

/* The open descriptor that a path stands for, or -1. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        const char *number = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) != 0 || !isdigit((unsigned char)*number)) continue;
        if (strspn(number, "0123456789") == strlen(number) && strlen(number) < 7) return atoi(number);
    }
    return -1;
}

/* The folder of a path, with its slash, and `name` in it. */
static char *in_folder_of(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0, size = length + strlen(name) + 1;
    char *joined = KB_NEW(char, size);
    if (joined) snprintf(joined, size, "%.*s%s", (int)length, path, name);
    return joined;
}

/* What links lead to, whether it is there or not; NULL with errno where they go round or memory is short. */
static char *follow(const char *path)
{
    char link[PATH_MAX];
    char *at = kb_strdup(path);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        ssize_t length = descriptor_of(at) >= 0 ? -1 : readlink(at, link, sizeof link - 1);
        if (length < 0) return at;
        link[length] = '\0';
        char *next = link[0] == '/' ? kb_strdup(link) : in_folder_of(at, link);
        kb_free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    kb_free(at);
    return NULL;
}

/* ---------------------------------------------------------------- may it be written? */

/* In a sticky folder such as /tmp a file is replaced only by its owner, the folder's, or root. */
static bool is_kept_by_sticky(const struct stat *folder, const struct stat *file)
{
    uid_t user = geteuid();
    return (folder->st_mode & S_ISVTX) && user && user != folder->st_uid && user != file->st_uid;
}

static kbass_status check_folder(const char *path, const char *target, const struct stat *file, kbass_error *error)
{
    struct stat folder;
    char *name = in_folder_of(target, ".");
    if (!name) return kb_out_of_memory(error, "a file name");
    int found = stat(name, &folder) == 0 && access(name, W_OK | X_OK) == 0 ? 0 : errno;
    if (!found && file && is_kept_by_sticky(&folder, file)) found = EPERM;
    kb_free(name);
    errno = found;
    if (!found) return KBASS_OK;
    if (!file) return cannot_write(path, error);
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be replaced: its folder does not let it: %s", path,
                   strerror(found));
}

/* `target` is `path` with its links followed; *is_file tells whether it is to be replaced, or written as it is. */
static kbass_status check(const char *path, const char *target, bool *is_file, kbass_error *error)
{
    struct stat there;
    size_t length = strlen(target);
    *is_file = false;
    if (descriptor_of(target) >= 0) return KBASS_OK;
    bool exists = stat(target, &there) == 0;
    if (!exists && errno != ENOENT) return cannot_write(path, error);
    if (exists ? S_ISDIR(there.st_mode) : length && target[length - 1] == '/') errno = EISDIR;
    else errno = length ? 0 : ENOENT;
    if (errno || (exists && access(target, W_OK) != 0)) return cannot_write(path, error);
    *is_file = !exists || S_ISREG(there.st_mode);
    return *is_file ? check_folder(path, target, exists ? &there : NULL, error) : KBASS_OK;
}

kbass_status kbass_file_check(const char *path, kbass_error *error)
{
    bool is_file = false;
    char *target = follow(path);
    kbass_status status = target ? check(path, target, &is_file, error) : cannot_write(path, error);
    kb_free(target);
    return status;
}

/* ---------------------------------------------------------------- writing */

static FILE *open_stream(const char *path)
{
    int given = descriptor_of(path);
    int descriptor = given >= 0 ? dup(given) : open(path, O_WRONLY | O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (descriptor >= 0 && !file) close(descriptor);
    return file;
}

/* Nameless where the file system can do that and /proc can name it later: then a kill leaves nothing behind. */
static int open_beside(kb_replacement *r)
{
    char name[BESIDE_SIZE];
    struct stat there;
    snprintf(name, sizeof name, ".kbass-%ld-%p", (long)getpid(), (void *)r);
    r->beside = in_folder_of(r->target, name);
    char *folder = in_folder_of(r->target, ".");
    int descriptor = -1;
    if (r->beside) unlink(r->beside); /* left by a process of the same number that was killed */
    errno = ENOMEM;
    if (r->beside && folder && stat("/proc/self/fd", &there) == 0)
        descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0 && r->beside && folder) {
        descriptor = open(r->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        r->is_named = descriptor >= 0;
    }
    kb_free(folder);
    return descriptor;
}

static void forget(kb_replacement *r)
{
    if (r->is_named) unlink(r->beside);
    kb_free(r->beside);
    kb_free(r->target);
    *r = (kb_replacement){0};
}

kbass_status kb_replace_begin(const char *path, kb_replacement *r, kbass_error *error)
{
    bool is_file = false;
    *r = (kb_replacement){.path = path};
    char *target = follow(path);
    kbass_status status = target ? check(path, target, &is_file, error) : cannot_write(path, error);
    if (status == KBASS_OK && is_file) {
        r->target = target;
        target = NULL;
        int descriptor = open_beside(r);
        r->file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
        if (descriptor >= 0 && !r->file) close(descriptor);
    } else if (status == KBASS_OK) {
        r->file = open_stream(target);
    }
    if (status == KBASS_OK && !r->file) status = cannot_write(path, error);
    kb_free(target);
    if (status != KBASS_OK) forget(r);
    return status;
}

/* ---------------------------------------------------------------- taking the place */

/* The owner is kept where the system allows it (it does to root), else the group. */
static bool take_manner(int descriptor, const char *target)
{
    struct stat old, new;
    if (stat(target, &old) != 0) return errno == ENOENT;
    if (fstat(descriptor, &new) != 0) return false;
    if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) && fchown(descriptor, old.st_uid, old.st_gid) != 0 &&
        fchown(descriptor, (uid_t)-1, old.st_gid) != 0 && errno != EPERM)
        return false;
    return fchmod(descriptor, old.st_mode & 07777) == 0;
}

/* Some file systems have no sync. */
static bool sync_all(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP; }

static bool give_name(kb_replacement *r)
{
    char nameless[64];
    if (r->is_named) return true;
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fileno(r->file));
    r->is_named = linkat(AT_FDCWD, nameless, AT_FDCWD, r->beside, AT_SYMLINK_FOLLOW) == 0;
    return r->is_named;
}

/* So that the new name outlives a power cut; the file itself is whole either way. */
static void sync_folder(const char *target)
{
    char *folder = in_folder_of(target, ".");
    int descriptor = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) fsync(descriptor);
    if (descriptor >= 0) close(descriptor);
    kb_free(folder);
}

kbass_status kb_replace_end(kb_replacement *r, kbass_status status, kbass_error *error)
{
    bool is_whole = status == KBASS_OK && fflush(r->file) == 0 && !ferror(r->file);
    if (is_whole && r->target) {
        int descriptor = fileno(r->file);
        is_whole = take_manner(descriptor, r->target) && sync_all(descriptor) && give_name(r);
    }
    int reason = errno;
    if (fclose(r->file) != 0 && is_whole) is_whole = false, reason = errno;
    if (is_whole && r->target && rename(r->beside, r->target) != 0) is_whole = false, reason = errno;
    if (is_whole && r->target) {
        r->is_named = 0;
        sync_folder(r->target);
    }
    errno = reason ? reason : EIO;
    if (status == KBASS_OK && !is_whole) status = cannot_write(r->path, error);
    forget(r);
    return status;
}

kbass_status kbass_file_write(const char *path, size_t size, const void *bytes, kbass_error *error)
{
    kb_replacement r;
    kbass_status status = kb_replace_begin(path, &r, error);
    if (status != KBASS_OK) return status;
    if (size) fwrite(bytes, 1, size, r.file); /* a failure is seen at the end */
    return kb_replace_end(&r, KBASS_OK, error);
}
