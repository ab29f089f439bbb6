#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static size_t own_count(const cli_command *command)
{
    size_t n = 0;
    while (command->options[n].name) n++;
    return n;
}

static size_t option_count(const cli_command *command)
{
    return own_count(command) + (command->has_settings ? kbass_settings_count() : 0);
}

/* ---------------------------------------------------------------- the merged table */

/* Settings that hold lists: what joins them when they are given several times. */
static const char *setting_separator(const char *name)
{
    static const struct {
        const char *name, *separator;
    } lists[] = {{"terms", ", "},    {"forbid", "; "},      {"require", "; "},  {"fix", "; "},   {"equation-for", ", "},
                 {"input", ", "},    {"input-delay", ", "}, {"vary", "; "},     {"noise", ", "}, {"lhs", ", "},
                 {"periodic", ", "}, {"units", ", "},       {"constants", ", "}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(lists[i].name, name)) return lists[i].separator;
    return NULL;
}

static cli_option option_at(const cli_command *command, size_t index)
{
    size_t n = own_count(command);
    if (index < n) return command->options[index];
    const kbass_setting_info *info = kbass_settings_info(index - n);
    cli_option option = {info->name, 0, info->value_name, setting_separator(info->name), info->help};
    return option;
}

static void describe_setting(const kbass_setting_info *info, char *text, size_t size)
{
    if (info->kind == KBASS_CHOICE) {
        int length = (int)strcspn(info->choices, "|");
        snprintf(text, size, "%s: %s (default: %.*s)", info->help, info->choices, length, info->choices);
    } else if (info->kind == KBASS_INTEGER || info->kind == KBASS_REAL) {
        char standard[40] = "";
        if (info->standard != 0) snprintf(standard, sizeof standard, "; default: %.10g", info->standard);
        snprintf(text, size, "%s; %.10g to %.10g%s", info->help, info->low, info->high, standard);
    } else {
        snprintf(text, size, "%s", info->help);
    }
}

bool cli_entry_at(const cli_command *command, size_t index, cli_entry *entry)
{
    size_t n = own_count(command);
    if (index >= option_count(command)) return false;
    cli_option option = option_at(command, index);
    entry->name = option.name;
    entry->letter = option.letter;
    entry->value_name = option.value_name;
    entry->group = index < n ? "general" : kbass_settings_info(index - n)->group;
    if (index < n) snprintf(entry->help, sizeof entry->help, "%s", option.help);
    else describe_setting(kbass_settings_info(index - n), entry->help, sizeof entry->help);
    return true;
}

/* ---------------------------------------------------------------- parsing */

static int unknown_option(const cli_command *command, const char *word, size_t length)
{
    size_t n = option_count(command);
    char *name = strndup(word, length);
    const char **names = calloc(n + 1, sizeof *names);
    const char *nearest = NULL;
    if (name && names) {
        for (size_t i = 0; i < n; i++) names[i] = option_at(command, i).name;
        nearest = cli_nearest(name, names);
    }
    if (nearest) cli_fail("unknown option --%.*s (did you mean --%s?)", (int)length, word, nearest);
    else cli_fail("unknown option --%.*s (see kbass help %s)", (int)length, word, command->name);
    free(names);
    free(name);
    return EXIT_BAD_INPUT;
}

/* Finds "--name", "--name=value", "-o" or "-oFILE"; *value is what follows within the word, or NULL. */
static int find_option(const cli_command *command, char *word, size_t *index, const char **value)
{
    size_t n = option_count(command);
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word + 2, "=") : 1;
    for (*index = 0; *index < n; ++*index) {
        cli_option option = option_at(command, *index);
        if (is_long ? strlen(option.name) == length && !strncmp(option.name, word + 2, length)
                    : option.letter && option.letter == word[1])
            break;
    }
    if (*index == n && is_long) return unknown_option(command, word + 2, length);
    if (*index == n) return cli_fail("unknown option -%c (see kbass help %s)", word[1], command->name);
    if (is_long) *value = word[2 + length] ? word + 3 + length : NULL;
    else *value = word[2] ? word + 2 : NULL;
    return EXIT_OK;
}

static int store(char **slot, const char *value, const char *separator)
{
    bool joins = *slot && separator;
    size_t size = strlen(value) + (joins ? strlen(*slot) + strlen(separator) : 0) + 1;
    char *text = malloc(size);
    if (!text) return cli_fail("out of memory for the command line");
    snprintf(text, size, "%s%s%s", joins ? *slot : "", joins ? separator : "", value);
    free(*slot);
    *slot = text;
    return EXIT_OK;
}

static int parse_option(cli_arguments *arguments, int count, char **words, int *at)
{
    size_t index = 0;
    const char *value = NULL;
    char *word = words[*at];
    int code = find_option(arguments->command, word, &index, &value);
    if (code != EXIT_OK) return code;
    cli_option option = option_at(arguments->command, index);
    if (!option.value_name && value) return cli_fail("--%s takes no value, found \"%s\"", option.name, value);
    if (option.value_name && !value) {
        if (*at + 1 >= count)
            return cli_fail("--%s needs a value: --%s %s", option.name, option.name, option.value_name);
        value = words[++*at];
    }
    if (option.value_name && !value[strspn(value, " \t")]) /* an unset variable of the shell */
        return cli_fail("--%s: found an empty value, needed %s", option.name, option.value_name);
    return store(&arguments->values[index], value ? value : "", option.separator);
}

int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments)
{
    int code = EXIT_OK;
    bool only_operands = false;
    *arguments = (cli_arguments){.command = command};
    arguments->operands = calloc((size_t)count + 1, sizeof *arguments->operands);
    arguments->values = calloc(option_count(command) + 1, sizeof *arguments->values);
    if (!arguments->operands || !arguments->values) return cli_fail("out of memory for the command line");

    for (int i = 0; i < count && code == EXIT_OK; i++) {
        char *word = words[i];
        if (only_operands || word[0] != '-' || !word[1]) arguments->operands[arguments->n_operands++] = word;
        else if (!strcmp(word, "--")) only_operands = true;
        else if (!strcmp(word, "--help") || !strcmp(word, "-h")) arguments->wants_help = true;
        else if (!strcmp(word, "--help-all")) arguments->wants_help = arguments->wants_all_help = true;
        else code = parse_option(arguments, count, words, &i);
    }
    return arguments->wants_help ? EXIT_OK : code;
}

void cli_arguments_clear(cli_arguments *arguments)
{
    if (arguments->values)
        for (size_t i = 0; i < option_count(arguments->command); i++) free(arguments->values[i]);
    free(arguments->values);
    free(arguments->operands);
}

/* ---------------------------------------------------------------- values */

int cli_settings(const cli_arguments *arguments, kbass_settings **settings)
{
    size_t n = own_count(arguments->command);
    kbass_error error;
    kbass_status status = kbass_settings_create(settings, &error);
    if (status != KBASS_OK) return cli_fail_with(status, &error);
    for (size_t i = 0; i < kbass_settings_count(); i++) {
        const kbass_setting_info *info = kbass_settings_info(i);
        const char *value = arguments->values[n + i];
        if (!value) continue;
        if (info->kind == KBASS_FLAG) value = "1";
        status = kbass_settings_set(*settings, info->name, value, &error);
        if (status != KBASS_OK) return cli_fail("--%s", error.message); /* which begins with the setting's name */
    }
    return EXIT_OK;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < own_count(arguments->command); i++)
        if (!strcmp(arguments->command->options[i].name, name)) return arguments->values[i];
    return NULL;
}

int cli_number(const cli_arguments *arguments, const char *name, double low, double high, double *number)
{
    const char *text = cli_value(arguments, name);
    char *end = NULL;
    if (!text) return EXIT_OK;
    double value = strtod(text, &end);
    while (isspace((unsigned char)*end)) end++;
    if (end == text || *end) return cli_fail("--%s: \"%s\" is not a number", name, text);
    if (!(value >= low && value <= high))
        return cli_fail("--%s: found %s, needed a number from %.10g to %.10g", name, text, low, high);
    *number = value;
    return EXIT_OK;
}

int cli_count(const cli_arguments *arguments, const char *name, double low, double high, unsigned long *number)
{
    double value = (double)*number;
    int code = cli_number(arguments, name, low, high, &value);
    if (code != EXIT_OK) return code;
    if (value != floor(value))
        return cli_fail("--%s: found %s, needed a whole number", name, cli_value(arguments, name));
    *number = (unsigned long)value;
    return EXIT_OK;
}
