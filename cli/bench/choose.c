#include "choose.h"

#include <stdio.h>
#include <stdlib.h>

#include "message.h"

static void insist(kbass_status status, const kbass_error *error)
{
    if (status != KBASS_OK) exit(cli_fail_with(status, error));
}

kbass_settings *bench_settings(const kbass_settings *from)
{
    kbass_settings *settings = NULL;
    kbass_error error;
    insist(from ? kbass_settings_copy(from, &settings, &error) : kbass_settings_create(&settings, &error), &error);
    return settings;
}

void bench_choose(kbass_settings *settings, const char *name, const char *value)
{
    kbass_error error;
    insist(value && *value ? kbass_settings_set(settings, name, value, &error)
                           : kbass_settings_unset(settings, name, &error),
           &error);
}

void bench_choose_number(kbass_settings *settings, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    bench_choose(settings, name, value != 0 ? text : NULL);
}
