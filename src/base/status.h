/* Status and messages. A function fails through `kb_fail`, which fills the caller's error and returns the status. */
#ifndef KB_STATUS_H
#define KB_STATUS_H

#include "kbass/kbass.h"

__attribute__((format(printf, 3, 4))) kbass_status kb_fail(kbass_error *error, kbass_status status, const char *format,
                                                           ...);

/* As kb_fail, with the text at fault and the 1-based column in it. */
__attribute__((format(printf, 4, 5))) kbass_status kb_fail_at(kbass_error *error, const char *source, size_t column,
                                                              const char *format, ...);

kbass_status kb_out_of_memory(kbass_error *error, const char *what);

#endif
