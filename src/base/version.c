#include "kbass/kbass.h"

#ifndef KBASS_VERSION
#error "the build passes the version: -DKBASS_VERSION=\"1.2.3\""
#endif

const char *kbass_version(void) { return KBASS_VERSION; }
