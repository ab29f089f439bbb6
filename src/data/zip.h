/* Zip archives in memory: their directory, and one entry's bytes after another. NPZ and XLSX are such. */
#ifndef KB_ZIP_H
#define KB_ZIP_H

#include "data/inflate.h"
#include "data/read.h"

typedef struct {
    const char *name;
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t compressed, size, local; /* bytes, and where its local header is */
} kb_zip_entry;

bool kb_is_zip(const kb_file *file);
/* Number of entries and where the first is; false where the archive is damaged. */
bool kb_zip_open(const kb_file *file, uint64_t *n_entries, uint64_t *at);
/* The entry at *at, which moves on to the next. */
bool kb_zip_next(const kb_file *file, uint64_t *at, kb_zip_entry *e);
/* By its name, which must be alike to the letter. */
bool kb_zip_find(const kb_file *file, const char *name, kb_zip_entry *e);
/* Why it cannot be read, or NULL. */
const char *kb_zip_trouble(const kb_file *file, const kb_zip_entry *e);
/* Its bytes as they lie in the file, compressed or not, NULL when they do not lie in it. */
const unsigned char *kb_zip_bytes(const kb_file *file, const kb_zip_entry *e);
bool kb_zip_is_stored(const kb_zip_entry *e);

#endif
