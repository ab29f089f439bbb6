/* Runs a fuzz target on every file of the folders named: what was once found stays found. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    DEMAND(file && fstat(fileno(file), &status) == 0);
    size_t size = (size_t)status.st_size;
    uint8_t *bytes = malloc(size + 1);
    DEMAND(bytes && fread(bytes, 1, size, file) == size);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int count, char **folders)
{
    size_t n = 0;
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(folders[i]);
        DEMAND(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[1000];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            replay(path);
            n++;
        }
        closedir(folder);
    }
    printf("%zu files\n", n);
    return n == 0;
}
