/* Equations typed for simulation: lines of ODEs, or, where one begins with "domain", of a PDE. */
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "kbass/kbass.h"

enum { MOST_LINES = 8 };

static void parse_ode(size_t n, const char *const *lines)
{
    kbass_model *model = NULL;
    kbass_error error;
    if (kbass_model_parse(n, lines, NULL, &model, &error) == KBASS_OK) {
        size_t states = kbass_model_states(model);
        DEMAND(states >= n && states <= 2 * n); /* x_tt = ... has a velocity beside it */
    }
    kbass_model_destroy(model);
}

/* domain, initial, boundary, then equations. */
static void parse_pde(size_t n, const char *const *lines)
{
    kbass_model *pde = NULL;
    kbass_error error;
    if (n < 4) return;
    if (kbass_model_parse(n - 3, lines + 3,
                          &(kbass_model_options){.domain = lines[0] + 6, .initial = lines[1], .boundary = lines[2]},
                          &pde, &error) == KBASS_OK)
        DEMAND(kbass_model_states(pde) == n - 3);
    kbass_model_destroy(pde);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *lines[MOST_LINES];
    size_t n = 0;
    char *text = KB_NEW(char, size + 1), *next = text;
    DEMAND(text);
    memcpy(text, bytes, size);
    while (next && n < MOST_LINES) {
        lines[n++] = next;
        next = strchr(next, '\n');
        if (next) *next++ = '\0';
    }
    if (!strncmp(text, "domain", 6)) parse_pde(n, lines);
    else parse_ode(n, lines);
    kb_free(text);
    return 0;
}
