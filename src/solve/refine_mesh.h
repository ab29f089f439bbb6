/* A mesh chosen from the measurements: denser where the bare field bends (gp/monitor.h). */
#ifndef KB_REFINE_MESH_H
#define KB_REFINE_MESH_H

#include "dictionary/dictionary.h"
#include "gp/cloud.h"

/* The mesh as --mesh and --mesh-file say (gp/mesh.h); with --mesh auto open axes get as many points as the published
   method takes, by the bare field. The cloud's periods are known. */
kbass_status kb_mesh_lay(kb_cloud *cloud, const kbass_data *data, const kbass_settings *settings,
                         const kb_dictionary *dictionary, kbass_error *error);

#endif
