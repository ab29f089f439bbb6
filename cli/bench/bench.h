/* The benchmarks of `kbass bench`, over one harness. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "harness.h"
#include "kbass/kbass.h"
#include "table.h"

/* What the command line says to all of them. */
typedef struct {
    bench_manner manner;
    const char *cases;   /* names, or how they begin, separated by commas; NULL: all */
    const char *methods; /* of bench paper, separated by commas; NULL: ours alone */
    const char *csv, *figure, *output;
    const char *copy; /* where the document goes at the end, when a checkpoint keeps it; or NULL */
    unsigned long first_seed, n_seeds;
    kbass_settings *settings; /* threads and time limit */
    json_t *recorded;         /* the options that rows depend on */
} bench_options;

/* Runs the tasks and reports on whatever rows there are then; both return an exit code. */
typedef int (*bench_reporter)(const json_t *document, const bench_options *options);
int bench_execute(const char *bench, size_t n_tasks, const bench_task *tasks, const bench_options *options,
                  bench_reporter report);

/* Each returns an exit code. */
int bench_paper(bench_options *options);
int bench_samples(bench_options *options);
int bench_map(bench_options *options);
int bench_speed(bench_options *options);
int bench_calibration(bench_options *options);
int bench_results(size_t n_files, const char *const *files, const char *output);

/* The tables of a document, from its rows; the caller clears them. */
void bench_paper_cells(const json_t *document, int digits, bench_table *table);
void bench_paper_terms(const json_t *document, int digits, bench_table *table);
void bench_paper_methods(const json_t *document, int digits, bench_table *table); /* without rows: ours alone */
void bench_map_rates(const json_t *document, bench_table *table);
void bench_calibration_table(const json_t *document, bench_table *table);
void bench_calibration_groups(const json_t *document, bench_table *table); /* by what the draws are like */
void bench_calibration_reasons(const json_t *document, FILE *out);         /* a paragraph */
size_t bench_calibration_losses(const json_t *document, FILE *out);        /* one line a missed bar; returns how many */
void bench_calibration_verdicts(const json_t *document, FILE *out); /* how often each was given, and their bars */
int bench_calibration_figure(const json_t *document, const char *path);
size_t bench_map_losses(const json_t *document, FILE *out); /* one line a cell; returns how many */
void bench_speed_table(const json_t *document, int digits, bench_table *table);
int bench_speed_figure(const json_t *document, const char *path);
int bench_map_figure(const json_t *document, const char *path); /* returns an exit code */

/* Is `name` among the cases asked for? One that matches nothing is an error that lists what there is. */
bool bench_is_asked(const char *cases, const char *name);
int bench_check_asked(const char *cases, size_t n, const char *const *names);

int bench_write_csv(const bench_table *table, const char *path);

#endif
