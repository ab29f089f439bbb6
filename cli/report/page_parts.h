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

/* Of an object: a number, NaN when it is none; a text, written, – when it is none. */
double page_number(const json_t *object, const char *key);
void page_text(page *p, const json_t *object, const char *key);

void page_constants(page *p);    /* inside terms */
void page_terms(page *p);        /* a card for each that is in or undecided, a table of the rest */
void page_correlations(page *p); /* of the weights */
void page_residuals(page *p);    /* in words */
void page_unexplained(page *p);  /* what the law leaves */
void page_validation(page *p);   /* parts of the data left out */
void page_rivals(page *p);       /* groups, runners-up, explanations */
void page_repeat(page *p);       /* settings, seed, version, hash */

#endif
