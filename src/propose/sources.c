#include "propose/sources.h"

#include "propose/kernel/proposals.h"
#include "propose/ode/products.h"
#include "propose/ode/starts.h"
#include "propose/ode/weak.h"
#include "propose/weak/axes.h"
#include "propose/weak/integral_axes.h"

const kb_source kb_sources_of_states[] = {{"integral form", KB_AT_FIRST, kb_propose_integral},
                                          {"weak form", KB_AT_FIRST, kb_propose_weak},
                                          {"kernel EP", KB_AT_FIRST, kb_propose_annealed},
                                          {"integral form, products", KB_AT_FIRST, kb_propose_products},
                                          {"kernel EP", KB_WHERE_UNEXPLAINED, kb_propose_annealed_anyway},
                                          {"kernel EP, refined by evidence", KB_AGAIN, kb_propose_refined},
                                          {0}};

const kb_source kb_sources_of_one_axis[] = {
    {"kernel EP", KB_ON_SHORT_WINDOWS | KB_IN_EACH_RUN | KB_WHERE_UNEXPLAINED, kb_propose_on_patches}, {0}};

const kb_source kb_sources_of_axes[] = {{"integral form", KB_AT_FIRST, kb_propose_integral_of_axes},
                                        {"weak form", KB_AT_FIRST, kb_propose_weak_fields},
                                        {"EP on the bare field", KB_AT_FIRST, kb_propose_on_bare_field},
                                        {0}};
