/* The document of a benchmark: opened anew or resumed, rows put in as they come, saved whole or not at all. */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include "harness.h"

int bench_document_open(const bench_plan *plan, const bench_manner *manner, json_t **document);
bool bench_document_has(const json_t *document, const char *name); /* a row of this name, without an error */
void bench_document_put(json_t *document, json_t *row);            /* in place of one of the same name; takes the row */
void bench_document_sort(json_t *document, const bench_plan *plan); /* the plan's rows first, in its order */
int bench_document_save(const json_t *document, const char *path);

#endif
