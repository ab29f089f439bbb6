/* Every reader of measurements: the bytes say which. What is accepted is sorted and finite; what is not names the file.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kbass/kbass.h"

/* Bytes every file begins with: nothing leads a fuzzer back to a format that is read in another process. */
#ifndef FUZZ_SIGNATURE
#define FUZZ_SIGNATURE ""
#endif

static void check(const kbass_data *data)
{
    size_t n = kbass_data_rows(data), n_states = kbass_data_states(data), width = kbass_data_axes(data) - 1;
    char text[300];
    DEMAND(n > 0 && n_states > 0 && strlen(kbass_data_sha256(data)) == 64);
    for (size_t i = 0; i < n; i++) {
        DEMAND(isfinite(kbass_data_times(data)[i]));
        DEMAND(i == 0 || kbass_data_times(data)[i - 1] <= kbass_data_times(data)[i]);
        for (size_t k = 0; k < width; k++) DEMAND(isfinite(kbass_data_positions(data)[i * width + k]));
        for (size_t k = 0; k < n_states; k++) DEMAND(!isinf(kbass_data_values(data)[i * n_states + k]));
    }
    kbass_data_describe(data, text, sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const axes[] = {NULL, "t,x", "x,t"};
    char path[40];
    kbass_data *data = NULL;
    kbass_error error = {.message = ""};
    kbass_read_options options = {.axes = axes[size % 3]};
    int descriptor = memfd_create("fuzz", 0);
    DEMAND(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size);
    size_t length = strlen(FUZZ_SIGNATURE);
    DEMAND(size < length || pwrite(descriptor, FUZZ_SIGNATURE, length, 0) == (ssize_t)length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    kbass_status status = kbass_data_read(path, &options, &data, &error);
    DEMAND((status == KBASS_OK) == (data != NULL));
    if (data) check(data);
    else DEMAND(status == KBASS_ERROR_MEMORY || strncmp(error.message, path, strlen(path)) == 0);
    kbass_data_destroy(data);
    close(descriptor);
    return 0;
}
