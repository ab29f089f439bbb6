#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/replace.h"
#include "base/status.h"
#include "data/data.h"
#include "data/sha256.h"

/* ---------------------------------------------------------------- lines */

/* A name that could be taken for something else goes in quotes, its own quotes doubled. */
static char *append_name(char *end, const char *name)
{
    bool quoted = !kb_data_is_name(name);
    if (quoted) *end++ = '"';
    for (; *name; name++) {
        if (*name == '"') *end++ = '"';
        *end++ = *name;
    }
    if (quoted) *end++ = '"';
    return end;
}

static char *append_number(char *end, double value) { return isnan(value) ? end : end + kb_number_print(value, end); }

/* The column of runs must not be taken for a state of that name. */
static const char *run_column(const kbass_data *data)
{
    for (size_t i = 0; i < data->n_states; i++)
        if (!strcmp(data->state_names[i], "run")) return "run_number";
    return "run";
}

/* Runs that have other names than numbers, files for example, are numbered: the column is to be read again. */
static bool are_numbers(const kbass_data *data)
{
    double number;
    for (size_t i = 0; i < data->n_runs; i++)
        if (!kb_number_parse(data->run_names[i], &number)) return false;
    return true;
}

static size_t header_line(const kbass_data *data, char *line)
{
    char *end = line;
    if (data->n_runs) end += sprintf(end, "%s,", run_column(data));
    for (size_t i = 0; i < data->n_axes; i++) {
        if (i) *end++ = ',';
        end = append_name(end, data->axis_names[i]);
    }
    for (size_t i = 0; i < data->n_states; i++) {
        *end++ = ',';
        end = append_name(end, data->state_names[i]);
    }
    *end++ = '\n';
    return (size_t)(end - line);
}

static size_t row_line(const kbass_data *data, size_t row, size_t run, bool has_numbers, char *line)
{
    char *end = line;
    if (data->n_runs && has_numbers) end += sprintf(end, "%s,", data->run_names[run]);
    else if (data->n_runs) end += sprintf(end, "%zu,", run + 1);
    for (size_t i = 0; i < data->n_axes; i++) {
        if (i) *end++ = ',';
        end = append_number(end, kb_data_coordinate(data, row, i));
    }
    for (size_t i = 0; i < data->n_states; i++) {
        *end++ = ',';
        end = append_number(end, data->values[row * data->n_states + i]);
    }
    *end++ = '\n';
    return (size_t)(end - line);
}

static size_t longest_line(const kbass_data *data)
{
    size_t length = 40, longest = 0;
    for (size_t i = 0; i < data->n_runs; i++)
        if (strlen(data->run_names[i]) > longest) longest = strlen(data->run_names[i]);
    length += 2 * longest;
    for (size_t i = 0; i < data->n_axes; i++) length += 2 * strlen(data->axis_names[i]) + KB_NUMBER_SIZE;
    for (size_t i = 0; i < data->n_states; i++) length += 2 * strlen(data->state_names[i]) + KB_NUMBER_SIZE;
    return length + 4;
}

kbass_status kb_data_lines(const kbass_data *data, kb_line_taker take, void *user, kbass_error *error)
{
    char *line = KB_NEW(char, longest_line(data));
    if (!line) return kb_out_of_memory(error, "a line of the table");
    take(user, line, header_line(data, line));
    bool has_numbers = are_numbers(data);
    for (size_t row = 0, run = 0; row < data->n_rows; row++) {
        while (row == kb_data_run_start(data, run + 1)) run++;
        take(user, line, row_line(data, row, run, has_numbers, line));
    }
    kb_free(line);
    return KBASS_OK;
}

static void hash_line(void *sha, const char *line, size_t length) { kb_sha256_add(sha, line, length); }

kbass_status kb_data_hash(kbass_data *data, kbass_error *error)
{
    kb_sha256 sha;
    kb_sha256_begin(&sha);
    kbass_status status = kb_data_lines(data, hash_line, &sha, error);
    if (status == KBASS_OK) kb_sha256_finish(&sha, data->sha256);
    return status;
}

/* ---------------------------------------------------------------- files */

static void write_line(void *file, const char *line, size_t length) { fwrite(line, 1, length, file); }

kbass_status kbass_data_write(const kbass_data *data, const char *path, kbass_error *error)
{
    kb_replacement part;
    kbass_status status = kb_replace_begin(path, &part, error);
    if (status != KBASS_OK) return status;
    return kb_replace_end(&part, kb_data_lines(data, write_line, part.file, error), error);
}
