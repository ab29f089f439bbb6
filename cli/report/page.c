#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "html.h"
#include "message.h"
#include "output.h"
#include "page_parts.h"

/* ---------------------------------------------------------------- shared by the sections */

double page_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void page_text(page *p, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    html_text(p->out, text ? text : "–");
}

/* ---------------------------------------------------------------- head */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *text_of(const view *v, const char *part, const char *key)
{
    const json_t *object = part ? json_object_get(v->root, part) : v->root;
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "a.csv", "a.csv and 2 more", "the data" */
static void put_source(page *p)
{
    const char *source = file_name(text_of(p->v, "data", "source"));
    bool has_files = p->v->n_runs > 1 && !*text_of(p->v, "data", "run_column");
    html_text(p->out, *source ? source : "the data");
    if (*source && has_files) fprintf(p->out, " and %zu more", p->v->n_runs - 1);
}

static void put_head(page *p)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          p->out);
    put_source(p);
    fprintf(p->out, ": the law behind it</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n<h1>", html_style,
            html_style_of_top);
    fputs("The law behind ", p->out);
    put_source(p);
    fputs("</h1>\n", p->out);
}

static void put_runs(page *p)
{
    enum { MOST_RUNS = 12 };
    const view *v = p->v;
    if (v->n_runs == 1) return;
    fprintf(p->out, " %zu runs of one law, each from its own start: ", v->n_runs);
    for (size_t i = 0; i < v->n_runs && i < MOST_RUNS; i++) {
        if (i) fputs(", ", p->out);
        html_text(p->out, v->runs[i]);
    }
    fputs(v->n_runs > MOST_RUNS ? ", ..." : ".", p->out);
}

/* Values that were not measured. */
static void put_absent(page *p)
{
    const json_t *missing = json_object_get(json_object_get(p->v->root, "data"), "missing"), *count = NULL;
    const char *state = NULL;
    size_t n = 0;
    json_object_foreach((json_t *)missing, state, count)
    {
        if (!json_integer_value(count)) continue;
        fprintf(p->out, "%s%lld of ", n++ ? ", " : " Not measured: ", (long long)json_integer_value(count));
        html_text(p->out, state);
    }
    if (n) fputc('.', p->out);
}

static void put_summary(page *p)
{
    const view *v = p->v;
    fprintf(p->out, "<p class=\"quiet\">%lld rows, %zu %s (",
            (long long)json_integer_value(json_object_get(json_object_get(v->root, "data"), "rows")), v->n_states,
            v->n_axes > 1      ? (v->n_states == 1 ? "field" : "fields")
            : v->n_states == 1 ? "state"
                               : "states");
    for (size_t j = 0; j < v->n_states; j++) {
        if (j) fputs(", ", p->out);
        html_text(p->out, v->states[j]);
    }
    fputs(")", p->out);
    for (size_t a = 0; a < v->n_axes; a++) {
        fputs(", ", p->out);
        html_text(p->out, v->axes[a]);
        fprintf(p->out, " from %.6g to %.6g", v->span[a][0], v->span[a][1]);
    }
    fputs(".", p->out);
    put_runs(p);
    put_absent(p);
    fputs("</p>\n", p->out);
}

/* ---------------------------------------------------------------- figures */

static void put_panels(page *p, const panel_kind *kind, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) html_figure(p->out, p->v, kind, i, p->n_figures++);
}

/* Data and fit of the first states, or of the first field, stand beside the equations. */
static size_t n_beside(const page *p, const panel_kind *kind)
{
    size_t most = !strcmp(kind->name, "solution") ? 2 : !strcmp(kind->name, "field") ? 1 : 0, n = kind->count(p->v);
    return n < most ? n : most;
}

static void put_beside(page *p)
{
    static const char *const names[] = {"solution", "field"};
    if (!p->has_figures || !(n_beside(p, panel_find(names[0])) + n_beside(p, panel_find(names[1])))) return;
    fputs("<div class=\"beside\">\n", p->out);
    for (size_t k = 0; k < 2; k++) {
        const panel_kind *kind = panel_find(names[k]);
        put_panels(p, kind, 0, n_beside(p, kind));
    }
    fputs("</div>\n", p->out);
}

/* Panels of one or two kinds in one grid, but for those beside the equations. */
static void put_figures(page *p, const char *heading, const char *layout, const char *first, const char *second)
{
    const panel_kind *kinds[] = {panel_find(first), second ? panel_find(second) : NULL};
    size_t n = 0;
    for (size_t k = 0; k < 2 && kinds[k]; k++) n += kinds[k]->count(p->v) - n_beside(p, kinds[k]);
    if (!p->has_figures || !kinds[0]->count(p->v) || !n) return;
    if (heading) fprintf(p->out, "<h2>%s</h2>\n", heading);
    fprintf(p->out, "<div class=\"%s\">\n", layout);
    for (size_t k = 0; k < 2 && kinds[k]; k++) put_panels(p, kinds[k], n_beside(p, kinds[k]), kinds[k]->count(p->v));
    fputs("</div>\n", p->out);
}

/* ---------------------------------------------------------------- the law */

static void put_noise(page *p)
{
    const view *v = p->v;
    size_t n = 0;
    for (size_t j = 0; j < v->n_states; j++) {
        if (!isfinite(v->noise[j])) continue;
        fputs(n++ ? ", " : "<p class=\"quiet\">Noise of the measurements, standard deviation: ", p->out);
        html_text(p->out, v->states[j]);
        fputc(' ', p->out);
        if (v->noise_is_relative) fprintf(p->out, "%.2g %% of the value", 100 * v->noise[j]);
        else fprintf(p->out, "%.2g", v->noise[j]);
    }
    if (n && v->sigma) fputs(", from the error bars", p->out);
    if (n) fputs(".</p>\n", p->out);
}

/* As the terminal's report says it. */
static void put_confidence(page *p, const json_t *verdict)
{
    const json_t *explained = json_object_get(verdict, "explained"), *misfit = json_object_get(verdict, "misfit"),
                 *rivals = json_object_get(verdict, "rivals");
    double share = json_number_value(explained);
    if (!json_is_number(explained) || !json_is_number(misfit) || !json_is_integer(rivals)) return;
    fprintf(p->out,
            "<p>Explains %.*f %% of the variance, misfit %.3g; %" JSON_INTEGER_FORMAT
            " other law%s within 1 : 10.</p>\n",
            share > 0.995 ? 3 : 1, 100 * share, json_number_value(misfit), json_integer_value(rivals),
            json_integer_value(rivals) == 1 ? "" : "s");
}

/* A chip that says how sure, and why. */
static void put_verdict(page *p)
{
    const json_t *verdict = json_object_get(p->v->root, "verdict"),
                 *probability = json_object_get(verdict, "probability");
    const char *name = json_string_value(json_object_get(verdict, "name")),
               *reason = json_string_value(json_object_get(verdict, "reason"));
    if (!name || !reason) return;
    bool is_found = !strncmp(name, "law found", strlen("law found")), is_open = !strcmp(name, "law undecided");
    fprintf(p->out, "<p><span class=\"verdict chip %s\">", is_found ? "in" : is_open ? "undecided" : "out");
    html_text(p->out, name);
    fputs("</span> ", p->out);
    html_text(p->out, reason);
    if (json_is_number(probability)) {
        fputs(". Probability that a law of this dictionary holds: ", p->out);
        html_probability(p->out, json_number_value(probability));
    }
    fputs(".</p>\n", p->out);
    put_confidence(p, verdict);
}

/* How to read the equations, and how far they go. */
static void put_reading(page *p)
{
    const char *outcome = text_of(p->v, NULL, "outcome");
    const json_t *probability = json_object_get(p->v->root, "probability");
    if (p->v->n_equations) {
        fputs("<p class=\"quiet\">Digits in parentheses are the standard deviation of the last ones: 2.54(4) is 2.54 ± "
              "0.04.",
              p->out);
        if (json_is_number(probability)) {
            fputs(" Probability of this model among those compared: ", p->out);
            html_probability(p->out, json_number_value(probability));
            fputc('.', p->out);
        }
        fputs("</p>\n", p->out);
    }
    if (strcmp(outcome, "converged")) {
        fputs("<p class=\"note\">The search ended with: ", p->out);
        html_text(p->out, outcome);
        fputs(". The answer is the best so far.</p>\n", p->out);
    }
    put_noise(p);
}

static void put_law(page *p)
{
    const view *v = p->v;
    put_verdict(p);
    fputs("<div class=\"top\">\n<div>\n<section class=\"law\" aria-label=\"The equations\">\n", p->out);
    for (size_t e = 0; e < v->n_equations; e++) html_equation(p->out, v, &v->equations[e]);
    if (!v->n_equations) fputs("<p><strong>No model was found</strong> that explains these data.</p>\n", p->out);
    page_constants(p);
    fputs("</section>\n", p->out);
    put_reading(p);
    fputs("</div>\n", p->out);
    put_beside(p);
    fputs("</div>\n", p->out);
}

static void put_solution(page *p)
{
    const view_forecast *f = &p->v->forecast;
    if (!p->has_figures)
        fputs("<p class=\"note\">The figures are missing: gnuplot was not there when this page was made.</p>\n",
              p->out);
    else if (p->v->n_equations && !p->v->n_points)
        fputs("<p class=\"note\">The result holds no solution, so there are no figures of it.</p>\n", p->out);
    put_figures(p, "More of data and solution", "figures", "solution", "phase");
    put_figures(p, "More of data and solution", "figures", "field", "slices");
    put_figures(p, "What happens next", "figures pairs", "forecast", NULL);
    if (!f->n_times) return;
    fprintf(p->out, "<p class=\"quiet\">From %zu draws of the equations and of the last state, seed 1", f->n_draws);
    if (f->n_lost) fprintf(p->out, "; %zu of them diverge and are left out from there on", f->n_lost);
    fputs(".</p>\n", p->out);
}

/* ---------------------------------------------------------------- the whole */

static void put_page(page *p)
{
    put_head(p);
    put_summary(p);
    put_law(p);
    put_solution(p);
    page_terms(p);
    page_correlations(p);
    if (p->v->n_rows) page_residuals(p);
    page_unexplained(p);
    page_validation(p);
    put_figures(p, NULL, "figures pairs", "residuals", NULL);
    page_rivals(p);
    page_repeat(p);
    fputs("</main>\n</body>\n</html>\n", p->out);
}

int page_write(const view *v, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    page p = {.v = v, .out = open_memstream(&text, &size), .has_figures = figure_is_possible()};
    int code = EXIT_NO_RESULT;
    if (!p.out) return cli_fail("%s: out of memory", path);
    if (!p.has_figures)
        cli_fail("figures need gnuplot, which is not installed (Debian: apt-get install gnuplot-nox): %s is made "
                 "without them",
                 path);
    put_page(&p);
    if (fclose(p.out) == 0) code = cli_output_text(path, text);
    else cli_fail("%s: out of memory", path);
    free(text);
    return code;
}
