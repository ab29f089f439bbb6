#include "data/array_file.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <zlib.h>

#include "base/memory.h"
#include "base/status.h"

enum { NPY_HEADER = 192, LOCAL_HEADER = 30, CENTRAL_HEADER = 46, END_OF_CENTRAL = 22, PIECE = 1 << 17 };

kb_file_kind kb_file_kind_of(const char *path)
{
    static const struct {
        const char *ending;
        kb_file_kind kind;
    } known[] = {{".npy", KB_NPY_FILE}, {".npz", KB_NPZ_FILE}, {".h5", KB_HDF5_FILE}, {".hdf5", KB_HDF5_FILE}};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot, known[i].ending)) return known[i].kind;
    return KB_TABLE_FILE;
}

uint64_t kb_stored_count(const kb_stored_array *array)
{
    uint64_t n = 1;
    for (size_t i = 0; i < array->n_dims; i++) n *= array->dims[i];
    return n;
}

/* ---------------------------------------------------------------- bytes */

static kbass_status cannot(const kb_array_file *f, const char *what, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_FILE, "%s: cannot be %s: %s", f->part.path, what, strerror(errno));
}

static kbass_status write_at(const kb_array_file *f, uint64_t offset, const void *bytes, size_t n, kbass_error *error)
{
    const char *next = bytes;
    while (n) {
        ssize_t done = pwrite(f->descriptor, next, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return cannot(f, "written", error);
        next += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return KBASS_OK;
}

static kbass_status read_at(const kb_array_file *f, uint64_t offset, void *bytes, size_t n, kbass_error *error)
{
    char *next = bytes;
    while (n) {
        ssize_t done = pread(f->descriptor, next, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return cannot(f, "read back", error);
        next += done;
        offset += (uint64_t)done;
        n -= (size_t)done;
    }
    return KBASS_OK;
}

static void put(unsigned char **to, size_t n_bytes, uint64_t value)
{
    for (size_t i = 0; i < n_bytes; i++) *(*to)++ = (unsigned char)(value >> 8 * i);
}

/* ---------------------------------------------------------------- NPY */

static void make_npy_header(const kb_stored_array *array, unsigned char *bytes)
{
    char text[NPY_HEADER - 10 + 1];
    int used = snprintf(text, sizeof text, "{'descr': '%cf8', 'fortran_order': False, 'shape': (",
                        kb_machine_is_little() ? '<' : '>');
    for (size_t i = 0; i < array->n_dims; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%zu,", array->dims[i]);
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    snprintf(text + used, sizeof text - (size_t)used, "%*s", (int)sizeof text - 2 - used, "");
    text[sizeof text - 2] = '\n';
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    unsigned char *at = bytes + 8;
    put(&at, 2, NPY_HEADER - 10);
    memcpy(at, text, NPY_HEADER - 10);
}

/* ---------------------------------------------------------------- NPZ */

static size_t name_length(const kb_stored_array *array) { return strlen(array->name) + strlen(".npy"); }

static uint64_t entry_size(const kb_stored_array *array) { return NPY_HEADER + 8 * kb_stored_count(array); }

static kbass_status checksum(const kb_array_file *f, const kb_stored_array *array, uint32_t *crc, kbass_error *error)
{
    unsigned char *bytes = KB_NEW(unsigned char, PIECE);
    kbass_status status = bytes ? KBASS_OK : kb_out_of_memory(error, "writing");
    uint64_t size = entry_size(array), from = array->offset - NPY_HEADER;
    *crc = (uint32_t)crc32(0, NULL, 0);
    for (uint64_t at = 0; status == KBASS_OK && at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        status = read_at(f, from + at, bytes, n, error);
        *crc = (uint32_t)crc32(*crc, bytes, (uInt)n);
    }
    kb_free(bytes);
    return status;
}

/* What the local and the central header have in common; the date is the first that ZIP knows. */
static void put_description(unsigned char **to, const kb_stored_array *array, uint32_t crc)
{
    put(to, 2, 20);       /* needs version 2.0 */
    put(to, 4, 0);        /* no flags, stored */
    put(to, 4, 0x210000); /* 1980-01-01 00:00 */
    put(to, 4, crc);
    put(to, 4, entry_size(array));
    put(to, 4, entry_size(array));
    put(to, 2, name_length(array));
    put(to, 2, 0);
}

static void put_name(unsigned char **to, const kb_stored_array *array)
{
    memcpy(*to, array->name, strlen(array->name));
    memcpy(*to + strlen(array->name), ".npy", 4);
    *to += name_length(array);
}

/* Headers before the arrays, with their checksums, and the list of them behind. */
static kbass_status finish_npz(const kb_array_file *f, kbass_error *error)
{
    unsigned char bytes[CENTRAL_HEADER + KB_LONGEST_NAME + 8], *at = bytes;
    uint64_t central = f->size, written = 0;
    kbass_status status = KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < f->n; i++) {
        const kb_stored_array *array = &f->arrays[i];
        uint32_t crc = 0;
        status = checksum(f, array, &crc, error);
        at = bytes;
        put(&at, 4, 0x04034b50);
        put_description(&at, array, crc);
        put_name(&at, array);
        if (status == KBASS_OK) status = write_at(f, array->header, bytes, (size_t)(at - bytes), error);
        at = bytes;
        put(&at, 4, 0x02014b50);
        put(&at, 2, 20);
        put_description(&at, array, crc);
        put(&at, 2, 0); /* comment */
        put(&at, 4, 0); /* disk, internal attributes */
        put(&at, 4, 0); /* external attributes */
        put(&at, 4, array->header);
        put_name(&at, array);
        if (status == KBASS_OK) status = write_at(f, central + written, bytes, (size_t)(at - bytes), error);
        written += (uint64_t)(at - bytes);
    }
    at = bytes;
    put(&at, 4, 0x06054b50);
    put(&at, 4, 0); /* one disk */
    put(&at, 2, f->n);
    put(&at, 2, f->n);
    put(&at, 4, written);
    put(&at, 4, central);
    put(&at, 2, 0);
    return status == KBASS_OK ? write_at(f, central + written, bytes, END_OF_CENTRAL, error) : status;
}

/* ---------------------------------------------------------------- layout */

static kbass_status place(kb_array_file *f, const char *path, kbass_error *error)
{
    for (size_t i = 0; i < f->n; i++) {
        kb_stored_array *array = &f->arrays[i];
        array->header = f->size;
        if (f->kind == KB_NPZ_FILE) f->size += LOCAL_HEADER + name_length(array);
        array->offset = f->size + NPY_HEADER;
        f->size += entry_size(array);
    }
    if (f->kind == KB_NPY_FILE && f->n != 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: an NPY has room for one array, found %zu: write .npz or .h5",
                       path, f->n);
    if (f->kind == KB_NPZ_FILE && f->size > UINT32_MAX - (1 << 20))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: an NPZ ends at 4 GB: write .h5", path);
    return KBASS_OK;
}

static kbass_status lay_out(kb_array_file *f, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (f->kind == KB_HDF5_FILE) return kb_hdf5_lay_out(f->descriptor, f->part.path, f->n, f->arrays, error);
    for (size_t i = 0; status == KBASS_OK && i < f->n; i++) {
        unsigned char header[NPY_HEADER];
        make_npy_header(&f->arrays[i], header);
        status = write_at(f, f->arrays[i].offset - NPY_HEADER, header, sizeof header, error);
    }
    return status;
}

kbass_status kb_array_file_create(const char *path, size_t n, const kb_stored_array *arrays, kb_array_file *f,
                                  kbass_error *error)
{
    *f = (kb_array_file){.kind = kb_file_kind_of(path), .n = n, .arrays = KB_NEW(kb_stored_array, n)};
    if (!f->arrays) return kb_out_of_memory(error, "writing");
    memcpy(f->arrays, arrays, n * sizeof *arrays);
    kbass_status status = place(f, path, error);
    if (status == KBASS_OK) status = kb_replace_begin(path, &f->part, error);
    if (status != KBASS_OK) {
        kb_free(f->arrays);
        return status;
    }
    f->descriptor = fileno(f->part.file);
    if (!f->part.target)
        status = kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: arrays need a file that can be sought in", path);
    if (status == KBASS_OK) status = lay_out(f, error);
    if (status != KBASS_OK) kb_array_file_end(f, status, error);
    return status;
}

kbass_status kb_array_file_put(const kb_array_file *f, size_t array, size_t first, size_t n, const double *values,
                               kbass_error *error)
{
    return write_at(f, f->arrays[array].offset + first * sizeof *values, values, n * sizeof *values, error);
}

kbass_status kb_array_file_get(const kb_array_file *f, size_t array, size_t first, size_t n, double *values,
                               kbass_error *error)
{
    return read_at(f, f->arrays[array].offset + first * sizeof *values, values, n * sizeof *values, error);
}

kbass_status kb_array_file_end(kb_array_file *f, kbass_status status, kbass_error *error)
{
    if (status == KBASS_OK && f->kind == KB_NPZ_FILE) status = finish_npz(f, error);
    kb_free(f->arrays);
    return kb_replace_end(&f->part, status, error);
}
