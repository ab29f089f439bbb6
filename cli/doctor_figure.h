/* The data with what the doctor found: for each state its values, the smoothed field with its band, outliers, saturated
 * values and gaps; fields over space as points in the plane of time and the first space axis.
 */
#ifndef CLI_DOCTOR_FIGURE_H
#define CLI_DOCTOR_FIGURE_H

#include "kbass/kbass.h"

/* Returns an exit code. */
int cli_doctor_figure(const kbass_data *data, const kbass_doctor *doctor, const char *path);

#endif
