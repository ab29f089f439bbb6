/* Draws of the solution within the record and of its derivatives, and what one more sample would tell: all of it from the
 * linearised posterior (spread.h). */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "forecast/spread.h"

