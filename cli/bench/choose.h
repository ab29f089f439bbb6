/* Settings of a benchmark's tasks. A task has a process of its own: what cannot be set ends it. */
#ifndef BENCH_CHOOSE_H
#define BENCH_CHOOSE_H

#include "kbass/kbass.h"

kbass_settings *bench_settings(const kbass_settings *from); /* a copy; NULL: the defaults */
/* NULL, "" and 0 leave it to the library. */
void bench_choose(kbass_settings *settings, const char *name, const char *value);
void bench_choose_number(kbass_settings *settings, const char *name, double value);

#endif
