/* The public functions of discovery: check inputs, call a module, hand back. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/apart.h"
#include "base/buffer.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/suggest.h"
#include "data/data.h"
#include "data/doubts.h"
#include "dictionary/column_units.h"
#include "answer/answer.h"
#include "answer/axes_solution.h"
#include "em/fields.h"
#include "em/states.h"
#include "answer/constants.h"
#include "constants/scan.h"
#include "constants/starts.h"
#include "answer/judge.h"
#include "answer/missing.h"
#include "answer/trace.h"
#include "answer/per_run.h"
#include "posterior/band.h"
#include "posterior/pde1d_solution.h"
#include "posterior/law.h"
#include "posterior/posterior.h"
#include "posterior/ode_solution.h"
#include "posterior/solution_mesh.h"
#include "forecast/validate.h"
#include "published/published.h"
#include "report/json.h"
#include "report/text.h"
#include "search/strategy.h"
#include "tasks/tasks.h"

struct kbass_discovery {
    kbass_data *data;
    kbass_settings settings;
    kb_dictionary *dictionary;
    kb_ode_problem *ode;       /* of ODE systems */
    kb_pde1d_problem *pde1d;   /* of fields over one space axis */
    kb_pde_nd_problem *pde_nd; /* of fields over more, or of second order in time */
    kb_search_result found;    /* of our method */
    kb_published *paper;       /* of the published one */
    kb_answer *answer;
    kb_constant_estimate constants[KB_MOST_CONSTANTS];
    double *constant_correlation; /* n_constants x support */
    size_t n_guarded;             /* terms with max(0,x)^n for x^n */
    const kb_trace *trace;
    double seconds_to_create;
    bool has_told_seconds; /* those of the JSON's solution are counted */
    kb_budget budget;
    kb_checkpoint *checkpoint; /* or NULL */
    kbass_reduce reduce;       /* n_ranks 0: alone */
};

const char *kbass_outcome_name(kbass_outcome outcome)
{
    static const char *const names[] = {"converged", "not converged", "time limit", "cancelled", "no model"};
    return (size_t)outcome < sizeof names / sizeof *names ? names[outcome] : "unknown";
}

const char *kbass_nearest(const char *word, size_t n, const char *const *names) { return kb_nearest(word, n, names); }

const char *kbass_verdict_name(kbass_verdict verdict)
{
    return verdict == KBASS_IN ? "in" : verdict == KBASS_OUT ? "out" : "undecided";
}

const char *kbass_law_verdict_name(kbass_law_verdict verdict)
{
    static const char *const names[] = {
        "not judged",        "law found", "law found, approximate", "law undecided", "no law in this dictionary",
        "nothing to explain"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

const char *kbass_test_name(kbass_test_kind kind)
{
    static const char *const names[] = {"whiteness", "normality", "spread"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *kbass_stage_name(int stage)
{
    static const char *const names[KBASS_STAGE_COUNT] = {"field", "search", "arbitrate", "polish"};
    return stage >= 0 && stage < KBASS_STAGE_COUNT ? names[stage] : "unknown";
}

/* Where no model is fitted through the integrated equation, some questions have no answer. */
static kbass_status check_plain(const kbass_settings *settings, kbass_error *error)
{
    const char *what = settings->method == KB_METHOD_PAPER ? "the published method"
                       : settings->method == KB_METHOD_EM
                           ? "--method em"
                           : "fields over several space axes, or of second order in time";
    if (settings->noise_model != KB_NOISE_ADDITIVE)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "noise-model: only additive noise for %s", what);
    if (settings->explain && *settings->explain && settings->method != KB_METHOD_KBASS)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "explain: terms are not explained for %s", what);
    if (settings->vary && *settings->vary)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "vary: weights do not differ between runs for %s: discover each run alone "
                       "and compare their weights",
                       what);
    return KBASS_OK;
}

static kbass_status check_published(const kbass_data *data, const kbass_settings *settings, kbass_error *error)
{
    if (settings->input && *settings->input)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "input: the published method takes no inputs");
    if (kbass_data_runs(data) > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "method: the published method takes one run, found %zu",
                       kbass_data_runs(data));
    if (data->sigma)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "sigma: error bars are not used for the published method");
    return check_plain(settings, error);
}

/* Data whose answer the kernel engine gives itself. */
static kbass_status build_patches(kbass_discovery *d, kbass_error *error)
{
    kbass_status status = check_plain(&d->settings, error);
    return status == KBASS_OK ? kb_pde_nd_problem_create(d->data, &d->settings, d->dictionary, &d->pde_nd, error)
                              : status;
}

/* Powers with unknown exponents of states that pass 0 are those of max(0,x). */
static kbass_status prepare_constants(kbass_discovery *d, kbass_error *error)
{
    const kbass_data *data = d->data;
    double values[KB_MOST_CONSTANTS];
    if (!d->dictionary->n_constants) return KBASS_OK;
    if (d->settings.method != KB_METHOD_KBASS || data->n_axes > 2 || d->dictionary->time_order > 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT,
                       "unknown: constants inside terms are for our method, states or fields over one space axis");
    bool *passes = KB_NEW(bool, data->n_states);
    if (!passes) return kb_out_of_memory(error, "the constants");
    for (size_t i = 0; i < data->n_rows * data->n_states; i++)
        passes[i % data->n_states] = passes[i % data->n_states] || data->values[i] <= 0;
    for (size_t i = data->n_states - data->n_hidden; i < data->n_states; i++) passes[i] = true;
    kbass_status status = kb_dictionary_guard_powers(d->dictionary, passes, &d->n_guarded, error);
    kb_free(passes);
    for (size_t i = 0; i < d->dictionary->n_constants; i++) values[i] = d->dictionary->constants[i].value;
    return status == KBASS_OK ? kb_dictionary_set_constants(d->dictionary, values, error) : status;
}

static kbass_status build_fields(kbass_discovery *d, kbass_error *error)
{
    kbass_status status =
        kb_dictionary_create_fields(&d->settings, d->data->n_states, (const char *const *)d->data->state_names,
                                    d->data->n_axes, (const char *const *)d->data->axis_names, &d->dictionary, error);
    if (status != KBASS_OK) return status;
    status = prepare_constants(d, error);
    if (status != KBASS_OK) return status;
    if (d->settings.method == KB_METHOD_PAPER)
        return kb_published_create(d->data, &d->settings, d->dictionary, &d->paper, error);
    if (d->data->n_axes == 2 && d->dictionary->time_order == 1 && d->settings.method != KB_METHOD_EM)
        return kb_pde1d_problem_create(d->data, &d->settings, d->dictionary, &d->pde1d, error);
    return build_patches(d, error);
}

static kbass_status build(kbass_discovery *d, const kbass_data *data, const kbass_settings *given, kbass_error *error)
{
    kbass_status status = kb_settings_copy(given, &d->settings, error);
    const kbass_settings *settings = &d->settings;
    if (status == KBASS_OK) status = kb_settings_check(settings, error);
    if (status == KBASS_OK && settings->method == KB_METHOD_PAPER) status = check_published(data, settings, error);
    if (status == KBASS_OK && settings->vary && *settings->vary && kbass_data_runs(data) < 2)
        status = kb_fail(error, KBASS_ERROR_ARGUMENT,
                         "vary: needed several runs (several files, or a column of run numbers), found one");
    if (status == KBASS_OK) status = kb_data_copy(data, &d->data, error);
    if (status == KBASS_OK) status = kb_doubts_refuse(d->data, error);
    if (status == KBASS_OK) status = kb_data_check(d->data, error);
    if (status == KBASS_OK) status = kb_validation_check(d->data, &d->settings, error);
    if (status == KBASS_OK) status = kb_data_check_scale(d->data, error);
    if (status == KBASS_OK) status = kb_column_units(d->data, &d->settings, error);
    if (status == KBASS_OK && d->data->n_axes > 1) return build_fields(d, error);
    if (status == KBASS_OK) status = kb_data_add_velocities(d->data, settings->lhs, error);
    if (status == KBASS_OK)
        status = kb_dictionary_create(&d->settings, d->data->n_states, (const char *const *)d->data->state_names,
                                      d->data->time_name, &d->dictionary, error);
    if (status == KBASS_OK && d->settings.method == KB_METHOD_EM) status = check_plain(&d->settings, error);
    if (status == KBASS_OK) status = prepare_constants(d, error);
    if (status == KBASS_OK) status = kb_ode_problem_create(d->data, &d->settings, d->dictionary, &d->ode, error);
    if (status == KBASS_OK && d->settings.method == KB_METHOD_PAPER)
        status = kb_published_create(d->data, &d->settings, d->dictionary, &d->paper, error);
    return status;
}

/* "degree=2; noise=5%": what was set, but for what an answer does not depend on. */
static char *settings_text(const kbass_settings *s)
{
    static const char *const apart[] = {"threads", "time-limit", "memory", "checkpoint", "checkpoint-every"};
    kb_buffer text = {0};
    for (size_t i = 0; i < kbass_settings_count(); i++) {
        const char *name = kbass_settings_info(i)->name;
        bool matters = kbass_settings_is_given(s, name);
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) matters = matters && strcmp(name, apart[k]) != 0;
        if (!matters) continue;
        size_t size = 1 + kbass_settings_get(s, name, NULL, 0);
        char *value = KB_NEW(char, size);
        if (value) kbass_settings_get(s, name, value, size);
        for (char *c = value; c && *c; c++) *c = *c == '\n' ? ' ' : *c;
        kb_buffer_print(&text, "%s%s=%s", text.length ? "; " : "", name, value ? value : "?");
        kb_free(value);
    }
    if (!text.length) kb_buffer_put(&text, "none");
    return kb_buffer_take(&text);
}

/* Work that an interrupted call of the same kind has done. */
static kbass_status open_checkpoint(kbass_discovery *d, kbass_error *error)
{
    const char *path = d->settings.checkpoint;
    if (!path || !*path) return KBASS_OK;
    char *settings = settings_text(&d->settings);
    const kb_checkpoint_field fields[] = {
        {"version", kbass_version()}, {"data", d->data->sha256}, {"settings", settings}};
    kbass_status status = settings
                              ? kb_checkpoint_open(path, d->settings.checkpoint_every, 3, fields, &d->checkpoint, error)
                              : kb_out_of_memory(error, "the checkpoint");
    kb_free(settings);
    return status;
}

typedef struct {
    kbass_discovery *discovery;
    const kbass_data *data;
    const kbass_settings *settings;
    kbass_status status;
    kbass_error *error;
} building;

static void build_apart(void *context)
{
    building *b = context;
    kbass_discovery *d = b->discovery;
    b->status = kb_budget_begin(&d->budget, b->settings ? b->settings->memory : NULL,
                                b->settings ? b->settings->time_limit : 0, b->error);
    kb_budget *before = kb_budget_enter(&d->budget);
    if (b->status == KBASS_OK) b->status = build(d, b->data, b->settings, b->error);
    kb_budget_enter(before);
}

kbass_status kbass_discovery_create(const kbass_data *data, const kbass_settings *settings, kbass_discovery **discovery,
                                    kbass_error *error)
{
    double start = kb_clock();
    kbass_discovery *d = KB_NEW(kbass_discovery, 1);
    if (!d) return kb_out_of_memory(error, "the discovery");
    building b = {d, data, settings, KBASS_OK, error};
    kb_apart(build_apart, &b);
    if (b.status == KBASS_OK) b.status = open_checkpoint(d, error);
    d->seconds_to_create = kb_clock() - start;
    if (b.status == KBASS_OK) *discovery = d;
    else kbass_discovery_destroy(d);
    return b.status;
}

size_t kbass_discovery_candidates(const kbass_discovery *d) { return d->dictionary->n_terms; }

const char *kbass_discovery_candidate(const kbass_discovery *d, size_t index)
{
    return index < d->dictionary->n_terms ? kb_dictionary_name(d->dictionary, index) : NULL;
}

static kbass_outcome outcome_of(kb_run *run, const kb_search_result *found)
{
    int reason = atomic_load(&run->reason);
    if (reason) return (kbass_outcome)(reason - 1);
    return found->settled && found->pool.n && found->pool.fits[0]->converged ? KBASS_CONVERGED : KBASS_NOT_CONVERGED;
}

static void forget(kbass_discovery *d)
{
    d->has_told_seconds = false;
    kb_search_result_clear(&d->found);
    kb_answer_destroy(d->answer);
    d->answer = NULL;
    kb_free(d->constant_correlation);
    d->constant_correlation = NULL;
}

static kb_frame frame_of(const kbass_discovery *d)
{
    if (d->pde1d) return kb_pde1d_problem_frame(d->pde1d);
    return d->pde_nd ? kb_pde_nd_problem_frame(d->pde_nd) : kb_ode_problem_frame(d->ode);
}

static kbass_status search(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    bool is_em = d->settings.method == KB_METHOD_EM;
    size_t runs = kbass_data_runs(d->data);
    if (d->ode && is_em) return kb_em_states_search(d->ode, run, &d->found, error);
    if (is_em) return kb_em_search(d->pde_nd, run, &d->found, error);
    if (d->ode) return kb_search_discover(kb_task_of_ode(d->ode), d->ode, runs, run, &d->found, error);
    if (d->pde_nd) return kb_search_discover(&kb_task_of_axes, d->pde_nd, runs, run, &d->found, error);
    bool is_found = false;
    kbass_status status = kb_dense_search(d->pde1d, run, &d->found, &is_found, error);
    if (status != KBASS_OK || is_found) return status;
    return kb_search_discover(kb_task_of_pde1d(d->pde1d), d->pde1d, runs, run, &d->found, error);
}

/* ---------------------------------------------------------------- unknown constants */

typedef struct {
    kbass_discovery *discovery;
    kb_run *run;
} constants_search;

static const kb_columns *columns_of(const void *context)
{
    const kbass_discovery *d = ((const constants_search *)context)->discovery;
    return d->ode ? d->ode->columns : d->pde1d->columns;
}

/* Of fields, where no regression is at hand: the middle, and both sides of it. */
static kbass_status scan_constants(void *context, size_t n_wanted, double *values, double *steps, size_t *n,
                                   kbass_error *error)
{
    static const double shares[] = {0.5, 0.2, 0.8};
    kbass_discovery *d = ((constants_search *)context)->discovery;
    size_t constants = d->dictionary->n_constants;
    if (d->ode) return kb_constants_scan(d->ode, d->dictionary, n_wanted, values, steps, n, error);
    *n = n_wanted < 3 ? n_wanted : 3;
    for (size_t i = 0; i < *n * constants; i++) {
        double share = shares[i / constants] + 0.01 * (double)(i % constants);
        values[i] = kb_constant_at(&d->dictionary->constants[i % constants], share);
        steps[i] = 0.15;
    }
    return KBASS_OK;
}

static kbass_status search_at(void *context, double shift, kbass_error *error)
{
    constants_search *c = context;
    kbass_discovery *d = c->discovery;
    kbass_status status = KBASS_OK;
    kb_search_result_clear(&d->found);
    if (d->ode) {
        kb_ode_problem_destroy(d->ode);
        d->ode = NULL;
        status = kb_ode_problem_create(d->data, &d->settings, d->dictionary, &d->ode, error);
    } else {
        kb_pde1d_problem_destroy(d->pde1d);
        d->pde1d = NULL;
        status = kb_pde1d_problem_create(d->data, &d->settings, d->dictionary, &d->pde1d, error);
    }
    if (status != KBASS_OK) return status;
    kb_columns *columns = d->ode ? d->ode->columns : d->pde1d->columns;
    for (size_t i = 0; i < columns->n; i++)
        if (!columns->required[i] && kb_dictionary_form(d->dictionary, columns->term[i])) columns->log_odds[i] += shift;
    return search(d, c->run, error);
}

/* On the windows and grids of the final fits, under the floor that the noise had there. */
static kbass_status make_shooter(const void *context, size_t n, kb_shooter **out, kbass_error *error)
{
    const kbass_discovery *d = ((const constants_search *)context)->discovery;
    const kb_search_result *found = &d->found;
    kb_pde1d_runs *all_runs = NULL;
    kbass_status status = KBASS_OK;
    if (d->ode) {
        status = kb_shooter_create(d->ode->record, d->dictionary, d->ode->columns, found->windows->n, n, out, error);
    } else {
        const kb_columns *columns = d->pde1d->columns;
        status = kb_pde1d_runs_create(d->pde1d->n_runs, found->setups, d->dictionary, columns, n, &all_runs, error);
        if (status == KBASS_OK)
            status = kb_shooter_create_on(&all_runs->dynamics, columns, found->windows->n, n, out, error);
    }
    if (status != KBASS_OK) return status;
    if (d->ode) (*out)->flow->follow = kb_ode_problem_follow(d->ode);
    (*out)->dynamics->noise_floor = found->noise_floor;
    (*out)->windows = found->windows;
    return KBASS_OK;
}

static kbass_status search_constants(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    constants_search context = {d, run};
    kb_constants_task task = {.context = &context,
                              .dictionary = d->dictionary,
                              .found = &d->found,
                              .run = run,
                              .scan = scan_constants,
                              .search = search_at,
                              .make = make_shooter,
                              .columns = columns_of};
    if (!d->dictionary->n_constants) return search(d, run, error);
    return kb_constants_search(&task, d->constants, &d->constant_correlation, error);
}

/* Of a run; that of the one after the last is the number of windows. */
static size_t first_window(const kbass_discovery *d, size_t run)
{
    const kb_search_result *found = &d->found;
    size_t first = 0;
    if (!found->windows) return 0;
    if (!found->run_windows) return run * found->windows->n / kbass_data_runs(d->data);
    for (size_t i = 0; i < run; i++) first += found->run_windows[i];
    return first;
}

/* Where fields along a periodic axis begin, in each run. */
static kbass_status add_profiles(kbass_discovery *d, kbass_error *error)
{
    const kb_search_result *found = &d->found;
    size_t runs = d->pde1d->n_runs, fields = d->data->n_states;
    if (!kb_has_model(found)) return KBASS_OK;
    for (size_t run = 0; run < runs; run++)
        if (!found->setups[run].line.periodic) return KBASS_OK;
    const char **texts = kb_answer_own(d->answer, runs * fields, sizeof *texts);
    for (size_t i = 0; texts && i < runs * fields; i++) {
        const char *axis = d->data->axis_names[1];
        const kb_pde1d_setup *setup = &found->setups[i / fields];
        const double *start = found->pool.fits[0]->start + first_window(d, i / fields) * found->pool.n_start;
        size_t size = 1 + kb_pde1d_profile_text(setup, start, i % fields, axis, NULL, 0);
        char *text = kb_answer_own(d->answer, size, 1);
        if (!text) return kb_out_of_memory(error, "the profiles");
        kb_pde1d_profile_text(setup, start, i % fields, axis, text, size);
        texts[i] = text;
    }
    d->answer->result.profiles = texts;
    d->answer->result.period = found->setups[0].line.period * d->pde1d->run_samples[0]->span[1];
    return texts ? KBASS_OK : kb_out_of_memory(error, "the profiles");
}

static kbass_status judge(kbass_discovery *d, kbass_error *error)
{
    if (d->ode) return kb_judge_states(d->ode, &d->found, d->answer, error);
    if (d->pde1d) return kb_judge_fields(d->pde1d, &d->found, d->answer, error);
    if (!d->found.fourier)
        return KBASS_OK; /* the kernel engine's evidence has the equation in its prior: other units */
    return kb_judge_axes(d->pde_nd, (kb_kernel_kind)d->settings.kernel, &d->found, d->answer, error);
}

static kbass_status run_method(kbass_discovery *d, kb_run *run, kbass_error *error)
{
    if (d->paper) return kb_published_run(d->paper, run, &d->answer, error);
    kbass_status status = search_constants(d, run, error);
    kb_frame frame = frame_of(d);
    if (status == KBASS_OK) status = kb_answer_create(&frame, &d->found, outcome_of(run, &d->found), &d->answer, error);
    if (status == KBASS_OK)
        status = kb_answer_constants(d->answer, &frame, &d->found, d->constants, d->constant_correlation, d->n_guarded,
                                     error);
    if (status == KBASS_OK && d->pde1d) status = add_profiles(d, error);
    if (status == KBASS_OK && d->settings.method != KB_METHOD_EM) status = judge(d, error);
    if (status == KBASS_OK && d->pde_nd) status = kb_axes_covariances(d->pde_nd, &d->found, kb_run_stopped(run), error);
    if (status != KBASS_OK || kb_run_stopped(run) || d->settings.method == KB_METHOD_EM) return status;
    if (d->ode) status = kb_vary_states(d->ode, &d->found, run, d->answer, error);
    if (d->pde1d) status = kb_vary_fields(d->pde1d, &d->found, run, d->answer, error);
    if (status != KBASS_OK || kb_run_stopped(run)) return status;
    if (d->ode) status = kb_missing_of_states(d->ode, &d->found, d->answer, error);
    if (d->pde1d) status = kb_missing_of_fields(d->pde1d, &d->found, d->answer, error);
    return status;
}

typedef struct {
    kbass_discovery *discovery;
    kb_run *run;
    kbass_status status;
    kbass_error *error;
} running;

static void run_apart(void *context)
{
    running *r = context;
    kb_budget *before = kb_budget_enter(&r->discovery->budget);
    r->status = run_method(r->discovery, r->run, r->error);
    kb_budget_enter(before);
}

kbass_status kbass_discovery_run(kbass_discovery *d, kbass_progress_callback progress, void *user, kbass_error *error)
{
    kb_run run;
    forget(d);
    kb_run_begin(&run, progress, user, d->settings.time_limit);
    run.trace = d->trace;
    run.checkpoint = d->checkpoint;
    if (d->reduce.n_ranks > 1) run.reduce = &d->reduce;
    run.start -= d->seconds_to_create; /* the limit is for both */
    running r = {d, &run, KBASS_OK, error};
    kb_apart(run_apart, &r);
    kbass_status kept =
        d->reduce.rank ? KBASS_OK : kb_checkpoint_write(d->checkpoint, r.status == KBASS_OK ? error : NULL);
    if (r.status == KBASS_OK) r.status = kept;
    if (r.status == KBASS_OK && kb_validation_is_asked(&d->settings) && !kb_run_stopped(&run))
        r.status = kb_validate(d->data, &d->settings, &run, d->answer, error);
    if (r.status == KBASS_OK) {
        d->answer->result.seconds[KBASS_STAGE_FIELD] = d->seconds_to_create;
        d->answer->result.seconds_total = kb_clock() - run.start;
        kb_trace_answer(d->trace, &d->answer->result);
    }
    return r.status;
}

void kbass_discovery_share(kbass_discovery *d, const kbass_reduce *reduce)
{
    static const size_t size_0_2 = offsetof(kbass_reduce, agree) + sizeof reduce->agree;
    d->reduce = (kbass_reduce){0};
    if (reduce) kb_options_take(reduce, reduce->size, size_0_2, &d->reduce, sizeof d->reduce);
    if (d->reduce.rank) kb_checkpoint_read_only(d->checkpoint);
}

void kb_discovery_trace(kbass_discovery *d, const kb_trace *trace) { d->trace = trace; }

const kbass_result *kbass_discovery_result(const kbass_discovery *d) { return d->answer ? &d->answer->result : NULL; }

static kbass_status check_times(double first, double span, size_t n, const double *times, kbass_error *error)
{
    double last = first, slack = 1e-9 * span;
    for (size_t i = 0; i < n; i++) {
        if (!(times[i] >= last - slack) || !(times[i] <= first + span + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "time %g is not ascending within the record, %g to %g",
                           times[i], first, first + span);
        last = times[i];
    }
    return KBASS_OK;
}

static const kb_field_samples *samples_of(const kbass_discovery *d, size_t run)
{
    if (d->pde1d) return d->pde1d->run_samples[run];
    if (d->pde_nd) return d->pde_nd->run_samples[run];
    return d->data->n_axes > 1 ? kb_published_samples(d->paper) : NULL;
}

/* The axis as a share of what was measured: a period may reach farther. */
static double reach(const kbass_discovery *d, size_t run, size_t axis)
{
    double period = samples_of(d, run)->period[axis];
    if (d->pde1d && axis == 1 && d->pde1d->setups[run].line.periodic) period = d->pde1d->setups[run].line.period;
    return period > 0 ? period : 1;
}

static kbass_status check_positions(const kbass_discovery *d, size_t run, size_t n, const double *positions,
                                    kbass_error *error)
{
    const kb_field_samples *samples = samples_of(d, run);
    size_t space = d->data->n_axes - 1;
    for (size_t i = 0; i < n * space; i++) {
        size_t axis = i % space + 1;
        double first = samples->first[axis], span = samples->span[axis] * reach(d, run, axis), slack = 1e-9 * span;
        if (!(positions[i] >= first - slack) || !(positions[i] <= first + span + slack))
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "position %g is not within the record, %g to %g", positions[i],
                           first, first + span);
    }
    return KBASS_OK;
}

static kbass_status check_run(const kbass_discovery *d, size_t run, kbass_error *error)
{
    size_t n = kbass_data_runs(d->data);
    return run < n ? KBASS_OK : kb_fail(error, KBASS_ERROR_ARGUMENT, "run %zu: there are %zu, counted from 0", run, n);
}

/* Where the solution is asked for. */
typedef struct {
    const kbass_discovery *discovery;
    size_t run, n;
    const double *times, *positions;
} whereabouts;

typedef struct {
    const whereabouts *at;
    double *mean, *sd;
    kbass_status status;
    kbass_error *error;
} evaluation;

static void patches_apart(void *context)
{
    evaluation *e = context;
    const whereabouts *at = e->at;
    const kbass_discovery *d = at->discovery;
    e->status =
        kb_axes_solution(d->pde_nd, &d->found, at->run, at->n, at->times, at->positions, e->mean, e->sd, e->error);
}

static kbass_status patches_of(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    evaluation e = {at, mean, sd, KBASS_OK, error};
    kb_apart(patches_apart, &e);
    return e.status;
}

static kbass_status states_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kbass_discovery *d = at->discovery;
    const kb_ode_problem *p = d->ode;
    kb_follow follow = kb_ode_problem_follow(p);
    return kb_ode_solution(p->record, p->dictionary, p->columns, d->found.windows, fit, &follow, at->run, at->n,
                           at->times, mean, sd, error);
}

static kbass_status fields_of(const void *context, const kb_fit *fit, double *mean, double *sd, kbass_error *error)
{
    const whereabouts *at = context;
    const kbass_discovery *d = at->discovery;
    const kb_pde1d_problem *l = d->pde1d;
    return kb_pde1d_solution(l->n_runs, d->found.setups, at->run, l->dictionary, l->columns, d->found.windows, fit,
                             at->n, at->times, at->positions, mean, sd, error);
}

static kbass_status em_states_of(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    return kb_em_states_solution(d->ode, d->found.state, at->run, at->n, at->times, mean, sd, error);
}

static kbass_status solve_states(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    const kb_record *record = d->ode->record;
    kbass_status status =
        check_times(record->origin[at->run], record->span * record->duration[at->run], at->n, at->times, error);
    if (status != KBASS_OK) return status;
    if (d->paper) return kb_published_solution(d->paper, at->n, at->times, NULL, mean, sd, error);
    if (d->found.state) return em_states_of(at, mean, sd, error);
    return kb_band(d->found.pool.n, d->found.pool.fits, KB_RIVALS_OF_STATES, at->n * record->n_states, states_of, at,
                   mean, sd, error);
}

static kbass_status solve_fields(const whereabouts *at, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = at->discovery;
    const kb_field_samples *samples = samples_of(d, at->run);
    kbass_status status =
        check_times(samples->first[0], samples->span[0] * samples->extent[0], at->n, at->times, error);
    if (status == KBASS_OK) status = check_positions(d, at->run, at->n, at->positions, error);
    if (status != KBASS_OK) return status;
    if (d->paper) return kb_published_solution(d->paper, at->n, at->times, at->positions, mean, sd, error);
    if (d->pde_nd) return patches_of(at, mean, sd, error);
    if (!sd) return fields_of(at, d->found.pool.fits[0], mean, NULL, error);
    return kb_band(d->found.pool.n, d->found.pool.fits, KB_RIVALS_OF_FIELDS, at->n * samples->n_fields, fields_of, at,
                   mean, sd, error);
}

static kbass_status check_place(const kbass_discovery *d, size_t run, const double *positions, kbass_error *error)
{
    if (!d->answer || !d->answer->result.n_equations)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no solution yet: no run has found a model");
    if (!positions != (d->data->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    return check_run(d, run, error);
}

kbass_status kbass_discovery_solution(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                      const double *positions, double *mean, double *sd, kbass_error *error)
{
    const whereabouts at = {d, run, n, times, positions};
    kbass_status status = check_place(d, run, positions, error);
    if (status != KBASS_OK) return status;
    return d->ode ? solve_states(&at, mean, sd, error) : solve_fields(&at, mean, sd, error);
}

/* ---------------------------------------------------------------- the law along the solution */

typedef struct {
    const kbass_discovery *discovery;
    size_t run;
} run_of;

/* Of the chosen model, without the band that its rivals would be asked for. */
static kbass_status solution_at(const void *context, size_t n, const double *times, const double *positions,
                                double *values, kbass_error *error)
{
    const run_of *of = context;
    const kbass_discovery *d = of->discovery;
    double *sd = KB_NEW(double, n * d->data->n_states);
    if (!sd) return kb_out_of_memory(error, "the solution");
    kbass_status status = KBASS_OK;
    whereabouts at = {d, of->run, n, times, NULL};
    if (!d->ode)
        status = kbass_discovery_solution(d, of->run, n, times, positions, values, d->paper ? sd : NULL, error);
    else if (d->paper || d->found.state)
        status = kbass_discovery_solution(d, of->run, n, times, NULL, values, sd, error);
    else status = states_of(&at, d->found.pool.fits[0], values, sd, error);
    kb_free(sd);
    return status;
}

/* The selected terms' weights: n_terms x n_states. */
static void gather_weights(const kbass_discovery *d, double *weights)
{
    const kb_dictionary *dictionary = d->dictionary;
    for (size_t i = 0, e = 0; i < dictionary->n_states; i++) {
        const kbass_equation *equation = &d->answer->result.equations[e];
        if (!dictionary->has_equation[i]) continue;
        for (size_t q = 0; q < equation->n_terms; q++)
            if (equation->terms[q].selected)
                weights[kb_dictionary_find(dictionary, equation->terms[q].term) + i * dictionary->n_terms] =
                    equation->terms[q].weight;
        e++;
    }
}

/* Differences at a sixteenth of the samples' distance in time, at two of the integrator's nodes in space. */
static void set_box(const kbass_discovery *d, size_t run, kb_law *law)
{
    const kb_field_samples *samples = d->ode ? NULL : samples_of(d, run);
    const kb_record *record = samples ? NULL : d->ode->record;
    double span = samples ? samples->span[0] : record->span,
           duration = samples ? samples->extent[0] : record->duration[run];
    law->low[0] = samples ? samples->first[0] : record->origin[run];
    law->high[0] = law->low[0] + span * duration;
    law->step[0] = span * fmin(samples ? samples->spacing[0] : record->spacing, 0.1 * duration) / 16;
    for (size_t a = 1; samples && a < samples->n_axes; a++) {
        double nodes = d->found.setups ? (double)d->found.setups[run].line.n_nodes / 2 : 8 / samples->spacing[a];
        law->low[a] = samples->first[a];
        law->high[a] = samples->first[a] + samples->span[a] * reach(d, run, a);
        law->step[a] = samples->span[a] / nodes;
    }
}

static void set_borders(const kbass_discovery *d, size_t run, double *borders, kb_law *law)
{
    const kb_windows *windows = d->found.windows;
    const kb_record *record = d->pde1d ? NULL : d->ode ? d->ode->record : NULL;
    const kb_field_samples *samples = d->pde1d ? d->pde1d->run_samples[run] : NULL;
    const double *rows = samples ? samples->grid[0] : record ? record->time : NULL;
    double span = samples ? samples->span[0] : record ? record->span : 0;
    size_t begin = first_window(d, run), end = first_window(d, run + 1),
           first = samples && windows ? windows->first[begin] : 0;
    for (size_t i = begin; i + 1 < end; i++)
        borders[law->n_borders++] = law->low[0] + span * rows[windows->last[i] - first];
    law->borders = borders;
}

kbass_status kbass_discovery_law(const kbass_discovery *d, size_t run, size_t n, const double *times,
                                 const double *positions, double *lhs, double *rhs, kbass_error *error)
{
    if (!d->answer || !d->answer->result.n_equations)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no law yet: no run has found a model");
    if (!positions != (d->data->n_axes == 1))
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "positions are needed for fields over space, and only for them");
    kbass_status status = check_run(d, run, error);
    if (status != KBASS_OK) return status;
    const kb_dictionary *dictionary = d->dictionary;
    const run_of context = {d, run};
    double *weights = KB_NEW(double, dictionary->n_terms * dictionary->n_states);
    double *borders = KB_NEW(double, d->found.windows ? d->found.windows->n : 1);
    kb_law law = {.dictionary = dictionary, .weights = weights, .solution = solution_at, .context = &context};
    status = weights && borders ? KBASS_OK : kb_out_of_memory(error, "the law");
    if (status == KBASS_OK) {
        gather_weights(d, weights);
        set_box(d, run, &law);
        set_borders(d, run, borders, &law);
        status = kb_law_sides(&law, n, times, positions, lhs, rhs, error);
    }
    kb_free(weights);
    kb_free(borders);
    return status;
}

size_t kbass_discovery_mesh(const kbass_discovery *d, size_t axis, double *coordinates)
{
    const kb_field_samples *samples = kbass_data_runs(d->data) == 1 ? samples_of(d, 0) : NULL;
    bool is_given = (d->settings.mesh && *d->settings.mesh) || (d->settings.mesh_file && *d->settings.mesh_file);
    if (!samples || !is_given || axis >= samples->n_axes || !samples->mesh[axis]) return 0;
    for (size_t i = 0; coordinates && i < samples->n_mesh[axis]; i++)
        coordinates[i] = samples->first[axis] + samples->span[axis] * samples->mesh[axis][i];
    return samples->n_mesh[axis];
}

kbass_status kbass_discovery_refine(const kbass_discovery *d, size_t run, const size_t *counts,
                                    double *const *coordinates, kbass_error *error)
{
    const run_of its = {d, run};
    static const size_t fewest = 3;
    if (d->data->n_axes == 1)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "these data have no space axis: there is no mesh to refine");
    for (size_t a = 0; a < d->data->n_axes; a++)
        if (counts[a] < fewest)
            return kb_fail(error, KBASS_ERROR_ARGUMENT, "found %zu points along axis \"%s\", needed %zu or more",
                           counts[a], d->data->axis_names[a], fewest);
    kbass_status status = check_run(d, run, error);
    return status == KBASS_OK ? kb_solution_mesh(samples_of(d, run), solution_at, &its, counts, coordinates, error)
                              : status;
}

typedef struct {
    const kbass_discovery *discovery;
    kbass_posterior **out;
    kbass_status status;
    kbass_error *error;
} gathering;

static void axes_posteriors_apart(void *context)
{
    gathering *g = context;
    const kbass_discovery *d = g->discovery;
    for (size_t run = 0; g->status == KBASS_OK && run < kbass_data_runs(d->data); run++)
        g->status = kb_axes_posterior(d->pde_nd, &d->found, d->data, run, &g->out[run], g->error);
}

static kbass_status gather_axes_posteriors(const kbass_discovery *d, kbass_posterior **out, kbass_error *error)
{
    gathering g = {d, out, KBASS_OK, error};
    kb_apart(axes_posteriors_apart, &g);
    return g.status;
}

/* One for each run; they stay NULL where there is none. */
static kbass_status gather_posteriors(const kbass_discovery *d, kbass_posterior **out, kbass_error *error)
{
    const kb_search_result *f = &d->found;
    const kb_pde1d_problem *l = d->pde1d;
    size_t runs = kbass_data_runs(d->data);
    if (d->paper || f->state || !kb_has_model(f)) return KBASS_OK;
    if (d->pde_nd) return gather_axes_posteriors(d, out, error);
    size_t *starts = KB_NEW(size_t, runs + 1);
    if (!starts) return kb_out_of_memory(error, "the posterior");
    for (size_t run = 0; run <= runs; run++) starts[run] = first_window(d, run);
    kbass_status status = l ? kb_posterior_of_fields(d->data, f->setups, l->dictionary, l->columns, f->windows, starts,
                                                     f->pool.n, f->pool.fits, out, error)
                            : kb_posterior_of_states(d->data, d->ode->record, d->dictionary, d->ode->columns,
                                                     f->windows, starts, f->pool.n, f->pool.fits, out, error);
    kb_free(starts);
    return status;
}

static void forget_posteriors(const kbass_discovery *d, kbass_posterior **posteriors)
{
    for (size_t run = 0; posteriors && run < kbass_data_runs(d->data); run++) kbass_posterior_destroy(posteriors[run]);
    kb_free(posteriors);
}

kbass_status kbass_discovery_posterior(const kbass_discovery *d, size_t run, kbass_posterior **posterior,
                                       kbass_error *error)
{
    *posterior = NULL;
    if (!d->answer) return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    kbass_posterior **all = KB_NEW(kbass_posterior *, kbass_data_runs(d->data));
    kbass_status status = all ? check_run(d, run, error) : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) status = gather_posteriors(d, all, error);
    if (status == KBASS_OK && !all[run])
        status = kb_fail(error, KBASS_ERROR_DATA,
                         "this run leaves no joint posterior of weights and state: it needs our "
                         "method, a model, and an equation for every state");
    if (status == KBASS_OK) {
        *posterior = all[run];
        all[run] = NULL;
    }
    forget_posteriors(d, all);
    return status;
}

static kbass_status solution_with_sd(const void *context, size_t run, size_t n, const double *times,
                                     const double *positions, double *mean, double *sd, kbass_error *error)
{
    const kbass_discovery *d = context;
    const run_of its = {d, run};
    if (!sd) return solution_at(&its, n, times, positions, mean, error);
    return positions ? kbass_discovery_solution(d, run, n, times, positions, mean, sd, error)
                     : kbass_discovery_solution(d, run, n, times, NULL, mean, sd, error);
}

/* *out stays NULL where there is no solution. */
static kbass_status gather_sketch(const kbass_discovery *d, kb_sketch **out, kbass_error *error)
{
    if (!d->answer->result.n_equations) return KBASS_OK;
    kbass_status status = kb_sketch_create(d->data, solution_with_sd, d, out, error);
    return status == KBASS_ERROR_MEMORY ? status : KBASS_OK;
}

kbass_status kbass_discovery_json(const kbass_discovery *d, char **json, kbass_error *error)
{
    kb_sketch *sketch = NULL;
    double start = kb_clock();
    if (!d->answer) return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    kbass_posterior **posteriors = KB_NEW(kbass_posterior *, kbass_data_runs(d->data));
    kbass_status status =
        posteriors ? gather_posteriors(d, posteriors, error) : kb_out_of_memory(error, "the posterior");
    if (status == KBASS_OK) status = gather_sketch(d, &sketch, error);
    if (status == KBASS_OK && !d->has_told_seconds) { /* solution and posterior are the run's work, once */
        kbass_discovery *own = (kbass_discovery *)d;
        own->has_told_seconds = true;
        own->answer->result.seconds[KBASS_STAGE_POLISH] += kb_clock() - start;
        own->answer->result.seconds_total += kb_clock() - start;
    }
    if (status == KBASS_OK)
        status = kb_report_json(d->data, &d->settings, &d->answer->result, posteriors, sketch, json, error);
    forget_posteriors(d, posteriors);
    kb_sketch_destroy(sketch);
    return status;
}

kbass_status kbass_discovery_text(const kbass_discovery *d, int parts, char **text, kbass_error *error)
{
    if ((parts & KBASS_TEXT_RESULT) && !d->answer)
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "there is no result yet: run the discovery first");
    return kb_report_text(d->data, d, parts, text, error);
}

void kbass_discovery_destroy(kbass_discovery *d)
{
    if (!d) return;
    forget(d);
    kb_published_destroy(d->paper);
    kb_ode_problem_destroy(d->ode);
    kb_pde1d_problem_destroy(d->pde1d);
    kb_pde_nd_problem_destroy(d->pde_nd);
    kb_dictionary_destroy(d->dictionary);
    kb_settings_clear(&d->settings);
    kb_checkpoint_close(d->checkpoint);
    kbass_data_destroy(d->data);
    kb_free(d);
}
