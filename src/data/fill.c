/* From arrays to the table's rows: parts of a few rows, column by column, that threads fill at the same time. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/arrange.h"
#include "data/part.h"

enum { PART = 1024, SPAN_BYTES = 32 << 20 };

typedef struct {
    kb_filling *filling;
    size_t n_parts, span; /* parts in all, and of a piece of the file that is in memory at a time */
    size_t *begin;        /* n_parts + 1: the row of the data where each part's first goes */
    kb_part part;         /* of the file that is asked for, */
    kb_pace *pace;        /* and the pace with which each part begins */
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

/* Which of the part's rows are asked for, and how many. */
static size_t choose(const work *w, size_t part, kb_pace *pace, bool *is_taken)
{
    const kb_filling *f = w->filling;
    double at[KBASS_MAX_AXES][PART], here[KBASS_MAX_AXES];
    size_t n = rows_of(w, part), n_taken = 0, n_axes = f->arrangement->data->n_axes;
    for (size_t i = 0; i < f->n_columns; i++)
        if (f->columns[i].is_axis) kb_view_read(&f->columns[i].view, part * PART, n, at[f->columns[i].place]);
    for (size_t row = 0; row < n; row++) {
        for (size_t i = 0; i < n_axes; i++) here[i] = at[i][row];
        is_taken[row] = kb_part_takes(&w->part, pace, here);
        n_taken += is_taken[row];
    }
    return n_taken;
}

static void fill_column(const work *w, size_t part, size_t column, const bool *is_taken)
{
    kb_filling *f = w->filling;
    const kb_column *c = &f->columns[column];
    double numbers[PART];
    size_t n = rows_of(w, part), step = 0;
    double *to = slot_of(f->arrangement->data, c, w->begin[part], &step);
    kb_view_read(&c->view, part * PART, n, numbers);
    for (size_t i = 0; i < n; i++) {
        if ((is_taken[i] || c->is_axis) && !is_sound(c, numbers[i])) note_bad(f, column, part * PART + i);
        if (!is_taken[i]) continue;
        *to = numbers[i];
        to += step;
    }
}

static void fill_part(const work *w, size_t part)
{
    bool is_taken[PART];
    kb_pace pace = w->part.is_whole ? (kb_pace){0} : w->pace[part];
    if (w->part.is_whole) memset(is_taken, true, sizeof is_taken);
    else choose(w, part, &pace, is_taken);
    for (size_t i = 0; i < w->filling->n_columns; i++) fill_column(w, part, i, is_taken);
}

/* ---------------------------------------------------------------- everything */

/* Where the rows of each part go; the pace runs through all of them. */
static kbass_status place_parts(work *w)
{
    const kb_reading *r = w->filling->arrangement->reading;
    bool is_taken[PART];
    kb_pace pace = {0};
    for (size_t i = 0; i < w->n_parts; i++) {
        if (!w->part.is_whole) w->pace[i] = pace;
        w->begin[i + 1] = w->begin[i] + (w->part.is_whole ? rows_of(w, i) : choose(w, i, &pace, is_taken));
        if (!w->part.is_whole && i % w->span == 0) kb_file_forget(&r->file);
    }
    return w->begin[w->n_parts] ? KBASS_OK : kb_part_empty(w->filling->arrangement->data, r->file.path, r->error);
}

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
#pragma omp parallel for schedule(dynamic, 8) if (last - first > 8)
    for (size_t i = first; i <= last; i++)
        if (i > first) fill_part(w, i - 1);
        else kb_reading_hash(r, upto < r->file.size ? upto : r->file.size);
    kb_file_forget(&r->file);
    return w->filling->is_bad ? KBASS_ERROR_DATA : kb_reading_tell(r, share_done(w, last));
}

kbass_status kb_fill(kb_filling *f)
{
    const kb_reading *r = f->arrangement->reading;
    work w = {.filling = f,
              .n_parts = (f->n_rows + PART - 1) / PART,
              .span = SPAN_BYTES / (PART * f->n_columns * sizeof(double)) + 1};
    kbass_status status = kb_part_read(r->within, r->every, f->arrangement->data, &w.part, r->error);
    w.begin = KB_NEW(size_t, w.n_parts + 1);
    w.pace = w.part.is_whole ? NULL : KB_NEW(kb_pace, w.n_parts);
    if (status == KBASS_OK && (!w.begin || (!w.pace && !w.part.is_whole)))
        status = kb_out_of_memory(r->error, r->file.path);
    if (status == KBASS_OK) status = place_parts(&w);
    if (status == KBASS_OK) status = allocate(&w);
    for (size_t first = 0; status == KBASS_OK && first < w.n_parts; first += w.span)
        status = fill_span(&w, first, w.n_parts - first < w.span ? w.n_parts : first + w.span);
    kb_free(w.begin);
    kb_free(w.pace);
    return status;
}
