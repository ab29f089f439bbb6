/* kbass bench results: docs/results.md and its figures, from the rows that the other benchmarks saved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cell.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "results.h"
#include "speed.h"

enum { PATH_SIZE = 4096 };

/* ---------------------------------------------------------------- what was saved */

static json_t **slot_of(bench_saved *saved, const char *kind)
{
    if (!strcmp(kind, "paper")) return &saved->paper;
    if (!strcmp(kind, "map")) return &saved->map;
    if (!strcmp(kind, "calibration")) return &saved->calibration;
    if (!strcmp(kind, "speed")) return &saved->speed;
    return strcmp(kind, "pysindy") ? NULL : &saved->pysindy;
}

static int take(bench_saved *saved, const char *path)
{
    json_t *document = NULL;
    int code = bench_read(path, NULL, &document);
    if (code != EXIT_OK) return code;
    const char *kind = json_string_value(json_object_get(document, "bench"));
    json_t **slot = slot_of(saved, kind);
    if (!slot)
        code = cli_fail("%s holds rows of bench %s, needed paper, map, calibration, speed or pysindy", path, kind);
    else if (*slot) code = cli_fail("%s: a second file of bench %s", path, kind);
    if (code == EXIT_OK) *slot = document;
    else json_decref(document);
    return code;
}

static void drop(bench_saved *saved)
{
    json_decref(saved->paper);
    json_decref(saved->map);
    json_decref(saved->calibration);
    json_decref(saved->speed);
    json_decref(saved->pysindy);
}

/* ---------------------------------------------------------------- the sections */

static void write_machine(const json_t *document, FILE *out)
{
    const json_t *machine = json_object_get(document, "machine");
    const char *processor = json_string_value(json_object_get(machine, "processor"));
    const char *version = json_string_value(json_object_get(document, "version"));
    double limit = json_number_value(json_object_get(json_object_get(document, "options"), "time_limit"));
    int jobs = (int)json_integer_value(json_object_get(machine, "jobs"));
    fprintf(out, "kbass %s on %s, %d cores, %d task%s at a time", version ? version : "?", processor ? processor : "?",
            (int)json_integer_value(json_object_get(machine, "cores")), jobs, jobs == 1 ? "" : "s");
    if (limit > 0) fprintf(out, ", each fit stopped after %g s", limit);
    fputs(".\n\n", out);
}

static void write_notes(FILE *out)
{
    fputs("\nHow the samples differ from the paper's text (they follow the data its authors released):\n\n", out);
    for (const bench_case *c = bench_cases; c->key; c++)
        if (c->note) fprintf(out, "- %s: %s.\n", c->key, c->note);
}

/* A loss that was not measured is no win. */
static void write_missing(const json_t *document, FILE *out)
{
    bench_cell cell;
    size_t n = 0;
    for (const bench_case *c = bench_cases; c->key; c++)
        for (size_t level = 0; level < c->n_levels; level++)
            if (!bench_cell_read(document, c, level, &cell)) fprintf(out, "%s%s", n++ ? ", " : "Not run: ", cell.name);
    if (n) fputs(". Nothing below speaks of these.\n\n", out);
}

static void write_paper(const json_t *document, FILE *out)
{
    bench_table cells, terms;
    bench_paper_cells(document, 3, &cells);
    bench_paper_terms(document, 3, &terms);
    fprintf(out, "## The paper's tables\n\n%zu of %zu cells were run. ", cells.n_rows - 1, bench_cell_count());
    write_machine(document, out);
    write_missing(document, out);
    fputs("Errors are ||w - w*|| / ||w*|| over all weights, medians over draws of the noise; R and P are recall and "
          "precision of the terms, *exact* the draws with exactly the true terms. The *oracle* is the same fit told "
          "the true terms; *ratio* is our error over its, 1 by construction when our terms are exact. *sigma*: by how "
          "many standard deviations of the noise the absence of the *weakest* true term moves the clean samples, all "
          "else refitted; below 2 or 3 nothing can be decided from such data. *paper s/it*: seconds of one iteration "
          "of the published loop, in our version of it. A `*` marks a published error below the oracle's on these "
          "data. The bar: where sigma is 6 or more, exact in 90 % of the draws with an error of at most 1.25 times "
          "the oracle's (plus 1e-4).\n\n",
          out);
    table_markdown(&cells, out);
    write_notes(out);
    fputs("\n### Each true weight\n\nRelative errors in percent. *linear*: the weight over its sd in the "
          "fit told all terms. It differs from *sigma* where a term is too strong for linearisation, and where the fit "
          "without the term ended in a poor minimum.\n\n",
          out);
    table_markdown(&terms, out);
    table_clear(&terms);
    table_clear(&cells);
}

static void write_methods(const json_t *document, FILE *out)
{
    bench_table methods;
    bench_paper_methods(document, 3, &methods);
    if (methods.n_rows > 1) {
        fputs(
            "\n## Three methods beside each other\n\nErrors, exact draws, the chosen model's probability among those "
            "compared (the published method compares none), CPU seconds, and their ratio to ours in the same run. The "
            "first column is what the paper prints; PySINDy 1.7.5 by bench/pysindy.py, threshold and smoothing chosen "
            "with "
            "the truth in sight. The published method runs with one set of defaults, 30000 steps at most; its authors "
            "took "
            "up to 6,000,000 with settings for each case (`--paper-preset`).\n\n",
            out);
        table_markdown(&methods, out);
    }
    table_clear(&methods);
}

static void write_pysindy(const bench_saved *saved, FILE *out)
{
    bench_table table;
    bench_cell theirs, ours;
    table_begin(&table, 3, "cell|PySINDy|R|P|exact|ours|exact");
    for (const bench_case *c = bench_cases; c->key; c++)
        for (size_t level = 0; level < c->n_levels; level++) {
            if (!bench_cell_read(saved->pysindy, c, level, &theirs)) continue;
            bool has_ours = saved->paper && bench_cell_read(saved->paper, c, level, &ours);
            table_row(&table);
            table_put(&table, 0, "%s", theirs.name);
            if (theirs.n_failed == theirs.n_seeds) table_put(&table, 1, "failed: %s", theirs.failure);
            else table_number(&table, 1, theirs.rmse);
            table_number(&table, 2, theirs.recall);
            table_number(&table, 3, theirs.precision);
            table_put(&table, 4, "%zu/%zu", theirs.n_exact, theirs.n_seeds);
            table_number(&table, 5, has_ours ? ours.rmse : NAN);
            if (has_ours) table_put(&table, 6, "%zu/%zu", ours.n_exact, ours.n_seeds);
        }
    const char *version = json_string_value(json_object_get(saved->pysindy, "version"));
    fprintf(out,
            "\n## PySINDy on the same samples\n\nVersion %s. Finite differences and STLSQ; threshold and smoothing "
            "were chosen with the truth in sight (bench/pysindy.py).\n\n",
            version ? version : "?");
    table_markdown(&table, out);
    table_clear(&table);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without gnuplot the page says what it lacks. */
static int put_figure(const char *words, const json_t *document, int (*draw)(const json_t *, const char *),
                      const char *path, FILE *out)
{
    if (!figure_is_possible()) {
        fprintf(out, "\n%s: not drawn, gnuplot was not there.\n", words);
        return EXIT_OK;
    }
    fprintf(out, "\n![%s](%s)\n", words, file_name(path));
    return draw(document, path);
}

static int write_map(const json_t *document, const char *figure, FILE *out)
{
    bench_table table;
    bench_map_rates(document, &table);
    fprintf(out, "\n## How much noise, how long a record\n\n%zu draws in all. ",
            json_array_size(json_object_get(document, "rows")));
    fputs("How often exactly the true terms were found, samples every 0.01; in brackets what is published for ODR-"
          "BINDy, which is told the noise level. ",
          out);
    write_machine(document, out);
    table_markdown(&table, out);
    table_clear(&table);
    return put_figure("Rates over noise and length", document, bench_map_figure, figure, out);
}

static int write_calibration(const json_t *document, const char *figure, FILE *out)
{
    bench_table table;
    bench_calibration_table(document, &table);
    fprintf(
        out,
        "\n## Are the probabilities what they say?\n\n%zu random sparse polynomial systems of 1 to 3 states, 20 to 60 "
        "samples, 1 to 20 %% noise (`kbass bench calibration`; `said` is the mean of what was reported). ",
        json_array_size(json_object_get(document, "rows")));
    write_machine(document, out);
    table_markdown(&table, out);
    int code = put_figure("Reliability diagram", document, bench_calibration_figure, figure, out);
    table_clear(&table);
    bench_calibration_reasons(document, out);
    bench_calibration_groups(document, &table);
    fputc('\n', out);
    table_markdown(&table, out);
    table_clear(&table);
    return code;
}

static int write_speed(const json_t *document, const char *figure, FILE *out)
{
    bench_table table;
    bench_speed_table(document, 2, &table);
    fputs("\n## Seconds against size\n\nCPU seconds on one thread, by stage; `n^` is the exponent that fits them best. "
          "Arbitration follows the number of models fitted rather than n. GF/s: GFLOP/s of matrix products and "
          "factorisations over all seconds of the stage, beside products of 1000 x 1000 matrices in the same run. "
          "*paper*: the published algorithm on the same data, one iteration and all of it; `>` when stopped after 10 "
          "seconds, *none* when it is left without a term; the paper claims O(sum d_k^3 + (N + sum d_k) d) a step for "
          "d = d_1 d_2 "
          "... mesh points, n^3 for *mesh* and *field-mesh*; compressed to the kernels' rank r a step takes O(r d). ",
          out);
    write_machine(document, out);
    for (size_t i = 0; speed_key(i); i++) fprintf(out, "- *%s*: %s\n", speed_key(i), speed_what(i));
    fputc('\n', out);
    table_markdown(&table, out);
    table_clear(&table);
    return put_figure("Seconds against size", document, bench_speed_figure, figure, out);
}

/* ---------------------------------------------------------------- the file */

/* "docs/results.md" and "map" make "docs/results-map.svg". */
static void figure_path(const char *output, const char *name, char *path)
{
    const char *dot = strrchr(file_name(output), '.');
    int length = (int)(dot ? (size_t)(dot - output) : strlen(output));
    snprintf(path, PATH_SIZE, "%.*s-%s.svg", length, output, name);
}

static int write_all(const bench_saved *saved, const char *output, FILE *out)
{
    char figure[PATH_SIZE];
    int code = EXIT_OK;
    if ((saved->map || saved->calibration || saved->speed) && !figure_is_possible())
        cli_fail("figures need gnuplot, which is not installed (Debian: apt-get install gnuplot-nox): %s is made "
                 "without them",
                 output);
    fputs("# Results\n\nWritten by `kbass bench results` from saved runs; changes by hand are lost.\n\n", out);
    if (saved->paper) {
        write_paper(saved->paper, out);
        write_methods(saved->paper, out);
    }
    bench_losses(saved, out);
    if (saved->pysindy) write_pysindy(saved, out);
    figure_path(output, "map", figure);
    if (saved->map) code = write_map(saved->map, figure, out);
    figure_path(output, "calibration", figure);
    if (code == EXIT_OK && saved->calibration) code = write_calibration(saved->calibration, figure, out);
    figure_path(output, "speed", figure);
    if (code == EXIT_OK && saved->speed) code = write_speed(saved->speed, figure, out);
    return code;
}

/* The page and its figures are no file that they are made from. */
static int check_files(size_t n_files, const char *const *files, const bench_saved *saved, const char *output)
{
    char figures[3][PATH_SIZE];
    static const char *const names[] = {"map", "calibration", "speed"};
    const bool is_drawn[] = {saved->map, saved->calibration, saved->speed};
    cli_file *all = calloc(n_files + 4, sizeof *all);
    size_t n = 0;
    if (!all) return cli_fail("out of memory for %zu files", n_files);
    for (size_t i = 0; i < n_files; i++) all[n++] = (cli_file){"", files[i], false};
    all[n++] = (cli_file){"--output", output, true};
    for (size_t i = 0; i < 3; i++) {
        figure_path(output, names[i], figures[i]);
        if (is_drawn[i]) all[n++] = (cli_file){"the figure", figures[i], true};
    }
    int code = cli_files_check(n, all);
    free(all);
    return code;
}

static int write_results(const bench_saved *saved, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int code = out ? write_all(saved, output, out) : EXIT_OK;
    if (!out || fclose(out) != 0) code = cli_fail("%s: out of memory", output);
    if (code == EXIT_OK) code = cli_output_bytes(output, size, text);
    free(text);
    return code;
}

int bench_results(size_t n_files, const char *const *files, const char *output)
{
    bench_saved saved = {0};
    int code = EXIT_OK;
    if (!n_files) return cli_fail("bench results needs files that kbass bench --json has written");
    if (!output) return cli_fail("bench results needs --output FILE.md");
    if (strlen(output) > PATH_SIZE / 2) return cli_fail("--output: the path is too long");
    for (size_t i = 0; code == EXIT_OK && i < n_files; i++) code = take(&saved, files[i]);
    if (code == EXIT_OK) code = check_files(n_files, files, &saved, output);
    if (code == EXIT_OK) code = write_results(&saved, output);
    drop(&saved);
    return code;
}
