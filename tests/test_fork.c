/* A host may fork after it has used the library: the child uses it too. Each child gets a minute; what hangs is ended
   by its alarm, and that is a failure. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "scratch.h"

enum { N_ROWS = 25, MINUTE = 60 };

static kbass_data *make_data(void)
{
    static const char *const names[] = {"x", "y"};
    double times[N_ROWS], values[2 * N_ROWS];
    kbass_data *data = NULL;
    for (int i = 0; i < N_ROWS; i++) {
        double t = times[i] = 0.4 * i;
        values[2 * i] = cos(t);
        values[2 * i + 1] = -sin(t);
    }
    return kbass_data_create(N_ROWS, 2, times, values, NULL, names, &data, NULL) == KBASS_OK ? data : NULL;
}

/* From data to a forecast, with two threads throughout; how many terms were found, -1 where anything failed. */
static int work(kbass_data *data)
{
    kbass_settings *settings = NULL;
    kbass_discovery *discovery = NULL;
    kbass_posterior *posterior = NULL;
    kbass_forecast *forecast = NULL;
    const double later = 12;
    int n_selected = -1;
    bool is_fine = data && kbass_settings_create(&settings, NULL) == KBASS_OK &&
                   kbass_settings_set(settings, "degree", "1", NULL) == KBASS_OK &&
                   kbass_settings_set(settings, "threads", "2", NULL) == KBASS_OK &&
                   kbass_discovery_create(data, settings, &discovery, NULL) == KBASS_OK &&
                   kbass_discovery_run(discovery, NULL, NULL, NULL) == KBASS_OK &&
                   kbass_discovery_posterior(discovery, 0, &posterior, NULL) == KBASS_OK &&
                   kbass_posterior_forecast(posterior, &(kbass_forecast_options){.n_draws = 8, .seed = 1, .threads = 2},
                                            1, &later, 0, NULL, &forecast, NULL) == KBASS_OK;
    if (is_fine) n_selected = (int)kbass_discovery_result(discovery)->n_weights;
    kbass_forecast_destroy(forecast);
    kbass_posterior_destroy(posterior);
    kbass_discovery_destroy(discovery);
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    return n_selected;
}

static kbass_data *read_data(void)
{
    kbass_data *data = NULL;
    return kbass_data_read(path, NULL, &data, NULL) == KBASS_OK ? data : NULL;
}

/* A child that reads and fits, and has a child that does the same. */
static void be_child(void)
{
    int status = 0;
    alarm(MINUTE);
    bool is_fine = work(make_data()) == 2 && work(read_data()) == 2;
    pid_t pid = is_fine ? fork() : -1;
    if (pid == 0) {
        alarm(MINUTE);
        _exit(work(make_data()) == 2 && work(read_data()) == 2 ? 0 : 1);
    }
    if (pid > 0) is_fine = waitpid(pid, &status, 0) == pid && status == 0;
    _exit(is_fine ? 0 : 1);
}

static void test_fork_after_a_fit(void **state)
{
    (void)state;
    int status = 1;
    kbass_data *data = make_data();
    CHECK(kbass_data_write(data, path, NULL) == KBASS_OK);
    CHECK(work(data) == 2 && work(read_data()) == 2);
    pid_t pid = fork();
    if (pid == 0) be_child();
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
    CHECK(work(make_data()) == 2);
}

static int count_threads(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) n += *entry->d_name != '.';
    if (folder) closedir(folder);
    return n;
}

/* Neither BLAS nor OpenMP leaves threads behind; those of the last team take a moment to end. */
static void test_no_threads_are_left(void **state)
{
    (void)state;
    static const struct timespec moment = {0, 20000000};
    enum { MOMENTS = 500 };
    CHECK(work(make_data()) == 2);
    for (int i = 0; i < MOMENTS && count_threads() > 1; i++) nanosleep(&moment, NULL);
    CHECK(count_threads() == 1);
}

/* The callback hears of the run from one of its threads, and signals are the host's. */
static int hear(const kbass_progress *progress, void *user)
{
    (void)progress;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    *(int *)user += sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGSEGV) == 0;
    return 0;
}

static void test_signals_are_the_hosts(void **state)
{
    (void)state;
    int n_heard = 0;
    kbass_data *data = make_data();
    kbass_discovery *discovery = NULL;
    sigset_t blocked;
    CHECK(kbass_discovery_create(data, NULL, &discovery, NULL) == KBASS_OK);
    CHECK(kbass_discovery_run(discovery, hear, &n_heard, NULL) == KBASS_OK);
    CHECK(n_heard > 0);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    CHECK(sigismember(&blocked, SIGINT) == 0);
    kbass_discovery_destroy(discovery);
    kbass_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork_after_a_fit),
        cmocka_unit_test(test_no_threads_are_left),
        cmocka_unit_test(test_signals_are_the_hosts),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
