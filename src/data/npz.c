/* NumPy's archives: a zip of NPY files, stored or deflated. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/inflate.h"
#include "data/source.h"
#include "data/zip.h"

enum { HEADER_BYTES = 1 << 16 }; /* enough for any NPY header */

static kbass_status broken(const kb_source *s, const char *what)
{
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %s: the archive is damaged or breaks off",
                   s->reading->file.path, what);
}

/* ---------------------------------------------------------------- arrays */

/* The front of the entry, inflated into `work` where needed. */
static kbass_status list_entry(kb_source *s, const kb_zip_entry *e, size_t place, unsigned char *work)
{
    const kb_file *file = &s->reading->file;
    char name[KB_LONGEST_NAME + 1] = "";
    size_t got = 0, shown = e->name_length < KB_LONGEST_NAME ? e->name_length : KB_LONGEST_NAME;
    size_t ending = shown > 4 && memcmp(e->name + shown - 4, ".npy", 4) == 0 ? 4 : 0;
    memcpy(name, e->name, shown - ending);
    const char *trouble = kb_zip_trouble(file, e);
    if (!ending) return KBASS_OK;
    if (trouble) return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: %s", file->path, name, trouble);
    const unsigned char *bytes = kb_zip_bytes(file, e);
    if (kb_zip_is_stored(e)) return kb_npy_list(s, name, bytes, e->size, e->size, place);
    kb_inflater z;
    bool is_sound =
        kb_inflater_open(&z, bytes, e->compressed, KB_RAW) && kb_inflater_read(&z, work, HEADER_BYTES, &got);
    kb_inflater_close(&z);
    if (is_sound) return kb_npy_list(s, name, work, got < e->size ? got : e->size, e->size, place);
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: what is compressed %s", file->path, name,
                   z.trouble);
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    uint64_t n = 0, at = 0, next = 0;
    unsigned char *work = KB_NEW(unsigned char, HEADER_BYTES);
    kbass_status status = work ? KBASS_OK : kb_out_of_memory(s->reading->error, "the archive");
    if (status == KBASS_OK && !kb_zip_open(file, &n, &at)) status = broken(s, "its directory");
    for (uint64_t i = 0; status == KBASS_OK && i < n; i++, at = next) {
        kb_zip_entry e;
        next = at;
        status = kb_zip_next(file, &next, &e) ? list_entry(s, &e, at, work) : broken(s, "its directory");
    }
    kb_free(work);
    return status;
}

/* Inflated and measured; the checksum is the archive's own. */
static kbass_status inflate_entry(kb_source *s, const kb_zip_entry *e, const unsigned char *bytes, kb_array *array)
{
    kb_inflater z;
    size_t got = 0;
    unsigned char *owned = KB_NEW(unsigned char, e->size);
    if (!owned) return kb_out_of_memory(s->reading->error, array->name);
    bool is_sound = kb_inflater_open(&z, bytes, e->compressed, KB_RAW) && kb_inflater_read(&z, owned, e->size, &got);
    kb_inflater_close(&z);
    array->owned = owned;
    if (is_sound && got == e->size) return KBASS_OK;
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: what is compressed %s", s->reading->file.path,
                   array->name, z.trouble ? z.trouble : "breaks off");
}

/* In pieces: what was mapped need not be in memory all at once. */
static uint32_t checksum(const kb_file *file, const unsigned char *bytes, size_t n)
{
    static const size_t piece = (size_t)16 << 20;
    uLong crc = 0;
    for (size_t at = 0; at < n; at += piece) {
        crc = crc32_z(crc, bytes + at, n - at < piece ? n - at : piece);
        if (n > piece) kb_file_forget(file);
    }
    return (uint32_t)crc;
}

static kbass_status load(kb_source *s, kb_array *array)
{
    const kb_file *file = &s->reading->file;
    kb_zip_entry e;
    uint64_t at = array->place;
    kbass_status status = kb_zip_next(file, &at, &e) ? KBASS_OK : broken(s, "its directory");
    const unsigned char *bytes = status == KBASS_OK ? kb_zip_bytes(file, &e) : NULL;
    if (status == KBASS_OK && !kb_zip_is_stored(&e)) {
        status = inflate_entry(s, &e, bytes, array);
        bytes = array->owned;
    }
    if (status == KBASS_OK && checksum(file, bytes, e.size) != e.crc)
        status = kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: its checksum differs: it was damaged",
                         file->path, array->name);
    if (status == KBASS_OK) array->bytes = bytes + array->offset;
    return status;
}

const kb_format kb_format_npz = {"NPZ", kb_is_zip, list, load, NULL, NULL};
