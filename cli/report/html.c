#include "html.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

void html_probability(FILE *out, double p)
{
    if (!isfinite(p)) fputs("–", out);
    else if (p > 0.999) fputs("&gt; 0.999", out);
    else if (p < 0.001) fputs("&lt; 0.001", out);
    else fprintf(out, "%.3f", p);
}

void html_number(FILE *out, double value)
{
    if (isfinite(value)) fprintf(out, "%s%.4g", value < 0 ? "−" : "", fabs(value));
    else fputs("–", out);
}

void html_unit(FILE *out, const char *unit)
{
    fputs(" <span class=\"unit\">", out);
    while (*unit) {
        char c[2] = {*unit++, '\0'};
        if (*c != '^') {
            html_text(out, c);
            continue;
        }
        fputs("<sup>", out);
        if (*unit == '-') fputs("−", out), unit++;
        for (; *unit && !strchr(" */", *unit); unit++) {
            c[0] = *unit;
            html_text(out, c);
        }
        fputs("</sup>", out);
    }
    fputs("</span>", out);
}

/* Rounded as the terminal's report has it: two digits of the sd. */
void html_interval_words(double low, double high, double sd, const char *minus, char words[HTML_INTERVAL])
{
    double largest = fmax(fabs(low), fabs(high));
    int decimals = sd > 0 ? 1 - (int)floor(log10(sd)) : 4;
    bool is_plain = largest < 1e6 && (largest >= 1e-4 || largest == 0) && decimals <= 12;
    const char *low_sign = low < 0 ? minus : "", *high_sign = high < 0 ? minus : "";
    if (decimals < 0) decimals = 0;
    if (!isfinite(low) || !isfinite(high)) snprintf(words, HTML_INTERVAL, "–");
    else if (is_plain)
        snprintf(words, HTML_INTERVAL, "%s%.*f to %s%.*f", low_sign, decimals, fabs(low), high_sign, decimals,
                 fabs(high));
    else snprintf(words, HTML_INTERVAL, "%s%.4g to %s%.4g", low_sign, fabs(low), high_sign, fabs(high));
}

void html_interval(FILE *out, double low, double high, double sd)
{
    char words[HTML_INTERVAL];
    html_interval_words(low, high, sd, "−", words);
    fputs(words, out);
}

/* ---------------------------------------------------------------- weights */

static void put_scaled(FILE *out, const char *number, int exponent)
{
    fprintf(out, "<mn>%s</mn>", number);
    if (exponent)
        fprintf(out, "<mo>×</mo><msup><mn>10</mn><mn>%s%d</mn></msup>", exponent < 0 ? "−" : "", abs(exponent));
}

/* Two digits of the sd behind as many decimals: 0.999(14), 2549(74). */
void html_weight(FILE *out, double weight, double sd)
{
    char number[64];
    int exponent = weight != 0 ? (int)floor(log10(fabs(weight))) : 0;
    bool is_plain = exponent >= -3 && exponent < 5;
    double scale = is_plain ? 1 : pow(10, exponent);
    if (!(sd > 0) || !isfinite(sd)) {
        snprintf(number, sizeof number, "%.6g", weight / scale);
    } else {
        int decimals = 1 - (int)floor(log10(sd / scale));
        if (decimals < 0) decimals = 0;
        if (decimals > 12) decimals = 12;
        double last = pow(10, decimals), digits = sd / scale * last;
        if (sd / scale < 1) snprintf(number, sizeof number, "%.*f(%.0f)", decimals, weight / scale, digits);
        else snprintf(number, sizeof number, "%.*f(%.*f)", decimals, weight / scale, decimals, sd / scale);
    }
    put_scaled(out, number, is_plain ? 0 : exponent);
}

/* ---------------------------------------------------------------- formulas */

static const char *end_of_name(const char *c)
{
    while (isalnum((unsigned char)*c) || *c == '_' || (unsigned char)*c >= 0x80) c++;
    return c;
}

static const char *end_of_number(const char *c)
{
    while (isdigit((unsigned char)*c) || *c == '.') c++;
    return c;
}

enum { HIGHEST_ORDER = 6 }; /* of derivatives; longer subscripts are words */

/* u_xx with its subscript; sin as it is. */
static void put_name(FILE *out, const char *name, size_t length)
{
    const char *line = memchr(name, '_', length);
    if (!line || line == name || line + 1 == name + length) {
        fprintf(out, "<mi>%.*s</mi>", (int)length, name);
        return;
    }
    const char *letter = line + 1, *end = name + length;
    fprintf(out, "<msub><mi>%.*s</mi><mrow>", (int)(line - name), name);
    if (end - letter > HIGHEST_ORDER) fprintf(out, "<mi>%.*s</mi>", (int)(end - letter), letter);
    else
        while (letter < end) fprintf(out, "<mi>%c</mi>", *letter++);
    fputs("</mrow></msub>", out);
}

static void put_operator(FILE *out, char c)
{
    if (c == '*') fputs("<mspace width=\"0.17em\"/>", out);
    else if (c == '-') fputs("<mo>−</mo>", out);
    else if (c == '<') fputs("<mo>&lt;</mo>", out);
    else if (c == '>') fputs("<mo>&gt;</mo>", out);
    else if (c == '&') fputs("<mo>&amp;</mo>", out);
    else if (c == '(' || c == ')') fprintf(out, "<mo stretchy=\"false\">%c</mo>", c);
    else if (c != ' ') fprintf(out, "<mo>%c</mo>", c);
}

static const char *end_of_atom(const char *c)
{
    const char *end = isdigit((unsigned char)*c) ? end_of_number(c) : end_of_name(c);
    return end > c ? end : c + 1;
}

/* One name, number or operator. */
static void put_atom(FILE *out, const char *c)
{
    size_t length = (size_t)(end_of_atom(c) - c);
    if (isdigit((unsigned char)*c)) fprintf(out, "<mn>%.*s</mn>", (int)length, c);
    else if (end_of_name(c) > c) put_name(out, c, length);
    else put_operator(out, *c);
}

/* The end of what stands behind ^: an atom, one with a sign, or parentheses with all in them. */
static const char *end_of_exponent(const char *c)
{
    int depth = 0;
    if (*c == '-') c++;
    if (*c != '(') return *c ? end_of_atom(c) : c;
    do depth += (*c == '(') - (*c == ')');
    while (*c && *c++ && depth > 0);
    return c;
}

static void put_atoms(FILE *out, const char *from, const char *to)
{
    while (from < to && *from) {
        const char *end = end_of_atom(from);
        bool is_raised = *end == '^' && end < to && (end_of_name(from) > from || *from == ')');
        if (is_raised) fputs("<msup>", out);
        put_atom(out, from);
        from = end;
        if (is_raised) {
            const char *exponent = end + 1;
            from = end_of_exponent(exponent);
            fputs("<mrow>", out);
            if (*exponent == '(') put_atoms(out, exponent + 1, from - 1);
            else put_atoms(out, exponent, from);
            fputs("</mrow></msup>", out);
        }
    }
}

void html_term(FILE *out, const char *term) { put_atoms(out, term, term + strlen(term)); }

/* x_t becomes dx/dt, u_tt over space ∂²u/∂t². */
static void put_rate(FILE *out, const view *v, const char *lhs)
{
    const char *line = strrchr(lhs, '_'), *d = v->n_axes > 1 ? "∂" : "d";
    int length = line ? (int)(line - lhs) : 0;
    if (line && strlen(line + 1) == 1)
        fprintf(out, "<mfrac><mrow><mi>%s</mi><mi>%.*s</mi></mrow><mrow><mi>%s</mi><mi>%s</mi></mrow></mfrac>", d,
                length, lhs, d, line + 1);
    else if (line && strlen(line + 1) == 2 && line[1] == line[2])
        fprintf(out,
                "<mfrac><mrow><msup><mi>%s</mi><mn>2</mn></msup><mi>%.*s</mi></mrow><mrow><mi>%s</mi>"
                "<msup><mi>%s</mi><mn>2</mn></msup></mrow></mfrac>",
                d, length, lhs, d, line + 2);
    else html_term(out, lhs);
}

static bool is_sum(const char *term)
{
    int depth = 0;
    for (; *term; term++) {
        depth += (*term == '(') - (*term == ')');
        if (depth == 0 && (*term == '+' || *term == '-')) return true;
    }
    return false;
}

static void put_part(FILE *out, const view_term *term, bool is_first)
{
    bool is_constant = !strcmp(term->name, "1"), is_unit = fabs(term->weight) == 1 && !(term->sd > 0) && !is_constant;
    const char *sign = term->weight < 0 ? "<mo>−</mo>" : is_first ? "" : "<mo>+</mo>";
    const char *gap = is_first ? "" : "<mspace width=\"0.25em\"/>";
    fprintf(out, "<math><mrow>%s%s", sign, gap);
    if (!is_unit) html_weight(out, fabs(term->weight), term->sd);
    if (!is_unit && !is_constant) fputs("<mspace width=\"0.25em\"/>", out);
    if (!is_constant) {
        if (is_sum(term->name)) fputs("<mo>(</mo>", out);
        html_term(out, term->name);
        if (is_sum(term->name)) fputs("<mo>)</mo>", out);
    }
    fputs("</mrow></math>\n", out);
}

void html_equation(FILE *out, const view *v, const view_equation *equation)
{
    size_t n = 0;
    fputs("<div class=\"equation\" role=\"math\" aria-label=\"", out);
    html_text(out, equation->text);
    fputs("\"><math displaystyle=\"true\"><mrow>", out);
    put_rate(out, v, equation->lhs);
    fputs("<mo>=</mo></mrow></math>\n<div class=\"sum\">", out);
    for (size_t i = 0; i < equation->n_terms; i++)
        if (equation->terms[i].is_selected) put_part(out, &equation->terms[i], n++ == 0);
    if (!n) fputs("<math><mn>0</mn></math>", out);
    fprintf(out, "</div>%s</div>\n", equation->is_known ? "<span class=\"quiet\">given</span>" : "");
}
