#include "forward/pde1d/runs.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

/* The line of a row; *row becomes that line's. */
static kb_pde1d *find_line(const kb_pde1d_runs *c, size_t *row)
{
    size_t run = 0;
    while (*row >= c->run_start[run + 1]) run++;
    *row -= c->run_start[run];
    return c->lines[run];
}

static void set_model(kb_dynamics *self, const kb_support *support, const double *w, const kb_support *tangents)
{
    kb_pde1d_runs *c = (kb_pde1d_runs *)self;
    for (size_t i = 0; i < c->n; i++) c->lines[i]->dynamics.set_model(&c->lines[i]->dynamics, support, w, tangents);
}

/* Rows of `from` numbers become rows of `to`, the rest 0; in place, from the last on. */
static void widen(size_t n, size_t from, size_t to, double *rows)
{
    for (size_t i = n; from < to && i-- > 0;) {
        memmove(rows + i * to, rows + i * from, from * sizeof *rows);
        memset(rows + i * to + from, 0, (to - from) * sizeof *rows);
    }
}

static bool predict(kb_dynamics *self, size_t first, size_t last, const double *start, double *predicted,
                    double *tangents)
{
    size_t row = first, n = self->observation_start[last + 1] - self->observation_start[first];
    kb_pde1d *line = find_line((kb_pde1d_runs *)self, &row);
    if (!line->dynamics.predict(&line->dynamics, row, row + last - first, start, predicted, tangents)) return false;
    if (tangents) widen(n, line->n_parameters, line->rhs.n_tangents + self->n_start, tangents);
    return true;
}

static bool carry(kb_dynamics *self, size_t first, size_t row, const double *start, double *carried)
{
    size_t own = first;
    kb_dynamics *line = &find_line((kb_pde1d_runs *)self, &own)->dynamics;
    memset(carried, 0, self->n_start * sizeof *carried);
    return line->carry(line, own, own + row - first, start, carried);
}

static void destroy(kb_dynamics *self)
{
    kb_pde1d_runs *c = (kb_pde1d_runs *)self;
    if (!c) return;
    for (size_t i = 0; c->lines && i < c->n; i++)
        if (c->lines[i]) c->lines[i]->dynamics.destroy(&c->lines[i]->dynamics);
    void *arrays[] = {c->lines,       c->run_start, self->start_variance, self->observation_start,
                      self->observed, self->group,  self->relative};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kb_free(arrays[i]);
    kb_free(c);
}

static kbass_status guess(kb_dynamics *d, size_t row, double *start, kbass_error *error)
{
    const kb_pde1d *line = find_line((const kb_pde1d_runs *)d, &row);
    memset(start, 0, d->n_start * sizeof *start);
    if (kb_pde1d_guess(line, row, start)) return KBASS_OK;
    return kb_fail(error, KBASS_ERROR_NUMERICAL, "the lines of a window cannot be smoothed");
}

/* ---------------------------------------------------------------- making one */

static bool allocate(kb_pde1d_runs *c, size_t n_observations, bool has_relative)
{
    kb_dynamics *d = &c->dynamics;
    d->start_variance = KB_NEW(double, d->n_start);
    d->observation_start = KB_NEW(size_t, d->n_rows + 1);
    d->observed = KB_NEW(double, n_observations);
    d->group = KB_NEW(size_t, n_observations);
    if (has_relative) d->relative = KB_NEW(double, n_observations);
    return d->start_variance && d->observation_start && d->observed && d->group && (d->relative || !has_relative);
}

/* The lines' rows and observations, one line after the other. */
static void append(kb_pde1d_runs *c, size_t run, size_t *o)
{
    kb_dynamics *d = &c->dynamics;
    const kb_dynamics *line = &c->lines[run]->dynamics;
    size_t n = line->observation_start[line->n_rows];
    for (size_t row = 0; row <= line->n_rows; row++)
        d->observation_start[c->run_start[run] + row] = *o + line->observation_start[row];
    memcpy(d->observed + *o, line->observed, n * sizeof *d->observed);
    memcpy(d->group + *o, line->group, n * sizeof *d->group);
    for (size_t i = 0; d->relative && i < n; i++) d->relative[*o + i] = line->relative ? line->relative[i] : 1;
    *o += n;
}

static kbass_status join_lines(kb_pde1d_runs *c, kbass_error *error)
{
    kb_dynamics *d = &c->dynamics;
    size_t n_observations = 0, o = 0;
    bool has_relative = false;
    for (size_t i = 0; i < c->n; i++) {
        const kb_dynamics *line = &c->lines[i]->dynamics;
        c->run_start[i] = d->n_rows;
        d->n_rows += line->n_rows;
        if (line->n_start > d->n_start) d->n_start = line->n_start;
        n_observations += line->observation_start[line->n_rows];
        has_relative = has_relative || line->relative;
    }
    c->run_start[c->n] = d->n_rows;
    if (!allocate(c, n_observations, has_relative)) return kb_out_of_memory(error, "the runs");
    for (size_t i = 0; i < d->n_start; i++) d->start_variance[i] = 1;
    for (size_t i = 0; i < c->n; i++) append(c, i, &o);
    return KBASS_OK;
}

/* Grid, period and profile of every run. */
static kb_work_key resolution_of(size_t n, const kb_pde1d_setup *setups)
{
    kb_work_key key = kb_work_key_begin("one axis");
    for (size_t i = 0; i < n; i++) {
        const kb_pde1d_settings *line = &setups[i].line;
        const kb_profile *p = &setups[i].profile;
        const uint64_t counts[] = {line->n_nodes, line->steps, line->periodic, line->ends, p->n_modes};
        const double numbers[] = {line->period, p->period, p->length, p->cutoff, p->amplitude, p->noise};
        kb_work_key_add(&key, counts, sizeof counts);
        kb_work_key_add(&key, numbers, sizeof numbers);
    }
    return key;
}

kbass_status kb_pde1d_runs_create(size_t n, const kb_pde1d_setup *setups, const kb_dictionary *dictionary,
                                  const kb_columns *columns, size_t max_tangents, kb_pde1d_runs **out,
                                  kbass_error *error)
{
    kb_pde1d_runs *c = KB_NEW(kb_pde1d_runs, 1);
    if (!c) return kb_out_of_memory(error, "the runs");
    c->n = n;
    c->lines = KB_NEW(kb_pde1d *, n);
    c->run_start = KB_NEW(size_t, n + 1);
    kbass_status status = c->lines && c->run_start ? KBASS_OK : kb_out_of_memory(error, "the runs");
    for (size_t i = 0; status == KBASS_OK && i < n; i++)
        status = kb_pde1d_create(setups[i].samples, dictionary, columns, &setups[i].line, &setups[i].profile,
                                 max_tangents, &c->lines[i], error);
    for (size_t i = 0; status == KBASS_OK && i < n; i++) c->lines[i]->run = i;
    if (status == KBASS_OK) {
        const kb_dynamics *line = &c->lines[0]->dynamics;
        c->dynamics = (kb_dynamics){.n_runs = n,
                                    .run_start = c->run_start,
                                    .n_groups = line->n_groups,
                                    .mean = line->mean,
                                    .sd = line->sd,
                                    .noise_model = line->noise_model,
                                    .known_variance = line->known_variance,
                                    .noise_floor = line->noise_floor,
                                    .set_model = set_model,
                                    .predict = predict,
                                    .carry = carry,
                                    .guess = guess,
                                    .destroy = destroy};
        status = join_lines(c, error);
        c->dynamics.resolution = resolution_of(n, setups);
    }
    if (status == KBASS_OK) *out = c;
    else destroy(&c->dynamics);
    return status;
}
