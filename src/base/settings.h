/* Settings: everything about them comes from the table. */
#ifndef KB_SETTINGS_H
#define KB_SETTINGS_H

#include <stdbool.h>

#include "base/settings_table.h"
#include "kbass/kbass.h"

#define KB_FIELD_INTEGER                                                        int
#define KB_FIELD_FLAG                                                           int
#define KB_FIELD_CHOICE                                                         int
#define KB_FIELD_REAL                                                           double
#define KB_FIELD_TEXT                                                           const char *
#define KB_FIELD(kind, field, standard, low, high, value, choices, group, help) KB_FIELD_##kind field;
#define KB_COUNT(...)                                                           +1

enum { KB_METHOD_KBASS, KB_METHOD_PAPER, KB_METHOD_EM }; /* settings->method */
enum { KB_N_SETTINGS = 0 KB_SETTINGS_TABLE(KB_COUNT) };

/* 0 or NULL mean "chosen from the data". A text points into `owned`, or to what the library's own code put there. */
struct kbass_settings {
    KB_SETTINGS_TABLE(KB_FIELD)
    bool is_given[KB_N_SETTINGS];
    char *owned[KB_N_SETTINGS];
};

/* Of settings that are no handle, such as those of a dictionary that a result file names. Owns nothing. */
void kb_settings_default(kbass_settings *settings);
/* All fields within their ranges; for structs that were filled without kbass_settings_set. */
kbass_status kb_settings_check(const kbass_settings *settings, kbass_error *error);
/* "200" or "160,160" as points per axis, 0 each when not set or "auto"; one number serves all axes. n_axes = 0 only
 * checks. */
kbass_status kb_mesh_parse(const char *mesh, size_t n_axes, size_t *points, kbass_error *error);
bool kb_mesh_is_auto(const char *mesh);
/* A copy that owns its texts; NULL copies the defaults. */
kbass_status kb_settings_copy(const kbass_settings *from, kbass_settings *to, kbass_error *error);
/* Frees the texts of a copy and leaves the defaults. */
void kb_settings_clear(kbass_settings *settings);

#endif
