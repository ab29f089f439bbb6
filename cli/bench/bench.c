/* kbass bench: how well and how fast, on the paper's tables and beyond. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose.h"
#include "commands.h"
#include "document.h"
#include "figure.h"
#include "message.h"
#include "output.h"
#include "share.h"

/* ---------------------------------------------------------------- which cases */

/* "vdp" asks for vdp-10-0 and its like, "vdp-10-0" for one. */
static bool matches(const char *asked, size_t length, const char *name)
{
    return !strncmp(asked, name, length) && (!name[length] || name[length] == '-');
}

bool bench_is_asked(const char *cases, const char *name)
{
    for (const char *c = cases; c && *c;) {
        c += strspn(c, ", ");
        size_t length = strcspn(c, ", ");
        if (length && (matches(c, length, name) || (strlen(name) < length && matches(name, strlen(name), c))))
            return true;
        c += length;
    }
    return !cases;
}

static int unknown_case(const char *word, size_t length, size_t n, const char *const *names)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *nearest = kbass_nearest(name, n, names);
    if (nearest) return cli_fail("--case: there is no \"%s\" (did you mean %s?)", name, nearest);
    return cli_fail("--case: there is no \"%s\"; the first is %s", name, names[0]);
}

int bench_check_asked(const char *cases, size_t n, const char *const *names)
{
    for (const char *c = cases; c && *c;) {
        c += strspn(c, ", ");
        size_t length = strcspn(c, ", "), k = 0;
        while (k < n && !matches(c, length, names[k])) k++;
        if (length && k == n) return unknown_case(c, length, n, names);
        c += length;
    }
    return EXIT_OK;
}

/* ---------------------------------------------------------------- files */

int bench_write_csv(const bench_table *table, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) table_csv(table, out);
    int code = out && fclose(out) == 0 ? cli_output_bytes(path, size, text) : cli_fail("%s: out of memory", path);
    free(text);
    return code;
}

/* ---------------------------------------------------------------- the way of all benchmarks */

int bench_execute(const char *bench, size_t n_tasks, const bench_task *tasks, const bench_options *options,
                  bench_reporter report)
{
    json_t *document = NULL;
    bench_plan plan = {bench, options->recorded, n_tasks, tasks};
    int code = bench_run(&plan, &options->manner, &document);
    int written = document ? report(document, options) : EXIT_OK;
    if (document && options->copy && code == EXIT_OK) written = bench_document_save(document, options->copy);
    json_decref(document);
    return code != EXIT_OK ? code : written;
}

/* ---------------------------------------------------------------- the command */

static int read_options(const cli_arguments *arguments, bench_options *o)
{
    double time_limit = 0;
    o->settings = bench_settings(NULL);
    o->manner = (bench_manner){.n_jobs = o->manner.n_jobs,
                               .json = cli_value(arguments, "json"),
                               .is_resumed = cli_value(arguments, "resume"),
                               .is_quiet = cli_value(arguments, "quiet")};
    const char *checkpoint = cli_value(arguments, "checkpoint");
    if (checkpoint) { /* the same command goes on from it */
        o->copy = o->manner.json;
        o->manner.json = checkpoint;
        o->manner.is_resumed = access(checkpoint, F_OK) == 0;
    }
    o->cases = cli_value(arguments, "case");
    o->methods = cli_value(arguments, "methods");
    o->csv = cli_value(arguments, "csv");
    o->output = cli_value(arguments, "output");
    o->figure = cli_value(arguments, "figure");
    int code = cli_count(arguments, "seeds", 1, 1000, &o->n_seeds);
    if (code == EXIT_OK) code = cli_count(arguments, "first", 1, 1000000000, &o->first_seed);
    if (code == EXIT_OK) code = cli_count(arguments, "jobs", 1, 256, &o->manner.n_jobs);
    if (code == EXIT_OK) code = cli_number(arguments, "time-limit", 0, 1e9, &time_limit);
    if (code == EXIT_OK && o->manner.is_resumed && !o->manner.json)
        code = cli_fail("--resume needs --json FILE: the rows that are finished");
    if (code == EXIT_OK) code = figure_options(arguments, o->figure);
    unsigned long threads = cli_share() ? 1 : bench_cores() / o->manner.n_jobs;
    bench_choose_number(o->settings, "threads", threads ? (double)threads : 1);
    bench_choose_number(o->settings, "time-limit", time_limit);
    o->recorded = json_pack("{s:f, s:I}", "time_limit", time_limit, "first", (json_int_t)o->first_seed);
    return code;
}

static const struct {
    const char *name;
    int (*run)(bench_options *options);
    unsigned long n_seeds, n_jobs; /* unless told; jobs 0: as many as cores */
} benches[] = {{"paper", bench_paper, 1, 0},
               {"map", bench_map, 10, 0},
               {"calibration", bench_calibration, 200, 0},
               {"speed", bench_speed, 1, 1},
               {"samples", bench_samples, 1, 1}};

enum { N_BENCHES = sizeof benches / sizeof *benches };

static int unknown_bench(const char *name)
{
    const char *names[N_BENCHES + 2] = {[N_BENCHES] = "results"};
    for (size_t i = 0; i < N_BENCHES; i++) names[i] = benches[i].name;
    const char *nearest = cli_nearest(name, names);
    if (nearest) return cli_fail("unknown benchmark \"%s\" (did you mean %s?)", name, nearest);
    return cli_fail("unknown benchmark \"%s\" (see kbass help bench)", name);
}

int cli_bench(const cli_arguments *arguments)
{
    bench_options options = {0};
    size_t i = 0;
    if (arguments->n_operands && !strcmp(arguments->operands[0], "results"))
        return bench_results(arguments->n_operands - 1, arguments->operands + 1, cli_value(arguments, "output"));
    if (arguments->n_operands != 1)
        return cli_fail("bench needs one benchmark, found %zu (see kbass help bench)", arguments->n_operands);
    while (i < N_BENCHES && strcmp(benches[i].name, arguments->operands[0]) != 0) i++;
    if (i == N_BENCHES) return unknown_bench(arguments->operands[0]);
    options.first_seed = 1;
    options.n_seeds = benches[i].n_seeds;
    options.manner.n_jobs = cli_share() ? 1 : benches[i].n_jobs ? benches[i].n_jobs : bench_cores();
    int code = read_options(arguments, &options);
    if (code == EXIT_OK) code = benches[i].run(&options);
    json_decref(options.recorded);
    kbass_settings_destroy(options.settings);
    return code;
}
