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
    void (*describe)(const view *v, size_t panel, char words[PANEL_WORDS]); /* what it shows, for those who do not see it */
} panel_kind;

/* The last has no name. */
extern const panel_kind panel_kinds[];
const panel_kind *panel_find(const char *name); /* or NULL */

/* ---------------------------------------------------------------- shared by the panels */

/* Colours that the colour-blind can tell apart; ink becomes the text's colour in a page. */
#define PANEL_INK "#222222"
#define PANEL_GREY "#888888"
#define PANEL_BLUE "#2a7fba"
#define PANEL_ORANGE "#d9730d"

/* Forgets what the panel before has set. */
void panel_begin(FILE *script, const char *x_label, const char *y_label);
/* "$name << EOD" ... "EOD" around rows of numbers. */
void panel_block(FILE *script, const char *name);
void panel_number(FILE *script, double value); /* and a blank */
void panel_row(FILE *script);                  /* ends a row */
void panel_block_end(FILE *script);
double panel_point_size(size_t n);

/* The kinds, by file. */
size_t solution_count(const view *v);
void solution_draw(FILE *script, const view *v, size_t panel);
void solution_describe(const view *v, size_t panel, char words[PANEL_WORDS]);
size_t phase_count(const view *v);
void phase_draw(FILE *script, const view *v, size_t panel);
void phase_describe(const view *v, size_t panel, char words[PANEL_WORDS]);
size_t forecast_count(const view *v);
void forecast_draw(FILE *script, const view *v, size_t panel);
void forecast_describe(const view *v, size_t panel, char words[PANEL_WORDS]);

/* Weights with a spread, equation by equation; false after the last. */
bool weight_at(const view *v, size_t panel, const view_equation **equation, const view_term **term);
size_t weights_count(const view *v);
void weights_draw(FILE *script, const view *v, size_t panel);
void weights_describe(const view *v, size_t panel, char words[PANEL_WORDS]);

size_t residuals_count(const view *v);
void residuals_draw(FILE *script, const view *v, size_t panel);
void residuals_describe(const view *v, size_t panel, char words[PANEL_WORDS]);

size_t field_count(const view *v);
void field_draw(FILE *script, const view *v, size_t panel);
void field_describe(const view *v, size_t panel, char words[PANEL_WORDS]);
void field_palette(FILE *script); /* from dark to light, the same in grey */
size_t slices_count(const view *v);
void slices_draw(FILE *script, const view *v, size_t panel);
void slices_describe(const view *v, size_t panel, char words[PANEL_WORDS]);

#endif
