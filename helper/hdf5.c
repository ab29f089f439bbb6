/* kbass-hdf5 PATH|- matlab|plain: reads an HDF5 file for the library, which starts it (src/data/hdf5.h has what is
   said). Standard input is a socket to the library. kbass-hdf5 PATH create u=251x1024 ...: lays one out, whose numbers
   the library writes itself. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define H5_USE_110_API /* the oldest interface that is met: Debian 12 has 1.10, Debian 13 has 1.14 */
#include <hdf5.h>

#include "data/hdf5.h"

enum {
    MOST_BYTES_AT_ONCE = 256 << 20,
    CHUNK_CACHE = 64 << 20,
    CACHE_SLOTS = 12421,
    LONGEST_MEMBER = 200,
    LONGEST_PATH = KB_LONGEST_NAME - LONGEST_MEMBER - 1,
    DEEPEST = 8,      /* MATLAB's cells and structs in one another */
    MOST_CELLS = 4096 /* of an array of them */
};

typedef struct {
    int channel;
    hid_t file;
    bool is_matlab;
    size_t n, capacity;
    char **paths;   /* of the datasets sent */
    char **members; /* of compound ones, else NULL */
} child;

/* Where a dataset lies, and what it is called: MATLAB's cells lie elsewhere. */
typedef struct {
    const char *path, *shown;
    int depth;
    bool is_of_cell; /* of several arrays */
} dataset_name;

/* ---------------------------------------------------------------- sending */

static void send_bytes(int channel, const void *bytes, size_t n)
{
    const char *next = bytes;
    while (n) {
        ssize_t done = write(channel, next, n);
        if (done <= 0) _exit(0); /* the parent is gone */
        next += done;
        n -= (size_t)done;
    }
}

/* The name that is shown, to which a member of a record adds its own. */
static void send_entry(child *c, const kb_hdf5_entry *entry, const dataset_name *name, const char *member)
{
    kb_hdf5_entry sent = *entry;
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->paths = realloc(c->paths, c->capacity * sizeof *c->paths);
        c->members = realloc(c->members, c->capacity * sizeof *c->members);
        if (!c->paths || !c->members) _exit(1);
    }
    c->paths[c->n] = strdup(name->path);
    c->members[c->n++] = member ? strdup(member) : NULL;
    bool is_shown = member && entry->portion == KB_WHOLE;
    size_t length = strlen(name->shown), extra = is_shown ? strlen(member) + 1 : 0;
    sent.name_length = (uint32_t)(length + extra);
    sent.is_of_cell = name->is_of_cell;
    send_bytes(c->channel, &sent, sizeof sent);
    send_bytes(c->channel, name->shown, length);
    if (is_shown) send_bytes(c->channel, "/", 1);
    if (is_shown) send_bytes(c->channel, member, extra - 1);
}

/* ---------------------------------------------------------------- listing */

enum { CLASS_SIZE = 16, TEXT_SIZE = 200 };

/* A short text that an attribute has; "" where it has none. */
static void read_text(hid_t object, const char *name, size_t size, char *text)
{
    memset(text, 0, size);
    if (H5Aexists(object, name) <= 0) return;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool is_short = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && H5Tget_size(type) < size &&
                    H5Sget_simple_extent_npoints(space) == 1;
    if (is_short) H5Aread(attribute, type, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* MATLAB says with attributes what its numbers mean. */
static void read_class(hid_t object, char name[CLASS_SIZE]) { read_text(object, "MATLAB_class", CLASS_SIZE, name); }

/* netCDF: dimensions without numbers of their own are datasets, too. */
static bool is_mere_dimension(hid_t dataset)
{
    static const char said[] = "This is a netCDF dimension but not a netCDF variable";
    char text[TEXT_SIZE];
    read_text(dataset, "NAME", sizeof text, text);
    return strncmp(text, said, sizeof said - 1) == 0;
}

/* netCDF's conventions: "bounds" of an axis names the array with the ends of its cells. */
static herr_t find_bounds(hid_t root, const char *path, const H5O_info_t *info, void *user)
{
    const char *wanted = user;
    char text[TEXT_SIZE];
    if (info->type != H5O_TYPE_DATASET) return 0;
    hid_t dataset = H5Dopen2(root, path, H5P_DEFAULT);
    if (dataset < 0) return 0;
    read_text(dataset, "bounds", sizeof text, text);
    if (!*text) read_text(dataset, "climatology", sizeof text, text);
    H5Dclose(dataset);
    return *text && strcmp(text, wanted) == 0;
}

static uint32_t netcdf_trouble(const child *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!strstr(path, "bnds") && !strstr(path, "bounds")) return KB_FINE; /* as they are called; looking is dear */
    herr_t is_found =
        H5Ovisit2(c->file, H5_INDEX_NAME, H5_ITER_INC, find_bounds, (void *)(slash ? slash + 1 : path), H5O_INFO_BASIC);
    return is_found > 0 ? KB_BOUNDS : KB_FINE;
}

static uint32_t matlab_trouble(hid_t dataset, hid_t type)
{
    char class[CLASS_SIZE];
    if (H5Aexists(dataset, "MATLAB_empty") > 0) return KB_EMPTY;
    if (H5Aexists(dataset, "MATLAB_object_decode") > 0) return KB_OBJECT;
    read_class(dataset, class);
    if (H5Tget_class(type) == H5T_STRING) return KB_TEXT;
    if (H5Aexists(dataset, "OCTAVE_RANGE_NELEM") > 0) return KB_RANGE;
    return strcmp(class, "char") == 0 ? KB_TEXT : KB_FINE;
}

static uint32_t layout_trouble(hid_t plist, kb_hdf5_entry *entry)
{
    H5D_layout_t layout = H5Pget_layout(plist);
    if (layout == H5D_VIRTUAL || (layout == H5D_CONTIGUOUS && H5Pget_external_count(plist) > 0)) return KB_ELSEWHERE;
    int n = H5Pget_nfilters(plist);
    entry->is_filtered = n > 0;
    for (int i = 0; i < n; i++) {
        unsigned flags = 0;
        size_t none = 0;
        H5Z_filter_t filter = H5Pget_filter2(plist, (unsigned)i, &flags, &none, NULL, 0, NULL, NULL);
        if (filter < 0 || H5Zfilter_avail(filter) <= 0) return KB_FILTER;
    }
    return KB_FINE;
}

static uint32_t space_trouble(hid_t dataset, kb_hdf5_entry *entry)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t space = H5Dget_space(dataset);
    int n = H5Sget_simple_extent_type(space) == H5S_NULL ? -1 : H5Sget_simple_extent_dims(space, dims, NULL);
    if (n < 0) return KB_EMPTY;
    if (n > KB_MOST_DIMS) return KB_DEEP;
    entry->n_dims = (uint32_t)n;
    for (int i = 0; i < n; i++) entry->dims[i] = dims[i];
    return KB_FINE;
}

static bool is_number(hid_t type)
{
    H5T_class_t class = H5Tget_class(type);
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM; /* the last: h5py's booleans */
}

/* The members' names of complex numbers: h5py's r and i, MATLAB's real and imag. */
static bool is_complex(hid_t type, const char *parts[2])
{
    static const char *const known[][2] = {{"r", "i"}, {"real", "imag"}, {"re", "im"}};
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        parts[0] = known[i][0];
        parts[1] = known[i][1];
        if (H5Tget_member_index(type, parts[0]) == 0 && H5Tget_member_index(type, parts[1]) == 1) return true;
    }
    return false;
}

static void send_complex(child *c, kb_hdf5_entry *entry, const dataset_name *name, const char *const parts[2])
{
    entry->portion = KB_REAL_PART;
    send_entry(c, entry, name, parts[0]);
    entry->portion = KB_IMAGINARY_PART;
    send_entry(c, entry, name, parts[1]);
}

/* A table of records: one array for each member that is a number. */
static void send_members(child *c, const kb_hdf5_entry *entry, hid_t type, const dataset_name *name)
{
    int n = H5Tget_nmembers(type);
    for (int i = 0; i < n && i < 1024; i++) {
        char *member = H5Tget_member_name(type, (unsigned)i);
        hid_t member_type = H5Tget_member_type(type, (unsigned)i);
        if (member && is_number(member_type) && strlen(member) <= LONGEST_MEMBER) send_entry(c, entry, name, member);
        H5free_memory(member);
        H5Tclose(member_type);
    }
}

static void send_numbers_of(child *c, hid_t dataset, const dataset_name *name)
{
    kb_hdf5_entry entry = {.stored = H5Dget_storage_size(dataset)};
    hid_t type = H5Dget_type(dataset), plist = H5Dget_create_plist(dataset);
    const char *parts[2];
    entry.width = (uint32_t)H5Tget_size(type);
    entry.trouble = space_trouble(dataset, &entry);
    if (entry.trouble == KB_FINE) entry.trouble = layout_trouble(plist, &entry);
    if (entry.trouble == KB_FINE) entry.trouble = matlab_trouble(dataset, type);
    if (entry.trouble == KB_FINE) entry.trouble = netcdf_trouble(c, name->path);
    bool is_pair = entry.trouble == KB_FINE && is_complex(type, parts);
    bool is_table = entry.trouble == KB_FINE && !is_pair && H5Tget_class(type) == H5T_COMPOUND && entry.n_dims == 1;
    if (entry.trouble == KB_FINE && !is_table && !is_pair && !is_number(type)) entry.trouble = KB_NO_NUMBERS;
    if (is_pair) send_complex(c, &entry, name, parts);
    else if (is_table) send_members(c, &entry, type, name);
    else send_entry(c, &entry, name, NULL);
    H5Pclose(plist);
    H5Tclose(type);
}

/* ---------------------------------------------------------------- MATLAB's cells and arrays of structs */

static void send_dataset(child *c, hid_t dataset, const dataset_name *name);

typedef struct {
    child *child;
    const dataset_name *name;
} member_visit;

static herr_t send_struct_member(hid_t group, const char *link, const H5L_info_t *info, void *user)
{
    const member_visit *v = user;
    char path[KB_LONGEST_NAME], shown[KB_LONGEST_NAME];
    int length = snprintf(path, sizeof path, "%s/%s", v->name->path, link);
    int shown_length = snprintf(shown, sizeof shown, "%s/%s", v->name->shown, link);
    if (info->type != H5L_TYPE_HARD || length > LONGEST_PATH || shown_length > LONGEST_PATH) return 0;
    hid_t object = H5Oopen(group, link, H5P_DEFAULT);
    dataset_name name = {path, shown, v->name->depth, v->name->is_of_cell};
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) send_dataset(v->child, object, &name);
    if (object >= 0) H5Oclose(object);
    return v->child->n >= KB_MOST_ARRAYS;
}

/* What a reference leads to: an array, a cell of others, or a struct, a group. */
static void send_referred(child *c, hid_t from, const hobj_ref_t *reference, const dataset_name *cell)
{
    char path[KB_LONGEST_NAME];
    hid_t object = H5Rdereference2(from, H5P_DEFAULT, H5R_OBJECT, reference);
    ssize_t length = object >= 0 ? H5Iget_name(object, path, sizeof path) : -1;
    dataset_name name = {path, cell->shown, cell->depth + 1, cell->is_of_cell};
    bool is_short = length > 0 && length < LONGEST_PATH && strlen(cell->shown) <= LONGEST_PATH && c->n < KB_MOST_ARRAYS;
    if (is_short && H5Iget_type(object) == H5I_DATASET) send_dataset(c, object, &name);
    else if (is_short && H5Iget_type(object) == H5I_GROUP)
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, send_struct_member, &(member_visit){c, &name});
    if (object >= 0) H5Oclose(object);
}

/* "c", c_2, or of the field of an array of structs "s_2/u". */
static void show_cell(const char *shown, bool is_cell, size_t n, size_t index, char *text, size_t size)
{
    const char *slash = strrchr(shown, '/');
    if (n == 1) snprintf(text, size, "%s", shown);
    else if (is_cell || !slash) snprintf(text, size, "%s_%zu", shown, index + 1);
    else snprintf(text, size, "%.*s_%zu%s", (int)(slash - shown), shown, index + 1, slash);
}

static void send_cells(child *c, hid_t dataset, const dataset_name *name)
{
    char class[CLASS_SIZE], shown[KB_LONGEST_NAME + 32];
    hid_t space = H5Dget_space(dataset);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    hobj_ref_t *references = n > 0 && n <= MOST_CELLS ? calloc((size_t)n, sizeof *references) : NULL;
    bool is_read = references && H5Dread(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references) >= 0;
    size_t n_before = c->n;
    read_class(dataset, class);
    for (hssize_t i = 0; is_read && i < n; i++) {
        bool is_cell = strcmp(class, "cell") == 0;
        show_cell(name->shown, is_cell, (size_t)n, (size_t)i, shown, sizeof shown);
        send_referred(c, dataset, &references[i],
                      &(dataset_name){NULL, shown, name->depth, name->is_of_cell || (is_cell && n > 1)});
    }
    if (c->n == n_before) send_numbers_of(c, dataset, name); /* as something without numbers */
    free(references);
    H5Sclose(space);
}

static void send_dataset(child *c, hid_t dataset, const dataset_name *name)
{
    hid_t type = H5Dget_type(dataset);
    bool refers = c->is_matlab && H5Tequal(type, H5T_STD_REF_OBJ) > 0 && name->depth < DEEPEST;
    bool is_empty = H5Aexists(dataset, "MATLAB_empty") > 0;
    H5Tclose(type);
    if (refers && !is_empty) send_cells(c, dataset, name);
    else send_numbers_of(c, dataset, name);
}

/* Visits every object once, however the links go round. */
static herr_t visit(hid_t root, const char *path, const H5O_info_t *info, void *user)
{
    child *c = user;
    if (info->type != H5O_TYPE_DATASET || *path == '#' || strlen(path) > LONGEST_PATH) return 0;
    hid_t dataset = H5Dopen2(root, path, H5P_DEFAULT);
    if (dataset >= 0 && !is_mere_dimension(dataset)) send_dataset(c, dataset, &(dataset_name){path, path, 0, false});
    if (dataset >= 0) H5Dclose(dataset);
    return c->n >= KB_MOST_ARRAYS;
}

/* ---------------------------------------------------------------- numbers */

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
    bool is_read = is_number(type) && H5Sget_simple_extent_npoints(space) == 1 &&
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
    send_bytes(r->channel, r->buffer, n * sizeof *r->buffer);
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

static reader open_reader(const child *c, size_t index)
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

static void send_numbers(const child *c, size_t index)
{
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK] = {0};
    reader r = open_reader(c, index);
    send_range(&r, 0, start, count);
    close_reader(&r);
}

/* A box of a dataset, which stays open with its chunks until another one is asked for. */
static void send_asked_box(const child *c, const kb_hdf5_request *asked)
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

/* ---------------------------------------------------------------- writing */

/* "u=251x1024": an array of doubles that lies in one piece; where it lies is sent. */
static void create_array(int channel, hid_t file, char *text)
{
    hsize_t dims[KB_MOST_DIMS];
    int n = 0;
    char *rest = strrchr(text, '=');
    if (!rest) _exit(1);
    *rest++ = '\0';
    for (; n < KB_MOST_DIMS && *rest; n++) {
        dims[n] = strtoull(rest, &rest, 10);
        if (*rest == 'x') rest++;
    }
    hid_t space = H5Screate_simple(n, dims, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(plist, H5D_CONTIGUOUS);
    H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
    hid_t set = H5Dcreate2(file, text, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    uint64_t offset = set >= 0 ? (uint64_t)H5Dget_offset(set) : UINT64_MAX;
    if (offset == UINT64_MAX) _exit(1);
    send_bytes(channel, &offset, sizeof offset);
    H5Dclose(set);
}

/* A file with these arrays; then, when all is on its way to the disk, 0. */
static int create_file(int channel, const char *path, int n, char **texts)
{
    const uint64_t done = 0;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) _exit(1);
    for (int i = 0; i < n; i++) create_array(channel, file, texts[i]);
    if (H5Fclose(file) < 0) _exit(1);
    send_bytes(channel, &done, sizeof done);
    return 0;
}

/* ---------------------------------------------------------------- life */

/* Address space is no measure where sanitizers have reserved terabytes of it. */
static void limit_memory(void)
{
    static const uint64_t most_memory = (uint64_t)4 << 30, reserved = (uint64_t)1 << 40;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    bool is_known = statm && fscanf(statm, "%lu", &pages) == 1;
    uint64_t bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit most = {bytes + most_memory, bytes + most_memory}, none = {0, 0};
    if (statm) fclose(statm);
    if (is_known && bytes < reserved) setrlimit(RLIMIT_AS, &most);
    setrlimit(RLIMIT_CORE, &none);
}

/* What came through a pipe is opened under a name that no file has, as the library wants it. */
static hid_t open_image(void)
{
    struct stat about;
    if (fstat(KB_HDF5_IMAGE, &about) != 0) return -1;
    size_t size = (size_t)about.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, KB_HDF5_IMAGE, 0);
    if (bytes == MAP_FAILED) return -1;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, (size_t)1 << 20, false);
    H5Pset_file_image(access, bytes, size);
    return H5Fopen("/no/such/folder/image", H5F_ACC_RDONLY, access);
}

static hid_t open_file(const char *path)
{
    return strcmp(path, "-") ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : open_image();
}

int main(int n_arguments, char **arguments)
{
    child c = {.channel = STDIN_FILENO};
    kb_hdf5_entry end = {.n_dims = KB_HDF5_END};
    kb_hdf5_request asked;
    bool creates = n_arguments > 3 && !strcmp(arguments[2], "create");
    if (n_arguments != 3 && !creates) return 2;
    c.is_matlab = !strcmp(arguments[2], "matlab");
    signal(SIGPIPE, SIG_IGN);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1); /* what is only read may lie where nothing can be locked */
    limit_memory();
    send_bytes(c.channel, &KB_HDF5_GREETING, sizeof KB_HDF5_GREETING);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0); /* no code from elsewhere */
    if (creates) return create_file(c.channel, arguments[1], n_arguments - 3, arguments + 3);
    c.file = open_file(arguments[1]);
    if (c.file < 0 || H5Ovisit2(c.file, H5_INDEX_NAME, H5_ITER_INC, visit, &c, H5O_INFO_BASIC) < 0) _exit(1);
    send_bytes(c.channel, &end, sizeof end);
    while (read(c.channel, &asked, sizeof asked) == (ssize_t)sizeof asked && asked.index < c.n)
        if (asked.is_box) send_asked_box(&c, &asked);
        else send_numbers(&c, asked.index);
    _exit(0); /* without the library's own clearing up, which a damaged file may lead astray */
}
