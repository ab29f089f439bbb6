/* Work with threads, apart from the caller's own: OpenMP keeps a team for each thread that has asked for one, and a
 * host that forks would leave its child with a team that is gone, and waits for it for ever. A thread made for the work
 * takes its team along when it ends. Signals go to the host's threads.
 */
#ifndef KB_APART_H
#define KB_APART_H

/* Does the work in a thread of its own and waits for it; in the caller's where none can be had. */
void kb_apart(void (*work)(void *), void *context);

#endif
