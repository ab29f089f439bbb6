/* Weights and residuals: how far to trust what was found. */
#include <math.h>
#include <stdlib.h>

#include "html.h"
#include "panels.h"

/* ---------------------------------------------------------------- weights */

static bool has_spread(const view_equation *equation, const view_term *term)
{
    return term->is_selected && !equation->is_known && term->sd > 0 && isfinite(term->sd);
}

bool weight_at(const view *v, size_t panel, const view_equation **equation, const view_term **term)
{
    for (size_t e = 0; e < v->n_equations; e++)
        for (size_t i = 0; i < v->equations[e].n_terms; i++) {
            *equation = &v->equations[e];
            *term = &v->equations[e].terms[i];
            if (has_spread(*equation, *term) && panel-- == 0) return true;
        }
    return false;
}

size_t weights_count(const view *v)
{
    const view_equation *equation = NULL;
    const view_term *term = NULL;
    size_t n = 0;
    while (weight_at(v, n, &equation, &term)) n++;
    return n;
}

/* As many as tell weights apart that are two standard deviations apart. */
static int digits_of(const view_term *term)
{
    double digits = ceil(log10((fabs(term->weight) + term->sd) / term->sd));
    return digits > 3 && digits < 9 ? (int)digits : 3;
}

/* Where the density has its peak, and the sd on either side: normal halves that have the interval's quantiles. */
static double halves(const view_term *term, double sd[2])
{
    const double quantile = 1.959963984540054;
    bool is_inside = term->low < term->weight && term->weight < term->high;
    double peak = is_inside || !(term->low < term->high) ? term->weight : 0.5 * (term->low + term->high);
    sd[0] = term->low < peak ? (peak - term->low) / quantile : term->sd;
    sd[1] = term->high > peak ? (term->high - peak) / quantile : term->sd;
    return peak;
}

/* The density, its peak 1. */
void weights_draw(FILE *script, const view *v, size_t panel)
{
    enum { N = 80 };
    const double reach = 3.6, interval = 1.96;
    const view_equation *equation = NULL;
    const view_term *term = NULL;
    double sd[2];
    if (!weight_at(v, panel, &equation, &term)) return;
    double peak = halves(term, sd);
    panel_begin(script, "", "");
    panel_block(script, "density");
    for (int i = -N; i <= N; i++) {
        double z = reach * i / N, height = exp(-z * z / 2);
        panel_number(script, peak + z * sd[z > 0]);
        panel_number(script, height);
        panel_number(script, fabs(z) <= interval ? height : NAN);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script,
            "set title '%s: %s' noenhanced textcolor rgb '" PANEL_INK "'\nset border 1\n"
            "set tmargin 2.2\nset bmargin 2\nset lmargin 2\nset rmargin 2\nunset ytics\nunset key\n"
            "set yrange [0:1.1]\nset xrange [%.10g:%.10g]\nset xtics (%.10g, %.10g, %.10g) format '%%.%dg'\n"
            "plot $density using 1:3 with filledcurves y=0 fc rgb '" PANEL_BLUE "' fs transparent solid 0.3 notitle, "
            "$density using 1:2 with lines lw 2 lc rgb '" PANEL_BLUE "' notitle\nset format x '%% h'\n",
            equation->lhs, term->name, peak - reach * sd[0], peak + reach * sd[1], peak - interval * sd[0], peak,
            peak + interval * sd[1], digits_of(term));
}

void weights_describe(const view *v, size_t panel, char words[PANEL_WORDS])
{
    const view_equation *equation = NULL;
    const view_term *term = NULL;
    char interval[HTML_INTERVAL];
    if (!weight_at(v, panel, &equation, &term)) return;
    html_interval_words(term->low, term->high, term->sd, "-", interval);
    snprintf(words, PANEL_WORDS,
             "Posterior density of the weight of %s in %s: %.4g, standard deviation %.2g, 95 %% interval %s.",
             term->name, equation->lhs, term->weight, term->sd, interval);
}

/* ---------------------------------------------------------------- residuals: over time, then quantiles, state by state
 */

enum { MOST_DOTS = 2000, MOST_QUANTILES = 800 };

size_t residuals_count(const view *v)
{
    size_t n = 0;
    for (size_t j = 0; v->n_rows && j < v->n_states; j++) n += v->noise[j] > 0 ? 2 : 0;
    return n;
}

static size_t state_of(const view *v, size_t panel)
{
    size_t left = panel / 2;
    for (size_t j = 0; j < v->n_states; j++)
        if (v->noise[j] > 0 && left-- == 0) return j;
    return 0;
}

static void draw_over_time(FILE *script, const view *v, const double *z)
{
    panel_block(script, "residuals");
    for (size_t i = 0; i < v->n_rows; i += v->n_rows / MOST_DOTS + 1) {
        panel_place(script, v->at[0][i]);
        panel_number(script, z[i]);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script,
            "unset key\nset yrange [*<-3:3<*]\nplot 0 with lines lc rgb '" PANEL_GREY
            "' notitle, 2 with lines dt 2 lc rgb '" PANEL_GREY "' notitle, -2 with lines dt 2 lc rgb '" PANEL_GREY
            "' notitle, "
            "$residuals using 1:2 with points pt 7 ps %g lc rgb '" PANEL_BLUE "' notitle\n",
            panel_point_size(v->n_rows));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts z. */
static void draw_quantiles(FILE *script, size_t n_rows, double *z)
{
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (isfinite(z[i])) z[n++] = z[i];
    qsort(z, n, sizeof *z, ascending);
    size_t step = n / MOST_QUANTILES + 1;
    panel_block(script, "quantiles");
    for (size_t i = 0; i < n; i += step) {
        panel_number(script, ((double)i + 0.5) / (double)n);
        panel_number(script, z[i]);
        panel_row(script);
    }
    panel_block_end(script);
    fprintf(script,
            "unset key\nplot $quantiles using (invnorm($1)):(invnorm($1)) with lines lc rgb '" PANEL_GREY "' notitle, "
            "'' using (invnorm($1)):2 with points pt 7 ps %g lc rgb '" PANEL_BLUE "' notitle\n",
            panel_point_size(n));
}

void residuals_draw(FILE *script, const view *v, size_t panel)
{
    char label[PANEL_WORDS];
    size_t state = state_of(v, panel);
    double *z = calloc(v->n_rows, sizeof *z);
    if (!z) return;
    view_residuals(v, state, z);
    snprintf(label, sizeof label, "residual of %.100s / noise", v->states[state]);
    if (panel % 2) panel_begin(script, "normal quantile", label);
    else panel_begin_time(script, v, label, v->span[0][0], v->span[0][1]);
    if (panel % 2) draw_quantiles(script, v->n_rows, z);
    else draw_over_time(script, v, z);
    free(z);
}

void residuals_describe(const view *v, size_t panel, char words[PANEL_WORDS])
{
    const char *name = v->states[state_of(v, panel)];
    if (panel % 2)
        snprintf(words, PANEL_WORDS,
                 "Quantiles of the residuals of %s against those of a normal distribution: on the line when the "
                 "noise is Gaussian.",
                 name);
    else
        snprintf(words, PANEL_WORDS,
                 "Residuals of %s over %s, in units of the noise: 95 %% should lie between the dashed lines, "
                 "without a pattern.",
                 name, v->axes[0]);
}
