/* NumPy's archives: a zip of NPY files, stored or deflated. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/inflate.h"
#include "data/source.h"

enum {
    END_SIZE = 22,   /* end of central directory */
    END64_SIZE = 56, /* the same with 64-bit numbers, and what says where it is */
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    LONGEST_COMMENT = 65535,
    HEADER_BYTES = 1 << 16, /* enough for any NPY header */
    STORED = 0,
    DEFLATED = 8
};

typedef struct {
    const char *name;
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t compressed, size, local; /* bytes, and where its local header is */
} entry;

/* ---------------------------------------------------------------- zip */

static uint64_t number(const unsigned char *bytes, int n)
{
    uint64_t value = 0;
    while (n--) value = value << 8 | bytes[n];
    return value;
}

static kbass_status broken(const kb_source *s, const char *what)
{
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %s: the archive is damaged or breaks off",
                   s->reading->file.path, what);
}

static const unsigned char *find_end(const kb_file *file)
{
    size_t least = file->size > END_SIZE + LONGEST_COMMENT ? file->size - END_SIZE - LONGEST_COMMENT : 0;
    if (file->size < END_SIZE) return NULL;
    for (size_t at = file->size - END_SIZE + 1; at-- > least;)
        if (memcmp(file->bytes + at, "PK\5\6", 4) == 0) return file->bytes + at;
    return NULL;
}

/* Number of entries and where the first is. */
static bool find_directory(const kb_file *file, uint64_t *n_entries, uint64_t *at)
{
    const unsigned char *end = find_end(file), *locator = NULL;
    if (!end) return false;
    *n_entries = number(end + 10, 2);
    *at = number(end + 16, 4);
    if (end - file->bytes >= LOCATOR_SIZE) locator = end - LOCATOR_SIZE;
    if (!locator || memcmp(locator, "PK\6\7", 4) != 0) return true;
    uint64_t end64 = number(locator + 8, 8);
    if (end64 > file->size || file->size - end64 < END64_SIZE || memcmp(file->bytes + end64, "PK\6\6", 4) != 0)
        return false;
    *n_entries = number(file->bytes + end64 + 32, 8);
    *at = number(file->bytes + end64 + 48, 8);
    return true;
}

/* Sizes that need more than 32 bits are in an extra field, those that do in this order. */
static bool read_wide(const unsigned char *extra, size_t length, entry *e)
{
    uint64_t *wide[] = {&e->size, &e->compressed, &e->local};
    while (length >= 4) {
        size_t n = (size_t)number(extra + 2, 2);
        if (n > length - 4) return false;
        const unsigned char *value = extra + 4;
        for (size_t i = 0; number(extra, 2) == 1 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX) continue;
            if (value + 8 > extra + 4 + n) return false;
            *wide[i] = number(value, 8);
            value += 8;
        }
        extra += 4 + n;
        length -= 4 + n;
    }
    return true;
}

/* The entry at *at, which moves on to the next. */
static bool read_entry(const kb_file *file, uint64_t *at, entry *e)
{
    if (*at > file->size || file->size - *at < ENTRY_SIZE) return false;
    const unsigned char *b = file->bytes + *at;
    if (memcmp(b, "PK\1\2", 4) != 0) return false;
    size_t name = (size_t)number(b + 28, 2), extra = (size_t)number(b + 30, 2), comment = (size_t)number(b + 32, 2);
    if (file->size - *at - ENTRY_SIZE < name + extra + comment) return false;
    *e = (entry){.name = (const char *)b + ENTRY_SIZE,
                 .name_length = name,
                 .flags = (unsigned)number(b + 8, 2),
                 .method = (unsigned)number(b + 10, 2),
                 .crc = (uint32_t)number(b + 16, 4),
                 .compressed = number(b + 20, 4),
                 .size = number(b + 24, 4),
                 .local = number(b + 42, 4)};
    *at += ENTRY_SIZE + name + extra + comment;
    return read_wide(b + ENTRY_SIZE + name, extra, e);
}

/* The entry's bytes as they lie in the file, NULL when they do not lie in it. */
static const unsigned char *entry_bytes(const kb_file *file, const entry *e)
{
    if (e->local > file->size || file->size - e->local < LOCAL_SIZE) return NULL;
    const unsigned char *b = file->bytes + e->local;
    if (memcmp(b, "PK\3\4", 4) != 0) return NULL;
    uint64_t front = LOCAL_SIZE + number(b + 26, 2) + number(b + 28, 2), room = file->size - e->local;
    return front <= room && e->compressed <= room - front ? b + front : NULL;
}

static const char *trouble_of(const kb_file *file, const entry *e)
{
    if (e->flags & 1) return "it is encrypted";
    if (e->method != STORED && e->method != DEFLATED) return "neither stored nor deflated";
    if (!entry_bytes(file, e)) return "it lies outside the file";
    if (e->method == STORED && e->compressed != e->size) return "its two sizes differ";
    if (e->size / KB_BEST_RATIO > e->compressed) return "it claims to be more than its bytes can hold";
    if (kb_is_bomb(e->size, e->compressed)) return "it inflates to more than 200 times its size";
    return NULL;
}

/* ---------------------------------------------------------------- arrays */

/* The front of the entry, inflated into `work` where needed. */
static kbass_status list_entry(kb_source *s, const entry *e, size_t place, unsigned char *work)
{
    const kb_file *file = &s->reading->file;
    char name[KB_LONGEST_NAME + 1] = "";
    size_t got = 0, shown = e->name_length < KB_LONGEST_NAME ? e->name_length : KB_LONGEST_NAME;
    size_t ending = shown > 4 && memcmp(e->name + shown - 4, ".npy", 4) == 0 ? 4 : 0;
    memcpy(name, e->name, shown - ending);
    const char *trouble = trouble_of(file, e);
    if (!ending) return KBASS_OK;
    if (trouble) return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: %s", file->path, name, trouble);
    const unsigned char *bytes = entry_bytes(file, e);
    if (e->method == STORED) return kb_npy_list(s, name, bytes, e->size, e->size, place);
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
    if (status == KBASS_OK && !find_directory(file, &n, &at)) status = broken(s, "its directory");
    for (uint64_t i = 0; status == KBASS_OK && i < n; i++, at = next) {
        entry e;
        next = at;
        status = read_entry(file, &next, &e) ? list_entry(s, &e, at, work) : broken(s, "its directory");
    }
    kb_free(work);
    return status;
}

/* Inflated and measured; the checksum is the archive's own. */
static kbass_status inflate_entry(kb_source *s, const entry *e, const unsigned char *bytes, kb_array *array)
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

static uint32_t checksum(const unsigned char *bytes, size_t n) { return (uint32_t)crc32_z(0, bytes, n); }

static kbass_status load(kb_source *s, kb_array *array)
{
    const kb_file *file = &s->reading->file;
    entry e;
    uint64_t at = array->place;
    kbass_status status = read_entry(file, &at, &e) ? KBASS_OK : broken(s, "its directory");
    const unsigned char *bytes = status == KBASS_OK ? entry_bytes(file, &e) : NULL;
    if (status == KBASS_OK && e.method == DEFLATED) {
        status = inflate_entry(s, &e, bytes, array);
        bytes = array->owned;
    }
    if (status == KBASS_OK && checksum(bytes, e.size) != e.crc)
        status = kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: %.200s: its checksum differs: it was damaged",
                         file->path, array->name);
    if (status == KBASS_OK) array->bytes = bytes + array->offset;
    return status;
}

static bool recognise(const kb_file *file)
{
    return file->size >= 4 && (!memcmp(file->bytes, "PK\3\4", 4) || !memcmp(file->bytes, "PK\5\6", 4));
}

const kb_format kb_format_npz = {"NPZ", recognise, list, load, NULL};
