/* "Did you mean": the nearest of the known names. */
#ifndef KB_SUGGEST_H
#define KB_SUGGEST_H

#include <stddef.h>

/* The name with the fewest letters changed, added, dropped or swapped; NULL when none is near. */
const char *kb_nearest(const char *name, size_t n, const char *const *names);

#endif
