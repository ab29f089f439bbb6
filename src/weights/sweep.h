/* All equations of a message in turn: each one's columns searched by moves and pairs (weights/subset.h), given those
 * that the others have. Single moves end where two terms of an equation would have to change for two others; pairs do
 * not.
 */
#ifndef KB_WEIGHTS_SWEEP_H
#define KB_WEIGHTS_SWEEP_H

#include "weights/message.h"

/* From `support` to a better one in place; *changed: whether there was one. */
kbass_status kb_message_sweep(const kb_message *message, const kb_columns *columns, kb_support *support, bool *changed,
                              kbass_error *error);

#endif
