/* What stands in a table as text: dates, numbers, names, UTF-16. */
#include <math.h>
#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "base/name.h"
#include "data/cell.h"
#include "data/utf16.h"
#include "fuzz.h"

/* A date that was read and printed is read as the same. */
static void check_moment(const char *text, const char *end)
{
    kb_moment moment, again;
    char printed[KB_MOMENT_SIZE];
    for (int order = 0; order <= KB_YEAR_FIRST; order++) {
        if (!kb_moment_parse(text, end, order, &moment)) continue;
        DEMAND(moment.fraction >= 0 && moment.fraction < 1);
        if (!moment.has_date) continue;
        kb_moment_print(moment.seconds, printed);
        DEMAND(kb_moment_parse(printed, printed + strlen(printed), order, &again));
        DEMAND(again.seconds == moment.seconds);
    }
}

static void check_name(const char *text)
{
    char identifier[KB_IDENTIFIER_SIZE];
    const char *unit;
    size_t unit_length;
    DEMAND(kb_face_length(text, &unit, &unit_length) <= strlen(text));
    DEMAND(!unit_length || (unit >= text && unit + unit_length <= text + strlen(text)));
    kb_identifier_of(text, strlen(text), identifier);
    DEMAND(!*identifier || kb_is_identifier(identifier));
    char *face = kb_face_copy(text), *twice = face ? kb_face_copy(face) : NULL;
    DEMAND(face && twice && !strcmp(face, twice) && !strpbrk(face, "\x1b\r\n"));
    kb_face_is(text, face);
    kb_free(face);
    kb_free(twice);
}

static void check_number(const char *text)
{
    double value = 0;
    char point, grouping;
    kb_cell_marks(text, &point, &grouping);
    if (kb_cell_number(text, '.', ',', &value)) DEMAND(strpbrk(text, "0123456789nNiI"));
    kb_cell_number(text, ',', '.', &value);
    kb_cell_type_of(text, "-999, x");
}

/* In pieces it is what it is as a whole. */
static void check_wide(const uint8_t *bytes, size_t size)
{
    char *whole = malloc(2 * size + 8), *pieces = malloc(2 * size + 8);
    kb_encoding encoding = size % 2 ? KB_UTF16_LITTLE : KB_UTF16_BIG;
    size_t used = 0, n = 0, begin = 0, end = 0;
    DEMAND(whole && pieces);
    size_t length = kb_utf16_read(encoding, bytes, size, true, whole, &used);
    DEMAND(used == size);
    while (end < size) {
        end = size - end < 5 ? size : end + 5;
        n += kb_utf16_read(encoding, bytes + begin, end - begin, end == size, pieces + n, &used);
        begin += used;
    }
    DEMAND(n == length && memcmp(whole, pieces, n) == 0);
    free(whole);
    free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    DEMAND(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    check_moment(text, text + size);
    check_name(text);
    check_number(text);
    check_wide(bytes, size);
    free(text);
    return 0;
}
