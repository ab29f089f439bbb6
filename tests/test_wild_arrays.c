/* Files as people and programs leave them: every one that a list of tests/data/wild names is read right, without an
 * option or with the one that the message for the bare file names. A list says of each: file, option, rows, axes,
 * states, first and last time, the sum of all measured values, and what it is. */
#include <dirent.h>

#include "base/number.h"
#include "check.h"
#include "kbass/kbass.h"

#define FOLDER KBASS_ROOT "/tests/data/wild/"

enum { FILE_NAME, OPTION, ROWS, AXES, STATES, FIRST, LAST, SUM, WHAT, N_CELLS };

static kbass_error error;

/* "--time xs_2" or ":Sheet2", the latter behind the path. */
static kbass_read_options read_option(const char *option, char *path, size_t size)
{
    kbass_read_options options = {0};
    const char *value = strchr(option, ' ') ? strchr(option, ' ') + 1 : "";
    if (*option == ':') strncat(path, option, size - strlen(path) - 1);
    else if (strncmp(option, "--time ", 7) == 0) options.time_column = value;
    else if (strncmp(option, "--axes ", 7) == 0) options.axes = value;
    else if (strncmp(option, "--use ", 6) == 0) options.use = value;
    else if (strncmp(option, "--run ", 6) == 0) options.run = value;
    else if (strncmp(option, "--dates ", 8) == 0) options.dates = value;
    else if (strncmp(option, "--missing ", 10) == 0) options.missing = value;
    else if (*option) fail_msg("option %s", option);
    return options;
}

static double number_of(const char *text)
{
    double value = 0;
    if (!kb_number_parse(text, &value)) fail_msg("\"%s\" is no number", text);
    return value;
}

static void list_names(const kbass_data *data, char *axes, char *states)
{
    *axes = *states = '\0';
    for (size_t i = 0; i < kbass_data_axes(data); i++)
        strcat(strcat(axes, i ? "," : ""), kbass_data_axis_name(data, i));
    for (size_t i = 0; i < kbass_data_states(data); i++)
        strcat(strcat(states, i ? "," : ""), kbass_data_state_name(data, i));
}

static void check_close(const char *file, const char *what, double found, double expected)
{
    double rounding = 1e-12 * fmax(1, fabs(expected)); /* of a sum in another order, of times in days */
    if (!(fabs(found - expected) <= rounding)) fail_msg("%s: %s %.17g, expected %.17g", file, what, found, expected);
}

static void check_file(char *const *cells)
{
    char path[400], axes[400], states[400];
    kbass_data *data = NULL;
    double sum = 0;
    snprintf(path, sizeof path, FOLDER "%s", cells[FILE_NAME]);
    kbass_read_options options = read_option(cells[OPTION], path, sizeof path);
    if (kbass_data_read(path, &options, &data, &error) != KBASS_OK) fail_msg("%s: %s", cells[FILE_NAME], error.message);
    size_t n = kbass_data_rows(data), n_states = kbass_data_states(data);
    list_names(data, axes, states);
    check_close(cells[FILE_NAME], "rows", (double)n, number_of(cells[ROWS]));
    CHECK_TEXT(axes, cells[AXES]);
    CHECK_TEXT(states, cells[STATES]);
    check_close(cells[FILE_NAME], "first time", kbass_data_times(data)[0], number_of(cells[FIRST]));
    check_close(cells[FILE_NAME], "last time", kbass_data_times(data)[n - 1], number_of(cells[LAST]));
    for (size_t i = 0; i < n * n_states; i++)
        if (!isnan(kbass_data_values(data)[i])) sum += kbass_data_values(data)[i];
    check_close(cells[FILE_NAME], "sum", sum, number_of(cells[SUM]));
    kbass_data_destroy(data);
}

/* Without the option that it needs, the file is refused, and the message names the option. */
static void check_message(char *const *cells)
{
    char path[400], kind[20];
    kbass_data *data = NULL;
    snprintf(path, sizeof path, FOLDER "%s", cells[FILE_NAME]);
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(cells[OPTION], " "), cells[OPTION]);
    kbass_status status = kbass_data_read(path, NULL, &data, &error);
    kbass_data_destroy(data);
    if (*cells[OPTION] == ':') snprintf(kind, sizeof kind, "file");
    if (status == KBASS_OK || !strstr(error.message, kind))
        fail_msg("%s: \"%s\" does not say %s", cells[FILE_NAME], status == KBASS_OK ? "" : error.message, kind);
}

static size_t check_list(const char *name)
{
    char path[400], line[1000];
    size_t n = 0;
    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *list = fopen(path, "r");
    CHECK(list && fgets(line, sizeof line, list));
    for (; fgets(line, sizeof line, list); n++) {
        char *cells[N_CELLS] = {NULL}, *next = line;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < N_CELLS; i++) cells[i] = strsep(&next, "\t");
        CHECK(cells[WHAT]);
        check_file(cells);
        if (*cells[OPTION]) check_message(cells);
    }
    fclose(list);
    return n;
}

static void test_all(void **state)
{
    DIR *folder = opendir(FOLDER);
    size_t n = 0;
    (void)state;
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".tsv") == 0) n += check_list(entry->d_name);
    }
    closedir(folder);
    CHECK(n >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
