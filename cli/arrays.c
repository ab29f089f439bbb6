#include "arrays.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"
#include "output.h"

enum { NPY_HEADER = 128, LOCAL_HEADER = 30, CENTRAL_HEADER = 46, END_OF_CENTRAL = 22 };

cli_format cli_format_of(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && !strcasecmp(dot, ".npy")) return CLI_NPY;
    if (dot && !strcasecmp(dot, ".npz")) return CLI_NPZ;
    if (dot && !strcasecmp(dot, ".json")) return CLI_JSON;
    return CLI_CSV;
}

static size_t count(const cli_array *array)
{
    size_t n = 1;
    for (size_t i = 0; i < array->n_dimensions; i++) n *= array->shape[i];
    return n;
}

/* ---------------------------------------------------------------- bytes, the lowest first on every machine */

static void put(unsigned char **to, size_t n_bytes, uint64_t value)
{
    for (size_t i = 0; i < n_bytes; i++) *(*to)++ = (unsigned char)(value >> 8 * i);
}

static void put_text(unsigned char **to, const char *text)
{
    memcpy(*to, text, strlen(text));
    *to += strlen(text);
}

static void put_doubles(unsigned char **to, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put(to, sizeof bits, bits);
    }
}

/* The checksum of ZIP: CRC-32, bit by bit. */
static uint32_t checksum(size_t n, const unsigned char *bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static bool write_bytes(FILE *file, const unsigned char *from, const unsigned char *to)
{
    size_t n = (size_t)(to - from);
    return fwrite(from, 1, n, file) == n;
}

/* ---------------------------------------------------------------- NPY: a header in Python's words, then the values */

static size_t npy_size(const cli_array *array) { return NPY_HEADER + 8 * count(array); }

static void put_npy(unsigned char **to, const cli_array *array)
{
    char header[NPY_HEADER - 10 + 1];
    int used = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < array->n_dimensions; i++)
        used += snprintf(header + used, sizeof header - (size_t)used, "%zu,", array->shape[i]);
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    snprintf(header + used, sizeof header - (size_t)used, "%*s", (int)sizeof header - 2 - used, "");
    header[sizeof header - 2] = '\n';
    put_text(to, "\x93NUMPY\x01");
    put(to, 1, 0);
    put(to, 2, NPY_HEADER - 10);
    memcpy(*to, header, NPY_HEADER - 10);
    *to += NPY_HEADER - 10;
    put_doubles(to, count(array), array->values);
}

static bool write_npy(FILE *file, const cli_array *array)
{
    unsigned char *bytes = malloc(npy_size(array)), *end = bytes;
    if (!bytes) return false;
    put_npy(&end, array);
    bool is_written = write_bytes(file, bytes, end);
    free(bytes);
    return is_written;
}

/* ---------------------------------------------------------------- NPZ: a ZIP archive of them, stored as they are */

typedef struct {
    uint32_t offset, size, crc;
} zip_entry;

/* What the local and the central header have in common; the date is the first that ZIP knows. */
static void put_description(unsigned char **to, const zip_entry *entry, size_t name_length)
{
    put(to, 2, 20);       /* needs version 2.0 */
    put(to, 4, 0);        /* no flags, stored */
    put(to, 4, 0x210000); /* 1980-01-01 00:00 */
    put(to, 4, entry->crc);
    put(to, 4, entry->size);
    put(to, 4, entry->size);
    put(to, 2, name_length);
    put(to, 2, 0);
}

static bool write_entry(FILE *file, const cli_array *array, uint32_t offset, zip_entry *entry)
{
    size_t size = npy_size(array), length = strlen(array->name) + 4;
    unsigned char *content = malloc(size), *end = content, *header = malloc(LOCAL_HEADER + length), *at = header;
    bool is_written = content && header;
    if (is_written) {
        put_npy(&end, array);
        *entry = (zip_entry){offset, (uint32_t)size, checksum(size, content)};
        put(&at, 4, 0x04034b50);
        put_description(&at, entry, length);
        put_text(&at, array->name);
        put_text(&at, ".npy");
        is_written = write_bytes(file, header, at) && write_bytes(file, content, end);
    }
    free(content);
    free(header);
    return is_written;
}

static bool write_central(FILE *file, const cli_array *array, const zip_entry *entry)
{
    size_t length = strlen(array->name) + 4;
    unsigned char *header = malloc(CENTRAL_HEADER + length), *at = header;
    if (!header) return false;
    put(&at, 4, 0x02014b50);
    put(&at, 2, 20);
    put_description(&at, entry, length);
    put(&at, 2, 0); /* comment */
    put(&at, 4, 0); /* disk, internal attributes */
    put(&at, 4, 0); /* external attributes */
    put(&at, 4, entry->offset);
    put_text(&at, array->name);
    put_text(&at, ".npy");
    bool is_written = write_bytes(file, header, at);
    free(header);
    return is_written;
}

static bool write_npz(FILE *file, size_t n, const cli_array *arrays)
{
    zip_entry *entries = calloc(n, sizeof *entries);
    unsigned char last[END_OF_CENTRAL], *at = last;
    uint64_t offset = 0, central = 0;
    bool is_written = entries != NULL;
    for (size_t i = 0; is_written && i < n; i++) {
        is_written = write_entry(file, &arrays[i], (uint32_t)offset, &entries[i]);
        offset += LOCAL_HEADER + strlen(arrays[i].name) + 4 + npy_size(&arrays[i]);
        if (offset > UINT32_MAX) errno = EFBIG, is_written = false; /* the format's own limit */
    }
    for (size_t i = 0; is_written && i < n; i++) {
        is_written = write_central(file, &arrays[i], &entries[i]);
        central += CENTRAL_HEADER + strlen(arrays[i].name) + 4;
    }
    put(&at, 4, 0x06054b50);
    put(&at, 4, 0); /* one disk */
    put(&at, 2, n);
    put(&at, 2, n);
    put(&at, 4, central);
    put(&at, 4, offset);
    put(&at, 2, 0);
    free(entries);
    return is_written && write_bytes(file, last, at);
}

/* ---------------------------------------------------------------- JSON: one key for each array, nested lists */

static void write_name(FILE *file, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') fputc('\\', file);
        fputc(*name, file);
    }
}

static void write_number(FILE *file, double value)
{
    if (isfinite(value)) fprintf(file, "%.15g", value);
    else fputs("null", file);
}

/* How many of the nested lists begin at value `i`; as many end before it. */
static size_t lists_at(const cli_array *array, size_t i)
{
    size_t n = 0, block = 1;
    for (size_t d = array->n_dimensions; d-- > 0;) n += i % (block *= array->shape[d]) == 0;
    return n;
}

static void write_list(FILE *file, const cli_array *array)
{
    size_t n = count(array);
    for (size_t i = 0; i <= n; i++) {
        size_t turns = lists_at(array, i);
        for (size_t k = 0; i && k < turns; k++) fputc(']', file);
        if (i == n) break;
        if (i) fputs(turns ? ",\n    " : ", ", file);
        for (size_t k = 0; k < turns; k++) fputc('[', file);
        write_number(file, array->values[i]);
    }
}

static bool write_json(FILE *file, size_t n, const cli_array *arrays)
{
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n  \"" : "{\n  \"", file);
        write_name(file, arrays[i].name);
        fputs("\": ", file);
        write_list(file, &arrays[i]);
    }
    return fputs("\n}\n", file) >= 0;
}

/* ---------------------------------------------------------------- the file */

int cli_arrays_write(const char *path, size_t n, const cli_array *arrays)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    bool is_written = file != NULL;
    cli_format format = cli_format_of(path);
    if (is_written)
        is_written = format == CLI_NPY   ? write_npy(file, arrays)
                     : format == CLI_NPZ ? write_npz(file, n, arrays)
                                         : write_json(file, n, arrays);
    int reason = errno;
    if (file) is_written = fclose(file) == 0 && is_written;
    int code = is_written ? cli_output_bytes(path, size, bytes) : EXIT_NO_RESULT;
    if (!is_written) cli_fail("%s: cannot be written: %s", path, strerror(reason));
    free(bytes);
    return code;
}
