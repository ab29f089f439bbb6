/* The mesh of a domain: the coordinates along each axis whose product the kernel's features are anchored to and the
 * equation is imposed on. It lives in the samples: given by the user, as numbers of points or as a file, or left open
 * for the engines to choose.
 */
#ifndef KB_MESH_H
#define KB_MESH_H

#include "gp/field_samples.h"

/* From --mesh and --mesh-file, the file going first; the samples' periods are known. A file has a line for each axis:
   its name, then its coordinates in the data's units, separated by blanks or commas; # begins a comment. */
kbass_status kb_mesh_read(kb_field_samples *samples, const kbass_data *data, const kbass_settings *settings,
                          kbass_error *error);

/* Points along an axis of a domain with so many axes, unless told: the paper's for time and one axis of space. */
size_t kb_mesh_standard(size_t n_axes);
/* An axis that is still open gets n even points. */
kbass_status kb_mesh_close(kb_field_samples *samples, size_t axis, size_t n, kbass_error *error);
/* Does the machine hold that many doubles for each point of the mesh? Axes that are open count as one point. */
kbass_status kb_mesh_check_memory(const kb_field_samples *samples, size_t doubles_per_point, kbass_error *error);

#endif
