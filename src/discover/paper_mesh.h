/* The published method's field over time and space: kernel regression on one mesh over the whole domain, derivatives by
 * the kernels' own, everything mode products of the axes' features (no matrix of points x points or unknowns x
 * unknowns).
 */
#ifndef KB_PAPER_MESH_H
#define KB_PAPER_MESH_H

#include "discover/paper.h"
#include "gp/field_samples.h"

/* Fits the bare field, scales the dictionary on it. Data and dictionary are borrowed. */
kbass_status kb_paper_mesh_create(const kbass_data *data, const kbass_settings *settings,
                                  const kb_dictionary *dictionary, kb_canvas **out, kbass_error *error);
const kb_field_samples *kb_paper_mesh_samples(const kb_canvas *canvas);

#endif
