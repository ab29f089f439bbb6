/* The range in which a field that obeys no law is sought, by whichever kernel. */
#ifndef KB_GP_SCALES_H
#define KB_GP_SCALES_H

#define KB_LONGEST_SCALE  2.0  /* records: longer ones are straight lines */
#define KB_SHORTEST_SCALE 0.55 /* spacings: shorter ones make any data look like white noise */
#define KB_MOST_NOISE     3.0  /* of the values' variance: more noise than that is none of theirs */

#endif
