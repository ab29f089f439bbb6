/* The short report: verdict, equations, how sure that is, terms that are in or undecided, warnings, two rivals, time.
 */
#ifndef KB_REPORT_SUMMARY_H
#define KB_REPORT_SUMMARY_H

#include "report/text_parts.h"

/* "Law found: ..." and why, in sentences. Nothing where the law was not judged. */
void kb_summary_verdict(const kb_text_page *to, const kbass_result *result);
/* Is there no law? Then only the best one's own terms are shown, and no groups. */
bool kb_summary_is_brief(const kbass_result *result);
/* "Explains 98.6 % of the variance, misfit 0.12 sd; 2 other laws within 1 : 10." */
void kb_summary_confidence(const kb_text_page *to, const kbass_result *result);
/* What the data cannot tell apart, a sentence for each. */
void kb_summary_alike(const kb_text_page *to, const kbass_result *result);
/* Terms of which some are in, but nobody knows which. */
void kb_summary_groups(const kb_text_page *to, const kbass_result *result);
/* Terms, warnings and rivals, a line or two for each. */
void kb_summary_terms(const kb_text_page *to, const kbass_result *result);
void kb_summary_warnings(const kb_text_page *to, const kbass_data *data, const kbass_result *result);
void kb_summary_rivals(const kb_text_page *to, const kbass_result *result);

#endif
