/* The named systems: data, read by the same parser as the user's equations. */
#include <string.h>

#include "base/status.h"
#include "base/suggest.h"
#include "simulate/model.h"

enum { MOST_STATES = 6 };

typedef struct {
    const char *name, *summary;
    double first, last;
    double initial[MOST_STATES];
    const char *equations[MOST_STATES + 1]; /* NULL after the last */
} named_system;

/* clang-format off */
static const named_system systems[] = {
    {"vdp", "van der Pol's oscillator, mu = 2.5", 0, 8, {1, 1},
     {"x_t = y", "y_t = 2.5*(1 - x^2)*y - x"}},
    {"lorenz63", "Lorenz's convection, chaotic", 0, 10, {-8, 8, 27},
     {"x_t = 10*(y - x)", "y_t = x*(28 - z) - y", "z_t = x*y - 8/3*z"}},
    {"lorenz96", "Lorenz's ring of six weather sites, forcing 8", 0, 5, {2.05, 2, 2, 2, 2, 2},
     {"x1_t = (x2 - x5)*x6 - x1 + 8", "x2_t = (x3 - x6)*x1 - x2 + 8", "x3_t = (x4 - x1)*x2 - x3 + 8",
      "x4_t = (x5 - x2)*x3 - x4 + 8", "x5_t = (x6 - x3)*x4 - x5 + 8", "x6_t = (x1 - x4)*x5 - x6 + 8"}},
    {"lotka-volterra", "hares and lynxes", 0, 20, {30, 4},
     {"x_t = 0.55*x - 0.028*x*y", "y_t = 0.026*x*y - 0.84*y"}},
    {"fitzhugh-nagumo", "a firing nerve: voltage v, recovery w", 0, 60, {-1, 1},
     {"v_t = v - v^3/3 - w + 0.5", "w_t = 0.08*(v + 0.7 - 0.8*w)"}},
    {"sir", "an epidemic: susceptible, infected, recovered shares", 0, 100, {0.99, 0.01, 0},
     {"s_t = -0.4*s*i", "i_t = 0.4*s*i - 0.1*i", "r_t = 0.1*i"}},
    {"brusselator", "an oscillating reaction, A = 1, B = 3", 0, 20, {1, 1},
     {"x_t = 1 + x^2*y - 4*x", "y_t = 3*x - x^2*y"}},
    {"oregonator", "the Belousov-Zhabotinsky reaction, stiff", 0, 20, {0.1, 0.1},
     {"x_t = 25*(x*(1 - x) - z*(x - 0.0008)/(x + 0.0008))", "z_t = x - z"}},
    {"duffing", "a beam between two magnets, driven", 0, 30, {1, 0},
     {"x_t = y", "y_t = x - x^3 - 0.3*y + 0.5*cos(1.2*t)"}},
    {"pendulum", "a pendulum with friction", 0, 20, {2, 0},
     {"x_t = y", "y_t = -sin(x) - 0.1*y"}},
    {"rossler", "Rossler's band, chaotic", 0, 50, {1, 1, 0},
     {"x_t = -y - z", "y_t = x + 0.2*y", "z_t = 0.2 + x*z - 5.7*z"}},
    {"chua", "Chua's circuit with a cubic resistor, chaotic", 0, 30, {0.1, 0, 0},
     {"x_t = 10*y + 10/7*x - 20/7*x^3", "y_t = x - y + z", "z_t = -100/7*y"}},
    {"repressilator", "three genes, each silencing the next", 0, 30, {1, 1.2, 1.5},
     {"x_t = 10/(1 + z^3) - x", "y_t = 10/(1 + x^3) - y", "z_t = 10/(1 + y^3) - z"}},
    {"michaelis-menten", "an enzyme turning substrate s into product p", 0, 6, {2, 0},
     {"s_t = -s/(0.5 + s)", "p_t = s/(0.5 + s)"}},
    {"cubic", "a damped oscillator with cubic forces", 0, 25, {2, 0},
     {"x_t = -0.1*x^3 + 2*y^3", "y_t = -2*x^3 - 0.1*y^3"}},
    {"logistic", "growth to a limit", 0, 10, {0.05},
     {"x_t = x - x^2"}},
    {"harmonic", "the harmonic oscillator", 0, 10, {1, 0},
     {"x_t = y", "y_t = -x"}},
};
/* clang-format on */

enum { N_SYSTEMS = sizeof systems / sizeof *systems };

const char *kb_model_name(size_t index) { return index < N_SYSTEMS ? systems[index].name : NULL; }

const char *kb_model_summary(size_t index) { return index < N_SYSTEMS ? systems[index].summary : NULL; }

kbass_status kb_model_named(const char *name, kb_model **out, kbass_error *error)
{
    const named_system *named = NULL;
    kb_model *model = NULL;
    size_t n = 0;
    for (size_t i = 0; i < N_SYSTEMS; i++)
        if (strcmp(name, systems[i].name) == 0) named = &systems[i];
    if (!named) return KBASS_OK;

    while (named->equations[n]) n++;
    kbass_status status = kb_model_parse(n, named->equations, NULL, false, &model, error);
    if (status == KBASS_OK) status = kb_model_start(model, named->initial, named->first, named->last, error);

    if (status == KBASS_OK) *out = model;
    else kb_model_destroy(model);
    return status;
}
