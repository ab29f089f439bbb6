#include "forecast/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/status.h"
#include "data/data.h"

enum { NAME_SIZE = 200, FEWEST_ROWS = 5, DRAWS = 200 };

/* What is left out of each run: rows from `first` up to `end` of all rows; none where both are equal. */
typedef struct {
    size_t first, end;
} gap;

typedef struct {
    const kbass_data *data;
    const kbass_settings *settings;
    size_t n_runs;
    gap *gaps; /* n_runs */
    char name[NAME_SIZE];
    bool continues; /* what is left out ends the runs: the law goes on from the end of what it has seen */
} division;

/* ---------------------------------------------------------------- what is asked for */

static bool has_text(const char *text) { return text && *text; }

bool kb_validation_is_asked(const kbass_settings *s) { return has_text(s->holdout) || s->cross_validate > 0; }

/* The share of --holdout 0.25; NaN when it names runs. */
static double share_of(const kbass_settings *s)
{
    char *end = NULL;
    double share = has_text(s->holdout) ? strtod(s->holdout, &end) : NAN;
    return end && end != s->holdout && !end[strspn(end, " ")] && share < 1 ? share : NAN;
}

/* Is the run named in the list "a.csv, 3"? */
static bool is_named(const char *list, const char *name)
{
    for (const char *at = list; *at;) {
        at += strspn(at, ", ");
        size_t length = strcspn(at, ",");
        while (length && at[length - 1] == ' ') length--;
        if (strlen(name) == length && !strncmp(at, name, length)) return true;
        at += strcspn(at, ",");
    }
    return false;
}

static size_t count_named(const kbass_data *data, const char *list)
{
    size_t n = 0;
    for (size_t run = 0; run < kbass_data_runs(data); run++) n += data->n_runs && is_named(list, data->run_names[run]);
    return n;
}

static kbass_status check_holdout(const kbass_data *data, const kbass_settings *s, kbass_error *error)
{
    double share = share_of(s);
    size_t runs = kbass_data_runs(data), named = count_named(data, s->holdout);
    if (named && named < runs) return KBASS_OK;
    if (named) return kb_fail(error, KBASS_ERROR_ARGUMENT, "holdout: found all runs, needed some to find the law in");
    if (share > 0 && share <= 0.9) return KBASS_OK;
    if (isfinite(share))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "holdout: found %g, needed a share above 0 and up to 0.9", share);
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "holdout: found \"%.60s\", needed a share of the time such as 0.25%s",
                   s->holdout, runs > 1 ? ", or the name of a run" : "");
}

kbass_status kb_validation_check(const kbass_data *data, const kbass_settings *s, kbass_error *error)
{
    size_t runs = kbass_data_runs(data), most = runs > 1 ? runs : data->n_rows / FEWEST_ROWS;
    if (!kb_validation_is_asked(s)) return KBASS_OK;
    if (has_text(s->holdout) && s->cross_validate)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "found both holdout and cross-validate, needed one of them");
    if (data->n_axes > 2)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "holdout and cross-validate are for states, and for fields over one "
                       "space axis");
    if (has_text(s->holdout)) return check_holdout(data, s, error);
    if ((size_t)s->cross_validate > most)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "cross-validate: found %d parts, needed at most %zu, as there are %s", s->cross_validate, most,
                       runs > 1 ? "runs" : "rows for them");
    return KBASS_OK;
}

/* ---------------------------------------------------------------- divisions */

/* The first row of a run from a time on. */
static size_t row_from(const kbass_data *data, size_t run, double time)
{
    size_t row = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1);
    while (row < end && data->times[row] < time) row++;
    return row;
}

static void divide_time(division *d, double share)
{
    const kbass_data *data = d->data;
    d->continues = true;
    for (size_t run = 0; run < d->n_runs; run++) {
        size_t begin = kb_data_run_start(data, run), end = kb_data_run_start(data, run + 1);
        double first = data->times[begin], last = data->times[end - 1], cut = last - share * (last - first);
        size_t row = row_from(data, run, cut);
        while (row < end && data->times[row] == cut) row++;
        d->gaps[run] = (gap){row, end};
        if (run == 0) snprintf(d->name, sizeof d->name, "%.60s > %.6g", data->time_name, cut);
    }
    if (d->n_runs > 1) snprintf(d->name, sizeof d->name, "the last %.3g %% of each run", 100 * share);
}

static void leave_out_run(division *d, size_t run)
{
    d->gaps[run] = (gap){kb_data_run_start(d->data, run), kb_data_run_start(d->data, run + 1)};
    size_t used = strlen(d->name);
    snprintf(d->name + used, sizeof d->name - used, "%s%.80s", used ? ", " : "run ", d->data->run_names[run]);
}

/* Part k of K: runs, or a block of the time. */
static void divide_part(division *d, size_t k, size_t K)
{
    const kbass_data *data = d->data;
    if (d->n_runs > 1) {
        for (size_t run = 0; run < d->n_runs; run++)
            if (run * K / d->n_runs == k) leave_out_run(d, run);
        return;
    }
    double first = data->times[0], length = (data->times[data->n_rows - 1] - first) / (double)K;
    double from = first + (double)k * length, until = first + (double)(k + 1) * length;
    d->gaps[0] = (gap){row_from(data, 0, from), k + 1 < K ? row_from(data, 0, until) : data->n_rows};
    snprintf(d->name, sizeof d->name, "%.60s = %.6g to %.6g", data->time_name, from, until);
}

static void divide(division *d, size_t k)
{
    const kbass_settings *s = d->settings;
    double share = share_of(s);
    memset(d->gaps, 0, d->n_runs * sizeof *d->gaps);
    d->name[0] = '\0';
    d->continues = false;
    if (s->cross_validate) divide_part(d, k, (size_t)s->cross_validate);
    else if (!count_named(d->data, s->holdout)) divide_time(d, share);
    else
        for (size_t run = 0; run < d->n_runs; run++)
            if (is_named(s->holdout, d->data->run_names[run])) leave_out_run(d, run);
}

/* ---------------------------------------------------------------- what is left */

/* The parts that are seen, in the order of the rows: at most two of a run. */
static size_t list_seen(const division *d, kbass_data *views, const kbass_data **parts)
{
    size_t n = 0;
    for (size_t run = 0; run < d->n_runs; run++) {
        size_t begin = kb_data_run_start(d->data, run), end = kb_data_run_start(d->data, run + 1);
        gap g = d->gaps[run];
        bool whole = g.first == g.end;
        if (whole || g.first > begin) views[n++] = kb_data_rows(d->data, begin, whole ? end : g.first);
        if (!whole && g.end < end) views[n++] = kb_data_rows(d->data, g.end, end);
    }
    for (size_t i = 0; i < n; i++) parts[i] = &views[i];
    return n;
}

static kbass_status see(const division *d, kbass_data **out, kbass_error *error)
{
    kbass_data *views = KB_NEW(kbass_data, 2 * d->n_runs);
    const kbass_data **parts = KB_NEW(const kbass_data *, 2 * d->n_runs);
    const char **names = KB_NEW(const char *, 2 * d->n_runs);
    char(*numbers)[KB_NUMBER_SIZE] = kb_allocate(2 * d->n_runs, KB_NUMBER_SIZE);
    kbass_status status =
        views && parts && names && numbers ? KBASS_OK : kb_out_of_memory(error, "the parts of the data");
    if (status == KBASS_OK) {
        size_t n = list_seen(d, views, parts);
        for (size_t i = 0; i < n; i++) {
            snprintf(numbers[i], KB_NUMBER_SIZE, "%zu", i + 1);
            names[i] = numbers[i];
        }
        if (n == 0) status = kb_fail(error, KBASS_ERROR_DATA, "nothing is left to find a law in");
        else status = n == 1 ? kb_data_copy(parts[0], out, error) : kbass_data_join(n, parts, names, out, error);
    }
    kb_free(views);
    kb_free(parts);
    kb_free(names);
    kb_free(numbers);
    return status;
}

/* ---------------------------------------------------------------- one fold */

static char *own(kb_answer *answer, const char *text)
{
    char *copy = kb_answer_own(answer, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* "x_t = 1.02 y - 0.5 x" */
static char *write_equation(kb_answer *answer, const kbass_equation *e)
{
    kb_buffer text = {0};
    bool is_first = true;
    kb_buffer_print(&text, "%s =", e->lhs);
    for (size_t q = 0; q < e->n_terms; q++) {
        const kbass_term *term = &e->terms[q];
        if (!term->selected) continue;
        kb_buffer_print(&text, " %s%.4g%s%s",
                        term->weight < 0 ? (is_first ? "-" : "- ")
                        : is_first       ? ""
                                         : "+ ",
                        fabs(term->weight), strcmp(term->term, "1") ? " " : "",
                        strcmp(term->term, "1") ? term->term : "");
        is_first = false;
    }
    if (is_first) kb_buffer_put(&text, " 0");
    char *taken = kb_buffer_take(&text), *kept = taken ? own(answer, taken) : NULL;
    kb_free(taken);
    return kept;
}

static bool is_selected(const kbass_equation *e, const char *term)
{
    for (size_t q = 0; q < e->n_terms; q++)
        if (!strcmp(e->terms[q].term, term)) return e->terms[q].selected;
    return false;
}

static bool has_same_terms(const kbass_result *a, const kbass_result *b)
{
    if (a->n_equations != b->n_equations) return false;
    for (size_t e = 0; e < a->n_equations; e++)
        for (size_t q = 0; q < a->equations[e].n_terms; q++) {
            const kbass_term *term = &a->equations[e].terms[q];
            if (is_selected(&b->equations[e], term->term) != (bool)term->selected) return false;
        }
    return true;
}

static bool describe(const kbass_result *law, kb_answer *answer, kbass_fold *fold)
{
    const char **equations = kb_answer_own(answer, law->n_equations, sizeof *equations);
    bool complete = equations != NULL;
    for (size_t e = 0; complete && e < law->n_equations; e++)
        complete = (equations[e] = write_equation(answer, &law->equations[e])) != NULL;
    fold->n_equations = law->n_equations;
    fold->equations = equations;
    fold->is_same = has_same_terms(law, &answer->result);
    return complete;
}

/* Numbers of a run join those of the runs before, by how many values they are of. */
static void add_score(const kbass_score *s, kbass_fold *fold)
{
    const kbass_predictor *law = &s->predictors[0];
    size_t all = s->n_states;
    double best = -INFINITY, n = (double)fold->n_values, share = (double)s->n_values / (n + (double)s->n_values);
    for (size_t i = 0; i < s->n_predictors; i++)
        if (!strcmp(s->predictors[i].name, "no change") || !strcmp(s->predictors[i].name, "bare field"))
            best = fmax(best, s->predictors[i].log_score[all]);
    fold->r2 += share * (law->r2[all] - fold->r2);
    fold->log_score += share * (law->log_score[all] - fold->log_score);
    fold->within_50 += share * (law->within_50[all] - fold->within_50);
    fold->within_90 += share * (law->within_90[all] - fold->within_90);
    fold->baseline += share * (best - fold->baseline);
    if (isnan(fold->leaves)) fold->leaves = law->leaves;
    fold->n_values += s->n_values;
}

static kbass_status score_gap(const division *d, const kbass_discovery *found, size_t run, size_t seen_run,
                              kb_run *clock, kbass_fold *fold, kbass_error *error)
{
    kbass_posterior *posterior = NULL;
    kbass_score *score = NULL;
    kbass_data part =
        d->continues ? kb_data_run(d->data, run) : kb_data_rows(d->data, d->gaps[run].first, d->gaps[run].end);
    kbass_score_options options = {.size = sizeof options,
                                   .continues = d->continues,
                                   .n_draws = DRAWS,
                                   .seed = (uint64_t)d->settings->seed,
                                   .threads = d->settings->threads,
                                   .inputs = d->data,
                                   .input_run = run,
                                   .progress = clock->callback,
                                   .user = clock->user};
    kbass_status status = kbass_discovery_posterior(found, d->continues ? seen_run : 0, &posterior, error);
    if (status == KBASS_OK) status = kbass_posterior_score(posterior, &part, 0, &options, &score, error);
    if (status == KBASS_OK) add_score(score, fold);
    kbass_score_destroy(score);
    kbass_posterior_destroy(posterior);
    return status;
}

static kbass_status score_gaps(const division *d, const kbass_discovery *found, kb_run *clock, kbass_fold *fold,
                               kbass_error *error)
{
    kbass_status status = KBASS_OK;
    for (size_t run = 0, seen = 0; status == KBASS_OK && run < d->n_runs; run++) {
        if (d->gaps[run].first < d->gaps[run].end) status = score_gap(d, found, run, seen, clock, fold, error);
        seen++;
    }
    fold->is_scored = status == KBASS_OK;
    return status;
}

/* What the run may still take, shared by the folds that are left; 0: no limit. */
static double time_left(const kb_run *run, size_t n_left)
{
    return run->time_limit > 0 ? fmax((run->time_limit - (kb_clock() - run->start)) / (double)n_left, 0.01) : 0;
}

/* The settings of the whole, without this. */
static kbass_status copy_settings(const kbass_settings *from, double limit, kbass_settings **out, kbass_error *error)
{
    char text[40];
    kbass_status status = kbass_settings_copy(from, out, error);
    snprintf(text, sizeof text, "%.3f", limit);
    if (status == KBASS_OK) status = kbass_settings_unset(*out, "holdout", error);
    if (status == KBASS_OK) status = kbass_settings_unset(*out, "cross-validate", error);
    if (status == KBASS_OK) status = kbass_settings_unset(*out, "checkpoint", error); /* that of the whole */
    if (status == KBASS_OK && limit > 0) status = kbass_settings_set(*out, "time-limit", text, error);
    return status;
}

/* Finds the law without the gaps and scores it there. What fails is a fold without a score, unless memory ran out. */
static kbass_status run_fold(const division *d, size_t n_left, kb_run *run, kb_answer *answer, kbass_fold *fold,
                             kbass_error *error)
{
    kbass_data *seen = NULL;
    kbass_settings *settings = NULL;
    kbass_discovery *found = NULL;
    kbass_error why = {.message = ""};
    *fold = (kbass_fold){.name = own(answer, d->name), .leaves = NAN};
    kbass_status status = see(d, &seen, &why);
    if (status == KBASS_OK) status = copy_settings(d->settings, time_left(run, n_left), &settings, &why);
    if (status == KBASS_OK) status = kbass_discovery_create(seen, settings, &found, &why);
    if (status == KBASS_OK) status = kbass_discovery_run(found, run->callback, run->user, &why);
    const kbass_result *law = status == KBASS_OK ? kbass_discovery_result(found) : NULL;
    if (law && !law->n_equations) status = kb_fail(&why, KBASS_ERROR_DATA, "no law was found without it");
    if (status == KBASS_OK && !describe(law, answer, fold)) status = kb_out_of_memory(&why, "the validation");
    if (status == KBASS_OK) status = score_gaps(d, found, run, fold, &why);
    bool is_stopped = law && law->outcome == KBASS_CANCELLED;
    kbass_discovery_destroy(found);
    kbass_settings_destroy(settings);
    kbass_data_destroy(seen);
    if (is_stopped) atomic_store(&run->reason, 1 + KBASS_CANCELLED);
    if (status == KBASS_ERROR_MEMORY) return kb_fail(error, status, "%s", why.message);
    if (status != KBASS_OK) fold->reason = own(answer, why.message);
    return KBASS_OK;
}

kbass_status kb_validate(const kbass_data *data, const kbass_settings *settings, kb_run *run, kb_answer *answer,
                         kbass_error *error)
{
    size_t n = settings->cross_validate ? (size_t)settings->cross_validate : 1, done = 0;
    division d = {.data = data, .settings = settings, .n_runs = kbass_data_runs(data)};
    kbass_fold *folds = kb_answer_own(answer, n, sizeof *folds);
    d.gaps = KB_NEW(gap, d.n_runs);
    kbass_status status = folds && d.gaps ? KBASS_OK : kb_out_of_memory(error, "the validation");
    for (; status == KBASS_OK && done < n && !kb_run_stopped(run); done++) {
        divide(&d, done);
        status = run_fold(&d, n - done, run, answer, &folds[done], error);
    }
    kb_free(d.gaps);
    if (status != KBASS_OK) return status;
    answer->result.folds = folds;
    answer->result.n_folds = done;
    return KBASS_OK;
}
