/* Ranks that share a discovery, as threads of one process: the answer is that of one alone, to the bit, whatever their
 * number; a wish to stop of one stops all. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 3, ROOM = 1 << 20 };

/* What MPI would do, by barriers. */
static pthread_barrier_t barrier;
static unsigned char board[MOST * ROOM];
static int wishes[MOST];

typedef struct {
    int rank, n_ranks;
    size_t stop_at;      /* iterations; 0: never */
    size_t n_iterations; /* that it took */
    kbass_discovery *discovery;
    kbass_status status;
    kbass_error error;
} member;

static void gather(void *user, size_t n, const void *own, void *all)
{
    const member *m = user;
    if (n > ROOM) abort();
    memcpy(board + (size_t)m->rank * n, own, n);
    pthread_barrier_wait(&barrier);
    memcpy(all, board, (size_t)m->n_ranks * n);
    pthread_barrier_wait(&barrier);
}

static int agree(void *user, int wish)
{
    const member *m = user;
    int most = 0;
    wishes[m->rank] = wish;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < m->n_ranks; i++) most = wishes[i] > most ? wishes[i] : most;
    pthread_barrier_wait(&barrier);
    return most;
}

/* Lotka-Volterra, 25 samples with noise. */
static kbass_discovery *prepare(const char *degree)
{
    static const char *const names[] = {"x", "y"};
    double times[25], values[50];
    kbass_model *model = NULL;
    kbass_data *data = NULL;
    kbass_settings *settings = NULL;
    kbass_discovery *d = NULL;
    kbass_error error;
    for (size_t i = 0; i < 25; i++) times[i] = 0.5 * (double)i;
    CHECK_OK(kbass_model_named("lotka-volterra", &model, &error));
    CHECK_OK(kbass_model_integrate(model, 0, kbass_model_initial(model), 25, times, values, &error));
    CHECK_OK(kbass_data_create(25, 2, times, values, NULL, names, &data, &error));
    CHECK_OK(kbass_data_add_noise(data, 5, 2, &error));
    CHECK_OK(kbass_settings_create(&settings, &error));
    CHECK_OK(kbass_settings_set(settings, "threads", "1", &error));
    CHECK_OK(kbass_settings_set(settings, "degree", degree, &error));
    CHECK_OK(kbass_discovery_create(data, settings, &d, &error));
    kbass_settings_destroy(settings);
    kbass_data_destroy(data);
    kbass_model_destroy(model);
    return d;
}

static int stop_at(const kbass_progress *progress, void *user)
{
    member *m = user;
    if (progress->n_iterations > m->n_iterations) m->n_iterations = progress->n_iterations;
    return m->stop_at && progress->n_iterations >= m->stop_at;
}

static void *run_member(void *user)
{
    member *m = user;
    const kbass_reduce reduce = {
        .size = sizeof reduce, .rank = m->rank, .n_ranks = m->n_ranks, .user = m, .gather = gather, .agree = agree};
    kbass_discovery_share(m->discovery, &reduce);
    m->status = kbass_discovery_run(m->discovery, stop_at, m, &m->error);
    return NULL;
}

static void run_members(int n, member *members)
{
    pthread_t threads[MOST];
    CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)n) == 0);
    for (int i = 0; i < n; i++) CHECK(pthread_create(&threads[i], NULL, run_member, &members[i]) == 0);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

static void run_ranks(int n, size_t stop, member *members)
{
    for (int i = 0; i < n; i++)
        members[i] = (member){
            .rank = i, .n_ranks = n, .stop_at = i == n - 1 ? stop : 0, .discovery = prepare("2"), .status = KBASS_OK};
    run_members(n, members);
    for (int i = 0; i < n; i++) CHECK(members[i].status == KBASS_OK);
}

static void check_same(const kbass_result *a, const kbass_result *b)
{
    CHECK(a->outcome == b->outcome && a->log_evidence == b->log_evidence && a->n_models == b->n_models);
    CHECK(a->n_equations == b->n_equations);
    for (size_t e = 0; e < a->n_equations; e++)
        for (size_t q = 0; q < a->equations[e].n_terms; q++) {
            const kbass_term *x = &a->equations[e].terms[q], *y = &b->equations[e].terms[q];
            CHECK_TEXT(y->term, x->term);
            CHECK(x->selected == y->selected && (x->weight == y->weight || isnan(x->weight)));
        }
}

static void answers_do_not_depend_on_ranks(void **state)
{
    (void)state;
    kbass_discovery *alone = prepare("2");
    kbass_error error;
    CHECK_OK(kbass_discovery_run(alone, NULL, NULL, &error));
    for (int n = 2; n <= MOST; n++) {
        member members[MOST];
        run_ranks(n, 0, members);
        for (int i = 0; i < n; i++) {
            check_same(kbass_discovery_result(alone), kbass_discovery_result(members[i].discovery));
            kbass_discovery_destroy(members[i].discovery);
        }
    }
    kbass_discovery_destroy(alone);
}

/* Two ranks: either does about half of what one alone does, proposals included. */
static void work_is_shared_out(void **state)
{
    (void)state;
    kbass_error error;
    member alone = {.discovery = prepare("2")}, members[MOST];
    CHECK_OK(kbass_discovery_run(alone.discovery, stop_at, &alone, &error));
    run_ranks(2, 0, members);
    for (int i = 0; i < 2; i++) {
        CHECK(4 * members[i].n_iterations < 3 * alone.n_iterations);
        kbass_discovery_destroy(members[i].discovery);
    }
    kbass_discovery_destroy(alone.discovery);
}

static void one_that_stops_stops_all(void **state)
{
    (void)state;
    for (size_t stop = 20; stop <= 320; stop *= 4) {
        member members[MOST];
        run_ranks(2, stop, members);
        for (int i = 0; i < 2; i++) {
            kbass_outcome outcome = kbass_discovery_result(members[i].discovery)->outcome;
            CHECK(outcome == KBASS_CANCELLED || outcome == KBASS_CONVERGED); /* it may be done before */
            CHECK(outcome == kbass_discovery_result(members[0].discovery)->outcome);
        }
        for (int i = 0; i < 2; i++) kbass_discovery_destroy(members[i].discovery);
    }
}

/* All of them, with the same words. */
static void other_settings_are_refused(void **state)
{
    (void)state;
    member members[MOST];
    for (int i = 0; i < 2; i++) members[i] = (member){.rank = i, .n_ranks = 2, .discovery = prepare(i ? "3" : "2")};
    run_members(2, members);
    for (int i = 0; i < 2; i++) {
        CHECK(members[i].status == KBASS_ERROR_ARGUMENT);
        CHECK_TEXT(members[i].error.message,
                   "rank 1 has another set of options than the first: degree=3, not degree=2");
        kbass_discovery_destroy(members[i].discovery);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_ranks),
        cmocka_unit_test(work_is_shared_out),
        cmocka_unit_test(one_that_stops_stops_all),
        cmocka_unit_test(other_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
