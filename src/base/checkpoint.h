/* Work that is done, kept in a file, so that a run that was killed goes on where it was.
 *
 * A search asks for its pieces of work in an order that does not depend on time, threads or machines. A piece is known
 * by a key made of everything its result depends on; a result that is known is taken instead of being computed again.
 * So the same call, with the file, comes to the same answer to the bit, and knows nothing of where it was interrupted.
 * The file is replaced as a whole, every so often.
 */
#ifndef KB_CHECKPOINT_H
#define KB_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kbass/kbass.h"

/* 128 bits of all that was added. */
typedef struct {
    uint64_t high, low;
} kb_work_key;

kb_work_key kb_work_key_begin(const char *kind);
void kb_work_key_add(kb_work_key *key, const void *bytes, size_t n);

/* What a checkpoint belongs to: data, settings, version. */
typedef struct {
    const char *name, *value; /* without line breaks */
} kb_checkpoint_field;

typedef struct kb_checkpoint kb_checkpoint;

/* What the file holds, if there is one: refused where it is damaged, or a field is another. `every`: seconds between
   two writings. */
kbass_status kb_checkpoint_open(const char *path, double every, size_t n_fields, const kb_checkpoint_field *fields,
                                kb_checkpoint **out, kbass_error *error);
/* From now on nothing is written: another process does. */
void kb_checkpoint_read_only(kb_checkpoint *checkpoint);
/* Part of every key from now on: what all pieces of work depend on at the moment, as values of unknown constants. Not
   while other threads ask. */
void kb_checkpoint_context(kb_checkpoint *checkpoint, kb_work_key context);
/* Closes without writing. */
void kb_checkpoint_close(kb_checkpoint *checkpoint);

/* All of these take NULL for "no checkpoint", and come from any thread. */

/* The result of a piece of work; NULL when it is not known. Lives as long as the checkpoint. */
const void *kb_checkpoint_find(kb_checkpoint *checkpoint, kb_work_key key, size_t *size);
/* Keeps a copy; where memory runs out the piece is not kept. */
void kb_checkpoint_keep(kb_checkpoint *checkpoint, kb_work_key key, size_t size, const void *bytes);
/* A piece of work under way may keep its state, in place of the one before, every so often: is it time, when the last
   was kept at *last of kb_clock (which is set then)? Found by its key like any other, but only until the next is kept;
   of size 0 once the piece is done. */
bool kb_checkpoint_wants_state(const kb_checkpoint *checkpoint, double *last);
void kb_checkpoint_keep_state(kb_checkpoint *checkpoint, kb_work_key key, size_t size, const void *bytes);
/* Writes the file when it is time, by one thread at a time. What fails is tried again at the next time. */
void kb_checkpoint_tick(kb_checkpoint *checkpoint);
kbass_status kb_checkpoint_write(kb_checkpoint *checkpoint, kbass_error *error);
/* Pieces known, and how many of them were found in the file. */
size_t kb_checkpoint_count(const kb_checkpoint *checkpoint, size_t *n_read);

#endif
