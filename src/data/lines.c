#include "data/lines.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { BLOCK = 8 << 20, LONGEST_LINE = 256 << 20, SHRUNK_BY = 16, LEAST_ROOM = 64, LONGEST_CELL = 4096 };

static bool begins_with(const kb_lines *lines, const char *bytes, size_t n)
{
    return lines->size >= n && memcmp(lines->bytes, bytes, n) == 0;
}

/* What is read: the file, or the text that was made of a sheet in it. */
static void take_source(kb_lines *lines, const kb_reading *r)
{
    lines->bytes = r->sheet ? (const unsigned char *)r->sheet : r->file.bytes;
    lines->size = r->sheet ? r->sheet_size : r->file.size;
    lines->is_stream = !r->sheet && r->file.is_stream;
    lines->is_gzip = !r->sheet && begins_with(lines, "\x1f\x8b", 2);
}

kbass_status kb_lines_open(kb_lines *lines, kb_reading *reading)
{
    *lines = (kb_lines){.reading = reading};
    take_source(lines, reading);
    kbass_status status = lines->is_gzip ? kb_file_complete(&reading->file, reading->error) : KBASS_OK;
    if (status != KBASS_OK) return status;
    take_source(lines, reading);
    size_t block = reading->block ? reading->block : BLOCK;
    size_t expected = lines->is_gzip ? SHRUNK_BY * lines->size : lines->size;
    lines->capacity = expected < block && !lines->is_stream ? expected + 1 : block;
    lines->text = KB_NEW(char, lines->capacity);
    bool is_open =
        lines->text && (!lines->is_gzip || kb_inflater_open(&lines->inflater, lines->bytes, lines->size, KB_GZIP));
    return is_open ? KBASS_OK : kb_out_of_memory(reading->error, reading->file.path);
}

void kb_lines_close(kb_lines *lines)
{
    kb_inflater_close(&lines->inflater);
    kb_free(lines->text);
    kb_free(lines->raw);
}

size_t kb_lines_count(const char *begin, const char *end)
{
    size_t n = 0;
    while (begin < end && (begin = memchr(begin, '\n', (size_t)(end - begin)))) {
        begin++;
        n++;
    }
    return n;
}

static kbass_status refuse_nul_byte(const kb_lines *lines, const char *nul)
{
    size_t line = lines->n_lines + kb_lines_count(lines->text, nul) + 1;
    return kb_fail(lines->reading->error, KBASS_ERROR_DATA,
                   "%s:%zu: a NUL byte where text is needed (UTF-8, one row a line; files of other programs have to be "
                   "saved as CSV)",
                   lines->reading->file.path, line);
}

/* \r\n stays, the \r being a blank at the end of its line; a \r alone becomes \n. The last byte waits for the next. */
static void settle_line_ends(char *begin, char *end, bool is_over)
{
    if (begin == end) return;
    char *last = is_over ? end : end - 1;
    while (begin < last && (begin = memchr(begin, '\r', (size_t)(last - begin)))) {
        if (begin + 1 == end || begin[1] != '\n') *begin = '\n';
        begin++;
    }
}

/* Text as it stands in the file. A stream's bytes are gone afterwards: they are hashed at once. */
static kbass_status copy_text(kb_lines *lines, char *to, size_t room, size_t *n)
{
    kb_reading *reading = lines->reading;
    kb_file *file = &reading->file;
    kbass_status status = KBASS_OK;
    if (lines->taken < lines->size) {
        *n = lines->size - lines->taken < room ? lines->size - lines->taken : room;
        memcpy(to, lines->bytes + lines->taken, *n);
    } else if (lines->is_stream) {
        kb_reading_hash(reading, file->size);
        status = kb_file_read(file, to, room, n, reading->error);
        kb_sha256_add(&reading->sha, to, *n);
        lines->is_over = *n < room;
    }
    lines->taken += *n;
    lines->is_over |= !lines->is_stream && lines->taken == lines->size;
    return status;
}

/* The next bytes, inflated. */
static kbass_status read_bytes(kb_lines *lines, char *to, size_t room, size_t *n)
{
    *n = 0;
    if (!lines->is_gzip) return copy_text(lines, to, room, n);
    if (!kb_inflater_read(&lines->inflater, to, room, n))
        return kb_fail(lines->reading->error, KBASS_ERROR_DATA, "%s:%zu: the compressed text %s after this line",
                       lines->reading->file.path,
                       lines->n_lines + kb_lines_count(lines->text, lines->text + lines->length + *n),
                       lines->inflater.trouble);
    lines->taken = lines->inflater.given - lines->inflater.stream.avail_in;
    lines->is_over = *n < room;
    return KBASS_OK;
}

/* The same from UTF-16, of which two bytes become three at most. */
static kbass_status read_wide(kb_lines *lines, char *to, size_t room, size_t *n)
{
    size_t wanted = (room - 1) / 3 * 2, got = 0, used = 0;
    if (lines->n_room < wanted) {
        unsigned char *grown = kb_resize(lines->raw, wanted, 1);
        if (!grown) return kb_out_of_memory(lines->reading->error, lines->reading->file.path);
        lines->raw = grown;
        lines->n_room = wanted;
    }
    kbass_status status = read_bytes(lines, (char *)lines->raw + lines->n_raw, wanted - lines->n_raw, &got);
    if (status != KBASS_OK) return status;
    got += lines->n_raw;
    *n = kb_utf16_read(lines->encoding, lines->raw, got, lines->is_over, to, &used);
    lines->n_raw = got - used;
    memmove(lines->raw, lines->raw + used, lines->n_raw);
    return KBASS_OK;
}

/* Which encoding it is shows in the first bytes: they are read again where they are UTF-16. */
static kbass_status begin_wide(kb_lines *lines, size_t *n)
{
    size_t used = 0, capacity = 2 * lines->capacity + LEAST_ROOM;
    unsigned char *raw = lines->raw = kb_resize(NULL, *n + 4, 1);
    if (raw) memcpy(raw, lines->text, *n);
    char *grown = raw ? kb_reallocate(lines->text, lines->capacity, capacity, 1) : NULL;
    if (!grown) return kb_out_of_memory(lines->reading->error, lines->reading->file.path);
    lines->text = grown;
    lines->capacity = capacity;
    lines->n_room = *n + 4;
    *n = kb_utf16_read(lines->encoding, raw, lines->n_room - 4, lines->is_over, lines->text, &used);
    lines->n_raw = lines->n_room - 4 - used;
    memmove(raw, raw + used, lines->n_raw);
    return KBASS_OK;
}

static kbass_status fill(kb_lines *lines)
{
    size_t room = lines->capacity - lines->length, n = 0;
    size_t before = lines->length ? lines->length - 1 : 0; /* a \r that waits */
    kbass_status status = lines->encoding ? read_wide(lines, lines->text + lines->length, room, &n)
                                          : read_bytes(lines, lines->text + lines->length, room, &n);
    if (status == KBASS_OK && !lines->is_known) {
        lines->is_known = true;
        lines->encoding = kb_encoding_of((const unsigned char *)lines->text, n);
        if (lines->encoding) status = begin_wide(lines, &n);
    }
    if (status != KBASS_OK) return status;
    const char *nul = memchr(lines->text + lines->length, '\0', n);
    lines->length += n;
    if (nul) return refuse_nul_byte(lines, nul);
    settle_line_ends(lines->text + before, lines->text + lines->length, lines->is_over);
    return KBASS_OK;
}

static kbass_status grow(kb_lines *lines)
{
    const kb_reading *reading = lines->reading;
    if (lines->capacity >= LONGEST_LINE)
        return kb_fail(reading->error, KBASS_ERROR_DATA, "%s:%zu: the line is longer than %d MB", reading->file.path,
                       lines->n_lines + 1, LONGEST_LINE >> 20);
    char *grown = kb_reallocate(lines->text, lines->length, 2 * lines->capacity, 1);
    if (!grown) return kb_out_of_memory(reading->error, reading->file.path);
    lines->text = grown;
    lines->capacity *= 2;
    return KBASS_OK;
}

/* The quote that closes a cell, before a separator or a line end; NULL: there is none near. */
static char *closing_quote(char *c, const char *end)
{
    if (end - c > LONGEST_CELL) end = c + LONGEST_CELL;
    for (; c < end; c++) {
        if (*c != '"') continue;
        if (c + 1 < end && c[1] == '"') c++;
        else return c + 1 == end || strchr("\n\r,;\t| ", c[1]) ? c : NULL;
    }
    return NULL;
}

/* Line ends within quoted cells, as spreadsheets have them in headers and remarks, become blanks. */
static void join_quoted(char *begin, char *end)
{
    for (char *c = begin; c < end && (c = memchr(c, '"', (size_t)(end - c))); c++) {
        bool is_first = c == begin || strchr("\n,;\t|", c[-1]);
        char *close = is_first ? closing_quote(c + 1, end) : NULL;
        if (!close) continue;
        for (; c < close; c++)
            if (*c == '\n' || *c == '\r') *c = ' ';
    }
}

/* Bytes up to the last line end. */
static size_t whole_lines(const kb_lines *lines)
{
    if (lines->is_over) return lines->length;
    size_t n = lines->length;
    while (n && lines->text[n - 1] != '\n') n--;
    return n;
}

kbass_status kb_lines_next(kb_lines *lines, char **begin, char **end)
{
    kbass_status status = KBASS_OK;
    lines->n_lines += kb_lines_count(lines->text, lines->text + lines->block);
    lines->length -= lines->block;
    memmove(lines->text, lines->text + lines->block, lines->length);
    lines->block = 0;
    while (status == KBASS_OK && !lines->block && !lines->is_over) {
        if (lines->length + (lines->encoding ? LEAST_ROOM : 0) >= lines->capacity) status = grow(lines);
        if (status == KBASS_OK) status = fill(lines);
        lines->block = whole_lines(lines);
    }
    join_quoted(lines->text, lines->text + lines->block);
    *begin = lines->text;
    *end = lines->text + lines->block;
    return status;
}
