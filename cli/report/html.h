/* Pieces of a page: escaped text, numbers as people write them, formulas as MathML, figures as inline SVG. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "panels.h"

void html_text(FILE *out, const char *text);
void html_probability(FILE *out, double probability); /* never 0 or 1: only compared models count */
/* 1.007(14): the last digits' standard deviation in parentheses; without an sd six digits. As MathML. */
void html_weight(FILE *out, double weight, double sd);
void html_number(FILE *out, double value);                         /* four digits */
void html_unit(FILE *out, const char *unit);                       /* "m s^-2", powers raised, after a blank */
void html_interval(FILE *out, double low, double high, double sd); /* to two digits of the sd, as reports have it */
enum { HTML_INTERVAL = 80 };
void html_interval_words(double low, double high, double sd, const char *minus, char words[HTML_INTERVAL]);

/* A term as MathML without <math>: "x^2*y", "sin(x)", "u*u_xx". */
void html_term(FILE *out, const char *term);
/* The whole equation; each term is a formula of its own, so that lines can break between them. */
void html_equation(FILE *out, const view *v, const view_equation *equation);

/* A panel as <figure> with its description, or nothing when gnuplot fails; `id` keeps its names apart from others'. */
void html_figure(FILE *out, const view *v, const panel_kind *kind, size_t panel, unsigned id);

extern const char html_style[], html_style_of_top[];

#endif
