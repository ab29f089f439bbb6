#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/replace.h"
#include "base/status.h"
#include "data/array_file.h"
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

/* Column i of the table, axes first. */
static double cell_of(const kbass_data *data, size_t row, size_t i)
{
    return i < data->n_axes ? kb_data_coordinate(data, row, i) : data->values[row * data->n_states + i - data->n_axes];
}

/* A column each or, as an NPY, rows and columns. */
static kbass_status write_arrays(const kbass_data *data, const char *path, kbass_error *error)
{
    size_t n = data->n_axes + data->n_states;
    bool is_one = kb_file_kind_of(path) == KB_NPY_FILE;
    kb_array_file file;
    if (data->n_runs > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "%s: several runs are written as a table: name it .csv", path);
    kb_stored_array *arrays = KB_NEW(kb_stored_array, n);
    double *column = KB_NEW(double, is_one ? n : data->n_rows);
    kbass_status status = arrays && column ? KBASS_OK : kb_out_of_memory(error, "writing");
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        arrays[i] =
            (kb_stored_array){.name = i < data->n_axes ? data->axis_names[i] : data->state_names[i - data->n_axes],
                              .n_dims = 1,
                              .dims = {data->n_rows}};
    if (status == KBASS_OK && is_one) arrays[0] = (kb_stored_array){.name = "", .n_dims = 2, .dims = {data->n_rows, n}};
    if (status == KBASS_OK) status = kb_array_file_create(path, is_one ? 1 : n, arrays, &file, error);
    bool is_open = status == KBASS_OK;
    for (size_t i = 0; status == KBASS_OK && i < (is_one ? data->n_rows : n); i++) {
        size_t length = is_one ? n : data->n_rows;
        for (size_t k = 0; k < length; k++) column[k] = is_one ? cell_of(data, i, k) : cell_of(data, k, i);
        status = kb_array_file_put(&file, is_one ? 0 : i, is_one ? i * n : 0, length, column, error);
    }
    if (is_open) status = kb_array_file_end(&file, status, error);
    kb_free(arrays);
    kb_free(column);
    return status;
}

kbass_status kbass_data_write(const kbass_data *data, const char *path, kbass_error *error)
{
    if (kb_file_kind_of(path) != KB_TABLE_FILE) return write_arrays(data, path, error);
    kb_replacement part;
    kbass_status status = kb_replace_begin(path, &part, error);
    if (status != KBASS_OK) return status;
    return kb_replace_end(&part, kb_data_lines(data, write_line, part.file, error), error);
}
