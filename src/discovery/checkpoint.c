/* What a checkpoint of a discovery is good for: version, data, settings. */
#include "base/memory.h"
#include "base/status.h"
#include "discovery/discovery.h"

/* Work that an interrupted call of the same kind has done. */
kbass_status kb_discovery_open_checkpoint(kbass_discovery *d, kbass_error *error)
{
    const char *path = d->settings.checkpoint;
    if (!path || !*path) return KBASS_OK;
    char *settings = kb_discovery_settings_text(d);
    const kb_checkpoint_field fields[] = {
        {"version", kbass_version()}, {"data", d->data->sha256}, {"settings", settings}};
    kbass_status status = settings
                              ? kb_checkpoint_open(path, d->settings.checkpoint_every, 3, fields, &d->checkpoint, error)
                              : kb_out_of_memory(error, "the checkpoint");
    kb_free(settings);
    return status;
}
