/* The files of a call: which are read, which are written, and that none is both. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "figure.h"
#include "message.h"
#include "output.h"

/* ---------------------------------------------------------------- one file by two names */

/* A file that is there is known by device and inode; one that is not by those of its folder and its name. */
typedef struct {
    bool is_known, exists, is_regular;
    dev_t device;
    ino_t inode;
    const char *name; /* within the folder */
} identity;

static identity of_stat(const struct stat *there, const char *name)
{
    return (identity){true, !name, S_ISREG(there->st_mode), there->st_dev, there->st_ino, name};
}

static identity of_folder(const char *path)
{
    struct stat there;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    identity id = {0};
    if (folder && stat(folder, &there) == 0) id = of_stat(&there, name);
    free(folder);
    return id;
}

/* "file.h5:/run3" is file.h5. */
static bool stat_part(const char *path, struct stat *there)
{
    char *file = strdup(path), *colon = NULL;
    bool found = file && stat(file, there) == 0;
    while (file && !found && (colon = strrchr(file, ':'))) {
        *colon = '\0';
        found = stat(file, there) == 0;
    }
    free(file);
    return found;
}

static identity identity_of(const cli_file *file)
{
    struct stat there;
    if (cli_output_is_standard(file->path)) {
        int descriptor = file->is_written ? STDOUT_FILENO : STDIN_FILENO;
        return fstat(descriptor, &there) == 0 ? of_stat(&there, NULL) : (identity){0};
    }
    if (file->is_written ? stat(file->path, &there) == 0 : stat_part(file->path, &there)) return of_stat(&there, NULL);
    return file->is_written ? of_folder(file->path) : (identity){0};
}

/* Devices and pipes are shared at will. */
static bool is_same(identity a, identity b)
{
    if (!a.is_known || !b.is_known || a.exists != b.exists || a.device != b.device || a.inode != b.inode) return false;
    return a.exists ? a.is_regular && b.is_regular : !strcmp(a.name, b.name);
}

static int refuse(const cli_file *written, const cli_file *other)
{
    if (other->is_written)
        return cli_fail("%s %s and %s %s are one file: give each its own", other->option, other->path, written->option,
                        written->path);
    if (!*other->option)
        return cli_fail("%s %s: cannot write over the file it is made from", written->option, written->path);
    return cli_fail("%s %s: cannot write over %s %s, which it is made from", written->option, written->path,
                    other->option, other->path);
}

static bool is_stream(const cli_file *file)
{
    struct stat there;
    return cli_output_is_standard(file->path) || !strncmp(file->path, "/dev/", 5) ||
           (stat(file->path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode));
}

/* Standard output is where the report goes: a file that replaced it would make that vanish. */
static int check_one(size_t n, const cli_file *files, const cli_file *written)
{
    kbass_error error;
    struct stat out;
    identity id = identity_of(written);
    for (const cli_file *other = files; other < files + n; other++)
        if ((!other->is_written || other < written) && is_same(id, identity_of(other)) &&
            !(other->is_written && is_stream(written) && is_stream(other)))
            return refuse(written, other);
    if (is_stream(written) && cli_output_is_standard(written->path)) return EXIT_OK;
    if (kbass_file_check(written->path, &error) != KBASS_OK) return cli_fail("%s", error.message);
    if (!is_stream(written) && fstat(STDOUT_FILENO, &out) == 0 && is_same(id, of_stat(&out, NULL)))
        return cli_fail("%s %s: standard output goes there too: give each its own file", written->option,
                        written->path);
    return EXIT_OK;
}

int cli_files_check(size_t n, const cli_file *files)
{
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < n; i++)
        if (files[i].is_written) code = check_one(n, files, &files[i]);
    return code;
}

/* ---------------------------------------------------------------- the files of a command line */

static bool is_listed(const char *word, const char *(*name_at)(size_t))
{
    for (size_t i = 0; name_at(i); i++)
        if (!strcmp(name_at(i), word)) return true;
    return false;
}

/* Operands are files, but for the names of systems, data sets, benchmarks, figures and shells. */
static bool is_file(const char *command, size_t index, const char *operand)
{
    if (!strcmp(command, "simulate")) return !is_listed(operand, kbass_model_name);
    if (!strcmp(command, "data")) return !is_listed(operand, kbass_data_example_name);
    if (!strcmp(command, "bench")) return index > 0;
    return strcmp(command, "plot") ? strcmp(command, "completion") : index == 0;
}

/* What the value of an option is to the disk. */
typedef enum { NO_FILE, READ, WRITTEN, DRAWN } file_role;

static file_role role_by_name(const char *option)
{
    static const struct {
        const char *option;
        file_role role;
    } roles[] = {{"data", READ},       {"times", READ},         {"input-data", READ},    {"paper-trace", WRITTEN},
                 {"terms-file", READ}, {"mesh-file", READ},     {"json", WRITTEN},       {"report", WRITTEN},
                 {"csv", WRITTEN},     {"solution", WRITTEN},   {"residuals", WRITTEN},  {"law-residuals", WRITTEN},
                 {"output", WRITTEN},  {"save-draws", WRITTEN}, {"checkpoint", WRITTEN}, {"figure", DRAWN}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!strcmp(roles[i].option, option)) return roles[i].role;
    return NO_FILE;
}

/* --times may be a list instead; bench samples writes a folder; plot draws its output. */
static file_role role_of(const cli_arguments *arguments, const char *option, const char *value)
{
    const char *command = arguments->command->name;
    bool is_output = !strcmp(option, "output");
    if (!strcmp(option, "times") && !value[strspn(value, "0123456789+-.eE ,;\t")]) return NO_FILE;
    if (is_output && !strcmp(command, "plot")) return DRAWN;
    if (is_output && !strcmp(command, "bench") && arguments->n_operands && !strcmp(arguments->operands[0], "samples"))
        return NO_FILE;
    return role_by_name(option);
}

static int check_ending(const cli_file *figure)
{
    if (is_stream(figure) || figure_format(figure->path) != FIGURE_UNKNOWN) return EXIT_OK;
    return cli_fail("%s %s: found no ending that says the format, needed .svg, .pdf or .png", figure->option,
                    figure->path);
}

int cli_arguments_check_files(const cli_arguments *arguments)
{
    enum { NAME_SIZE = 40 };
    size_t n = 0, n_options = 0;
    int code = EXIT_OK;
    cli_entry entry;
    while (cli_entry_at(arguments->command, n_options, &entry)) n_options++;
    cli_file *files = calloc(arguments->n_operands + n_options + 1, sizeof *files);
    char(*names)[NAME_SIZE] = calloc(n_options + 1, sizeof *names);
    if (!files || !names) code = cli_fail("out of memory for the command line");
    for (size_t i = 0; code == EXIT_OK && i < arguments->n_operands; i++)
        if (is_file(arguments->command->name, i, arguments->operands[i]))
            files[n++] = (cli_file){"", arguments->operands[i], false};
    for (size_t i = 0; code == EXIT_OK && cli_entry_at(arguments->command, i, &entry); i++) {
        const char *value = arguments->values[i];
        file_role role = value ? role_of(arguments, entry.name, value) : NO_FILE;
        if (role == NO_FILE) continue;
        snprintf(names[i], NAME_SIZE, "--%.30s", entry.name);
        files[n++] = (cli_file){names[i], value, role != READ};
        if (role == DRAWN) code = check_ending(&files[n - 1]);
    }
    if (code == EXIT_OK) code = cli_files_check(n, files);
    free(names);
    free(files);
    return code;
}
