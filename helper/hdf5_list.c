/* The datasets of a file, MATLAB's cells and structs and netCDF's customs included, as entries for the library. */
#include "hdf5_child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST_MEMBER = 200,
    LONGEST_PATH = KB_LONGEST_NAME - LONGEST_MEMBER - 1,
    DEEPEST = 8,      /* MATLAB's cells and structs in one another */
    MOST_CELLS = 4096 /* of an array of them */
};

/* Where a dataset lies, and what it is called: MATLAB's cells lie elsewhere. */
typedef struct {
    const char *path, *shown;
    int depth;
    bool is_of_cell; /* of several arrays */
} dataset_name;

/* ---------------------------------------------------------------- sending */

void kb_send_bytes(int channel, const void *bytes, size_t n)
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
static void send_entry(kb_child *c, const kb_hdf5_entry *entry, const dataset_name *name, const char *member)
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
    kb_send_bytes(c->channel, &sent, sizeof sent);
    kb_send_bytes(c->channel, name->shown, length);
    if (is_shown) kb_send_bytes(c->channel, "/", 1);
    if (is_shown) kb_send_bytes(c->channel, member, extra - 1);
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

static uint32_t netcdf_trouble(const kb_child *c, const char *path)
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

bool kb_is_number(hid_t type)
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

static void send_complex(kb_child *c, kb_hdf5_entry *entry, const dataset_name *name, const char *const parts[2])
{
    entry->portion = KB_REAL_PART;
    send_entry(c, entry, name, parts[0]);
    entry->portion = KB_IMAGINARY_PART;
    send_entry(c, entry, name, parts[1]);
}

/* A table of records: one array for each member that is a number. */
static void send_members(kb_child *c, const kb_hdf5_entry *entry, hid_t type, const dataset_name *name)
{
    int n = H5Tget_nmembers(type);
    for (int i = 0; i < n && i < 1024; i++) {
        char *member = H5Tget_member_name(type, (unsigned)i);
        hid_t member_type = H5Tget_member_type(type, (unsigned)i);
        if (member && kb_is_number(member_type) && strlen(member) <= LONGEST_MEMBER) send_entry(c, entry, name, member);
        H5free_memory(member);
        H5Tclose(member_type);
    }
}

static void send_numbers_of(kb_child *c, hid_t dataset, const dataset_name *name)
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
    if (entry.trouble == KB_FINE && !is_table && !is_pair && !kb_is_number(type)) entry.trouble = KB_NO_NUMBERS;
    if (is_pair) send_complex(c, &entry, name, parts);
    else if (is_table) send_members(c, &entry, type, name);
    else send_entry(c, &entry, name, NULL);
    H5Pclose(plist);
    H5Tclose(type);
}

/* ---------------------------------------------------------------- MATLAB's cells and arrays of structs */

static void send_dataset(kb_child *c, hid_t dataset, const dataset_name *name);

typedef struct {
    kb_child *child;
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
static void send_referred(kb_child *c, hid_t from, const hobj_ref_t *reference, const dataset_name *cell)
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

static void send_cells(kb_child *c, hid_t dataset, const dataset_name *name)
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

static void send_dataset(kb_child *c, hid_t dataset, const dataset_name *name)
{
    hid_t type = H5Dget_type(dataset);
    bool refers = c->is_matlab && H5Tequal(type, H5T_STD_REF_OBJ) > 0 && name->depth < DEEPEST;
    bool is_empty = H5Aexists(dataset, "MATLAB_empty") > 0;
    H5Tclose(type);
    if (refers && !is_empty) send_cells(c, dataset, name);
    else send_numbers_of(c, dataset, name);
}

herr_t kb_visit(hid_t root, const char *path, const H5O_info_t *info, void *user)
{
    kb_child *c = user;
    if (info->type != H5O_TYPE_DATASET || *path == '#' || strlen(path) > LONGEST_PATH) return 0;
    hid_t dataset = H5Dopen2(root, path, H5P_DEFAULT);
    if (dataset >= 0 && !is_mere_dimension(dataset)) send_dataset(c, dataset, &(dataset_name){path, path, 0, false});
    if (dataset >= 0) H5Dclose(dataset);
    return c->n >= KB_MOST_ARRAYS;
}
