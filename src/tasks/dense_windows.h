/* Fewer windows of a dense field, where they follow the data. */
#ifndef KB_TASKS_DENSE_WINDOWS_H
#define KB_TASKS_DENSE_WINDOWS_H

#include "tasks/proposed.h"

/* Fewer windows of each run as long as the best model's evidence rises. *is_joined: there are fewer now. */
kbass_status kb_dense_join_windows(const kb_proposed *search, kb_pass *pass, bool *is_joined, kbass_error *error);

#endif
