/* Figures of a result. A kind has as many panels as the result gives it; a panel is a few gnuplot commands around its
 * numbers, and can stand alone (in a page) or beside others (in a file).
 */
#ifndef REPORT_PANELS_H
#define REPORT_PANELS_H

#include <stdio.h>

#include "view.h"

enum { PANEL_WORDS = 400 };

typedef struct {
    const char *name, *summary;
    int width, height; /* of a panel, in pixels */
    int columns;       /* panels side by side */
    size_t (*count)(const view *v);
    void (*draw)(FILE *script, const view *v, size_t panel);
    void (*describe)(const view *v, size_t panel,
                     char words[PANEL_WORDS]); /* what it shows, for those who do not see it */
} panel_kind;

/* The last has no name. */
extern const panel_kind panel_kinds[];
const panel_kind *panel_find(const char *name); /* or NULL */

/* ---------------------------------------------------------------- shared by the panels */

/* Colours that the colour-blind can tell apart; ink becomes the text's colour in a page. */
#define PANEL_INK    "#222222"
#define PANEL_GREY   "#888888"
#define PANEL_BLUE   "#2a7fba"
#define PANEL_ORANGE "#d9730d"

/* Forgets what the panel before has set. */
void panel_begin(FILE *script, const char *x_label, const char *y_label);
/* The same over time, from `low` to `high`; where times were dates they stand along the axis. */
void panel_begin_time(FILE *script, const view *v, const char *y_label, double low, double high);
/* "$name << EOD" ... "EOD" around rows of numbers. */
void panel_block(FILE *script, const char *name);
void panel_number(FILE *script, double value); /* and a blank */
void panel_place(FILE *script, double at);     /* with all its digits: far from 0 places differ in the last */
void panel_row(FILE *script);                  /* ends a row */
void panel_block_end(FILE *script);
double panel_point_size(size_t n);

/* A row of a solution: place, mean, and the ends of its 95 % band. */
void panel_band_row(FILE *script, double at, double mean, double sd);

/* What each kind has: its number of panels, and the functions that draw and describe one. */
#define PANEL_KIND(kind)                                                                                               \
    size_t kind##_count(const view *v);                                                                                \
    void kind##_draw(FILE *script, const view *v, size_t panel);                                                       \
    void kind##_describe(const view *v, size_t panel, char words[PANEL_WORDS])

PANEL_KIND(solution);
PANEL_KIND(phase);
PANEL_KIND(forecast);
PANEL_KIND(weights);
PANEL_KIND(residuals);
PANEL_KIND(field);
PANEL_KIND(slices);

/* Weights with a spread, equation by equation; false after the last. */
bool weight_at(const view *v, size_t panel, const view_equation **equation, const view_term **term);
void field_palette(FILE *script); /* from dark to light, the same in grey */

#endif
