/* kbass-hdf5 PATH|- matlab|plain: reads an HDF5 file for the library, which starts it (src/data/hdf5.h has what is
   said). Standard input is a socket to the library. kbass-hdf5 PATH create u=251x1024 ...: lays one out, whose numbers
   the library writes itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdf5_child.h"

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
    kb_send_bytes(channel, &offset, sizeof offset);
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
    kb_send_bytes(channel, &done, sizeof done);
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
    kb_child c = {.channel = STDIN_FILENO};
    kb_hdf5_entry end = {.n_dims = KB_HDF5_END};
    kb_hdf5_request asked;
    bool creates = n_arguments > 3 && !strcmp(arguments[2], "create");
    if (n_arguments != 3 && !creates) return 2;
    c.is_matlab = !strcmp(arguments[2], "matlab");
    signal(SIGPIPE, SIG_IGN);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1); /* what is only read may lie where nothing can be locked */
    limit_memory();
    kb_send_bytes(c.channel, &KB_HDF5_GREETING, sizeof KB_HDF5_GREETING);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0); /* no code from elsewhere */
    if (creates) return create_file(c.channel, arguments[1], n_arguments - 3, arguments + 3);
    c.file = open_file(arguments[1]);
    if (c.file < 0 || H5Ovisit2(c.file, H5_INDEX_NAME, H5_ITER_INC, kb_visit, &c, H5O_INFO_BASIC) < 0) _exit(1);
    kb_send_bytes(c.channel, &end, sizeof end);
    while (read(c.channel, &asked, sizeof asked) == (ssize_t)sizeof asked && asked.index < c.n)
        if (asked.is_box) kb_send_box(&c, &asked);
        else kb_send_numbers(&c, asked.index);
    _exit(0); /* without the library's own clearing up, which a damaged file may lead astray */
}
