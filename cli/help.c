/* Help, manual page and docs/options.md, all from the commands' tables. */
#include <ctype.h>
#include <string.h>

#include "options.h"

enum { HELP_COLUMN = 34, LAST_COLUMN = 100 };

static void print_wrapped(FILE *out, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > LAST_COLUMN) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

/* "-o, --output FILE" */
static void entry_heading(const cli_entry *entry, char *text, size_t size)
{
    char letter[8] = "";
    if (entry->letter) snprintf(letter, sizeof letter, "-%c, ", entry->letter);
    snprintf(text, size, "%s--%s%s%s", letter, entry->name, entry->value_name ? " " : "",
             entry->value_name ? entry->value_name : "");
}

static bool starts_group(const cli_command *command, size_t index, const cli_entry *entry)
{
    cli_entry before;
    return index == 0 || !cli_entry_at(command, index - 1, &before) || strcmp(before.group, entry->group) != 0;
}

/* ---------------------------------------------------------------- on the terminal */

void cli_help_overview(FILE *out)
{
    fprintf(out, "kbass %s: discover the differential equations behind a few noisy measurements\n\n", kbass_version());
    for (const cli_command *c = cli_commands; c->name; c++) fprintf(out, "  kbass %-11s %s\n", c->name, c->summary);
    fputs("  kbass help        help on a command: kbass help discover\n"
          "  kbass version     the version\n\n"
          "A first result:\n"
          "  kbass simulate vdp --samples 25 --until 8 --noise 1 -o vdp.csv\n"
          "  kbass discover vdp.csv\n", out);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    cli_entry entry;
    fprintf(out, "Usage: kbass %s %s\n\n", command->name, command->usage);
    print_wrapped(out, command->story, 0);
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) {
        char heading[80];
        if (starts_group(command, i, &entry))
            fprintf(out, "\n%c%s:\n", toupper((unsigned char)entry.group[0]), entry.group + 1);
        entry_heading(&entry, heading, sizeof heading);
        fprintf(out, "  %-*s", HELP_COLUMN - 2, heading);
        print_wrapped(out, entry.help, HELP_COLUMN);
    }
    fprintf(out, "\n  %-*sthis text\n", HELP_COLUMN - 2, "-h, --help");
}

/* ---------------------------------------------------------------- roff */

/* A line of roff must not begin with a dot or quote, and hyphens of options are written \- */
static void print_roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '-') fputs("\\-", out);
        else if (*text == '\\') fputs("\\e", out);
        else if (*text == '^') fputs("\\(ha", out);
        else fputc(*text, out);
    }
    fputc('\n', out);
}

static void manual_command(FILE *out, const cli_command *command)
{
    cli_entry entry;
    fprintf(out, ".SH \"KBASS %s\"\n.B kbass %s\n", command->name, command->name);
    print_roff(out, command->usage);
    fputs(".PP\n", out);
    print_roff(out, command->story);
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) {
        char heading[80];
        if (starts_group(command, i, &entry)) fprintf(out, ".SS \"%s\"\n", entry.group);
        entry_heading(&entry, heading, sizeof heading);
        fputs(".TP\n.B ", out);
        print_roff(out, heading);
        print_roff(out, entry.help);
    }
}

void cli_help_manual(FILE *out)
{
    fprintf(out, ".TH KBASS 1 \"\" \"kbass %s\" \"User Commands\"\n.SH NAME\n", kbass_version());
    fputs("kbass \\- discover the differential equations behind a few noisy measurements\n.SH SYNOPSIS\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "%s.B kbass %s\n", c == cli_commands ? "" : ".br\n", c->name);
        print_roff(out, c->usage);
    }
    fputs(".SH DESCRIPTION\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, ".TP\n.B %s\n", c->name);
        print_roff(out, c->summary);
    }
    for (const cli_command *c = cli_commands; c->name; c++) manual_command(out, c);
    fputs(".SH \"EXIT STATUS\"\n"
          ".TP\n.B 0\nsuccess\n"
          ".TP\n.B 1\nno model could be fitted, or an output was lost\n"
          ".TP\n.B 2\nthe input or the command line cannot be used\n"
          ".TP\n.B 130\nstopped by Ctrl\\-C, after writing what there was\n"
          ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours on a terminal\n", out);
}

/* ---------------------------------------------------------------- Markdown */

/* In a table's cell a bar would end the cell. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
}

static void markdown_command(FILE *out, const cli_command *command)
{
    cli_entry entry;
    fprintf(out, "\n## kbass %s\n\n    kbass %s %s\n\n%s\n", command->name, command->name, command->usage,
            command->story);
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) {
        char heading[80];
        if (starts_group(command, i, &entry))
            fprintf(out, "\n### %s\n\n| option | meaning |\n|---|---|\n", entry.group);
        entry_heading(&entry, heading, sizeof heading);
        fprintf(out, "| `%s` | ", heading);
        print_cell(out, entry.help);
        fputs(" |\n", out);
    }
}

void cli_help_markdown(FILE *out)
{
    fputs("# Options\n\n"
          "Written by `make docs` (`kbass help --markdown`) from the tables that the command itself reads.\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) markdown_command(out, c);
}
