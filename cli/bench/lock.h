/* One benchmark at a time keeps its rows in a file: it holds FILE.lock while it runs. The lock ends with its process,
 * however that ends; a file left behind by a kill locks nothing.
 */
#ifndef BENCH_LOCK_H
#define BENCH_LOCK_H

typedef struct {
    int descriptor; /* -1: nothing is locked */
    char *path;
} bench_lock;

/* Returns an exit code; the message names the process that has the lock. `path` may be NULL, and no file then. */
int bench_lock_take(const char *path, bench_lock *lock);
void bench_lock_drop(bench_lock *lock);

#endif
