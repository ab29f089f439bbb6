/* Sections of the page. */
#ifndef REPORT_PAGE_PARTS_H
#define REPORT_PAGE_PARTS_H

#include <stdio.h>

#include "view.h"

typedef struct {
    const view *v;
    FILE *out;
    bool has_figures;
    unsigned n_figures;
} page;

void page_terms(page *p);     /* a card for each that is in or undecided, a table of the rest */
void page_residuals(page *p); /* in words */
void page_rivals(page *p);    /* groups, runners-up, explanations */
void page_repeat(page *p);    /* settings, seed, version, hash */

#endif
