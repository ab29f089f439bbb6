#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/read.h"

enum { FIRST_CAPACITY = 1 << 16 };

static kbass_status cannot_read(const kb_file *file, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be read: %s", file->path, strerror(errno));
}

/* Files that know their size; pipes, devices and /proc do not. */
static bool map_bytes(kb_file *file, int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return false;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) return false;
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    file->is_mapped = true;
    madvise(bytes, file->size, MADV_SEQUENTIAL);
    return true;
}

static kbass_status read_bytes(kb_file *file, int descriptor, kbass_error *error)
{
    size_t capacity = FIRST_CAPACITY;
    ssize_t n = 1;
    unsigned char *bytes = KB_NEW(unsigned char, capacity);
    while (bytes && n > 0) {
        if (file->size == capacity) {
            unsigned char *grown = kb_reallocate(bytes, capacity, 2 * capacity, 1);
            if (!grown) break;
            bytes = grown;
            capacity *= 2;
        }
        do n = read(descriptor, bytes + file->size, capacity - file->size);
        while (n < 0 && errno == EINTR);
        if (n > 0) file->size += (size_t)n;
    }
    file->bytes = bytes;
    if (n < 0) return cannot_read(file, error);
    return n == 0 && bytes ? KBASS_OK : kb_out_of_memory(error, file->path);
}

kbass_status kb_file_open(const char *path, kb_file *file, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    *file = (kb_file){.path = path};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_read(file, error);
    if (!map_bytes(file, descriptor)) status = read_bytes(file, descriptor, error);
    close(descriptor);
    return status;
}

void kb_file_close(kb_file *file)
{
    if (file->is_mapped) munmap((void *)file->bytes, file->size);
    else                 kb_free((void *)file->bytes);
    *file = (kb_file){0};
}
