/* Help, manual page and docs/options.md, all from the commands' tables. */
#include <ctype.h>
#include <string.h>

#include "options.h"

enum { HELP_COLUMN = 28, LAST_COLUMN = 80 };

/* The text up to its end, or to `end` unless that is NULL. */
static void print_wrapped(FILE *out, const char *text, const char *end, int indent)
{
    int column = indent;
    while (*text && text != end) {
        int length = (int)strcspn(text, " ");
        if (end && text + length > end) length = (int)(end - text);
        if (column > indent && column + 1 + length > LAST_COLUMN) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        if (text != end && *text == ' ') text++;
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

static void print_examples(FILE *out, const cli_command *command, const char *before, const char *indent)
{
    fputs(before, out);
    for (const char *at = command->example; *at; at += strcspn(at, "\n"), at += *at == '\n')
        fprintf(out, "%s%.*s\n", indent, (int)strcspn(at, "\n"), at);
}

/* ---------------------------------------------------------------- on the terminal */

void cli_help_overview(FILE *out)
{
    fprintf(out, "kbass %s: discover the differential equations behind a few noisy measurements\n\n", kbass_version());
    print_examples(out, cli_commands, "A first result:\n", "  ");
    fputc('\n', out);
    for (const cli_command *c = cli_commands; c->name; c++) fprintf(out, "  kbass %-11s %s\n", c->name, c->summary);
    fputs("  kbass help        help on a command: kbass help discover, --help-all in full\n"
          "  kbass help words  what the words of the reports mean\n"
          "  kbass version     the version\n",
          out);
}

static void print_option(FILE *out, const char *heading, const char *text, const char *end);

typedef struct {
    const char *word, *meaning;
} word_entry;

static const word_entry words[] = {
    {"verdict",
     "whether there is a law: laws of the dictionary compete with a constant, a straight line and a smooth curve "
     "or field that needs no equation"},
    {"law found", "a law explains the data better than anything without a law, and each of its terms is in"},
    {"approximate",
     "the law explains nearly all of the variance, but leaves several times the noise: something small is "
     "missing"},
    {"law undecided", "other laws, or none at all, explain the data as well; more or better data would decide"},
    {"no law", "a smooth curve without an equation explains the data far better than any law of this dictionary, which "
               "leaves more than noise; exit code 3"},
    {"nothing to explain", "a constant or a straight line with noise explains the data best; exit code 3"},
    {"P(law)", "probability that a law of this dictionary holds; all else is given that one does"},
    {"P(in)", "probability that the term is in the equation, over all laws that were compared"},
    {"in, out",
     "in: part of the chosen law, P(in) at least 0.9, weight clear of 0. out: not part of it, P(in) at most 0.1"},
    {"alike",
     "terms that are the same on this record within the noise, sums of states that stay constant, states at rest: no "
     "probability tells them apart, another measurement does"},
    {"undecided", "between the two; marked by ? in the equations"},
    {"weight", "what the term is multiplied by, in the units of your data"},
    {"95 % interval",
     "where the weight lies with probability 0.95, given that its term is in: over all laws that have it"},
    {"sd", "standard deviation: half the width of 68 % of a bell curve"},
    {"odds", "1 : 10 means ten times less likely than the chosen law"},
    {"rival", "another law that explains the data nearly as well, by what it has more or less than the chosen one"},
    {"misfit",
     "root mean square of measured less fitted values, in units of each state's own sd: 0 is perfect, 1 is no "
     "better than the mean"},
    {"variance", "explained: 1 less the square of the misfit"},
    {"evidence", "probability of the data under a model, its weights averaged out; log evidence is its logarithm, and "
                 "differences of it are log odds before caution (odds are taken to the power 0.6)"},
    {"noise", "what measuring adds to the state, estimated along with the law"},
    {"white",
     "neighbouring residuals are independent, as noise is; if not, the law or the noise model misses something"}};

void cli_help_words(FILE *out)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) print_option(out, words[i].word, words[i].meaning, NULL);
}

static bool is_common(const cli_command *command, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = command->common; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, length) && (at[length] == ' ' || !at[length])) return true;
    return !command->common;
}

/* Where the details of an option's text begin; NULL when it has none. */
static const char *details(const char *text)
{
    static const char *const marks[] = {";", ": ", " ("};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(text, marks[i]);
        if (at && (!first || at < first)) first = at;
    }
    return first;
}

static void print_option(FILE *out, const char *heading, const char *text, const char *end)
{
    fprintf(out, "  %-*s", HELP_COLUMN - 2, heading);
    if ((int)strlen(heading) + 2 >= HELP_COLUMN) fprintf(out, "\n%*s", HELP_COLUMN, "");
    print_wrapped(out, text, end, HELP_COLUMN);
}

static void print_story(FILE *out, const cli_command *command, bool in_full)
{
    const char *end = in_full ? NULL : strstr(command->story, ". ");
    print_wrapped(out, command->story, end ? end + 1 : NULL, 0);
}

void cli_help_command(FILE *out, const cli_command *command, bool in_full)
{
    const char *group = "";
    cli_entry entry;
    if (!command->common) in_full = true;
    print_examples(out, command, "Example:\n", "  ");
    fprintf(out, "\nUsage: kbass %s ", command->name);
    print_wrapped(out, command->usage, NULL, (int)strlen("Usage: kbass ") + (int)strlen(command->name) + 1);
    fputc('\n', out);
    print_story(out, command, in_full);
    for (size_t i = 0; cli_entry_at(command, i, &entry); i++) {
        char heading[80];
        if (!in_full && !is_common(command, entry.name)) continue;
        if (strcmp(group, entry.group))
            fprintf(out, "\n%c%s:\n", toupper((unsigned char)entry.group[0]), entry.group + 1);
        group = entry.group;
        entry_heading(&entry, heading, sizeof heading);
        print_option(out, heading, entry.help, in_full ? NULL : details(entry.help));
    }
    fputc('\n', out);
    print_option(out, "-h, --help", in_full && command->common ? "the common options" : "this text", NULL);
    if (command->common) print_option(out, "--help-all", in_full ? "this text" : "every option, in full", NULL);
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
    fputs(".PP\n.nf\n", out);
    print_roff(out, command->example);
    fputs(".fi\n", out);
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
          ".TP\n.B 3\ndiscover: there is a result, and it says no law in this dictionary, or nothing to explain\n"
          ".TP\n.B 130\nstopped by Ctrl\\-C, after writing what there was\n"
          ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours on a terminal\n",
          out);
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
    fprintf(out, "\n## kbass %s\n\n    kbass %s %s\n\n%s\n\n", command->name, command->name, command->usage,
            command->story);
    print_examples(out, command, "For example:\n\n", "    ");
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
          "Written by `make docs` (`kbass help --markdown`) from the tables that the command itself reads.\n",
          out);
    for (const cli_command *c = cli_commands; c->name; c++) markdown_command(out, c);
}
