/* kbass completion: scripts for bash and zsh, from the commands' tables. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "message.h"

static bool takes_file(const char *value_name)
{
    return !strncmp(value_name, "FILE", 4) || !strcmp(value_name, "PATH");
}

static void print_spaced(const char *choices)
{
    for (; *choices; choices++) putchar(*choices == '|' ? ' ' : *choices);
}

/* Prints the words that may follow an option between `open` and `close`; false when there is no list of them. */
static bool print_choices(const cli_command *command, const char *name, const char *open, const char *close)
{
    const char *choices = NULL;
    bool is_format = !strcmp(command->name, "export") && !strcmp(name, "to");
    for (size_t i = 0; command->has_settings && i < kbass_settings_count(); i++)
        if (!strcmp(kbass_settings_info(i)->name, name)) choices = kbass_settings_info(i)->choices;
    if (!choices && !is_format) return false;
    printf("%s", open);
    if (choices) print_spaced(choices);
    for (size_t i = 0; is_format && kbass_export_format(i); i++) printf("%s%s", i ? " " : "", kbass_export_format(i));
    printf("%s", close);
    return true;
}

/* What a command's operands may be besides files: words of its usage in small letters, names it lists. */
static void print_operands(const cli_command *command)
{
    if (!strcmp(command->name, "simulate")) {
        for (size_t i = 0; kbass_model_name(i); i++) printf(" %s", kbass_model_name(i));
    } else if (!strcmp(command->name, "data")) {
        for (size_t i = 0; kbass_data_example_name(i); i++) printf(" %s", kbass_data_example_name(i));
    } else {
        const char *word = command->usage, *end = NULL;
        for (; *word; word = end + (*end != '\0')) {
            end = word + strcspn(word, " ");
            if (islower((unsigned char)*word)) printf(" %.*s", (int)(end - word), word);
        }
    }
}

static void print_command_names(void)
{
    for (const cli_command *c = cli_commands; c->name; c++) printf("%s ", c->name);
    printf("help version");
}

/* ---------------------------------------------------------------- bash */

static void bash_command(const cli_command *command)
{
    cli_entry entry;
    printf("    %s)\n        case $before in\n", command->name);
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) {
        if (!entry.value_name) continue;
        printf("        --%s", entry.name);
        if (entry.letter) printf("|-%c", entry.letter);
        printf(") ");
        if (!print_choices(command, entry.name, "words=\"", "\""))
            printf("%s", takes_file(entry.value_name) ? "files=1" : "return");
        printf(" ;;\n");
    }
    printf("        *)\n            files=1\n            words=\"");
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) printf("--%s ", entry.name);
    printf(command->common ? "--help --help-all" : "--help");
    print_operands(command);
    printf("\" ;;\n        esac ;;\n");
}

static int bash_script(void)
{
    printf("# bash completion for kbass, written by: kbass completion bash\n"
           "_kbass()\n{\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= files=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    print_command_names();
    printf("\" -- \"$current\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    help) words=\"");
    print_command_names();
    printf(" --all\" ;;\n");
    for (const cli_command *c = cli_commands; c->name; c++) bash_command(c);
    printf("    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "    if [ -n \"$files\" ]; then\n"
           "        compopt -o filenames 2> /dev/null\n"
           "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$current\")\n"
           "    fi\n}\n"
           "complete -F _kbass kbass\n");
    return EXIT_OK;
}

/* ---------------------------------------------------------------- zsh */

/* Within '...[help]...' of _arguments: quotes, brackets, colons and backslashes mean something. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') printf("'\\''");
        else if (strchr("[]:\\", *text)) printf("\\%c", *text);
        else putchar(*text);
    }
}

static void zsh_option(const cli_command *command, const cli_entry *entry)
{
    printf(" \\\n        ");
    if (entry->letter) printf("'(-%c --%s)'{-%c,--%s}'[", entry->letter, entry->name, entry->letter, entry->name);
    else printf("'--%s[", entry->name);
    print_zsh_text(entry->help);
    putchar(']');
    if (entry->value_name) {
        putchar(':');
        print_zsh_text(entry->value_name);
        putchar(':');
        if (!print_choices(command, entry->name, "(", ")") && takes_file(entry->value_name)) printf("_files");
    }
    putchar('\'');
}

static int zsh_script(void)
{
    cli_entry entry;
    printf("#compdef kbass\n# zsh completion for kbass, written by: kbass completion zsh\n"
           "_kbass()\n{\n    local -a commands=(\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("        '%s:", c->name);
        print_zsh_text(c->summary);
        printf("'\n");
    }
    printf("        'help:help on a command'\n        'version:the version'\n    )\n"
           "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
           "    local command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n    case $command in\n"
           "    help) _describe command commands ;;\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        printf("    %s) _arguments -s", c->name);
        for (size_t i = 0; cli_entry_at(c, i, &entry); i++) zsh_option(c, &entry);
        printf(" \\\n        '--help[help on this command]'");
        if (c->common) printf(" \\\n        '--help-all[every option, in full]'");
        printf(" \\\n        '*::operand:{ compadd --");
        print_operands(c);
        printf("; _files }' ;;\n");
    }
    printf("    esac\n}\n_kbass \"$@\"\n");
    return EXIT_OK;
}

int cli_completion(const cli_arguments *arguments)
{
    static const char *const shells[] = {"bash", "zsh", NULL};
    const char *shell = arguments->n_operands == 1 ? arguments->operands[0] : NULL;
    if (!shell) return cli_fail("completion needs the name of a shell: bash or zsh");
    if (!strcmp(shell, "bash")) return bash_script();
    if (!strcmp(shell, "zsh")) return zsh_script();
    const char *nearest = cli_nearest(shell, shells);
    return nearest ? cli_fail("unknown shell \"%s\" (did you mean %s?)", shell, nearest)
                   : cli_fail("unknown shell \"%s\" (known: bash, zsh)", shell);
}
