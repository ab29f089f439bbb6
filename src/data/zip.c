#include "data/zip.h"

#include <string.h>

enum {
    END_SIZE = 22,   /* end of central directory */
    END64_SIZE = 56, /* the same with 64-bit numbers, and what says where it is */
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    LONGEST_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8
};

bool kb_is_zip(const kb_file *file)
{
    return file->size >= 4 && (!memcmp(file->bytes, "PK\3\4", 4) || !memcmp(file->bytes, "PK\5\6", 4));
}

static uint64_t number(const unsigned char *bytes, int n)
{
    uint64_t value = 0;
    while (n--) value = value << 8 | bytes[n];
    return value;
}

static const unsigned char *find_end(const kb_file *file)
{
    size_t least = file->size > END_SIZE + LONGEST_COMMENT ? file->size - END_SIZE - LONGEST_COMMENT : 0;
    if (file->size < END_SIZE) return NULL;
    for (size_t at = file->size - END_SIZE + 1; at-- > least;)
        if (memcmp(file->bytes + at, "PK\5\6", 4) == 0) return file->bytes + at;
    return NULL;
}

bool kb_zip_open(const kb_file *file, uint64_t *n_entries, uint64_t *at)
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
static bool read_wide(const unsigned char *extra, size_t length, kb_zip_entry *e)
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

bool kb_zip_next(const kb_file *file, uint64_t *at, kb_zip_entry *e)
{
    if (*at > file->size || file->size - *at < ENTRY_SIZE) return false;
    const unsigned char *b = file->bytes + *at;
    if (memcmp(b, "PK\1\2", 4) != 0) return false;
    size_t name = (size_t)number(b + 28, 2), extra = (size_t)number(b + 30, 2), comment = (size_t)number(b + 32, 2);
    if (file->size - *at - ENTRY_SIZE < name + extra + comment) return false;
    *e = (kb_zip_entry){.name = (const char *)b + ENTRY_SIZE,
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

const unsigned char *kb_zip_bytes(const kb_file *file, const kb_zip_entry *e)
{
    if (e->local > file->size || file->size - e->local < LOCAL_SIZE) return NULL;
    const unsigned char *b = file->bytes + e->local;
    if (memcmp(b, "PK\3\4", 4) != 0) return NULL;
    uint64_t front = LOCAL_SIZE + number(b + 26, 2) + number(b + 28, 2), room = file->size - e->local;
    return front <= room && e->compressed <= room - front ? b + front : NULL;
}

const char *kb_zip_trouble(const kb_file *file, const kb_zip_entry *e)
{
    if (e->flags & 1) return "it is encrypted";
    if (e->method != STORED && e->method != DEFLATED) return "neither stored nor deflated";
    if (!kb_zip_bytes(file, e)) return "it lies outside the file";
    if (e->method == STORED && e->compressed != e->size) return "its two sizes differ";
    if (e->size / KB_BEST_RATIO > e->compressed) return "it claims to be more than its bytes can hold";
    if (kb_is_bomb(e->size, e->compressed)) return "it inflates to more than 200 times its size";
    return NULL;
}

bool kb_zip_is_stored(const kb_zip_entry *e) { return e->method == STORED; }

bool kb_zip_find(const kb_file *file, const char *name, kb_zip_entry *e)
{
    uint64_t n = 0, at = 0;
    size_t length = strlen(name);
    if (!kb_zip_open(file, &n, &at)) return false;
    for (uint64_t i = 0; i < n && kb_zip_next(file, &at, e); i++)
        if (e->name_length == length && memcmp(e->name, name, length) == 0) return true;
    return false;
}
