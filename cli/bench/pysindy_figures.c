#include "pysindy_figures.h"

#include <math.h>
#include <string.h>

/* bench/pysindy.py with PySINDy 1.7.5: medians over the draws. */
static const bench_figures figures[] = {{"vdp-10-0", 0.939, 0, 1},
                                        {"vdp-10-1", 0.937, 0, 3},
                                        {"vdp-10-20", 0.939, 0, 3},
                                        {"vdp-25-0", 0.374, 0, 1},
                                        {"vdp-25-1", 0.371, 0, 3},
                                        {"vdp-25-20", 0.68, 0, 3},
                                        {"lorenz96-12-0", 1.02, 0, 1},
                                        {"lorenz96-12-1", 1.02, 0, 3},
                                        {"lorenz96-12-10", 1.02, 0, 3},
                                        {"lorenz96-50-0", 1, 0, 1},
                                        {"lorenz96-50-1", 0.934, 0, 3},
                                        {"lorenz96-50-10", 0.842, 0, 3},
                                        {"burgers-10-0", 1.01, 0, 1},
                                        {"burgers-10-1", 1.01, 0, 3},
                                        {"burgers-10-20", 0.671, 0, 3},
                                        {"burgers-20-0", 0.0891, 0, 1},
                                        {"burgers-20-1", 0.052, 0, 3},
                                        {"burgers-20-20", 0.1, 0, 3},
                                        {"burgers-0.01-0", 0.192, 0, 1},
                                        {"burgers-0.01-10", 0.219, 0, 3},
                                        {"burgers-0.01-20", 0.249, 0, 3},
                                        {"burgers-0.005-0", 0.213, 0, 1},
                                        {"burgers-0.005-10", 0.216, 0, 3},
                                        {"burgers-0.005-20", 0.226, 0, 3},
                                        {"ks-0", 0.981, 0, 1},
                                        {"ks-10", 0.977, 0, 3},
                                        {"ks-20", 0.983, 0, 3},
                                        {"allen-cahn-0", 0.00606, 0, 1},
                                        {"allen-cahn-5", 0.122, 1, 3},
                                        {"allen-cahn-10", 0.267, 0, 3},
                                        {"hare-lynx", 0.21, 1, 1}};

const bench_figures *bench_pysindy_figures(const char *cell)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!strcmp(figures[i].cell, cell)) return &figures[i];
    return NULL;
}
