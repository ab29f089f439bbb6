/* How far to trust what was found: correlations of the weights, residuals, what the law leaves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "page_parts.h"

/* ---------------------------------------------------------------- correlations */

enum { MOST_IN_TABLE = 12 };
static const double strong = 0.9;

static double entry(const json_t *matrix, size_t i, size_t j)
{
    return json_number_value(json_array_get(json_array_get(matrix, i), j));
}

/* "x_t: x*y" as text: formulas would take too much room in a table. */
static void put_name(page *p, const json_t *names, size_t i)
{
    const char *name = json_string_value(json_array_get(names, i));
    html_text(p->out, name ? name : "–");
}

/* Blue for weights that rise together, orange for those that do not; the numbers say the same. */
static void put_cell(page *p, double r)
{
    fprintf(p->out, "<td class=\"number\" style=\"background:rgba(%s,%.2f)\">%s%.2f</td>",
            r >= 0 ? "42,127,186" : "217,115,13", 0.5 * fabs(r), r < 0 ? "−" : "", fabs(r));
}

static void put_matrix(page *p, const json_t *names, const json_t *matrix)
{
    size_t n = json_array_size(names);
    fputs("<div class=\"wide\"><table class=\"matrix\"><thead><tr><th></th>", p->out);
    for (size_t j = 0; j + 1 < n; j++) {
        fputs("<th>", p->out);
        put_name(p, names, j);
        fputs("</th>", p->out);
    }
    fputs("</tr></thead><tbody>\n", p->out);
    for (size_t i = 1; i < n; i++) {
        fputs("<tr><th>", p->out);
        put_name(p, names, i);
        fputs("</th>", p->out);
        for (size_t j = 0; j < i; j++) put_cell(p, entry(matrix, i, j));
        for (size_t j = i; j + 1 < n; j++) fputs("<td></td>", p->out);
        fputs("</tr>\n", p->out);
    }
    fputs("</tbody></table></div>\n", p->out);
}

static void put_strong_pairs(page *p, const json_t *names, const json_t *matrix)
{
    size_t n = json_array_size(names), found = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            if (!(fabs(entry(matrix, i, j)) > strong)) continue;
            fputs(found++ ? "; " : "<p>Above 0.9: ", p->out);
            put_name(p, names, j);
            fputs(" with ", p->out);
            put_name(p, names, i);
            fprintf(p->out, " %.2f", entry(matrix, i, j));
        }
    fputs(found ? ".</p>\n" : "<p>None is above 0.9.</p>\n", p->out);
}

void page_correlations(page *p)
{
    const json_t *correlation = json_object_get(p->v->root, "correlation"),
                 *names = json_object_get(correlation, "weights"), *matrix = json_object_get(correlation, "matrix");
    if (json_array_size(names) < 2 || json_array_size(matrix) != json_array_size(names)) return;
    fputs("<h3>How the weights move together</h3>\n<p class=\"quiet\">Correlations: where one is near 1 or −1, an "
          "error in one "
          "weight comes with one in the other.</p>\n",
          p->out);
    if (json_array_size(names) <= MOST_IN_TABLE) put_matrix(p, names, matrix);
    else put_strong_pairs(p, names, matrix);
}

/* ---------------------------------------------------------------- residuals */

typedef struct {
    size_t n, n_within;
    double rms, largest;
} residual_sums;

static residual_sums sum_residuals(const double *z, size_t n_rows)
{
    residual_sums s = {0};
    for (size_t i = 0; i < n_rows; i++) {
        if (!isfinite(z[i])) continue;
        s.n++;
        s.n_within += fabs(z[i]) <= 2;
        s.rms += z[i] * z[i];
        s.largest = fmax(s.largest, fabs(z[i]));
    }
    s.rms = s.n ? sqrt(s.rms / (double)s.n) : NAN;
    return s;
}

static void put_row(page *p, size_t state, const residual_sums *s)
{
    fputs("<tr><td>", p->out);
    html_text(p->out, p->v->states[state]);
    fprintf(p->out,
            "</td><td class=\"number\">%zu</td><td class=\"number\">%.2f</td><td class=\"number\">%.1f %%</td>"
            "<td class=\"number\">%.1f</td></tr>\n",
            s->n, s->rms, 100 * (double)s->n_within / (double)s->n, s->largest);
}

/* What the result's own tests found, in its own words. */
static void put_tests(page *p)
{
    const json_t *tests = json_object_get(p->v->root, "residual_tests"),
                 *warnings = json_object_get(p->v->root, "warnings"), *item = NULL;
    size_t i = 0;
    json_array_foreach(warnings, i, item)
    {
        if (!json_is_string(item)) continue;
        fputs("<p class=\"note\">", p->out);
        html_text(p->out, json_string_value(item));
        fputs("</p>\n", p->out);
    }
    if (!json_array_size(tests)) return;
    fprintf(p->out, "<p class=\"quiet\">%s p-values, corrected for the number of tests: ",
            json_array_size(warnings) ? "" : "No test finds them unlike the noise that was assumed.");
    json_array_foreach(tests, i, item)
    {
        const char *state = json_string_value(json_object_get(item, "state")),
                   *test = json_string_value(json_object_get(item, "test"));
        const json_t *value = json_object_get(item, "p_value");
        if (!state || !test || !json_is_number(value)) continue;
        if (i) fputs(", ", p->out);
        html_text(p->out, state);
        fputc(' ', p->out);
        html_text(p->out, test);
        fprintf(p->out, " %.2g", json_number_value(value));
    }
    fputs(".</p>\n", p->out);
}

void page_residuals(page *p)
{
    double *z = calloc(p->v->n_rows, sizeof *z);
    if (!z) return;
    fputs("<h2>Residuals</h2>\n<p class=\"quiet\">Measured minus fitted, in units of the noise; of Gaussian noise 95.4 "
          "% lie within "
          "2.</p>\n<div class=\"wide\"><table><thead><tr><th></th><th>samples</th><th>rms</th><th>within "
          "2</th><th>largest</th></tr>"
          "</thead><tbody>\n",
          p->out);
    for (size_t j = 0; j < p->v->n_states; j++) {
        view_residuals(p->v, j, z);
        residual_sums sums = sum_residuals(z, p->v->n_rows);
        if (sums.n) put_row(p, j, &sums);
    }
    fputs("</tbody></table></div>\n", p->out);
    put_tests(p);
    free(z);
}

/* ---------------------------------------------------------------- what the law leaves */

static void put_misfit(page *p, const json_t *misfit)
{
    fprintf(p->out, "<p class=\"note\">From ");
    html_text(p->out, p->v->axes[0]);
    fprintf(p->out, " = %.4g to %.4g", page_number(misfit, "from"), page_number(misfit, "until"));
    if (p->v->n_axes > 1 && isfinite(page_number(misfit, "low"))) {
        fputs(", ", p->out);
        html_text(p->out, p->v->axes[1]);
        fprintf(p->out, " = %.4g to %.4g", page_number(misfit, "low"), page_number(misfit, "high"));
    }
    fputs(", ", p->out);
    page_text(p, misfit, "state");
    fprintf(p->out, " is measured %s the solution: %.1f standard deviations in all.</p>\n",
            page_number(misfit, "score") > 0 ? "above" : "below", fabs(page_number(misfit, "score")));
}

static void put_missing_term(page *p, const json_t *missing)
{
    const char *term = json_string_value(json_object_get(missing, "term"));
    fputs("<p class=\"note\">A term outside the dictionary, <math><mrow>", p->out);
    html_term(p->out, term ? term : "");
    fputs("</mrow></math> in the equation of ", p->out);
    page_text(p, missing, "state");
    fprintf(p->out, ", would help by %.1f standard deviations (see --terms).</p>\n",
            fabs(page_number(missing, "score")));
}

void page_unexplained(page *p)
{
    const json_t *misfits = json_object_get(p->v->root, "misfits"), *missing = json_object_get(p->v->root, "missing"),
                 *item = NULL;
    size_t i = 0;
    if (!json_array_size(misfits) && !json_array_size(missing)) return;
    fputs("<h3>What the law leaves unexplained</h3>\n", p->out);
    json_array_foreach(misfits, i, item) put_misfit(p, item);
    json_array_foreach(missing, i, item) put_missing_term(p, item);
}

/* ---------------------------------------------------------------- parts left out */

static void put_fold(page *p, const json_t *fold)
{
    const json_t *equations = json_object_get(fold, "equations"), *item = NULL;
    size_t i = 0;
    fputs("<tr><td>", p->out);
    page_text(p, fold, "left_out");
    fputs("</td>", p->out);
    if (!json_is_true(json_object_get(fold, "is_scored"))) {
        fputs("<td colspan=\"4\">not scored: ", p->out);
        page_text(p, fold, "reason");
        fputs("</td></tr>\n", p->out);
        return;
    }
    fprintf(p->out, "<td class=\"number\">%.3f</td><td class=\"number\">%.3f</td><td class=\"number\">%.0f %%</td><td>",
            page_number(fold, "r2"), page_number(fold, "log_score"), 100 * page_number(fold, "within_90"));
    if (json_is_true(json_object_get(fold, "is_same"))) fputs("the same terms", p->out);
    else json_array_foreach(equations, i, item)
        {
            if (i) fputs("<br>", p->out);
            html_text(p->out, json_is_string(item) ? json_string_value(item) : "");
        }
    fputs("</td></tr>\n", p->out);
}

void page_validation(page *p)
{
    const json_t *folds = json_object_get(p->v->root, "validation"), *item = NULL;
    size_t i = 0;
    if (!json_array_size(folds)) return;
    fputs("<h2>Data it had not seen</h2>\n<p class=\"quiet\">The law was found once more without a part of the data, "
          "and foretold it. The log score is the mean log density of a measured value, in nats; of sound bands 90 % "
          "of the values lie in the 90 % band.</p>\n<div class=\"wide\"><table><thead><tr><th>left out</th>"
          "<th>R²</th><th>log score</th><th>in the 90 % band</th><th>law found without it</th></tr></thead><tbody>\n",
          p->out);
    json_array_foreach(folds, i, item) put_fold(p, item);
    fputs("</tbody></table></div>\n", p->out);
}
