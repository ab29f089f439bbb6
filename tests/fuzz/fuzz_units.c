/* The parser of units. What it prints is parsed to the same unit. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dictionary/units.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kb_symbols symbols = {0};
    kb_unit unit, again;
    kbass_error error;
    char *text = KB_NEW(char, size + 1), printed[4096];
    DEMAND(text);
    memcpy(text, bytes, size);
    if (kb_unit_parse(&symbols, text, &unit, &error) == KBASS_OK) {
        double largest = 0;
        for (size_t i = 0; i < symbols.n; i++) largest = fmax(largest, fabs(unit.power[i]));
        DEMAND(kb_unit_print(&symbols, &unit, printed, sizeof printed) < sizeof printed);
        if (largest <= 100) DEMAND(kb_unit_parse(&symbols, printed, &again, &error) == KBASS_OK);
    }
    kb_free(text);
    return 0;
}
