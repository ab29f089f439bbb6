/* Many samples in few: where a record is sampled so densely that stretches of many samples are cubics but for the
 * noise, each stretch becomes the values of its cubic at four points.
 *
 * The points are the nodes of Gauss' quadrature for the samples' own times, at which the values of the least-squares
 * cubic have independent errors, of variance v / lambda_j with the quadrature's weights lambda_j (docs/math.md, eq.
 * 68): nothing that the samples say about a solution which is a cubic there is lost. Stretches follow the record's time
 * scale.
 */
#ifndef KB_GP_CONDENSE_H
#define KB_GP_CONDENSE_H

#include "gp/record.h"

/* A record of fewer rows, with error bars; *out is NULL when there are few samples already, or when noise or error bars
   differ between them. Each run begins and ends with its first and last time, if need be with a row without values. */
kbass_status kb_record_condense(const kb_record *record, kb_record **out, kbass_error *error);

#endif
