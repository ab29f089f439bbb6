#include "answer.h"

#include "kbass/kbass.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* NULL where there is no such file, or it is no regular one: a pipe would be emptied. */
static FILE *open_file(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISREG(there.st_mode) ? fopen(path, "r") : NULL;
}

bool cli_result_holds_answer(const char *path)
{
    FILE *file = open_file(path);
    json_t *root = file ? json_loadf(file, 0, NULL) : NULL;
    bool holds = json_array_size(json_object_get(root, "equations")) > 0;
    json_decref(root);
    if (file) fclose(file);
    return holds;
}

void cli_result_repeat_verdict(const char *path)
{
    FILE *file = open_file(path);
    json_t *root = file ? json_loadf(file, 0, NULL) : NULL;
    const json_t *verdict = json_object_get(root, "verdict");
    const char *name = json_string_value(json_object_get(verdict, "name")),
               *reason = json_string_value(json_object_get(verdict, "reason"));
    for (kbass_law_verdict v = KBASS_LAW_NONE; name && reason && v <= KBASS_NOTHING_TO_EXPLAIN; v++)
        if (!strcmp(name, kbass_law_verdict_name(v))) fprintf(stderr, "note: %s: %s; %s\n", path, name, reason);
    json_decref(root);
    if (file) fclose(file);
}

void cli_result_print_alike(const char *path)
{
    FILE *file = open_file(path);
    json_t *root = file ? json_loadf(file, 0, NULL) : NULL;
    const json_t *alike = json_object_get(root, "alike"), *entry = NULL;
    size_t i = 0;
    if (json_array_size(alike))
        puts("\nWhat no further sample of this record tells apart, but another measurement does:\n");
    json_array_foreach(alike, i, entry)
    {
        const char *sentence = json_string_value(json_object_get(entry, "sentence"));
        if (sentence) printf("  %s\n", sentence);
    }
    json_decref(root);
    if (file) fclose(file);
}

bool cli_page_holds_answer(const char *path)
{
    static const char law[] = "class=\"law\"", none[] = "No model was found";
    FILE *file = open_file(path);
    char *line = NULL;
    size_t room = 0;
    bool has_law = false, has_none = false;
    while (file && getline(&line, &room, file) >= 0) {
        has_law = has_law || strstr(line, law);
        has_none = has_none || strstr(line, none);
    }
    free(line);
    if (file) fclose(file);
    return has_law && !has_none;
}
