/* What makes two discoveries the same: version, data, settings. Checkpoints ask for it, and ranks. */
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "discovery/discovery.h"

char *kb_discovery_settings_text(const kbass_discovery *d)
{
    const kbass_settings *s = &d->settings;
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

/* "9f86...: 40 rows of x, y": the file, and what was taken of it. */
static char *data_text(const kbass_data *data)
{
    kb_buffer text = {0};
    kb_buffer_print(&text, "%zu rows of ", data->n_rows);
    for (size_t i = 0; i < data->n_states; i++) kb_buffer_print(&text, "%s%s", i ? ", " : "", data->state_names[i]);
    kb_buffer_print(&text, " (SHA-256 %s)", data->sha256);
    return kb_buffer_take(&text);
}

/* Every rank has the same text; else all of them fail with the same words. */
static kbass_status agree_on(const kbass_reduce *r, const char *what, const char *text, kbass_error *error)
{
    size_t most = (size_t)r->agree(r->user, (int)strlen(text)) + 1, ranks = (size_t)r->n_ranks;
    char *own = KB_NEW(char, most), *all = KB_NEW(char, most *ranks);
    bool has_room = !r->agree(r->user, !own || !all);
    kbass_status status = has_room ? KBASS_OK : kb_out_of_memory(error, "the agreement of the ranks");
    if (has_room) {
        memcpy(own, text, strlen(text));
        r->gather(r->user, most, own, all);
    }
    for (size_t i = 1; status == KBASS_OK && i < ranks; i++)
        if (strcmp(all, all + i * most) != 0)
            status = kb_fail(error, KBASS_ERROR_ARGUMENT, "rank %zu has another %s than the first: %.160s, not %.160s",
                             i, what, all + i * most, all);
    kb_free(own);
    kb_free(all);
    return status;
}

kbass_status kb_discovery_agree(const kbass_discovery *d, kbass_error *error)
{
    const kbass_reduce *r = &d->reduce;
    if (r->n_ranks <= 1) return KBASS_OK;
    char *settings = kb_discovery_settings_text(d), *data = data_text(d->data);
    bool has_texts = !r->agree(r->user, !settings || !data);
    kbass_status status = has_texts ? KBASS_OK : kb_out_of_memory(error, "the agreement of the ranks");
    if (status == KBASS_OK) status = agree_on(r, "version", kbass_version(), error);
    if (status == KBASS_OK) status = agree_on(r, "file", data, error);
    if (status == KBASS_OK) status = agree_on(r, "set of options", settings, error);
    kb_free(settings);
    kb_free(data);
    return status;
}
