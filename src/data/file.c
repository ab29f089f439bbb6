#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/read.h"

enum { FIRST_BYTES = 1 << 16 };

static kbass_status cannot_read(const kb_file *file, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be read: %s", file->path, strerror(errno));
}

/* Files that know their size; pipes, devices and /proc do not. */
static bool map_bytes(kb_file *file)
{
    struct stat status;
    if (fstat(file->descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return false;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (bytes == MAP_FAILED) return false;
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    file->is_mapped = true;
    madvise(bytes, file->size, MADV_SEQUENTIAL);
    return true;
}

kbass_status kb_file_read(kb_file *file, void *to, size_t n, size_t *got, kbass_error *error)
{
    ssize_t taken = 1;
    for (*got = 0; *got < n && taken > 0; *got += taken > 0 ? (size_t)taken : 0) {
        do taken = read(file->descriptor, (char *)to + *got, n - *got);
        while (taken < 0 && errno == EINTR);
    }
    return taken < 0 ? cannot_read(file, error) : KBASS_OK;
}

/* Reads on until there are `size` bytes in memory; a stream that ends before is none any more. */
static kbass_status read_upto(kb_file *file, size_t size, kbass_error *error)
{
    size_t got = 0;
    unsigned char *bytes = kb_resize((void *)file->bytes, size, 1);
    if (!bytes) return kb_out_of_memory(error, file->path);
    file->bytes = bytes;
    kbass_status status = kb_file_read(file, bytes + file->size, size - file->size, &got, error);
    file->size += got;
    file->is_stream = file->size == size;
    return status;
}

kbass_status kb_file_complete(kb_file *file, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && file->is_stream) status = read_upto(file, 2 * file->size, error);
    return status;
}

kbass_status kb_file_open(const char *path, kb_file *file, kbass_error *error)
{
    *file = (kb_file){.path = path};
    bool is_standard = path[0] == '-' && !path[1];
    file->descriptor = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0) return cannot_read(file, error);
    return map_bytes(file) ? KBASS_OK : read_upto(file, FIRST_BYTES, error);
}

void kb_file_forget(const kb_file *file)
{
    if (file->is_mapped) madvise((void *)file->bytes, file->size, MADV_DONTNEED);
}

void kb_file_close(kb_file *file)
{
    if (file->is_mapped) munmap((void *)file->bytes, file->size);
    else kb_free((void *)file->bytes);
    if (file->path && file->descriptor >= 0) close(file->descriptor);
    *file = (kb_file){0};
}
