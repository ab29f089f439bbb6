#include "base/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/run.h"
#include "base/status.h"

static _Thread_local kb_budget *current;
/* What any limit leaves for setting up, seconds and processor seconds: most need less, and then can answer; limits are
   heard within a second. */
static const double least_time = 1, grace = 1;

/* ---------------------------------------------------------------- what the machine has */

/* The number behind a key at the beginning of a line, INFINITY where there is none. */
static double read_key(const char *path, const char *key)
{
    char line[256];
    double value = HUGE_VAL, found;
    FILE *file = fopen(path, "r");
    if (!file) return HUGE_VAL;
    while (value == HUGE_VAL && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), "%lf", &found) == 1) value = found;
    fclose(file);
    return value;
}

/* Memory left in one control group, given the names of its limit and of what it uses. */
static double left_in(const char *folder, const char *limit_name, const char *used_name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, limit_name);
    double limit = read_key(path, "");
    if (!isfinite(limit) || limit > 1e18) return HUGE_VAL; /* "max", or version 1's way to say so */
    snprintf(path, sizeof path, "%s/%s", folder, used_name);
    double used = read_key(path, "");
    return isfinite(used) ? fmax(limit - used, 0) : limit;
}

/* The groups from the process' own up to the root: each may be the narrowest. */
static double left_on_path(const char *root, char *group, const char *limit_name, const char *used_name)
{
    char folder[400];
    double least = HUGE_VAL;
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", root, group);
        least = fmin(least, left_in(folder, limit_name, used_name));
        char *slash = strrchr(group, '/');
        if (!slash || !*group) return least;
        *slash = '\0';
    }
}

static double left_in_groups(void)
{
    char line[256];
    double least = HUGE_VAL;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (!strcmp(controllers, ":"))
            least = fmin(least, left_on_path("/sys/fs/cgroup", group, "memory.max", "memory.current"));
        else if (strstr(controllers, "memory"))
            least = fmin(
                least, left_on_path("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
    if (file) fclose(file);
    return least;
}

static double left_in_process(void)
{
    struct rlimit limit;
    double pages = read_key("/proc/self/statm", ""), size = (double)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return HUGE_VAL;
    return fmax((double)limit.rlim_cur - (isfinite(pages) ? pages * size : 0), 0);
}

static double left_in_machine(void)
{
    static const double kilo = 1024;
    double pages = (double)sysconf(_SC_PHYS_PAGES), available = kilo * read_key("/proc/meminfo", "MemAvailable:");
    return isfinite(available) ? available : pages > 0 ? pages * (double)sysconf(_SC_PAGESIZE) : HUGE_VAL;
}

double kb_memory_available(void) { return fmin(left_in_machine(), fmin(left_in_groups(), left_in_process())); }

/* ---------------------------------------------------------------- what the user allows */

static const struct {
    const char *name;
    double bytes;
} units[] = {{"", 1},      {"B", 1},        {"k", 1e3},         {"kB", 1e3},           {"KB", 1e3},
             {"M", 1e6},   {"MB", 1e6},     {"G", 1e9},         {"GB", 1e9},           {"T", 1e12},
             {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};

kbass_status kb_memory_parse(const char *text, double *bytes, kbass_error *error)
{
    char number[32] = "";
    *bytes = 0;
    if (!text || !*text) {
        *bytes = kb_memory_available();
        return KBASS_OK;
    }
    size_t digits = strspn(text, "0123456789.+-eE"), gap = strspn(text + digits, " ");
    if (digits < sizeof number) memcpy(number, text, digits);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(text + digits + gap, units[i].name) && kb_number_parse(number, bytes) && *bytes > 0) {
            *bytes *= units[i].bytes;
            if (isfinite(*bytes)) return KBASS_OK;
        }
    return kb_fail(error, KBASS_ERROR_ARGUMENT, "memory: \"%s\" is not an amount of memory (500MB, 2GB, 1.5GiB)", text);
}

/* ---------------------------------------------------------------- counting */

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

kbass_status kb_budget_begin(kb_budget *budget, const char *memory, double time_limit, kbass_error *error)
{
    atomic_store(&budget->used, 0);
    atomic_store(&budget->refused, 0);
    budget->time_limit = time_limit;
    budget->deadline = time_limit > 0 ? kb_clock() + fmax(time_limit, least_time) : INFINITY;
    budget->worked = processor_seconds();
    return kb_memory_parse(memory, &budget->limit, error);
}

kb_budget *kb_budget_enter(kb_budget *budget)
{
    kb_budget *before = current;
    current = budget;
    return before;
}

kb_budget *kb_budget_current(void) { return current; }

bool kb_budget_expired(void)
{
    return current && kb_clock() > current->deadline && processor_seconds() > current->worked + grace;
}

bool kb_budget_affords(double seconds)
{
    return !current || seconds < grace || kb_clock() + seconds < current->deadline;
}

kbass_status kb_out_of_time(kbass_error *error, const char *what)
{
    return kb_fail(error, KBASS_ERROR_TIME, "the time limit of %g s was reached before %s", current->time_limit, what);
}

bool kb_budget_allows(size_t bytes)
{
    if (!current || (double)atomic_load(&current->used) + (double)bytes <= current->limit) return true;
    atomic_store(&current->used_then, atomic_load(&current->used));
    atomic_store(&current->refused, bytes);
    return false;
}

double kb_budget_used(void) { return current ? (double)atomic_load(&current->used) : 0; }

double kb_budget_left(void) { return current ? current->limit - kb_budget_used() : (double)INFINITY; }

void kb_budget_count(size_t taken, size_t given)
{
    if (current) atomic_fetch_add(&current->used, (long long)taken - (long long)given);
}
