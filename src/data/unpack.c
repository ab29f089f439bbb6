/* Files that were packed: gzip around something that is no text, and zip archives of tables. What is inside is read as
 * if it were the file. Text in gzip is inflated piece by piece while it is read (lines.c). */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/logs.h"
#include "data/xlsx.h"

enum { HEAD_BYTES = 1 << 16, PIECE = 1 << 20, LIST_SIZE = 200 };

static kbass_status cannot(const kb_reading *r, const char *what)
{
    return kb_fail(r->error, KBASS_ERROR_DATA, "%s: what is packed in it %s", r->file.path, what ? what : "breaks off");
}

/* The bytes take the file's place; its own are hashed before. */
static void replace(kb_reading *r, unsigned char *bytes, size_t n)
{
    kb_file packed = r->file;
    kb_reading_hash(r, packed.size);
    r->file.bytes = bytes;
    r->file.size = n;
    r->file.is_mapped = r->file.is_stream = false;
    r->hashed = n;
    packed.path = NULL; /* its descriptor stays */
    kb_file_close(&packed);
}

/* `size` bytes, or all that come where it is not known. */
static kbass_status inflate_all(kb_reading *r, kb_inflater *z, size_t size, unsigned char **bytes, size_t *n)
{
    size_t capacity = size ? size : PIECE, got = 1;
    *n = 0;
    *bytes = NULL;
    while (got && (!size || *n < size)) {
        if (!*bytes || *n == capacity) {
            if (*bytes) capacity *= 2;
            unsigned char *grown = kb_resize(*bytes, capacity, 1);
            if (!grown) return kb_out_of_memory(r->error, r->file.path);
            *bytes = grown;
        }
        size_t wanted = capacity - *n < PIECE ? capacity - *n : PIECE;
        if (!kb_inflater_read(z, *bytes + *n, wanted, &got)) return cannot(r, z->trouble);
        *n += got;
        kbass_status status = kb_reading_tell(r, 0);
        if (status != KBASS_OK) return status;
    }
    return size && *n < size ? cannot(r, NULL) : KBASS_OK;
}

/* ---------------------------------------------------------------- gzip */

/* Something that is read by another way than text is. */
static bool is_no_text(kb_reading *r)
{
    unsigned char head[HEAD_BYTES];
    size_t n = 0;
    kb_inflater z;
    if (kb_inflater_open(&z, r->file.bytes, r->file.size, KB_GZIP)) kb_inflater_read(&z, head, sizeof head, &n);
    kb_inflater_close(&z);
    kb_file inside = {.path = r->file.path, .bytes = head, .size = n, .is_stream = n == sizeof head};
    return n && (kb_format_name(&inside) || kb_file_foreign(&inside) || kb_is_json(&inside) || kb_is_las(&inside) ||
                 kb_is_influx(&inside));
}

static kbass_status unpack_gzip(kb_reading *r)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    kb_inflater z;
    kbass_status status = kb_file_complete(&r->file, r->error);
    if (status != KBASS_OK || !is_no_text(r)) return status;
    if (!kb_inflater_open(&z, r->file.bytes, r->file.size, KB_GZIP)) return kb_out_of_memory(r->error, r->file.path);
    status = inflate_all(r, &z, 0, &bytes, &n);
    kb_inflater_close(&z);
    if (status == KBASS_OK) replace(r, bytes, n);
    else kb_free(bytes);
    snprintf(r->packed_as, sizeof r->packed_as, "gzip");
    return status;
}

/* ---------------------------------------------------------------- zip */

static bool ends_with(const kb_zip_entry *e, const char *ending)
{
    size_t n = strlen(ending);
    return e->name_length >= n && memcmp(e->name + e->name_length - n, ending, n) == 0;
}

/* Folders, and what Macintoshes and Windows add. */
static bool is_aside(const kb_zip_entry *e)
{
    return ends_with(e, "/") || ends_with(e, ".DS_Store") || ends_with(e, "Thumbs.db") ||
           (e->name_length > 9 && memcmp(e->name, "__MACOSX/", 9) == 0);
}

/* The only file in an archive, or the one that was named; *n of them there are, and SIZE_MAX where it is no archive of
   files: NumPy's arrays, workbooks. */
static kb_zip_entry find_entry(const kb_reading *r, size_t *n, char list[LIST_SIZE])
{
    kb_zip_entry e, found = {0};
    uint64_t n_entries = 0, at = 0;
    size_t length = 0;
    *n = 0;
    *list = '\0';
    if (!kb_zip_open(&r->file, &n_entries, &at)) *n = SIZE_MAX;
    for (uint64_t i = 0; *n != SIZE_MAX && i < n_entries && kb_zip_next(&r->file, &at, &e); i++) {
        if (is_aside(&e)) continue;
        if (ends_with(&e, ".npy")) *n = SIZE_MAX;
        else ++*n;
        bool is_named =
            r->inside && strlen(r->inside) == e.name_length && memcmp(e.name, r->inside, e.name_length) == 0;
        if (is_named || (!found.name && !r->inside)) found = e;
        if (length < LIST_SIZE)
            length += (size_t)snprintf(list + length, LIST_SIZE - length, "%s%.*s", length ? ", " : "",
                                       (int)e.name_length, e.name);
    }
    if (length >= LIST_SIZE) memcpy(list + LIST_SIZE - 4, "...", 4);
    return found;
}

static kbass_status unpack_entry(kb_reading *r, const kb_zip_entry *e)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    kb_inflater z;
    const char *trouble = kb_zip_trouble(&r->file, e);
    if (trouble || !e->size)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %.*s in it cannot be read: %s", r->file.path,
                       (int)(e->name_length < 100 ? e->name_length : 100), e->name, trouble ? trouble : "it is empty");
    const unsigned char *packed = kb_zip_bytes(&r->file, e);
    kbass_status status = KBASS_OK;
    if (kb_zip_is_stored(e)) {
        bytes = KB_NEW(unsigned char, e->size);
        if (!bytes) return kb_out_of_memory(r->error, r->file.path);
        memcpy(bytes, packed, e->size);
        n = e->size;
    } else if (!kb_inflater_open(&z, packed, e->compressed, KB_RAW)) {
        status = kb_out_of_memory(r->error, r->file.path);
    } else {
        status = inflate_all(r, &z, e->size, &bytes, &n);
        kb_inflater_close(&z);
    }
    if (status == KBASS_OK && (uint32_t)crc32_z(0, bytes, n) != e->crc)
        status = cannot(r, "has another checksum: it was damaged");
    if (status == KBASS_OK) replace(r, bytes, n);
    else kb_free(bytes);
    return status;
}

static kbass_status unpack_zip(kb_reading *r)
{
    char list[LIST_SIZE];
    size_t n = 0;
    kbass_status status = kb_file_complete(&r->file, r->error);
    if (status != KBASS_OK || kb_is_workbook(&r->file) || kb_file_foreign(&r->file)) return status;
    kb_zip_entry e = find_entry(r, &n, list);
    if (n == SIZE_MAX || !n) return KBASS_OK;
    if (!e.name)
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: no file \"%.60s\" inside; there are: %s", r->file.path,
                       r->inside, list);
    if (n > 1 && !r->inside)
        return kb_fail(r->error, KBASS_ERROR_DATA,
                       "%s: an archive of %zu files, name one as in file.zip:NAME; there are: %s", r->file.path, n,
                       list);
    r->inside = NULL;
    snprintf(r->packed_as, sizeof r->packed_as, "%.*s in the archive", (int)(e.name_length < 60 ? e.name_length : 60),
             e.name);
    return unpack_entry(r, &e);
}

kbass_status kb_file_unpack(kb_reading *r)
{
    const kb_file *file = &r->file;
    if (file->size > 2 && memcmp(file->bytes, "\x1f\x8b", 2) == 0) return unpack_gzip(r);
    return kb_is_zip(file) ? unpack_zip(r) : KBASS_OK;
}
