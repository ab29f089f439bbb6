#include "base/suggest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63, SHORTEST_PREFIX = 3 };
enum {
    EDIT = 4,
    SWAP = 3
}; /* the price of a letter changed, added or dropped, and of two swapped: u_yx is u_xy, not u_x */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* d[i][j], the distance of the first i letters of a to the first j of b, row by row: optimal string alignment. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t d[3][LONGEST + 1] = {{0}};
    size_t n = strlen(a), m = strlen(b);
    for (size_t j = 0; j <= m; j++) d[0][j] = j * EDIT;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = d[i % 3], *above = d[(i + 2) % 3], *second = d[(i + 1) % 3];
        row[0] = i * EDIT;
        for (size_t j = 1; j <= m; j++) {
            row[j] = smaller(above[j], row[j - 1]) + EDIT;
            row[j] = smaller(row[j], above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : EDIT));
            int swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped) row[j] = smaller(row[j], second[j - 2] + SWAP);
        }
    }
    return d[n % 3][m];
}

const char *kb_nearest(const char *name, size_t n, const char *const *names)
{
    const char *nearest = NULL;
    size_t length = strlen(name), limit = (length + 1) / 3 * EDIT, best = limit + 1;
    if (length > LONGEST) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) > LONGEST) continue;
        size_t distance = edit_distance(name, names[i]);
        int begins = length >= SHORTEST_PREFIX && strncasecmp(name, names[i], length) == 0;
        if (begins) distance = smaller(distance, limit);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
