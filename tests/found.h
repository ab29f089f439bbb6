/* Discovery as a user runs it, and whether it found the expected terms. */
#ifndef KB_FOUND_H
#define KB_FOUND_H

#include "check.h"
#include "kbass/kbass.h"

/* Terms NULL: the usual dictionary. */
static inline kbass_discovery *discover(const kbass_data *data, const char *terms)
{
    kbass_error error;
    kbass_settings settings;
    kbass_discovery *discovery = NULL;
    kb_settings_default(&settings);
    settings.threads = 2;
    settings.terms = terms;
    CHECK_OK(kbass_discovery_create(data, &settings, &discovery, &error));
    CHECK_OK(kbass_discovery_run(discovery, NULL, NULL, &error));
    return discovery;
}

/* Exactly the expected terms are selected, each written "y_t: x^2*y". */
static inline bool has_support(const kbass_result *result, size_t n, const char *const *expected)
{
    size_t selected = 0, found = 0;
    for (size_t e = 0; e < result->n_equations; e++)
        for (size_t q = 0; q < result->equations[e].n_terms; q++) {
            const kbass_term *term = &result->equations[e].terms[q];
            char name[80];
            if (!term->selected) continue;
            selected++;
            snprintf(name, sizeof name, "%.30s: %.40s", result->equations[e].lhs, term->term);
            for (size_t i = 0; i < n; i++) found += !strcmp(name, expected[i]);
        }
    return selected == n && found == n;
}

#endif
