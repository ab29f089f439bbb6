#include "base/checkpoint.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"

static const char magic[] = "kbass-checkpoint 1\n";

typedef struct {
    kb_work_key key;
    size_t size;
    void *bytes; /* NULL: the place is free */
} piece;

struct kb_checkpoint {
    char *path, *head; /* the file's first lines */
    double every, written;
    pthread_mutex_t lock, writing;
    piece *table; /* open addressing; capacity is a power of 2 */
    size_t capacity, n, n_read;
    size_t n_changes, n_written; /* since it was opened: and those of them that are in the file */
    kb_work_key context;         /* in every key */
};

/* ---------------------------------------------------------------- keys */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

void kb_work_key_add(kb_work_key *k, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t done = 0; done < n; done += 8) {
        uint64_t word = 0;
        memcpy(&word, at + done, n - done < 8 ? n - done : 8);
        k->high = mix(k->high + word);
        k->low = mix(k->low ^ (word + 0x9e3779b97f4a7c15u)) + k->high;
    }
    k->high = mix(k->high ^ n);
}

kb_work_key kb_work_key_begin(const char *kind)
{
    kb_work_key k = {0x243f6a8885a308d3u, 0x13198a2e03707344u};
    kb_work_key_add(&k, kind, strlen(kind));
    return k;
}

static bool is_same(kb_work_key a, kb_work_key b) { return a.high == b.high && a.low == b.low; }

/* ---------------------------------------------------------------- the table; the lock is held */

static piece *place_of(const kb_checkpoint *c, kb_work_key key)
{
    size_t i = key.low & (c->capacity - 1);
    while (c->table[i].bytes && !is_same(c->table[i].key, key)) i = (i + 1) & (c->capacity - 1);
    return &c->table[i];
}

static bool grow(kb_checkpoint *c)
{
    kb_checkpoint larger = *c;
    larger.capacity = c->capacity ? 2 * c->capacity : 256;
    larger.table = KB_NEW(piece, larger.capacity);
    if (!larger.table) return false;
    for (size_t i = 0; i < c->capacity; i++)
        if (c->table[i].bytes) *place_of(&larger, c->table[i].key) = c->table[i];
    kb_free(c->table);
    c->table = larger.table;
    c->capacity = larger.capacity;
    return true;
}

static void insert(kb_checkpoint *c, kb_work_key key, size_t size, const void *bytes)
{
    if (2 * (c->n + 1) > c->capacity && !grow(c)) return;
    piece *p = place_of(c, key);
    void *copy = p->bytes ? NULL : kb_allocate(size ? size : 1, 1);
    if (!copy) return; /* known already, or no memory */
    if (size) memcpy(copy, bytes, size);
    *p = (piece){key, size, copy};
    c->n++;
    c->n_changes++;
}

static void replace(kb_checkpoint *c, kb_work_key key, size_t size, const void *bytes)
{
    piece *p = c->capacity ? place_of(c, key) : NULL;
    void *copy = p && p->bytes ? kb_allocate(size ? size : 1, 1) : NULL;
    if (!p || !p->bytes) insert(c, key, size, bytes);
    if (!copy) return;
    if (size) memcpy(copy, bytes, size);
    kb_free(p->bytes);
    *p = (piece){key, size, copy};
    c->n_changes++;
}

void kb_checkpoint_context(kb_checkpoint *c, kb_work_key context)
{
    if (c) c->context = context;
}

static kb_work_key within(const kb_checkpoint *c, kb_work_key key)
{
    return (kb_work_key){key.high ^ c->context.high, key.low ^ c->context.low};
}

const void *kb_checkpoint_find(kb_checkpoint *c, kb_work_key key, size_t *size)
{
    const void *bytes = NULL;
    if (!c) return NULL;
    pthread_mutex_lock(&c->lock);
    if (c->capacity) {
        const piece *p = place_of(c, within(c, key));
        bytes = p->bytes;
        *size = p->size;
    }
    pthread_mutex_unlock(&c->lock);
    return bytes;
}

void kb_checkpoint_keep(kb_checkpoint *c, kb_work_key key, size_t size, const void *bytes)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    insert(c, within(c, key), size, bytes);
    pthread_mutex_unlock(&c->lock);
    kb_checkpoint_tick(c);
}

/* Of the time between two writings: so much older than the file may a state in it be. */
static const double share_of_every = 0.05; /* not measured */

bool kb_checkpoint_wants_state(const kb_checkpoint *c, double *last)
{
    double now = kb_clock();
    if (!c || now - *last < share_of_every * c->every) return false;
    *last = now;
    return true;
}

void kb_checkpoint_keep_state(kb_checkpoint *c, kb_work_key key, size_t size, const void *bytes)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    replace(c, within(c, key), size, bytes);
    pthread_mutex_unlock(&c->lock);
}

size_t kb_checkpoint_count(const kb_checkpoint *c, size_t *n_read)
{
    if (n_read) *n_read = c ? c->n_read : 0;
    return c ? c->n : 0;
}

/* ---------------------------------------------------------------- writing */

/* head, how many pieces, each as key, size, bytes; then a key of all that. */
static size_t size_of_file(const kb_checkpoint *c)
{
    size_t size = strlen(c->head) + sizeof(uint64_t) + sizeof(kb_work_key);
    for (size_t i = 0; i < c->capacity; i++)
        if (c->table[i].bytes) size += sizeof(kb_work_key) + sizeof(uint64_t) + c->table[i].size;
    return size;
}

static unsigned char *put(unsigned char *at, size_t size, const void *bytes)
{
    memcpy(at, bytes, size);
    return at + size;
}

static void fill(const kb_checkpoint *c, size_t size, unsigned char *bytes)
{
    uint64_t n = c->n;
    unsigned char *at = put(bytes, strlen(c->head), c->head);
    at = put(at, sizeof n, &n);
    for (size_t i = 0; i < c->capacity; i++) {
        const piece *p = &c->table[i];
        uint64_t length = p->size;
        if (!p->bytes) continue;
        at = put(at, sizeof p->key, &p->key);
        at = put(at, sizeof length, &length);
        at = put(at, p->size, p->bytes);
    }
    kb_work_key sum = kb_work_key_begin("checkpoint");
    kb_work_key_add(&sum, bytes, size - sizeof sum);
    put(at, sizeof sum, &sum);
}

/* A copy under the lock, which others do not wait for while it goes to the disk. */
static kbass_status write_now(kb_checkpoint *c, kbass_error *error)
{
    pthread_mutex_lock(&c->lock);
    size_t size = size_of_file(c), n = c->n_changes;
    unsigned char *bytes = kb_allocate(size, 1);
    if (bytes) fill(c, size, bytes);
    c->written = kb_clock();
    pthread_mutex_unlock(&c->lock);
    if (!bytes) return kb_out_of_memory(error, "the checkpoint");
    kbass_status status = kbass_file_write(c->path, size, bytes, error);
    if (status == KBASS_OK) c->n_written = n;
    kb_free(bytes);
    return status;
}

kbass_status kb_checkpoint_write(kb_checkpoint *c, kbass_error *error)
{
    if (!c) return KBASS_OK;
    pthread_mutex_lock(&c->writing);
    kbass_status status = write_now(c, error);
    pthread_mutex_unlock(&c->writing);
    return status;
}

void kb_checkpoint_tick(kb_checkpoint *c)
{
    if (!c || kb_clock() - c->written < c->every || pthread_mutex_trylock(&c->writing)) return;
    if (c->n_changes > c->n_written) write_now(c, NULL);
    pthread_mutex_unlock(&c->writing);
}

void kb_checkpoint_read_only(kb_checkpoint *c)
{
    if (c) c->every = INFINITY;
}

/* ---------------------------------------------------------------- reading */

static kbass_status make_head(kb_checkpoint *c, size_t n, const kb_checkpoint_field *fields, kbass_error *error)
{
    size_t size = sizeof magic + 1;
    for (size_t i = 0; i < n; i++) size += strlen(fields[i].name) + strlen(fields[i].value) + 3;
    c->head = KB_NEW(char, size);
    if (!c->head) return kb_out_of_memory(error, "the checkpoint");
    size_t used = (size_t)snprintf(c->head, size, "%s", magic);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(c->head + used, size - used, "%s: %s\n", fields[i].name, fields[i].value);
    snprintf(c->head + used, size - used, "\n");
    return KBASS_OK;
}

/* The whole file; *bytes stays NULL when there is none. */
static kbass_status load(const char *path, size_t *size, unsigned char **bytes, kbass_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOENT) return KBASS_OK;
    if (!file) return kb_fail(error, KBASS_ERROR_FILE, "%.200s: cannot be read: %s", path, strerror(errno));
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    kbass_status status = KBASS_OK;
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0)
        status = kb_fail(error, KBASS_ERROR_FILE, "%.200s: is no file that can be read again", path);
    if (status == KBASS_OK && !(*bytes = kb_allocate((size_t)length + 1, 1)))
        status = kb_out_of_memory(error, "the checkpoint");
    if (status == KBASS_OK && fread(*bytes, 1, (size_t)length, file) != (size_t)length)
        status = kb_fail(error, KBASS_ERROR_FILE, "%.200s: cannot be read: %s", path, strerror(errno));
    *size = status == KBASS_OK ? (size_t)length : 0;
    fclose(file);
    return status;
}

/* The length of a line, and of its name before the colon. */
static int line_length(const char *line) { return (int)strcspn(line, "\n"); }
static int name_length(const char *line) { return (int)strcspn(line, ":\n"); }

/* Which line of the head is another, in words; `found` ends with its head. */
static kbass_status differ(const kb_checkpoint *c, const char *found, kbass_error *error)
{
    const char *needed = c->head;
    while (*needed && *found && line_length(needed) == line_length(found) &&
           !strncmp(needed, found, (size_t)line_length(needed))) {
        needed += line_length(needed) + (needed[line_length(needed)] != '\0');
        found += line_length(found) + (found[line_length(found)] != '\0');
    }
    enum { MOST = 120 };
    int name = name_length(needed), here = line_length(needed) - name, there = line_length(found) - name_length(found);
    return kb_fail(error, KBASS_ERROR_FILE,
                   "%.120s: is the checkpoint of another call: %.*s:%.*s, needed%.*s; delete it or name another "
                   "file",
                   c->path, name, needed, there > 1 ? (there < MOST ? there - 1 : MOST) : 0,
                   found + name_length(found) + 1, here > 1 ? (here < MOST ? here - 1 : MOST) : 0, needed + name + 1);
}

static kbass_status check_head(const kb_checkpoint *c, unsigned char *bytes, size_t size, kbass_error *error)
{
    size_t length = strlen(c->head);
    if (size < strlen(magic) || memcmp(bytes, magic, strlen(magic)) != 0)
        return kb_fail(error, KBASS_ERROR_FILE, "%.200s: is no checkpoint of this program; it is left as it is",
                       c->path);
    if (size >= length && !memcmp(bytes, c->head, length)) return KBASS_OK;
    char *end = strstr((char *)bytes, "\n\n"); /* load() put a zero behind */
    if (!end) return kb_fail(error, KBASS_ERROR_FILE, "%.200s: is a damaged checkpoint: its head has no end", c->path);
    *end = '\0';
    return differ(c, (char *)bytes, error);
}

static kbass_status take(kb_checkpoint *c, const unsigned char *bytes, size_t size, kbass_error *error)
{
    size_t at = strlen(c->head);
    uint64_t n = 0;
    kb_work_key sum = kb_work_key_begin("checkpoint"), found;
    bool is_whole = size >= at + sizeof n + sizeof sum;
    if (is_whole) {
        kb_work_key_add(&sum, bytes, size - sizeof sum);
        memcpy(&found, bytes + size - sizeof sum, sizeof found);
        memcpy(&n, bytes + at, sizeof n);
        is_whole = is_same(sum, found);
    }
    at += sizeof n;
    for (uint64_t i = 0; is_whole && i < n; i++) {
        kb_work_key key;
        uint64_t length = 0;
        is_whole = size - sizeof sum - at >= sizeof key + sizeof length;
        if (!is_whole) break;
        memcpy(&key, bytes + at, sizeof key);
        memcpy(&length, bytes + at + sizeof key, sizeof length);
        at += sizeof key + sizeof length;
        is_whole = length <= size - sizeof sum - at;
        if (is_whole) insert(c, key, length, bytes + at);
        at += length;
    }
    c->n_read = c->n;
    c->n_written = c->n_changes;
    return is_whole ? KBASS_OK
                    : kb_fail(error, KBASS_ERROR_FILE,
                              "%.200s: is a damaged checkpoint: its sum is not that of its bytes", c->path);
}

kbass_status kb_checkpoint_open(const char *path, double every, size_t n_fields, const kb_checkpoint_field *fields,
                                kb_checkpoint **out, kbass_error *error)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    kb_checkpoint *c = KB_NEW(kb_checkpoint, 1);
    if (!c) return kb_out_of_memory(error, "the checkpoint");
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->writing, NULL);
    c->every = every;
    c->written = kb_clock();
    c->path = kb_strdup(path);
    kbass_status status = c->path ? make_head(c, n_fields, fields, error) : kb_out_of_memory(error, "the checkpoint");
    if (status == KBASS_OK) status = load(path, &size, &bytes, error);
    if (status == KBASS_OK && bytes) status = check_head(c, bytes, size, error);
    if (status == KBASS_OK && bytes) status = take(c, bytes, size, error);
    if (status == KBASS_OK && !bytes) status = kbass_file_check(path, error);
    kb_free(bytes);
    if (status == KBASS_OK) *out = c;
    else kb_checkpoint_close(c);
    return status;
}

void kb_checkpoint_close(kb_checkpoint *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->capacity; i++) kb_free(c->table[i].bytes);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->writing);
    kb_free(c->table);
    kb_free(c->path);
    kb_free(c->head);
    kb_free(c);
}
