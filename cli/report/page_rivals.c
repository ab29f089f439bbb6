/* Other models, and how to repeat the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "page_parts.h"

/* exp(log_odds) as "1 : 8.2". */
static void put_odds(page *p, double log_odds)
{
    double ratio = exp(fmin(fabs(log_odds), 300));
    if (!isfinite(log_odds)) fputs("–", p->out);
    else if (ratio >= 1e6) fprintf(p->out, log_odds <= 0 ? "1 : %.1e" : "%.1e : 1", ratio);
    else fprintf(p->out, log_odds <= 0 ? "1 : %.*f" : "%.*f : 1", ratio < 100 ? 1 : 0, ratio);
}

static void put_groups(page *p)
{
    const json_t *groups = json_object_get(p->v->root, "groups"), *group = NULL, *term = NULL;
    size_t i = 0, j = 0;
    json_array_foreach(groups, i, group)
    {
        fprintf(p->out, "<p class=\"note\">Of these terms in the equation of ");
        page_text(p, group, "lhs");
        fputs(", which the data cannot tell apart, ", p->out);
        long long present = (long long)json_integer_value(json_object_get(group, "present"));
        if (present) fprintf(p->out, "%lld %s in: ", present, present == 1 ? "is" : "are");
        else fputs("one or more are in: ", p->out);
        json_array_foreach(json_object_get(group, "terms"), j, term)
        {
            const char *name = json_string_value(term);
            fprintf(p->out, "%s<math><mrow>", j ? ", " : "");
            html_term(p->out, name ? name : "");
            fputs("</mrow></math>", p->out);
        }
        fputs(" (probability ", p->out);
        html_probability(p->out, page_number(group, "probability"));
        fputs(").</p>\n", p->out);
    }
}

/* What the data cannot tell apart, whatever the probabilities. */
static void put_alike(page *p)
{
    const json_t *item = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(p->v->root, "alike"), i, item)
    {
        fputs("<p class=\"note\">", p->out);
        page_text(p, item, "sentence");
        fputs("</p>\n", p->out);
    }
}

static void put_rival(page *p, const json_t *rival)
{
    const json_t *equation = NULL;
    size_t i = 0;
    fputs("<article class=\"card\"><h4><span>odds ", p->out);
    put_odds(p, page_number(rival, "log_odds"));
    fputs("</span></h4><dl><dt>probability</dt><dd>", p->out);
    html_probability(p->out, page_number(rival, "probability"));
    fputs("</dd><dt>misfit</dt><dd>", p->out);
    html_number(p->out, page_number(rival, "misfit"));
    fputs("</dd></dl>", p->out);
    json_array_foreach(json_object_get(rival, "equations"), i, equation)
    {
        fputs("<code class=\"block\">", p->out);
        html_text(p->out, json_string_value(equation) ? json_string_value(equation) : "");
        fputs("</code>", p->out);
    }
    fputs("</article>\n", p->out);
}

static void put_explanation(page *p, const json_t *explanation)
{
    const char *change = json_string_value(json_object_get(explanation, "change"));
    bool is_added = change && !strcmp(change, "added");
    fprintf(p->out, "<p>With ");
    page_text(p, explanation, "term");
    fprintf(p->out, " %s in the equation of ", is_added ? "added" : "dropped");
    page_text(p, explanation, "lhs");
    if (!json_is_true(json_object_get(explanation, "fitted"))) {
        fputs(", the model cannot be fitted to these data.</p>\n", p->out);
        return;
    }
    fputs(", the odds against the chosen model are ", p->out);
    put_odds(p, page_number(explanation, "log_odds"));
    fputs(" and the misfit goes from ", p->out);
    html_number(p->out, page_number(explanation, "misfit_before"));
    fputs(" to ", p->out);
    html_number(p->out, page_number(explanation, "misfit_after"));
    fputs(".</p>\n", p->out);
}

void page_rivals(page *p)
{
    const json_t *rivals = json_object_get(p->v->root, "runners_up"), *item = NULL;
    size_t i = 0;
    if (!p->v->n_equations) return;
    fputs("<h2>Other models</h2>\n", p->out);
    put_groups(p);
    put_alike(p);
    if (json_array_size(rivals)) {
        fputs("<p class=\"quiet\">Those with odds above 1 : 1000 against the chosen one. The misfit is the root mean "
              "square of the "
              "residuals, in units of each state’s standard deviation.</p>\n<div class=\"cards\">\n",
              p->out);
        json_array_foreach(rivals, i, item) put_rival(p, item);
        fputs("</div>\n", p->out);
    } else {
        fputs("<p>No other model that was compared has odds above 1 : 1000.</p>\n", p->out);
    }
    json_array_foreach(json_object_get(p->v->root, "explanations"), i, item) put_explanation(p, item);
}

/* ---------------------------------------------------------------- to repeat it */

/* The setting as text, or false when it was not given. */
static bool setting_text(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value)) snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_integer(value)) snprintf(text, size, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value)) snprintf(text, size, "%.15g", json_real_value(value));
    else if (json_is_boolean(value)) snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    else return false;
    return true;
}

static bool is_default(const char *name, const char *text)
{
    char standard[200];
    char *end = NULL;
    kbass_settings_get(NULL, name, standard, sizeof standard);
    double value = strtod(text, &end);
    if (end != text && !*end) return value == strtod(standard, NULL);
    return !strcmp(text, standard);
}

/* In quotes for a shell where it needs them. */
static void put_word(page *p, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+%@";
    bool is_plain = *word && word[strspn(word, plain)] == '\0';
    if (!is_plain) fputc('\'', p->out);
    for (; *word; word++) {
        char c[2] = {*word, '\0'};
        if (*word == '\'') fputs("'\\''", p->out);
        else html_text(p->out, c);
    }
    if (!is_plain) fputc('\'', p->out);
}

/* The file, or those that the runs are named after: "b.csv", or "b.csv:3" where a column numbers the runs in each. */
static void put_files(page *p, const json_t *data)
{
    const char *source = json_string_value(json_object_get(data, "source")),
               *column = json_string_value(json_object_get(data, "run_column"));
    char before[1000] = "";
    bool has_files = p->v->n_runs > 1 && (!column || strchr(p->v->runs[0], ':'));
    for (size_t i = 0; has_files && i < p->v->n_runs; i++) {
        char file[sizeof before];
        const char *end = column ? strrchr(p->v->runs[i], ':') : NULL;
        snprintf(file, sizeof file, "%.*s", end ? (int)(end - p->v->runs[i]) : (int)sizeof file - 1, p->v->runs[i]);
        if (!strcmp(file, before)) continue;
        fputc(' ', p->out);
        put_word(p, file);
        memcpy(before, file, sizeof before);
    }
    if (has_files) return;
    fputc(' ', p->out);
    put_word(p, source && *source ? source : "DATA");
}

static void put_columns(page *p, const json_t *data, const char *key, const char *option)
{
    const char *columns = json_string_value(json_object_get(data, key));
    if (!columns) return;
    fprintf(p->out, " --%s ", option);
    put_word(p, columns);
}

static void put_command(page *p, const json_t *settings)
{
    const view *v = p->v;
    const json_t *data = json_object_get(v->root, "data");
    fputs("<pre>kbass discover", p->out);
    put_files(p, data);
    for (size_t a = 0; v->n_axes > 1 && a < v->n_axes; a++) {
        fputs(a ? "," : " --axes ", p->out);
        html_text(p->out, v->axes[a]);
    }
    put_columns(p, data, "run_column", "run");
    put_columns(p, data, "sigma_columns", "sigma");
    for (size_t i = 0; i < kbass_settings_count(); i++) {
        char text[4000];
        const kbass_setting_info *info = kbass_settings_info(i);
        if (!setting_text(json_object_get(settings, info->name), text, sizeof text) || is_default(info->name, text))
            continue;
        fprintf(p->out, " --%s", info->name);
        if (info->kind == KBASS_FLAG) continue;
        fputc(' ', p->out);
        put_word(p, text);
    }
    fputs("</pre>\n", p->out);
}

static void put_fact(page *p, const char *name, const json_t *value)
{
    char text[4000];
    if (!setting_text(value, text, sizeof text) || !*text) return;
    fprintf(p->out, "<dt>%s</dt><dd>", name);
    html_text(p->out, text);
    fputs("</dd>", p->out);
}

void page_repeat(page *p)
{
    const json_t *root = p->v->root, *data = json_object_get(root, "data"),
                 *settings = json_object_get(root, "settings");
    fputs("<h2>To repeat this</h2>\n", p->out);
    put_command(p, settings);
    fputs("<dl class=\"facts\">", p->out);
    put_fact(p, "kbass", json_object_get(root, "version"));
    put_fact(p, "seed", json_object_get(root, "seed"));
    put_fact(p, "method", json_object_get(root, "method"));
    put_fact(p, "outcome", json_object_get(root, "outcome"));
    put_fact(p, "data", json_object_get(data, "source"));
    put_fact(p, "SHA-256 of the data", json_object_get(data, "sha256"));
    put_fact(p, "models fitted", json_object_get(root, "models"));
    fprintf(p->out, "<dt>time</dt><dd>%.3g s</dd></dl>\n<details><summary>All settings</summary><dl class=\"facts\">",
            page_number(json_object_get(root, "seconds"), "total"));
    for (size_t i = 0; i < kbass_settings_count(); i++)
        put_fact(p, kbass_settings_info(i)->name, json_object_get(settings, kbass_settings_info(i)->name));
    fputs("</dl></details>\n", p->out);
}
