#include "simulate/pde.h"
#include "base/status.h"
kbass_status kb_collocate_run(const kbass_pde *pde, const kb_samples *samples, size_t n, double *values,
                              kb_journey *journey, kbass_error *error)
{(void)pde;(void)samples;(void)n;(void)values;(void)journey; return kb_fail(error,KBASS_ERROR_NUMERICAL,"later");}
