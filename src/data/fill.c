/* From arrays to the table's rows: parts of a few rows, column by column, that threads fill at the same time. */
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/arrange.h"

enum { PART = 1024, SPAN_BYTES = 64 << 20 };

typedef struct {
    kb_filling *filling;
    size_t n_parts;
    size_t *begin; /* n_parts + 1: the row of the data where each part's first goes */
} work;

static size_t rows_of(const work *w, size_t part)
{
    size_t first = part * PART;
    return w->filling->n_rows - first < PART ? w->filling->n_rows - first : PART;
}

/* ---------------------------------------------------------------- numbers */

void kb_view_read(const kb_view *v, size_t first, size_t n, double *to)
{
    size_t last = v->n_dims - 1;
    while (n) {
        size_t at = v->shift, rest = first, left = v->dims[last] - first % v->dims[last], run = n < left ? n : left;
        for (size_t i = v->n_dims; i-- > 0; rest /= v->dims[i]) at += rest % v->dims[i] * v->strides[i];
        kb_elements_read(v->array->element, v->array->bytes + at, v->strides[last], run, to);
        first += run;
        to += run;
        n -= run;
    }
}

static double *slot_of(const kbass_data *data, const kb_column *column, size_t row, size_t *step)
{
    bool is_time = column->is_axis && !column->place;
    *step = is_time ? 1 : column->is_axis ? data->n_axes - 1 : data->n_states;
    return is_time           ? data->times + row
           : column->is_axis ? data->positions + row * *step + column->place - 1
                             : data->values + row * *step + column->place;
}

/* States may be missing, nothing may be infinite. */
static bool is_sound(const kb_column *column, double number)
{
    return isfinite(number) || (isnan(number) && !column->is_axis);
}

/* Keeps the first that is met, row by row. */
static void note_bad(kb_filling *f, size_t column, size_t row)
{
    #pragma omp critical(kb_filling)
    if (!f->is_bad || row < f->bad_row || (row == f->bad_row && column < f->bad_column)) {
        f->is_bad = true;
        f->bad_column = column;
        f->bad_row = row;
    }
}

static void fill_column(const work *w, size_t part, size_t column)
{
    kb_filling *f = w->filling;
    const kb_column *c = &f->columns[column];
    double numbers[PART];
    size_t n = rows_of(w, part), step = 0;
    double *to = slot_of(f->arrangement->data, c, w->begin[part], &step);
    kb_view_read(&c->view, part * PART, n, numbers);
    for (size_t i = 0; i < n; i++) {
        if (!is_sound(c, numbers[i])) note_bad(f, column, part * PART + i);
        to[i * step] = numbers[i];
    }
}

static void fill_part(const work *w, size_t part)
{
    for (size_t i = 0; i < w->filling->n_columns; i++) fill_column(w, part, i);
}

/* ---------------------------------------------------------------- everything */

static kbass_status allocate(work *w)
{
    const kb_reading *r = w->filling->arrangement->reading;
    kbass_data *data = w->filling->arrangement->data;
    size_t n = data->n_rows = w->begin[w->n_parts], width = data->n_axes - 1;
    data->times = kb_resize(NULL, n, sizeof(double));
    data->values = kb_resize(NULL, n, data->n_states * sizeof(double));
    if (width) data->positions = kb_resize(NULL, n, width * sizeof(double));
    bool all = data->times && data->values && (!width || data->positions);
    return all ? KBASS_OK : kb_out_of_memory(r->error, r->file.path);
}

/* Where arrays had to be copied, that was the first half of reading. */
static double share_done(const work *w, size_t part)
{
    double share = (double)part / (double)w->n_parts;
    for (size_t i = 0; i < w->filling->n_columns; i++)
        if (w->filling->columns[i].view.array->owned) return 0.5 + 0.5 * share;
    return share;
}

/* Parts first to last, and beside them as much of the file's hash. */
static kbass_status fill_span(const work *w, size_t first, size_t last)
{
    kb_reading *r = w->filling->arrangement->reading;
    size_t upto = (size_t)((double)r->file.size * ((double)last / (double)w->n_parts));
    #pragma omp parallel for schedule(dynamic, 8) if(last - first > 8)
    for (size_t i = first; i <= last; i++)
        if (i > first) fill_part(w, i - 1);
        else           kb_reading_hash(r, upto < r->file.size ? upto : r->file.size);
    kb_file_forget(&r->file);
    return w->filling->is_bad ? KBASS_ERROR_DATA : kb_reading_tell(r, share_done(w, last));
}

kbass_status kb_fill(kb_filling *f)
{
    const kb_reading *r = f->arrangement->reading;
    work w = {.filling = f, .n_parts = (f->n_rows + PART - 1) / PART};
    size_t bytes = PART * f->n_columns * sizeof(double), span = SPAN_BYTES / bytes + 1;
    w.begin = KB_NEW(size_t, w.n_parts + 1);
    kbass_status status = w.begin ? KBASS_OK : kb_out_of_memory(r->error, r->file.path);
    for (size_t i = 0; status == KBASS_OK && i < w.n_parts; i++) w.begin[i + 1] = w.begin[i] + rows_of(&w, i);
    if (status == KBASS_OK) status = allocate(&w);
    for (size_t first = 0; status == KBASS_OK && first < w.n_parts; first += span)
        status = fill_span(&w, first, w.n_parts - first < span ? w.n_parts : first + span);
    kb_free(w.begin);
    return status;
}
