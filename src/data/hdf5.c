#include "data/hdf5.h"

#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/inflate.h"

enum { MOST_OFFSETS = 8 };

const char *const kb_hdf5_troubles[] = {NULL,
                                        "no numbers",
                                        "text",
                                        "numbers that lie in other files",
                                        "compressed in a way that is not known here: save it with gzip",
                                        "more than 8 dimensions",
                                        "empty",
                                        "an object such as a table: save its columns as arrays",
                                        "a range of Octave: make it numbers before saving, by t = t(:)",
                                        KB_TROUBLE_BOUNDS};

typedef struct {
    kb_hdf5_helper helper;
    bool is_matlab;
} child;

static kbass_status receive(const kb_source *s, void *to, size_t n, const char *what)
{
    const child *c = s->state;
    const kb_reading *r = s->reading;
    switch (kb_hdf5_receive(&c->helper, to, n)) {
    case KB_HDF5_SILENT:
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %.200s: the HDF5 library came to no end with it", r->file.path,
                       what);
    case KB_HDF5_GONE:
        return kb_fail(r->error, KBASS_ERROR_DATA, "%s: %.200s: the HDF5 library cannot read it: damaged or cut off",
                       r->file.path, what);
    default: return KBASS_OK;
    }
}

/* ---------------------------------------------------------------- arrays */

/* A number takes its width in the file, or what is filtered the part of it that compression can leave. */
static bool can_hold(const kb_source *s, const kb_array *array, const kb_hdf5_entry *e)
{
    size_t n = 0;
    uint64_t bytes = 0, file = s->reading->file.size;
    return kb_array_count(array, &n) && !__builtin_mul_overflow((uint64_t)n, (uint64_t)e->width, &bytes) &&
           e->stored <= file && bytes / (e->is_filtered ? KB_BEST_RATIO : 1) <= e->stored && !kb_is_bomb(bytes, file);
}

/* MATLAB writes its dimensions last one first. */
static void take_dims(kb_array *array, const kb_hdf5_entry *e, bool is_matlab)
{
    array->n_dims = e->n_dims;
    for (size_t i = 0; i < e->n_dims; i++) array->dims[is_matlab ? e->n_dims - 1 - i : i] = (size_t)e->dims[i];
    array->element = (kb_element){KB_REAL, sizeof(double), false};
    kb_array_stride(array, sizeof(double), is_matlab);
}

static kbass_status add_array(kb_source *s, const kb_hdf5_entry *e)
{
    char name[KB_LONGEST_NAME + 1];
    kb_array *array = NULL;
    bool is_sound = e->name_length <= KB_LONGEST_NAME && e->n_dims <= KB_MOST_DIMS && e->trouble < KB_N_TROUBLES &&
                    e->portion <= KB_IMAGINARY_PART;
    if (!is_sound)
        return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: the HDF5 library cannot read it",
                       s->reading->file.path);
    kbass_status status = receive(s, name, e->name_length, "a name");
    if (status == KBASS_OK) status = kb_source_add(s, name, e->name_length, &array);
    if (status != KBASS_OK) return status;
    take_dims(array, e, ((child *)s->state)->is_matlab);
    array->trouble = kb_hdf5_troubles[e->trouble];
    array->portion = (kb_portion)e->portion;
    array->is_of_cell = e->is_of_cell;
    array->place = s->n_arrays - 1;
    if (!array->trouble && !can_hold(s, array, e)) array->trouble = "more than its bytes in the file can hold";
    if (array->trouble) array->portion = KB_WHOLE;
    return KBASS_OK;
}

/* ---------------------------------------------------------------- Octave */

/* Octave has a group "u" for each variable, with "type" and "value"; its dimensions stand last one first, too. */
static bool is_of_octave(const kb_source *s, const char *name)
{
    size_t length = strlen(name), group = length > 6 ? length - 6 : 0;
    if (!group || strcmp(name + group, "/value") != 0) return false;
    for (size_t i = 0; i < s->n_arrays; i++)
        if (strncmp(s->arrays[i].name, name, group) == 0 && strcmp(s->arrays[i].name + group, "/type") == 0)
            return true;
    return false;
}

/* "s/value/t/value" is s/t. */
static void shorten(char *name)
{
    name[strlen(name) - 6] = '\0';
    for (char *at; (at = strstr(name, "/value/"));) memmove(at, at + 6, strlen(at + 6) + 1);
}

static void turn(kb_array *array)
{
    for (size_t i = 0; 2 * i + 1 < array->n_dims; i++) {
        size_t last = array->n_dims - 1 - i, dim = array->dims[i];
        array->dims[i] = array->dims[last];
        array->dims[last] = dim;
    }
    kb_array_stride(array, sizeof(double), true);
}

static void name_as_octave(kb_source *s)
{
    bool *is_one = KB_NEW(bool, s->n_arrays);
    for (size_t i = 0; is_one && i < s->n_arrays; i++) is_one[i] = is_of_octave(s, s->arrays[i].name);
    for (size_t i = 0; is_one && i < s->n_arrays; i++) {
        if (!is_one[i]) continue;
        shorten(s->arrays[i].name);
        turn(&s->arrays[i]);
    }
    kb_free(is_one);
}

/* The signature is at 0 or at 512 times a power of two. */
static bool recognise(const kb_file *file)
{
    for (size_t i = 0, at = 0; i < MOST_OFFSETS; i++, at = at ? 2 * at : 512)
        if (at + 8 <= file->size && memcmp(file->bytes + at, "\211HDF\r\n\032\n", 8) == 0) return true;
    return false;
}

static kbass_status list(kb_source *s)
{
    const kb_file *file = &s->reading->file;
    child *c = s->state = KB_NEW(child, 1);
    if (!c) return kb_out_of_memory(s->reading->error, "the HDF5 reader");
    c->is_matlab = file->size > 10 && memcmp(file->bytes, "MATLAB 7.3", 10) == 0;
    kbass_status status = kb_hdf5_start(file, c->is_matlab, &c->helper, s->reading->error);
    for (kb_hdf5_entry e = {0}; status == KBASS_OK && e.n_dims != KB_HDF5_END;) {
        status = receive(s, &e, sizeof e, "its list of arrays");
        if (status == KBASS_OK && e.n_dims != KB_HDF5_END) status = add_array(s, &e);
    }
    if (status == KBASS_OK && !c->is_matlab) name_as_octave(s);
    return status;
}

static kbass_status ask(const kb_source *s, const kb_hdf5_request *request)
{
    const child *c = s->state;
    if (send(c->helper.channel, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request) return KBASS_OK;
    return kb_fail(s->reading->error, KBASS_ERROR_DATA, "%s: the HDF5 library cannot read it", s->reading->file.path);
}

static kbass_status load(kb_source *s, kb_array *array)
{
    size_t n = 0;
    kb_array_count(array, &n);
    unsigned char *bytes = kb_allocate(n, sizeof(double));
    if (!bytes) return kb_out_of_memory(s->reading->error, array->name);
    array->owned = bytes;
    kbass_status status = ask(s, &(kb_hdf5_request){.index = array->place});
    if (status == KBASS_OK) status = receive(s, bytes, n * sizeof(double), array->name);
    if (status == KBASS_OK) array->bytes = bytes;
    return status;
}

static kbass_status load_box(kb_source *s, const kb_array *array, const size_t *first, const size_t *n, double *to)
{
    kb_hdf5_request request = {.index = array->place, .is_box = 1};
    size_t last = array->n_dims - 1, count = 1;
    for (size_t i = 0; i < array->n_dims; i++) {
        size_t dim = ((child *)s->state)->is_matlab ? last - i : i;
        request.start[dim] = first[i];
        request.count[dim] = n[i];
        count *= n[i];
    }
    kbass_status status = ask(s, &request);
    return status == KBASS_OK ? receive(s, to, count * sizeof(double), array->name) : status;
}

static void close_source(kb_source *s)
{
    if (s->state) kb_hdf5_stop(&((child *)s->state)->helper);
    kb_free(s->state);
}

const kb_format kb_format_hdf5 = {"HDF5", recognise, list, load, load_box, close_source};
