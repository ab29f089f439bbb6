/* kbass.h: discover the differential equations behind a few noisy measurements.
 *
 * The whole public interface of libkbass. Conventions:
 * - A function that can fail returns a kbass_status and takes a caller-owned `kbass_error *` last (NULL is allowed).
 *   The message says what was found, what was needed and where. Nothing is printed; nothing exits.
 * - A run that does not converge, is cancelled or out of time is an *outcome* with usable numbers, not an error.
 * - Handles are opaque and live create -> run -> read -> destroy; destroy accepts NULL. `create` copies its inputs.
 *   A returned `const` pointer belongs to its handle and lives as long as it, or until the handle runs again.
 * - There is no global state (save a counter of operations, for benchmarks): distinct handles may be used from
 *   distinct threads at the same time. Work in parallel is done by threads of the library's own, which end with the
 * call: a process may fork after it.
 * - Structs may get further members at their end: take those that are handed out by their pointers, do not copy them.
 *   Arrays of structs keep their members within an interface version (libkbass.so.0.2); the JSON only grows.
 * - Where a `result` is asked for, it is the path of a result file, or its text, which begins with {.
 * - Tables are row-major: values[row * n_states + state]. NaN marks a value that was not measured.
 *
 *     kbass_data_read("data.csv", NULL, &data, &error);
 *     kbass_settings_create(&settings, &error);
 *     kbass_settings_set(settings, "degree", "2", &error);
 *     kbass_discovery_create(data, settings, &discovery, &error);
 *     kbass_discovery_run(discovery, NULL, NULL, &error);
 *     const kbass_result *result = kbass_discovery_result(discovery);
 */
#ifndef KBASS_H
#define KBASS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KBASS_API __attribute__((visibility("default")))
#else
#define KBASS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- status and errors */

typedef enum {
    KBASS_OK = 0,
    KBASS_ERROR_ARGUMENT,  /* an option, name or number given by the caller is not usable */
    KBASS_ERROR_FILE,      /* a file cannot be opened, read or written */
    KBASS_ERROR_DATA,      /* the data do not allow what was asked */
    KBASS_ERROR_SYNTAX,    /* an expression or equation cannot be read; `column` points into `source` */
    KBASS_ERROR_MEMORY,    /* memory ran out; nothing was lost */
    KBASS_ERROR_NUMERICAL, /* the numbers left the range where an answer has a meaning */
    KBASS_ERROR_TIME /* the time limit was reached before data and dictionary were set up, or what was asked for was
                        made */
} kbass_status;

typedef struct {
    char message[512];
    char source[256]; /* the text an expression error refers to, or "" */
    int column;       /* 1-based position in `source`, or 0 */
} kbass_error;

KBASS_API const char *kbass_version(void);
KBASS_API const char *kbass_status_name(kbass_status status);
/* Frees memory that a function handed over to its caller (the header says where). */
KBASS_API void kbass_free(void *memory);
/* "Did you mean": the name nearest to the word, with few letters changed, added, dropped or swapped; NULL if none is.
 */
KBASS_API const char *kbass_nearest(const char *word, size_t n, const char *const *names);

/* Writes a file whole or not at all: beside its place, synced, checked at close and renamed; links are followed, mode
   and owner kept. Devices, pipes and open descriptors (/dev/stdout, /dev/fd/3) are written as they are. */
KBASS_API kbass_status kbass_file_write(const char *path, size_t size, const void *bytes, kbass_error *error);
/* Whether that could be done now. Leaves the disk as it is. */
KBASS_API kbass_status kbass_file_check(const char *path, kbass_error *error);

/* ---------------------------------------------------------------- settings
 * Everything that can be said to a discovery or a doctor, by name: docs/options.md has the list, and a program has it
 * at run time (kbass_settings_info). What is not set is chosen by the library. Texts are copied.
 */
typedef struct kbass_settings kbass_settings;

typedef enum { KBASS_INTEGER, KBASS_FLAG, KBASS_CHOICE, KBASS_REAL, KBASS_TEXT } kbass_setting_kind;

typedef struct {
    kbass_setting_kind kind;
    const char *name;           /* "box-degree" */
    double standard, low, high; /* numbers: default (one below `low`: chosen from the data), range */
    const char *value_name;     /* "P", NULL for flags */
    const char *choices;        /* "kbass|paper", NULL unless a choice; the first is the default */
    const char *group;
    const char *help;
} kbass_setting_info;

KBASS_API size_t kbass_settings_count(void);
KBASS_API const kbass_setting_info *kbass_settings_info(size_t index); /* NULL after the last */

KBASS_API kbass_status kbass_settings_create(kbass_settings **settings, kbass_error *error);
KBASS_API kbass_status kbass_settings_copy(const kbass_settings *from, kbass_settings **to, kbass_error *error);
/* Sets one setting from text, checked against its range; '_' is as good as '-' in its name. Flags take yes, no, 1, 0;
   NULL is yes. Unknown names are answered with the nearest known one. After an error nothing has changed. */
KBASS_API kbass_status kbass_settings_set(kbass_settings *settings, const char *name, const char *value,
                                          kbass_error *error);
/* Back to the default, as if it had never been set. */
KBASS_API kbass_status kbass_settings_unset(kbass_settings *settings, const char *name, kbass_error *error);
/* The value as text (numbers shortest, "" for unset text and for unknown names); returns its length as snprintf does.
   Settings NULL are the defaults. */
KBASS_API size_t kbass_settings_get(const kbass_settings *settings, const char *name, char *text, size_t size);
KBASS_API int kbass_settings_is_given(const kbass_settings *settings, const char *name); /* was it set? */
KBASS_API void kbass_settings_destroy(kbass_settings *settings);

/* ---------------------------------------------------------------- progress */

typedef struct {
    const char *stage;   /* "read" of a file; "field", "search", "arbitrate", "polish", "solution" of a discovery */
    double fraction;     /* of the whole run, 0 to 1: known of "read" and "draws", of a search a rough guess */
    double seconds;      /* since the run began */
    size_t n_active;     /* terms in the model at hand */
    double log_evidence; /* of the best model so far; NaN before there is one */
    size_t n_iterations; /* of all that iterates, in all threads, so far */
    size_t n_models;     /* of a search: fitted so far */
    double seconds_left; /* by the pace so far, where the length is known, from a tenth of it on; or at most, */
    int is_bound;        /* by a limit of time or steps. NaN: nobody knows how long a search takes */
} kbass_progress;

/* Called often, by one thread at a time, but not by the caller's: by the library's own, with signals blocked, while the
   caller waits for the run to end. A return value other than 0 stops the run: outcome KBASS_CANCELLED. Reading a file
   stops with an error. */
typedef int (*kbass_progress_callback)(const kbass_progress *progress, void *user);

/* ---------------------------------------------------------------- data */

typedef struct kbass_data kbass_data;

enum { KBASS_MAX_AXES = 4 }; /* time and up to three of space */

typedef struct {
    size_t size; /* of this struct as the caller's header has it: later versions add to its end; 0: as in 0.2 */
    const char *time_column;
    const char *axes; /* "t,x": the columns or arrays of time and space, in the order of the dimensions where their
                         lengths do not tell; time is the one called t or time, else the first */
    kbass_progress_callback progress;
    void *user;
    const char *within; /* "t=0:10, x=-1:": only rows within these ranges, both ends included, an empty one open; */
    size_t every;    /* and only every so many of their times, in the file's order, counted anew where time goes back.
                        Other rows take no memory. 0 is 1 */
    const char *run; /* the column that says which run a row belongs to, numbers or text; as kbass_data_split */
    const char *use; /* "x, y": only these columns beside time; */
    const char *ignore;  /* all but these; */
    const char *rename;  /* "old=new, ...": names that equations, and everything else here, will know them by */
    const char *dates;   /* "dmy", "mdy" or "ymd": the order in dates such as 3/4/21 */
    const char *missing; /* "-999, x": cells that mean missing, beside those that always do */
    size_t most_values;  /* a full grid of more values (points times fields) stays in its file: the rows are a part of
                            it, */
    size_t few_values;   /* of about so many values (0: most_values), and a discovery passes over all of it in constant
                            memory to find what it proposes. 0: everything is read */
} kbass_read_options;
/* Reads a file, whatever it is: text with a header row, Excel, NPY, NPZ, MATLAB, HDF5; "file.h5:/run3/u" names an array
   or a group inside. Options NULL: nothing is said about it; time is then "t" or "time". Arrays over a grid bring their
   axes with them. */
KBASS_API kbass_status kbass_data_read(const char *path, const kbass_read_options *options, kbass_data **data,
                                       kbass_error *error);
/* Rows may come in any order; they are kept sorted by time. `time_name` NULL means "t". */
KBASS_API kbass_status kbass_data_create(size_t n_rows, size_t n_states, const double *times, const double *values,
                                         const char *time_name, const char *const *state_names, kbass_data **data,
                                         kbass_error *error);
/* Fields over time and space; positions: n_rows x (n_axes - 1), NULL when time is the only axis; rows are kept sorted
 * by time, then positions. */
KBASS_API kbass_status kbass_data_create_axes(size_t n_rows, size_t n_axes, size_t n_fields, const double *times,
                                              const double *positions, const double *values,
                                              const char *const *axis_names, const char *const *field_names,
                                              kbass_data **data, kbass_error *error);
/* Data sets that ship with the library: "hare-lynx". */
KBASS_API const char *kbass_data_example_name(size_t index); /* NULL after the last */
KBASS_API const char *kbass_data_example_summary(size_t index);
KBASS_API kbass_status kbass_data_example(const char *name, kbass_data **data, kbass_error *error);
KBASS_API kbass_status
kbass_data_write(const kbass_data *data, const char *path,
                 kbass_error *error); /* CSV, as kbass_file_write does; .npy, .npz, .h5: arrays */
/* Several runs of one law, each with its own initial state, in one data set: rows by run, then time. They come from a
   column of run numbers, which is no state then, or from a data set each; these have the same axes, and the same states
   in any order. Runs of fields over one space axis may each have a domain of their own. */
KBASS_API kbass_status kbass_data_split(kbass_data *data, const char *column, kbass_error *error);
KBASS_API kbass_status kbass_data_join(size_t n_parts, const kbass_data *const *parts, const char *const *names,
                                       kbass_data **data, kbass_error *error);
/* Error bars: columns that hold the standard deviations of other columns' values, and are no states then: "sx" of all
   states, or "x=sx, y=sy" by state. Runs are split and joined before. */
KBASS_API kbass_status kbass_data_error_bars(kbass_data *data, const char *columns, kbass_error *error);
KBASS_API const double *kbass_data_sigma(const kbass_data *data); /* they, n_rows x n_states, NaN: none; NULL without */
KBASS_API size_t kbass_data_runs(const kbass_data *data);         /* 1 or more */
KBASS_API const char *kbass_data_run_name(const kbass_data *data, size_t run); /* NULL for one alone */
KBASS_API size_t kbass_data_run_start(const kbass_data *data,
                                      size_t run); /* its first row; n_rows after the last run */
KBASS_API kbass_status kbass_data_pick(const kbass_data *data, size_t run, kbass_data **one, kbass_error *error);
KBASS_API size_t kbass_data_rows(const kbass_data *data);
KBASS_API size_t kbass_data_states(const kbass_data *data);
KBASS_API const char *kbass_data_state_name(const kbass_data *data, size_t state);
KBASS_API size_t kbass_data_axes(const kbass_data *data);                        /* 1 when there is only time */
KBASS_API const char *kbass_data_axis_name(const kbass_data *data, size_t axis); /* 0 is time */
/* A state or axis as it was written above its column, "Biomass [g/L]" of Biomass; the name itself where it was not
   changed. */
KBASS_API const char *kbass_data_face(const kbass_data *data, const char *name);
/* The date of time 0, "2021-03-04 05:06", where times were dates; the unit of time is then s or d. Else NULL. */
KBASS_API const char *kbass_data_time_origin(const kbass_data *data);
KBASS_API const double *kbass_data_positions(const kbass_data *data); /* n_rows x (n_axes - 1), NULL without space */
KBASS_API const double *kbass_data_times(const kbass_data *data);     /* n_rows */
KBASS_API const double *kbass_data_values(const kbass_data *data);    /* n_rows x n_states */
/* SHA-256 of the file as read, or of the table's canonical CSV when it did not come from a file; 64 hex digits. */
KBASS_API const char *kbass_data_sha256(const kbass_data *data);
/* What was understood, in one or two lines of words; written into `text` as snprintf does. */
KBASS_API size_t kbass_data_describe(const kbass_data *data, char *text, size_t size);
/* Signs that the data were taken for something else than they are, one by one: columns that are repeats of one
   measurement, a column that counts the rows, a single state that turns. As snprintf; 0 after the last. */
KBASS_API size_t kbass_data_doubt(const kbass_data *data, size_t index, char *text, size_t size);
/* Adds Gaussian noise of `percent` of each state's standard deviation. */
KBASS_API kbass_status kbass_data_add_noise(kbass_data *data, double percent, uint64_t seed, kbass_error *error);
/* The same with a standard deviation for each state. */
KBASS_API kbass_status kbass_data_disturb(kbass_data *data, const double *sd, uint64_t seed, kbass_error *error);
KBASS_API void kbass_data_destroy(kbass_data *data);

/* ---------------------------------------------------------------- discovery */

typedef struct kbass_discovery kbass_discovery;

typedef enum {
    KBASS_CONVERGED,
    KBASS_NOT_CONVERGED, /* an answer, but the search was still improving when its budget ended */
    KBASS_TIME_LIMIT,    /* the best answer when the time was up */
    KBASS_CANCELLED,     /* the same when the caller stopped the run */
    KBASS_NO_MODEL       /* no candidate could be fitted to these data */
} kbass_outcome;

/* What the data say about a term. A term of the chosen model is never out and one left out never in: where the average
   over all models says otherwise, it is undecided; so is a term whose sd exceeds its weight or whose interval holds 0.
 */
typedef enum { KBASS_OUT, KBASS_UNDECIDED, KBASS_IN } kbass_verdict;
#define KBASS_IN_FROM   0.9 /* probability from which a term is in, */
#define KBASS_OUT_BELOW 0.1 /* and up to which it is out */

typedef struct {
    const char *term;   /* canonical name: "1", "x", "x^2*y", "sin(x)" */
    double weight;      /* of a term left out: in the likeliest model that has it; NaN when none was considered */
    double sd;          /* of the weight, given that the term is in: over all models that have it */
    double probability; /* that it is in the equation */
    int selected;
    kbass_verdict verdict;
    double low, high;           /* its 95 % interval, likewise: quantiles */
    double average, average_sd; /* over all models compared, 0 in those without it */
    const char *unit;           /* of the weight: "m/s^2"; NULL without --units, or where it has none */
    double own_sd;              /* of the weight in that model alone */
    const char *form;           /* "x/(K+x)" where the term has unknown constants, whose values `term` has; else NULL */
    int at_bound;               /* the weight is at a bound of --constraint: the data ask for one beyond */
} kbass_term;

/* An unknown constant inside terms (--unknown). */
typedef struct {
    const char *name;
    double range_low, range_high;
    int is_used;         /* a selected term names it; else the numbers below are NaN */
    double value, sd;    /* where the evidence is highest */
    double low, high;    /* 95 % interval */
    int at_low, at_high; /* an end of its range explains the data about as well */
    const char *becomes; /* a term of the dictionary's kind that its term is like there: "x" of x/(K+x); or NULL */
    size_t n_weights;    /* as in the result */
    const double *correlation; /* with each of the weights; NULL where it is not known */
} kbass_constant;

/* Terms of one equation that the data cannot tell apart: n_present of them are in, whichever; 0: one or
   more are. */
typedef struct {
    const char *lhs;
    size_t n_terms;
    const char *const *terms;
    size_t n_present;
    double probability; /* that exactly so many of them are in */
} kbass_group;

/* What these data cannot tell apart, whatever the probabilities: a term of the law that other candidates can stand for
   on this record, within the noise; a combination of states that stays constant; a state at rest. */
typedef enum { KBASS_ALIKE_TERMS, KBASS_ALIKE_CONSERVED, KBASS_ALIKE_REST } kbass_alike_kind;

typedef struct {
    kbass_alike_kind kind;
    const char *lhs;          /* of terms: the equation, else NULL */
    const char *what;         /* "u_x", "a + b", "b" */
    double value;             /* its weight; or where it stays */
    size_t n_terms;           /* of terms: what can stand for it, */
    const char *const *terms; /* "u*u_x", "u_xxx", */
    const double *weights;
    double share;         /* and the share of what the term explains that is lost then, in log likelihood; else NaN */
    const char *sentence; /* all of it in words, and what would decide */
} kbass_alike;

typedef struct {
    const char *lhs; /* "x_t" */
    int known;       /* given by --fix */
    size_t n_terms;  /* all candidates: selected ones first, the others by falling probability */
    const kbass_term *terms;
} kbass_equation;

typedef struct {
    double log_odds;    /* of this model against the chosen one, <= 0 unless said otherwise */
    double probability; /* among the models compared */
    double misfit;      /* root mean square of residuals, in units of each state's standard deviation */
    size_t n_equations;
    const char *const *equations; /* "x_t = 1.02 y" */
    const char *difference;       /* from the chosen model: "with x_t: x^2, without y_t: y" */
} kbass_runner_up;

/* Do the residuals look like the noise that was assumed? Whether neighbours are independent, whether they are normal,
   whether their spread is the same for small and large values. */
typedef enum { KBASS_TEST_WHITENESS, KBASS_TEST_NORMALITY, KBASS_TEST_SPREAD } kbass_test_kind;

typedef struct {
    size_t state;
    kbass_test_kind kind;
    double score;   /* standard deviations from what is expected; of the spread: above 0 when it grows with the value */
    double p_value; /* corrected for the number of tests */
} kbass_residual_test;

typedef struct {
    const char *lhs, *term;
    double before, before_sd, after, after_sd; /* 0 in the model without the term */
} kbass_weight_change;

/* The chosen model against the same without a term, or with it (--explain). */
typedef struct {
    const char *lhs, *term;
    int is_added;  /* the term is out, and the other model has it; else it is in, and the other has not */
    int is_fitted; /* 0: the other model cannot be fitted to the data, and what follows is NaN */
    double log_evidence,
        log_odds; /* of the other model against the chosen one: the change, and what it makes of the odds */
    double misfit_before, misfit_after;
    size_t n_changes;
    const kbass_weight_change *changes; /* the weights of both models */
} kbass_explanation;

/* A weight that was set free in each run (--vary). */
typedef struct {
    const char *lhs, *term;
    size_t n_runs;
    const double *weights, *sds; /* n_runs */
    double spread;               /* standard deviation of the weights */
    double log_odds;             /* of the model with such weights against the chosen one */
} kbass_varied;

/* Missing physics: a term outside the dictionary, from a wider list, that what the law leaves unexplained asks for. */
typedef struct {
    size_t state;     /* in whose equation */
    const char *term; /* "sin(x)" */
    double score;     /* standard deviations of its weight from 0, were it added */
    double p_value;   /* all that was tried taken together */
} kbass_missing_term;

/* A part of the domain where the measurements of a state stand out of their band, all to one side. */
typedef struct {
    size_t state;
    double from, until;    /* time */
    double low, high;      /* place; NaN without space */
    double score, p_value; /* standard deviations of their sum; as above */
} kbass_misfit;

/* A part of the data that was left out, and what the law found without it says of it (--holdout, --cross-validate);
   numbers as of kbass_predictor, all states together. */
typedef struct {
    const char *name; /* "t > 7.5", "t = 2 to 4", "run b.csv" */
    int is_scored;    /* 0: no law was found without it, or none that could be carried through it; `reason` says why */
    const char *reason;
    size_t n_equations;
    const char *const *equations; /* of the law found without it */
    int is_same;                  /* its terms are those of the final law */
    size_t n_values;
    double r2, log_score, within_50, within_90;
    double baseline; /* log score of the better forecast without a law */
    double leaves;
} kbass_fold;
/* Is there a law? Laws of the dictionary compete with a constant, with a drift, and with the bare field, a curve or
   field that needs no equation. Probabilities and intervals of terms are given that a law of the dictionary holds. */
typedef enum {
    KBASS_LAW_NOT_JUDGED,    /* there is no model, or it is of the published method */
    KBASS_LAW_FOUND,         /* it explains the data better than anything without a law, and each of its terms is in */
    KBASS_LAW_APPROXIMATE,   /* it explains nearly all of the variance, but leaves several times the noise */
    KBASS_LAW_UNDECIDED,     /* other laws, or none, explain the data as well */
    KBASS_LAW_NONE,          /* no law of this dictionary: what it leaves is no noise */
    KBASS_NOTHING_TO_EXPLAIN /* noise about a constant or a drift, a state at rest */
} kbass_law_verdict;

typedef struct {
    kbass_law_verdict verdict;
    double probability;            /* that a law of the dictionary holds; NaN: not known */
    double law;                    /* log evidence of the best law, */
    double constant, drift, field; /* of a constant, a drift and the bare field, in the same units; NaN: not known */
    double explained;              /* share of the variance that the law explains */
    double noise_ratio;            /* noise that it leaves over that beside the bare field, of the worst state */
    int is_white;                  /* neighbouring residuals are independent, as far as can be told */
    size_t n_rivals;               /* other laws with odds of 1 : 10 or better */
    double misfit;                 /* root mean square of the residuals, in units of each state's standard deviation */
    const char *reason;            /* why this verdict, in a sentence with its numbers */
} kbass_law;

enum { KBASS_STAGE_FIELD, KBASS_STAGE_SEARCH, KBASS_STAGE_ARBITRATE, KBASS_STAGE_POLISH, KBASS_STAGE_COUNT };

typedef struct {
    kbass_outcome outcome;
    size_t n_equations; /* 0 when there is no model, or when the run was stopped before there was one */
    const kbass_equation *equations;
    size_t n_states;
    const double *noise;                  /* estimated standard deviation per state, */
    const double *noise_low, *noise_high; /* its 95 % interval (NULL or NaN: not known), */
    int noise_is_relative;                /* as a share of the value: --noise-model multiplicative or log */
    size_t n_runs;
    const double *initial; /* n_runs x n_states: estimated states when a run begins; NaN for fields over space */
    const char *const
        *profiles;    /* fields along a periodic axis: n_runs x n_states expressions in x, when a run begins; or NULL */
    double period;    /* of that axis, in the first run; NaN when there is none */
    size_t n_weights; /* selected terms whose weight was estimated, equation by equation in the order of their terms */
    const double *correlation; /* n_weights x n_weights; NULL where it is not known */
    size_t n_groups;           /* of terms that cannot be told apart */
    const kbass_group *groups;
    size_t n_tests; /* of the residuals: three for each state with enough values, */
    const kbass_residual_test *tests;
    size_t n_warnings; /* and what they give reason to say */
    const char *const *warnings;
    size_t n_runners_up; /* models with odds above 1:1000, best first */
    const kbass_runner_up *runners_up;
    size_t n_explanations; /* as --explain asks; 0 when the run was stopped before */
    const kbass_explanation *explanations;
    size_t n_varied; /* as --vary asks, of the model that is best with such weights; 0 when none could be fitted so */
    const kbass_varied *varied;
    const char *const
        *varied_equations; /* that model, n_equations, with the means of the weights over runs; NULL without */
    size_t n_missing;      /* terms outside the dictionary, below 1 %, the likeliest first */
    const kbass_missing_term *missing;
    size_t n_misfits; /* likewise: where the residuals stand out most */
    const kbass_misfit *misfits;
    double probability; /* of the chosen model among the models compared */
    double log_evidence;
    size_t n_starts, n_starts_lost; /* lost: given up for numerical trouble */
    size_t n_models;                /* models fitted through the integrated equation */
    size_t n_iterations;            /* of the published method's EP-EM; 0 for ours */
    double seconds_per_iteration;   /* likewise; NaN for ours */
    size_t n_windows;               /* parts of the record with a start of their own: 1 unless it is chaotic */
    size_t n_patches;               /* of the domain, where the equation is not integrated; else 0 */
    double seconds[KBASS_STAGE_COUNT];
    double seconds_total;
    size_t n_constants; /* unknown constants inside terms */
    const kbass_constant *constants;
    size_t n_screened; /* candidates of a wide dictionary left out before the search: little of the slopes is theirs */
    size_t n_folds;    /* as --holdout or --cross-validate asks; fewer when the run was stopped before */
    const kbass_fold *folds;
    kbass_law law; /* the verdict on the whole */
    size_t n_part; /* values on which structures were compared, where a part of the data was enough; else 0 */
    size_t n_alike;
    const kbass_alike *alike;
    const char *engine; /* which one answered, and why: "the integrated equation" */
    size_t n_condensed; /* rows that many rows were condensed to, which say the same; 0: all were used as they are */
    double rows_used;   /* the share of the rows that these are; 1: all */
} kbass_result;

KBASS_API const char *kbass_law_verdict_name(kbass_law_verdict verdict); /* "law found" */
KBASS_API const char *kbass_verdict_name(kbass_verdict verdict);         /* "in", "out", "undecided" */
KBASS_API const char *kbass_outcome_name(kbass_outcome outcome);
KBASS_API const char *kbass_stage_name(int stage);

/* Settings NULL: nothing was set. */
KBASS_API kbass_status kbass_discovery_create(const kbass_data *data, const kbass_settings *settings,
                                              kbass_discovery **discovery, kbass_error *error);
KBASS_API size_t kbass_discovery_candidates(const kbass_discovery *discovery); /* terms in the dictionary */
KBASS_API const char *kbass_discovery_candidate(const kbass_discovery *discovery, size_t index);
KBASS_API kbass_status kbass_discovery_run(kbass_discovery *discovery, kbass_progress_callback progress, void *user,
                                           kbass_error *error);
/* Before the run: what it makes besides its answer, within its time limit and its seconds, and keeps: these parts of
   the solution are not solved again. What the limit or the callback cut off is left out (kbass_discovery_points then
   fails with KBASS_ERROR_TIME). */
enum {
    KBASS_KEEP_RESULT = 1,   /* what kbass_discovery_json writes */
    KBASS_KEEP_SOLUTION = 2, /* the solution at kbass_discovery_points */
    KBASS_KEEP_ROWS = 4,     /* its mean at all measured points */
    KBASS_KEEP_BEST = 8      /* while it runs, the best models by now: kbass_discovery_so_far */
};
KBASS_API void kbass_discovery_keep(kbass_discovery *discovery, int parts);
/* From another thread, or its callback, while a run with KBASS_KEEP_BEST is going on: the best answer by now, as
   kbass_discovery_json and kbass_discovery_text (parts: KBASS_TEXT_...) would write it if the run were cancelled and
   left time for nothing else. Takes milliseconds. Before there is a model it fails with KBASS_ERROR_TIME. To be freed
   with kbass_free. */
KBASS_API kbass_status kbass_discovery_so_far(const kbass_discovery *discovery, int parts, char **json, char **text,
                                              kbass_error *error);
/* Several processes on one discovery: each makes the same calls with the same data and settings, and fits are shared
   out among them (docs/cluster.md). These functions are called by all ranks in the same order, from one thread at a
   time. */
typedef struct {
    size_t size; /* as in kbass_read_options */
    int rank, n_ranks;
    void *user;
    /* `n` bytes of every rank to all of them, in the order of the ranks: all has room for n_ranks x n. */
    void (*gather)(void *user, size_t n, const void *own, void *all);
    /* The largest wish of any rank. */
    int (*agree)(void *user, int wish);
} kbass_reduce;
/* Before the run; NULL: alone. Copies the struct. */
KBASS_API void kbass_discovery_share(kbass_discovery *discovery, const kbass_reduce *reduce);
KBASS_API const kbass_result *kbass_discovery_result(const kbass_discovery *discovery);
/* The denoised solution and its standard deviation (or NULL) of a run, counted from 0, at n points of its record with
   ascending times; positions n x (axes - 1), NULL for states; mean and sd n x n_states. */
KBASS_API kbass_status kbass_discovery_solution(const kbass_discovery *discovery, size_t run, size_t n_points,
                                                const double *times, const double *positions, double *mean, double *sd,
                                                kbass_error *error);
/* Both sides of the law along that solution, which is differentiated numerically: lhs - rhs is the law's residual, n x
   n_states. A state without an equation has rhs 0. */
KBASS_API kbass_status kbass_discovery_law(const kbass_discovery *discovery, size_t run, size_t n_points,
                                           const double *times, const double *positions, double *lhs, double *rhs,
                                           kbass_error *error);
/* The points that show a run's solution: counts (axes) along each axis, and unless NULL all their coordinates, time
   slowest, as kbass_discovery_solution takes them. Of states they are even times and the measured ones, of fields a
   mesh: that of --mesh or --mesh-file, else one that is denser where the solution bends. */
KBASS_API kbass_status kbass_discovery_points(const kbass_discovery *discovery, size_t run, size_t *counts,
                                              double *times, double *positions, kbass_error *error);
/* The result as JSON text (docs/schema.md); the caller owns it: kbass_free. */
KBASS_API kbass_status kbass_discovery_json(const kbass_discovery *discovery, char **json, kbass_error *error);
/* The report that `kbass discover` prints, of the parts that are added up; the caller owns it: kbass_free. The problem
   may be asked for before the run. */
enum {
    KBASS_TEXT_PROBLEM = 1,   /* what was understood of the data, and the dictionary */
    KBASS_TEXT_RESULT = 2,    /* the verdict, equations, terms that are in or undecided, warnings, two rivals, time */
    KBASS_TEXT_ALL_TERMS = 4, /* with details, and every candidate, not only those selected or near it */
    KBASS_TEXT_BOLD = 8,      /* with a terminal's signs for bold equations */
    KBASS_TEXT_DETAILS = 16   /* with sds, noise, correlations, averages, five rivals */
};
KBASS_API kbass_status kbass_discovery_text(const kbass_discovery *discovery, int parts, char **text,
                                            kbass_error *error);
KBASS_API void kbass_discovery_destroy(kbass_discovery *discovery);

/* ---------------------------------------------------------------- what a result believes: forecasts, draws, where to
 * measure next */

/* The chosen model and its near rivals with the joint covariance of weights and state. */
typedef struct kbass_posterior kbass_posterior;

/* From a finished run, of one of its runs of data, counted from 0: models are common to all, the state is its own.
   KBASS_ERROR_DATA when the run leaves none: --method paper, states without an equation. */
KBASS_API kbass_status kbass_discovery_posterior(const kbass_discovery *discovery, size_t run,
                                                 kbass_posterior **posterior, kbass_error *error);
/* From a result, of the run with this name, as "runs" in the file has them; NULL: there is one alone. Refused, with the
   field at fault, when it is of another version, cut short, or no longer consistent with itself. */
KBASS_API kbass_status kbass_posterior_read(const char *result, const char *run, kbass_posterior **posterior,
                                            kbass_error *error);
/* Was it made from these data? Compares their SHA-256. */
KBASS_API kbass_status kbass_posterior_check_data(const kbass_posterior *posterior, const kbass_data *data,
                                                  kbass_error *error);
KBASS_API size_t kbass_posterior_states(const kbass_posterior *posterior);
KBASS_API const char *kbass_posterior_state_name(const kbass_posterior *posterior, size_t state);
KBASS_API size_t kbass_posterior_axes(const kbass_posterior *posterior);
KBASS_API const char *kbass_posterior_axis_name(const kbass_posterior *posterior, size_t axis);
/* First and last coordinate that was measured along an axis. */
KBASS_API void kbass_posterior_range(const kbass_posterior *posterior, size_t axis, double *first, double *last);
KBASS_API size_t kbass_posterior_models(const kbass_posterior *posterior);                    /* the chosen one first */
KBASS_API double kbass_posterior_probability(const kbass_posterior *posterior, size_t model); /* among these */
/* The known inputs of the law (--input); NULL after the last. Over the record they are known. */
KBASS_API const char *kbass_posterior_input_name(const kbass_posterior *posterior, size_t input);
/* What they are after the record, from the columns of their names in a run of data: forecasts and gains reach as far as
   these do. */
KBASS_API kbass_status kbass_posterior_set_inputs(kbass_posterior *posterior, const kbass_data *data, size_t run,
                                                  kbass_error *error);
KBASS_API void kbass_posterior_destroy(kbass_posterior *posterior);

typedef struct kbass_forecast kbass_forecast;

typedef struct {
    size_t size; /* as in kbass_read_options */
    size_t n_draws;
    uint64_t seed;
    int threads;          /* 0: all cores; the draws do not depend on it */
    int average;          /* draw from the rivals too, by their probabilities */
    const double *state;  /* where it starts, at the last measured time, known exactly; NULL: as fitted */
    const char *boundary; /* of fields: "fitted" (as in the fit: periodic, or the fitted values at the ends carried on,
                             for a quarter of the record at most), "periodic", "dirichlet" (the ends keep their last
                             values), "neumann" (no slope at the ends); NULL: fitted */
    double time_limit;    /* seconds after which it ends with the draws done by then; 0: none */
    kbass_progress_callback progress; /* as for kbass_discovery_run, or NULL */
    void *user;
    const kbass_reduce *reduce; /* ranks that share the draws out, each of which then has all; NULL: alone */
} kbass_forecast_options;

/* Integrates draws of weights and last state through ascending times from the last measured one on; for fields at
   n_places each time, whose coordinates are n_places x axes of space (0, NULL for states). */
KBASS_API kbass_status kbass_posterior_forecast(const kbass_posterior *posterior, const kbass_forecast_options *options,
                                                size_t n_times, const double *times, size_t n_places,
                                                const double *places, kbass_forecast **forecast, kbass_error *error);
/* As many as were asked for, or those that were done when it was stopped. */
KBASS_API size_t kbass_forecast_draws(const kbass_forecast *forecast);
/* n_times x n_places x n_states of one draw; NaN from where it diverges. */
KBASS_API const double *kbass_forecast_values(const kbass_forecast *forecast, size_t draw);
/* How many draws diverge; unless NULL, the first time asked for that one of them does not reach (NaN when all arrive),
   and how many of them do not diverge but would have taken too many steps. */
KBASS_API size_t kbass_forecast_lost(const kbass_forecast *forecast, double *first, size_t *too_far);
/* Over the draws that reach each time: mean (n_times x n_places x n_states, or NULL), quantiles (the same for each of
   n_quantiles probabilities), how many they are (n_times, or NULL). NaN where none is left. */
KBASS_API kbass_status kbass_forecast_summary(const kbass_forecast *forecast, size_t n_quantiles,
                                              const double *probabilities, double *mean, double *quantiles,
                                              size_t *reached, kbass_error *error);
KBASS_API void kbass_forecast_destroy(kbass_forecast *forecast);

/* Draws of the solution within the record, or of a derivative of it (order_t times in time, order_x in space; 0, 0: the
   solution itself), at n points with ascending times; positions n, NULL for states; draws: n_draws x n x n_states.
   Of states, and of fields over one space axis with equations of first order. */
KBASS_API kbass_status kbass_posterior_draws(const kbass_posterior *posterior, size_t n_points, const double *times,
                                             const double *positions, int order_t, int order_x, size_t n_draws,
                                             uint64_t seed, double *draws, kbass_error *error);

/* What one more sample of a state, with the noise of the others, would tell at n points (positions: n x axes of space,
   NULL for states; over several axes within the record): the expected gain of
   information about which of the models is true, and about the chosen one's weights; in nats, n x n_states each. */
KBASS_API kbass_status kbass_posterior_gain(const kbass_posterior *posterior, size_t n_points, const double *times,
                                            const double *positions, double *about_models, double *about_weights,
                                            kbass_error *error);

/* ---------------------------------------------------------------- does it hold on data that it has not seen? */

/* How well a predictor foretold the scored values (docs/math.md, eq. 69). Arrays of n_states + 1: state by state, then
   all of them together. */
typedef struct {
    const char *name;                    /* "law", "runner-up", "no change", "bare field" */
    const double *r2;                    /* share of the variance that its mean explains; may be below 0 */
    const double *log_score;             /* mean log density of a measured value, in nats: higher is better */
    const double *within_50, *within_90; /* share of the values within the bands, noise included: 0.5, 0.9 at best */
    double leaves;                       /* the time from which two values running are outside the 99 % band, or NaN */
    size_t n_lost;                       /* values that no draw reaches: outside of all bands, in no other number */
    const double *mean, *low, *high;     /* n_points x n_states: and the 90 % band of a measurement */
} kbass_predictor;

typedef struct {
    size_t n_states, n_points;
    size_t n_used;                            /* rows that the start was fitted to, and that are not scored */
    size_t n_values;                          /* scored */
    double first, last;                       /* times of the first and last scored row */
    const double *times, *positions, *values; /* the scored rows: n_points; values n_points x n_states */
    size_t n_predictors;                      /* the law first */
    const kbass_predictor *predictors;
} kbass_score;

typedef struct {
    size_t size;         /* as in kbass_read_options */
    size_t n_start;      /* so many of the first times are for the start; 0: a tenth of them, 3 to 20 */
    const double *state; /* or: where it starts, at the first time, known exactly; then all later rows are scored */
    int continues;       /* or: the data go on with the record that the law was found in, and what is new is scored */
    size_t n_draws;      /* 0: 400 */
    uint64_t seed;
    int threads;          /* 0: all cores */
    const char *boundary; /* of fields, as in kbass_forecast_options */
    double time_limit;    /* of each forecast, seconds; 0: none */
    kbass_progress_callback progress;
    void *user;
    const kbass_data *inputs; /* of a law with inputs: their columns, where the data have them not; NULL: the data */
    size_t input_run;         /* of `inputs`, counted from 0 */
} kbass_score_options;

/* Scores the law, its nearest rival and two forecasts without a law on a run of data, counted from 0. */
KBASS_API kbass_status kbass_posterior_score(const kbass_posterior *posterior, const kbass_data *data, size_t run,
                                             const kbass_score_options *options, kbass_score **score,
                                             kbass_error *error);
/* As JSON text (docs/schema.md); the caller owns it: kbass_free. */
KBASS_API kbass_status kbass_score_json(const kbass_score *score, const kbass_posterior *posterior, char **json,
                                        kbass_error *error);
KBASS_API void kbass_score_destroy(kbass_score *score);

/* ---------------------------------------------------------------- the doctor: what data can carry, before any fit */

typedef struct kbass_doctor kbass_doctor;

typedef enum { KBASS_FINE, KBASS_WARNING, KBASS_HOPELESS } kbass_severity;

typedef struct {
    kbass_severity severity;
    const char *check;   /* "sampling", "gap", "noise", "derivatives", "outliers", "excitation", "candidates",
                            "collinear", "dependent", "constant", "saturated", "copies", "axes", "too few" */
    const char *subject; /* the state, axis or terms it is about; "" for the whole */
    double number;
    const char *measure; /* what the number is */
    const char *sentence;
    const char *suggestion; /* "" when all is fine */
    size_t n_rows;
    const size_t *rows; /* of the data: the outliers, the saturated values, both ends of a gap; or NULL */
    size_t n_terms;
    const char *const *terms; /* that are alike; or NULL */
} kbass_finding;

/* Examines the data with the dictionary that the settings make of them. What is wrong with the data is a finding, what
   is wrong with the settings an error. Settings NULL: nothing was set. */
KBASS_API kbass_status kbass_doctor_create(const kbass_data *data, const kbass_settings *settings,
                                           kbass_doctor **doctor, kbass_error *error);
KBASS_API const kbass_finding *kbass_doctor_finding(const kbass_doctor *doctor, size_t index); /* NULL after the last */
KBASS_API kbass_severity kbass_doctor_severity(const kbass_doctor *doctor); /* of the worst finding */
/* The data smoothed, without any equation: at n points of the record, positions n x (axes - 1) or NULL; mean and sd n x
   n_states each, NaN for states that cannot be used. */
KBASS_API kbass_status kbass_doctor_smooth(const kbass_doctor *doctor, size_t n_points, const double *times,
                                           const double *positions, double *mean, double *sd, kbass_error *error);
/* The findings as JSON text (docs/schema.md); the caller owns it: kbass_free. */
KBASS_API kbass_status kbass_doctor_json(const kbass_doctor *doctor, char **json, kbass_error *error);
KBASS_API void kbass_doctor_destroy(kbass_doctor *doctor);

/* ---------------------------------------------------------------- models and their solutions */

/* Of states over time, "x_t = y", or of fields over time and space, "u_t = -u*u_x + 0.1*u_xx". */
typedef struct kbass_model kbass_model;

typedef struct {
    size_t size; /* as in kbass_read_options */
    /* Of states: known functions of time, the columns of `inputs` that have no equation, as curves, or held from each
       value to the next; time has the name that it has there. NULL: none. */
    const kbass_data *inputs;
    int hold;
    /* Of fields, which a domain makes them: "x=0:10, t=0:8"; */
    const char *domain;
    const char *initial; /* "exp(-(x-4)^2)", or "u=...; v=..." by field, "u_t=..." for velocities (0 when not given); */
    const char *boundary; /* "periodic", "dirichlet" (values at the ends stay what they are at first), "neumann" (no
                             slope at the ends), or by axis "x=periodic, y=neumann"; NULL means periodic */
} kbass_model_options;

typedef struct {
    const char *name;   /* "t", then one letter for each axis of space */
    double low, high;   /* the domain */
    double first, last; /* the part of it that is sampled; NaN when it has none */
    size_t n_samples;   /* along the customary grid of fields */
} kbass_axis;

/* The named systems: "vdp", "lorenz63", ..., then those of fields, "burgers", "ks", ...; NULL after the last. */
KBASS_API const char *kbass_model_name(size_t index);
KBASS_API const char *kbass_model_summary(size_t index);
KBASS_API kbass_status kbass_model_named(const char *name, kbass_model **model, kbass_error *error);
/* Equations as text: "x_t = y", "y_t = 2.5*(1 - x^2)*y - x", "x_tt = -x"; each state needs one. Expressions of fields
   know `pi`. Options NULL: states without inputs. */
KBASS_API kbass_status kbass_model_parse(size_t n_equations, const char *const *equations,
                                         const kbass_model_options *options, kbass_model **model, kbass_error *error);
/* The selected equations of a result file with its start: of states the initial state, the span of time and the inputs
   over the record; of fields the estimated profile at the first time. */
KBASS_API kbass_status kbass_model_from_result(const char *result, kbass_model **model, kbass_error *error);
KBASS_API size_t kbass_model_states(const kbass_model *model); /* or fields */
KBASS_API const char *kbass_model_state_name(const kbass_model *model, size_t state);
KBASS_API const char *kbass_model_equation(const kbass_model *model, size_t state);
KBASS_API size_t kbass_model_axes(const kbass_model *model);                         /* 1 for states */
KBASS_API const kbass_axis *kbass_model_axis(const kbass_model *model, size_t axis); /* 0 is time */
KBASS_API const double *kbass_model_initial(const kbass_model *model); /* of states; NULL when it has none */
KBASS_API const char *kbass_model_input_name(const kbass_model *model, size_t input); /* NULL after the last */
/* Other inputs, from the columns of their names in a run of data; held and late as the result has them. */
KBASS_API kbass_status kbass_model_set_inputs(kbass_model *model, const kbass_data *data, size_t run,
                                              kbass_error *error);
/* Integrates states from `initial` at `start` through the ascending times; states: n_times x n_states. */
KBASS_API kbass_status kbass_model_integrate(const kbass_model *model, double start, const double *initial,
                                             size_t n_times, const double *times, double *states, kbass_error *error);
/* The right-hand sides at any states: times n_points, or NULL for 0; states and rates n_points x n_states. What is not
   finite stays so. */
KBASS_API kbass_status kbass_model_rates(const kbass_model *model, size_t n_points, const double *times,
                                         const double *states, double *rates, kbass_error *error);
/* Samples only a part of the domain from now on: "x=0:9.5, t=0:7.5"; axes not named keep theirs. */
KBASS_API kbass_status kbass_model_within(kbass_model *model, const char *ranges, kbass_error *error);
/* Fields at any points of the domain; points: n_points x n_axes, time first; values: n_points x n_fields. The
   resolution is raised until the values move by less than 1e-7 of each field's largest; one that cannot be brought
   below 1e-6 is an error. */
KBASS_API kbass_status kbass_model_sample(const kbass_model *model, size_t n_points, const double *points,
                                          double *values, kbass_error *error);
/* The same on an even grid, counts[axis] points each (NULL: the customary ones), or at seeded uniform points. */
KBASS_API kbass_status kbass_model_grid(const kbass_model *model, const size_t *counts, kbass_data **data,
                                        kbass_error *error);
KBASS_API kbass_status kbass_model_scattered(const kbass_model *model, size_t n_points, uint64_t seed,
                                             kbass_data **data, kbass_error *error);
/* The grid into a file of arrays by its ending, .npy (one field, without its axes), .npz, .h5, with noise as
   kbass_data_add_noise: in pieces, so that grids may be larger than memory. Solved in stretches of time, each to that
   accuracy from where the one before it ended. */
KBASS_API kbass_status kbass_model_write(const kbass_model *model, const size_t *counts, double noise_percent,
                                         uint64_t seed, const char *path, kbass_error *error);
KBASS_API void kbass_model_destroy(kbass_model *model);

/* ---------------------------------------------------------------- a result in other languages */

/* "latex", "sympy", "julia", "matlab", "c", "csv"; NULL after the last. */
KBASS_API const char *kbass_export_format(size_t index);
KBASS_API const char *kbass_export_summary(size_t index);
/* The law of a result file in that format; `csv` is its solution instead. `function` is the name of the function that
   matlab and c write, NULL: kbass_rhs. States without an equation are arguments only. `inputs`: what drives the
   solution of `csv` in place of the record's inputs; NULL: these. The caller owns *text: kbass_free. */
KBASS_API kbass_status kbass_export(const char *result, const char *format, const char *function,
                                    const kbass_data *inputs, char **text, kbass_error *error);

/* ---------------------------------------------------------------- instruments of speed, for benchmarks */

/* Floating-point operations of matrix products and factorisations so far, in all threads of the process. */
KBASS_API double kbass_dense_operations(void);
/* The rate of products of n x n matrices on one thread, per second of its CPU time, the best of several. */
KBASS_API kbass_status kbass_product_speed(size_t n, double *gflops, kbass_error *error);

#ifdef __cplusplus
}
#endif
#endif
