/* Words of the public header. */
#include "base/suggest.h"
#include "kbass/kbass.h"

const char *kbass_outcome_name(kbass_outcome outcome)
{
    static const char *const names[] = {"converged", "not converged", "time limit", "cancelled", "no model"};
    return (size_t)outcome < sizeof names / sizeof *names ? names[outcome] : "unknown";
}

const char *kbass_nearest(const char *word, size_t n, const char *const *names) { return kb_nearest(word, n, names); }

const char *kbass_verdict_name(kbass_verdict verdict)
{
    return verdict == KBASS_IN ? "in" : verdict == KBASS_OUT ? "out" : "undecided";
}

const char *kbass_law_verdict_name(kbass_law_verdict verdict)
{
    static const char *const names[] = {
        "not judged",        "law found", "law found, approximate", "law undecided", "no law in this dictionary",
        "nothing to explain"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

const char *kbass_stage_name(int stage)
{
    static const char *const names[KBASS_STAGE_COUNT] = {"field", "search", "arbitrate", "polish"};
    return stage >= 0 && stage < KBASS_STAGE_COUNT ? names[stage] : "unknown";
}
