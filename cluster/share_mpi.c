/* kbass-mpi: the ranks of one call, by MPI. All of them read and compute; the first prints and writes. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "share.h"

static int rank, n_ranks;
static MPI_Comm ending; /* where ranks that have finished wait for the others */
static kbass_reduce reduce;
static int real_error = -1; /* standard error of a rank that does not speak, */
static FILE *said;          /* and what it would have said */

/* A rank that waits leaves its core to others: at once it looks again and again, then less and less often. */
static void wait_for(MPI_Request *request)
{
    enum { LOOKS = 100, LONGEST = 200 /* microseconds between two looks: little beside what is waited for by then */ };
    int done = 0, pause = 1;
    for (int looks = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; looks++) {
        if (looks < LOOKS) continue;
        usleep((useconds_t)pause);
        if (pause < LONGEST) pause *= 2;
    }
}

static void gather(void *user, size_t n, const void *own, void *all)
{
    MPI_Request request;
    (void)user;
    MPI_Iallgather(own, (int)n, MPI_BYTE, all, (int)n, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

static int agree(void *user, int wish)
{
    MPI_Request request;
    int most = wish;
    (void)user;
    MPI_Iallreduce(&wish, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    wait_for(&request);
    return most;
}

/* Others than the first keep quiet. */
static void be_quiet(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    said = tmpfile();
    real_error = dup(STDERR_FILENO);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    if (said) dup2(fileno(said), STDERR_FILENO);
}

void cli_share_begin(int *count, char ***words)
{
    int provided = 0;
    MPI_Init_thread(count, words, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &ending);
    if (provided < MPI_THREAD_SERIALIZED) {
        if (!rank) cli_fail("this MPI serves one thread only (MPI_THREAD_SERIALIZED is needed)");
        MPI_Abort(MPI_COMM_WORLD, EXIT_BAD_INPUT);
    }
    reduce = (kbass_reduce){.size = sizeof reduce, .rank = rank, .n_ranks = n_ranks, .gather = gather, .agree = agree};
    if (rank) be_quiet();
}

const kbass_reduce *cli_share(void) { return n_ranks > 1 ? &reduce : NULL; }

void cli_share_say(bool is_quiet, const char *what)
{
    if (n_ranks > 1 && !is_quiet) fprintf(stderr, "kbass: %d ranks share out %s\n", n_ranks, what);
}

bool cli_share_writes(void) { return rank == 0; }

enum { TEXTS = 1 }; /* the tag of texts */

void cli_share_tell(int to, const char *text)
{
    MPI_Send(text, (int)strlen(text), MPI_BYTE, to, TEXTS, MPI_COMM_WORLD);
}

char *cli_share_hear(int *from)
{
    MPI_Status status;
    int has_come = 0, length = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, TEXTS, MPI_COMM_WORLD, &has_come, &status);
    if (!has_come) return NULL;
    MPI_Get_count(&status, MPI_BYTE, &length);
    char *text = malloc((size_t)length + 1);
    if (!text) return NULL;
    *from = status.MPI_SOURCE;
    MPI_Recv(text, length, MPI_BYTE, status.MPI_SOURCE, TEXTS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text[length] = '\0';
    return text;
}

/* What a quiet rank had to say when it failed alone: "rank 1 on host: ...". */
static void speak(void)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "", line[600];
    int length = 0;
    MPI_Get_processor_name(host, &length);
    if (!said || real_error < 0) return;
    rewind(said);
    while (fgets(line, sizeof line, said)) dprintf(real_error, "rank %d on %s: %s", rank, host, line);
}

/* Have all ranks come to the end? One that has failed waits for two seconds: the others may be waiting for it. */
static bool all_have_ended(bool has_failed)
{
    MPI_Request barrier;
    int done = 0;
    MPI_Ibarrier(ending, &barrier);
    for (int i = 0; !done && !(has_failed && i >= 200); i++) {
        MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        if (!done) usleep(10000);
    }
    return done;
}

/* A rank that fails alone says so, and ends all. */
int cli_share_end(int code)
{
    bool has_failed = code == EXIT_BAD_INPUT || code == EXIT_NO_RESULT;
    fflush(stdout);
    fflush(stderr);
    if (!all_have_ended(has_failed)) {
        speak();
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}
