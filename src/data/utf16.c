#include "data/utf16.h"

#include <stdint.h>

enum { LOOKED_AT = 1000, FEWEST = 4, BYTE_ORDER_MARK = 0xfeff };

kb_encoding kb_encoding_of(const unsigned char *bytes, size_t n)
{
    size_t zeros[2] = {0, 0};
    if (n >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe) return KB_UTF16_LITTLE;
    if (n >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff) return KB_UTF16_BIG;
    if (n > LOOKED_AT) n = LOOKED_AT;
    for (size_t i = 0; i < n; i++) zeros[i % 2] += !bytes[i];
    if (n < FEWEST || (zeros[0] && zeros[1]) || 4 * (zeros[0] + zeros[1]) < n) return KB_UTF8;
    return zeros[1] ? KB_UTF16_LITTLE : KB_UTF16_BIG;
}

static uint32_t unit_at(kb_encoding encoding, const unsigned char *b)
{
    return encoding == KB_UTF16_LITTLE ? (uint32_t)b[1] << 8 | b[0] : (uint32_t)b[0] << 8 | b[1];
}

static char *put(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    size_t n = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[n] | code >> 6 * n);
    while (n-- > 0) *to++ = (char)(0x80 | (code >> 6 * n & 0x3f));
    return to;
}

size_t kb_utf16_read(kb_encoding encoding, const unsigned char *bytes, size_t n, bool is_end, char *to, size_t *taken)
{
    char *begin = to;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        uint32_t code = unit_at(encoding, bytes + i);
        bool is_first = code >= 0xd800 && code < 0xdc00, is_second = code >= 0xdc00 && code < 0xe000;
        if (is_first && i + 4 > n && !is_end) break;
        uint32_t next = is_first && i + 4 <= n ? unit_at(encoding, bytes + i + 2) : 0;
        bool is_pair = next >= 0xdc00 && next < 0xe000;
        if (is_pair) code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
        else if (is_first || is_second) code = '?';
        if (is_pair) i += 2;
        if (code != BYTE_ORDER_MARK) to = put(to, code);
    }
    if (is_end && i < n) {
        *to++ = '?';
        i = n;
    }
    *taken = i;
    return (size_t)(to - begin);
}
