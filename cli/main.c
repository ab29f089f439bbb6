/* kbass: the command line of libkbass. Everything it does goes through kbass/kbass.h. */
#include <signal.h>
#include <string.h>

#include "commands.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "share.h"

#define READING_OPTIONS                                                                                                \
    {"time", 0, "NAME", NULL,                                                                                          \
     "the column or array that holds time (default: t, time, date, year ...); for arrays without times "               \
     "a number: the step between them"},                                                                               \
        {"axes", 0, "AXES", NULL,                                                                                      \
         "for fields over space, the columns of time and space: t,x or t,x,y; or arrays; the others are fields; time " \
         "is the one that --time names or that is called like it, else the first; of arrays on a grid they are found " \
         "by their lengths, and where these do not tell stand here in the order of the dimensions"},                   \
        {"run", 0, "COLUMN", NULL,                                                                                     \
         "the column that numbers or names the runs; all follow one law, each from its own initial state and at its "  \
         "own times"},                                                                                                 \
        {"use", 0, "COLUMNS", ", ", "only these columns are states: x, y"},                                            \
        {"ignore", 0, "COLUMNS", ", ", "these columns are no states"},                                                 \
        {"rename", 0, "NAMES", ", ", "other names for columns: \"Biomass [g/L]=X, Substrate=S\""},                     \
        {"dates", 0, "ORDER", NULL, "the order in dates such as 3/4/21: dmy, mdy or ymd"},                             \
        {"missing", 0, "CELLS", ", ", "cells that mean missing, beside NA, null, - and their like: -999"},             \
        {"within", 0, "RANGES", ", ",                                                                                  \
         "read only this part: t=0:10, or t=0:10, x=-1:1; both ends included, an empty one is open; other rows take "  \
         "no "                                                                                                         \
         "memory"},                                                                                                    \
    {                                                                                                                  \
        "every", 0, "N", NULL,                                                                                         \
            "read only every N-th time, in the file's order, counted anew where time goes back; other rows take no "   \
            "memory"                                                                                                   \
    }

#define SIGMA_OPTION                                                                                                   \
    {                                                                                                                  \
        "sigma", 0, "COLUMNS", ", ",                                                                                   \
            "the columns of error bars: sx, or by state x=sx, y=sy; standard deviations of the values beside them"     \
    }

#define SIZE_OPTIONS                                                                                                   \
    {"size", 0, "WxH", NULL,                                                                                           \
     "the figure's size in pixels: 1200x800; PDF: 100 to the inch (default: by its panels, PNG 1200 wide)"},           \
    {                                                                                                                  \
        "dpi", 0, "N", NULL, "PNG: dots per inch, which scale text and lines too; 30 to 1200 (default: by the size)"   \
    }

static const cli_option discover_options[] = {
    READING_OPTIONS,
    SIGMA_OPTION,
    {"part", 0, "N", NULL,
     "values of a large grid that laws are fitted to; all of it proposes them, read in pieces (default: 65536 where it "
     "has more than 1000000; 0: all are read and fitted)"},
    {"json", 0, "FILE", NULL,
     "write the result as JSON (docs/schema.md); - is standard output, the report then goes to standard error"},
    {"solution", 0, "FILE", NULL,
     "write the solution with its standard deviation; denoised, at 200 even times and the measured ones; for fields "
     "over "
     "space on the mesh of --mesh or --mesh-file, else on 60 x 100 points, denser where it bends; the ending says the "
     "format: .csv, .npz, .npy, "
     ".json"},
    {"residuals", 0, "FILE", NULL,
     "write measured values, fitted ones and their differences at the measured points, in the same formats"},
    {"law-residuals", 0, "FILE", NULL,
     "write u_t, the law's right-hand side and their difference along the solution, where --solution has its points: "
     "how "
     "well the numbers solve the equation"},
    {"report", 0, "FILE.html", NULL, "write a page to read and share (see kbass help report)"},
    {"details", 0, NULL, NULL,
     "show all of the answer: standard deviations, noise, what weights move together, averages over models, five "
     "rivals with their equations"},
    {"all-terms", 0, NULL, NULL, "the same, with every candidate, with bounds of those left out"},
    {"quiet", 'q', NULL, NULL, "no progress on stderr"},
    {0}};

static const cli_option simulate_options[] = {
    {"equation", 'e', "EQUATION", ";", "an equation of the system: \"y_t = -x + 2*y\"; one for each state"},
    {"start", 0, "STATE", NULL, "the state at the first time: \"1, 0\" or \"x=1, y=0\" (default: the system's own)"},
    {"from", 0, "T0", NULL, "the first time (default: the system's own, or 0)"},
    {"until", 0, "T1", NULL, "the last time (default: the system's own)"},
    {"samples", 'n', "N", NULL, "even samples from T0 to T1, both included; 2 to 1000000; default: 100"},
    {"times", 0, "LIST", NULL, "sample at these times instead: \"0, 0.5, 2\", or a file whose first column holds them"},
    {"input-data", 0, "FILE", NULL,
     "known inputs over time: columns that the equations name and that have no equation; of a result those of "
     "discover --input (default: as they were in the record)"},
    {"input-hold", 0, NULL, NULL,
     "of typed equations: inputs jump, each value holds until the next (default: a smooth curve through them)"},
    {"domain", 0, "RANGES", NULL,
     "the box of a PDE: \"x=0:10, t=0:8\"; makes the equations typed here PDEs, u_t = u_xx"},
    {"initial", 0, "PROFILE", ";",
     "fields of a PDE at the first time: \"exp(-(x-4)^2)\" or \"u=...; v=...\", \"u_t=...\" for velocities"},
    {"boundary", 0, "KIND", NULL,
     "boundaries of a PDE: periodic, dirichlet (ends keep their values) or neumann (no slope), or by axis: "
     "\"x=periodic, y=neumann\"; "
     "default: periodic"},
    {"grid", 0, "COUNTS", NULL,
     "even samples of a PDE along each axis, time first: 20x20 or 20,20 (default: the system's own)"},
    {"scattered", 0, "N", NULL, "sample a PDE at so many random points instead"},
    {"within", 0, "RANGES", NULL, "sample only this part of a PDE's domain: \"x=0:9.5, t=0:7.5\""},
    {"noise", 0, "PERCENT", NULL, "Gaussian noise; in percent of each state's standard deviation; default: 0"},
    {"seed", 0, "N", NULL, "seed of the noise and of random points; default: 1"},
    {"output", 'o', "FILE", NULL,
     "write here (default: standard output): a table or, by the ending .npz, .h5 or .npy, arrays; grids of PDEs in "
     "pieces, of any size"},
    {"show", 0, NULL, NULL, "print the equations instead of integrating them"},
    {"list", 0, NULL, NULL, "list the named systems"},
    {0}};

#define RUN_OPTION                                                                                                     \
    {                                                                                                                  \
        "of-run", 0, "NAME", NULL, "of several runs the one that goes on, by its file or number"                       \
    }

#define INPUT_OPTION                                                                                                   \
    {                                                                                                                  \
        "input-data", 0, "FILE", NULL,                                                                                 \
            "the known inputs of the law (discover --input) over time: columns of their names"                         \
    }

static const cli_option forecast_options[] = {
    {"until", 0, "T", NULL, "the last time of the forecast"},
    {"from", 0, "STATE", NULL,
     "start from this state at the end of the record: \"1, 0\" or \"x=1, y=0\" ; known exactly (default: as fitted)"},
    RUN_OPTION,
    INPUT_OPTION,
    {"draws", 0, "N", NULL, "how many equations are drawn and integrated; 1 to 100000; default: 200"},
    {"samples", 'n', "N", NULL,
     "even times; from the end of the record to T, both included; 2 to 100000; default: 101"},
    {"times", 0, "LIST", NULL, "these times instead: \"10, 10.5, 12\", or a file whose first column holds them"},
    {"places", 0, "N", NULL, "even places along the space axis of fields; 2 to 100000; default: 100"},
    {"boundary", 0, "KIND", NULL,
     "boundaries of fields: fitted (periodic, or the fitted values at the ends carried on for a quarter of the "
     "record), periodic, "
     "dirichlet (the ends keep their last values) or neumann (no slope at the ends); default: fitted"},
    {"quantiles", 0, "LIST", NULL, "quantiles to write, in percent; default: 5, 25, 50, 75, 95"},
    {"chosen", 0, NULL, NULL,
     "draw from the chosen model only; default: from its near rivals too, by their probabilities"},
    {"seed", 0, "N", NULL, "seed of the draws; default: 1"},
    {"threads", 0, "N", NULL, "threads; the draws do not depend on them (default: all cores)"},
    {"time-limit", 0, "SECONDS", NULL, "stop after this time with the draws done by then (default: none)"},
    {"quiet", 'q', NULL, NULL, "no progress"},
    {"data", 0, "FILE", NULL, "show these data in the figure; they must be those the result was made from"},
    {"time", 0, "NAME", NULL, "the column of time in --data (default: as the result recorded)"},
    {"axes", 0, "AXES", NULL, "the columns of time and space in --data (default: as the result recorded)"},
    {"output", 'o', "FILE", NULL,
     "write mean and quantiles here; the ending says the format: .csv, .npz, .json (default: CSV to standard output)"},
    {"save-draws", 0, "FILE", NULL, "write the draws, in the same formats; a draw ends where it diverges"},
    {"figure", 0, "FILE.svg", NULL, "draw the forecast (with gnuplot), as SVG, PDF or PNG by the file's ending"},
    SIZE_OPTIONS,
    {0}};

static const cli_option score_options[] = {
    {"start", 0, "N", NULL,
     "fit the start to the measurements at the first N times, which are not scored (default: a tenth of them, 3 to 20; "
     "fields: enough lines to see the profile)"},
    {"from", 0, "STATE", NULL,
     "start from this state at the first time instead: \"1, 0\" or \"x=1, y=0\"; known exactly"},
    {"continue", 0, NULL, NULL,
     "the data go on with the record that the law was found in: start from its end, score what is new"},
    RUN_OPTION,
    {"input-data", 0, "FILE", NULL,
     "the known inputs of the law over time, where the new data have no columns of their names"},
    {"draws", 0, "N", NULL, "how many equations are drawn and integrated; 1 to 100000; default: 400"},
    {"seed", 0, "N", NULL, "seed of the draws; default: 1"},
    {"boundary", 0, "KIND", NULL, "boundaries of fields, as for forecast; default: fitted"},
    {"threads", 0, "N", NULL, "threads; the draws do not depend on them (default: all cores)"},
    READING_OPTIONS,
    {"json", 0, "FILE", NULL, "write the score as JSON (docs/schema.md)"},
    {"output", 'o', "FILE.csv", NULL, "write the scored values with every prediction and its 90 % band"},
    {"figure", 0, "FILE.svg", NULL,
     "draw prediction, band and measurements (with gnuplot), as SVG, PDF or PNG by the file's ending"},
    SIZE_OPTIONS,
    {"quiet", 'q', NULL, NULL, "no progress"},
    {0}};

static const cli_option next_options[] = {
    {"until", 0, "T", NULL, "consider times up to T (default: the end of the record)"},
    {"of-run", 0, "NAME", NULL, "of several runs the one to measure in, by its file or number"},
    INPUT_OPTION,
    {"samples", 'n', "N", NULL, "even times; 2 to 10000; default: 101, 31 for fields"},
    {"places", 0, "N", NULL, "even places along the space axis of fields; 2 to 1000; default: 31"},
    {"best", 0, "N", NULL, "how many of the best points are listed; 1 to 1000; default: 10"},
    {"output", 'o', "FILE.csv", NULL, "write all points here"},
    {"figure", 0, "FILE.svg", NULL, "draw the gain (with gnuplot), as SVG, PDF or PNG by the file's ending"},
    SIZE_OPTIONS,
    {0}};

static const cli_option export_options[] = {
    {"to", 0, "FORMAT", NULL, "latex, sympy, julia, matlab, c or csv (--list says what each is)"},
    {"input-data", 0, "FILE", NULL, "csv: other known inputs of the law over time than those of the record"},
    {"name", 0, "NAME", NULL, "matlab, c: the name of the function; default: kbass_rhs"},
    {"output", 'o', "FILE", NULL, "write here (default: standard output)"},
    {"list", 0, NULL, NULL, "list the formats"},
    {0}};

static const cli_option completion_options[] = {{0}};

static const cli_option data_options[] = {
    READING_OPTIONS,
    {"output", 'o', "FILE.csv", NULL, "write the table here as CSV (default: data sets to standard output)"},
    {"list", 0, NULL, NULL, "list the data sets"},
    {0}};

static const cli_option report_options[] = {
    {"output", 'o', "FILE.html", NULL, "write the page here (default: the result's name with .html)"},
    {"data", 0, "FILE", NULL, "check that the result was made from these data"},
    {"time", 0, "NAME", NULL, "the column of time in --data (default: as the result recorded)"},
    {"axes", 0, "AXES", NULL, "the columns of time and space in --data (default: as the result recorded)"},
    {"until", 0, "T", NULL, "add a forecast from the end of the record to T (see kbass help forecast)"},
    RUN_OPTION,
    INPUT_OPTION,
    {0}};

static const cli_option plot_options[] = {
    {"output", 'o', "FILE", NULL, "write the figure here; the ending says the format: .svg, .pdf, .png"},
    {"terminal", 0, NULL, NULL, "draw it in characters instead"},
    {"until", 0, "T", NULL, "forecast: the last time"},
    RUN_OPTION,
    INPUT_OPTION,
    SIZE_OPTIONS,
    {0}};

static const cli_option doctor_options[] = {
    READING_OPTIONS,
    SIGMA_OPTION,
    {"json", 0, "FILE", NULL, "write the findings as JSON (docs/schema.md)"},
    {"figure", 0, "FILE.svg", NULL,
     "draw the data with what was found (with gnuplot), as SVG, PDF or PNG by the file's ending"},
    SIZE_OPTIONS,
    {0}};

static const cli_option bench_options[] = {
    {"case", 0, "NAMES", ",", "only these cases, by name or how it begins: vdp-10-20, vdp-10, vdp"},
    {"methods", 0, "NAMES", ",", "paper: methods to run beside each other, of kbass, em, paper; default: kbass"},
    {"seeds", 0, "N", NULL, "draws of the noise; 1 to 1000; default: 1 (paper), 10 (map), 200 (calibration)"},
    {"first", 0, "SEED", NULL, "the first of them; default: 1"},
    {"jobs", 0, "N", NULL, "tasks at a time, which share the cores; default: as many as there are cores, 1 for speed"},
    {"json", 0, "FILE", NULL, "keep the rows here; each is saved when it is finished"},
    {"resume", 0, NULL, NULL, "do only what --json FILE does not hold yet"},
    {"checkpoint", 0, "FILE", NULL, "keep the rows here, and go on from them when the same command is given again"},
    {"csv", 0, "FILE.csv", NULL, "write the table as CSV"},
    {"figure", 0, "FILE.svg", NULL,
     "draw map, calibration or speed (with gnuplot), as SVG, PDF or PNG by the file's ending"},
    {"output", 'o', "PATH", NULL, "the folder of samples, or the file of results"},
    {"time-limit", 0, "SECONDS", NULL, "stop each fit after this time; with its best answer so far (default: none)"},
    {"quiet", 'q', NULL, NULL, "no progress on stderr"},
    SIZE_OPTIONS,
    {0}};

const cli_command cli_commands[] = {
    {"discover", "DATA ... [options]", "find the equations behind measurements",
     "Reads a table with a header row, or arrays (see kbass help data): one column of times, every other column a "
     "state; "
     "with --axes the columns of "
     "time and space, every other column a field over them, on a grid or scattered. Rows may come in any order and at "
     "any spacing; an empty cell or NaN means not measured; # begins a comment. Several files, or --run, are several "
     "runs "
     "that share one law. Prints a verdict (is there a law?), the equations, the terms that are in or undecided with "
     "weight, interval and probability, and the models that explain the data nearly as well; kbass help words explains "
     "every word. Exit code 3: the verdict is that there is no law in this dictionary, or nothing to explain. "
     "Ctrl-C (or SIGTERM, SIGHUP) stops the search with the best answer so far.",
     "kbass data hare-lynx -o hares.csv\n"
     "kbass discover hares.csv --json hares.json --report hares.html",
     discover_options, true,
     "axes run sigma json solution report details quiet degree derivatives terms forbid require units noise "
     "noise-model explain periodic threads time-limit method",
     cli_discover},
    {"simulate", "SYSTEM | RESULT.json | --equation EQUATION ... [options]", "integrate a system and sample it",
     "Integrates a named system, the equations of a result file, or equations typed here, and writes samples as CSV, "
     "with noise if asked. PDEs are resolved until the samples stand still within 1e-7 of their size.",
     "kbass simulate vdp --samples 25 --until 8 --noise 1 -o vdp.csv\n"
     "kbass simulate -e \"x_t = y\" -e \"y_t = -sin(x)\" --start 1,0 --until 9",
     simulate_options, false,
     "equation start until samples domain initial boundary grid scattered noise seed output show list", cli_simulate},
    {"forecast", "RESULT.json --until T [options]", "what happens next, with bands",
     "Draws equations and last states from the posterior of a result (discover --json), integrates each beyond the "
     "record, "
     "and writes their mean and quantiles. A draw that diverges is counted and left out from there on.",
     "kbass forecast hares.json --until 1930 -o forecast.csv --figure forecast.svg", forecast_options, false,
     "until from draws samples places average output save-draws figure size data", cli_forecast},
    {"score", "RESULT.json NEW.csv [options]", "does the law hold on data that it has not seen?",
     "Fits the start of the law to the first measurements of new data, foretells the rest, and says how well: the "
     "share "
     "of the variance explained (R^2), the log density of a measured value (log score, in nats: higher is better), the "
     "share of the values within the 50 % and 90 % bands, and when the data leave the band; beside the nearest rival "
     "law and two forecasts without a law: that nothing changes, and the bare field. Data are read as those of the "
     "result were. Several runs are scored one by one.",
     "kbass score hares.json hares.csv --start 5 --figure score.svg", score_options, false,
     "start from continue json output figure size", cli_score},
    {"next", "RESULT.json [options]", "where one more sample would tell most",
     "For every state at every time (and place): the information that one more sample with the noise of the others is "
     "expected to bring, in nats, about which of the near rival models is true, and about the weights of the chosen "
     "one.",
     "kbass next hares.json --until 1925", next_options, false, NULL, cli_next},
    {"export", "RESULT.json --to FORMAT [options]", "a result in LaTeX, SymPy, Julia, MATLAB or C",
     "Writes the equations of a result file (discover --json) in another language: for a paper with their "
     "uncertainties, "
     "1.07(3), for programs with all digits. Functions of fields over space take arrays of the derivatives they need. "
     "csv is "
     "the solution of the equations over the record, from the fitted start.",
     "kbass export hares.json --to latex -o hares.tex", export_options, false, NULL, cli_export},
    {"report", "RESULT.json [-o FILE.html]", "a page to read and share",
     "Makes one self-contained page of a result (discover --json): the equations, a card for each term, data and "
     "solution "
     "with bands, residual checks, rival models, and all that is needed to repeat the run. Figures are drawn with "
     "gnuplot; "
     "without it the page has everything else.",
     "kbass report hares.json --until 1930 -o hares.html", report_options, false, NULL, cli_report},
    {"plot", "RESULT.json FIGURE -o FILE | --terminal", "a single figure of a result",
     "FIGURE is solution (each state over time: measured, fitted, 95 % band), phase (states against each other), field "
     "(over "
     "space: measured, fitted, residuals), slices (fields at three times), weights (posterior densities), residuals "
     "(over "
     "time, and their quantiles) or forecast (with --until). Needs gnuplot.",
     "kbass plot hares.json solution -o hares.svg\n"
     "kbass plot hares.json phase --terminal",
     plot_options, false, NULL, cli_plot},
    {"data", "FILE | NAME [options]", "what a file holds; data sets that ship with the program",
     "Reads a file as discover would and says what was understood: axes, fields, which dimension is which, what is "
     "missing "
     "or left out; with -o writes it as a table. Files may be text (, ; tab or blanks between cells, decimal points or "
     "commas, quotes, # and % comments, gzip), workbooks (.xlsx, .ods; file.xlsx:Sheet2 means a sheet), JSON, NPY, "
     "NPZ, "
     "MATLAB (v4 to v7.3), HDF5, netCDF or Octave's text, in a zip archive or not, whatever their name; "
     "file.h5:/run3/u means an array or a group inside. A name from --list writes that data set as CSV.",
     "kbass data hare-lynx -o hares.csv\n"
     "kbass data hares.csv",
     data_options, false, NULL, cli_data},
    {"doctor", "DATA ... [options]", "what data can carry, before any fit",
     "Reads data as discover does, with the same dictionary, and says what they can carry: the fastest visible scale "
     "and how it "
     "is sampled, gaps, the noise and how it was estimated, the highest derivative that the samples support, outliers, "
     "constant "
     "and saturated states, copies, axes taken for states, how much of the record is at rest, candidate terms that are "
     "alike on "
     "these data. Each finding has a number, a sentence and, where something can be done, a suggestion; several runs "
     "are examined one by one. Exit code 0: fit to go; "
     "1: with warnings; 2: hopeless, or nothing could be said (the message tells why).",
     "kbass doctor hares.csv --figure doctor.svg", doctor_options, true,
     "axes run json figure size degree derivatives terms noise units", cli_doctor},
    {"bench", "paper | map | calibration | speed | samples | results FILE.json ... [options]",
     "measure how well and how fast equations are found",
     "Runs a benchmark: paper (the tables of the KBASS paper), map (noise against length of the record), "
     "calibration (are the probabilities what they say), speed (seconds against size); or writes samples of the "
     "paper's "
     "cells, or results as Markdown. "
     "paper: every cell of the result tables of the KBASS paper. Data are simulated anew with the sampling of the data "
     "its "
     "authors released. Beside our error stand the paper's, that of an oracle (the same fit told the true terms), and "
     "by how many standard deviations of the noise the absence of the weakest true term moves the samples, the other "
     "terms refitted: below 2 or 3 no method can decide. A task that fails is a row. Ctrl-C keeps the finished rows. "
     "calibration: whether the probabilities, intervals and bands are what they say, on random sparse systems. "
     "map: how often exactly the true terms of Lorenz 63 and van der Pol are found in records of length 4 to 10, "
     "sampled "
     "every 0.01, with noise of 2.5 to 40 %. "
     "speed: the CPU seconds of each stage against the number of samples, the length of the record, the mesh, the "
     "dictionary and the number of patches, with fitted exponents, the published algorithm on the same data, and the "
     "rate of "
     "the linear algebra beside plain matrix products. "
     "samples: the data of the paper's cells as CSV files, with their laws in cells.json, for other programs to try. "
     "results: a Markdown file with tables and figures, from files that --json has kept.",
     "kbass bench paper --case vdp-10-1 --json vdp.json\n"
     "kbass bench results vdp.json -o results.md",
     bench_options, false, "case seeds jobs json resume csv figure size output time-limit quiet", cli_bench},
    {"completion", "bash | zsh", "a script that completes commands and options in your shell",
     "Writes it to standard output, made from the same tables as this help. make install puts both where the shells "
     "look; "
     "to try it: source <(kbass completion bash).",
     "kbass completion bash > kbass.bash\n"
     "source kbass.bash",
     completion_options, false, NULL, cli_completion},
    {0}};

static const cli_command *find_command(const char *name)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

static int unknown_command(const char *name)
{
    enum { MOST = 32 };
    const char *names[MOST] = {"help", "version"};
    for (size_t i = 0; cli_commands[i].name && i + 3 < MOST; i++) names[i + 2] = cli_commands[i].name;
    const char *nearest = cli_nearest(name, names);
    if (nearest) return cli_fail("unknown command \"%s\" (did you mean %s?)", name, nearest);
    return cli_fail("unknown command \"%s\" (see kbass help)", name);
}

static int is_one_of(const char *word, const char *a, const char *b) { return !strcmp(word, a) || !strcmp(word, b); }

/* Every option of every command. */
static void help_all(void)
{
    cli_help_overview(stdout);
    for (const cli_command *c = cli_commands; c->name; c++) {
        putchar('\n');
        cli_help_command(stdout, c, true);
    }
}

static int help(const char *topic, const char *more)
{
    const cli_command *command = topic ? find_command(topic) : NULL;
    if (!topic) cli_help_overview(stdout);
    else if (is_one_of(topic, "--all", "--help-all")) help_all();
    else if (!strcmp(topic, "--man")) cli_help_manual(stdout);
    else if (!strcmp(topic, "--markdown")) cli_help_markdown(stdout);
    else if (!strcmp(topic, "words")) cli_help_words(stdout);
    else if (command) cli_help_command(stdout, command, more && is_one_of(more, "--all", "--help-all"));
    else return unknown_command(topic);
    return EXIT_OK;
}

static int run(const cli_command *command, int count, char **words)
{
    cli_arguments arguments;
    int code = cli_parse(command, count, words, &arguments);
    if (arguments.wants_help) cli_help_command(stdout, command, arguments.wants_all_help);
    else if (code == EXIT_OK) code = cli_arguments_check_files(&arguments);
    if (!arguments.wants_help && code == EXIT_OK) code = command->run(&arguments);
    cli_arguments_clear(&arguments);
    return code;
}

static int begin(int count, char **words)
{
    int code = EXIT_OK;
    if (count < 2) return cli_fail("no command given (see kbass help)");
    signal(SIGPIPE, SIG_IGN); /* who reads the report may leave before the result is saved */
    const cli_command *command = find_command(words[1]);
    if (command) code = run(command, count - 2, words + 2);
    else if (is_one_of(words[1], "help", "--help") || !strcmp(words[1], "-h"))
        code = help(words[2], count > 3 ? words[3] : NULL);
    else if (is_one_of(words[1], "version", "--version")) printf("kbass %s\n", kbass_version());
    else code = unknown_command(words[1]);
    int lost = cli_finish_output();
    return code != EXIT_OK ? code : lost;
}

int main(int count, char **words)
{
    cli_share_begin(&count, &words);
    return cli_share_end(begin(count, words));
}
