#include "problem/ode.h"

#include <math.h>

#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "gp/condense.h"
#include "problem/ode_parts.h"
#include "problem/velocities.h"
#include "problem/wide.h"
#include "weights/columns_screen.h"

/* Six with 50 samples are found so in 1 s instead of 24; with 12 samples they are not, which the misfit tells. */
enum { MIDDLE_STATES = 6 };   /* states: from here that is tried first */
enum { MOST_COLUMNS = 1200 }; /* columns: of all equations; a thread holds some 10 matrices of their square, 115 MB */

/* Velocities that were not measured: for proposals they are taken from the slopes of the positions' bare field, with
   its variance; the forward fits know positions only (docs/math.md, section 25). */
static kbass_status take_velocities(kb_ode_problem *p, size_t n_hidden, kbass_error *error)
{
    if (!n_hidden) return KBASS_OK;
    kbass_status status = kb_velocities_assume(p, error);
    kb_ode_reference_destroy(p);
    kb_ode_patches_destroy(p);
    if (status == KBASS_OK) status = kb_ode_patches_choose(p, error);
    if (status == KBASS_OK) status = kb_ode_reference_make(p, error);
    for (size_t i = p->record->n_states - n_hidden; i < p->record->n_states; i++) kb_record_forget(p->record, i);
    return status;
}

kb_follow kb_ode_problem_follow(const kb_ode_problem *p)
{
    return (kb_follow){p->n_reference, p->reference_start, p->follow, p->reference_slope};
}

static kbass_status list_all(kb_ode_problem *p, kbass_error *error)
{
    kbass_status status = kb_support_create(p->columns->n, &p->all, error);
    for (size_t i = 0; status == KBASS_OK && i < p->columns->n; i++) p->all.column[p->all.n++] = i;
    return status;
}

/* Many samples in few, where that loses nothing. */
static kbass_status condense(kb_ode_problem *p, kbass_error *error)
{
    kb_record *fewer = NULL;
    if (p->settings->method != KB_METHOD_KBASS || p->record->inputs) return KBASS_OK;
    kbass_status status = kb_record_condense(p->record, &fewer, error);
    if (status != KBASS_OK || !fewer) return status;
    p->n_rows_before = p->record->n_rows;
    kb_record_destroy(p->record);
    p->record = fewer;
    return KBASS_OK;
}

/* Every state was measured, or is known: equations can be summed up along the bare field. */
static bool has_all_states(const kb_ode_problem *p)
{
    for (size_t i = 0; i < p->record->n_states; i++)
        if (!p->record->count[i] && !p->dictionary->is_input[i]) return false;
    return true;
}

/* Of the columns as they are now. */
static kbass_status find_analogies(kb_ode_problem *p, kbass_error *error)
{
    kbass_status status = KBASS_OK;
    if (!(p->is_wide || p->is_middle) || p->columns->constraints || p->columns->run) return KBASS_OK;
    for (int is_ring = 0; status == KBASS_OK && is_ring < KB_ANALOGIES; is_ring++)
        status = kb_analogy_create(p->columns, p->dictionary, is_ring, &p->analogies[is_ring], error);
    return status;
}

/* Few enough states for the kernel's way, many enough for equation by equation? */
static bool is_middle(const kb_ode_problem *p)
{
    size_t n = p->record->n_states;
    bool is_scant = p->record->n_values < p->columns->n;
    if (p->is_wide || p->is_long || n < KB_FEWEST_MIDDLE || (n < MIDDLE_STATES && is_scant)) return false;
    return p->settings->method == KB_METHOD_KBASS && has_all_states(p) && !p->columns->constraints;
}

/* As many columns as matrices of columns x columns allow. */
static kbass_status screen(kb_ode_problem *p, kbass_error *error)
{
    p->is_wide = p->record->n_states > KB_WIDE_STATES && p->settings->method == KB_METHOD_KBASS && has_all_states(p);
    p->is_middle = is_middle(p);
    if (p->is_wide || p->is_middle) return kb_wide_search(p, MOST_COLUMNS, error);
    return kb_columns_screen(p->columns, p->dictionary, p->n_reference, p->reference, p->reference_slope, MOST_COLUMNS,
                             error);
}

/* What acts later than the record lasts is not seen in it. */
static kbass_status set_delays(kb_ode_problem *p, kbass_error *error)
{
    const kb_dictionary *d = p->dictionary;
    for (size_t i = 0; p->record->inputs && i < d->n_states; i++) {
        bool is_known = d->delay_constant[i] == KB_NO_CONSTANT;
        double latest = is_known ? d->input_delay[i] : d->constants[d->delay_constant[i]].high;
        if (latest < p->record->span) continue;
        return kb_fail(error, KBASS_ERROR_ARGUMENT, "--input-delay: %.60s %s %g late, and the record lasts only %g",
                       d->state_names[i], is_known ? "acts" : "may act", latest, p->record->span);
    }
    if (p->record->inputs) kb_inputs_set_delays(p->record->inputs, d->input_delay);
    return KBASS_OK;
}

kbass_status kb_ode_problem_create(const kbass_data *data, const kbass_settings *settings,
                                   const kb_dictionary *dictionary, kb_ode_problem **out, kbass_error *error)
{
    kb_ode_problem *p = KB_NEW(kb_ode_problem, 1);
    if (!p) return kb_out_of_memory(error, "the problem");
    p->settings = settings;
    p->dictionary = dictionary;
    p->threads = kb_threads(settings->threads);
    kbass_status status = kb_record_create(data, settings->noise, &p->record, error);
    if (status == KBASS_OK)
        status = kb_noise_read_model(data, settings, dictionary->has_equation, p->record->mean, p->record->sd,
                                     &p->record->noise_model, p->record->known_variance, error);
    if (status == KBASS_OK) status = kb_columns_check_data(dictionary, data, error);
    if (status == KBASS_OK)
        status = kb_record_take_inputs(p->record, data, dictionary->is_input, settings->input_hold, error);
    if (status == KBASS_OK) status = set_delays(p, error);
    if (status == KBASS_OK) status = condense(p, error);
    if (status == KBASS_OK) status = kb_ode_patches_choose(p, error);
    if (status == KBASS_OK) status = kb_ode_reference_make(p, error);
    if (status == KBASS_OK) status = take_velocities(p, data->n_hidden, error);
    if (status == KBASS_OK)
        status = kb_columns_create(dictionary, p->record->sd, p->record->span, p->n_reference, p->reference,
                                   p->slope_squares, &p->columns, error);
    if (status == KBASS_OK) status = screen(p, error);
    if (status == KBASS_OK) status = find_analogies(p, error);
    if (status == KBASS_OK) status = list_all(p, error);
    if (status == KBASS_OK) *out = p;
    else kb_ode_problem_destroy(p);
    return status;
}

void kb_ode_problem_destroy(kb_ode_problem *p)
{
    if (!p) return;
    kb_ode_patches_destroy(p);
    kb_record_destroy(p->record);
    kb_columns_destroy(p->columns);
    kb_support_clear(&p->all);
    kb_ode_reference_destroy(p);
    kb_structures_destroy(p->structures);
    for (int is_ring = 0; is_ring < KB_ANALOGIES; is_ring++) kb_analogy_destroy(p->analogies[is_ring]);
    kb_free(p);
}

bool kb_ode_problem_is_large(const kb_ode_problem *p)
{
    return p->is_wide || (p->is_long && has_all_states(p)); /* the weak form needs values of a velocity */
}

size_t kb_ode_problem_level(const kb_ode_problem *p, double length)
{
    size_t best = 0;
    for (size_t i = 1; i < p->n_levels; i++)
        if (fabs(log(kb_ode_problem_length(p, i) / length)) < fabs(log(kb_ode_problem_length(p, best) / length)))
            best = i;
    return best;
}

kb_frame kb_ode_problem_frame(const kb_ode_problem *p)
{
    return (kb_frame){p->dictionary,     p->columns, p->record->mean,   p->record->sd,   p->record->span,
                      p->record->n_runs, true,       p->record->n_rows, p->n_rows_before};
}
