/* A mesh chosen from the measurements: denser where the bare field bends (gp/monitor.h). */
#ifndef KB_COLLOCATION_REFINE_MESH_H
#define KB_COLLOCATION_REFINE_MESH_H

#include "dictionary/dictionary.h"
#include "gp/field_samples.h"

/* The mesh as --mesh and --mesh-file say (gp/mesh.h); with --mesh auto open axes get as many points as the published
   method takes, by the bare field. The samples' periods are known. */
kbass_status kb_mesh_lay(kb_field_samples *samples, const kbass_data *data, const kbass_settings *settings,
                         const kb_dictionary *dictionary, kbass_error *error);

#endif
