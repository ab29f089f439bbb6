/* A file of one's own for the time of a test program: cmocka_run_group_tests(tests, make_file, remove_file). */
#ifndef KB_SCRATCH_H
#define KB_SCRATCH_H

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "kbass/kbass.h"

static char path[] = "/tmp/kbass_test_XXXXXX";

static inline int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static inline int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static inline void write_bytes(const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

static inline kbass_data *read_text(const char *text, const char *time_column)
{
    kbass_error error;
    kbass_data *data = NULL;
    write_bytes(text, strlen(text));
    CHECK_OK(kbass_data_read(path, &(kbass_read_options){.time_column = time_column}, &data, &error));
    return data;
}

#endif
