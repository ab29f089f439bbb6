#include "published/trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/replace.h"

struct kb_published_trace {
    kb_replacement place;
    FILE *file;
};

static kbass_status cannot_write(const char *path, kbass_error *error)
{
    return kb_fail(error, KBASS_ERROR_FILE, "%.200s: cannot be written: %s", path, strerror(errno));
}

kbass_status kb_published_trace_open(const char *path, kb_published_trace **out, kbass_error *error)
{
    kb_published_trace *t = KB_NEW(kb_published_trace, 1);
    if (!t) return kb_out_of_memory(error, "the trace");
    kbass_status status = kb_replace_begin(path, &t->place, error);
    if (status != KBASS_OK) {
        kb_free(t);
        return status;
    }
    t->file = t->place.file;
    fputs("step,equation,term,weight,sd,probability,e_variance,m_variance,lengths\n", t->file);
    *out = t;
    return KBASS_OK;
}

/* Along each axis, in the data's units. */
static void write_lengths(FILE *file, const kb_published_field *f, size_t field)
{
    for (size_t a = 0; a < f->n_axes; a++) {
        double length = exp(f->log_length[field + a * f->n_fields]) * f->samples->span[a] / f->reach[a];
        fprintf(file, "%s%.6g", a ? " " : "", length);
    }
}

static void write_column(FILE *file, const kb_published_posterior *p, const kb_published_equation *e, size_t column,
                         long step)
{
    const kb_dictionary *d = p->model->dictionary;
    fprintf(file, "%ld,%s%s,%s,%.9g,%.4g,%.6g,%.6g,%.6g,", step, d->state_names[e->state], kb_dictionary_suffix(d),
            kb_dictionary_name(d, p->model->columns->term[column]), p->weight[column], p->sd[column],
            p->probability[column], kb_published_e_variance(p, step, e->state),
            kb_published_m_variance(p, step, e->state));
    write_lengths(file, p->model->field, e->state);
    fputc('\n', file);
}

kbass_status kb_published_trace_write(kb_published_trace *t, const kb_published_posterior *p, long step,
                                      kbass_error *error)
{
    for (size_t i = 0; i < p->model->n_equations; i++) {
        const kb_published_equation *e = &p->model->equations[i];
        for (size_t q = 0; q < e->n; q++) write_column(t->file, p, e, e->column[q], step);
    }
    return ferror(t->file) ? cannot_write(t->place.path, error) : KBASS_OK;
}

kbass_status kb_published_trace_close(kb_published_trace *t, kbass_status status, kbass_error *error)
{
    if (!t) return status;
    status = kb_replace_end(&t->place, status, error);
    kb_free(t);
    return status;
}
