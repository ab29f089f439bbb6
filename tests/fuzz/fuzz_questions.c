/* What is asked of a dictionary, a line each: --unknown, --terms, --constraint, --family, --input-delay. One that comes
 * to be has constants within their ranges, terms at both ends of them, and constraints on weights that it has.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dictionary/constants.h"
#include "fuzz.h"

static void set_at(kb_dictionary *d, double share)
{
    double values[KB_DICTIONARY_CONSTANTS];
    kbass_error error;
    for (size_t i = 0; i < d->n_constants; i++) {
        values[i] = kb_constant_at(&d->constants[i], share);
        DEMAND(values[i] >= d->constants[i].low * (1 - 1e-9 * copysign(1, d->constants[i].low)) ||
               d->constants[i].low < 0);
    }
    (void)kb_dictionary_set_constants(d, values, &error);
}

static void look_at(kb_dictionary *d)
{
    kbass_error error;
    for (size_t i = 0; i < d->n_constraints; i++)
        for (size_t j = 0; j < d->constraints[i].n; j++) {
            DEMAND(d->constraints[i].parts[j].term < d->n_terms && d->constraints[i].parts[j].state < d->n_states);
            DEMAND(isfinite(d->constraints[i].parts[j].factor));
        }
    for (size_t i = 0; i < d->n_constants; i++) DEMAND(d->constants[i].low < d->constants[i].high);
    set_at(d, 0);
    set_at(d, 1);
    for (size_t j = 0; j < d->n_terms && j < 4; j++)
        for (size_t i = 0; i < d->n_constants && i < 4; i++) {
            bool is_new = false;
            if (kb_dictionary_names_constant(d, j, i)) (void)kb_dictionary_add_limit(d, j, i, i % 2, &is_new, &error);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"x", "y", "f"};
    char *text = KB_NEW(char, size + 1), *lines[5] = {NULL}, *at = text;
    kb_dictionary *d = NULL;
    kbass_settings settings;
    kbass_error error;
    DEMAND(text);
    memcpy(text, bytes, size);
    for (size_t i = 0; i < 5 && at; i++) {
        lines[i] = at;
        at = strchr(at, '\n');
        if (at) *at++ = '\0';
    }
    kb_settings_default(&settings);
    settings.unknown = lines[0];
    settings.terms = lines[1];
    settings.constraint = lines[2];
    settings.family = lines[3];
    settings.input_delay = lines[4];
    settings.input = "f";
    if (kb_dictionary_create(&settings, 3, names, "t", &d, &error) == KBASS_OK) look_at(d);
    else DEMAND(*error.message);
    kb_dictionary_destroy(d);
    kb_free(text);
    return 0;
}
