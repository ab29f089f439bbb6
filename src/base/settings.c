#include "base/settings.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "base/suggest.h"

enum { NAME_SIZE = 32, FEWEST_MESH_POINTS = 20, MOST_MESH_POINTS = 4000 };

#define STANDARD_INTEGER(value) value
#define STANDARD_FLAG(value)    value
#define STANDARD_CHOICE(value)  value
#define STANDARD_REAL(value)    value
#define STANDARD_TEXT(value)    0

#define NAME_FITS(kind, field, ...)         _Static_assert(sizeof #field <= NAME_SIZE, "name too long: " #field);
#define DEFAULT(kind, field, standard, ...) .field = standard,
#define OFFSET(kind, field, ...)            offsetof(kbass_settings, field),
#define INFO(kind, field, standard, low, high, value, choices, group, help)                                            \
    {KBASS_##kind, #field, STANDARD_##kind(standard), low, high, value, choices, group, help},

KB_SETTINGS_TABLE(NAME_FITS)

static const size_t offsets[] = {KB_SETTINGS_TABLE(OFFSET)};
static kbass_setting_info table[] = {KB_SETTINGS_TABLE(INFO)};
static char names[KB_N_SETTINGS][NAME_SIZE];

/* box_degree -> "box-degree", once and for all threads: the preprocessor cannot do it. */
static void write_names(void)
{
    for (size_t i = 0; i < KB_N_SETTINGS; i++) {
        for (size_t k = 0; table[i].name[k]; k++) names[i][k] = table[i].name[k] == '_' ? '-' : table[i].name[k];
        table[i].name = names[i];
    }
}

size_t kbass_settings_count(void) { return KB_N_SETTINGS; }

const kbass_setting_info *kbass_settings_info(size_t index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_names);
    return index < KB_N_SETTINGS ? &table[index] : NULL;
}

void kb_settings_default(kbass_settings *settings) { *settings = (kbass_settings){KB_SETTINGS_TABLE(DEFAULT)}; }

static void *field_of(kbass_settings *settings, size_t index) { return (char *)settings + offsets[index]; }

static const void *value_of(const kbass_settings *settings, size_t index)
{
    return (const char *)settings + offsets[index];
}

/* ---------------------------------------------------------------- checks */

static bool allowed(const kbass_setting_info *info, double value)
{
    bool whole = info->kind == KBASS_REAL || value == floor(value);
    return isfinite(value) && whole && value >= info->low && value <= info->high;
}

static kbass_status refuse(const kbass_setting_info *info, const char *found, kbass_error *error)
{
    char low[KB_NUMBER_SIZE], high[KB_NUMBER_SIZE];
    if (info->kind == KBASS_FLAG)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: \"%s\" is neither yes nor no", info->name, found);
    if (info->kind == KBASS_CHOICE)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: \"%s\" is none of %s", info->name, found, info->choices);
    kb_number_print(info->low, low);
    kb_number_print(info->high, high);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: \"%s\" is not a %s from %s to %s", info->name, found,
                   info->kind == KBASS_INTEGER ? "whole number" : "number", low, high);
}

static kbass_status unknown_setting(const char *name, kbass_error *error)
{
    const char *known[KB_N_SETTINGS];
    for (size_t i = 0; i < KB_N_SETTINGS; i++) known[i] = names[i];
    const char *nearest = kb_nearest(name, KB_N_SETTINGS, known);
    if (!nearest) return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown setting \"%s\"", name);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "unknown setting \"%s\" (did you mean \"%s\"?)", name, nearest);
}

/* A field of any kind but text, as a number. */
static double number_of(const kbass_settings *settings, size_t index)
{
    const void *value = value_of(settings, index);
    return table[index].kind == KBASS_REAL ? *(const double *)value : *(const int *)value;
}

/* Cuts the next number of points off *text, which is NULL after the last. */
static bool next_mesh_number(const char **text, size_t *number)
{
    char word[NAME_SIZE] = "";
    double value = 0;
    const char *begin = *text + strspn(*text, " "), *comma = *text + strcspn(*text, ","), *end = comma;
    *text = *comma ? comma + 1 : NULL;
    while (end > begin && end[-1] == ' ') end--;
    if (end - begin >= NAME_SIZE) return false;
    memcpy(word, begin, (size_t)(end - begin));
    bool is_number = kb_number_parse(word, &value) && value == floor(value);
    if (!(is_number && value >= FEWEST_MESH_POINTS && value <= MOST_MESH_POINTS)) return false;
    *number = (size_t)value;
    return true;
}

bool kb_mesh_is_auto(const char *mesh) { return mesh && !strcmp(mesh, "auto"); }

kbass_status kb_mesh_parse(const char *mesh, size_t n_axes, size_t *points, kbass_error *error)
{
    size_t n = 0, number = 0;
    for (size_t i = 0; i < n_axes; i++) points[i] = 0;
    if (!mesh || !*mesh || kb_mesh_is_auto(mesh)) return KBASS_OK;
    for (const char *rest = mesh; rest; n++) {
        if (n == KBASS_MAX_AXES || !next_mesh_number(&rest, &number))
            return kb_fail(error, KBASS_ERROR_ARGUMENT,
                           "mesh: \"%s\" is not a whole number from %d to %d, one for each axis (160,160), or auto",
                           mesh, FEWEST_MESH_POINTS, MOST_MESH_POINTS);
        if (n < n_axes) points[n] = number;
    }
    if (n_axes && n != 1 && n != n_axes)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "mesh: \"%s\" has %zu numbers, the data have %zu ax%s", mesh, n,
                       n_axes, n_axes == 1 ? "is" : "es");
    for (size_t i = n; i < n_axes; i++) points[i] = points[0];
    return KBASS_OK;
}

kbass_status kb_settings_check(const kbass_settings *settings, kbass_error *error)
{
    char found[KB_NUMBER_SIZE];
    for (size_t i = 0; i < KB_N_SETTINGS; i++) {
        const kbass_setting_info *info = kbass_settings_info(i);
        double value = info->kind == KBASS_TEXT ? 0 : number_of(settings, i);
        if (info->kind == KBASS_TEXT || value == info->standard || allowed(info, value)) continue;
        kb_number_print(value, found);
        return refuse(info, found, error);
    }
    return kb_mesh_parse(settings->mesh, 0, NULL, error);
}

/* ---------------------------------------------------------------- from and to text */

/* The index-th of "a|b|c" and its length; NULL when there are fewer. */
static const char *choice_at(const char *choices, int index, size_t *length)
{
    for (; choices && index > 0; index--) {
        choices = strchr(choices, '|');
        if (choices) choices++;
    }
    if (choices) *length = strcspn(choices, "|");
    return choices;
}

static bool read_choice(const char *choices, const char *text, double *value)
{
    size_t length = 0;
    const char *choice = NULL;
    for (int i = 0; (choice = choice_at(choices, i, &length)); i++) {
        *value = i;
        if (strlen(text) == length && strncmp(choice, text, length) == 0) return true;
    }
    return false;
}

static bool read_flag(const char *text, double *value)
{
    *value = !*text || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
    return *value == 1 || strcmp(text, "no") == 0 || strcmp(text, "0") == 0;
}

static bool read_value(const kbass_setting_info *info, const char *text, double *value)
{
    if (info->kind == KBASS_CHOICE) return read_choice(info->choices, text, value);
    if (info->kind == KBASS_FLAG) return read_flag(text, value);
    return kb_number_parse(text, value) && allowed(info, *value);
}

static size_t find(const char *name)
{
    size_t index = 0;
    for (; index < KB_N_SETTINGS; index++) {
        const char *known = kbass_settings_info(index)->name;
        size_t k = 0;
        while (known[k] && (name[k] == known[k] || (name[k] == '_' && known[k] == '-'))) k++;
        if (!known[k] && !name[k]) break;
    }
    return index;
}

static kbass_status set_text(kbass_settings *settings, size_t index, const char *value, kbass_error *error)
{
    const char **field = field_of(settings, index);
    if (field == &settings->mesh) {
        kbass_status status = kb_mesh_parse(value, 0, NULL, error);
        if (status != KBASS_OK) return status;
    }
    if (field == &settings->memory) {
        double bytes = 0;
        kbass_status status = kb_memory_parse(value, &bytes, error);
        if (status != KBASS_OK) return status;
    }
    char *copy = kb_strdup(value);
    if (!copy) return kb_out_of_memory(error, "a copy of the settings");
    kb_free(settings->owned[index]);
    *field = settings->owned[index] = copy;
    return KBASS_OK;
}

static kbass_status set_number(kbass_settings *settings, size_t index, const char *value, kbass_error *error)
{
    double number = 0;
    const kbass_setting_info *info = &table[index];
    void *field = field_of(settings, index);
    if (!read_value(info, value ? value : "", &number)) return refuse(info, value, error);
    if (info->kind == KBASS_REAL) *(double *)field = number;
    else *(int *)field = (int)number;
    return KBASS_OK;
}

kbass_status kbass_settings_set(kbass_settings *settings, const char *name, const char *value, kbass_error *error)
{
    size_t index = find(name);
    if (index == KB_N_SETTINGS) return unknown_setting(name, error);
    const kbass_setting_info *info = &table[index];
    if (!value && info->kind != KBASS_FLAG)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s needs a value: %s", info->name, info->value_name);
    kbass_status status =
        info->kind == KBASS_TEXT ? set_text(settings, index, value, error) : set_number(settings, index, value, error);
    if (status == KBASS_OK) settings->is_given[index] = true;
    return status;
}

kbass_status kbass_settings_unset(kbass_settings *settings, const char *name, kbass_error *error)
{
    size_t index = find(name);
    if (index == KB_N_SETTINGS) return unknown_setting(name, error);
    void *field = field_of(settings, index);
    kb_free(settings->owned[index]);
    settings->owned[index] = NULL;
    settings->is_given[index] = false;
    if (table[index].kind == KBASS_TEXT) *(const char **)field = NULL;
    else if (table[index].kind == KBASS_REAL) *(double *)field = table[index].standard;
    else *(int *)field = (int)table[index].standard;
    return KBASS_OK;
}

size_t kbass_settings_get(const kbass_settings *settings, const char *name, char *text, size_t size)
{
    char number[KB_NUMBER_SIZE];
    const char *value = number;
    size_t length = 0, index = find(name);
    const kbass_setting_info *info = kbass_settings_info(index);
    kbass_settings defaults;
    if (!settings) {
        kb_settings_default(&defaults);
        settings = &defaults;
    }

    if (!info) value = "";
    else if (info->kind == KBASS_TEXT) value = *(const char *const *)value_of(settings, index);
    else if (info->kind == KBASS_FLAG) value = number_of(settings, index) != 0 ? "yes" : "no";
    else if (info->kind == KBASS_CHOICE) value = choice_at(info->choices, (int)number_of(settings, index), &length);
    else kb_number_print(number_of(settings, index), number);

    if (!value) value = "";
    return (size_t)snprintf(text, size, "%.*s", (int)(length ? length : strlen(value)), value);
}

int kbass_settings_is_given(const kbass_settings *settings, const char *name)
{
    size_t index = find(name);
    return settings && index < KB_N_SETTINGS && settings->is_given[index];
}

/* ---------------------------------------------------------------- life */

kbass_status kb_settings_copy(const kbass_settings *from, kbass_settings *to, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    kb_settings_default(to);
    if (!from) return KBASS_OK;
    *to = *from;
    memset(to->owned, 0, sizeof to->owned);
    for (size_t i = 0; i < KB_N_SETTINGS; i++) {
        const char **field = field_of(to, i);
        if (table[i].kind != KBASS_TEXT || !*field) continue;
        *field = to->owned[i] = kb_strdup(*field);
        if (!*field) status = kb_out_of_memory(error, "a copy of the settings");
    }
    if (status != KBASS_OK) kb_settings_clear(to);
    return status;
}

void kb_settings_clear(kbass_settings *settings)
{
    for (size_t i = 0; i < KB_N_SETTINGS; i++) kb_free(settings->owned[i]);
    kb_settings_default(settings);
}

kbass_status kbass_settings_copy(const kbass_settings *from, kbass_settings **to, kbass_error *error)
{
    kbass_settings *settings = KB_NEW(kbass_settings, 1);
    if (!settings) return kb_out_of_memory(error, "the settings");
    kbass_status status = kb_settings_copy(from, settings, error);
    if (status == KBASS_OK) *to = settings;
    else kb_free(settings);
    return status;
}

kbass_status kbass_settings_create(kbass_settings **settings, kbass_error *error)
{
    return kbass_settings_copy(NULL, settings, error);
}

void kbass_settings_destroy(kbass_settings *settings)
{
    if (!settings) return;
    kb_settings_clear(settings);
    kb_free(settings);
}
