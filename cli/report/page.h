/* The page: sections in the order in which a reader asks. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "view.h"

/* Returns an exit code. Without gnuplot the page is written without figures, and says so. */
int page_write(const view *v, const char *path);

#endif
