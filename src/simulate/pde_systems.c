/* The named PDEs: data, read by the same parser as the user's. */
#include <string.h>

#include "base/status.h"
#include "dictionary/text.h"
#include "simulate/pde.h"

enum { MOST_FIELDS = 2 };

typedef struct {
    const char *name, *summary;
    const char *domain, *initial, *boundary;
    const char *within; /* sampled part of the domain, or NULL */
    size_t grid[KBASS_MAX_AXES];
    size_t initial_nodes;                   /* as in kb_pde */
    const char *equations[MOST_FIELDS + 1]; /* NULL after the last */
} named_pde;

#define BURGERS "x=0:10, t=0:8", "exp(-(x - 4)^2)", "periodic", NULL

/* clang-format off */
static const named_pde systems[] = {
    {"burgers", "PDE: Burgers' equation: a wave that steepens, viscosity 0.1",
     BURGERS, {20, 20}, 0, {"u_t = -u*u_x + 0.1*u_xx"}},
    {"burgers-0.01", "PDE: the same, viscosity 0.01",
     BURGERS, {50, 50}, 0, {"u_t = -u*u_x + 0.01*u_xx"}},
    {"burgers-0.005", "PDE: the same, viscosity 0.005: a front",
     BURGERS, {50, 50}, 0, {"u_t = -u*u_x + 0.005*u_xx"}},
    /* The authors' nodes are 10/1000 apart but labelled 10/999: the law in their labels is stretched. */
    {"burgers-released", "PDE: the same as in the data released with the KBASS paper, viscosity 0.1",
     "x=0:10000/999, t=0:8", "exp(-(x - 4)^2)", "periodic", "x=0:9630/999, t=0:6048/799", {10, 10}, 0,
     {"u_t = -1000/999*u*u_x + 0.1*(1000/999)^2*u_xx"}},
    {"ks", "PDE: Kuramoto and Sivashinsky's flame front, chaotic",
     "x=0:32*pi, t=0:150", "cos(12.5*x/(32*pi))", "periodic", "x=pi/32:pi*1015/32, t=0:148.2", {40, 40}, 1024,
     {"u_t = -u*u_x - u_xx - u_xxxx"}},
    {"allen-cahn", "PDE: Allen and Cahn's phases",
     "x=-1:1, t=0:1", "x^2*cos(pi*x)", "periodic", NULL, {101, 26}, 0, {"u_t = 0.0001*u_xx + 5*u - 5*u^3"}},
    {"kdv", "PDE: Korteweg and de Vries: two solitons, the faster overtaking",
     "x=-20:20, t=0:4", "8/(exp(x + 9) + exp(-x - 9))^2 + 2.88/(exp(0.6*x + 1.2) + exp(-0.6*x - 1.2))^2", "periodic",
     NULL, {30, 30}, 0, {"u_t = -6*u*u_x - u_xxx"}},
    {"heat", "PDE: heat in a rod with cold ends",
     "x=0:1, t=0:0.2", "sin(pi*x) + sin(3*pi*x)/2", "dirichlet", NULL, {20, 20}, 0, {"u_t = u_xx"}},
    {"fisher", "PDE: Fisher's spreading population, no flux at the ends",
     "x=0:20, t=0:8", "exp(-(x - 5)^2)/2", "neumann", NULL, {30, 30}, 0, {"u_t = u_xx + u - u^2"}},
    {"wave", "PDE: a plucked string on a ring",
     "x=0:2*pi, t=0:6", "exp(-4*(x - pi)^2)", "periodic", NULL, {30, 30}, 0, {"u_tt = u_xx"}},
    {"advection-diffusion", "PDE: a drop carried along and spreading",
     "x=0:10, t=0:4", "exp(-2*(x - 3)^2)", "periodic", NULL, {20, 20}, 0, {"u_t = -u_x + 0.1*u_xx"}},
    {"advection-diffusion-2d", "PDE: a warm spot drifting and spreading in the plane",
     "x=0:2*pi, y=0:2*pi, t=0:2", "exp(2*cos(x - 2) + 2*cos(y - 3) - 4)", "periodic", NULL, {15, 15, 15}, 0,
     {"u_t = -u_x - 0.5*u_y + 0.1*u_xx + 0.1*u_yy"}},
    {"reaction-diffusion", "PDE: lambda-omega spirals in the plane: two fields",
     "x=-10:10, y=-10:10, t=0:5", "u=sin(pi*x/10)*(1 + cos(pi*y/10)/2); v=sin(pi*y/10)*(1 - cos(pi*x/10)/3)",
     "periodic", NULL, {15, 15, 15}, 0,
     {"u_t = 0.1*u_xx + 0.1*u_yy + u - u^3 - u*v^2 + u^2*v + v^3",
      "v_t = 0.1*v_xx + 0.1*v_yy + v - v*u^2 - v^3 - u^3 - u*v^2"}},
};
/* clang-format on */

enum { N_SYSTEMS = sizeof systems / sizeof *systems };

const char *kb_pde_name(size_t index) { return index < N_SYSTEMS ? systems[index].name : NULL; }

const char *kb_pde_summary(size_t index) { return index < N_SYSTEMS ? systems[index].summary : NULL; }

kbass_status kb_pde_named(const char *name, kb_pde **out, kbass_error *error)
{
    const named_pde *named = NULL;
    kb_pde *pde = NULL;
    size_t n = 0;
    for (size_t i = 0; i < N_SYSTEMS; i++)
        if (!strcmp(name, systems[i].name)) named = &systems[i];
    if (!named) return KBASS_OK;

    while (named->equations[n]) n++;
    kbass_status status =
        kb_pde_parse(n, named->equations, named->domain, named->initial, named->boundary, &pde, error);
    if (status == KBASS_OK) pde->initial_nodes = named->initial_nodes;
    if (status == KBASS_OK && named->within) status = kb_pde_within(pde, named->within, error);
    for (size_t d = 0; status == KBASS_OK && d < pde->n_axes; d++) pde->axes[d].n_samples = named->grid[d];

    if (status == KBASS_OK) *out = pde;
    else kb_pde_destroy(pde);
    return status;
}
