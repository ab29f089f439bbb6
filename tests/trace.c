/* trace DATA [axes=t,x] [run=COLUMN] [sigma=COLUMNS] [SETTING=VALUE ...]: a discovery on one thread, and on standard
   output what it did, stage by stage. tools/check-traces compares that with what it did before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"

static kbass_error error;

static void stop_unless(kbass_status status)
{
    if (status == KBASS_OK) return;
    fprintf(stderr, "trace: %s\n", error.message);
    exit(1);
}

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

/* The value of NAME=VALUE among the arguments, or NULL. */
static const char *value_of(int n, char **arguments, const char *name)
{
    size_t length = strlen(name);
    for (int i = 2; i < n; i++)
        if (!strncmp(arguments[i], name, length) && arguments[i][length] == '=') return arguments[i] + length + 1;
    return NULL;
}

static kbass_data *read_data(int n, char **arguments)
{
    const char *axes = value_of(n, arguments, "axes"), *run = value_of(n, arguments, "run"),
               *sigma = value_of(n, arguments, "sigma");
    kbass_data *data = NULL;
    stop_unless(axes ? kbass_data_read(arguments[1], &(kbass_read_options){.axes = axes}, &data, &error)
                     : kbass_data_read(arguments[1], NULL, &data, &error));
    if (run) stop_unless(kbass_data_split(data, run, &error));
    if (sigma) stop_unless(kbass_data_error_bars(data, sigma, &error));
    return data;
}

static kbass_settings *read_settings(int n, char **arguments)
{
    kbass_settings *settings = NULL;
    stop_unless(kbass_settings_create(&settings, &error));
    stop_unless(kbass_settings_set(settings, "threads", "1", &error));
    for (int i = 2; i < n; i++) {
        char name[64];
        size_t length = strcspn(arguments[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, arguments[i]);
        if (!strcmp(name, "axes") || !strcmp(name, "run") || !strcmp(name, "sigma")) continue;
        stop_unless(kbass_settings_set(settings, name, arguments[i][length] ? arguments[i] + length + 1 : "", &error));
    }
    return settings;
}

int main(int n, char **arguments)
{
    kbass_discovery *discovery = NULL;
    kb_trace trace = {print_line, NULL};
    if (n < 2) return fprintf(stderr, "usage: trace DATA [axes=t,x] [run=COLUMN] [SETTING=VALUE ...]\n"), 2;
    kbass_data *data = read_data(n, arguments);
    kbass_settings *settings = read_settings(n, arguments);
    stop_unless(kbass_discovery_create(data, settings, &discovery, &error));
    kb_discovery_trace(discovery, &trace);
    stop_unless(kbass_discovery_run(discovery, NULL, NULL, &error));
    kbass_discovery_destroy(discovery);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return 0;
}
