/* The numbers of datasets, whole or a box of them. */
#include "hdf5_child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES_AT_ONCE = 256 << 20, CHUNK_CACHE = 64 << 20, CACHE_SLOTS = 12421 };

/* What netCDF's attributes make of a number: fill is missing, the others scale * number + offset. */
typedef struct {
    bool has_fill, is_packed;
    double fill, scale, offset;
} packing;

typedef struct {
    int channel;
    packing packing;
    hid_t dataset, space, type;
    int n_dims;
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    double *buffer;
    size_t capacity;
} reader;

static bool read_attribute(hid_t dataset, const char *name, double *value)
{
    if (H5Aexists(dataset, name) <= 0) return false;
    hid_t attribute = H5Aopen(dataset, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool is_read = kb_is_number(type) && H5Sget_simple_extent_npoints(space) == 1 &&
                   H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return is_read;
}

static packing read_packing(hid_t dataset)
{
    packing p = {.scale = 1};
    p.has_fill = read_attribute(dataset, "_FillValue", &p.fill) || read_attribute(dataset, "missing_value", &p.fill);
    bool is_scaled = read_attribute(dataset, "scale_factor", &p.scale);
    bool is_shifted = read_attribute(dataset, "add_offset", &p.offset);
    p.is_packed = is_scaled || is_shifted;
    return p;
}

static void unpack(const packing *p, size_t n, double *numbers)
{
    for (size_t i = 0; p->has_fill && i < n; i++)
        if (numbers[i] == p->fill) numbers[i] = (double)NAN;
    for (size_t i = 0; p->is_packed && i < n; i++) numbers[i] = p->scale * numbers[i] + p->offset;
}

/* The box of `count` numbers at `start`; what cannot be read ends the child, which the parent takes for damage. */
static void send_box(reader *r, const hsize_t *start, const hsize_t *count)
{
    size_t n = 1;
    for (int i = 0; i < r->n_dims; i++) n *= (size_t)count[i];
    if (n > r->capacity) {
        free(r->buffer);
        r->buffer = malloc(n * sizeof *r->buffer);
        r->capacity = n;
        if (!r->buffer) _exit(1);
    }
    hsize_t flat = n;
    hid_t memory = r->n_dims ? H5Screate_simple(1, &flat, NULL) : H5Scopy(r->space);
    if (r->n_dims && H5Sselect_hyperslab(r->space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) _exit(1);
    if (H5Dread(r->dataset, r->type, memory, r->space, H5P_DEFAULT, r->buffer) < 0) _exit(1);
    H5Sclose(memory);
    unpack(&r->packing, n, r->buffer);
    kb_send_bytes(r->channel, r->buffer, n * sizeof *r->buffer);
}

/* Boxes small enough for memory, cut along the first dimensions and, where that is not too much, at chunks. */
static void send_range(reader *r, int dim, hsize_t *start, hsize_t *count)
{
    size_t inner = 1;
    for (int i = dim + 1; i < r->n_dims; i++) inner *= (size_t)r->dims[i];
    if (dim == r->n_dims) {
        send_box(r, start, count);
        return;
    }
    hsize_t step = inner ? KB_HDF5_PIECE / inner : 1, whole = r->chunk[dim] ? r->chunk[dim] : 1;
    step = (step + whole - 1) / whole * whole;
    if (!step) step = whole;
    while (step > 1 && step * inner > MOST_BYTES_AT_ONCE / sizeof(double)) step = (step + 1) / 2;
    bool fits = step * inner <= MOST_BYTES_AT_ONCE / sizeof(double);
    for (hsize_t at = 0; at < r->dims[dim]; at += step) {
        start[dim] = at;
        count[dim] = r->dims[dim] - at < step ? r->dims[dim] - at : step;
        for (int i = dim + 1; i < r->n_dims; i++) {
            start[i] = 0;
            count[i] = r->dims[i];
        }
        if (fits) send_box(r, start, count);
        else send_range(r, dim + 1, start, count);
    }
}

static hid_t memory_type(const char *member)
{
    hid_t type = member ? H5Tcreate(H5T_COMPOUND, sizeof(double)) : H5T_NATIVE_DOUBLE;
    if (member) H5Tinsert(type, member, 0, H5T_NATIVE_DOUBLE);
    return type;
}

static reader open_reader(const kb_child *c, size_t index)
{
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, CACHE_SLOTS, CHUNK_CACHE, 1);
    reader r = {.channel = c->channel, .dataset = H5Dopen2(c->file, c->paths[index], access)};
    if (r.dataset < 0) _exit(1);
    r.packing = read_packing(r.dataset);
    hid_t plist = H5Dget_create_plist(r.dataset);
    r.type = memory_type(c->members[index]);
    r.space = H5Dget_space(r.dataset);
    r.n_dims = H5Sget_simple_extent_dims(r.space, r.dims, NULL);
    if (r.n_dims < 0) _exit(1);
    if (H5Pget_layout(plist) == H5D_CHUNKED) H5Pget_chunk(plist, H5S_MAX_RANK, r.chunk);
    H5Pclose(plist);
    H5Pclose(access);
    return r;
}

static void close_reader(reader *r)
{
    free(r->buffer);
    H5Sclose(r->space);
    H5Dclose(r->dataset);
    *r = (reader){.dataset = -1};
}

void kb_send_numbers(const kb_child *c, size_t index)
{
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK] = {0};
    reader r = open_reader(c, index);
    send_range(&r, 0, start, count);
    close_reader(&r);
}

void kb_send_box(const kb_child *c, const kb_hdf5_request *asked)
{
    static reader r = {.dataset = -1};
    static uint64_t opened;
    hsize_t start[KB_MOST_DIMS], count[KB_MOST_DIMS];
    uint64_t n = 1;
    if (r.dataset >= 0 && opened != asked->index) close_reader(&r);
    if (r.dataset < 0) r = open_reader(c, asked->index);
    opened = asked->index;
    for (int i = 0; i < r.n_dims && i < KB_MOST_DIMS; i++) {
        start[i] = asked->start[i];
        count[i] = asked->count[i];
        if (!count[i] || count[i] > r.dims[i] || start[i] > r.dims[i] - count[i]) _exit(1);
        if (__builtin_mul_overflow(n, asked->count[i], &n) || n > MOST_BYTES_AT_ONCE / sizeof(double)) _exit(1);
    }
    send_box(&r, start, count);
}
