#include "data/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/apart.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/status.h"
#include "data/logs.h"
#include "data/tiles.h"
#include "data/xlsx.h"

kbass_status kb_reading_tell(const kb_reading *reading, double fraction)
{
    double seconds = kb_clock() - reading->start;
    kbass_progress now = {.stage = "read",
                          .fraction = fraction,
                          .seconds = seconds,
                          .log_evidence = (double)NAN,
                          .seconds_left = kb_seconds_left(seconds, fraction)};
    if (!reading->progress || reading->progress(&now, reading->user) == 0) return KBASS_OK;
    return kb_fail(reading->error, KBASS_ERROR_FILE, "%s: reading was stopped", reading->file.path);
}

void kb_reading_hash(kb_reading *reading, size_t upto)
{
    kb_sha256_add(&reading->sha, reading->file.bytes + reading->hashed, upto - reading->hashed);
    reading->hashed = upto;
}

/* "file.h5:/run3/u" becomes two texts, unless there is a file of that name. */
static char *cut_path(char *path)
{
    char *colon = access(path, F_OK) == 0 ? NULL : strrchr(path, ':');
    if (!colon) return NULL;
    *colon = '\0';
    if (access(path, F_OK) == 0) return colon + 1;
    *colon = ':';
    return NULL;
}

static kbass_status read_opened(kb_reading *r, kbass_data *data)
{
    kbass_status status = kb_file_unpack(r);
    const char *format = status == KBASS_OK ? kb_format_name(&r->file) : NULL;
    if (format) status = kb_file_complete(&r->file, r->error);
    const char *foreign = kb_file_foreign(&r->file);
    if (status != KBASS_OK) return status;
    if (foreign) return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %s", r->file.path, foreign);
    if (format && kb_is_workbook(&r->file)) return kb_read_workbook(r, data);
    if (format) return kb_read_arrays(r, data);
    if (kb_is_json(&r->file)) return kb_read_json(r, data);
    if (!r->inside && kb_is_las(&r->file)) return kb_read_las(r, data);
    if (!r->inside && kb_is_influx(&r->file)) return kb_read_influx(r, data);
    if (!r->inside) return kb_read_text(r, data);
    return kb_fail(r->error, KBASS_ERROR_ARGUMENT, "%s: text has nothing inside that \"%s\" could name", r->file.path,
                   r->inside);
}

static kbass_status note_packing(const kb_reading *r, kbass_data *data)
{
    kb_buffer note = {0};
    if (!*r->packed_as) return KBASS_OK;
    kb_buffer_print(&note, "%s%s%s", r->packed_as, data->note && *data->note ? "; " : "", data->note ? data->note : "");
    char *text = kb_buffer_take(&note);
    if (!text) return kb_out_of_memory(r->error, "the data");
    kb_free(data->note);
    data->note = text;
    return KBASS_OK;
}

/* All bytes of a file that is not held in memory. */
static kbass_status hash_in_pieces(kb_reading *r)
{
    static const size_t piece = (size_t)16 << 20;
    kbass_status status = KBASS_OK;
    while (status == KBASS_OK && r->hashed < r->file.size) {
        kb_reading_hash(r, r->file.size - r->hashed < piece ? r->file.size : r->hashed + piece);
        kb_file_forget(&r->file);
        status = kb_reading_tell(r, (double)r->hashed / (double)r->file.size);
    }
    return status;
}

/* Of a grid that is too large a part becomes the table. */
static kbass_status take_part(kb_reading *r, kbass_data *data)
{
    kbass_status status = KBASS_OK;
    if (r->most_values && !r->within && r->every <= 1 && !r->run)
        status = kb_tiles_of_table(data, kb_tiles_most(data, r->most_values, r->few_values), r->error);
    if (status == KBASS_OK && data->tiles) status = kb_tiles_take_part(data, r->few_values, r->error);
    return status == KBASS_OK && data->tiles ? kb_data_settle(data, r->error) : status;
}

static kbass_status read_path(char *path, kb_reading *r, kbass_data *data)
{
    r->inside = cut_path(path);
    kbass_status status = kb_file_open(path, &r->file, r->error);
    kb_sha256_begin(&r->sha);
    if (status == KBASS_OK) status = read_opened(r, data);
    if (status == KBASS_OK) status = note_packing(r, data);
    bool is_left = data->tiles != NULL; /* the file is theirs */
    if (status == KBASS_OK) {
        if (!r->file.is_stream) status = hash_in_pieces(r);
        kb_sha256_finish(&r->sha, data->sha256);
    }
    if (status == KBASS_OK && !data->tiles) status = kb_data_settle(data, r->error);
    if (status == KBASS_OK) status = take_part(r, data);
    if (status == KBASS_OK && r->run) status = kbass_data_split(data, r->run, r->error);
    if (status == KBASS_OK) status = kb_reading_tell(r, 1);
    if (is_left) r->file = (kb_file){0};
    kb_file_close(&r->file);
    return status;
}

typedef struct {
    char *path;
    kb_reading *reading;
    kbass_data *data;
    kbass_status status;
} opening;

static void read_apart(void *context)
{
    opening *o = context;
    o->status = read_path(o->path, o->reading, o->data);
}

/* For those who read the same data again. */
static kbass_status keep_options(const kbass_read_options *o, kbass_data *data, kbass_error *error)
{
    char every[32];
    snprintf(every, sizeof every, "%zu", o->every);
    const char *const asked[KB_ASKED] = {o->time_column, o->axes,  o->run,     o->use,    o->ignore,
                                         o->rename,      o->dates, o->missing, o->within, o->every > 1 ? every : NULL};
    for (size_t i = 0; i < KB_ASKED; i++)
        if (asked[i] && !(data->asked[i] = kb_strdup(asked[i]))) return kb_out_of_memory(error, "the data");
    return KBASS_OK;
}

kbass_status kbass_data_read(const char *path, const kbass_read_options *options, kbass_data **out, kbass_error *error)
{
    static const size_t size_0_2 = offsetof(kbass_read_options, missing) + sizeof options->missing;
    kbass_read_options own = {0}, *o = &own;
    if (options) kb_options_take(options, options->size, size_0_2, &own, sizeof own);
    kb_reading r = {.time = o->time_column,
                    .axes = o->axes,
                    .within = o->within,
                    .every = o->every,
                    .run = o->run,
                    .use = o->use,
                    .ignore = o->ignore,
                    .rename = o->rename,
                    .dates = o->dates,
                    .missing = o->missing,
                    .most_values = o->most_values,
                    .few_values = o->few_values ? o->few_values : o->most_values,
                    .progress = o->progress,
                    .user = o->user,
                    .start = kb_clock(),
                    .is_plain = !options,
                    .error = error};
    char *copy = kb_strdup(path);
    kbass_data *data = KB_NEW(kbass_data, 1);
    if (data) data->source = kb_strdup(path);
    opening work = {copy, &r, data, KBASS_OK};
    if (!copy || !data || !data->source) work.status = kb_out_of_memory(error, "the data");
    else work.status = keep_options(o, data, error);
    if (work.status == KBASS_OK) kb_apart(read_apart, &work);

    if (work.status == KBASS_OK) *out = data;
    else kbass_data_destroy(data);
    kb_free(copy);
    return work.status;
}
