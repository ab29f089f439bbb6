#include "published/schedule.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum { WORD = 40 };

typedef struct {
    const char *name, *text;
    double low, high;
    kbass_error *error;
} reader;

static kbass_status refuse(const reader *r)
{
    return kb_fail(r->error, KBASS_ERROR_ARGUMENT,
                   "%s: \"%.80s\" is not a list of step:value (0.1, 6000:0.5) with ascending steps and values from %g "
                   "to %g, by state 1/0.5",
                   r->name, r->text, r->low, r->high);
}

/* The word before `stop` as a number. */
static bool read_number(const char *begin, const char *stop, double *number)
{
    char word[WORD];
    while (begin < stop && *begin == ' ') begin++;
    while (stop > begin && stop[-1] == ' ') stop--;
    if (stop - begin >= WORD) return false;
    memcpy(word, begin, (size_t)(stop - begin));
    word[stop - begin] = '\0';
    return kb_number_parse(word, number) && isfinite(*number);
}

static bool read_values(const reader *r, const char *begin, const char *end, kb_schedule *out)
{
    size_t *n = &out->at[out->n].n_states;
    double *value = out->at[out->n].value;
    for (*n = 0; *n < KB_SCHEDULE_STATES; begin++) {
        const char *stop = memchr(begin, '/', (size_t)(end - begin));
        if (!stop) stop = end;
        if (!read_number(begin, stop, &value[*n])) return false;
        if (!(value[*n] >= r->low && value[*n] <= r->high)) return false;
        ++*n;
        if (stop == end) return true;
        begin = stop;
    }
    return false;
}

static bool read_entry(const reader *r, const char *begin, const char *end, kb_schedule *out)
{
    static const double latest = 1e9;
    double step = 0;
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    if (out->n == KB_SCHEDULE_ENTRIES || (out->n && !colon)) return false;
    if (colon && !(read_number(begin, colon, &step) && step == floor(step) && step >= 0 && step <= latest))
        return false;
    if (out->n && !((long)step > out->at[out->n - 1].step)) return false;
    out->at[out->n].step = (long)step;
    if (!read_values(r, colon ? colon + 1 : begin, end, out)) return false;
    out->n++;
    return true;
}

kbass_status kb_schedule_read(const char *name, const char *text, double low, double high, kb_schedule *out,
                              kbass_error *error)
{
    reader r = {name, text, low, high, error};
    out->n = 0;
    if (!text || !*text) return KBASS_OK;
    for (const char *begin = text, *end; begin; begin = *end ? end + 1 : NULL) {
        end = begin + strcspn(begin, ",");
        if (!read_entry(&r, begin, end, out)) return refuse(&r);
    }
    return KBASS_OK;
}

double kb_schedule_value(const kb_schedule *s, long step, size_t state)
{
    size_t i = 0;
    if (!s->n) return NAN;
    while (i + 1 < s->n && s->at[i + 1].step <= step) i++;
    return s->at[i].value[state < s->at[i].n_states ? state : s->at[i].n_states - 1];
}

long kb_schedule_last(const kb_schedule *s) { return s->n > 1 ? s->at[s->n - 1].step : 0; }
