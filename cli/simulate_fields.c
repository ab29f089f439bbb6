/* kbass simulate, for PDEs: solve, sample on a grid or at random points, add noise. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands.h"
#include "message.h"
#include "output.h"
#include "share.h"

/* Options of other kinds of models, and those that a named PDE or a result has for itself. */
static int check_options(const cli_arguments *arguments)
{
    static const char *const for_systems[] = {"start", "from", "until", "samples", "times"};
    static const char *const its_own[] = {"domain", "initial", "boundary"};
    for (size_t i = 0; i < sizeof for_systems / sizeof *for_systems; i++)
        if (cli_value(arguments, for_systems[i]))
            return cli_fail("--%s is not for PDEs (see --domain, --initial, --grid, --within)", for_systems[i]);
    for (size_t i = 0; arguments->n_operands && i < sizeof its_own / sizeof *its_own; i++)
        if (cli_value(arguments, its_own[i]))
            return cli_fail("--%s is for equations typed with --equation; %s has its own", its_own[i],
                            arguments->operands[0]);
    return EXIT_OK;
}

static int take_part(const cli_arguments *arguments, kbass_model *pde)
{
    const char *within = cli_value(arguments, "within");
    kbass_error error;
    if (!within || kbass_model_within(pde, within, &error) == KBASS_OK) return EXIT_OK;
    return cli_fail("--within: %s", error.message);
}

/* ---------------------------------------------------------------- the samples */

/* "20x20" or "20,20" */
static int read_grid(const kbass_model *pde, const char *text, size_t counts[KBASS_MAX_AXES])
{
    const char *rest = text;
    size_t n = 0;
    for (; n < KBASS_MAX_AXES && *rest; n++) {
        char *end = NULL;
        unsigned long count = strtoul(rest, &end, 10);
        if (end == rest || *rest == '-' || count < 1 || count > 1000000000 || !strchr("x,", *end))
            return cli_fail("--grid: \"%s\" is not a grid: write counts from 1 to 1000000000, as in 20x20", text);
        counts[n] = count;
        rest = *end && end[1] ? end + 1 : end;
    }
    if (n == kbass_model_axes(pde) && !*rest) return EXIT_OK;
    return cli_fail("--grid: found \"%s\", needed %zu counts, time first", text, kbass_model_axes(pde));
}

/* .npy, .npz, .h5: arrays, written in pieces. */
static bool is_array_file(const char *path)
{
    static const char *const endings[] = {".npy", ".npz", ".h5", ".hdf5"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcasecmp(dot, endings[i])) return true;
    return false;
}

static int write_arrays(const cli_arguments *arguments, const kbass_model *pde, const char *path)
{
    const char *grid = cli_value(arguments, "grid");
    unsigned long seed = 1;
    double noise = 0;
    size_t counts[KBASS_MAX_AXES] = {0};
    kbass_error error = {0};
    if (cli_value(arguments, "scattered"))
        return cli_fail("--scattered: scattered points are written as a table: --output FILE.csv");
    int code = cli_count(arguments, "seed", 0, 2147483647, &seed);
    if (code == EXIT_OK) code = cli_number(arguments, "noise", 0, 1000, &noise);
    if (code == EXIT_OK && grid) code = read_grid(pde, grid, counts);
    if (code != EXIT_OK || !cli_share_writes()) return code;
    kbass_status status = kbass_model_write(pde, grid ? counts : NULL, noise, seed, path, &error);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

static int sample(const cli_arguments *arguments, const kbass_model *pde, kbass_data **data)
{
    const char *grid = cli_value(arguments, "grid");
    unsigned long n_points = 0, seed = 1;
    double noise = 0;
    size_t counts[KBASS_MAX_AXES] = {0};
    kbass_error error = {0};
    int code = cli_count(arguments, "scattered", 1, 1000000, &n_points);
    if (code == EXIT_OK) code = cli_count(arguments, "seed", 0, 2147483647, &seed);
    if (code == EXIT_OK) code = cli_number(arguments, "noise", 0, 1000, &noise);
    if (code == EXIT_OK && grid && n_points) code = cli_fail("--grid and --scattered exclude each other");
    if (code == EXIT_OK && grid) code = read_grid(pde, grid, counts);
    if (code != EXIT_OK) return code;

    kbass_status status = n_points ? kbass_model_scattered(pde, n_points, seed, data, &error)
                                   : kbass_model_grid(pde, grid ? counts : NULL, data, &error);
    if (status == KBASS_OK && noise > 0) status = kbass_data_add_noise(*data, noise, seed, &error);
    return status == KBASS_OK ? EXIT_OK : cli_fail_with(status, &error);
}

int cli_simulate_fields(const cli_arguments *arguments, kbass_model *pde)
{
    kbass_data *data = NULL;
    const char *path = cli_value(arguments, "output");
    int code = check_options(arguments);
    if (code == EXIT_OK) code = take_part(arguments, pde);
    if (code == EXIT_OK && is_array_file(path)) {
        code = write_arrays(arguments, pde, path);
    } else {
        if (code == EXIT_OK) code = sample(arguments, pde, &data);
        if (code == EXIT_OK) code = cli_output_data(path, data);
    }
    kbass_data_destroy(data);
    return code;
}
