/* Settings: everything about them comes from KBASS_SETTINGS_TABLE in kbass.h. */
#ifndef KB_SETTINGS_H
#define KB_SETTINGS_H

#include <stdbool.h>

#include "kbass/kbass.h"

/* All fields within their ranges; for structs that a caller filled without kbass_settings_set. */
kbass_status kb_settings_check(const kbass_settings *settings, kbass_error *error);
/* "200" or "160,160" as points per axis, 0 each when not set or "auto"; one number serves all axes. n_axes = 0 only
 * checks. */
kbass_status kb_mesh_parse(const char *mesh, size_t n_axes, size_t *points, kbass_error *error);
bool kb_mesh_is_auto(const char *mesh);
/* A copy that owns its strings; NULL copies the defaults. */
kbass_status kb_settings_copy(const kbass_settings *from, kbass_settings *to, kbass_error *error);
/* Frees the strings of a copy and leaves the defaults. */
void kb_settings_clear(kbass_settings *settings);

#endif
