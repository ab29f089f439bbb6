/* The parts of a text report about terms: their table, correlations and averages of weights, constants inside them. */
#ifndef KB_REPORT_TEXT_TERMS_H
#define KB_REPORT_TEXT_TERMS_H

#include "report/text_parts.h"

void kb_text_print_terms(const kb_text_page *to, const kbass_result *result, bool all);
void kb_text_print_correlations(const kb_text_page *to, const kbass_result *result);
void kb_text_print_averages(const kb_text_page *to, const kbass_result *result);
void kb_text_print_constants(const kb_text_page *to, const kbass_result *result);

#endif
