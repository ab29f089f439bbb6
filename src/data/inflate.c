#include "data/inflate.h"

#include "base/memory.h"

static const size_t PIECE = (size_t)1 << 30;          /* zlib counts in 32 bits */
static const uint64_t HARMLESS = (uint64_t)256 << 20; /* bytes that anything may inflate to */
enum { BOMB_RATIO = 200 };

bool kb_is_bomb(uint64_t n_out, uint64_t n_in) { return n_out > HARMLESS && n_out / BOMB_RATIO > n_in; }

static void *take_memory(void *user, unsigned count, unsigned size)
{
    (void)user;
    return kb_allocate(count, size);
}

static void give_back(void *user, void *memory)
{
    (void)user;
    kb_free(memory);
}

bool kb_inflater_open(kb_inflater *z, const unsigned char *bytes, size_t size, kb_wrapping wrapping)
{
    *z = (kb_inflater){.bytes = bytes, .size = size, .wrapping = wrapping};
    z->stream.zalloc = take_memory;
    z->stream.zfree = give_back;
    z->is_open = inflateInit2(&z->stream, wrapping) == Z_OK;
    if (!z->is_open) z->trouble = "needs memory that there is not";
    return z->is_open;
}

static void feed(kb_inflater *z)
{
    size_t rest = z->size - z->given, n = rest < PIECE ? rest : PIECE;
    if (z->stream.avail_in) return;
    z->stream.next_in = (unsigned char *)z->bytes + z->given;
    z->stream.avail_in = (unsigned)n;
    z->given += n;
}

/* gzip files may be several one after the other, with zeros behind the last. */
static bool begin_next_member(kb_inflater *z)
{
    if (z->wrapping != KB_GZIP) return false;
    while (feed(z), z->stream.avail_in && !*z->stream.next_in) {
        z->stream.next_in++;
        z->stream.avail_in--;
    }
    if (!z->stream.avail_in) return false;
    return inflateReset(&z->stream) == Z_OK;
}

static const char *trouble_of(const kb_inflater *z, int code)
{
    uint64_t n_in = z->given - z->stream.avail_in;
    if (code == Z_MEM_ERROR) return "needs memory that there is not";
    if (code == Z_BUF_ERROR) return "breaks off";
    if (code != Z_OK && code != Z_STREAM_END) return "is damaged";
    return kb_is_bomb(z->n_out, n_in) ? "inflates to more than 200 times its size" : NULL;
}

bool kb_inflater_read(kb_inflater *z, void *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n && !z->is_over && !z->trouble) {
        size_t room = n - *got < PIECE ? n - *got : PIECE;
        feed(z);
        z->stream.next_out = (unsigned char *)to + *got;
        z->stream.avail_out = (unsigned)room;
        int code = inflate(&z->stream, Z_NO_FLUSH);
        *got += room - z->stream.avail_out;
        z->n_out += room - z->stream.avail_out;
        z->trouble = trouble_of(z, code);
        if (code == Z_STREAM_END && !begin_next_member(z)) z->is_over = true;
    }
    return !z->trouble;
}

void kb_inflater_close(kb_inflater *z)
{
    if (z->is_open) inflateEnd(&z->stream);
    z->is_open = false;
}
