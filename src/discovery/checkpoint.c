/* What a checkpoint of a discovery is good for: version, data, settings. */
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "discovery/discovery.h"

/* "degree=2; noise=5%": what was set, but for what an answer does not depend on. */
static char *settings_text(const kbass_settings *s)
{
    static const char *const apart[] = {"threads", "time-limit", "memory", "checkpoint", "checkpoint-every"};
    kb_buffer text = {0};
    for (size_t i = 0; i < kbass_settings_count(); i++) {
        const char *name = kbass_settings_info(i)->name;
        bool matters = kbass_settings_is_given(s, name);
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) matters = matters && strcmp(name, apart[k]) != 0;
        if (!matters) continue;
        size_t size = 1 + kbass_settings_get(s, name, NULL, 0);
        char *value = KB_NEW(char, size);
        if (value) kbass_settings_get(s, name, value, size);
        for (char *c = value; c && *c; c++) *c = *c == '\n' ? ' ' : *c;
        kb_buffer_print(&text, "%s%s=%s", text.length ? "; " : "", name, value ? value : "?");
        kb_free(value);
    }
    if (!text.length) kb_buffer_put(&text, "none");
    return kb_buffer_take(&text);
}

/* Work that an interrupted call of the same kind has done. */
kbass_status kb_discovery_open_checkpoint(kbass_discovery *d, kbass_error *error)
{
    const char *path = d->settings.checkpoint;
    if (!path || !*path) return KBASS_OK;
    char *settings = settings_text(&d->settings);
    const kb_checkpoint_field fields[] = {
        {"version", kbass_version()}, {"data", d->data->sha256}, {"settings", settings}};
    kbass_status status = settings
                              ? kb_checkpoint_open(path, d->settings.checkpoint_every, 3, fields, &d->checkpoint, error)
                              : kb_out_of_memory(error, "the checkpoint");
    kb_free(settings);
    return status;
}
