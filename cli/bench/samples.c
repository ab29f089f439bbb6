/* kbass bench samples: the data of the paper's cells as files, for other programs to try. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "cell.h"
#include "message.h"
#include "output.h"

enum { PATH_SIZE = 4096 };

static json_t *describe(const bench_case *c, double noise)
{
    bench_law law = bench_law_read(c->law);
    json_t *terms = json_array();
    for (size_t i = 0; i < law.n; i++)
        json_array_append_new(terms, json_pack("[s, s, f]", law.terms[i].lhs, law.terms[i].term, law.terms[i].weight));
    return json_pack("{s:o, s:b, s:i, s:i, s:i, s:b, s:o, s:[]}", "noise",
                     isnan(noise) ? json_null() : json_real(noise), "is_field", c->is_field, "degree", c->degree,
                     "box_degree", c->box_degree, "derivatives", c->derivatives, "constant", c->constant, "law", terms,
                     "files");
}

static int write_file(const bench_case *c, double noise, uint64_t seed, const char *path)
{
    kbass_data *data = NULL;
    kbass_error error = {0};
    kbass_status status = bench_case_data(c, noise, seed, &data, &error);
    int code = status == KBASS_OK ? cli_output_data(path, data) : cli_fail_with(status, &error);
    kbass_data_destroy(data);
    return code;
}

static int write_cell(const bench_case *c, size_t level, const bench_options *options, json_t *cells)
{
    char cell[BENCH_CELL_SIZE], path[PATH_SIZE];
    double noise = c->levels[level].noise;
    int code = EXIT_OK;
    bench_cell_name(c, level, cell);
    if (!bench_is_asked(options->cases, cell)) return EXIT_OK;
    json_t *entry = describe(c, noise);
    for (uint64_t seed = 1; code == EXIT_OK && seed <= (noise > 0 ? options->n_seeds : 1); seed++) {
        snprintf(path, sizeof path, "%s/%s-seed%d.csv", options->output, cell, (int)seed);
        json_array_append_new(json_object_get(entry, "files"), json_string(path + strlen(options->output) + 1));
        code = write_file(c, noise, seed, path);
        if (code == EXIT_OK && !options->manner.is_quiet) puts(path);
    }
    json_object_set_new(cells, cell, entry);
    return code;
}

static int write_index(const json_t *cells, const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/cells.json", folder);
    char *text = json_dumps(cells, JSON_INDENT(1));
    int code = text ? cli_output_text(path, text) : cli_fail("%s: out of memory", path);
    free(text);
    return code;
}

int bench_samples(bench_options *options)
{
    json_t *cells = json_object();
    int code = bench_check_cells(options->cases);
    if (code == EXIT_OK && !options->output) code = cli_fail("bench samples needs --output FOLDER");
    if (code == EXIT_OK && strlen(options->output) > PATH_SIZE / 2) code = cli_fail("--output: the path is too long");
    if (code == EXIT_OK && mkdir(options->output, 0777) != 0 && errno != EEXIST)
        code = cli_fail("%s: cannot be made: %s", options->output, strerror(errno));
    for (const bench_case *c = bench_cases; code == EXIT_OK && c->key; c++)
        for (size_t level = 0; code == EXIT_OK && level < c->n_levels; level++)
            code = write_cell(c, level, options, cells);
    if (code == EXIT_OK) code = write_index(cells, options->output);
    json_decref(cells);
    return code;
}
