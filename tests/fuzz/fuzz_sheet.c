/* The parts of a workbook: what fuzz_data cannot reach behind the checksums of a zip archive.
 *
 * The bytes are the sheet, the shared texts, the styles and the workbook, a line "----" between two of them; those that
 * are not there are as simple as can be. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "fuzz.h"
#include "kbass/kbass.h"

#define OFFICE                     "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define RELATION(id, type, target) "<Relationship Id='" id "' Type='" OFFICE "/" type "' Target='" target "'/>"

enum { N_PARTS = 7, MOST = 1 << 17 };

typedef struct {
    const char *name, *bytes;
    size_t size;
} part;

static const part usual[N_PARTS] = {
    {"xl/worksheets/sheet1.xml", "<worksheet/>", 12},
    {"xl/sharedStrings.xml", "<sst/>", 6},
    {"xl/styles.xml", "<styleSheet/>", 13},
    {"xl/workbook.xml", "<workbook><sheets><sheet name='A' r:id='r1'/></sheets></workbook>", 0},
    {"xl/_rels/workbook.xml.rels",
     "<Relationships>" RELATION("r1", "worksheet", "worksheets/sheet1.xml")
         RELATION("r2", "sharedStrings", "sharedStrings.xml") RELATION("r3", "styles", "styles.xml") "</Relationships>",
     0},
    {"_rels/.rels", "<Relationships>" RELATION("r1", "officeDocument", "xl/workbook.xml") "</Relationships>", 0},
    {"[Content_Types].xml", "<Types/>", 8},
};

/* ---------------------------------------------------------------- a zip archive, stored */

typedef struct {
    unsigned char bytes[2 * MOST];
    size_t n;
} archive;

static void put_number(archive *a, uint64_t number, int n)
{
    for (int i = 0; i < n; i++, number >>= 8) a->bytes[a->n++] = (unsigned char)number;
}

static void put(archive *a, const void *bytes, size_t n)
{
    memcpy(a->bytes + a->n, bytes, n);
    a->n += n;
}

/* What local and central headers share, from the version that is needed on. */
static void put_head(archive *a, const part *p)
{
    put_number(a, 20, 2);
    put_number(a, 0, 8); /* flags, method, time, date */
    put_number(a, crc32(0, (const unsigned char *)p->bytes, (unsigned)p->size), 4);
    put_number(a, p->size, 4);
    put_number(a, p->size, 4);
    put_number(a, strlen(p->name), 2);
    put_number(a, 0, 2);
}

static void put_archive(archive *a, const part *parts)
{
    size_t place[N_PARTS], directory;
    for (int i = 0; i < N_PARTS; i++) {
        place[i] = a->n;
        put(a, "PK\3\4", 4);
        put_head(a, &parts[i]);
        put(a, parts[i].name, strlen(parts[i].name));
        put(a, parts[i].bytes, parts[i].size);
    }
    directory = a->n;
    for (int i = 0; i < N_PARTS; i++) {
        put(a, "PK\1\2", 4);
        put_number(a, 20, 2);
        put_head(a, &parts[i]);
        put_number(a, 0, 10);
        put_number(a, place[i], 4);
        put(a, parts[i].name, strlen(parts[i].name));
    }
    size_t size = a->n - directory;
    put(a, "PK\5\6", 4);
    put_number(a, 0, 4);
    put_number(a, N_PARTS, 2);
    put_number(a, N_PARTS, 2);
    put_number(a, size, 4);
    put_number(a, directory, 4);
    put_number(a, 0, 2);
}

static void cut_parts(const char *bytes, size_t size, part *parts)
{
    static const char line[] = "\n----\n";
    memcpy(parts, usual, sizeof usual);
    for (int i = 0; i < N_PARTS; i++)
        if (!parts[i].size) parts[i].size = strlen(parts[i].bytes);
    for (int i = 0; i < 4 && size; i++) {
        const char *end = memmem(bytes, size, line, sizeof line - 1);
        size_t n = end ? (size_t)(end - bytes) : size;
        if (n) parts[i] = (part){usual[i].name, bytes, n};
        if (!end) return;
        bytes += n + sizeof line - 1;
        size -= n + sizeof line - 1;
    }
}

/* ---------------------------------------------------------------- */

static void check(const kbass_data *data)
{
    size_t n = kbass_data_rows(data), n_states = kbass_data_states(data);
    DEMAND(n > 0 && n_states > 0);
    for (size_t i = 0; i < n; i++) {
        DEMAND(isfinite(kbass_data_times(data)[i]));
        DEMAND(i == 0 || kbass_data_times(data)[i - 1] <= kbass_data_times(data)[i]);
        for (size_t k = 0; k < n_states; k++) DEMAND(!isinf(kbass_data_values(data)[i * n_states + k]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static archive a;
    part parts[N_PARTS];
    char path[40];
    kbass_data *data = NULL;
    kbass_error error = {.message = ""};
    if (size > MOST) return 0;
    a.n = 0;
    cut_parts((const char *)bytes, size, parts);
    put_archive(&a, parts);
    int descriptor = memfd_create("fuzz", 0);
    DEMAND(descriptor >= 0 && write(descriptor, a.bytes, a.n) == (ssize_t)a.n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    kbass_status status = kbass_data_read(path, NULL, &data, &error);
    DEMAND((status == KBASS_OK) == (data != NULL));
    if (data) check(data);
    else DEMAND(status == KBASS_ERROR_MEMORY || strncmp(error.message, path, strlen(path)) == 0);
    kbass_data_destroy(data);
    close(descriptor);
    return 0;
}
